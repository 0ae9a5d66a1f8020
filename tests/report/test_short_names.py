"""Names that are shortened for pictures, and stay different."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profile_analyze.report.layout.short_names import alike_names, in_lines, short_names
from profile_analyze.report.layout.text_layout import shortened_in_middle, text_width

END = "/Conv_output_0_nchwc"


@pytest.mark.parametrize(
    ("names", "width", "expected"),
    [
        # The middle is left out if the names stay different.
        (["layer.1" * 9, "other.2" * 9, "short"], 11, ["layer…yer.1", "other…her.2", "short"]),
        (["layer.1" * 9] * 2, 11, ["layer…yer.1"] * 2),
        # Otherwise, the first different words stay, with as much around them as fits.
        (
            [f"/features/features.{n}/block/block.0{END}" for n in (1, 12, 13)],
            20,
            ["…eatures.1/block/b…", "…eatures.12/block/b…", "…eatures.13/block/b…"],
        ),
        # Names differ in several places.
        (
            [
                f"{side}coder/layers/layers.{n}/attention{END}"
                for side in ("en", "de")
                for n in "34"
            ],
            36,
            [f"{side}coder/layers/layers.{n}/attention/C…" for side in ("en", "de") for n in "34"],
        ),
        (
            [f"{'x/' * 20}{a}{'/y' * 20}{b}{'/z' * 20}" for a in "12" for b in "34"],
            11,
            [f"…/{a}/…/y{b}/…" for a in "12" for b in "34"],
        ),
        # One name is the start of another.
        (["/x" * 9, "/x" * 12], 9, ["…/x/x/x/x", "…x/x/x/x…"]),
        # A long word, and wide characters.
        ([f"{'x' * 40}{n}{'y' * 40}" for n in range(2)], 7, ["…xx0yy…", "…xx1yy…"]),
        (["w" * 9 + wide + "w" * 9 for wide in ("卷积", "积卷")], 6, ["…卷…", "…积…"]),
        # The differences do not fit.
        (["a/b/c/d", "a/x/c/d"], 2, ["a…", "a…"]),
    ],
)
def test_names_are_short(names: list[str], width: int, expected: list[str]) -> None:
    assert short_names(names, [width] * len(names)) == expected


def test_each_name_has_its_own_width() -> None:
    assert short_names(["a1b" * 9, "a2b" * 9], [5, 7]) == ["a1…1b", "a2b…a2b"]


PARTS = st.lists(st.sampled_from(["layer", "block", "卷积", "0", "12", "W" * 30]), max_size=9)


@given(st.lists(PARTS.map("/".join), max_size=6), st.integers(1, 60))
def test_names_fit_and_stay_different_if_possible(names: list[str], width: int) -> None:
    short = short_names(names, [width] * len(names))
    assert all(text_width(one) <= width for one in short)
    in_middle = [shortened_in_middle(name, width, "…") for name in names]
    if not alike_names(names, in_middle):
        assert short == in_middle
    if width >= 55:
        assert alike_names(names, short) == []


@given(st.text("ab/. 卷", max_size=60), st.integers(2, 20))
def test_lines_of_a_name_have_all_of_it(name: str, width: int) -> None:
    lines = in_lines(name, width)
    assert all(0 < text_width(line) <= width for line in lines)
    assert "".join(lines).replace(" ", "") == name.replace(" ", "")


def test_lines_are_broken_after_words() -> None:
    assert in_lines("/features/features.0/Conv", 12) == ["/features/", "features.0/", "Conv"]
    assert in_lines("{32,56}, {64,64,3}, {64}", 12) == ["{32,56},", "{64,64,3},", "{64}"]
    assert in_lines("{32,56}, {1024}, {1024}", 13) == ["{32,56},", "{1024},", "{1024}"]
    assert in_lines("abcdefgh", 3) == ["abc", "def", "gh"]
    assert in_lines("", 3) == []

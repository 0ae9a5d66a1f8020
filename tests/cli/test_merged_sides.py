"""A note says if two sides of a comparison were probably given without `--compare`."""

from __future__ import annotations

import pytest

from profile_analyze.cli.inputs.sources import notes_on_merged_sides
from profile_analyze.model.findings import Finding, Kind
from tests.conftest import FIXTURES, run_command


@pytest.mark.parametrize(
    ("files", "baseline", "sides"),
    [
        (("base", "changed"), (), ("base", "changed")),
        (("out/after/1.json", "out/before/1.json"), (), ("out/before/1.json", "out/after/1.json")),
        (
            ("old/1.json", "old/2.json", "my new/1.json", "my new/2.json"),
            (),
            ("old", "my new"),
        ),
        (("run 1", "run 1 new"), (), ("run 1", "run 1 new")),
        (("runs/baseline/", "runs/feature"), (), ("runs/baseline/", "runs/feature")),
        (("new/1.json", "new/2.json", "old/1.json"), (), ("old", "new")),
        (("Base.json.gz", "run.json.gz"), (), ("Base.json.gz", "run.json.gz")),
        (("bert-base.json", "bert-large.json"), (), None),
        (("1.json", "2.json"), (), None),
        (("base", "base"), (), None),
        (("base",), (), None),
        (("base", "changed", "other"), (), None),
        (("base", "changed"), ("old",), None),
    ],
)
def test_only_names_of_two_sides_get_a_note(
    files: tuple[str, ...], baseline: tuple[str, ...], sides: tuple[str, str] | None
) -> None:
    found = (
        []
        if sides is None
        else [Finding.of("sides-without-compare", Kind.WRONG, old=sides[0], new=sides[1])]
    )
    assert list(notes_on_merged_sides(files, baseline)) == found


def test_the_command_prints_the_note() -> None:
    base, changed = (str(FIXTURES / "runs" / side / "01.json.gz") for side in ("base", "changed"))
    assert run_command(base, changed, "--print-only", "summary").err == (
        f"note: {base} and {changed} count as runs of one profile; to compare them, write {changed} "
        f"--compare {base}\n"
        "note: 4 of 99 operators are in only some of the 2 runs\n"
    )

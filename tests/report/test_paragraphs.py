"""Sentences, facts, notes and pages are wrapped at words, to the width of a terminal."""

from __future__ import annotations

import pytest

import profile_analyze as pa
from profile_analyze.cli.options.parser import _examples
from profile_analyze.report.layout.colors import dim
from profile_analyze.report.layout.paragraphs import (
    as_plain_text,
    labelled_lines,
    paragraph,
    reflowed,
    with_own_indent,
    wrapped_headers,
)
from profile_analyze.report.layout.text_layout import broken_word, text_width
from profile_analyze.report.pages.device_list import device_list, typed_name
from profile_analyze.roofline.devices import DEVICES
from profile_analyze.roofline.peaks import parse_peaks

TEXT = "one two three-four five"


@pytest.mark.parametrize(
    ("text", "width", "lines"),
    [
        (TEXT, None, [TEXT]),
        (TEXT, 23, [TEXT]),
        (TEXT, 22, ["one two three-four", "  five"]),
        (TEXT, 12, ["one two", "  three-four", "  five"]),
        (TEXT, 1, ["one two", "  three-four", "  five"]),
        ("", 12, [""]),
        ("a /longer/than/the/width b", 12, ["a", "  /longer/than/the/width", "  b"]),
        ("    indented text stays", 18, ["    indented text", "  stays"]),
        ("it took 12.345 ms, not", 16, ["it took", "  12.345 ms, not"]),
        ("work of 2.31 GFLOPS, not", 17, ["work of", "  2.31 GFLOPS,", "  not"]),
        ("moved at 8.58 TiB/s and", 17, ["moved at", "  8.58 TiB/s and"]),
        ("a 95 %: 1 to 2", 12, ["a 95 %: 1 to", "  2"]),
        ("the 95 %: 1 to", 12, ["the 95 %: 1", "  to"]),
        ("the only 95 % so", 12, ["the only", "  95 % so"]),
        ("see `| less -S` for all", 14, ["see", "  `| less -S`", "  for all"]),
        ("卷积卷积 卷积卷积", 16, ["卷积卷积", "  卷积卷积"]),
        (f"{dim('colours')} take none", 17, [f"{dim('colours')} take none"]),
    ],
)
def test_a_paragraph_breaks_at_blanks(text: str, width: int | None, lines: list[str]) -> None:
    assert paragraph(text, width).split("\n") == lines


def test_texts_are_wrapped_beside_their_labels() -> None:
    lines = [("label", "one two three four"), ("a", "b")]
    assert labelled_lines(lines, pa.Display(width=21)) == [
        ("label", "one two three\nfour"),
        ("a", "b"),
    ]
    assert labelled_lines(lines, pa.Display()) == lines


def test_words_that_do_not_fit_beside_their_labels_are_broken() -> None:
    lines = [("label", "one /longer/than/the/width two"), ("a", "卷积卷积卷积卷积")]
    assert labelled_lines(lines, pa.Display(width=20)) == [
        ("label", "one\n/longer/than/\nthe/width two"),
        ("a", "卷积卷积卷积\n卷积"),
    ]
    assert broken_word("卷积", 1) == ["卷", "积"]


def test_headers_are_aligned_at_their_last_line() -> None:
    assert wrapped_headers(["device self time (s)", "name"], 12) == [
        "device self\ntime (s)",
        "\nname",
    ]


def test_markdown_is_reflowed_by_paragraphs_and_points() -> None:
    page = "# A title that is long\n\none\ntwo three\n\n- four\n  five six\n- seven\n| a | b |\nx"
    assert reflowed(page, None) == page
    assert reflowed(page, 12).split("\n") == [
        *("# A title", "that is long", "", "one two", "three", "", "- four five", "  six"),
        *("- seven", "| a | b |", "x"),
    ]


def test_a_page_for_terminals_has_no_markup() -> None:
    page = "# A title\n\none `two` three\n\n## Points\n\n- four `#5`\n  six"
    assert as_plain_text(page, 12).split("\n") == [
        *("A title", "", "one two", "three", "", "Points", "", "- four #5", "  six"),
    ]


def test_every_device_can_be_typed_as_the_list_shows_it() -> None:
    for device in DEVICES:
        assert parse_peaks(typed_name(device)).name == device.name


def test_continued_lines_of_the_examples_are_aligned() -> None:
    lines = _examples(40).splitlines()
    start = lines.index("      one line for each kind and shape,")
    assert lines[start + 1 : start + 3] == [
        "      with the total time and the 90th",
        "      percentile",
    ]
    assert "Times are in seconds unless they have a" in lines
    assert "unit: 1ms, 20us, 0.5s. All columns:" in lines
    assert not any(line.startswith(" ") for line in lines[-6:])


def test_long_lines_of_the_help_keep_their_indent() -> None:
    assert with_own_indent("  --option help text\nshort", 16) == "  --option help\n    text\nshort"


def test_the_list_of_devices_fits_a_narrow_terminal() -> None:
    assert device_list(1000) == device_list()
    lines = device_list(80).splitlines()
    assert lines[:8] == [
        "Rates by dtype in TFLO/s (int8: tera-operations per second); bandwidth in GB/s.",
        "Write a name of the first column after --peaks. A dtype, as in h100-sxm:fp16, is",
        "for operators whose dtype the profile does not say. The table has no CPUs:",
        "--peaks here measures this machine, and --peaks auto shows the highest rates in",
        "the profile of a CPU.",
        "",
        "--peaks         fp64   fp32   tf32    fp16    bf16     fp8    int8  GB/s",
        "v100-sxm2        7.8   15.7            125                           900",
    ]
    assert lines[-2:] == [
        "left out to fit the width: confidence, source; a wider window or `| less -S`",
        "  shows all",
    ]
    for width in (40, 60, 80, 120):
        assert max(map(text_width, device_list(width).splitlines())) <= width

"""The layout of tables and texts: narrow terminals, long tables, wrapped texts."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

import profile_analyze as pa
from profile_analyze.model.visible import visible
from profile_analyze.report.layout.drawing import draw, draw_boxes
from profile_analyze.report.layout.shapes import shape_lines
from profile_analyze.report.layout.text_layout import wrapped
from tests.report.test_tables import profile
from tests.small import Operator, profile_of

# output format, columns, encoding, width: the expected text
NARROW: dict[tuple[str, tuple[str, ...], str, int], str] = {
    ("plain", ("name", "type", "share"), "utf-8", 36): """\
name                 type  share
conv/of/some/length  T0    75.0%
relu                 T1    25.0%
""",
    ("plain", ("name", "type", "share"), "utf-8", 35): """\
name                 type  share
conv/of/some/length  T0    75.0%
relu                 T1    25.0%
""",
    ("plain", ("name", "type", "share"), "ascii", 16): """\
name
conv/of/some/...
relu
left out to fit
  the width:
  type, share;
  --columns
  chooses
  others, a
  wider window
  or `| less -S`
  shows all
shortened to fit
  the width:
  name;
  `| less -S`
  shows the full
  texts
""",
    ("plain", ("name", "type", "share"), "utf-8", 3): """\
name
conv/of…
relu
left out to
  fit the
  width:
  type,
  share;
  --columns
  chooses
  others, a
  wider
  window or
  `| less -S`
  shows all
shortened to
  fit the
  width:
  name;
  `| less -S`
  shows the
  full texts
""",
    ("table", ("name", "type", "share"), "utf-8", 42): """\
╒═════════════════════╤════════╤═════════╕
│ name                │ type   │   share │
╞═════════════════════╪════════╪═════════╡
│ conv/of/some/length │ T0     │   75.0% │
├─────────────────────┼────────┼─────────┤
│ relu                │ T1     │   25.0% │
╘═════════════════════╧════════╧═════════╛
""",
    ("table", ("name", "type", "share"), "utf-8", 41): """\
╒════════════════════╤════════╤═════════╕
│ name               │ type   │   share │
╞════════════════════╪════════╪═════════╡
│ conv/of/some/lengt │ T0     │   75.0% │
│ -  h               │        │         │
├────────────────────┼────────┼─────────┤
│ relu               │ T1     │   25.0% │
╘════════════════════╧════════╧═════════╛
""",
    ("table", ("name", "type", "share"), "utf-8", 22): """\
╒═════════════════╕
│ name            │
╞═════════════════╡
│ conv/of/some/le │
│ -  ngth         │
├─────────────────┤
│ relu            │
╘═════════════════╛
left out to fit the
  width: type, share;
  --format plain may
  show them, --columns
  chooses others, a
  wider window or
  `| less -S` shows
  all
""",
    ("table", ("name", "type", "share"), "ascii", 1): """\
+-------------+
| name        |
+=============+
| conv/of/    |
| -  some/len |
| -  gth      |
+-------------+
| relu        |
+-------------+
left out to
  fit the
  width:
  type,
  share;
  --format
  plain may
  show them,
  --columns
  chooses
  others, a
  wider
  window or
  `| less -S`
  shows all
""",
    ("plain", ("parameters",), "utf-8", 9): """\
paramete…
N/A
N/A
shortened to
  fit the
  width:
  parameters;
  `| less -S`
  shows the
  full texts
""",
    ("table", ("flops",), "utf-8", 5): """\
╒══════════════╕
│        flops │
╞══════════════╡
│ 20.00 MFLOPS │
├──────────────┤
│          N/A │
╘══════════════╛
""",
    ("plain", ("share", "time"), "utf-8", 10): """\
device self
  time (us)
    300.000
    100.000
left out to
  fit the
  width:
  share;
  --columns
  chooses
  others, a
  wider
  window or
  `| less -S`
  shows all
""",
    ("table", (), "utf-8", 138): """\
╒════════════════════╤══════════════╤═════════════════════╤═══════════════╤═════════╤══════════╤═════════════╤══════════════╕
│ device self time   │ cumulative   │ operator info       │ computation   │ FLOPS   │ memory   │ bandwidth   │ out_shapes   │
╞════════════════════╪══════════════╪═════════════════════╪═══════════════╪═════════╪══════════╪═════════════╪══════════════╡
│ #0                 │ 0.0003       │ conv/of/some/length │ 6.00          │ 20.00   │ 1.00     │ 3.26        │ {}           │
│ 0.0003             │ 75.0%        │ T0                  │ KFLO          │ MFLOPS  │ KiB      │ MiB/s       │              │
│ 75.0%              │              │ 0                   │               │         │          │             │              │
├────────────────────┼──────────────┼─────────────────────┼───────────────┼─────────┼──────────┼─────────────┼──────────────┤
│ #1                 │ 0.0004       │ relu                │ N/A           │ N/A     │ 1.00     │ 9.77        │ {}           │
│ 0.0001             │ 100.0%       │ T1                  │ FLO           │ FLOPS   │ KiB      │ MiB/s       │              │
│ 25.0%              │              │ 1                   │               │         │          │             │              │
╘════════════════════╧══════════════╧═════════════════════╧═══════════════╧═════════╧══════════╧═════════════╧══════════════╛
left out to fit the width: in_shapes; --columns chooses others, a wider window or `| less -S` shows all
""",
    ("table", (), "utf-8", 59): """\
╒════════════════════╤═════════════════════╤═════════╕
│ device self time   │ operator info       │ FLOPS   │
╞════════════════════╪═════════════════════╪═════════╡
│ #0                 │ conv/of/some/length │ 20.00   │
│ 0.0003             │ T0                  │ MFLOPS  │
│ 75.0%              │ 0                   │         │
├────────────────────┼─────────────────────┼─────────┤
│ #1                 │ relu                │ N/A     │
│ 0.0001             │ T1                  │ FLOPS   │
│ 25.0%              │ 1                   │         │
╘════════════════════╧═════════════════════╧═════════╛
left out to fit the width: cumulative_time, computation,
  memory, bandwidth, in_shapes, out_shapes; --columns
  chooses others, a wider window or `| less -S` shows all
""",
}


@pytest.mark.parametrize(("output_format", "columns", "encoding", "width"), NARROW)
def test_whole_tables_in_narrow_terminals(
    output_format: str, columns: tuple[str, ...], encoding: str, width: int
) -> None:
    two = profile([("conv/of/some/length", 300, 6000), ("relu", 100, None)])
    shown = pa.Report.of(None, (pa.run(pa.Query(), two),), columns=columns)
    text = pa.render(shown, output_format, display=pa.Display(encoding, width))
    assert text == NARROW[output_format, columns, encoding, width]


@pytest.mark.parametrize(
    ("output_format", "width", "first"),
    [
        # "absolute / difference / (us)" has three lines, "device self / time (us)" has two.
        ("plain", 46, "                                    absolute"),
        ("plain", 30, "                   device self"),
        ("table", 58, "│                     │               │     absolute │"),
        ("table", 45, "│                     │   device self │"),
    ],
)
def test_headers_have_no_blank_lines_because_of_columns_that_are_left_out(
    output_format: str, width: int, first: str
) -> None:
    two = profile([("conv/of/some/length", 300, 6000), ("relu", 100, None)])
    table = pa.run(pa.Query(compared=True), pa.compare(two, two))
    columns = ("name", "time", "absolute_difference")
    shown = pa.Report.of(None, (table,), columns=columns)
    text = pa.render(shown, output_format, display=pa.Display("utf-8", width))
    assert text.splitlines()[output_format == "table"] == first


@pytest.mark.parametrize("rows_at_once", [1, 2, 3, 4, 5, 100])
@pytest.mark.parametrize("style", ["fancy_grid", "grid"])
def test_the_parts_of_a_long_table_equal_the_whole_table(rows_at_once: int, style: str) -> None:
    rows = [("a\nb", ""), ("", "wide cell\n卷积\nx"), ("widest of all", "1"), ("卷积\n", "2")]
    for right, headers in product(((), (1,)), (("first", "second"), ("a\nb\nc", "second"))):
        layout: dict[str, Any] = {"style": style, "headers": headers, "right": right}
        parts = draw_boxes([*rows, *rows[:1]], **layout, rows_at_once=rows_at_once)
        assert "".join(parts) == draw([*rows, *rows[:1]], **layout)


def test_strides_follow_their_shape() -> None:
    assert shape_lines(((2, 3), (), (4,)), ((1, 2), (), None)) == ["{2,3}", "-[1,2]", "{}", "{4}"]
    assert shape_lines(((1,),), (None, (1,), (2,))) == ["{1}"]
    assert shape_lines(()) == []
    assert shape_lines(None, ((1,),)) == ["N/A"]


@pytest.mark.parametrize(
    ("text", "encoding", "shown"),
    [
        ("conv", "utf-8", "conv"),
        ("a\nb\tc\rd", "utf-8", r"a\nb\tc\rd"),
        ("\x00\x1b\x7f\x9b", "utf-8", r"\x00\x1b\x7f\x9b"),
        ("\u202e\u2028\ufeff\ud800", "utf-8", r"\u202e\u2028\ufeff\ud800"),
        ("\u061c\u200b\u200f\u2060\u2069", "utf-8", r"\u061c\u200b\u200f\u2060\u2069"),
        ("卷é", "utf-8", "卷é"),
        ("卷é", "latin-1", r"\u5377é"),
        ("卷é", "ascii", r"\u5377\xe9"),
    ],
)
def test_invisible_characters_are_escaped(text: str, encoding: str, shown: str) -> None:
    assert visible(text, encoding) == shown


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", []),
        (" ", []),
        ("name", ["name"]),
        ("x" * 8, ["x" * 8]),
        ("x" * 20, ["x" * 8, "x" * 8, "x" * 4]),
        ("two words", ["two", "words"]),
        ("line\nbreak\tx", ["line", "break", "x"]),
        ("hyphen-ated", ["hyphen-", "ated"]),
        ("abcdefghij", ["abcdefgh", "ij"]),
        ("卷积卷积卷", ["卷积卷积", "卷"]),
        ("\x01\x02\x03", [r"\x01\x02", r"\x03"]),
    ],
)
def test_text_is_wrapped_to_the_width(text: str, lines: list[str]) -> None:
    assert wrapped(text, 8, "utf-8") == lines


def test_names_that_differ_only_at_their_end_are_cut_in_the_middle() -> None:
    names = ("conv(l.2.RELU[1],fuse[2186])[1]", "conv(l.2.RELU[1],fuse[2186])[0]", "relu")
    rows = pa.run(pa.Query(top=0), profile_of([Operator(name, "A", 1) for name in names]))
    display = pa.Display(width=16)
    table = pa.render(rows, "plain", columns="name", display=display)
    assert table.splitlines()[:4] == ["name", "conv(l.2…86])[1]", "conv(l.2…86])[0]", "relu"]
    other = pa.run(pa.Query(top=1), profile_of([Operator(names[0], "A", 1)]))
    assert pa.render(other, "plain", columns="name", display=display).splitlines()[:2] == [
        "name",
        "conv(l.2.RELU[1…",
    ]

"""Output on a terminal: narrow tables and colours."""

from __future__ import annotations

import os
import re
from unittest import mock

import pytest

import profile_analyze as pa
from profile_analyze.report.layout.colors import bar, without_colors
from profile_analyze.report.layout.text_layout import shortened, text_width
from tests.conftest import FIXTURES, PROFILES, run_command

RESNET = str(PROFILES / "resnet18.json")
TINY = str(PROFILES / "tiny.json")
TRACES = FIXTURES / "pytorch"


def on_terminal(columns: int, *arguments: str, encoding: str = "utf-8", **environment: str) -> str:
    """Return what the command prints if standard output claims to be a terminal of this width.

    `tests/cli/test_screens.py` uses pseudo-terminals.
    """
    variables = {"COLUMNS": str(columns), "TERM": "xterm", "NO_COLOR": ""}
    with mock.patch.dict(os.environ, variables | environment):
        outcome = run_command(*arguments, encoding=encoding, on_terminal=True)
    assert outcome.code == 0
    return outcome.out


@pytest.mark.parametrize(
    ("columns", "left_out"),
    [
        (160, ""),
        (140, "in_shapes"),
        (120, "cumulative_time, in_shapes, out_shapes"),
        (100, "cumulative_time, memory, in_shapes, out_shapes"),
        (40, "cumulative_time, computation, flops, memory, bandwidth, in_shapes, out_shapes"),
        (60, "cumulative_time, computation, flops, memory, bandwidth, in_shapes, out_shapes"),
    ],
)
def test_narrow_terminals_leave_out_columns(columns: int, left_out: str) -> None:
    text = without_colors(on_terminal(columns, RESNET))
    _, _, note = text.replace("\n  ", " ").partition("left out to fit the width: ")
    assert note.partition(";")[0] == left_out
    assert max(map(text_width, text.splitlines())) <= columns


def test_columns_that_do_not_fit_are_named_as_the_option_for_columns_accepts_them() -> None:
    asked = ("--compare", RESNET, "--aggregate-by", "type", "--aggregate", "sum,p90")
    options = (*asked, "--peaks", "a100-80gb-sxm", "--time-unit", "us", "--notes", "none")
    text = without_colors(on_terminal(60, RESNET, *options))
    _, _, note = text.replace("\n  ", " ").partition("left out to fit the width: ")
    left_out = note.partition(";")[0].replace(" ", "")
    assert left_out.startswith("cumulative_time,time.p90,ratio,computation,flops,")
    # Groups have shapes only as group keys.
    without_shapes = left_out.removesuffix(",in_shapes,out_shapes")
    assert run_command(RESNET, *options, "--columns", without_shapes).code == 0


@pytest.mark.parametrize("output_format", ["plain", "table"])
def test_a_narrow_comparison_shows_the_difference_that_orders_it(output_format: str) -> None:
    runs = [str(FIXTURES / "runs" / side / "01.json.gz") for side in ("changed", "base")]
    call = (runs[0], "--compare", runs[1], "-t", "1", "--print-only", "device", "--notes", "none")
    width = {"plain": 40, "table": 60}[output_format]
    text = on_terminal(width, *call, "--format", output_format, "--time-unit", "ms")
    table, _, note = without_colors(text).partition("left out to fit the width: ")
    assert re.search(r"[+-]\d+\.\d+", table)
    left_out = re.split(r",\s+|;", note.partition("--columns")[0])
    assert "difference" not in left_out
    assert "ratio" in left_out


def test_columns_without_any_value_are_left_out_first() -> None:
    columns = "time,name,param.axis,share,input_dtype"
    shown = on_terminal(50, RESNET, "-t", "1", "--format", "plain", "--columns", columns)
    assert "left out to fit the width: param.axis;" in without_colors(shown)


@pytest.mark.parametrize(
    ("columns", "arguments", "header"),
    [
        (120, ("cnn-shapes.json.gz",), "calls share flops bandwidth name scope"),
        (90, ("cnn-shapes.json.gz",), "calls share name scope"),
        (80, ("cnn-shapes.json.gz",), "calls share name scope"),
        (60, ("cnn-shapes.json.gz",), "name scope"),
        (90, ("cnn-train.json.gz", "--level", "top"), "calls share name in_shapes"),
        (60, ("cnn-train.json.gz", "--level", "top"), "share name"),
        (80, ("gpu.json", "--level", "kernel"), "calls share name launched_by"),
    ],
)
def test_columns_that_tell_equal_names_apart_stay_longer_than_rates(
    columns: int, arguments: tuple[str, ...], header: str
) -> None:
    file, *options = arguments
    text = on_terminal(columns, str(TRACES / file), "-t", "6", *options)
    lines = without_colors(text).splitlines()
    assert any(" ".join(line.split()).endswith(f") {header}") for line in lines), text
    assert max(map(text_width, lines)) <= columns


def test_the_format_table_cuts_names_before_it_leaves_out_chosen_columns() -> None:
    runs = str(FIXTURES / "runs" / "base")
    text = on_terminal(80, runs, "--columns", "name,time,spread,time_min,time_max")
    assert ("left out" in text, "time max" in text) == (False, True)
    assert max(map(text_width, without_colors(text).splitlines())) == 80


def test_chosen_columns_are_left_out_from_the_last() -> None:
    asked = ("--columns", "share,flops,time,memory,name,bandwidth", "--format", "plain")
    call = (RESNET, "-t", "1", "--color", "never", "--print-only", "device", *asked)
    assert (
        on_terminal(60, *call)
        == """\
                     device self
share         flops    time (ms)    memory  name
 8.5%  26.33 GFLOPS        8.782  9.19 MiB  conv(l.7.RELU[0\N{HORIZONTAL ELLIPSIS}
left out to fit the width: bandwidth; --columns chooses
  others, a wider window or `| less -S` shows all
shortened to fit the width: name; `| less -S` shows the full
  texts
"""
    )


@pytest.mark.parametrize(
    ("columns", "arguments", "header"),
    [
        (60, ("--order-by", "memory"), "device self time,operator info,memory"),
        (60, ("--order-by", "+flops"), "device self time,operator info,FLOPS"),
        (60, ("--order-by", "time"), "device self time,operator info"),
        (60, ("--peaks", "1T:1G", "--order-by", "lost"), "device self time,operator info,lost (s)"),
        (80, ("--compare", RESNET, "--order-by", "base"), "baseline time"),
        (80, ("--order-by", "flops", "--format", "plain"), "flops"),
        (60, ("--columns", "time,flops,memory,name,share", "--order-by", "share"), "share"),
    ],
)
def test_columns_that_order_the_rows_are_left_out_last(
    columns: int, arguments: tuple[str, ...], header: str
) -> None:
    text = on_terminal(
        columns, RESNET, "-t", "1", "--color", "never", "--print-only", "device", *arguments
    )
    lines = text.partition("left out")[0].splitlines()
    if "," in header:  # all headings of the first line
        shown = [cell.strip() for cell in lines[1].split("\N{BOX DRAWINGS LIGHT VERTICAL}")]
        assert [cell for cell in shown if cell] == header.split(",")
    else:
        assert any(header in line for line in lines)


@pytest.mark.slowest
def test_intervals_of_ratios_are_shown_unless_they_push_out_columns() -> None:
    runs = FIXTURES / "runs"
    files = (str(runs / "changed"), "--compare", str(runs / "base"))
    device = ("-t", "1", "--color", "never", "--print-only", "device")
    call = (*files, *device, "--format", "plain")
    both = "  2.71 (2.28 to 2.92)  2.61 (2.38 to 2.85)  relative  more work "
    assert both in on_terminal(150, *call)
    assert "  2.71      2.61  relative  more work " in on_terminal(110, *call)
    assert " 2.71  more work " in on_terminal(80, *call)
    assert both in run_command(*call).out
    markdown = both.replace("  ", " | ").strip()
    assert markdown in run_command(*call[:-1], "markdown").out
    # The interval is not shown twice.
    ends = run_command(*call, "--columns", "ratio,ratio_low,ratio_high").out.splitlines()
    assert ends[1].split() == ["2.71", "2.28", "2.92"]


def test_one_column_always_stays_and_no_number_is_cut() -> None:
    call = (RESNET, "-t", "1", "--color", "never", "--print-only", "device", "--format", "plain")
    lines = on_terminal(30, *call, "--columns", "parameters").splitlines()
    assert lines[1] == "compute_mode=DEFAULT, dilate_\N{HORIZONTAL ELLIPSIS}"
    lines = on_terminal(30, *call, "--columns", "name,time").splitlines()
    assert lines[2] == "conv(l.7.RELU[0]\N{HORIZONTAL ELLIPSIS}        8.782"
    assert on_terminal(10, *call, "--columns", "time").splitlines()[2].strip() == "8.782"


def test_names_of_columns_cannot_act_on_the_terminal() -> None:
    evil = "name~\x1b]0;evil\x07X"
    for output_format in ("plain", "table"):
        columns = f"time,name,{evil}"
        call = (RESNET, "--color", "never", "--format", output_format, "--columns", columns)
        for width in (40, 400):
            assert "\x1b" not in on_terminal(width, *call)
    shown = on_terminal(40, RESNET, "--columns", "time,name,name~é", encoding="ascii")
    assert r"left out to fit the width: name~\xe9; " in shown.replace("\n ", "")


@pytest.mark.parametrize("width", [1000, 40])
def test_wrapped_cells_keep_their_colours(width: int) -> None:
    names = "name,param.axis"
    shown = on_terminal(width, RESNET, "--columns", names)
    assert "\\x1b" not in shown
    assert "\x1b[2mN/A\x1b[0m" in shown


def test_wide_text_is_shortened_by_its_width() -> None:
    assert shortened("卷积卷积", 8, "…") == "卷积卷积"
    assert shortened("卷积卷积x", 8, "…") == "卷积卷…"
    assert shortened("卷" * 100_000, 9, "...") == "卷卷卷..."


def test_type_and_name_are_shortened_if_no_column_can_be_left_out() -> None:
    lines = on_terminal(44, RESNET, "-t", "1", "--format", "plain", "--color", "never").splitlines()
    assert lines[3:] == [
        "device self",
        "  time (ms)  type            name",
        "      8.782  ConvolutionFo\N{HORIZONTAL ELLIPSIS}  conv(l.7.RELU[\N{HORIZONTAL ELLIPSIS}",
        "left out to fit the width: share, flops,",
        "  bandwidth; --columns chooses others, a",
        "  wider window or `| less -S` shows all",
        "shortened to fit the width: type, name;",
        "  `| less -S` shows the full texts",
    ]


def test_piped_output_is_neither_narrowed_nor_coloured() -> None:
    outcome = run_command(RESNET)
    assert "\x1b" not in outcome.out
    assert "left out" not in outcome.out
    assert max(map(len, outcome.out.splitlines())) > 140


@pytest.mark.parametrize(
    ("arguments", "environment", "coloured"),
    [
        ([], {}, True),
        ([], {"NO_COLOR": "1"}, False),
        ([], {"NO_COLOR": ""}, True),
        ([], {"TERM": "dumb"}, False),
        (["--color", "never"], {}, False),
        (["--color", "always"], {"NO_COLOR": "1"}, True),
        (["--format", "csv"], {}, False),
        (["--format", "markdown", "--color", "always"], {}, False),
        (["--wiki", "--columns", "time,share", "--color", "always"], {}, False),
        (["--format", "plain"], {}, True),
    ],
)
def test_colours_depend_on_options_environment_and_format(
    arguments: list[str],
    environment: dict[str, str],
    *,
    coloured: bool,
) -> None:
    shown = on_terminal(200, TINY, *arguments, **environment)
    assert ("\x1b" in shown) == coloured


@pytest.mark.parametrize("output_format", ["table", "plain"])
def test_colours_change_nothing_but_the_colours(output_format: str) -> None:
    arguments = (TINY, "-t", "0", "--format", output_format, "--aggregate-by", "type")
    coloured = without_colors(run_command(*arguments, "--color", "always").out)
    plain = run_command(*arguments).out
    words = re.compile(r"[^\s\u2500-\u257f]+")
    assert words.findall(coloured) == words.findall(plain)
    widths = {text_width(line) for line in coloured.splitlines()[5:]}
    assert len(widths) == 1 or output_format == "plain"


def test_a_share_is_a_bar() -> None:
    assert [without_colors(bar(share)) for share in (0.0, 0.5, 1.0, 1.5)] == [" " * 10] * 4
    assert bar(0.5) == "\x1b[44m     \x1b[0m     "
    assert bar(float("nan")) == bar(0.04) == bar(-1.0) == " " * 10
    assert bar(2.0) == bar(1.0) == "\x1b[44m" + " " * 10 + "\x1b[0m"


def test_not_available_is_dim() -> None:
    profile = pa.load(TINY)
    result = pa.run(pa.Query(order="+id", top=1), profile)
    shown = pa.render(result, "plain", columns="flops,type", display=pa.Display(color=True))
    assert shown.splitlines()[1] == "  \x1b[2mN/A\x1b[0m  ImmutableTensor"

"""The names and values of columns as text."""

from __future__ import annotations

from typing import Any

import pytest

import profile_analyze as pa
from profile_analyze.columns.catalog import find_column
from profile_analyze.columns.wording import Style, heading, machine_name, value_text
from profile_analyze.report.formats.markdown import markdown_cell, markdown_text


@pytest.mark.parametrize(
    ("name", "header", "export_name"),
    [
        ("time", "time (s)", "time_s"),
        ("time.p90", "time p90 (s)", "time_p90_s"),
        ("time.count", "time count", "time_count"),
        ("flops", "flops", "flops"),
        ("flops.max", "flops max", "flops_max"),
        ("bandwidth", "bandwidth", "bandwidth_bytes_per_s"),
        ("memory", "memory", "memory_bytes"),
        ("computation", "computation", "computation_flo"),
        ("intensity", "intensity (FLO/byte)", "intensity_flo_per_byte"),
        ("cumulative_share", "cumulative share", "cumulative_share"),
        ("id", "id", "id"),
        ("in_shapes", "in_shapes", "in_shapes"),
        ("param.stride_h", "param.stride_h", "param.stride_h"),
        (r"name~l\.\d", r"name~l\.\d", r"name~l\.\d"),
    ],
)
def test_columns_have_headings_and_names_for_programs(
    name: str, header: str, export_name: str
) -> None:
    column = find_column(name)
    assert (heading(column), machine_name(column)) == (header, export_name)


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("time", 0.0012345, "0.00123"),
        ("time", float("nan"), "N/A"),
        ("share", 0.0846, "8.5%"),
        ("computation", 231211008.0, "231.21 MFLO"),
        ("flops", 2.6e10, "26.00 GFLOPS"),
        ("memory", 1536.0, "1.50 KiB"),
        ("bandwidth", float("nan"), "N/A"),
        ("intensity", 57.27, "57.3"),
        ("id", 324, "324"),
        ("count", 20, "20"),
        ("name", None, "N/A"),
        ("name", "conv", "conv"),
        ("in_shapes", ((1, 3), ()), "{1,3}, {}"),
        ("in_strides", ((1, 2), None), "[1,2], contiguous"),
        ("parameters", (("mode", "ADD"), ("pad_h", 1)), "mode=ADD, pad_h=1"),
        ("param.pad_h", 1, "1"),
        (r"in_shapes~\d+", "12", "12"),
    ],
)
def test_the_text_of_a_value_depends_on_its_column(name: str, value: Any, text: str) -> None:
    assert value_text(find_column(name), value) == text


@pytest.mark.parametrize(
    ("name", "style", "texts"),
    [
        ("computation", "stacked", ["231.21\nMFLO", "N/A\nFLO"]),
        ("computation", "fixed", ["231.2", "N/A"]),
        ("computation", "digits", ["2.31211e+08", "N/A"]),
        ("flops", "fixed", ["231.2", "N/A"]),
        ("bandwidth", "stacked", ["220.50\nMiB/s", "N/A\nbyte/s"]),
        ("bandwidth", "fixed", ["220.5", "N/A"]),
        ("memory", "fixed", ["220.5", "N/A"]),
        ("share", "fixed", ["23121100800.0%", "N/A"]),
        ("time", "stacked", ["2.31e+08", "N/A"]),
        ("cumulative_share", "digits", ["2.31211e+08", "N/A"]),
        ("difference", "digits", ["+2.31211e+08", "N/A"]),
    ],
)
def test_styles_change_digits_and_units(name: str, style: Style, texts: list[str]) -> None:
    column = find_column(name)
    assert [value_text(column, value, style) for value in (231211008.0, float("nan"))] == texts


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("ConvolutionForward", "ConvolutionForward"),
        ("in_shapes", "in_shapes"),
        ("26.33 GFLOPS", "26.33 GFLOPS"),
        ("time (s)", "time (s)"),
        ("_x_", "`_x_`"),
        ("a|b", r"`a\|b`"),
        ("a`b", "``a`b``"),
        ("`", "`` ` ``"),
        ("`a", "`` `a ``"),
        ("a`", "`` a` ``"),
        ("[a](b)", "`[a](b)`"),
        ("<b>", "`<b>`"),
        ("@someone", "`@someone`"),
        ("www.a.b", "`www.a.b`"),
        ("", ""),
    ],
)
def test_names_with_markup_are_code_spans_in_markdown(text: str, shown: str) -> None:
    assert markdown_cell(text) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (
            "the operators' time: +1.0%, p < 0.001; model's",
            "the operators' time: +1.0%, p < 0.001; model's",
        ),
        ("more work: a[0] b|c, 2.7 times", "more work: `a[0] b|c`, 2.7 times"),
        ("did you mean 'type ~ a b'?", "did you mean `'type ~ a b'`?"),
        ("1. a + b", "`1`. a + b"),
        ("- a", "`-` a"),
        ("> a", "`>` a"),
        ("see http://a.b, #12 and a@b.c", "see `http://a.b, #12` and `a@b.c`"),
        ("a  `` b", "a  ``` `` ``` b"),
        ("", ""),
    ],
)
def test_only_words_with_markup_are_code_spans_in_sentences(text: str, shown: str) -> None:
    assert markdown_text(text) == shown


def test_rates_have_no_sum_or_mean() -> None:
    for name in ("flops.mean", "bandwidth.sum", "intensity.mean"):
        with pytest.raises(pa.UnknownColumnError, match=f"there is no column '{name}'"):
            find_column(name)

"""Properties of all output formats: names, suffixes, chosen and default columns."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

import pytest

import profile_analyze as pa
from profile_analyze.columns import patterns
from profile_analyze.report.base import encoded
from profile_analyze.report.formats.output_formats import (
    OPERATORS,
    PICTURE_FORMATS,
    find_renderer,
    output_format_of,
    picture_format_of,
)
from tests.conftest import (
    FORMATS_FOR_PEOPLE,
    FORMATS_WITH_UNITS,
    PROFILES,
    TABLE_FORMATS,
    run_command,
)
from tests.small import Operator, profile_of, written

if TYPE_CHECKING:
    from pathlib import Path


RESNET = str(PROFILES / "resnet18.json")


@pytest.mark.parametrize("output_format", FORMATS_FOR_PEOPLE)
def test_sentences_have_escapes_for_the_encoding(output_format: str, tmp_path: Path) -> None:
    file = written(tmp_path / "names.json", [Operator("a", "卷积", 1, work=(1, 1))])
    options = ["--dump-only-opr"] if output_format == OPERATORS else ["--format", output_format]
    condition = ["--fail-if", "type == 卷积: time > 1h"]
    outcome = run_command(
        *(file, *options, "--peaks", "1T:1G", *condition, "--fail-uncertain", "no"),
        encoding="ascii",
    )
    assert outcome.code == 0
    text = outcome.out.replace("`", "")  # Markdown has names in code spans
    assert text.count(r"1 operator of type \u5377\u79ef (100.0% of the time) runs at") == 1
    assert r"type == \u5377\u79ef: time > 1h" in text


def test_a_slow_pattern_in_a_column_fails_before_anything_is_printed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(patterns, "TIME_LIMIT_S", 0.0)
    outcome = run_command(RESNET, "--columns", "name~x", "--format", "plain")
    assert (outcome.code, outcome.out) == (2, "")


@pytest.mark.parametrize("output_format", [one for one in FORMATS_FOR_PEOPLE if one != OPERATORS])
def test_chosen_columns_are_in_the_order_asked_for(output_format: str) -> None:
    call = (RESNET, "-t", "1", "--print-only", "device", "--format", output_format)
    shown = run_command(*call, "--columns", "id,opr_id,bandwidth,type,host_time,param.mode").out
    unit, host_time = ("us", "9.000") if output_format in FORMATS_WITH_UNITS else ("s", "9e-06")
    expected = ["id", "bandwidth", "type", f"host time ({unit})", "param.mode"]
    positions = [shown.index(word) for word in expected]
    assert positions == sorted(positions)
    words = shown.replace("`", "").split()
    for word in ("324", "1.02", "GiB/s", "ConvolutionForward", host_time, "CROSS_CORRELATION"):
        assert word in words
    assert words.count("324") == 1  # opr_id is an alias of id


@pytest.mark.parametrize("output_format", TABLE_FORMATS)
def test_every_format_can_show_all_columns_of_groups(output_format: str) -> None:
    result = pa.run(pa.Query(by="type,param.mode", aggregates="p90,count"), pa.load(RESNET))
    text = pa.render(result, output_format, columns="all")
    assert "nan" not in text
    if output_format == "csv":
        assert len(next(csv.reader(io.StringIO(text)))) == len(result.columns)


def test_formats_for_people_show_only_columns_with_values() -> None:
    operators = [Operator("conv", "Conv", 4, work=(1, 1)), Operator("relu", "Relu", 2)]
    table = pa.run(pa.Query(by="type,param.none"), profile_of(operators))
    shown = pa.render(table, "markdown", columns="all").splitlines()[0].strip("|").split("|")
    heads = [cell.strip() for cell in shown]
    assert heads[:4] == ["type", "`param.none`", "count", "device self time (us)"]
    assert ("flops" in heads, "spread" in heads) == (True, False)  # one run has no spread
    with_values = [
        name for name in table.columns if any(row[name] is not None for row in table.rows)
    ]
    assert len(heads) == len({*with_values, *table.query.by})
    empty = pa.run(pa.Query(by="type", types="None"), profile_of(operators))
    heads = pa.render(empty, "markdown", columns="all").splitlines()[0].split("|")
    assert len(heads) == len(empty.columns) + 2


def test_further_aggregates_are_columns_of_the_tables() -> None:
    call = (RESNET, "-t", "1", "--aggregate-by", "type", "--aggregate", "sum,p90,count")
    table = run_command(*call).out.splitlines()
    assert "device self time p90 (s) " in table[6]
    assert "│ 0.00817 " in table[8]
    wiki = run_command(*call, "--wiki").out.splitlines()
    assert "device self time p90 (s) " in wiki[5]
    assert "| 0.00817 " in wiki[7]


def test_the_suffix_chooses_the_format() -> None:
    names = ("a.csv", "x.y/.a.JSON", "x.y/a", ".csv", "..md", "x.csv/a")
    assert [output_format_of(name) for name in names] == ["csv", "json", None, None, None, None]


def test_renderers_have_the_names_of_their_formats() -> None:
    assert (
        tuple(find_renderer(output_format).name for output_format in pa.OUTPUT_FORMATS)
        == pa.OUTPUT_FORMATS
    )
    assert tuple(find_renderer(kind).name for kind in PICTURE_FORMATS) == PICTURE_FORMATS
    assert [find_renderer(kind).suffixes for kind in PICTURE_FORMATS] == [
        (f".{kind}",) for kind in PICTURE_FORMATS
    ]


def test_no_two_formats_share_a_suffix() -> None:
    suffixes = [
        (suffix, output_format)
        for output_format in (*pa.OUTPUT_FORMATS, *PICTURE_FORMATS)
        for suffix in find_renderer(output_format).suffixes
    ]
    assert len(dict(suffixes)) == len(suffixes)
    for suffix, output_format in suffixes:
        find = picture_format_of if output_format in PICTURE_FORMATS else output_format_of
        assert find(f"a{suffix}") == output_format


def test_formats_differ_in_tables_stacks_summaries_and_needs() -> None:
    def having(attribute: str) -> list[str]:
        return [
            output_format
            for output_format in pa.OUTPUT_FORMATS
            if getattr(find_renderer(output_format), attribute)
        ]

    assert having("for_programs") == ["csv", "json", "jsonl", "github", "junit", "collapsed"]
    assert [
        output_format
        for output_format in pa.OUTPUT_FORMATS
        if output_format not in having("has_tables")
    ] == [
        "github",
        "junit",
        "collapsed",
    ]
    assert having("has_stacks") == ["collapsed"]
    without = [
        output_format
        for output_format in pa.OUTPUT_FORMATS
        if output_format not in having("has_summary_beside_tables")
    ]
    assert without == ["csv", "jsonl", "collapsed"]
    assert {
        output_format: find_renderer(output_format).needs for output_format in having("needs")
    } == {
        "github": "findings",
        "junit": "conditions",
    }


@pytest.mark.parametrize("encoding", ["utf-8", "ascii", "utf-16", "iso2022_jp"])
def test_texts_are_encoded_as_if_joined(encoding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("profile_analyze.report.base._CHUNK_LENGTH", 3)
    texts = ["", "卷积 a", "卷" * 7, "\udcff\n"]
    whole = b"".join(encoded(texts, encoding))
    assert whole == "".join(texts).encode(encoding, "backslashreplace")


# output format, columns: the expected text of a profile without work
WITHOUT_WORK: dict[tuple[str, tuple[str, ...]], str] = {
    ("plain", ()): """\
device self time (us)  share  type  name
                4.000  80.0%  Conv  conv
                1.000  20.0%  Relu  relu
""",
    ("plain", ("name", "flops")): """\
name  flops
conv    N/A
relu    N/A
""",
    ("markdown", ()): """\
| name   | type   |   device self time (us) |   share |
|:-------|:-------|------------------------:|--------:|
| conv   | Conv   |                   4.000 |   80.0% |
| relu   | Relu   |                   1.000 |   20.0% |
""",
    ("markdown", ("flops",)): """\
|   flops |
|--------:|
|     N/A |
|     N/A |
""",
    ("csv", ()): """\
id,name,type,time_s,share,computation_flo,flops,memory_bytes,bandwidth_bytes_per_s,in_shapes,in_strides,out_shapes,key\r
0,conv,Conv,4e-6,0.8,,,,,{},contiguous,{},0\r
1,relu,Relu,1e-6,0.2,,,,,{},contiguous,{},1\r
""",
}


@pytest.mark.parametrize(("output_format", "columns"), WITHOUT_WORK)
def test_default_columns_without_values_are_left_out(
    output_format: str, columns: tuple[str, ...]
) -> None:
    table = pa.run(
        pa.Query(), profile_of([Operator("conv", "Conv", 4), Operator("relu", "Relu", 1)])
    )
    assert pa.render(table, output_format, columns=columns) == WITHOUT_WORK[output_format, columns]


def test_keys_without_values_are_shown() -> None:
    table = pa.run(pa.Query(by="param.none"), profile_of([Operator("conv", "Conv", 4)]))
    assert pa.render(table, "plain") == (
        "device self time (us)   share  count  param.none\n"
        "                4.000  100.0%      1  N/A\n"
    )


def test_a_table_without_rows_keeps_its_columns() -> None:
    table = pa.run(pa.Query(types="None"), profile_of([Operator("conv", "Conv", 4)]))
    assert pa.render(table, "plain") == (
        "device self time (us)  share  flops  bandwidth  type  name\n"
    )


def test_a_column_has_values_if_a_row_of_the_table_has_one() -> None:
    profile = profile_of([Operator("conv", "Conv", 4, work=(1, 1)), Operator("relu", "Relu", 2)])
    assert pa.run(pa.Query(), profile).has_values("flops")
    assert pa.run(pa.Query(types="Conv"), profile).has_values("flops")
    assert not pa.run(pa.Query(types="Relu"), profile).has_values("flops")


def test_tables_are_called_operators_or_groups() -> None:
    profile = profile_of([Operator("conv", "Conv", 4)])
    assert pa.run(pa.Query(), profile).name == "operators"
    assert pa.run(pa.Query(by="type"), profile).name == "groups"


def test_the_suffix_chooses_the_picture_format() -> None:
    assert [picture_format_of(f"a.{kind}") for kind in ("svg", "PNG", "b.pdf")] == [
        *("svg", "png", "pdf")
    ]
    with pytest.raises(pa.QueryError) as caught:
        picture_format_of("a.svg.gif")
    assert str(caught.value) == (
        "'a.svg.gif' has none of the suffixes .svg, .png, .pdf; write a.svg"
    )


def test_unknown_columns_are_errors() -> None:
    result = pa.run(pa.Query(by="type"), pa.load(RESNET))
    with pytest.raises(
        pa.UnknownColumnError, match="groups have no column 'name'; add it to --aggregate-by"
    ):
        pa.render(result, columns=["name"])
    with pytest.raises(
        pa.UnknownColumnError, match="groups have no column 'id'; they have type, count"
    ):
        pa.render(result, columns=["id"])
    with pytest.raises(
        pa.UnknownColumnError, match=r"there is no column 'tpye'; did you mean type\?"
    ):
        pa.render(result, columns="tpye")


def test_a_notebook_shows_a_table_without_markup_of_names() -> None:
    result = pa.run(pa.Query(by="name", top=1), pa.load(PROFILES / "tiny.json"))
    html = result._repr_html_()
    assert html.startswith("<table>\n<tr><th>name</th><th>count</th><th>time (s)</th>")
    assert html.endswith("</td></tr>\n</table>")
    everything = pa.run(pa.Query(), pa.load(PROFILES / "tiny.json"))._repr_html_()
    assert "<td>const&lt;1&gt;[2]</td>" in everything
    (name,) = pa.run(pa.Query(by="name"), profile_of([Operator("卷|\x1b", "T", 1)])).labels
    assert name == "卷|\x1b"
    html = pa.run(pa.Query(), profile_of([Operator(name, "T", 1)]))._repr_html_()
    assert r"<td>卷|\x1b</td><td>T</td>" in html
    many = pa.run(pa.Query(), pa.load(PROFILES / "mobilenet.json"))
    html = many._repr_html_()
    assert html.count("<tr>") == 101
    assert html.endswith(f"<p>and {len(many) - 100} more rows</p>")


def test_aggregates_rename_columns() -> None:
    query = pa.Query(by="type", aggregates="median,max", top=1)
    result = pa.run(query, pa.load(RESNET))
    header = next(csv.reader(io.StringIO(pa.render(result, "csv"))))
    assert header == [
        *("type", "count", "time_median_s", "time_max_s", "share", "computation_median_flo"),
        *("flops", "memory_median_bytes", "bandwidth_bytes_per_s"),
    ]
    assert pa.render(result, "plain").startswith(
        "device self time median (ms)  device self time ma"
    )


def test_groups_show_their_shapes_and_the_names_of_parameters() -> None:
    call = (RESNET, "-t", "1", "--aggregate-by", "type,in_shapes,param.stride_h")
    lines = run_command(*call).out.splitlines()
    assert [line.split("│")[3].strip() for line in lines[8:13]] == [
        *("ConvolutionForward", "{1,64,56,56}, {64,64,3,3}", "stride_h=1", "4", "N/A"),
    ]
    assert [line.split("│")[8].strip() for line in lines[8:10]] == ["{1,64,56,56}", "{64,64,3,3}"]
    wiki = run_command(*call, "--wiki").out
    assert "| ConvolutionForward, {1,64,56,56}, {64,64,3,3}, stride_h=1 |" in wiki

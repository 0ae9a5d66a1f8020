"""Output formats: chosen columns, several tables, formats for programs."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import jsonschema
import pandas as pd
import polars as pl
import pytest

import profile_analyze as pa
from profile_analyze.model.visible import visible
from profile_analyze.model.wording import Style, heading, machine_name, value_text
from profile_analyze.query import patterns
from profile_analyze.query.catalog import find_column
from profile_analyze.report.base import encoded
from profile_analyze.report.comma_separated import csv_cell
from profile_analyze.report.markdown import markdown_cell
from profile_analyze.report.output_formats import (
    PICTURE_FORMATS,
    find_renderer,
    output_format_of,
    picture_format_of,
)
from tests.conftest import PROFILE_NAMES, PROFILES, ROOT, run_command
from tests.small import Operator, profile_of, written

if TYPE_CHECKING:
    from pathlib import Path

RESNET = str(PROFILES / "resnet18.json")
SCHEMA = json.loads((ROOT / "docs" / "report.schema.json").read_text())

CALLS: tuple[list[str], ...] = (
    [],
    ["-t", "0", "--show-host", "--copy-time", "--columns", "all"],
    ["--aggregate-by", "type,in_shapes,param.mode", "--aggregate", "median,count,p90"],
    ["--aggregate", "max", "--columns", "all"],
    ["--print-only", "summary"],
    ["--print-only", "host", "--top-end-key", "kern"],
    ["--type", "NoSuchType"],
    ["--peaks", "h100-sxm", "-t", "0", "--order-by", "lost"],
    ["--peaks", "1T:1G", "--aggregate-by", "bound,type", "--columns", "all"],
)


@pytest.mark.parametrize("name", PROFILE_NAMES)
def test_json_matches_the_schema(name: str) -> None:
    path = str(PROFILES / f"{name}.json")
    for call in CALLS:
        outcome = run_command(path, "--format", "json", *call)
        assert outcome.code == 0
        document = json.loads(outcome.out, parse_constant=pytest.fail)
        jsonschema.validate(document, SCHEMA)
        assert [f"note: {note}" for note in document["notes"]] == outcome.err.splitlines()
        for table in document["tables"]:
            assert len(table["rows"]) == table["shown"] <= table["available"]
            assert {len(row) for row in table["rows"]} <= {len(table["columns"])}
        facts = document["profile"]
        assert (facts["file"], facts["runs"]) == (path, 1)


@pytest.mark.parametrize(
    "name", ["resnet18", "twocn", "names-ctrlchar", "derived-utf8names", "odd-ops"]
)
def test_formats_for_programs_agree(name: str) -> None:
    path = str(PROFILES / f"{name}.json")
    call = (path, "-t", "0", "--columns", "id,name,type,time,flops,memory,intensity")
    table = json.loads(run_command(*call, "--format", "json").out)["tables"][0]
    names = [column["name"] for column in table["columns"]]
    assert names == [
        "id",
        "name",
        "type",
        "time_s",
        "flops",
        "memory_bytes",
        "intensity_flo_per_byte",
    ]
    lines = [json.loads(line) for line in run_command(*call, "--format", "jsonl").out.splitlines()]
    assert lines == [
        {"measure": "time", **dict(zip(names, row, strict=True))} for row in table["rows"]
    ]
    header, *rows = csv.reader(io.StringIO(run_command(*call, "--format", "csv").out))
    assert header == names
    for row, expected in zip(rows, table["rows"], strict=True):
        assert [_cell(text, value) for text, value in zip(row, expected, strict=True)] == expected


def _cell(text: str, value: Any) -> Any:
    """Return a cell of CSV as the value in JSON, without the escapes of CSV."""
    if value is None:
        return None if text == "" else text
    if isinstance(value, str):
        shown = visible(value, "utf-8")
        return value if text in (shown, f"'{shown}") else text
    return type(value)(text)


def test_csv_of_both_sides_has_a_column_measure() -> None:
    call = (RESNET, "-t", "2", "--show-host", "--columns", "id", "--format")
    assert run_command(*call, "csv").out == (
        "measure,id\r\ntime,324\r\ntime,243\r\nhost_time,218\r\nhost_time,243\r\n"
    )
    assert run_command(*call, "jsonl").out.splitlines()[2] == '{"measure":"host_time","id":218}'


def test_tables_differ_by_their_measure() -> None:
    for end_key, measures in (("end", ["time", "host_time"]), ("kern", ["wait", "host_wait"])):
        call = (RESNET, "-t", "1", "--show-host", "--top-end-key", end_key, "--format", "json")
        tables = json.loads(run_command(*call).out)["tables"]
        assert [(table["name"], table["measure"]) for table in tables] == [
            ("operators", measure) for measure in measures
        ]
    grouped = json.loads(run_command(RESNET, "--aggregate-by", "type", "--format", "json").out)
    assert [table["name"] for table in grouped["tables"]] == ["groups"]
    only = json.loads(run_command(RESNET, "--print-only", "summary", "--format", "json").out)
    assert only["tables"] == []


def test_negative_parameters_stay_numbers_in_csv(tmp_path: Path) -> None:
    document = json.loads((PROFILES / "resnet18.json").read_text())
    document["profiler"]["opr_footprint"]["324"]["param"] = {"axis": -1, "mode": "-1"}
    (tmp_path / "a.json").write_text(json.dumps(document))
    call = (str(tmp_path / "a.json"), "-t", "1", "--columns", "param.axis,param.mode,param.none")
    assert run_command(*call, "--format", "csv").out.splitlines()[1] == "-1,'-1,"


def test_headers_are_escaped() -> None:
    call = (RESNET, "-t", "1", "--columns", 'name~"a",name~=x', "--format")
    assert run_command(*call, "csv").out.splitlines()[0] == '"name~""a""",name~=x'
    out = run_command(RESNET, "-t", "1", "--columns", "param.x\x1b", "--format", "plain").out
    assert out.split()[-2] == r"param.x\x1b"


def test_a_line_of_csv_is_never_blank() -> None:
    out = run_command(RESNET, "-t", "0", "--columns", "param.none", "--format", "csv").out
    assert out == "param.none\r\n" + '""\r\n' * 91


def test_no_operators_at_all(tmp_path: Path) -> None:
    path = tmp_path / "empty.json"
    path.write_text('{"profiler": {}, "graph_exec": {"operator": {}}}')
    for output_format in pa.OUTPUT_FORMATS:
        if output_format in ("operators", "github", "junit"):
            continue
        for call in CALLS:
            if "--copy-time" in call and output_format in ("csv", "jsonl"):
                continue
            outcome = run_command(str(path), "--format", output_format, *call)
            assert outcome.code == 0, outcome.err
            if output_format == "json":
                jsonschema.validate(json.loads(outcome.out), SCHEMA)


def test_numbers_and_texts_that_json_cannot_represent(tmp_path: Path) -> None:
    document = json.loads((PROFILES / "resnet18.json").read_text())
    document["profiler"]["opr_footprint"]["324"]["param"] = {"big": 2**70, "none": None}
    path = tmp_path / "big.json"
    path.write_text(json.dumps(document))
    call = (str(path), "-t", "1", "--columns", "parameters,param.big,name~\udcff", "--format")
    row = json.loads(run_command(*call, "jsonl").out)
    assert row == {
        "measure": "time",
        "parameters": {"big": "1180591620717411303424"},
        "param.big": "1180591620717411303424",
        r"name~\udcff": None,
    }
    assert run_command(*call, "json").code == 0
    document["profiler"]["opr_footprint"]["324"]["in_shapes"] = [[2**70]]
    path.write_text(json.dumps(document))
    outcome = run_command(str(path))
    assert outcome.code == 1
    assert "at $.profiler.opr_footprint[...].in_shapes[0][0]: expected `int`" in outcome.err


def test_json_has_escapes_instead_of_control_characters(tmp_path: Path) -> None:
    name = "\x1b[2J \x7f \x9b31m \u202egnp. \u2028 \ufeff \U000e0041 \U0001f600 卷积"
    file = written(tmp_path / "hostile.json", [Operator(name, "Conv", 1)])
    line = run_command(file, "--format", "jsonl", "--columns", "name").out
    escapes = r"\u001b[2J \u007f \u009b31m \u202egnp. \u2028 \ufeff \udb40\udc41 😀 卷积"
    assert line == f'{{"measure":"time","name":"{escapes}"}}\n'
    assert json.loads(line)["name"] == name
    document = json.loads(run_command(file, "--format", "json", "--columns", "name").out)
    assert document["tables"][0]["rows"] == [[name]]


@pytest.mark.parametrize("output_format", ["table", "plain", "markdown", "wiki", "operators"])
def test_sentences_have_escapes_for_the_encoding(output_format: str, tmp_path: Path) -> None:
    file = written(tmp_path / "names.json", [Operator("a", "卷积", 1, work=(1, 1))])
    options = ["--dump-only-opr"] if output_format == "operators" else ["--format", output_format]
    condition = ["--fail-if", "type == 卷积: time > 1h"]
    outcome = run_command(
        *(file, *options, "--peaks", "1T:1G", *condition, "--fail-uncertain", "no"),
        encoding="ascii",
    )
    assert outcome.code == 0
    assert outcome.out.count(r"1 \u5377\u79ef, 100.0% of the time, run at") == 1
    assert r"type == \u5377\u79ef: time > 1h" in outcome.out


def test_formats_without_a_summary_refuse_copy_times() -> None:
    for output_format in ("csv", "jsonl"):
        outcome = run_command(RESNET, "--copy-time", "--format", output_format)
        assert outcome.code == 2
        assert outcome.err.startswith(
            "profile_analyze: error: --copy-time adds to the summary, which "
        )
        call = (RESNET, "--copy-time", "--format", output_format, "--print-only", "summary")
        assert run_command(*call).code == 0


def test_a_slow_pattern_in_a_column_fails_before_anything_is_printed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(patterns, "TIME_LIMIT_S", 0.0)
    outcome = run_command(RESNET, "--columns", "name~x", "--format", "plain")
    assert (outcome.code, outcome.out) == (2, "")


def test_totals_without_tables() -> None:
    call = (RESNET, "--print-only", "summary", "--format")
    header, values = csv.reader(io.StringIO(run_command(*call, "csv").out))
    total = json.loads(run_command(*call, "jsonl").out)
    assert list(total) == header
    assert [float(value) if value else None for value in values] == list(total.values())
    assert total["device_time_s"] == pytest.approx(0.103739)
    assert total["copy_time_s"] is None


@pytest.mark.parametrize("output_format", ["table", "plain", "markdown", "wiki"])
def test_chosen_columns_are_in_the_order_asked_for(output_format: str) -> None:
    call = (RESNET, "-t", "1", "--print-only", "device", "--format", output_format)
    shown = run_command(*call, "--columns", "id,opr_id,bandwidth,type,host_time,param.mode").out
    expected = ["id", "bandwidth", "type", "host time (s)", "param.mode"]
    positions = [shown.index(word) for word in expected]
    assert positions == sorted(positions)
    words = shown.replace("`", "").split()
    for word in ("324", "1.02", "GiB/s", "ConvolutionForward", "9e-06", "CROSS_CORRELATION"):
        assert word in words
    assert words.count("324") == 1  # opr_id is an alias of id


@pytest.mark.parametrize("output_format", pa.OUTPUT_FORMATS)
def test_every_format_can_show_all_columns_of_groups(output_format: str) -> None:
    result = pa.run(pa.Query(by="type,param.mode", aggregates="p90,count"), pa.load(RESNET))
    text = pa.render(result, output_format, columns="all")
    assert "nan" not in text
    if output_format == "csv":
        assert len(next(csv.reader(io.StringIO(text)))) == len(result.columns) == 23


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
    assert len(dict(suffixes)) == len(suffixes) == 14
    for suffix, output_format in suffixes[:-3]:
        assert output_format_of(f"a{suffix}") == output_format
    for suffix, output_format in suffixes[-3:]:
        assert picture_format_of(f"a{suffix}") == output_format


def test_attributes_of_formats() -> None:
    def having(attribute: str) -> list[str]:
        return [
            output_format
            for output_format in pa.OUTPUT_FORMATS
            if getattr(find_renderer(output_format), attribute)
        ]

    assert having("for_programs") == ["csv", "json", "jsonl", "github", "junit"]
    assert [
        output_format
        for output_format in pa.OUTPUT_FORMATS
        if output_format not in having("has_tables")
    ] == [
        "github",
        "junit",
    ]
    without = [
        output_format
        for output_format in pa.OUTPUT_FORMATS
        if output_format not in having("has_summary_beside_tables")
    ]
    assert without == ["csv", "jsonl"]
    assert {
        output_format: find_renderer(output_format).needs for output_format in having("needs")
    } == {
        "github": "findings",
        "junit": "conditions",
    }


def test_formats_import_no_numpy_before_a_file_is_read() -> None:
    code_ = (
        "import sys\n"
        "from profile_analyze.report.output_formats import OUTPUT_FORMATS, find_renderer\n"
        "print(*map(find_renderer, OUTPUT_FORMATS), file=sys.stderr)\n"
        "sys.exit('numpy' in sys.modules or 'tabulate' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code_], capture_output=True, check=False)
    assert done.returncode == 0


@pytest.mark.parametrize("encoding", ["utf-8", "ascii", "utf-16", "iso2022_jp"])
def test_texts_are_encoded_as_if_joined(encoding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("profile_analyze.report.base._CHUNK_LENGTH", 3)
    texts = ["", "卷积 a", "卷" * 7, "\udcff\n"]
    whole = b"".join(encoded(texts, encoding))
    assert whole == "".join(texts).encode(encoding, "backslashreplace")


# output format, columns: the expected text of a profile without work
WITHOUT_WORK: dict[tuple[str, tuple[str, ...]], str] = {
    ("plain", ()): """\
  device self time (s)    share  type    name
                 4e-06    80.0%  Conv    conv
                 1e-06    20.0%  Relu    relu
""",
    ("plain", ("name", "flops")): """\
name      flops
conv        N/A
relu        N/A
""",
    ("markdown", ()): """\
| name   | type   |   device self time (s) |   share |
|:-------|:-------|-----------------------:|--------:|
| conv   | Conv   |                  4e-06 |   80.0% |
| relu   | Relu   |                  1e-06 |   20.0% |
""",
    ("markdown", ("flops",)): """\
|   flops |
|--------:|
|     N/A |
|     N/A |
""",
    ("csv", ()): """\
id,name,type,time_s,share,computation_flo,flops,memory_bytes,bandwidth_bytes_per_s,in_shapes,in_strides,out_shapes\r
0,conv,Conv,4e-6,0.8,,,,,{},contiguous,{}\r
1,relu,Relu,1e-6,0.2,,,,,{},contiguous,{}\r
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
        "  device self time (s)    share    count  param.none\n"
        "                 4e-06   100.0%        1  N/A\n"
    )


def test_a_table_without_rows_keeps_its_columns() -> None:
    table = pa.run(pa.Query(types="None"), profile_of([Operator("conv", "Conv", 4)]))
    assert pa.render(table, "plain") == (
        "device self time (s)    share    flops    bandwidth    type    name\n"
    )


def test_which_columns_have_values() -> None:
    profile = profile_of([Operator("conv", "Conv", 4, work=(1, 1)), Operator("relu", "Relu", 2)])
    table = pa.run(pa.Query(), profile)
    assert [name for name in table.columns if not table.has_values(name)] == [
        *("scope", "spread", "host_time", "wait", "queue", "input_dtype", "stream", "rank"),
    ]
    assert pa.run(pa.Query(types="Conv"), profile).has_values("flops")
    assert not pa.run(pa.Query(types="Relu"), profile).has_values("flops")
    assert (table.name, pa.run(pa.Query(by="type"), profile).name) == ("operators", "groups")


def test_the_suffix_chooses_the_picture_format() -> None:
    assert [picture_format_of(f"a.{kind}") for kind in ("svg", "PNG", "b.pdf")] == [
        *("svg", "png", "pdf")
    ]
    with pytest.raises(pa.QueryError) as caught:
        picture_format_of("a.svg.gif")
    assert str(caught.value) == (
        "argument --plot: 'a.svg.gif' has none of the suffixes .svg, .png, .pdf"
    )


def test_unknown_columns() -> None:
    result = pa.run(pa.Query(by="type"), pa.load(RESNET))
    with pytest.raises(
        pa.UnknownColumnError, match="groups have no column 'name'; they have type, c"
    ):
        pa.render(result, columns=["name"])
    with pytest.raises(pa.UnknownColumnError, match="there is no column 'tpye'; near: type"):
        pa.render(result, columns="tpye")


@pytest.mark.parametrize(
    ("name", "header", "for_programs"),
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
def test_names_of_columns(name: str, header: str, for_programs: str) -> None:
    column = find_column(name)
    assert (heading(column), machine_name(column)) == (header, for_programs)


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
def test_values_as_text(name: str, value: Any, text: str) -> None:
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
def test_values_in_other_styles(name: str, style: Style, texts: list[str]) -> None:
    column = find_column(name)
    assert [value_text(column, value, style) for value in (231211008.0, float("nan"))] == texts


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("=1+1", "'=1+1"),
        ("+1", "'+1"),
        ("-1", "'-1"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("\tx", r"\tx"),
        ("a=b", "a=b"),
        ("", ""),
        ("a\nb", r"a\nb"),
        ('a"b', '"a""b"'),
        ("a,b", '"a,b"'),
        ('="x"', '"\'=""x"""'),
    ],
)
def test_csv_cells_are_quoted_and_are_no_formulas(text: str, shown: str) -> None:
    assert csv_cell(text) == shown


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


def test_data_frames() -> None:
    result = pa.run(pa.Query(), pa.load(RESNET))
    columns = result.to_dict()
    frame = pd.DataFrame(columns)
    assert list(frame.columns) == list(result.columns)
    assert len(frame) == 91
    assert frame["time"].sum() == pytest.approx(0.103739)
    assert frame["flops"].isna().sum() == 42
    assert frame["in_shapes"][0] == "{1,512,7,7}, {512,512,3,3}"
    other = pl.DataFrame(columns)
    assert other.columns == list(result.columns)
    assert other["time"].sum() == pytest.approx(0.103739)
    assert other["flops"].null_count() == 42
    groups = pa.run(pa.Query(by="type", aggregates="sum,p90"), pa.load(RESNET)).to_dict()
    assert pd.DataFrame(groups)["time.p90"].max() == pytest.approx(0.0081737)
    assert pl.DataFrame(groups)["count"].sum() == 91


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
        "  device self time median (s)    device self time ma"
    )


def test_rates_have_no_sum_or_mean() -> None:
    for name in ("flops.mean", "bandwidth.sum", "intensity.mean"):
        with pytest.raises(pa.UnknownColumnError):
            find_column(name)


def test_groups_show_their_shapes_and_the_names_of_parameters() -> None:
    call = (RESNET, "-t", "1", "--aggregate-by", "type,in_shapes,param.stride_h")
    lines = run_command(*call).out.splitlines()
    assert [line.split("│")[3].strip() for line in lines[8:13]] == [
        *("ConvolutionForward", "{1,64,56,56}, {64,64,3,3}", "stride_h=1", "4", "N/A"),
    ]
    assert [line.split("│")[8].strip() for line in lines[8:10]] == ["{1,64,56,56}", "{64,64,3,3}"]
    wiki = run_command(*call, "--wiki").out
    assert "| ConvolutionForward, {1,64,56,56}, {64,64,3,3}, stride_h=1 |" in wiki


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_know_the_options(shell: str) -> None:
    outcome = run_command("--print-completion", shell)
    assert (outcome.code, outcome.err) == (0, "")
    for option in ("aggregate-by", "where", "columns", "jsonl"):
        assert option in outcome.out
    files = {"bash": "_shtab_compgen_files", "zsh": "_files", "fish": "__fish_complete_path"}
    assert files[shell] in outcome.out
    if shell == "bash":
        parsed = subprocess.run(
            ["bash", "-n"], input=outcome.out, text=True, capture_output=True, check=False
        )
        assert (parsed.returncode, parsed.stderr) == (0, "")


def test_formats_for_programs_import_neither_tabulate_nor_regex() -> None:
    for output_format in ("csv", "json"):
        code_ = (
            "import sys\n"
            "from profile_analyze.cli.main import main\n"
            "main([*sys.argv[1:3], '-t', '0'])\n"
            "sys.exit(' '.join({'tabulate', 'regex'} & sys.modules.keys()) or 0)"
        )
        arguments = [sys.executable, "-c", code_, RESNET, f"--format={output_format}"]
        done = subprocess.run(arguments, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")

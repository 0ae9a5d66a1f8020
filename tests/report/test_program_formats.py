"""Output formats for programs: JSON, JSON Lines and CSV, and data frames."""

from __future__ import annotations

import csv
import io
import json
import re
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

import profile_analyze as pa
from profile_analyze.model.measures import MEASURES
from profile_analyze.model.visible import visible
from profile_analyze.report.formats.comma_separated import csv_cell
from profile_analyze.report.formats.schema import schema
from tests.conftest import PROFILE_NAMES, PROFILES, TABLE_FORMATS, run_command, some_of
from tests.in_memory import profile_of
from tests.report.json_schema import check_report
from tests.small import Operator, written

if TYPE_CHECKING:
    from pathlib import Path


RESNET = str(PROFILES / "resnet18.json")


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


@pytest.mark.slow
@pytest.mark.parametrize("name", some_of(PROFILE_NAMES, 6))
def test_json_matches_the_schema(name: str) -> None:
    path = str(PROFILES / f"{name}.json")
    for call in CALLS:
        outcome = run_command(path, "--format", "json", "--notes", "all", *call)
        assert outcome.code == 0
        document = json.loads(outcome.out, parse_constant=pytest.fail)
        check_report(document)
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


def test_the_schema_explains_each_measure() -> None:
    measure = schema()["$defs"]["table"]["properties"]["measure"]
    assert measure["enum"] == [*MEASURES, None]
    in_brackets = re.findall(r"\((.*?)\)", measure["description"])
    assert {one for names in in_brackets for one in names.split(", ")} == set(MEASURES)


def test_csv_of_device_and_host_has_a_column_measure() -> None:
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


def test_csv_refuses_tables_with_different_columns() -> None:
    profile = pa.load(RESNET)
    tables = [pa.run(pa.Query(top=1, by=by), profile) for by in ((), "type")]
    with pytest.raises(pa.QueryError, match="these tables have different columns"):
        pa.render(pa.Report.of(None, tables), "csv")
    text = pa.render(pa.Report.of(None, tables), "csv", columns=["time", "share"])
    assert text.splitlines()[0] == "measure,time_s,share"


@pytest.mark.parametrize(
    ("calls", "heading", "rows"),
    [
        (1, "", ["a,1,2.0,0.4", "b,1,3.0,0.6"]),
        (7, ",calls", ["a,1,2.0,0.4", "b,1,3.0,0.6"]),
    ],
)
def test_calls_are_the_last_column_if_an_operator_has_several(
    calls: int, heading: str, rows: list[str]
) -> None:
    profile = profile_of(
        [{"name": "a", "type": "a"}, {"name": "b", "type": "b"}],
        [
            {"operator": 0, "duration_s": 2.0, "calls": calls},
            {"operator": 1, "duration_s": 3.0},
        ],
    )
    table = pa.run(pa.Query(by="type", order="+time"), profile)
    ends = [f",,,,,{calls}.0", ",,,,,1.0"] if calls > 1 else [",,,,", ",,,,"]
    expected = [
        f"type,count,time_s,share,computation_flo,flops,memory_bytes,bandwidth_bytes_per_s{heading}",
        *(f"{row}{end}" for row, end in zip(rows, ends, strict=True)),
    ]
    assert pa.render(table, "csv").splitlines() == expected
    names = json.loads(pa.render(table, "json"))["tables"][0]["columns"]
    assert [one["name"] for one in names] == expected[0].split(",")
    [first, _] = pa.render(table, "jsonl").splitlines()
    assert [*json.loads(first)] == ["measure", *expected[0].split(",")]


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


def test_a_profile_without_operators_is_shown(tmp_path: Path) -> None:
    path = tmp_path / "empty.json"
    path.write_text('{"profiler": {}, "graph_exec": {"operator": {}}}')
    for output_format in TABLE_FORMATS:
        if output_format in ("operators", "github", "junit"):
            continue
        for call in CALLS:
            if "--copy-time" in call and output_format in ("csv", "jsonl"):
                continue
            outcome = run_command(str(path), "--format", output_format, *call)
            assert outcome.code == 0, outcome.err
            if output_format == "json":
                check_report(json.loads(outcome.out))


def test_numbers_that_json_cannot_represent_are_texts_or_errors(tmp_path: Path) -> None:
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


def test_formats_without_a_summary_refuse_copy_times() -> None:
    for output_format in ("csv", "jsonl"):
        outcome = run_command(RESNET, "--copy-time", "--format", output_format)
        assert outcome.code == 2
        assert outcome.err.startswith(
            "profile_analyze: error: --copy-time adds to the summary, which "
        )
        call = (RESNET, "--copy-time", "--format", output_format, "--print-only", "summary")
        assert run_command(*call).code == 0


def test_a_summary_alone_is_one_row() -> None:
    call = (RESNET, "--print-only", "summary", "--format")
    header, values = csv.reader(io.StringIO(run_command(*call, "csv").out))
    total = json.loads(run_command(*call, "jsonl").out)
    assert list(total) == header
    assert [float(value) if value else None for value in values] == list(total.values())
    assert total["device_time_s"] == pytest.approx(0.103739)
    assert total["copy_time_s"] is None


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
def test_csv_cells_are_quoted_and_are_not_formulas(text: str, shown: str) -> None:
    assert csv_cell(text) == shown


def test_formats_for_programs_import_neither_tabulate_nor_regex() -> None:
    code = (
        "import sys\n"
        "from profile_analyze.cli.main import main\n"
        "for output_format in ('csv', 'json'):\n"
        "    print(main([sys.argv[1], '-t', '0', '--format', output_format]))\n"
        "sys.exit(' '.join({'tabulate', 'regex'} & sys.modules.keys()) or 0)"
    )
    arguments = [sys.executable, "-c", code, RESNET]
    done = subprocess.run(arguments, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("}\n0\n")  # JSON, and its exit status


def test_tables_can_become_data_frames() -> None:
    import pandas as pd
    import polars as pl

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

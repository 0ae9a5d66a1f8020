"""The output format parquet: types, units, N/A, and what it refuses."""

from __future__ import annotations

import io
import json
import sys
from typing import TYPE_CHECKING, Any

import pyarrow  # noqa: ICN001  # `pa` is this package
import pytest
from pyarrow import parquet as pq

import profile_analyze as pa
from tests.conftest import FIXTURES, PROFILES, run_command
from tests.fleet.test_data_sets import write
from tests.small import Operator, document

if TYPE_CHECKING:
    from pathlib import Path

TINY = str(PROFILES / "tiny.json")
ONNX_RUNTIME = str(FIXTURES / "onnxruntime" / "squeezenet-1.31.json.gz")
ERROR = "profile_analyze: error: "


def table_of(*arguments: str, folder: Path) -> Any:
    """Return the table that a call writes."""
    file = folder / "answer.parquet"
    outcome = run_command(*arguments, "-o", str(file), "--force", "--notes", "none")
    assert (outcome.code, outcome.out, outcome.err) == (0, "", "")
    return pq.read_table(file)


def test_columns_have_types_units_and_meanings(tmp_path: Path) -> None:
    file = write(
        tmp_path,
        "small.json",
        document(
            [
                Operator("conv", "Conv", 3000.0, shape=[2, 3], work=(6_000_000, 2048)),
                Operator("relu", "Relu", None),
            ]
        ),
    )
    columns = "id,name,time,calls,flops,in_shapes,input_dtype"
    table = table_of(file, "--columns", columns, "-t", "0", folder=tmp_path)
    assert table.to_pydict() == {
        "id": [0],
        "name": ["conv"],
        "time_s": [0.003],
        "calls": [1.0],
        "flops": [2e9],
        "in_shapes": ["{2,3}"],
        "input_dtype": [None],
    }
    text, number = pyarrow.string(), pyarrow.float64()
    assert table.schema.types == [pyarrow.int64(), text, number, number, number, text, text]
    time = table.schema.field("time_s").metadata
    assert time[b"unit"] == b"s"
    assert time[b"meaning"].startswith(b"the device time, or the kind of time")


def test_keys_of_whole_numbers_are_numbers(tmp_path: Path) -> None:
    file = str(FIXTURES / "pytorch" / "gpu.json")
    table = table_of(file, "--aggregate-by", "group_size", "-t", "0", folder=tmp_path)
    assert table.schema.field("group_size").type == pyarrow.int64()
    assert {2, None} <= set(table.column("group_size").to_pylist())


@pytest.mark.parametrize(
    "arguments",
    [
        ("-t", "0"),
        ("-t", "0", "--columns", "all"),
        ("-t", "0", "--aggregate-by", "type", "--aggregate", "sum,p90,count"),
        ("-t", "0", "--aggregate-by", "type", "--where", "type == none"),
        ("--compare", TINY),
    ],
)
def test_parquet_and_json_lines_have_the_same_rows(
    tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    shown = ("--format", "csv", "--notes", "none")
    names = run_command(TINY, *arguments, *shown).out.split("\r\n")[0].split(",")
    table = table_of(TINY, *arguments, folder=tmp_path)
    assert table.column_names == names
    lines = run_command(TINY, *arguments, "--format", "jsonl", "--notes", "none").out.splitlines()
    for row, line in zip(table.to_pylist(), map(json.loads, lines), strict=True):
        for name, value in row.items():
            # In Parquet, lists such as shapes are texts.
            is_list = isinstance(value, str) and isinstance(line[name], list | dict)
            assert is_list or value == line[name], name


@pytest.mark.parametrize(
    "arguments",
    [
        ("--columns", "all"),
        ("--aggregate-by", "type", "--columns", "all"),
        ("--aggregate-by", "type", "--aggregate", "mean,p90,count"),
        ("--compare", TINY),
        ("--print-only", "summary"),
    ],
)
def test_types_do_not_depend_on_the_values(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    whole = table_of(TINY, *arguments, "--where", "time > 0s", folder=tmp_path).schema
    assert table_of(TINY, *arguments, "--where", "time > 1h", folder=tmp_path).schema == whole
    # The profile of another runtime has values in other columns. Its ids are texts.
    other = table_of(ONNX_RUNTIME, *arguments, "--work", "best", folder=tmp_path).schema
    types = dict(zip(other.names, other.types, strict=True))
    for field in whole:
        if field.name != "id":
            assert types.get(field.name, field.type) == field.type, field.name


def test_types_of_sql_do_not_depend_on_the_values(tmp_path: Path) -> None:
    query = (
        "select run::bigint as a, calls::hugeint as b, time > 0 as c, name as d, run::decimal as e,"
        " device_time_s as f, date '2026-01-01' as g from (select *, device_time_s as time from "
        "operators) where {}"
    )
    schema = table_of(TINY, "--sql", query.format("true"), folder=tmp_path).schema
    integer, number = pyarrow.int64(), pyarrow.float64()
    text, truth = pyarrow.string(), pyarrow.bool_()
    assert schema.types == [integer, number, truth, text, number, number, text]
    assert table_of(TINY, "--sql", query.format("false"), folder=tmp_path).schema == schema
    nothing = "select null::integer as a, null::hugeint as b, null::boolean as c"
    table = table_of(TINY, "--sql", nothing, folder=tmp_path)
    assert table.to_pylist() == [{"a": None, "b": None, "c": None}]
    assert table.schema.types == [integer, number, truth]
    large = "select (2::hugeint ** 60 + 1)::hugeint as a"
    assert table_of(TINY, "--sql", large, folder=tmp_path).to_pylist() == [{"a": 2.0**60}]


def test_the_summary_alone_is_one_row(tmp_path: Path) -> None:
    table = table_of(TINY, "--print-only", "summary", folder=tmp_path)
    assert table.num_rows == 1
    assert table.column("device_time_s").to_pylist() == [pytest.approx(5e-6)]


def test_two_tables_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "two.parquet"
    outcome = run_command(TINY, "--show-host", "-o", str(file))
    message = "a Parquet file has one table; write one table at a time: --print-only device or host"
    assert (outcome.code, outcome.out, outcome.err) == (2, "", f"{ERROR}{message}\n")
    assert not file.exists()


def test_a_terminal_is_refused() -> None:
    outcome = run_command(TINY, "--format", "parquet", on_terminal=True)
    message = "--format parquet is not text; write it to a file: -o result.parquet"
    assert (outcome.code, outcome.out, outcome.err) == (2, "", f"{ERROR}{message}\n")


def test_a_pipe_gets_the_file() -> None:
    # Any byte is a character in this encoding.
    outcome = run_command(TINY, "--format", "parquet", "-t", "0", encoding="latin-1")
    assert outcome.code == 0
    assert pq.read_table(io.BytesIO(outcome.out.encode("latin-1"))).num_rows > 0


def test_the_library_cannot_render_parquet_as_text() -> None:
    message = "output_format: parquet is not text; `profile-analyze -o FILE.parquet` writes a file"
    with pytest.raises(pa.QueryError, match="parquet is not text") as caught:
        pa.render(pa.run(pa.Query(), pa.load(TINY)), "parquet")
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("arguments", "missing", "message"),
    [
        (("-o", "a.parquet"), "pyarrow", "parquet needs pyarrow; install the extra fleet"),
        (("--export", "set"), "pyarrow", "--export needs pyarrow; install the extra fleet"),
        (("--sql", "from runs"), "duckdb", "--sql needs duckdb; install the extra sql"),
        (("--sql", "from runs"), "pyarrow", "--sql needs pyarrow; install the extra sql"),
        (("--sql", "help"), "duckdb", "--sql help needs duckdb; install the extra sql"),
    ],
)
def test_a_missing_package_is_named_with_its_extra(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...],
    missing: str,
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in list(sys.modules):
        is_late = name.startswith(
            ("profile_analyze.fleet.", "profile_analyze.report.formats.parquet")
        )
        if is_late and name != "profile_analyze.fleet.entry":
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, missing, None)
    outcome = run_command(TINY, *arguments)
    extra = message.rpartition(" ")[2]
    expected = f"{ERROR}{message}: pip install 'profile_analyze[{extra}]'\n"
    assert (outcome.code, outcome.out, outcome.err) == (1, "", expected)
    assert list(tmp_path.iterdir()) == []

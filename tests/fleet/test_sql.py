"""Answers to SQL queries: the tables, every output format, and what the answers mean."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pyarrow  # noqa: ICN001  # `pa` is this package
import pytest
from pyarrow import parquet as pq

import profile_analyze as pa
from profile_analyze.columns.catalog import CATALOG, all_optional_columns
from profile_analyze.columns.wording import machine_name, unit_of_machine_name
from profile_analyze.fleet.sql import answer_sql, sql_help
from profile_analyze.fleet.sql_tables import COLUMNS, DECLARED
from profile_analyze.model.categorical import Categorical
from profile_analyze.model.levels.levels import at_level
from profile_analyze.model.levels.splitting import split
from profile_analyze.model.terms import RUN_KEYS
from profile_analyze.query.rows import OperatorRows
from tests.conftest import FIXTURES, PROFILES, run_command
from tests.fleet.test_data_sets import GROUPS, exported, write
from tests.small import Operator, document

if TYPE_CHECKING:
    from pathlib import Path

TINY = str(PROFILES / "tiny.json")
CLASSIFIER = str(FIXTURES / "classifiers" / "classifier.onnx")
BY_TYPE = (
    "select type, count(*) as n, sum(device_time_s) as total_s, sum(memory_bytes) as memory_bytes, "
    "max(flops) as flops, bool_or(run = 1) as in_run_1 from operators group by type order by 3"
)
ERROR = "profile_analyze: error: "


@pytest.fixture
def file(tmp_path: Path) -> str:
    """A profile with three operators of two types."""
    return write(
        tmp_path,
        "small.json",
        document(
            [
                Operator("conv1", "Conv", 3000.0, work=(6_000_000, 2048)),
                Operator("conv2", "Conv", 1500.0, work=(1_500_000, 1024)),
                Operator("a, b", "=Relu", 500.0),
            ]
        ),
    )


WHOLE = {
    "plain": """\
type   n  total (ms)  memory_bytes        flops  in_run_1
=Relu  1       0.500           N/A          N/A  true
Conv   2       4.500      3.00 KiB  2.00 GFLOPS  true
""",
    "table": """\
╒════════╤═════╤═════════════╤════════════════╤═════════════╤════════════╕
│ type   │   n │   total (s) │   memory_bytes │       flops │ in_run_1   │
╞════════╪═════╪═════════════╪════════════════╪═════════════╪════════════╡
│ =Relu  │   1 │      0.0005 │            N/A │         N/A │ true       │
├────────┼─────┼─────────────┼────────────────┼─────────────┼────────────┤
│ Conv   │   2 │      0.0045 │       3.00 KiB │ 2.00 GFLOPS │ true       │
╘════════╧═════╧═════════════╧════════════════╧═════════════╧════════════╛
""",
    "markdown": """\
| type    |   n |   total (ms) |   memory_bytes |       flops | in_run_1   |
|:--------|----:|-------------:|---------------:|------------:|:-----------|
| `=Relu` |   1 |        0.500 |            N/A |         N/A | true       |
| Conv    |   2 |        4.500 |       3.00 KiB | 2.00 GFLOPS | true       |
""",
    "wiki": """\
| type   |   n |   total (s) |   memory_bytes |       flops | in_run_1   |
|--------|-----|-------------|----------------|-------------|------------|
| =Relu  |   1 |      0.0005 |            N/A |         N/A | true       |
| Conv   |   2 |      0.0045 |       3.00 KiB | 2.00 GFLOPS | true       |
""",
    "csv": """\
type,n,total_s,memory_bytes,flops,in_run_1\r
'=Relu,1,0.0005,,,true\r
Conv,2,0.0045000000000000005,3072.0,2000000000.0,true\r
""",
    "jsonl": """\
{"type":"=Relu","n":1,"total_s":0.0005,"memory_bytes":null,"flops":null,"in_run_1":true}
{"type":"Conv","n":2,"total_s":0.0045000000000000005,"memory_bytes":3072.0,"flops":2000000000.0,"in_run_1":true}
""",
}


@pytest.mark.parametrize("output_format", WHOLE)
def test_answers_are_shown_in_each_format(file: str, output_format: str) -> None:
    outcome = run_command(file, "--sql", BY_TYPE, "--format", output_format)
    assert (outcome.code, outcome.out, outcome.err) == (0, WHOLE[output_format], "")


def test_json_has_units(file: str) -> None:
    answer = json.loads(run_command(file, "--sql", BY_TYPE, "--format", "json").out)
    assert answer["sql"] == {
        "columns": [
            {"name": "type", "unit": ""},
            {"name": "n", "unit": "1"},
            {"name": "total_s", "unit": "s"},
            {"name": "memory_bytes", "unit": "byte"},
            {"name": "flops", "unit": "FLO/s"},
            {"name": "in_run_1", "unit": ""},
        ],
        "rows": [
            ["=Relu", 1, 0.0005, None, None, True],
            ["Conv", 2, 0.0045000000000000005, 3072.0, 2000000000.0, True],
        ],
    }
    assert (answer["summary"], answer["tables"], answer["gate"]) == (None, [], [])


def test_parquet_has_types_and_units(file: str, tmp_path: Path) -> None:
    output = tmp_path / "answer.parquet"
    outcome = run_command(file, "--sql", BY_TYPE, "-o", str(output))
    assert (outcome.code, outcome.out, outcome.err) == (0, "", "")
    table = pq.read_table(output)
    assert table.to_pydict() == {
        "type": ["=Relu", "Conv"],
        "n": [1, 2],
        "total_s": [0.0005, 0.0045000000000000005],
        "memory_bytes": [None, 3072.0],
        "flops": [None, 2e9],
        "in_run_1": [True, True],
    }
    assert table.schema.types == [
        *(pyarrow.string(), pyarrow.int64(), pyarrow.float64(), pyarrow.float64()),
        *(pyarrow.float64(), pyarrow.bool_()),
    ]
    units = [field.metadata[b"unit"].decode() for field in table.schema]
    assert units == ["", "1", "s", "byte", "FLO/s", ""]


@pytest.mark.parametrize("name", ["github", "junit", "collapsed"])
def test_formats_without_tables_are_refused(name: str) -> None:
    outcome = run_command(TINY, "--sql", "from operators", "--format", name)
    assert (outcome.code, outcome.out, outcome.err) == (
        2,
        "",
        f"{ERROR}--sql shows a table, which {name} does not have; use another format\n",
    )


@pytest.mark.parametrize("group", GROUPS)
def test_operators_have_the_same_values_as_rows_split_by_run(group: str) -> None:
    """Compare SQL with `split`, which computes the same values in a slower way."""
    files = GROUPS[group]
    profile = at_level(pa.load_runs(files, wanted=all_optional_columns()), None)
    table = OperatorRows(split(profile, RUN_KEYS), pa.Query(split_by="run"))
    names = ", ".join(machine_name(column) for column in COLUMNS)
    answer = answer_sql(
        profile, f"select run, {names} from operators order by operator, run", timeout_s=60
    )
    found = answer.to_dict()
    assert found.pop("run") == table["run"].values().tolist()
    # A row of a split table has the tracks of one run. A row of SQL has the tracks of all runs.
    for column in COLUMNS:
        if column.name in ("device", "track", "stream", "rank", "kernel"):
            continue
        rows = table[column.name]
        expected = (rows.values() if isinstance(rows, Categorical) else rows).tolist()
        values = found[machine_name(column)]
        if column.kind == "number":
            np.testing.assert_array_equal(np.array(values, np.float64), expected, column.name)
        else:
            texts = [
                None if one is None else one if isinstance(one, int) else column.as_text(one)
                for one in expected
            ]
            assert values == texts, column.name


def test_tables_refer_to_each_other(tmp_path: Path) -> None:
    query = (
        "select o.name, t.name as track, r.file, e.duration_s from executions e "
        "join operators o using (operator, run) join tracks t on t.track = e.track "
        "join runs r using (run) where t.side = 'device' order by e.duration_s desc, 1 limit 2"
    )
    files = GROUPS["different"]
    outcome = run_command(*files, "--sql", query, "--format", "csv")
    slowest = run_command(*files, "--columns", "name,track,file,time", "--format", "csv", "-t", "2")
    assert outcome.out.split("\r\n")[1:] == slowest.out.split("\r\n")[1:]
    data_set = exported(tmp_path / "set", files)
    assert run_command(data_set, "--sql", query, "--format", "csv").out == outcome.out


def test_a_column_that_the_profile_lacks_is_null() -> None:
    query = "select grid, count(queue_s) as n, sum(queue_s) as queue_s from operators group by 1"
    outcome = run_command(TINY, "--sql", query, "--format", "csv")
    assert (outcome.code, outcome.out) == (0, "grid,n,queue_s\r\n,0,\r\n")


def test_each_column_has_its_type_whatever_the_values() -> None:
    query = " union all ".join(
        f"select '{table}' as name, column_name, column_type from (describe {table})"
        for table in DECLARED
    )
    known: dict[str, str] = {}
    for names in (*GROUPS.values(), [CLASSIFIER]):
        outcome = run_command(*names, "--sql", query, "--format", "jsonl")
        rows = map(json.loads, outcome.out.splitlines())
        types = {f"{row['name']}.{row['column_name']}": row["column_type"] for row in rows}
        assert types.pop("operators.id") in ("BIGINT", "VARCHAR")  # depends on the format
        known = known or types
        assert types == known
    assert len(known) > 100
    assert (known["operators.group_size"], known["operators.rank"]) == ("BIGINT", "VARCHAR")
    assert (known["tracks.rank"], known["runs.is_copy"]) == ("BIGINT", "BOOLEAN")


def test_a_model_that_has_not_run_can_be_queried() -> None:
    model = CLASSIFIER
    query = "select run, count(*) as n, sum(macs) > 0 as has_macs from operators group by 1"
    outcome = run_command(model, "--sql", query, "--format", "csv")
    n = json.loads(run_command(model, "--format", "json").out)["profile"]["operators"]
    assert outcome.out == f"run,n,has_macs\r\n,{n},true\r\n"


def test_tiles_are_columns_of_operators() -> None:
    model = str(FIXTURES / "classifiers" / "digits.onnx")
    query = (
        "select name, tiles, tiles_m, tiles_n, tiles_k, tiled_macs from operators "
        "where name in ('fc1', 'relu') order by name"
    )
    options = ("--sql", query, "--format", "csv")
    outcome = run_command(model, "--split-matmul", "64,128,256", *options)
    heading = "name,tiles,tiles_m,tiles_n,tiles_k,tiled_macs\r\n"
    assert outcome.out == f"{heading}fc1,8.0,1.0,2.0,4.0,16777216.0\r\nrelu,,,,,\r\n"
    assert run_command(model, *options).out == f"{heading}fc1,,,,,\r\nrelu,,,,,\r\n"


def test_every_declared_column_can_be_named_without_quotes() -> None:
    for name, fields in DECLARED.items():
        names = ", ".join(field.name for field in fields)
        outcome = run_command(TINY, "--sql", f"select {names} from {name}", "--format", "csv")
        assert (outcome.code, outcome.err) == (0, "")
        assert outcome.out.startswith(names.replace(", ", ","))


def test_help_lists_every_column() -> None:
    outcome = run_command("--sql", "help")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out == sql_help()
    for name, fields in DECLARED.items():
        assert f"## {name}: " in outcome.out
        assert all(f"- `{field.name}`" in outcome.out for field in fields)


@pytest.mark.parametrize(
    ("name", "unit"),
    [
        ("total_s", "s"),
        ("x_bytes", "byte"),
        ("x_bytes_per_s", "byte/s"),
        ("x_flo", "FLO"),
        ("x_flo_per_s", "FLO/s"),
        ("x_flo_per_byte", "FLO/byte"),
        ("flops", "FLO/s"),
        ("items", ""),
    ],
)
def test_the_unit_follows_from_the_name(name: str, unit: str) -> None:
    assert unit_of_machine_name(name) == unit


def test_the_name_of_every_column_for_programs_has_its_unit() -> None:
    without_suffix = ("1", "count", "")
    for column in CATALOG:
        unit = "" if column.unit in without_suffix else column.unit
        assert unit_of_machine_name(machine_name(column)) == unit, column.name


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("'infinity'::date", "infinity"),
        ("date '0044-03-15 (BC)'", "0044-03-15 (BC)"),
        ("date '290000-01-01'", "290000-01-01"),
        ("timestamp '2020-01-01 00:00:00.5'", "2020-01-01 00:00:00.5"),
        ("timestamptz '2020-01-01 00:00:00+00'", "2020-01-01 00:00:00+00"),
        ("timetz '12:34:56-12:30'", "12:34:56-12:30"),
        ("interval 100000000 month", "8333333 years 4 months"),
        ("uuid '12345678-1234-5678-1234-567812345678'", "12345678-1234-5678-1234-567812345678"),
        ("'x\\xAA\\x00'::blob", "x\\xAA\\x00"),
        ("'Conv'::enum('Conv', 'Relu')", "Conv"),
        ("[1, null]", "[1,null]"),
        ("{'a': [date 'infinity'], 'b': 1.5}", '{"a":["infinity"],"b":1.5}'),
        ("map {'x': interval 1 day}", '{"x":"1 day"}'),
    ],
)
def test_values_that_are_not_numbers_are_texts(expression: str, text: str) -> None:
    query = f'select null as n, {expression} as "a ""b", 2.5 as c; -- a comment'
    outcome = run_command(TINY, "--sql", query, "--format", "jsonl")
    assert (outcome.code, outcome.err) == (0, "")
    assert json.loads(outcome.out) == {"n": None, 'a "b': text, "c": 2.5}


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("9223372036854775807::hugeint", 2**63 - 1),
        ("170141183460469231731687303715884105727::hugeint", 2.0**127),
        ("12.50::decimal(9, 2)", 12.5),
        ("12.00::decimal(9, 2)", 12),
        ("'nan'::double", None),
        ("'-infinity'::float", None),
        ("true", True),
        ("7::uinteger", 7),
    ],
)
def test_numbers_and_truth_values_do_not_become_texts(expression: str, value: object) -> None:
    outcome = run_command(TINY, "--sql", f"select {expression} as a", "--format", "jsonl")
    assert (json.loads(outcome.out), outcome.code, outcome.err) == ({"a": value}, 0, "")


def test_whole_numbers_of_seconds_are_times() -> None:
    query = "select * from (values (3, 3::hugeint), (null, 12)) t(int_s, hugeint_s)"
    formats = ("plain", "wiki", "csv")
    shown = {name: run_command(TINY, "--sql", query, "--format", name).out for name in formats}
    assert shown == {
        "plain": "int (s)  hugeint (s)\n  3.000        3.000\n    N/A       12.000\n",
        "wiki": "|   int (s) |   hugeint (s) |\n|-----------|---------------|\n"
        "|         3 |             3 |\n|       N/A |            12 |\n",
        "csv": "int_s,hugeint_s\r\n3,3\r\n,12\r\n",
    }


def test_rows_with_texts_keep_their_order() -> None:
    query = "select [n] as list, n from range(3000) t(n) order by -n"
    outcome = run_command(TINY, "--sql", query, "--format", "csv")
    lines = [f"[{n}],{n}" for n in reversed(range(3000))]
    assert outcome.out.splitlines() == ["list,n", *lines]


def test_a_wide_answer_fits_the_terminal() -> None:
    query = "select name, type, device_time_s, host_time_s, in_shapes, out_shapes from operators"
    for name in ("plain", "table"):
        call = (TINY, "--sql", query, "--format", name)
        lines = run_command(*call, on_terminal=True).out.splitlines()
        assert max(map(len, lines)) <= 80
        assert max(map(len, run_command(*call).out.splitlines())) > 80

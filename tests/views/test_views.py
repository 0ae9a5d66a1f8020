"""Rows of a made-up view get filters, an order, columns and output formats like operators."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import profile_analyze as pa
from profile_analyze.columns.column import Column
from profile_analyze.columns.wording import truth_text
from profile_analyze.query.arrangement import Arrangement
from profile_analyze.query.arranging import arranged
from profile_analyze.query.table import Table
from tests.findings.found import codes_in
from tests.in_memory import nested, profile_of
from tests.made_up import VIEW
from tests.report.json_schema import check_report


def shown(**arrangement: Any) -> Table:
    return VIEW.table(nested(), Arrangement.of(VIEW.kind, **arrangement))


WHOLE = {
    "plain": """\
operator     start (ms)  time (ms)
relu_kernel       9.000      1.000
relu              7.000      2.000
linear            1.000      5.000
""",
    "table": """\
╒═════════════╤═════════════╤════════════╕
│ operator    │   start (s) │   time (s) │
╞═════════════╪═════════════╪════════════╡
│ relu_kernel │       0.009 │      0.001 │
├─────────────┼─────────────┼────────────┤
│ relu        │       0.007 │      0.002 │
├─────────────┼─────────────┼────────────┤
│ linear      │       0.001 │      0.005 │
╘═════════════╧═════════════╧════════════╛
""",
    "wiki": """\
| operator    |   start (s) |   time (s) |
|-------------|-------------|------------|
| relu_kernel |       0.009 |      0.001 |
| relu        |       0.007 |      0.002 |
| linear      |       0.001 |      0.005 |
""",
    "markdown": """\
| operator    |   start (ms) |   time (ms) |
|:------------|-------------:|------------:|
| relu_kernel |        9.000 |       1.000 |
| relu        |        7.000 |       2.000 |
| linear      |        1.000 |       5.000 |
""",
    "csv": """\
operator,start_s,time_s\r
relu_kernel,0.009,0.001\r
relu,0.007,0.002\r
linear,0.001,0.005\r
""",
    "jsonl": """\
{"operator":"relu_kernel","start_s":0.009,"time_s":0.001}
{"operator":"relu","start_s":0.007,"time_s":0.002}
{"operator":"linear","start_s":0.001,"time_s":0.005}
""",
}


@pytest.mark.parametrize("output_format", WHOLE)
def test_output_formats_show_a_view(output_format: str) -> None:
    table = shown(where=["time > 0.6ms", "operator !~ net"], order="operator,+start", top=3)
    assert pa.render(table, output_format) == WHOLE[output_format]


def test_json_has_the_arrangement_of_a_view() -> None:
    table = shown(where=["time > 0.6ms", "operator !~ net"], order="operator,+start", top=3)
    document = json.loads(pa.render(table, "json", columns="time,operator"))
    check_report(document)
    assert document["tables"] == [
        {
            "name": "executions",
            "measure": None,
            "query": {
                "where": ["time > 0.6ms", "operator !~ net"],
                "order": ["operator", "+start"],
                "top": 3,
            },
            "matched": 6,
            "available": 6,
            "shown": 3,
            "columns": [{"name": "time_s", "unit": "s"}, {"name": "operator", "unit": ""}],
            "rows": [[0.001, "relu_kernel"], [0.002, "relu"], [0.005, "linear"]],
        }
    ]


def test_a_view_without_an_arrangement_has_all_rows_in_its_own_order() -> None:
    table = shown()
    assert table["operator"].tolist() == [
        *("net", "linear", "addmm", "launch", "relu", "launch", "gemm", "relu_kernel"),
    ]
    assert repr(table) == "Table(8 rows of 8, columns=('operator', 'start', 'time'))"


def test_columns_without_any_value_are_left_out_for_people() -> None:
    profile = profile_of([{"name": "a"}], [{"operator": 0, "duration_s": 1.0}])
    table = VIEW.table(profile, Arrangement.of(VIEW.kind))
    assert pa.render(table, "plain") == "operator  time (s)\na            1.000\n"
    assert pa.render(table, "plain", columns="start") == "start (s)\n      N/A\n"
    assert pa.render(table, "csv") == "operator,start_s,time_s\r\na,,1.0\r\n"


def test_a_narrow_terminal_leaves_out_the_last_columns() -> None:
    text = pa.render(shown(top=1), "plain", display=pa.Display(width=24))
    assert text == (
        "operator  start (ms)\nnet                0\nleft out to fit the\n  width: time (ms);\n"
        "  --columns chooses\n  others, a wider window\n  or `| less -S` shows\n  all\n"
    )


@pytest.mark.parametrize(
    ("arrangement", "message"),
    [
        (
            {"where": "x > 1"},
            "where: 'x > 1', at character 1: there is no column 'x'; the columns are operator, "
            "start, time",
        ),
        (
            {"where": "tim > 1"},
            "where: 'tim > 1', at character 1: there is no column 'tim'; did you mean time?",
        ),
        (
            {"where": "operator > 3"},
            "where: 'operator > 3', at character 10: > is for numbers; operator is a text",
        ),
        (
            {"where": "time > 1ms and start > 2"},
            "where: 'time > 1ms and start > 2', at character 8: there is another condition; repeat "
            "the option for each: all must hold",
        ),
        (
            {"where": ("time > 2ms", "time < 1ms")},
            "where: 'time > 2ms' and 'time < 1ms' contradict each other, but all conditions must "
            "hold",
        ),
        ({"order": "tim"}, "there is no column 'tim' to order by; did you mean time?"),
        (
            {"order": "-time"},
            "there is no column '-time' to order by; write time, which is largest first, or +time, "
            "which is smallest first",
        ),
        (
            {"order": "flops"},
            "there is no column 'flops' to order by; executions can be ordered by operator, start, "
            "time",
        ),
        ({"top": -1}, "top: -1 rows cannot be shown; 0 shows all"),
    ],
)
def test_a_wrong_arrangement_is_an_error(arrangement: dict[str, Any], message: str) -> None:
    with pytest.raises(pa.QueryError) as caught:
        Arrangement.of(VIEW.kind, **arrangement)
    assert str(caught.value) == message


def test_a_column_that_a_view_lacks_cannot_be_shown() -> None:
    with pytest.raises(pa.UnknownColumnError, match="there is no column 'flops'; the columns are"):
        pa.render(shown(), "csv", columns="flops")


def test_rows_of_a_view_have_no_stacks_and_no_query() -> None:
    with pytest.raises(pa.QueryError, match="a table of executions has no stacks"):
        pa.render(shown(), "collapsed")
    with pytest.raises(AttributeError, match="the table executions is not the answer to a Query"):
        _ = shown().query


OWN = (
    Column("n", "1", "a number", has_whole_numbers=True, shown_as="count"),
    Column("time", "s", "a time", measured=True),
    Column("is_fast", "", "a truth value", kind="truth", as_text=truth_text),
    Column("name", "", "a text", kind="text", has_natural_order=True),
)
ROWS = [
    (1, 0.5, True, "a10"),
    (None, None, None, None),
    (2**60 + 1, 2.0, False, "a9"),
    (2, 1.0, True, "b"),
]


@pytest.mark.parametrize(
    ("arrangement", "rows", "notes"),
    [
        ({"where": "n > 1"}, [2, 3], ["unjudged-condition"]),
        ({"where": "n == 1152921504606846977"}, [2], None),
        ({"where": "is_fast == true"}, [0, 3], None),
        ({"where": "is_fast != true", "order": "n"}, [2], None),
        ({"where": "name ~ ^a", "order": "name"}, [0, 2], None),
        ({"order": "n"}, [2, 3, 0, 1], []),
        ({"order": "+time", "top": 2}, [0, 3], []),
        ({"order": "+is_fast,+name"}, [2, 0, 3, 1], []),
    ],
)
def test_values_of_every_kind_can_be_arranged(
    arrangement: dict[str, Any], rows: list[int], notes: list[str] | None
) -> None:
    table = Table.of("rows", OWN, ROWS)
    found = arranged(table, Arrangement.of(table.kind, **arrangement))
    assert [tuple(one.values()) for one in found.rows] == [ROWS[row] for row in rows]
    if notes is not None:
        assert codes_in(found.notes) == notes


def test_numbers_are_arrays_unless_integers_are_unknown() -> None:
    known = Table.of("rows", OWN, [ROWS[0], ROWS[2]])
    assert [known[name].dtype.name for name in ("n", "time")] == ["int64", "float64"]
    unknown = Table.of("rows", OWN, ROWS)
    assert unknown["n"].tolist() == [1, None, 2**60 + 1, 2]
    assert unknown["time"].tolist() == [0.5, pytest.approx(np.nan, nan_ok=True), 2.0, 1.0]


def test_json_of_rows_without_an_arrangement() -> None:
    document = json.loads(pa.render(Table.of("rows", OWN, ROWS[:2]), "json"))
    check_report(document)
    assert document["tables"] == [
        {
            "name": "rows",
            "measure": None,
            "query": None,
            "matched": 2,
            "available": 2,
            "shown": 2,
            "columns": [
                {"name": "n", "unit": "1"},
                {"name": "time_s", "unit": "s"},
                {"name": "is_fast", "unit": ""},
                {"name": "name", "unit": ""},
            ],
            "rows": [[1, 0.5, True, "a10"], [None, None, None, None]],
        }
    ]

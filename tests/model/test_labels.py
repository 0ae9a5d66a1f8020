"""Labels of processes: as group keys, as columns, and in conditions that choose runs."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import profile_analyze as pa
from profile_analyze.model.findings import Finding, Kind
from tests.conftest import examples
from tests.small import Operator, profile_of

COLUMNS = (
    *("count", "time", "runs", "spread", "time_min", "time_max"),
    *("share", "cumulative_time", "cumulative_share"),
)


def run_of(number: int, times: dict[str, float]) -> pa.Profile:
    """Return a profile of one run, with a type for each operator."""
    operators = [Operator(name, name.upper(), time) for name, time in times.items()]
    return profile_of(operators, f"{number}.json")


def fleet(*runs: tuple[str | None, dict[str, float]]) -> pa.Profile:
    """Return the joined profile of several runs, each with a date and the times of operators."""
    joined = pa.join_runs([run_of(number, times) for number, (_, times) in enumerate(runs)])
    return pa.with_labels(joined, {"date": [date for date, _ in runs]})


FLEET = fleet(
    ("d10", {"a": 30.0, "b": 60.0}),
    ("d2", {"a": 10.0, "b": 20.0}),
    ("d10", {"a": 40.0, "b": 80.0}),
    (None, {"b": 7.0}),
    ("d10", {"a": 100.0, "b": 200.0}),
)


def answer(**question: Any) -> list[dict[str, Any]]:
    return pa.run(pa.Query(labels="date", **question), FLEET).rows


def rounded(rows: list[dict[str, Any]], *names: str) -> list[tuple[Any, ...]]:
    """Return some columns of rows; times are in microseconds."""
    return [
        tuple(round(row[name] * 1e6, 6) if name.startswith("time") else row[name] for name in names)
        for row in rows
    ]


def test_groups_by_label_are_in_natural_order_with_the_runs_of_each_label() -> None:
    rows = answer(by="date")
    assert rounded(rows, "label.date", "time", "runs", "time_min", "time_max", "share") == [
        ("d2", 30.0, 1, 30.0, 30.0, 1.0),
        ("d10", 120.0, 3, 90.0, 300.0, 1.0),
        (None, 7.0, 1, 7.0, 7.0, 1.0),
    ]


def test_the_total_of_all_labels_is_the_sum_of_their_medians() -> None:
    table = pa.run(pa.Query(by="date", labels="date"), FLEET)
    assert table.total_s == pytest.approx(157e-6)


def test_a_label_and_another_key_give_a_trend() -> None:
    rows = answer(by="date,type")
    assert rounded(rows, "label.date", "type", "time", "count") == [
        ("d2", "B", 20.0, 1),
        ("d2", "A", 10.0, 1),
        ("d10", "B", 80.0, 1),
        ("d10", "A", 40.0, 1),
        (None, "B", 7.0, 1),
    ]
    assert [round(row["share"], 3) for row in rows] == [0.667, 0.333, 0.667, 0.333, 1.0]


def test_running_sums_are_over_the_rows_with_the_same_labels() -> None:
    table = pa.run(pa.Query(by="date,type", labels="date", order="time"), FLEET)
    assert pa.render(table, "plain", columns="date,time,cumulative_time,cumulative_share") == (
        "date  device self time (us)  cumulative time (us)  cumulative share\n"
        "d10                  80.000                80.000             66.7%\n"
        "d10                  40.000               120.000            100.0%\n"
        "d2                   20.000                20.000             66.7%\n"
        "d2                   10.000                30.000            100.0%\n"
        "N/A                   7.000                 7.000            100.0%\n"
    )


def test_operators_are_split_by_a_label_that_is_shown() -> None:
    rows = answer(split_by="date", order="+date,name", types="A")
    assert rounded(rows, "label.date", "name", "time", "runs") == [
        ("d2", "a", 10.0, 1),
        ("d10", "a", 40.0, 3),
    ]
    # If the label is not a group key, each group combines all runs. `split_by` makes no difference.
    assert answer(by="type", split_by="date") == answer(by="type")


def test_a_part_of_a_label_combines_the_runs_of_several_labels() -> None:
    rows = answer(by=r"date~^d\d")
    assert rounded(rows, r"label.date~^d\d", "time", "runs") == [
        ("d1", 120.0, 3),
        ("d2", 30.0, 1),
        (None, 7.0, 1),
    ]
    assert rounded(answer(by="date~d"), "label.date~d", "time", "runs") == [
        ("d", 105.0, 4),
        (None, 7.0, 1),
    ]


def test_formats_for_programs_and_people_show_the_short_name() -> None:
    table = pa.run(pa.Query(by="date", labels="date"), FLEET)
    assert pa.render(table, "csv", columns="date,time").splitlines()[0] == "date,time_s"
    assert pa.render(table, "plain", columns="date,time") == (
        "date  device self time (us)\n"
        "d2                   30.000\n"
        "d10                 120.000\n"
        "N/A                   7.000\n"
    )
    assert table["date"].tolist() == ["d2", "d10", None]
    assert table.notes[-1] == Finding.of("split-by-labels", Kind.CONTEXT, labels=["date"])


def test_labels_that_are_not_valid_text_are_escaped_in_json() -> None:
    profile = pa.with_labels(run_of(1, {"a": 1.0}), {"date": ["\udcff"]})
    table = pa.run(pa.Query(by="date", labels="date"), profile)
    row = '{"measure":"time","date":"\\\\udcff"}\n'
    assert pa.render(table, "jsonl", columns="date") == row
    assert r'"rows":[["\\udcff"]]' in pa.render(table, "json", columns="date")


@pytest.mark.parametrize(
    ("condition", "dates"),
    [
        ("date >= d3", ["d10"]),
        ("label.date > d2", ["d10"]),
        ("date < d10", ["d2"]),
        ("date <= 'd10'", ["d2", "d10"]),
        ("date == d2", ["d2"]),
        ("date != d2", ["d10"]),
        ("date ~ 1", ["d10"]),
        ("date !~ 1", ["d2"]),
    ],
)
def test_conditions_on_labels_choose_runs(condition: str, dates: list[str]) -> None:
    chosen = pa.runs_with_labels(FLEET, condition)
    groups = pa.run(pa.Query(by="date", labels="date"), chosen)
    assert groups["date"].tolist() == dates
    assert chosen.check() == ()


def test_conditions_on_labels_are_checked() -> None:
    for where, message in (
        ("date == d3", "no run meets date == d3"),
        (["date > d2", "date < d3"], "no run meets date > d2 and date < d3"),
        (["date == d2", "date == d3"], "'date == d2' and 'date == d3' contradict each other, but"),
        ("host == a", "there is no column 'host'"),
        ("time > 1ms", "'time > 1ms': time is not a label; the labels are date"),
    ):
        with pytest.raises(pa.QueryError, match=message):
            pa.runs_with_labels(FLEET, where)


@pytest.mark.parametrize(
    ("question", "message"),
    [
        ({"labels": "type"}, "labels: a label named 'type' would hide the column type; choose an"),
        ({"labels": "time_s"}, "labels: a label named 'time_s' would hide the column time_s; choo"),
        (
            {"labels": "a b"},
            "labels: 'a b' is not a name for a label; use letters, digits and _, wi",
        ),
        ({"by": "label.date"}, "there is no label 'date'; files have no labels"),
        ({"by": "label.host", "labels": "date"}, "there is no label 'host'; the labels are date"),
        ({"by": "dat", "labels": "date"}, "by: 'dat' is not a group key; did you mean date?"),
        ({"split_by": "label.host", "labels": "date"}, "there is no label 'host'; the labels are"),
        (
            {"where": "date > d2", "labels": "date"},
            "where: 'date > d2': date is a label of files, not of operators; choose files first, "
            r"with --where or runs_with_labels\(\)",
        ),
        (
            {"by": "date", "labels": "date", "compared": True},
            "date: a comparison combines all runs of a side and cannot show them one by one",
        ),
    ],
)
def test_questions_about_labels_are_checked(question: dict[str, Any], message: str) -> None:
    with pytest.raises(pa.QueryError, match=message):
        pa.Query(**question)


def test_profiles_without_the_label_are_an_error() -> None:
    with pytest.raises(pa.QueryError, match="the profile has no label 'host'; it has date"):
        pa.run(pa.Query(by="host", labels="host"), FLEET)
    with pytest.raises(pa.QueryError, match="has no label 'host'; with_labels adds one"):
        pa.run(pa.Query(by="host~x", labels="host"), run_of(1, {"a": 1.0}))
    with pytest.raises(
        pa.QueryError, match="labels: host has 2 values; pass one for each of the 5"
    ):
        pa.with_labels(FLEET, {"host": ["a", "b"]})


def test_labels_without_a_value_for_each_process_are_inconsistent() -> None:
    wrong = FLEET.changed(labels={"date": pa.Categorical.of(["d1"])})
    assert wrong.check() == ("labels: date has 1 value for 5 processes",)


TIMES = st.dictionaries(st.sampled_from("abc"), st.integers(1, 99).map(float), min_size=1)
RUNS = st.lists(st.tuples(st.sampled_from(["d1", "d2", "d10"]), TIMES), min_size=1, max_size=8)


@examples(60)
@given(RUNS)
def test_each_label_is_answered_as_if_only_its_files_were_read(
    runs: list[tuple[str | None, dict[str, float]]],
) -> None:
    together = pa.run(pa.Query(by="date,type", labels="date", order="type"), fleet(*runs)).rows
    for date in {date for date, _ in runs}:
        alone = pa.join_runs(
            [run_of(number, times) for number, (one, times) in enumerate(runs) if one == date]
        )
        chosen = pa.runs_with_labels(fleet(*runs), f"date == {date}")
        expected = pa.run(pa.Query(by="type", order="type"), alone).rows
        of_date = [row for row in together if row["label.date"] == date]
        assert [row["type"] for row in of_date] == [row["type"] for row in expected]
        for name in COLUMNS:
            wanted = [row[name] for row in expected]
            assert [row[name] for row in of_date] == [
                value if value is None else pytest.approx(value) for value in wanted
            ]
            of_chosen = pa.run(pa.Query(by="type", order="type"), chosen)
            assert of_chosen[name].tolist() == pytest.approx(
                [math.nan if value is None else value for value in wanted], nan_ok=True
            )

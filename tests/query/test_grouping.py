"""Groups of operators: their order, their members and their keys."""

from __future__ import annotations

from math import nan

import numpy as np
import pytest

from profile_analyze import large_arrays
from profile_analyze.model.categorical import Categorical
from profile_analyze.model.joining.runs import join_runs
from profile_analyze.query.grouping import Grouping
from profile_analyze.query.question import Query
from profile_analyze.query.run import run
from tests.in_memory import four_steps


def test_groups_are_in_order_of_appearance_and_members_in_file_order() -> None:
    keys = [Categorical.of(["b", "a", None, "b", "a", None, "c"])]
    grouping = Grouping.of(np.array([1, 2, 3, 4, 5]), keys)
    assert grouping.sizes.tolist() == [2, 2, 1]
    assert grouping.operators.tolist() == [1, 4, 2, 5, 3]
    assert grouping.label(keys[0]).values().tolist() == ["a", None, "b"]
    values = np.array([0.0, 10.0, nan, 30.0, 40.0, 50.0, 60.0])
    members = grouping.members(values)
    assert members.values.tolist() == [10, 40, 50, 30]
    assert members.sizes.tolist() == [2, 1, 1]
    assert members.groups.tolist() == [0, 0, 1, 2]


def test_members_of_a_group_agree_in_all_keys() -> None:
    keys = [Categorical.of(["a", "a", "b", "b", "a"]), Categorical.of(["x", "y", "x", "x", "x"])]
    grouping = Grouping.of(np.arange(5), keys)
    assert grouping.operators.tolist() == [0, 4, 1, 2, 3]
    assert grouping.sizes.tolist() == [2, 1, 2]
    assert grouping.label(keys[1]).values().tolist() == ["x", "y", "x"]


def test_large_groups_keep_file_order() -> None:
    keys = [Categorical.of(["a", "b", "c"] * 1000)]
    operators = Grouping.of(np.arange(3000), keys).operators.reshape(3, 1000)
    assert (np.diff(operators, axis=1) == 3).all()


def test_no_keys_give_one_group_and_no_operators_give_none() -> None:
    one = Grouping.of(np.array([2, 5]), [])
    assert (one.sizes.tolist(), one.operators.tolist()) == ([2], [2, 5])
    none = Grouping.of(np.array([], np.int64), [])
    assert (len(none.sizes), len(none.members(np.zeros(3)).values)) == (0, 0)


def test_aggregating_a_few_runs_at_a_time_gives_the_same_values(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    profile = join_runs([four_steps("a.json"), four_steps("b.json", 2.0)])
    whole = run(Query(by="type"), profile)
    monkeypatch.setattr(large_arrays, "_VALUES_AT_ONCE", 5)  # of 16: 2 operators in 8 runs
    monkeypatch.setattr(large_arrays, "_FEWEST_RUNS", 2)
    few_at_a_time = run(Query(by="type"), profile)
    for column in ("time", "time_max", "spread", "share", "count"):
        np.testing.assert_array_equal(few_at_a_time.shown[column], whole.shown[column])
    assert whole.shown["time"].tolist() == pytest.approx([0.008, 0.007])

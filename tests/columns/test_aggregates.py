"""The aggregates: how the values of a group become one."""

from __future__ import annotations

import statistics
from math import nan
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from profile_analyze.columns.aggregates import AGGREGATES, find_aggregate
from profile_analyze.query.group_values import Members, aggregated, aggregated_in_each_run

if TYPE_CHECKING:
    from random import Random

NAMES = [*AGGREGATES, "p0", "p90", "p12.5", "p100"]

Group = list[float]
values = st.lists(st.just(nan) | st.integers(-9, 9).map(float), max_size=6)


def members(of_groups: list[Group]) -> Members:
    flat = np.array([value for group in of_groups for value in group], np.float64)
    return Members.of(flat, np.array([len(group) for group in of_groups], np.int64))


def aggregate_of_each(name: str, groups: list[Group]) -> list[float]:
    """Return the value of the aggregate `name` for each group."""
    aggregate = find_aggregate(name)
    assert aggregate is not None
    return list(aggregated(aggregate, members(groups)).tolist())


@pytest.mark.parametrize("name", NAMES)
@given(st.lists(values, max_size=4))
def test_each_group_has_the_value_that_it_would_have_alone(name: str, groups: list[Group]) -> None:
    alone = [value for group in groups for value in aggregate_of_each(name, [group])]
    np.testing.assert_array_equal(aggregate_of_each(name, groups), alone)


@pytest.mark.parametrize("name", NAMES)
@given(
    st.lists(st.integers(0, 20), min_size=1, max_size=6), st.integers(1, 4), st.randoms(), st.data()
)
def test_each_run_has_the_values_that_it_would_have_alone(
    name: str, sizes: list[int], runs: int, random: Random, data: st.DataObject
) -> None:
    operators = sum(sizes)
    values = np.array([[random.uniform(-9, 9) for _ in range(runs)] for _ in range(operators)])
    values = values.reshape(operators, runs)
    # Some operators have no known value in any run, and some have none in the first run.
    rows = st.lists(st.integers(0, max(operators - 1, 0)), max_size=3 if operators else 0)
    values[data.draw(rows)] = nan
    values[data.draw(rows), 0] = nan
    aggregate = find_aggregate(name)
    assert aggregate is not None
    in_each_run = aggregated_in_each_run(
        aggregate, values, np.array(sizes, np.int64), is_exact=False
    )
    for run in range(runs):
        members = Members.of(values[:, run], np.array(sizes, np.int64))
        np.testing.assert_array_equal(in_each_run[:, run], aggregated(aggregate, members))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("sum", [7.0, nan, nan]),
        ("mean", [3.5, nan, nan]),
        ("max", [4.0, nan, nan]),
        ("min", [3.0, nan, nan]),
        ("median", [3.5, nan, nan]),
        ("p25", [3.25, nan, nan]),
        ("std", [0.5**0.5, nan, nan]),
        ("count", [2.0, 0.0, 0.0]),
    ],
)
def test_unknown_values_are_left_out(name: str, expected: Group) -> None:
    np.testing.assert_array_equal(aggregate_of_each(name, [[3.0, nan, 4.0], [nan], []]), expected)


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=40), st.integers(0, 100))
def test_percentiles_equal_numpy(group: Group, percentage: int) -> None:
    (found,) = aggregate_of_each(f"p{percentage}", [group])
    assert found == pytest.approx(np.percentile(group, percentage), rel=1e-12, abs=1e-9)


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=40))
def test_the_standard_deviation_is_the_sample_standard_deviation(group: Group) -> None:
    (found,) = aggregate_of_each("std", [group])
    assert found == pytest.approx(statistics.stdev(group), rel=1e-6, abs=1e-6)


@given(st.floats(-1e308, 1e308), st.integers(2, 40))
def test_the_standard_deviation_of_equal_values_is_0(value: float, count: int) -> None:
    assert aggregate_of_each("std", [[1.0, 2.0], [value] * count, [value]])[:2] == [0.5**0.5, 0.0]
    assert np.isnan(aggregate_of_each("std", [[value]])).all()


def test_a_percentile_ignores_a_neighbour_without_weight() -> None:
    assert aggregate_of_each("p0", [[-1e308, 1e308]]) == [-1e308]  # their difference is infinite


@pytest.mark.parametrize("size", [1, 7, 8, 9, 1000])
def test_group_sums_equal_numpy_to_the_last_bit(size: int) -> None:
    some = (np.arange(size) * 0.1 + 1 / 3).tolist()
    assert aggregate_of_each("sum", [[0.1], some, [0.2]]) == [0.1, np.sum(some), 0.2]
    sizes = np.array([size, 1], np.int64)
    values = np.array([[*some, 0.1], [*some[::-1], 0.2]]).T
    sums = aggregated_in_each_run(AGGREGATES["sum"], values, sizes, is_exact=False)
    assert sums.T.tolist() == [[np.sum(some), 0.1], [np.sum(some[::-1]), 0.2]]


def test_a_sum_that_is_not_finite_is_not_available() -> None:
    assert np.isnan(aggregate_of_each("sum", [[1e308, 1e308]])).all()
    assert np.isnan(aggregate_of_each("std", [[1e308, -1e308]])).all()


@pytest.mark.parametrize(
    "name", ["p", "p101", "p-1", "p1e1", "p.", "90", "P90", "p\u0661", "most", ""]
)
def test_wrong_names_are_not_aggregates(name: str) -> None:
    assert find_aggregate(name) is None


def test_a_percentage_that_overflows_is_not_an_aggregate() -> None:
    assert find_aggregate("p" + "9" * 400) is None


def test_percentiles_do_not_overflow() -> None:
    assert aggregate_of_each("median", [[-1.7e308, 1.7e308]]) == [0.0]
    assert aggregate_of_each("p25", [[-1.7e308, 1.7e308]]) == [pytest.approx(-8.5e307)]

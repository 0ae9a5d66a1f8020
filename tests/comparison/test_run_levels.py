"""The levels of runs: weighted medians, noise, and which operators count."""

from __future__ import annotations

from math import nan
from statistics import median

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from profile_analyze.comparison.run_levels import RunLevels, robust_deviation, weighted_medians

VALUES = st.lists(st.tuples(st.integers(-9, 9), st.integers(1, 5)), min_size=1, max_size=9)


@given(VALUES)
def test_a_weighted_median_is_the_median_of_values_repeated_by_weight(
    pairs: list[tuple[int, int]],
) -> None:
    repeated = sorted(value for value, weight in pairs for _ in range(weight))
    values, weights = np.array(pairs, np.float64).T
    (found,) = weighted_medians(values[:, np.newaxis], weights)
    # The smallest value at which half of the weight is reached is the lower of two middle values.
    assert found == repeated[(len(repeated) - 1) // 2]
    (other,) = weighted_medians(values[::-1, np.newaxis], weights[::-1])
    assert other == found


def test_each_column_has_its_own_weighted_median() -> None:
    values = np.array([[1.0, 30], [2, 20], [3, 10]])
    assert weighted_medians(values, np.array([1.0, 1, 5])).tolist() == [3, 10]
    assert weighted_medians(values, np.array([1.0, 1, 1])).tolist() == [2, 20]


def test_the_robust_deviation_by_hand() -> None:
    # The median is 3, and the distances are 2, 1, 0, 1 and 96: their median is 1.
    found = robust_deviation(np.array([[1.0, 2, 3, 4, 99], [5, 5, nan, 5, 5]]))
    np.testing.assert_allclose(found, [1.4826, 0])


def test_the_level_is_the_slowness_that_operators_share() -> None:
    slow = np.array([1.0, 1.5, 0.5, 1.0, 1.2])
    steady = np.array([[100.0] * 5, [200.0] * 5, [50.0, 50, 50, 90, 50], [30.0] * 5])
    levels = RunLevels.of(steady * slow)
    assert levels.operators.tolist() == [0, 1, 2, 3]
    np.testing.assert_allclose(levels.level(np.ones(4, np.bool_)), np.log(slow))
    # Without the operator that was slow in one run alone, the levels are the same.
    np.testing.assert_allclose(levels.level(np.array([True, True, False, True])), np.log(slow))


def test_quiet_operators_count_more_than_long_ones() -> None:
    noise = np.array([1.0, 1.3, 0.7, 1.2, 0.8, 1.1, 0.9, 1.0])
    long, quiet = 200 * noise, np.full(8, 100.0)
    levels = RunLevels.of(np.array([long, quiet, quiet * 1.01, quiet * 1.02]))
    np.testing.assert_allclose(levels.level(np.ones(4, np.bool_)), np.zeros(8), atol=1e-12)
    assert levels.weights[0] < 10
    assert levels.weights[1:].tolist() == [100] * 3  # noise below 1 % counts as 1 %
    # One quiet operator takes less time than the long one, but still decides the level.
    two = np.array([True, True, False, False])
    np.testing.assert_allclose(levels.level(two), np.zeros(8), atol=1e-12)


def test_operators_without_a_usable_time_do_not_count() -> None:
    times = np.array(
        [
            [100.0, 101, 102, 103],
            [100.0, nan, 102, 103],  # N/A in a run
            [100.0, 0, 102, 103],  # took no time in a run
            [4.0, 4, 4, 4],  # below five ticks of the clock, which are 1 here
            [5.0, 5, 5, 5],
        ]
    )
    assert RunLevels.of(times).operators.tolist() == [0, 4]
    assert RunLevels.of(np.full((2, 4), nan)).operators.tolist() == []
    assert RunLevels.of(np.zeros((0, 4))).logs.shape == (0, 4)


@given(st.permutations(range(8)), st.permutations(range(5)), st.sampled_from([0.5, 1.0, 4.0]))
def test_order_and_scale_do_not_matter(runs: list[int], rows: list[int], scale: float) -> None:
    times = np.random.default_rng(3).lognormal(0, 0.2, (5, 8)) * 100
    levels = RunLevels.of(times)
    found = RunLevels.of(times[rows][:, runs] * scale)
    every = np.ones(5, np.bool_)
    np.testing.assert_allclose(found.level(every), levels.level(every)[runs], atol=1e-12)
    np.testing.assert_allclose(found.weights, levels.weights[rows])


@given(st.lists(st.lists(st.integers(50, 60), min_size=4, max_size=4), min_size=1, max_size=5))
def test_logs_are_relative_to_the_median_run(times: list[list[int]]) -> None:
    levels = RunLevels.of(np.array(times, np.float64))
    for operator, logs in zip(levels.operators.tolist(), levels.logs, strict=True):
        expected = [time / median(times[operator]) for time in times[operator]]
        np.testing.assert_allclose(np.exp(logs), expected)

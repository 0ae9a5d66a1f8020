"""The shift of the sum of many operators, whose outliers are limited, and its interval."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import profile_analyze as pa
from profile_analyze.analysis.intervals import Shift, shift
from profile_analyze.analysis.own_times import OwnTimes, _end, limited_times
from profile_analyze.analysis.row_tests import OperatorTimes, compare_rows
from profile_analyze.model.executions import Run
from tests.in_memory import profile_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

Floats: TypeAlias = "NDArray[np.float64]"

OPERATORS = 20


def times(seed: int, runs: int, factors: Floats, noise: float) -> Floats:
    """Return times of operators: each run has noise of 1 %, and each of its times has `noise`."""
    generator = np.random.default_rng(seed)
    of_runs = generator.lognormal(0, 0.01, runs)
    return factors[:, np.newaxis] * of_runs * generator.lognormal(0, noise, (len(factors), runs))


def total_of(new: Floats, base: Floats) -> tuple[float, float, float, bool]:
    """Return the estimate of the total's ratio, its interval, and whether outliers are limited."""

    def total(times_s: Floats) -> Floats:
        sums: Floats = np.nansum(times_s, axis=0, keepdims=True)
        return sums

    both = np.concatenate([new, base], axis=1)
    operators = OperatorTimes(both, new.shape[1], np.zeros(len(both), np.int64))
    tests = compare_rows(operators, np.zeros(len(both), np.int64), OwnTimes(total(both), total))
    low, high, estimate = (
        float(np.exp(one[0])) for one in (tests.own.low, tests.own.high, tests.own.estimate)
    )
    return estimate, low, high, bool(tests.is_limited[0])


@pytest.mark.parametrize("noise", [0.002, 0.02, 0.1])
@pytest.mark.parametrize("runs", [(10, 10), (10, 30), (30, 10), (5, 40)])
@pytest.mark.parametrize("slower", [1, 10, 20])
def test_the_estimate_is_the_change_of_the_sum_whatever_operators_changed(
    slower: int, runs: tuple[int, int], noise: float
) -> None:
    """A few operators, half of them or all take 1.5 times as long."""
    factors = np.where(np.arange(OPERATORS) < slower, 1.5, 1.0)
    typical = np.geomspace(1, 4, OPERATORS)
    new = times(1, runs[0], typical * factors, noise)
    base = times(2, runs[1], typical, noise)
    expected = float((typical * factors).sum() / typical.sum())
    estimate, low, high, is_limited = total_of(new, base)
    assert is_limited
    assert estimate == pytest.approx(expected, rel=0.02)
    assert low < estimate < high
    assert high / low < 1.03 + noise
    swapped = total_of(base, new)
    assert swapped[0] * estimate == pytest.approx(1, rel=1e-9)
    assert (swapped[1] * high, swapped[2] * low) == pytest.approx((1, 1), rel=1e-9)


def test_an_outlier_hardly_changes_the_estimate() -> None:
    typical = np.ones(OPERATORS)
    new, base = times(1, 8, typical, 0.02), times(2, 8, typical, 0.02)
    expected, low, high, _ = total_of(new, base)
    new[0, 0] *= 50
    new[1, 1] *= 50
    new[2, 2] *= 50
    estimate, *interval, _ = total_of(new, base)
    assert estimate == pytest.approx(expected, abs=0.002)
    assert interval == pytest.approx([low, high], abs=0.005)
    measured = shift(*(np.log(side.sum(axis=0, keepdims=True)) for side in (new, base)))
    assert np.exp(measured.high[0]) > 2


@pytest.mark.parametrize(("added", "is_limited"), [(0.5, True), (1.0, True), (3.0, False)])
def test_an_operator_of_one_side_counts_with_its_time(*, added: float, is_limited: bool) -> None:
    """With a large share of the time, its noise matters, too, so outliers are not limited."""
    typical = np.append(np.ones(OPERATORS), added)
    new, base = times(1, 10, typical, 0.01), times(2, 30, typical, 0.01)
    base[-1] = np.nan
    for sides, expected in (((new, base), 1 + added / 20), ((base, new), 1 / (1 + added / 20))):
        estimate, low, high, limited = total_of(*sides)
        assert limited == is_limited
        assert estimate == pytest.approx(expected, rel=0.01)
        assert low < estimate < high


@given(st.integers(0, 99))
def test_a_change_that_all_operators_share_moves_the_interval(seed: int) -> None:
    typical = np.geomspace(1, 4, OPERATORS)
    new, base = times(seed, 6, typical, 0.05), times(seed + 100, 9, typical, 0.05)
    before = total_of(new, base)[:3]
    after = total_of(new * 3, base)[:3]
    np.testing.assert_allclose(after, 3 * np.array(before), rtol=1e-6)


def test_medians_of_several_runs_are_compared_as_measured() -> None:
    """The slow operator differs between runs: the median of sums is not the sum of medians."""

    def side(file: str, factor: float) -> pa.Profile:
        totals = [(9.0, 1.0, 1.0), (1.0, 9.0, 1.0), (1.0, 1.0, 9.0)]
        rows = [
            {"operator": operator, "run": 3 * process + run, "duration_s": factor * time * scale}
            for process, scale in enumerate((1.0, 1.01, 1.02, 1.03))
            for run, times_s in enumerate(totals)
            for operator, time in enumerate(times_s)
        ]
        return profile_of(
            [{"name": name} for name in "abc"],
            rows,
            runs=[Run(process) for process in range(4) for _ in range(3)],
            processes=[f"{file}{process}.json" for process in range(4)],
        )

    comparison = pa.compare(side("new", 1.25), side("base", 1.0))
    change = pa.summarise(comparison, judged_by=pa.Query(compared=True)).change
    assert change is not None
    assert (change.estimate, change.ratio) == pytest.approx((1.25, 1.25))
    assert change.base.time_s == pytest.approx(11 * 1.015)
    assert not change.limits_outliers


def test_limited_times_by_hand() -> None:
    # The median is 12, and the deviation 1.4826 * 2. Times are limited to 9.03 to 14.97.
    found = limited_times(np.array([[10.0, 11, 12, 14, 99], [5, 5, 5, 5, 9]]))
    expected = np.array([[10, 11, 12, 14, 14.9652], [5, 5, 5, 5, 5]])
    np.testing.assert_allclose(found, expected)


def test_an_end_of_an_interval_is_also_sought_further_out() -> None:
    """The ends are 2 and 300 times as far from the estimate as the search starts."""
    ends = np.array([0.5, -75.0])

    def left_after(moved: Floats) -> Shift:
        outward = np.where(np.abs(moved) <= np.abs(ends), 0.0, 1.0)
        return Shift(outward, outward, outward)

    found = _end(left_after, np.zeros(2), np.array([0.25, -0.25]))
    assert found.tolist() == pytest.approx(ends.tolist(), rel=1e-2)


def test_an_end_of_an_interval_that_is_not_found_is_infinite() -> None:
    zero = np.zeros(2)
    far = np.array([4.0, -4.0])

    def left_after(moved: Floats) -> Shift:
        # The interval of the first row is from -1 to 1. The interval of the second row has no ends.
        unbounded = np.array([0.0, np.inf])
        return Shift(-moved, -moved - 1 - unbounded, -moved + 1 + unbounded)

    assert _end(left_after, zero, far).tolist() == [pytest.approx(1, abs=0.01), -np.inf]
    assert _end(left_after, zero, zero).tolist() == [0, 0]

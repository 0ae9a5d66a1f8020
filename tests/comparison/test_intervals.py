"""Confidence intervals, against an inverted rank test and an order statistic, and by hand."""

from __future__ import annotations

from itertools import combinations, product
from math import comb, exp, inf, log, nan, sqrt
from statistics import median
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from profile_analyze.comparison import intervals, pair_differences
from profile_analyze.comparison.intervals import Shift, median_interval, shift
from profile_analyze.comparison.statistics import LEAST_RUNS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

Floats: TypeAlias = "NDArray[np.float64]"


def row(values: Sequence[float] | Floats) -> Floats:
    return np.array([values], np.float64)


def numbers(found: Shift, index: int = 0) -> tuple[float, float, float]:
    return float(found.estimate[index]), float(found.low[index]), float(found.high[index])


def shift_of(
    values: Sequence[float] | Floats, base: Sequence[float] | Floats
) -> tuple[float, float, float]:
    return numbers(shift(row(values), row(base)))


def rank_sum_p(values: Sequence[float], base: Sequence[float]) -> float:
    """Return how often chance gives `values` a rank sum that is at most the observed sum."""
    ranks = stats.rankdata([*values, *base])
    observed = ranks[: len(values)].sum()
    sums = [sum(chosen) for chosen in combinations(ranks.tolist(), len(values))]
    return float(np.mean(np.array(sums) <= observed))


def interval_by_inversion(values: Sequence[float], base: Sequence[float]) -> tuple[float, float]:
    """Return the smallest and the largest shift that no rank-sum test of either tail rejects."""
    differences = sorted(one - other for one, other in product(values, base))
    # Between two neighbouring differences, all shifts have the same ranks. Try one in each gap.
    gaps = zip([differences[0] - 1, *differences], [*differences, differences[-1] + 1], strict=True)
    kept = [
        (low, high)
        for low, high in gaps
        if low < high
        and rank_sum_p([one - (low + high) / 2 for one in values], base) > 0.025
        and rank_sum_p(base, [one - (low + high) / 2 for one in values]) > 0.025
    ]
    return kept[0][0], kept[-1][1]


DISTINCT = st.lists(st.integers(0, 10_000), min_size=8, max_size=11, unique=True)


@given(DISTINCT)
def test_the_interval_holds_all_shifts_that_a_rank_test_keeps(times: list[int]) -> None:
    # Powers make all differences distinct, so no shift makes ties.
    values, base = ([1.001**time for time in side] for side in (times[:4], times[4:]))
    estimate, low, high = shift_of(values, base)
    assert (low, high) == pytest.approx(interval_by_inversion(values, base))
    differences = [one - other for one, other in product(values, base)]
    assert estimate == pytest.approx(median(differences))


@pytest.mark.parametrize(("runs", "base_runs"), [(4, 4), (4, 9), (8, 8), (12, 7), (50, 50)])
def test_the_pairs_outside_agree_with_mann_and_whitney(runs: int, base_runs: int) -> None:
    outside = intervals._pairs_outside(runs, base_runs)
    # By the exact distribution, P(U <= outside) is at most 2.5 %, and P(U <= outside + 1) is more.
    values = [
        stats.mannwhitneyu(*sides_with(count, runs, base_runs), alternative="less", method="exact")
        for count in (outside, outside + 1)
    ]
    within, beyond = (float(one.pvalue) for one in values)
    assert within <= 0.025 < beyond


def sides_with(statistic: int, runs: int, base_runs: int) -> tuple[list[float], list[float]]:
    """Return two sides. The run of the first side is slower in `statistic` pairs of runs."""
    base = list(range(base_runs))
    full, rest = divmod(statistic, base_runs)
    counts = [base_runs] * full + [rest] * (full < runs) + [0] * (runs - full - 1)
    return [count - 0.5 for count in counts], [float(one) for one in base]


def test_the_interval_by_hand() -> None:
    # The 16 differences range from 1 to 7. With four against four, the interval has all of them:
    # P(U = 0) = 1 / 70 = 1.4 %, and P(U <= 1) = 2.9 % is over 2.5 %.
    assert shift_of([5, 6, 7, 8], [1, 2, 3, 4]) == (4, 1, 7)
    # Five against five: P(U <= 2) = 4 / 252 = 1.6 %, so two differences are outside on each side.
    # The differences are 11, 13, 15, 17 and 19, five of each.
    assert shift_of([11, 13, 15, 17, 19], [0] * 5) == (15, 11, 19)


@given(
    st.lists(st.floats(-9, 9), min_size=4, max_size=9),
    st.lists(st.floats(-9, 9), min_size=4, max_size=9),
)
def test_swapping_the_sides_negates_the_shift(values: list[float], base: list[float]) -> None:
    estimate, low, high = shift_of(values, base)
    assert shift_of(base, values) == (-estimate, -high, -low)
    assert low <= estimate <= high
    assert shift_of(values[::-1], base[::-1]) == (estimate, low, high)


def test_unknown_runs_are_left_out_of_each_row() -> None:
    generator = np.random.default_rng(6)
    values, base = generator.random((7, 9)), generator.random((7, 8))
    values[2, 3] = values[5, :2] = base[2, 7] = base[4, 1] = values[6, :6] = nan
    together = shift(values, base)
    for index in range(6):
        ours, theirs = (side[index][~np.isnan(side[index])] for side in (values, base))
        assert numbers(shift(row(ours), row(theirs))) == numbers(together, index)
    assert np.isnan(numbers(together, 6)).all()


@pytest.mark.parametrize("at_once", [1, 2 * 30, 3 * 30 + 1, 10_000])
def test_intervals_do_not_depend_on_the_size_of_the_parts(
    at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    generator = np.random.default_rng(8)
    values, base = generator.random((7, 6)), generator.random((7, 5))
    values[1:3, 0] = nan
    whole = shift(values, base)
    monkeypatch.setattr(pair_differences, "_VALUES_AT_ONCE", at_once)
    np.testing.assert_array_equal(shift(values, base), whole)


@pytest.mark.parametrize("few", range(LEAST_RUNS))
def test_too_few_runs_give_no_interval(few: int) -> None:
    many, short = row(range(10, 20)), row([1.0] * few + [nan] * (5 - few))
    for values, base in ((many, short), (short, many)):
        assert np.isnan(shift(values, base)).all()
    assert np.isnan(median_interval(np.ones(few))).all()


def test_no_rows_give_no_intervals() -> None:
    none = np.empty((0, 5))
    assert shift(none, none).low.shape == (0,)


def test_shifts_from_times_of_0_are_infinite() -> None:
    with np.errstate(divide="ignore"):
        zeros, ones, some = np.log([0.0] * 4), np.log([1.0] * 4), np.log([0.0, 1, 1, 1])
    assert shift_of(ones, zeros) == (inf, inf, inf)
    assert shift_of(zeros, ones) == (-inf, -inf, -inf)
    assert shift_of(zeros, zeros) == (0, 0, 0)
    assert shift_of(ones, some) == (0, 0, inf)


def test_the_normal_distribution_continues_the_exact_one(monkeypatch: pytest.MonkeyPatch) -> None:
    exact = [intervals._pairs_outside.__wrapped__(runs, 30) for runs in range(10, 40)]
    monkeypatch.setattr(intervals, "_MOST_EXACT", 0)
    found = [intervals._pairs_outside.__wrapped__(runs, 30) for runs in range(10, 40)]
    assert max(abs(one - other) for one, other in zip(exact, found, strict=True)) <= 1


@pytest.mark.parametrize("runs", [4, 5, 6, 8, 20, 60])
def test_about_nineteen_of_twenty_intervals_hold_the_true_shift(runs: int) -> None:
    generator = np.random.default_rng(14)
    # The noise has a long tail, like the noise of real runs.
    values, base = (generator.standard_t(2, (2000, runs)) for _ in range(2))
    found = shift(values + 3, base)
    assert np.mean((found.low <= 3) & (found.high >= 3)) >= 0.94


@given(st.lists(st.floats(1, 9), min_size=6, max_size=40))
def test_the_ends_of_the_interval_of_a_median_are_order_statistics(times: list[float]) -> None:
    low, high = median_interval(np.array(times))
    ascending, runs = sorted(times), len(times)

    def below(count: int) -> float:
        """Return the probability that at most `count` runs are below the true median."""
        ways = sum(comb(runs, k) for k in range(count + 1))
        return ways / float(2**runs)

    # `outside` values are below the interval: the largest number with a probability up to 2.5 %.
    outside = max(count for count in range(runs) if below(count) <= 0.025)
    assert (low, high) == (ascending[outside], ascending[runs - 1 - outside])


def test_the_interval_of_a_median_by_hand() -> None:
    # Six values: the true median is below all of them in 1 of 64 cases, 1.6 %.
    assert median_interval(np.array([3.0, 1, 4, 2, 6, 5])) == (1, 6)
    # Nine values: at most one is below the true median in 10 of 512 cases, 2.0 %.
    assert median_interval(np.array([9.0, 1, 8, 2, 7, 3, 6, 4, 5])) == (2, 8)
    # Four values: their logarithms to base 2 have the mean 1.5 and the standard deviation 1.29.
    low, high = median_interval(np.array([1.0, 2, 4, 8]))
    margin = 3.182446 * log(2) * sqrt(5 / 3) / 2
    assert low == pytest.approx(2**1.5 * exp(-margin))
    assert high == pytest.approx(2**1.5 * exp(margin))
    assert np.isnan(median_interval(np.array([0.0, 2, 4, 8]))).all()
    assert median_interval(np.array([6.0] * 5)) == pytest.approx((6, 6))


@pytest.mark.parametrize("runs", [4, 5])
def test_the_quantiles_agree_with_students_distribution(runs: int) -> None:
    expected = stats.t.ppf(0.975, runs - 1)
    assert intervals._QUANTILES_OF_T[runs] == pytest.approx(expected, rel=1e-6)

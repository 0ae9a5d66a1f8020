"""The permutation test and the correction of p: against SciPy, the definition, and by hand."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from profile_analyze.analysis import statistics
from profile_analyze.analysis.statistics import (
    LEAST_RUNS,
    adjusted,
    permutation_test,
    ratio_interval,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

Floats: TypeAlias = "NDArray[np.float64]"

nan = np.nan


def row(values: Sequence[float] | Floats) -> Floats:
    return np.array([values], np.float64)


def p_of(values: Sequence[float] | Floats, base: Sequence[float] | Floats) -> float:
    return float(permutation_test(row(values), row(base))[0])


def p_by_definition(values: Sequence[float], base: Sequence[float]) -> float:
    """The share of all ways to deal the runs out in which the ranks are as far from even."""
    ranks = stats.rankdata([*values, *base])
    count = len(values)
    expected = ranks.mean() * count
    apart = [abs(sum(dealt) - expected) for dealt in combinations(ranks.tolist(), count)]
    observed = abs(ranks[:count].sum() - expected)
    return float(np.mean(np.array(apart) >= observed - 1e-9))


def with_gaps(
    known: Sequence[float] | Floats, places: int, generator: np.random.Generator
) -> Floats:
    """The same values in another order, with NaN among them, `places` in all."""
    values = np.full(places, nan)
    values[generator.permutation(places)[: len(known)]] = known
    return values


SIDE_SIZES = st.integers(LEAST_RUNS, 12)


@given(SIDE_SIZES, SIDE_SIZES, st.permutations(range(24)))
def test_without_ties_p_is_that_of_mann_and_whitney(n: int, m: int, order: list[int]) -> None:
    times = 1e-3 * 1.1 ** np.array(order)
    values, base = times[:n], times[n : n + m]
    expected = stats.mannwhitneyu(values, base, method="exact", alternative="two-sided")
    assert p_of(values, base) == pytest.approx(expected.pvalue, rel=1e-9)


FEW_VALUES = st.lists(st.integers(0, 5).map(float), min_size=4, max_size=6)


@given(FEW_VALUES, FEW_VALUES)
def test_with_ties_p_is_the_share_of_assignments_at_least_as_far_apart(
    values: list[float], base: list[float]
) -> None:
    assert p_of(values, base) == pytest.approx(p_by_definition(values, base), rel=1e-9)


def test_with_ties_p_is_that_of_the_permutation_test_of_scipy() -> None:
    values, base = [3.0, 1.0, 4.0, 1.0, 5.0], [1.0, 2.0, 1.0, 2.0, 0.5, 1.0]
    ranks = stats.rankdata([*values, *base])
    expected = ranks.mean() * len(values)
    found = stats.permutation_test(
        (ranks[: len(values)], ranks[len(values) :]),
        lambda ours, theirs: abs(ours.sum() - expected) + 0 * theirs.sum(),
        n_resamples=100_000,
        alternative="greater",
        vectorized=False,
    )
    assert p_of(values, base) == pytest.approx(found.pvalue, rel=1e-9)


@given(st.lists(st.integers(0, 4).map(float), min_size=8, max_size=8))
def test_p_is_the_share_of_assignments_with_at_most_that_p(times: list[float]) -> None:
    deals = [list(dealt) for dealt in combinations(range(8), 4)]
    others = [[place for place in range(8) if place not in dealt] for dealt in deals]
    runs = np.array(times)
    p = permutation_test(runs[np.array(deals)], runs[np.array(others)])
    shares = [np.mean(p <= one + 1e-9) for one in p]
    np.testing.assert_allclose(p, shares, rtol=1e-9)


@given(FEW_VALUES, FEW_VALUES)
def test_p_does_not_depend_on_sides_order_or_scale(values: list[float], base: list[float]) -> None:
    p = p_of(values, base)
    assert p_of(base, values) == pytest.approx(p, rel=1e-9)
    assert p_of(values[::-1], base[::-1]) == p
    assert p_of(np.exp(values), np.exp(base)) == p


def test_p_by_hand() -> None:
    assert p_of([5, 6, 7, 8], [1, 2, 3, 4]) == pytest.approx(2 / 70)
    assert p_of([4, 6, 7, 8], [1, 2, 3, 5]) == pytest.approx(4 / 70)
    assert p_of([1, 1, 1, 1], [1, 1, 1, 1]) == 1
    assert p_of([2, 2, 2, 2], [1, 1, 1, 1]) == pytest.approx(2 / 70)


def test_unknown_runs_are_left_out_of_each_row() -> None:
    generator = np.random.default_rng(1)
    known = [
        (generator.integers(20, size=n).astype(float), generator.integers(20, size=m).astype(float))
        for n in range(LEAST_RUNS, 9)
        for m in range(LEAST_RUNS, 8)
    ]
    values = np.array([with_gaps(ours, 9, generator) for ours, _ in known])
    base = np.array([with_gaps(theirs, 7, generator) for _, theirs in known])
    alone = [p_of(ours, theirs) for ours, theirs in known]
    np.testing.assert_allclose(permutation_test(values, base), alone, rtol=1e-12)
    np.testing.assert_allclose(permutation_test(base, values), alone, rtol=1e-9)


@pytest.mark.parametrize("few", range(LEAST_RUNS))
def test_too_few_runs_on_a_side_give_no_p(few: int) -> None:
    many = row(range(10, 20))
    short = row([1.0] * few + [nan] * (5 - few))
    for values, base in ((many, short), (short, many), (short, short), (many, many[:, :few])):
        assert np.isnan(permutation_test(values, base)).all()
        assert np.isnan(ratio_interval(values, base)).all()


def test_no_rows() -> None:
    none = np.empty((0, 5))
    assert len(permutation_test(none, none)) == 0
    assert len(adjusted(np.empty(0))) == 0
    assert ratio_interval(none, none).low.shape == (0,)


def test_p_is_exact_for_few_runs() -> None:
    generator = np.random.default_rng(2)
    values, base = generator.random((2, statistics._EXACT_RUNS // 2))
    values += 0.1
    expected = stats.mannwhitneyu(values, base, method="exact")
    assert p_of(values, base) == pytest.approx(expected.pvalue, rel=1e-9)


@pytest.mark.parametrize("values_there_are", [10, 10_000])
@pytest.mark.parametrize("shift", [0.0, 0.02, 0.3])
@pytest.mark.parametrize("runs", [(17, 16), (41, 40), (4, 100)])
def test_p_uses_the_normal_distribution_for_many_runs(
    runs: tuple[int, int], shift: float, values_there_are: int
) -> None:
    generator = np.random.default_rng(3)
    values, base = (np.floor(generator.random(n) * values_there_are) for n in runs)
    values += np.floor(shift * values_there_are)
    expected = stats.mannwhitneyu(values, base, method="asymptotic", use_continuity=True)
    assert p_of(values, base) == pytest.approx(expected.pvalue, rel=1e-9)


def test_the_normal_distribution_is_near_the_exact_one(monkeypatch: pytest.MonkeyPatch) -> None:
    generator = np.random.default_rng(4)
    values, base = generator.integers(50, size=(2, 20, 40)).astype(float)
    values += np.arange(20)[:, np.newaxis]
    monkeypatch.setattr(statistics, "_EXACT_RUNS", 80)
    exact = permutation_test(values, base)
    monkeypatch.setattr(statistics, "_EXACT_RUNS", 79)
    found = permutation_test(values, base)
    np.testing.assert_allclose(found, exact, atol=2e-3)
    assert (found != exact).all()


def test_many_equal_runs_do_not_differ() -> None:
    assert p_of([1.0] * 50, [1.0] * 50) == 1


@given(st.lists(st.floats(0, 1) | st.just(nan)))
def test_the_correction_is_that_of_benjamini_and_hochberg(p_values: list[float]) -> None:
    p = np.array(p_values, np.float64)
    found = adjusted(p)
    known = ~np.isnan(p)
    np.testing.assert_array_equal(np.isnan(found), ~known)
    if known.any():
        expected = stats.false_discovery_control(p[known], method="bh")
        np.testing.assert_allclose(found[known], expected, rtol=1e-12)


def test_the_correction_by_hand() -> None:
    found = adjusted(np.array([0.04, nan, 0.01, 0.03, 0.9]))
    np.testing.assert_allclose(found, [0.16 / 3, nan, 0.04, 0.16 / 3, 0.9])

"""The permutation test, against all assignments of the runs to the sides, and by hand."""

from __future__ import annotations

from itertools import combinations
from statistics import median
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from profile_analyze.comparison import permutation
from profile_analyze.comparison.permutation import permutation_test
from profile_analyze.comparison.statistics import LEAST_RUNS, least_p

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

Floats: TypeAlias = "NDArray[np.float64]"

nan = np.nan


def row(values: Sequence[float] | Floats) -> Floats:
    return np.array([values], np.float64)


def p_of(values: Sequence[float] | Floats, base: Sequence[float] | Floats) -> float:
    return float(permutation_test(row(values), row(base))[0])


def scores_by_definition(times: Sequence[float]) -> list[int]:
    """Return the score of each run: its distance from the median, clipped to -20 to 20 steps."""
    middle = median(times)
    deviation = 1.4826 * median(abs(time - middle) for time in times)
    if deviation == 0:
        return [20 * ((time > middle) - (time < middle)) for time in times]
    return [
        round(20 * max(-1.0, min(1.0, (time - middle) / (1.345 * deviation)))) for time in times
    ]


def p_by_definition(values: Sequence[float], base: Sequence[float]) -> float:
    """Return p as `permutation_test` defines it, from all assignments of the runs to the sides."""
    scores = scores_by_definition([*values, *base])
    count, runs = len(values), len(scores)
    # Multiplied by the number of runs, all distances are integers.
    distances = [
        abs(runs * sum(chosen) - count * sum(scores)) for chosen in combinations(scores, count)
    ]
    observed = abs(runs * sum(scores[:count]) - count * sum(scores))
    return sum(distance >= observed for distance in distances) / len(distances)


FEW_VALUES = st.lists(st.integers(0, 9).map(float), min_size=4, max_size=6)


@given(FEW_VALUES, FEW_VALUES)
def test_p_is_the_share_of_assignments_at_least_as_far_apart(
    values: list[float], base: list[float]
) -> None:
    assert p_of(values, base) == pytest.approx(p_by_definition(values, base), rel=1e-9)


def test_p_by_hand() -> None:
    # Each run of one side is slower: only this assignment and its opposite are as extreme.
    assert p_of([5, 6, 7, 8], [1, 2, 3, 4]) == pytest.approx(2 / 70)
    # The median is 4.5 and the deviation 1.4826 * 2, so a step is 1.345 * 2.965 / 20 = 0.199. The
    # scores are -18, -13, -8, -3, 3, 8, 13 and 18. The scores of 4, 6, 7 and 8 have the sum 36.
    # Only one other assignment has a larger sum, 42.
    assert p_of([4, 6, 7, 8], [1, 2, 3, 5]) == pytest.approx(4 / 70)
    assert p_of([1, 1, 1, 1], [1, 1, 1, 1]) == 1
    # More than half of the runs are equal, so the deviation is 0: the scores are 0 and 20.
    assert p_of([2, 2, 1, 1], [1, 1, 1, 1]) == pytest.approx(30 / 70)
    assert p_of([2, 2, 2, 2], [1, 1, 1, 1]) == pytest.approx(2 / 70)


@pytest.mark.parametrize(("runs", "base_runs"), [(4, 4), (4, 5), (6, 4), (5, 5)])
def test_p_is_smallest_if_the_sides_do_not_overlap(runs: int, base_runs: int) -> None:
    assert p_of([2.0] * runs, [1.0] * base_runs) == pytest.approx(least_p(runs, base_runs))


def test_one_odd_run_neither_hides_nor_makes_a_difference() -> None:
    base = [1.0, 1.01, 1.02, 1.03, 1.04, 1.05, 1.06, 1.07]
    slower = [time + 0.1 for time in base]
    assert p_of([*slower[:7], 99.0], base) == p_of(slower, base)
    # The odd run of the baseline is the slowest of all, yet the sides still differ.
    assert p_of(slower, [*base[:7], 99.0]) < 0.01
    assert p_of([*base[:7], 99.0], base) > 0.5


@given(st.lists(st.integers(0, 9).map(float), min_size=8, max_size=8))
def test_p_is_the_share_of_assignments_with_at_most_that_p(times: list[float]) -> None:
    deals = [list(dealt) for dealt in combinations(range(8), 4)]
    others = [[index for index in range(8) if index not in dealt] for dealt in deals]
    runs = np.array(times)
    p = permutation_test(runs[np.array(deals)], runs[np.array(others)])
    shares = [np.mean(p <= one + 1e-9) for one in p]
    np.testing.assert_allclose(p, shares, rtol=1e-9)


@given(FEW_VALUES, FEW_VALUES)
def test_p_does_not_depend_on_sides_order_or_scale(values: list[float], base: list[float]) -> None:
    p = p_of(values, base)
    assert p_of(base, values) == pytest.approx(p, rel=1e-12)
    assert p_of(values[::-1], base[::-1]) == p
    assert p_of(np.multiply(values, 0.125), np.multiply(base, 0.125)) == p


def with_gaps(known: Sequence[float] | Floats, size: int, generator: np.random.Generator) -> Floats:
    """Return `size` values in random order: the `known` ones, and NaN."""
    values = np.full(size, nan)
    values[generator.permutation(size)[: len(known)]] = known
    return values


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


def test_no_rows_give_no_p() -> None:
    none = np.empty((0, 5))
    assert len(permutation_test(none, none)) == 0


@pytest.mark.parametrize("base_runs", [28, 29, 60, 400])
def test_a_clear_change_is_found_with_any_number_of_runs(base_runs: int) -> None:
    generator = np.random.default_rng(5)
    base = generator.lognormal(0, 0.05, base_runs)
    assert p_of([8.0, 8.1, 8.2, 8.3], base) < 0.001
    assert p_of(base, [8.0, 8.1, 8.2, 8.3]) < 0.001


# These numbers of runs are near the limit of the exact distribution.
@pytest.mark.parametrize("runs", [(37, 37), (20, 230), (8, 1550)])
def test_the_normal_distribution_continues_the_exact_one(
    runs: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    generator = np.random.default_rng(4)
    values, base = (generator.lognormal(0, 0.1, (20, n)) for n in runs)
    values *= np.linspace(0.9, 1.1, 20)[:, np.newaxis]
    monkeypatch.setattr(permutation, "_MOST_EXACT", 10**9)
    exact = permutation_test(values, base)
    monkeypatch.setattr(permutation, "_MOST_EXACT", 0)
    found = permutation_test(values, base)
    np.testing.assert_allclose(found, exact, atol=0.01)
    assert (found != exact).all()


def test_the_normal_distribution_has_the_variance_of_the_scores() -> None:
    generator = np.random.default_rng(6)
    values, base = generator.lognormal(0, 0.1, 200), generator.lognormal(0.02, 0.1, 300)
    scores = np.array(scores_by_definition([*values, *base]))
    # The variance of a sum of scores that are drawn without replacement, by simulation.
    sums = np.array([generator.permutation(scores)[:200].sum() for _ in range(20_000)])
    distance = abs(scores[:200].sum() - 200 * scores.mean()) - 0.5
    expected = 2 * stats.norm.sf(distance / sums.std())
    assert p_of(values, base) == pytest.approx(expected, rel=0.05)


def test_many_equal_runs_do_not_differ() -> None:
    assert p_of([1.0] * 500, [1.0] * 500) == 1
    assert p_of([2.0] * 500, [1.0] * 500) < 1e-9


@pytest.mark.parametrize("values", [[1e308, 1.1e308, 1.2e308, 1.3e308], [0.0] * 4])
def test_times_at_the_ends_of_the_range_of_floats(values: list[float]) -> None:
    assert p_of(values, [1.0, 1.1, 1.2, 1.3]) == pytest.approx(2 / 70)

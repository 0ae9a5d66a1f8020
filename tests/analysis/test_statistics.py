"""Whether two sets of runs differ: against SciPy, against the definition, and by hand."""

from __future__ import annotations

from itertools import combinations, product
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from profile_analyze.analysis import statistics
from profile_analyze.analysis.statistics import (
    FASTER,
    LEAST_RUNS,
    RESAMPLES,
    SAME,
    SIGNIFICANT,
    SLOWER,
    UNCERTAIN,
    VERDICTS,
    Interval,
    adjusted,
    median_interval,
    permutation_test,
    ratio_interval,
    verdict_codes,
)
from profile_analyze.model.numbers import ratio

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
def test_with_ties_p_is_the_share_of_deals_as_far_apart(
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
def test_as_many_deals_have_a_p_of_at_most_p_as_it_says(times: list[float]) -> None:
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
def test_too_few_runs_on_a_side_give_nothing(few: int) -> None:
    many = row(range(10, 20))
    short = row([1.0] * few + [nan] * (5 - few))
    for values, base in ((many, short), (short, many), (short, short), (many, many[:, :few])):
        assert np.isnan(permutation_test(values, base)).all()
        assert np.isnan(ratio_interval(values, base)).all()


def test_no_rows() -> None:
    none = np.empty((0, 5))
    assert len(permutation_test(none, none)) == 0
    assert ratio_interval(none, none).low.shape == (0,)


def test_medians_of_the_largest_numbers_do_not_overflow() -> None:
    interval = ratio_interval(row([1.5e308] * 4), row([1.0e308] * 4))
    assert ends(interval) == pytest.approx((1.5, 1.5))
    assert len(adjusted(np.empty(0))) == 0


def test_up_to_some_number_of_runs_p_is_worked_out_exactly() -> None:
    generator = np.random.default_rng(2)
    values, base = generator.random((2, statistics._EXACT_RUNS // 2))
    values += 0.1
    expected = stats.mannwhitneyu(values, base, method="exact")
    assert p_of(values, base) == pytest.approx(expected.pvalue, rel=1e-9)


@pytest.mark.parametrize("values_there_are", [10, 10_000])
@pytest.mark.parametrize("shift", [0.0, 0.02, 0.3])
@pytest.mark.parametrize("runs", [(17, 16), (41, 40), (4, 100)])
def test_beyond_that_p_is_that_of_the_normal_distribution(
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


def ends(interval: Interval, place: int = 0) -> tuple[float, float]:
    return float(interval.low[place]), float(interval.high[place])


def skewed(seed: int, *shape: int) -> Floats:
    """Times with a long tail, as those of runs are."""
    return np.random.default_rng(seed).lognormal(0, 0.1, shape)


def slow_interval(values: Floats, base: Floats, seed: int) -> tuple[float, float]:
    generator = np.random.default_rng(seed)
    ratios = [
        np.median(generator.choice(values, len(values)))
        / np.median(generator.choice(base, len(base)))
        for _ in range(RESAMPLES)
    ]
    low, high = np.quantile(ratios, [0.025, 0.975])
    return float(low), float(high)


@pytest.mark.parametrize(("n", "m"), [(25, 25), (24, 31), (8, 40)])
def test_the_interval_is_that_of_a_slow_bootstrap(n: int, m: int) -> None:
    values, base = 1.2 * skewed(n, n), skewed(m + 100, m)
    low, high = slow_interval(values, base, seed=5)
    assert ends(ratio_interval(row(values), row(base))) == pytest.approx((low, high), abs=0.015)
    assert high - low > 0.08


def test_the_interval_is_the_same_each_time_and_in_any_company() -> None:
    values, base = skewed(6, 7, 9), skewed(7, 7, 8)
    values[2, 3] = values[5, :2] = base[2, 7] = base[4, 1] = nan
    together = ratio_interval(values, base)
    again = ratio_interval(values, base)
    for found, other in zip(together, again, strict=True):
        np.testing.assert_array_equal(found, other)
        assert not np.isnan(found).any()
    for place in range(7):
        ours, theirs = (side[place][~np.isnan(side[place])] for side in (values, base))
        assert ends(ratio_interval(row(ours[::-1]), row(theirs))) == ends(together, place)


@pytest.mark.parametrize("at_once", [1, 2 * RESAMPLES, 3 * RESAMPLES + 1, 100 * RESAMPLES])
def test_rows_are_worked_out_in_parts(at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    values, base = skewed(8, 7, 6), skewed(9, 7, 5)
    values[1:3, 0] = nan
    whole = ratio_interval(values, base)
    monkeypatch.setattr(statistics, "_VALUES_AT_ONCE", at_once)
    parts = ratio_interval(values, base)
    np.testing.assert_array_equal(parts.low, whole.low)
    np.testing.assert_array_equal(parts.high, whole.high)


def test_no_more_rows_are_worked_out_at_once_than_there_is_room_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sizes = []

    def watched(numerator: Floats, denominator: Floats) -> Floats:
        sizes.append(numerator.size)
        return ratio(numerator, denominator)

    monkeypatch.setattr(statistics, "ratio", watched)
    monkeypatch.setattr(statistics, "_VALUES_AT_ONCE", 3 * RESAMPLES)
    ratio_interval(skewed(8, 7, 6), skewed(9, 7, 5))
    assert sizes == [3 * RESAMPLES, 3 * RESAMPLES, RESAMPLES]


def test_the_interval_follows_the_scale() -> None:
    values, base = skewed(10, 3, 9), skewed(11, 3, 12)
    one, other = ratio_interval(values, base), ratio_interval(values * 8, base / 2)
    np.testing.assert_array_equal(other.low, one.low * 16)
    np.testing.assert_array_equal(other.high, one.high * 16)


def test_swapping_the_sides_turns_the_interval_over() -> None:
    values, base = skewed(12, 20, 30), skewed(13, 20, 30)
    one, other = ratio_interval(values, base), ratio_interval(base, values)
    np.testing.assert_allclose(1 / other.low, one.high, atol=0.03)
    np.testing.assert_allclose(1 / other.high, one.low, atol=0.03)


@pytest.mark.parametrize(("n", "m"), [(4, 4), (5, 9)])
def test_the_interval_of_equal_values_is_a_point(n: int, m: int) -> None:
    assert ends(ratio_interval(row([6.0] * n), row([4.0] * m))) == (1.5, 1.5)
    assert ends(median_interval(row([6.0] * n))) == (6, 6)


@pytest.mark.parametrize("runs", [5, 6])
def test_the_interval_of_a_median_is_that_of_all_draws(runs: int) -> None:
    values = [3.0**place for place in range(runs)]
    medians = np.median(list(product(values, repeat=runs)), axis=1)
    low, high = np.quantile(medians, [0.025, 0.975])
    assert ends(median_interval(row(values))) == (low, high)
    assert ends(ratio_interval(row([243.0] * 4), row(values))) == (243 / high, 243 / low)


def test_there_is_no_interval_of_a_ratio_to_nothing() -> None:
    found = ratio_interval(np.ones((2, 4)), np.array([[0.0] * 4, [2.0] * 4]))
    np.testing.assert_array_equal(found.low, [nan, 0.5])
    np.testing.assert_array_equal(found.high, [nan, 0.5])


@pytest.mark.parametrize("runs", [8, 9, 24])
def test_nineteen_intervals_of_twenty_hold_the_truth(runs: int) -> None:
    values, base = 1.2 * skewed(14, 1000, runs), skewed(15, 1000, runs)
    found = ratio_interval(values, base)
    held = np.mean((found.low <= 1.2) & (found.high >= 1.2))
    assert 0.93 <= held <= 0.985


def test_the_interval_of_a_median_is_that_of_its_ratio_to_one() -> None:
    values = skewed(16, 5, 11)
    values[3, :4] = values[4, :8] = nan
    found, expected = median_interval(values), ratio_interval(values, np.ones((5, 9)))
    np.testing.assert_allclose(found.low, expected.low, atol=0.02)
    np.testing.assert_allclose(found.high, expected.high, atol=0.02)
    np.testing.assert_array_equal(np.isnan(found.low), [False] * 4 + [True])
    medians = np.nanmedian(values[:4], axis=1)
    assert (found.low[:4] < medians).all()
    assert (medians < found.high[:4]).all()


def verdict(ratio: float, q: float, low: float, high: float, threshold: float = 0.25) -> str | None:
    interval = Interval(np.array([low]), np.array([high]))
    (code,) = verdict_codes(np.array([ratio]), np.array([q]), interval, threshold).tolist()
    return None if code == -1 else VERDICTS[code]


BELOW = 1 / 1.25
CASES = [
    # ratio, q, low, high, verdict
    (1.5, 0.01, 1.2, 1.8, SLOWER),
    (1.25, 0.01, 1.2, 1.8, SLOWER),  # at the threshold
    (1.5, SIGNIFICANT, 1.2, 1.8, SLOWER),  # as likely as may be
    (1.5, 0.051, 1.2, 1.8, UNCERTAIN),
    (1.5, 0.01, 1.0, 1.8, UNCERTAIN),  # the interval does not leave 1 out
    (1.249, 0.01, 1.2, 1.8, UNCERTAIN),
    (0.5, 0.01, 0.4, 0.9, FASTER),
    (BELOW, 0.01, 0.4, 0.9, FASTER),
    (0.5, SIGNIFICANT, 0.4, 0.9, FASTER),
    (0.5, 0.051, 0.4, 0.9, UNCERTAIN),
    (0.5, 0.01, 0.4, 1.0, UNCERTAIN),
    (0.801, 0.01, 0.4, 0.9, UNCERTAIN),
    (1.0, 0.9, 0.9, 1.1, SAME),
    (1.0, 0.9, BELOW, 1.25, SAME),  # just within
    (1.0, 0.9, 0.79, 1.1, UNCERTAIN),
    (1.0, 0.9, 0.9, 1.26, UNCERTAIN),
    (1.1, 0.01, 1.05, 1.2, SAME),  # other than 1, but not by enough to matter
    (0.9, 0.01, 0.85, 0.95, SAME),
    (1.25, 0.01, 1.2, 1.25, SLOWER),  # beyond the threshold counts for more than within
    (BELOW, 0.01, BELOW, 0.9, FASTER),
    (1.25, 0.9, 1.2, 1.25, SAME),
    (nan, 0.01, 1.2, 1.8, None),
    (1.5, nan, 1.2, 1.8, None),
    (1.5, 0.01, nan, 1.8, UNCERTAIN),
    (1.5, 0.01, 1.2, nan, UNCERTAIN),
]


@pytest.mark.parametrize(("ratio", "q", "low", "high", "expected"), CASES)
def test_verdicts_by_hand(
    ratio: float, q: float, low: float, high: float, expected: str | None
) -> None:
    assert verdict(ratio, q, low, high) == expected


def test_verdicts_of_many_rows() -> None:
    ratios, q, low, high = np.array([case[:4] for case in CASES]).T
    codes = verdict_codes(ratios, q, Interval(low, high), 0.25)
    found = [None if code == -1 else VERDICTS[code] for code in codes.tolist()]
    assert found == [case[4] for case in CASES]


@pytest.mark.parametrize("threshold", [0.01, 0.03, 0.5])
def test_the_threshold_is_what_it_is_set_to(threshold: float) -> None:
    above = 1 + threshold
    assert verdict(above, 0.01, 1.001, 9, threshold) == SLOWER
    assert verdict(1 / above, 0.01, 0.1, 0.999, threshold) == FASTER
    assert verdict(above - 0.001, 0.01, 1.001, 9, threshold) != SLOWER
    assert verdict(1 / above + 0.001, 0.01, 0.1, 0.999, threshold) != FASTER


TURNED = {SLOWER: FASTER, FASTER: SLOWER, SAME: SAME, UNCERTAIN: UNCERTAIN}


@given(
    st.sampled_from([0.2, 0.5, 0.78, 0.8, 0.9, 1.0, 1.1, 1.25, 2.0, 5.0]),
    st.sampled_from([0.0, 0.04, 0.06, 1.0]),
    st.sampled_from([0.1, 0.4, 0.85, 0.95, 1.05]),
    st.sampled_from([0.95, 1.05, 1.15, 2.5, 9.0]),
)
def test_swapping_the_sides_turns_the_verdict_over(
    ratio: float, q: float, low: float, high: float
) -> None:
    low, high = min(low, high), max(low, high)
    found = verdict(ratio, q, low, high)
    assert found is not None
    assert verdict(1 / ratio, q, 1 / high, 1 / low) == TURNED[found]


@pytest.mark.parametrize("slow", [1.2, 1 / 1.2])
def test_from_runs_to_verdicts(slow: float) -> None:
    values, base = (
        np.concatenate([slow * skewed(17, 3, 16), skewed(18, 97, 16)]),
        skewed(19, 100, 16),
    )
    ratios = np.median(values, axis=1) / np.median(base, axis=1)
    q = adjusted(permutation_test(values, base))
    codes = verdict_codes(ratios, q, ratio_interval(values, base), 0.03)
    changed = [VERDICTS.index(SLOWER if slow > 1 else FASTER)] * 3
    assert codes[:3].tolist() == changed
    called = np.isin(codes[3:], [VERDICTS.index(SLOWER), VERDICTS.index(FASTER)])
    assert called.sum() <= 1

"""Confidence intervals against a slow bootstrap, and verdicts by hand."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from profile_analyze.analysis import statistics
from profile_analyze.analysis.statistics import (
    FASTER,
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


def test_the_interval_is_deterministic_and_independent_of_other_rows() -> None:
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
def test_rows_are_computed_in_parts(at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    values, base = skewed(8, 7, 6), skewed(9, 7, 5)
    values[1:3, 0] = nan
    whole = ratio_interval(values, base)
    monkeypatch.setattr(statistics, "_VALUES_AT_ONCE", at_once)
    parts = ratio_interval(values, base)
    np.testing.assert_array_equal(parts.low, whole.low)
    np.testing.assert_array_equal(parts.high, whole.high)


def test_the_rows_computed_at_once_are_limited(
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


def test_swapping_the_sides_inverts_the_interval() -> None:
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


def test_a_ratio_to_0_has_no_interval() -> None:
    found = ratio_interval(np.ones((2, 4)), np.array([[0.0] * 4, [2.0] * 4]))
    np.testing.assert_array_equal(found.low, [nan, 0.5])
    np.testing.assert_array_equal(found.high, [nan, 0.5])


@pytest.mark.parametrize("runs", [8, 9, 24])
def test_nineteen_of_twenty_intervals_contain_the_true_ratio(runs: int) -> None:
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
def test_the_threshold_can_be_set(threshold: float) -> None:
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
def test_swapping_the_sides_reverses_the_verdict(
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


def test_medians_of_the_largest_numbers_do_not_overflow() -> None:
    interval = ratio_interval(row([1.5e308] * 4), row([1.0e308] * 4))
    assert ends(interval) == pytest.approx((1.5, 1.5))

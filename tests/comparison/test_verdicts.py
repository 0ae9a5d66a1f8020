"""Verdicts on rows, and the runs that would settle them, by hand."""

from __future__ import annotations

from math import log, log1p, nan
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from profile_analyze.comparison.intervals import Shift
from profile_analyze.comparison.row_tests import RowTests
from profile_analyze.comparison.statistics import (
    FASTER,
    SAME,
    SIGNIFICANT,
    SLOWER,
    UNCERTAIN,
    VERDICTS,
)
from profile_analyze.comparison.verdicts import runs_needed, verdict_codes

LIMIT = log1p(0.25)
UNKNOWN = (nan, nan, nan)


def row_tests_of(
    own: tuple[float, float, float],
    p: float,
    relative: tuple[float, float, float] | None = None,
    rows: int = 1,
) -> RowTests:
    """Return the tests of equal rows. Shifts are (estimate, low, high).

    The rows are tested by `relative` if it is not None.
    """

    def of_rows(value: Any) -> Any:
        return np.array([value] * rows)

    return RowTests(
        own=Shift(*map(of_rows, own)),
        relative=Shift(*map(of_rows, relative or UNKNOWN)),
        is_relative=of_rows(relative is not None),
        p_values=of_rows(p),
        weights=np.ones(rows),
    )


def verdict(
    own: tuple[float, float, float],
    p: float,
    relative: tuple[float, float, float] | None = None,
    *,
    ratio: float | None = None,
    threshold: float = 0.25,
) -> str | None:
    ratios = np.array([np.exp(own[0]) if ratio is None else ratio])
    (code,) = verdict_codes(row_tests_of(own, p, relative), ratios, threshold).tolist()
    return None if code == -1 else VERDICTS[code]


CASES: Any = [
    ((0.4, 0.2, 0.6), 0.01, SLOWER),
    ((LIMIT, 0.2, 0.6), 0.01, SLOWER),  # at the threshold
    ((0.4, 0.2, 0.6), SIGNIFICANT, SLOWER),  # p is at its limit
    ((0.4, 0.2, 0.6), 0.051, UNCERTAIN),
    ((0.4, 0.0, 0.6), 0.01, UNCERTAIN),  # the interval does not exclude 0
    ((LIMIT - 0.001, 0.2, 0.6), 0.01, UNCERTAIN),
    ((0.0, -0.1, 0.1), 0.9, SAME),
    ((0.0, -LIMIT, LIMIT), 0.9, SAME),  # just within
    ((0.0, -LIMIT - 0.001, 0.1), 0.9, UNCERTAIN),
    ((0.1, 0.05, 0.2), 0.01, SAME),  # other than 0, but not by enough to matter
    ((LIMIT, 0.2, LIMIT), 0.01, SLOWER),  # if both verdicts are possible, slower counts
    ((LIMIT, 0.2, LIMIT), 0.9, SAME),
    ((np.inf, np.inf, np.inf), 0.01, SLOWER),  # from 0 to something
    ((0.4, 0.2, 0.6), nan, None),
]
MIRRORED = {SLOWER: FASTER, FASTER: SLOWER, SAME: SAME, UNCERTAIN: UNCERTAIN, None: None}


@pytest.mark.parametrize(("own", "p", "expected"), CASES)
def test_verdicts_by_own_times(
    own: tuple[float, float, float], p: float, expected: str | None
) -> None:
    estimate, low, high = own
    assert verdict(own, p) == expected
    assert verdict((-estimate, -high, -low), p) == MIRRORED[expected]
    # If a row is tested by its relative times, these decide the verdict.
    assert verdict((0.0, -9, 9), p, own, ratio=np.exp(estimate)) == (
        UNCERTAIN if expected == SAME else expected
    )


def test_same_needs_both_intervals_within_the_threshold() -> None:
    within, wide = (0.0, -0.1, 0.1), (0.0, -0.1, 0.3)
    assert verdict(within, 0.9, within) == SAME
    assert verdict(wide, 0.9, within) == UNCERTAIN
    assert verdict(within, 0.9, wide) == UNCERTAIN


def test_the_shown_ratio_never_contradicts_the_verdict() -> None:
    slower, faster = (0.4, 0.2, 0.6), (-0.4, -0.6, -0.2)
    assert verdict(slower, 0.01, ratio=1.0) == SLOWER
    assert verdict(slower, 0.01, ratio=0.99) == UNCERTAIN
    assert verdict(slower, 0.01, ratio=nan) == SLOWER  # the median of the baseline is 0
    assert verdict(faster, 0.01, ratio=1.0) == FASTER
    assert verdict(faster, 0.01, ratio=1.01) == UNCERTAIN
    assert verdict((0.0, -0.1, 0.1), 0.01, slower, ratio=0.99) == UNCERTAIN


SHIFTS = st.lists(st.floats(-1, 1), min_size=3, max_size=3).map(sorted)


@given(SHIFTS, SHIFTS | st.none(), st.sampled_from([0.0, 0.04, 0.06]), st.floats(0.5, 2))
def test_swapping_the_sides_mirrors_the_verdict(
    own: list[float], relative: list[float] | None, p: float, ratio: float
) -> None:
    def shift_of(ends: list[float] | None, sign: int) -> Any:
        if ends is None:
            return None
        low, estimate, high = ends if sign > 0 else [-end for end in reversed(ends)]
        return estimate, low, high

    found = verdict(shift_of(own, 1), p, shift_of(relative, 1), ratio=ratio)
    other = verdict(shift_of(own, -1), p, shift_of(relative, -1), ratio=1 / ratio)
    assert other == MIRRORED[found]


@pytest.mark.parametrize("threshold", [0.01, 0.03, 0.5])
def test_the_threshold_can_be_set(threshold: float) -> None:
    limit = log1p(threshold)
    assert verdict((limit, 0.001, 9), 0.01, threshold=threshold) == SLOWER
    assert verdict((limit - 0.001, 0.001, 9), 0.01, threshold=threshold) == UNCERTAIN


def needed(
    own: tuple[float, float, float],
    p: float,
    *,
    runs: tuple[int, int] = (8, 8),
    rows: int = 1,
    verdict: str = UNCERTAIN,
) -> float:
    tests = row_tests_of(own, p, rows=rows)
    codes = np.full(rows, VERDICTS.index(verdict))
    found = runs_needed(tests, codes, runs, 0.03)
    np.testing.assert_array_equal(found, found[0])
    return float(found[0])


def test_the_runs_that_settle_a_row_by_hand() -> None:
    # The interval is 0.2 wide, so the standard error of 8 runs is 0.1 / 1.96 = 0.0510. A change of
    # 0.1 must be 1.96 + 0.84 standard errors: 8 * (2.80 * 0.0510 / 0.1) ** 2 = 16.3 runs.
    assert needed((0.1, 0.0, 0.2), 0.06) == 17
    # With 100 rows, p must be 0.0005: 8 * ((3.48 + 0.84) * 0.0510 / 0.1) ** 2 = 38.9 runs.
    assert needed((0.1, 0.0, 0.2), 0.06, rows=100) == 39
    # A row that did not change is `same` once its interval is within log(1.03) = 0.0296:
    # 8 * (2.80 * 0.0510 / 0.0296) ** 2 = 187.1 runs.
    assert needed((0.0, -0.1, 0.1), 0.9) == 188
    # Eight against 24 runs are worth 12 against 12.
    assert needed((0.1, 0.0, 0.2), 0.06, runs=(8, 24)) == 25
    # The result is at least one more run, and enough runs for a small p. With 9 rows, p must be
    # at most 0.05 / 9 = 0.0056. The smallest p is 2 / 252 for five runs, and 2 / 924 for six.
    assert needed((0.1, 0.09, 0.11), 0.06) == 9
    assert needed((0.1, 0.0999, 0.1001), 0.06, runs=(4, 4), rows=9) == 6
    # `same` needs no p.
    assert needed((0.0, -0.1, 0.1), 0.9, rows=100) == 188


def test_the_number_of_runs_needed_may_be_unavailable() -> None:
    assert np.isnan(needed((0.1, 0.0, 0.2), 0.01, verdict=SLOWER))
    assert np.isnan(needed((0.0, -0.02, 0.02), 0.9, verdict=SAME))
    assert np.isnan(needed((0.0, -5.0, 5.0), 0.9))  # over 1,000
    assert np.isnan(needed((0.1, 0.0, np.inf), 0.06))
    # The estimate is just below the threshold, so no number of runs separates the two.
    assert np.isnan(needed((log(1.03) - 1e-9, -0.1, 0.1), 0.9))

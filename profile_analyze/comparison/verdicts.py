"""The verdicts on the rows of a comparison, and how many runs would settle an uncertain verdict."""

from __future__ import annotations

from statistics import NormalDist
from typing import TYPE_CHECKING, Final

import numpy as np

from profile_analyze.comparison.intervals import CONFIDENCE
from profile_analyze.comparison.row_tests import BY_TIME
from profile_analyze.comparison.statistics import (
    FASTER,
    LEAST_RUNS,
    SAME,
    SIGNIFICANT,
    SLOWER,
    UNCERTAIN,
    VERDICTS,
    least_p,
)

if TYPE_CHECKING:
    from typing import TypeAlias

    from numpy.typing import NDArray

    from profile_analyze.comparison.row_tests import RowTests

    Floats: TypeAlias = NDArray[np.float64]

_POWER: Final = 0.8
"""The probability that `runs_needed` runs settle a row, if the estimate is right."""
_ROUNDING: Final = 1e-12
"""Logarithms of equal ratios may differ by this much, from one version of NumPy to the next."""
_MOST_NEEDED: Final = 1000
"""If a row needs more runs than this, `runs_needed` is N/A. A different experiment would be
better."""


def verdict_codes(tests: RowTests, ratios: Floats, threshold: float) -> NDArray[np.int64]:
    """Return the index in `VERDICTS` for each row, shape (rows,); -1 if the row has no p.

    `ratios` has the ratio of the medians, which tables show.

    - `slower`: the corrected p is at most `SIGNIFICANT`, the interval of the chosen test is above
      0, and its estimate is at least log(1 + `threshold`). The ratio of the medians is not below 1.
    - `faster`: the same with the two sides swapped.
    - `same`: the interval of the row's own times is within the threshold on both sides of 0, and so
      is the interval of the chosen test.
    - `uncertain`: all other rows.
    """
    limit = np.log1p(threshold)
    chosen, q = tests.chosen, tests.corrected
    is_change = q <= SIGNIFICANT
    codes = np.full(len(q), VERDICTS.index(UNCERTAIN))
    at_most = limit + _ROUNDING
    within = np.minimum(tests.own.low, chosen.low) >= -at_most
    within &= np.maximum(tests.own.high, chosen.high) <= at_most
    codes[within] = VERDICTS.index(SAME)
    # These lines come last, so a significant change exactly at the threshold is not `same`.
    at_least = limit - _ROUNDING
    slower = is_change & (chosen.low > 0) & (chosen.estimate >= at_least) & ~(ratios < 1)
    faster = is_change & (chosen.high < 0) & (chosen.estimate <= -at_least) & ~(ratios > 1)
    codes[slower] = VERDICTS.index(SLOWER)
    codes[faster] = VERDICTS.index(FASTER)
    return np.where(np.isnan(q), -1, codes)


def hidden_rows(tests: RowTests, runs: tuple[int, int]) -> tuple[NDArray[np.bool_], int]:
    """Return which rows are hidden, shape (rows,), and how many runs of each side are enough.

    A row is hidden if it could not get the verdict `slower` or `faster`, however much it alone
    changed: the smallest possible p is still too large after the correction for the number of rows.
    Rows without a p are not hidden. `runs` has the runs of the two sides.
    """
    # If only one row changed, the correction multiplies its p by the number of tested rows, and
    # divides the product by the weight of the row. The weight grows with the time of the row.
    is_tested = ~np.isnan(tests.p_values)
    permitted = SIGNIFICANT * tests.weights / max(int(is_tested.sum()), 1)
    hidden = is_tested & (least_p(*runs) > permitted)
    least = float(permitted[hidden].min(initial=1.0))
    return hidden, max(LEAST_RUNS, least_runs(least))


def enough_runs(operators: int) -> int:
    """Return how many runs of each side are enough, if just one of the tested operators changed."""
    # An operator that takes no time has the smallest weight: see `BY_TIME`.
    return max(LEAST_RUNS, least_runs(SIGNIFICANT * (1 - BY_TIME) / max(operators, 1)))


def runs_needed(
    tests: RowTests, codes: NDArray[np.int64], runs: tuple[int, int], threshold: float
) -> Floats:
    """Return how many runs of each side would probably settle each uncertain row, shape (rows,).

    `runs` has the runs of the two sides. The result assumes that the estimate is right, and that
    more runs have the same noise. The row then gets a verdict other than `uncertain` in four of
    five comparisons: `slower` or `faster` if the estimate reaches the threshold, `same` otherwise.
    N/A for rows that are not uncertain, and for rows that need more than `_MOST_NEEDED` runs.
    """
    chosen = tests.chosen
    normal = NormalDist()
    of_interval = normal.inv_cdf((1 + CONFIDENCE) / 2)
    tested = max(int((~np.isnan(tests.p_values)).sum()), 1)
    limit = np.log1p(threshold)
    # The standard error shrinks with the square root of the harmonic mean of the numbers of runs.
    harmonic = 2 / (1 / runs[0] + 1 / runs[1])
    needed = np.full(len(codes), np.nan)
    for row in np.flatnonzero(codes == VERDICTS.index(UNCERTAIN)).tolist():
        share = min(float(tests.weights[row]), tested) / tested
        significant = SIGNIFICANT * share
        distance = abs(float(chosen.estimate[row]))
        error = float(chosen.high[row] - chosen.low[row]) / 2 / of_interval
        is_change = distance >= limit
        quantile = normal.inv_cdf(1 - significant / 2) if is_change else of_interval
        margin = distance if is_change else limit - distance
        if not np.isfinite(error) or not margin > 0:
            continue
        count = harmonic * ((quantile + normal.inv_cdf(_POWER)) * error / margin) ** 2
        enough = max(count, min(runs) + 1, least_runs(significant) if is_change else 0)
        needed[row] = np.ceil(enough) if enough <= _MOST_NEEDED else np.nan
    return needed


def least_runs(significant: float) -> int:
    """Return the fewest runs of each side that can give a p of at most `significant`."""
    runs = 1
    while least_p(runs, runs) > significant:
        runs += 1
    return runs

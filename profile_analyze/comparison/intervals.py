"""Confidence intervals from rank tests. Unlike a bootstrap, they need no random numbers."""

from __future__ import annotations

from functools import lru_cache
from math import sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from profile_analyze.comparison.pair_differences import ordered_differences
from profile_analyze.comparison.statistics import by_known_runs

if TYPE_CHECKING:
    from typing import TypeAlias

    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.float64]

CONFIDENCE: Final = 0.95
_OUTSIDE: Final = (1 - CONFIDENCE) / 2
"""The largest probability that the true value is below an interval, and also that it is above."""
_MOST_EXACT: Final = 2500
"""Up to this many pairs of runs, such as 50 runs against 50, the distribution of rank sums is
counted exactly."""
_QUANTILES_OF_T: Final = {4: 3.182446, 5: 2.776445}
"""The 97.5 % quantiles of Student's t for a mean of four and of five values."""

_DIGITS: Final = 12
"""The last digits of a logarithm differ between machines. Twelve digits are equal everywhere, and
a measurement has far fewer."""


class Shift(NamedTuple):
    """How far one set of runs is from another, for each row. NaN is N/A; shapes are (rows,)."""

    estimate: Floats
    low: Floats
    high: Floats
    """`low` and `high` are the ends of the 95 % confidence interval."""


def shift(values: Floats, base: Floats) -> Shift:
    """Return the shift from `base` to `values` with its 95 % confidence interval.

    `values` has shape (rows, runs), and `base` has shape (rows, runs of the baseline). Runs with
    NaN are left out. A row with fewer than `LEAST_RUNS` runs on a side is NaN.

    The estimate is the median of the differences between each run and each run of the baseline. The
    interval holds all shifts that a rank-sum test would not reject (Hodges and Lehmann, 1963). If
    the sides are swapped, the estimate and the interval are negated.
    """
    estimate, low, high = (np.full(len(values), np.nan) for _ in range(3))
    for rows, ours, theirs in by_known_runs(values, base):
        pairs = ours.shape[1] * theirs.shape[1]
        outside = _pairs_outside(ours.shape[1], theirs.shape[1])
        middle = (pairs - 1) // 2, pairs // 2
        found = ordered_differences(ours, theirs, (outside, *middle, pairs - 1 - outside)).T
        low[rows], high[rows] = found[0], found[-1]
        with np.errstate(invalid="ignore"):  # -inf and inf
            estimate[rows] = found[1] / 2 + found[2] / 2
    return Shift(estimate, low, high)


def ratios_of(logs: Floats) -> Floats:
    """Return the ratios with these logarithms, rounded to `_DIGITS` significant digits."""
    with np.errstate(over="ignore"):
        exact = np.exp(logs)
    return np.array([float(f"{one:.{_DIGITS}g}") for one in exact.tolist()], np.float64)


def median_interval(values: Floats) -> tuple[float, float]:
    """Return a 95 % confidence interval of the median of `values`, which have no NaN.

    For six or more values, the ends are two of the values (Thompson, 1936). Four or five values
    cannot give 95 % in this way. They get Student's interval for the mean of the logarithms, which
    assumes that the logarithms are normal. The ends are NaN for fewer than four values, and if one
    of four or five values is 0.
    """
    ascending = np.sort(values)
    runs = len(ascending)
    if runs in _QUANTILES_OF_T and ascending[0] > 0:
        logs = np.log(ascending)
        margin = _QUANTILES_OF_T[runs] * float(logs.std(ddof=1)) / sqrt(runs)
        low, high = ratios_of(logs.mean() + np.array([-margin, margin])).tolist()
        return low, high
    if runs <= max(_QUANTILES_OF_T):
        return np.nan, np.nan
    outside = _values_outside(runs)
    return float(ascending[outside]), float(ascending[runs - 1 - outside])


def _values_outside(runs: int) -> int:
    """Return how many values are below the interval of the median, for six or more `runs`."""
    below, term, outside = 0.0, 0.5**runs, 0
    while below + term <= _OUTSIDE:
        below += term
        outside += 1
        term *= (runs - outside + 1) / outside
    return outside - 1


@lru_cache(maxsize=64)
def _pairs_outside(runs: int, base_runs: int) -> int:
    """Return how many differences of pairs are below the interval of `shift`.

    This is the largest number that the rank-sum statistic of Mann and Whitney (1947) exceeds with a
    probability of at least 97.5 %.
    """
    pairs = runs * base_runs
    if pairs > _MOST_EXACT:
        deviation = sqrt(pairs * (runs + base_runs + 1) / 12)
        return int(pairs / 2 - NormalDist().inv_cdf(1 - _OUTSIDE) * deviation - 0.5)
    # ways[k, u]: the number of ways to choose k of the runs so far, so that the chosen runs are
    # larger than the others in u pairs
    ways = np.zeros((runs + 1, pairs + 1))
    ways[0, 0] = 1.0
    for position in range(runs + base_runs):
        # A run that is chosen at this position exceeds all runs before it that are not chosen.
        for chosen in range(min(position, runs - 1), -1, -1):
            exceeded = position - chosen
            if exceeded <= base_runs:
                ways[chosen + 1, exceeded:] += ways[chosen, : pairs + 1 - exceeded]
    below = np.cumsum(ways[runs]) / ways[runs].sum()
    return int((below <= _OUTSIDE).sum()) - 1

"""A permutation test that compares two sets of runs, row by row.

The test assumes no distribution, because the times of runs on a busy machine have long tails.
"""

from __future__ import annotations

from functools import lru_cache
from math import erfc, sqrt
from typing import TYPE_CHECKING, Final

import numpy as np

from profile_analyze.comparison.run_levels import robust_deviation
from profile_analyze.comparison.statistics import by_known_runs
from profile_analyze.model.numbers import quantile_of_runs

if TYPE_CHECKING:
    from typing import TypeAlias

    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.float64]
    Integers: TypeAlias = NDArray[np.int64]

_LIMIT: Final = 1.345
"""The score stops growing at this many robust standard deviations from the median. With this
limit, Huber's estimator keeps 95 % of its efficiency if the noise is normal (Huber, 1964)."""
_STEPS: Final = 20
"""Scores are integers from -20 to 20, so that their sums can be counted exactly."""
_MOST_EXACT: Final = 4_000_000
"""The most additions for one exact distribution, which takes about 10 ms. 36 runs on each side
need 3.7 million additions; larger comparisons get the normal approximation."""


def permutation_test(values: Floats, base: Floats) -> Floats:
    """Return the two-sided p of each row, shape (rows,).

    p is how often chance alone makes a difference at least this large. `values` has shape (rows,
    runs), and `base` has shape (rows, runs of the baseline). Runs with NaN are left out. If fewer
    than `LEAST_RUNS` runs of a side remain, p is NaN.

    Each run gets a score: its distance from the median of both sides together, in robust standard
    deviations, limited to `_LIMIT`. The statistic is the sum of the scores of one side. Under the
    hypothesis that nothing changed, each assignment of the scores to the two sides is equally
    likely. p is the share of assignments whose sum is at least as far from the expected sum as the
    observed sum (Fisher 1935, Pitman 1937). The limit keeps a single odd run from hiding or causing
    a difference.

    Swapping the sides gives the same p. All assignments are counted, so p is exact. For more runs
    than `_MOST_EXACT` allows, the normal distribution with the same variance replaces the count.
    """
    p_values = np.full(len(values), np.nan)
    for rows, ours, theirs in by_known_runs(values, base):
        scores = _scores(np.concatenate([ours, theirs], axis=1))
        # The sums of the two sides are equally far from their means, so one side is enough. The
        # smaller side takes less time.
        count = min(ours.shape[1], theirs.shape[1])
        smaller = slice(count) if ours.shape[1] == count else slice(-count, None)
        sums = scores[:, smaller].sum(axis=1)
        for row, of_row, sum_ in zip(rows.tolist(), np.sort(scores, axis=1), sums, strict=True):
            p_values[row] = _p_value(count, of_row, int(sum_))
    return p_values


def _scores(values: Floats) -> Integers:
    """Return the score of each run within its row, from -`_STEPS` to `_STEPS`.

    `values` has shape (rows, runs) and no NaN. If more than half of the runs are equal, the robust
    standard deviation is 0. The score is then -`_STEPS` below the median, `_STEPS` above the
    median, and 0 at the median.
    """
    distance = values - quantile_of_runs(values, 0.5)[:, np.newaxis]
    unit = _LIMIT * robust_deviation(values)[:, np.newaxis]
    with np.errstate(all="ignore"):
        limited = np.where(unit > 0, np.clip(distance / unit, -1, 1), np.sign(distance))
    scores: Integers = np.rint(limited * _STEPS).astype(np.int64)
    return scores


def _p_value(count: int, scores: Integers, sum_: int) -> float:
    """Return the probability that a random choice of `count` scores has a sum as extreme as `sum_`.

    `scores` has the scores of all runs in ascending order.
    """
    runs = len(scores)
    expected = count * int(scores.sum()) / runs
    if runs * count * count * 2 * _STEPS > _MOST_EXACT:
        return _normal_p_value(count, scores, abs(sum_ - expected))
    # The offset makes all scores 0 or more, which the counting of sums needs.
    offset = -int(scores[0])
    probabilities = _distribution(count, (scores + offset).tobytes())
    # Multiplied by the number of runs, all distances are exact integers.
    sums = np.arange(len(probabilities)) - count * offset
    distances = np.abs(runs * sums - count * int(scores.sum()))
    observed = abs(runs * sum_ - count * int(scores.sum()))
    return min(float(probabilities[distances >= observed].sum()), 1.0)


@lru_cache(maxsize=256)  # needs hashable arguments, so the scores are bytes
def _distribution(count: int, score_bytes: bytes) -> Floats:
    """Return the probability of each sum of `count` scores, if all choices are equally likely."""
    scores = np.frombuffer(score_bytes, np.int64)
    # ways[k, s]: the number of ways to choose k of the scores so far so that their sum is s
    ways = np.zeros((count + 1, int(scores[-count:].sum()) + 1))
    ways[0, 0] = 1.0
    for score in scores.tolist():
        # The two arrays overlap. NumPy reads before it writes, so no score is chosen twice.
        ways[1:, score:] += ways[:-1, : ways.shape[1] - score]
    probabilities: Floats = ways[count] / ways[count].sum()
    return probabilities


def _normal_p_value(count: int, scores: Integers, distance: float) -> float:
    """Approximate p by the normal distribution with the variance of the sum of the scores."""
    runs = len(scores)
    squares = float(((scores - scores.mean()) ** 2).sum())
    deviation = sqrt(count * (runs - count) * squares / (runs * (runs - 1)))
    if deviation == 0:
        return 1.0
    # Continuity correction: sums are integers, and half of their smallest step is 0.5.
    return erfc(max(distance - 0.5, 0.0) / deviation / sqrt(2))

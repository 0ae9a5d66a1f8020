"""The methods that docs/statistics.md compares: verdicts of `--compare`, today and earlier."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
from scipy import stats

from profile_analyze.analysis.row_tests import (
    OperatorTimes,
    RowTests,
    compare_rows,
    limited_times,
)
from profile_analyze.analysis.run_levels import weighted_medians
from profile_analyze.analysis.statistics import (
    FASTER,
    SAME,
    SIGNIFICANT,
    SLOWER,
    UNCERTAIN,
    VERDICTS,
    adjusted,
)
from profile_analyze.analysis.verdicts import runs_needed, verdict_codes
from profile_analyze.model.numbers import ratio

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.float64]
    Integers: TypeAlias = NDArray[np.int64]
    Ends: TypeAlias = tuple[Floats, Floats]

THRESHOLD: Final = 0.03
IS_FASTER, IS_SLOWER, IS_SAME, IS_UNCERTAIN = (
    VERDICTS.index(one) for one in (FASTER, SLOWER, SAME, UNCERTAIN)
)
_RESAMPLES: Final = 2000


class Method(NamedTuple):
    """A way to judge comparisons. `row` has the row of each operator, as in `compare_rows`."""

    name: str
    codes: Callable[[OperatorTimes, Integers], Integers]
    """Returns the verdicts as indices in `VERDICTS`, shape (rows,)."""
    interval: Callable[[OperatorTimes, Integers], Ends]
    """Returns the ends of the confidence intervals of the ratios, shape (rows,) each."""
    without_drift: Callable[[OperatorTimes], OperatorTimes]
    """Returns the comparison as `--correct-drift` changes it."""


def now(operators: OperatorTimes, row: Integers) -> Integers:
    """Judge as `--compare` does."""
    tests, ratios = _tests(operators, row)
    return verdict_codes(tests, ratios, THRESHOLD)


def now_with_needed(operators: OperatorTimes, row: Integers) -> tuple[Integers, Floats]:
    """Return the verdicts of `now`, and how many runs would settle each uncertain row."""
    tests, ratios = _tests(operators, row)
    codes = verdict_codes(tests, ratios, THRESHOLD)
    runs = operators.runs, operators.times_s.shape[1] - operators.runs
    with np.errstate(invalid="ignore"):  # a ratio to 0 s and its interval are infinite
        return codes, runs_needed(tests, codes, runs, THRESHOLD)


def _now_interval(operators: OperatorTimes, row: Integers) -> Ends:
    """Return the intervals that tables show. They always include the ratio of the medians."""
    tests, ratios = _tests(operators, row)
    return np.fmin(np.exp(tests.own.low), ratios), np.fmax(np.exp(tests.own.high), ratios)


def _tests(operators: OperatorTimes, row: Integers) -> tuple[RowTests, Floats]:
    def own_times(times_s: Floats) -> Floats:
        limited_s = _times_of_rows(limited_times(times_s), row)
        is_group = np.bincount(row) > 1
        return np.where(is_group[:, np.newaxis], limited_s, _times_of_rows(times_s, row))

    ratios = _ratios(operators, _times_of_rows(operators.times_s, row))
    return compare_rows(operators, row, own_times), ratios


def _times_of_rows(times_s: Floats, row: Integers) -> Floats:
    sums = np.zeros((int(row.max()) + 1, times_s.shape[1]))
    np.add.at(sums, row, times_s)
    return sums


def _ratios(operators: OperatorTimes, times_s: Floats) -> Floats:
    ours, theirs = operators.split(times_s)
    return ratio(np.median(ours, axis=1), np.median(theirs, axis=1))


def _as_measured(operators: OperatorTimes) -> OperatorTimes:
    """Return the comparison unchanged: `--correct-drift` does not change verdicts."""
    return operators


def previous(operators: OperatorTimes, row: Integers) -> Integers:
    """Judge as `--compare` did before: by own times, ranks, and a bootstrap interval.

    `same` is not distinguished from `uncertain`.
    """
    times_s = _times_of_rows(operators.times_s, row)
    ratios = _ratios(operators, times_s)
    corrected = adjusted(rank_sum_test(*operators.split(times_s)))
    codes = np.full(len(times_s), IS_UNCERTAIN)
    # Intervals take long, and only these rows can be slower or faster.
    rows = np.flatnonzero(corrected <= SIGNIFICANT)
    low, high = _bootstrap(*operators.split(times_s[rows]))
    codes[rows[(low > 1) & (ratios[rows] >= 1 + THRESHOLD)]] = IS_SLOWER
    codes[rows[(high < 1) & (ratios[rows] <= 1 / (1 + THRESHOLD))]] = IS_FASTER
    return codes


def rank_sum_test(ours: Floats, theirs: Floats) -> Floats:
    """Return the two-sided p of the rank sum of each row (Mann and Whitney, 1947).

    All assignments of the ranks to the two sides are counted. Equal times share their mean rank.
    """
    count = ours.shape[1]
    ranks = stats.rankdata(np.concatenate([ours, theirs], axis=1), axis=1)
    doubled = np.rint(2 * ranks).astype(np.int64)  # integers, so that sums are exact
    expected = count * (doubled.shape[1] + 1)
    distances = np.abs(doubled[:, :count].sum(axis=1) - expected)
    ascending = np.sort(doubled, axis=1)
    p_values = [
        _tails(count, of_row.tobytes())[distance]
        for of_row, distance in zip(ascending, distances.tolist(), strict=True)
    ]
    return np.minimum(np.array(p_values, np.float64), 1.0)


@lru_cache(maxsize=4096)  # needs hashable arguments, so the ranks are bytes
def _tails(count: int, rank_bytes: bytes) -> Floats:
    """Return p for each distance of the sum of `count` doubled ranks from its expected value."""
    ranks = np.frombuffer(rank_bytes, np.int64)
    # ways[k, s]: the number of ways to choose k of the ranks so far so that their sum is s
    ways = np.zeros((count + 1, int(ranks[-count:].sum()) + 1))
    ways[0, 0] = 1.0
    for rank in ranks.tolist():
        ways[1:, rank:] += ways[:-1, : ways.shape[1] - rank]
    distances = np.abs(np.arange(ways.shape[1]) - count * (len(ranks) + 1))
    tails: Floats = np.bincount(distances, ways[count])[::-1].cumsum()[::-1] / ways[count].sum()
    return tails


def _previous_interval(operators: OperatorTimes, row: Integers) -> Ends:
    return _bootstrap(*operators.split(_times_of_rows(operators.times_s, row)))


def _bootstrap(ours: Floats, theirs: Floats) -> Ends:
    """Return the middle 95 % of the ratios of resampled medians, with a fixed seed."""
    generator = np.random.default_rng(2166)
    medians = [
        np.median(np.sort(side)[:, generator.integers(side.shape[1], size=(_RESAMPLES, count))], -1)
        for side, count in ((ours, ours.shape[1]), (theirs, theirs.shape[1]))
    ]
    low, high = np.quantile(ratio(*medians), [0.025, 0.975], axis=1)
    return low, high


def _previous_without_drift(operators: OperatorTimes) -> OperatorTimes:
    """Divide each run by the median ratio of its operators, weighted by their times."""
    medians_s = np.median(operators.times_s, axis=1)
    usable = medians_s > 0
    ratios = operators.times_s[usable] / medians_s[usable, np.newaxis]
    factors = weighted_medians(ratios, medians_s[usable])
    return operators._replace(times_s=operators.times_s / (factors / np.median(factors)))


def by_means(operators: OperatorTimes, row: Integers) -> Integers:
    """Judge by the ratio of the means alone, which must reach the threshold."""
    ours, theirs = operators.split(_times_of_rows(operators.times_s, row))
    ratios = ratio(ours.mean(axis=1), theirs.mean(axis=1))
    codes = np.full(len(ratios), IS_UNCERTAIN)
    codes[ratios >= 1 + THRESHOLD] = IS_SLOWER
    codes[ratios <= 1 / (1 + THRESHOLD)] = IS_FASTER
    return codes


METHODS: Final = (
    Method("now", now, _now_interval, _as_measured),
    Method("before", previous, _previous_interval, _previous_without_drift),
)

"""Whether two sets of measurements differ. A run is the unit; nothing is assumed of its values.

Runs on a busy machine have long tails, so that all of it is by ranks and medians.
"""

from __future__ import annotations

from functools import lru_cache
from math import comb, erfc, sqrt
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from profile_analyze.model.numbers import quantile_of_runs, ratio

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import TypeAlias

    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.float64]

LEAST_RUNS: Final = 4
"""With fewer runs on a side nothing is called a change: three against three cannot give p < 0.1."""

SIGNIFICANT: Final = 0.05
"""What p may be at most, after the correction for the number of rows, where a change is called."""

CONFIDENCE: Final = 0.95
RESAMPLES: Final = 2000
_SEED: Final = 20201120
_EXACT_RUNS: Final = 32
_VALUES_AT_ONCE: Final = 1 << 22

FASTER: Final = "faster"
SLOWER: Final = "slower"
SAME: Final = "same"
UNCERTAIN: Final = "uncertain"
VERDICTS: Final = (FASTER, SLOWER, SAME, UNCERTAIN)


def permutation_test(values: Floats, base: Floats) -> Floats:
    """Shape (rows,): how often chance alone sets two such sets of runs apart as far: p, two-sided.

    `values` has shape (rows, runs), `base` (rows, runs of the base); NaN is left out. The statistic
    is the sum of the ranks of `values` among both, as in the test of Wilcoxon (1945) and of Mann
    and Whitney (1947), with the mean rank for ties. Its distribution over all ways to deal the
    runs out to the two sides is worked out exactly, for the ties that a row has; with more than
    32 runs in all it is taken for normal, with the variance that the ties leave. NaN with fewer
    than `LEAST_RUNS` on a side.
    """
    found = np.full(len(values), np.nan)
    for rows, ours, theirs in _by_known_runs(values, base):
        ranks = _doubled_ranks(np.concatenate([ours, theirs], axis=1))
        count = ours.shape[1]
        sums = ranks[:, :count].sum(axis=1)
        ascending = np.sort(ranks, axis=1)
        patterns: dict[bytes, list[int]] = {}
        for place, pattern in enumerate(ascending):
            patterns.setdefault(pattern.tobytes(), []).append(place)
        for pattern_bytes, places in patterns.items():
            found[rows[places]] = _tails(count, pattern_bytes, sums[places])
    return found


def least_p(runs: int, base_runs: int) -> float:
    """The least p that so many runs on each side can have, which no overlap and no ties give."""
    return 2 / comb(runs + base_runs, runs)


def _by_known_runs(
    values: Floats, base: Floats
) -> Iterator[tuple[NDArray[np.int64], Floats, Floats]]:
    """The rows with equal numbers of known runs together: their places, and the known values.

    The values are in ascending order. Rows with too few runs are left out.
    """
    ours, theirs = np.sort(values, axis=1), np.sort(base, axis=1)  # NaN comes last
    counts = (~np.isnan(ours)).sum(axis=1) * (base.shape[1] + 1) + (~np.isnan(theirs)).sum(axis=1)
    for count in sorted(set(counts.tolist())):
        n, m = divmod(count, base.shape[1] + 1)
        if min(n, m) >= LEAST_RUNS:
            rows = np.flatnonzero(counts == count)
            yield rows, ours[rows, :n], theirs[rows, :m]


def _doubled_ranks(values: Floats) -> NDArray[np.int64]:
    """Twice the rank of each value in its row, counted from 1: ties have the mean of theirs."""
    runs = values.shape[1]
    order = np.argsort(values, axis=1, kind="stable")
    ascending = np.take_along_axis(values, order, axis=1)
    place = np.broadcast_to(np.arange(runs), values.shape)
    differs = ascending[:, 1:] != ascending[:, :-1]
    starts, ends = np.zeros(values.shape, np.int64), np.full(values.shape, runs - 1)
    starts[:, 1:] = np.where(differs, place[:, 1:], 0)
    ends[:, :-1] = np.where(differs, place[:, :-1], runs - 1)
    first = np.maximum.accumulate(starts, axis=1)
    last = np.minimum.accumulate(ends[:, ::-1], axis=1)[:, ::-1]
    ranks = np.empty(values.shape, np.int64)
    np.put_along_axis(ranks, order, first + last + 2, axis=1)
    return ranks


def _tails(count: int, pattern: bytes, sums: NDArray[np.int64]) -> Floats:
    """How likely a sum of `count` of the ranks is as far from the expected one as each of `sums`.

    `pattern` holds all ranks, doubled, in ascending order.
    """
    ranks = np.frombuffer(pattern, np.int64)
    expected = count * (len(ranks) + 1)  # of doubled ranks
    apart = np.abs(sums - expected)
    if len(ranks) > _EXACT_RUNS:
        return _normal_tails(count, ranks, apart)
    likely = _distribution(count, pattern)
    distance = np.abs(np.arange(len(likely)) - expected)
    at_least: Floats = np.bincount(distance, likely)[::-1].cumsum()[::-1]
    return np.minimum(at_least[apart], 1.0)


@lru_cache(maxsize=256)
def _distribution(count: int, pattern: bytes) -> Floats:
    """How likely each sum of `count` of the ranks is, if all choices of ranks are equally so.

    By adding rank after rank: `ways[k, s]` is in how many ways k of those so far have the sum s.
    """
    ranks = np.frombuffer(pattern, np.int64)
    ways = np.zeros((count + 1, int(ranks[-count:].sum()) + 1))
    ways[0, 0] = 1.0
    for rank in ranks.tolist():
        ways[1:, rank:] += ways[:-1, : ways.shape[1] - rank].copy()
    likely: Floats = ways[count] / ways[count].sum()
    return likely


def _normal_tails(count: int, ranks: NDArray[np.int64], apart: NDArray[np.int64]) -> Floats:
    """As `_tails`, by the normal distribution with the variance of the ranks as they are."""
    runs = len(ranks)
    squares = float(((ranks - ranks.mean()) ** 2).sum())
    deviation = sqrt(count * (runs - count) * squares / (runs * (runs - 1)))
    if deviation == 0:
        return np.ones(len(apart))
    # two doubled ranks are the least by which sums without ties differ: half of it is the step
    return np.array([erfc(max(one - 1, 0) / deviation / sqrt(2)) for one in apart.tolist()])


def adjusted(p_values: Floats) -> Floats:
    """Shape (rows,): p after the correction for asking of many rows at once; NaN stays, uncounted.

    The step-up procedure of Benjamini and Hochberg (1995): of the rows with an adjusted p of at
    most 0.05, one in twenty is there by chance, on average.
    """
    found = np.full(len(p_values), np.nan)
    rows = np.flatnonzero(~np.isnan(p_values))
    descending = rows[np.argsort(-p_values[rows], kind="stable")]
    rank = np.arange(len(rows), 0, -1)
    scaled = np.minimum(p_values[descending] * len(rows) / rank, 1)
    found[descending] = np.minimum.accumulate(scaled)
    return found


class Interval(NamedTuple):
    """Between what and what something lies, shape (rows,) each; NaN is N/A."""

    low: Floats
    high: Floats


def ratio_interval(values: Floats, base: Floats) -> Interval:
    """The 95 % interval of median of `values` / median of `base`, by the percentile bootstrap.

    Both sides' runs are drawn anew 2,000 times, each time as many as there are, with a fixed seed
    (Efron, 1979). NaN with fewer than `LEAST_RUNS` on a side, and where a drawn base is 0.
    """
    low, high = np.full(len(values), np.nan), np.full(len(values), np.nan)
    for rows, ours, theirs in _by_known_runs(values, base):
        generator = np.random.default_rng(_SEED)
        drawn, base_drawn = (_drawn_medians(generator, one.shape[1]) for one in (ours, theirs))
        step = max(_VALUES_AT_ONCE // RESAMPLES, 1)
        for start in range(0, len(rows), step):
            part = slice(start, start + step)
            medians = _medians(ours[part], drawn)
            base_medians = _medians(theirs[part], base_drawn)
            ratios = ratio(medians, base_medians)
            ratios[np.isnan(ratios).any(axis=1)] = np.nan  # where the base may be 0
            low[rows[part]] = quantile_of_runs(ratios, (1 - CONFIDENCE) / 2)
            high[rows[part]] = quantile_of_runs(ratios, (1 + CONFIDENCE) / 2)
    return Interval(low, high)


def median_interval(values: Floats) -> Interval:
    """The 95 % interval of the median of `values`, shape (rows, runs); see `ratio_interval`."""
    return ratio_interval(values, np.ones((len(values), LEAST_RUNS)))


def _drawn_medians(
    generator: np.random.Generator, runs: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Shape (resamples,) each: which two runs, in ascending order, have the median between them.

    Which they are does not depend on the values, so that all rows can share one drawing.
    """
    drawn = np.sort(generator.integers(runs, size=(RESAMPLES, runs)), axis=1)
    return drawn[:, (runs - 1) // 2], drawn[:, runs // 2]


def _medians(ascending: Floats, drawn: tuple[NDArray[np.int64], NDArray[np.int64]]) -> Floats:
    below, above = drawn
    return ascending[:, below] / 2 + ascending[:, above] / 2  # the sum may be beyond all numbers


def verdict_codes(
    ratios: Floats, q: Floats, interval: Interval, threshold: float
) -> NDArray[np.int64]:
    """Shape (rows,): which of `VERDICTS` is true of each ratio; -1 where there is no telling.

    `q` is p after correction. A change is called where the interval leaves 1 out, q is at most
    `SIGNIFICANT`, and the ratio is at least 1 + `threshold` or at most its inverse. `same` is what
    lies within these bounds with its whole interval. Without an interval nothing is certain.
    """
    above, below = 1 + threshold, 1 / (1 + threshold)
    is_known = ~np.isnan(ratios + q)
    is_change = (q <= SIGNIFICANT) & ~np.isnan(interval.low + interval.high)
    found = np.full(len(ratios), VERDICTS.index(UNCERTAIN))
    found[(interval.low >= below) & (interval.high <= above)] = VERDICTS.index(SAME)
    found[is_change & (interval.low > 1) & (ratios >= above)] = VERDICTS.index(SLOWER)
    found[is_change & (interval.high < 1) & (ratios <= below)] = VERDICTS.index(FASTER)
    return np.where(is_known, found, -1)

"""Statistical tests that compare two sets of runs by ranks and medians.

The tests assume no distribution, because the times of runs on a busy machine have long tails.
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
"""The fewest runs of each side for a verdict. Three runs against three never give p < 0.1."""

SUGGESTED_RUNS: Final = 8
"""The number of runs of each side that messages advise: enough to detect 10 % in most totals."""

SIGNIFICANT: Final = 0.05
"""A row counts as changed if its p, corrected for the number of rows, is at most this."""

CONFIDENCE: Final = 0.95
RESAMPLES: Final = 2000
"""The number of bootstrap samples for a confidence interval."""
_SEED: Final = 20201120
"""An arbitrary constant, so that the same profiles always give the same intervals."""
_EXACT_RUNS: Final = 32
"""The distribution of ranks is computed exactly for up to this many runs, counted on both sides
together. For more runs, the normal distribution is close enough and faster."""
_VALUES_AT_ONCE: Final = 1 << 22
"""The most bootstrap values in one array. It then takes 32 MiB."""

FASTER: Final = "faster"
SLOWER: Final = "slower"
SAME: Final = "same"
UNCERTAIN: Final = "uncertain"
VERDICTS: Final = (FASTER, SLOWER, SAME, UNCERTAIN)


def permutation_test(values: Floats, base: Floats) -> Floats:
    """Return the two-sided p of each row, shape (rows,).

    p is how often chance alone makes a difference at least this large. `values` has shape (rows,
    runs), and `base` has shape (rows, runs of the baseline). Runs with NaN are left out. If fewer
    than `LEAST_RUNS` runs of a side remain, p is NaN.

    The test ranks the runs of both sides together, and tied runs get their mean rank. The statistic
    is the sum of the ranks of `values`, as in the tests of Wilcoxon (1945) and of Mann and Whitney
    (1947). Its exact distribution counts all ways to assign the runs to the two sides. With more
    than 32 runs in all, the normal distribution with the tie-corrected variance replaces it.
    """
    p_values = np.full(len(values), np.nan)
    for rows, ours, theirs in _by_known_runs(values, base):
        ranks = _doubled_ranks(np.concatenate([ours, theirs], axis=1))
        count = ours.shape[1]
        sums = ranks[:, :count].sum(axis=1)
        # Rows with the same sorted ranks have the same distribution, which is slow to compute.
        by_ties: dict[bytes, list[int]] = {}
        for index, ascending in enumerate(np.sort(ranks, axis=1)):
            by_ties.setdefault(ascending.tobytes(), []).append(index)
        for rank_bytes, indices in by_ties.items():
            p_values[rows[indices]] = _tails(count, rank_bytes, sums[indices])
    return p_values


def too_few_runs(noun: str, runs: int, base_runs: int | None = None) -> str:
    """Return which side has too few runs for a verdict; empty if no side has too few.

    `noun` is the plural of what counts as a run. `base_runs` is None without a baseline.
    """
    if runs >= LEAST_RUNS and (base_runs is None or base_runs >= LEAST_RUNS):
        return ""
    of_required = f"of the {LEAST_RUNS} required {noun}"
    if base_runs is None or base_runs >= LEAST_RUNS:
        return f"only {runs} {of_required}"
    if runs >= LEAST_RUNS:
        return f"only {base_runs} {of_required} of the baseline"
    if runs == base_runs:
        return f"only {runs} {of_required} on each side"
    return f"only {runs} {of_required}, and {base_runs} of the baseline"


def least_p(runs: int, base_runs: int) -> float:
    """Return the smallest p that is possible with these numbers of runs on the two sides.

    This p occurs if every run of one side is faster than every run of the other side.
    """
    return 2 / comb(runs + base_runs, runs)


def _by_known_runs(
    values: Floats, base: Floats
) -> Iterator[tuple[NDArray[np.int64], Floats, Floats]]:
    """Group the rows by their two numbers of known runs, such as 5 against 4; yield each group.

    A group is the indices of its rows, the known values of `values`, and the known values of
    `base`. The values of each row are in ascending order. Rows with fewer than `LEAST_RUNS` known
    runs on a side are left out.
    """
    ours, theirs = np.sort(values, axis=1), np.sort(base, axis=1)  # NaN comes last
    # One number encodes both counts of a row; `divmod` decodes it.
    counts = (~np.isnan(ours)).sum(axis=1) * (base.shape[1] + 1) + (~np.isnan(theirs)).sum(axis=1)
    for count in sorted(set(counts.tolist())):
        n, m = divmod(count, base.shape[1] + 1)
        if min(n, m) >= LEAST_RUNS:
            rows = np.flatnonzero(counts == count)
            yield rows, ours[rows, :n], theirs[rows, :m]


def _doubled_ranks(values: Floats) -> NDArray[np.int64]:
    """Return twice the rank of each value within its row. Tied values get their mean rank.

    For example, the values 5, 7 and 7 get 2, 5 and 5. Doubled ranks are integers, so their sums are
    exact.
    """
    runs = values.shape[1]
    order = np.argsort(values, axis=1, kind="stable")
    ascending = np.take_along_axis(values, order, axis=1)
    index = np.broadcast_to(np.arange(runs), values.shape)
    differs = ascending[:, 1:] != ascending[:, :-1]
    # For each value: the first and the last index of the values that are equal to it.
    starts, ends = np.zeros(values.shape, np.int64), np.full(values.shape, runs - 1)
    starts[:, 1:] = np.where(differs, index[:, 1:], 0)
    ends[:, :-1] = np.where(differs, index[:, :-1], runs - 1)
    first = np.maximum.accumulate(starts, axis=1)
    last = np.minimum.accumulate(ends[:, ::-1], axis=1)[:, ::-1]
    ranks = np.empty(values.shape, np.int64)
    np.put_along_axis(ranks, order, first + last + 2, axis=1)
    return ranks


def _tails(count: int, rank_bytes: bytes, sums: NDArray[np.int64]) -> Floats:
    """Return the two-sided p of each of `sums`, in the same shape.

    `count` ranks are chosen at random. p is the probability that their sum is at least as far from
    its mean as the given sum. `rank_bytes` holds all doubled ranks in ascending order.
    """
    ranks = np.frombuffer(rank_bytes, np.int64)
    expected = count * (len(ranks) + 1)  # the mean sum of doubled ranks
    distances = np.abs(sums - expected)
    if len(ranks) > _EXACT_RUNS:
        return _normal_tails(count, ranks, distances)
    probabilities = _distribution(count, rank_bytes)
    distance_of_sum = np.abs(np.arange(len(probabilities)) - expected)
    at_least: Floats = np.bincount(distance_of_sum, probabilities)[::-1].cumsum()[::-1]
    return np.minimum(at_least[distances], 1.0)


@lru_cache(maxsize=256)  # needs hashable arguments, so the ranks are bytes
def _distribution(count: int, rank_bytes: bytes) -> Floats:
    """Return the probability of each sum of `count` ranks, if all choices are equally likely."""
    ranks = np.frombuffer(rank_bytes, np.int64)
    # ways[k, s]: the number of ways to choose k of the ranks so far so that their sum is s
    ways = np.zeros((count + 1, int(ranks[-count:].sum()) + 1))
    ways[0, 0] = 1.0
    for rank in ranks.tolist():
        # The two arrays overlap. NumPy reads before it writes, so no rank is chosen twice.
        ways[1:, rank:] += ways[:-1, : ways.shape[1] - rank]
    probabilities: Floats = ways[count] / ways[count].sum()
    return probabilities


def _normal_tails(count: int, ranks: NDArray[np.int64], distances: NDArray[np.int64]) -> Floats:
    """Approximate `_tails` by the normal distribution with the variance of these `ranks`."""
    runs = len(ranks)
    squares = float(((ranks - ranks.mean()) ** 2).sum())
    deviation = sqrt(count * (runs - count) * squares / (runs * (runs - 1)))
    if deviation == 0:
        return np.ones(len(distances))
    # Continuity correction: without ties, sums of doubled ranks differ by 2, and half of that is 1.
    return np.array(
        [erfc(max(distance - 1, 0) / deviation / sqrt(2)) for distance in distances.tolist()]
    )


def adjusted(p_values: Floats) -> Floats:
    """Return p corrected for the number of rows, shape (rows,). NaN stays NaN and is not counted.

    This is the step-up procedure of Benjamini and Hochberg (1995). Take the rows whose corrected p
    is at most 0.05: on average, at most one in twenty of them differs only by chance.
    """
    corrected = np.full(len(p_values), np.nan)
    rows = np.flatnonzero(~np.isnan(p_values))
    descending = rows[np.argsort(-p_values[rows], kind="stable")]
    rank = np.arange(len(rows), 0, -1)  # the largest p has the highest rank
    scaled = np.minimum(p_values[descending] * len(rows) / rank, 1)
    corrected[descending] = np.minimum.accumulate(scaled)
    return corrected


class Interval(NamedTuple):
    """A confidence interval for each row. Both arrays have shape (rows,); NaN is N/A."""

    low: Floats
    high: Floats


def ratio_interval(values: Floats, base: Floats) -> Interval:
    """Return the 95 % confidence interval of median(`values`) / median(`base`) for each row.

    This is the percentile bootstrap (Efron, 1979): the runs of both sides are resampled 2,000 times
    with a fixed seed. A row has no interval (NaN) if a side has fewer than `LEAST_RUNS` known runs,
    or if a resampled median of `base` is 0.
    """
    low, high = np.full(len(values), np.nan), np.full(len(values), np.nan)
    for rows, ours, theirs in _by_known_runs(values, base):
        # A new generator for each group of rows, so that no row depends on the other rows.
        generator = np.random.default_rng(_SEED)
        drawn, base_drawn = (
            _resampled_medians(generator, known.shape[1]) for known in (ours, theirs)
        )
        step = max(_VALUES_AT_ONCE // RESAMPLES, 1)
        for start in range(0, len(rows), step):
            part = slice(start, start + step)
            ratios = ratio(_medians(ours[part], drawn), _medians(theirs[part], base_drawn))
            # If a resampled base median is 0, the ratio is unbounded, so the row has no interval.
            ratios[np.isnan(ratios).any(axis=1)] = np.nan
            low[rows[part]] = quantile_of_runs(ratios, (1 - CONFIDENCE) / 2)
            high[rows[part]] = quantile_of_runs(ratios, (1 + CONFIDENCE) / 2)
    return Interval(low, high)


def median_interval(values: Floats) -> Interval:
    """Return the 95 % confidence interval of the median of `values`, shape (rows, runs)."""
    # With a baseline of 1 in each run, the ratio is the median itself.
    return ratio_interval(values, np.ones((len(values), LEAST_RUNS)))


def _resampled_medians(
    generator: np.random.Generator, runs: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Draw the resamples, and return the two middle runs of each one, shape (resamples,) each.

    Runs are numbered in ascending order of their values, so that rows with the same number of runs
    can share the resamples. With an odd number of runs, both middle runs are the same.
    """
    drawn = np.sort(generator.integers(runs, size=(RESAMPLES, runs)), axis=1)
    return drawn[:, (runs - 1) // 2], drawn[:, runs // 2]


def _medians(ascending: Floats, drawn: tuple[NDArray[np.int64], NDArray[np.int64]]) -> Floats:
    below, above = drawn
    return ascending[:, below] / 2 + ascending[:, above] / 2  # halved first: the sum may overflow


def verdict_codes(
    ratios: Floats, q: Floats, interval: Interval, threshold: float
) -> NDArray[np.int64]:
    """Return the index in `VERDICTS` for each row, shape (rows,); -1 if the ratio or `q` is N/A.

    `q` is the corrected p.

    - `slower` and `faster`: q is at most `SIGNIFICANT`, the interval excludes 1, and the ratio is
      at least 1 + `threshold` or at most 1 / (1 + `threshold`).
    - `same`: the whole interval is between 1 / (1 + `threshold`) and 1 + `threshold`.
    - `uncertain`: all other rows, such as a row without an interval.
    """
    above, below = 1 + threshold, 1 / (1 + threshold)
    is_known = ~np.isnan(ratios + q)
    is_change = (q <= SIGNIFICANT) & ~np.isnan(interval.low + interval.high)
    # Later assignments overwrite earlier ones, so a significant change exactly at the threshold is
    # `slower` or `faster`, not `same`.
    codes = np.full(len(ratios), VERDICTS.index(UNCERTAIN))
    codes[(interval.low >= below) & (interval.high <= above)] = VERDICTS.index(SAME)
    codes[is_change & (interval.low > 1) & (ratios >= above)] = VERDICTS.index(SLOWER)
    codes[is_change & (interval.high < 1) & (ratios <= below)] = VERDICTS.index(FASTER)
    return np.where(is_known, codes, -1)

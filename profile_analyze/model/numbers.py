"""Arithmetic in which any result that is not a finite number is N/A (NaN)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from profile_analyze.large_arrays import blocks_of_rows, blocks_of_runs, run_by_run

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

_ADDED_AT_ONCE: Final = 1 << 22
"""How many values are added at once, because exact sums take several times the memory."""
QUANTILES: Final = {"min": 0.0, "median": 0.5, "max": 1.0}
_FEW_RANKS: Final = 8
"""If at most this many ranks of a row are needed, `np.partition` is faster than `np.sort`."""


def floats(values: Iterable[float]) -> NDArray[np.float64]:
    """Return an array of `values`."""
    return np.array([*values], np.float64)


def finite(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return `values` with NaN instead of infinite values, which no measurement can have."""
    is_infinite = np.isinf(values)
    # Hardly any array has infinite values. All other arrays need no copy, which may be large.
    return np.where(is_infinite, np.nan, values) if is_infinite.any() else values


def difference(
    minuend: NDArray[np.float64], subtrahend: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return `minuend - subtrahend`; NaN where the result is not finite."""
    with np.errstate(all="ignore"):
        return finite(minuend - subtrahend)


def ratio(
    numerator: NDArray[np.float64], denominator: NDArray[np.float64] | float
) -> NDArray[np.float64]:
    """Return `numerator / denominator`; NaN where the result is not finite."""
    with np.errstate(all="ignore"):
        return finite(np.divide(numerator, denominator))


def exact_sums(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sums over the first axis, as if added exactly and rounded once.

    So the order of the values does not matter. They must not have NaN. A sum that is too large is
    NaN.
    """
    if values.ndim > 1 and values.size > _ADDED_AT_ONCE and values.shape[-1] > 1:
        half = values.shape[-1] // 2
        parts = values[..., :half], values[..., half:]
        return np.concatenate([*map(exact_sums, parts)], axis=-1)
    # Pairs are added level by level. `low` has what is lost when the sums are rounded (Knuth's
    # TwoSum), so the sums have twice the digits.
    with np.errstate(all="ignore"):
        high, low = values, np.zeros(values.shape)
        while len(high) > 1:
            half = len(high) // 2
            one, other, rest = high[:half], high[half : 2 * half], high[2 * half :]
            sums = one + other
            part = sums - one
            lost = (one - (sums - part)) + (other - part) + low[:half] + low[half : 2 * half]
            rounded = sums + lost
            low = np.concatenate([lost - (rounded - sums), low[2 * half :]])
            high = np.concatenate([rounded, rest])
        return finite((high + low).sum(axis=0))  # one value, or none


def exact_total(values: NDArray[np.float64]) -> float:
    """Return what `total` returns, but so that the order of the values does not matter."""
    known = values[~np.isnan(values)]
    return float(exact_sums(known)) if len(known) else np.nan


def total(values: NDArray[np.float64]) -> float:
    """Return the sum of the known values; NaN if none is known, or if the sum is infinite."""
    known = values[~np.isnan(values)]
    with np.errstate(all="ignore"):
        sum_ = float(np.sum(known)) if len(known) else np.nan
    return sum_ if np.isfinite(sum_) else np.nan


def any_known(values: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return whether any value of each run is known, shape (runs,), from shape (rows, runs)."""
    result = np.empty(values.shape[1], np.bool_)
    for runs, (block,) in blocks_of_runs(values):
        result[runs] = (~np.isnan(block)).any(axis=0)
    return result


def totals(values: NDArray[np.float64], *, is_joined: bool = False) -> NDArray[np.float64]:
    """Return the total of each run, shape (runs,), from `values` of shape (rows, runs).

    `is_joined` says whether the rows are of several files. The order of the files does not matter.
    """
    # For a single run of a file, `total` gives the same last digits as the original tool (see
    # docs/compatibility.md).
    if values.shape[1] == 1 and not is_joined:
        return np.array([total(values[:, 0])])
    result: NDArray[np.float64] = run_by_run(_totals, values)[0]
    return result


def _totals(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the exact totals, shape (1, runs)."""
    known = ~np.isnan(values)
    sums = exact_sums(np.where(known, values, 0.0))
    return np.where(known.any(axis=0), sums, np.nan)[np.newaxis]


def over_runs(values: NDArray[np.float64], statistic: str) -> NDArray[np.float64]:
    """Return a statistic over the runs, shape (rows,), from `values` of shape (rows, runs).

    `statistic` is one of `columns.column.RUN_STATISTICS`. NaN is left out.
    """
    if values.shape[1] == 1:
        return values[:, 0]
    if statistic in QUANTILES:
        return quantile_of_runs(values, QUANTILES[statistic])
    return np.concatenate([_mean(block) for (block,) in blocks_of_rows(values)])


def totals_of_chosen(
    values: NDArray[np.float64], chosen: NDArray[np.bool_], whole: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the total of the chosen rows in each run, shape (runs,); 0 if no row is chosen.

    `values` has shape (rows, runs), and `chosen` has shape (rows,). `whole` has the total of all
    rows in each run, and the result is NaN where `whole` is NaN.
    """

    def of_block(block: NDArray[np.float64]) -> NDArray[np.float64]:
        in_block = np.where(chosen[:, np.newaxis], block, 0.0)
        return totals(in_block, is_joined=values.shape[1] > 1)[np.newaxis]

    return np.where(np.isnan(whole), np.nan, run_by_run(of_block, values)[0])


def _mean(values: NDArray[np.float64]) -> NDArray[np.float64]:
    known = ~np.isnan(values)
    return ratio(exact_sums(np.where(known, values, 0.0).T), known.sum(axis=1))


def quantile_of_runs(values: NDArray[np.float64], share: float) -> NDArray[np.float64]:
    """Return a quantile over the runs, shape (rows,), from `values` of shape (rows, runs).

    NaN is left out. Quantiles are interpolated linearly between neighbours, like the percentiles of
    groups.
    """
    return np.concatenate([_quantile(block, share) for (block,) in blocks_of_rows(values)])


def median(values: NDArray[np.float64]) -> float:
    """Return the median of `values`, shape (1, runs); NaN without any known value."""
    return float(quantile_of_runs(values, 0.5)[0]) if values.shape[1] else np.nan


def _quantile(values: NDArray[np.float64], share: float) -> NDArray[np.float64]:
    # `np.nanquantile` calls Python code for each row, which is slow for many rows.
    # If a row has only NaN, `last` is 0 and the result is the NaN at index 0.
    last = np.maximum((~np.isnan(values)).sum(axis=1) - 1, 0)
    position = last * share
    below = np.floor(position).astype(np.int64)
    above = np.minimum(below + 1, last)
    weight = position - below
    ascending = _sorted_at(values, {*below.tolist(), *above.tolist()})
    row = np.arange(len(values))
    low, high = ascending[row, below], ascending[row, above]
    with np.errstate(all="ignore"):
        return finite(low + (high - low) * weight)


def _sorted_at(values: NDArray[np.float64], ranks: set[int]) -> NDArray[np.float64]:
    """Sort each row, with NaN last. With few `ranks`, only these indices have the right values."""
    lowest, highest = min(ranks, default=0), max(ranks, default=0)
    if highest - lowest == 1:  # as for the median of an even number of runs
        # For one rank, NumPy has a method that is several times as fast as its method for two.
        result = np.partition(values, lowest, axis=1)
        result[:, highest] = np.fmin.reduce(result[:, highest:], axis=1)
        return result
    if 0 < len(ranks) <= _FEW_RANKS:
        return np.partition(values, sorted(ranks), axis=1)  # a few times as fast as sorting
    return np.sort(values, axis=1)


def spread_of_runs(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return half the interquartile range divided by the median, shape (rows,).

    `values` has shape (rows, runs). The spread is NaN with fewer than two known values.
    """
    return np.concatenate([_spread(block) for (block,) in blocks_of_rows(values)])


class Spread(NamedTuple):
    """How much a number varies from run to run, as fractions of its median. NaN is N/A."""

    value: float = np.nan
    """Half the interquartile range: see `spread_of_runs`."""
    low: float = np.nan
    """The lower quartile minus the median. Half of the runs are from `low` to `high`."""
    high: float = np.nan
    """The upper quartile minus the median."""

    @classmethod
    def of(cls, values: NDArray[np.float64]) -> Spread:
        """Return the spread of `values`, shape (runs,); N/A with fewer than two known values."""
        rows = values[np.newaxis]
        value = float(spread_of_runs(rows)[0])
        if np.isnan(value):
            return cls()
        low, middle, high = (quantile_of_runs(rows, quarters / 4) for quarters in (1, 2, 3))
        return cls(value, float(ratio(low, middle)[0]) - 1, float(ratio(high, middle)[0]) - 1)


def _spread(values: NDArray[np.float64]) -> NDArray[np.float64]:
    half = (_quantile(values, 0.75) - _quantile(values, 0.25)) / 2
    several = (~np.isnan(values)).sum(axis=1) > 1
    return np.where(several, ratio(half, _quantile(values, 0.5)), np.nan)


def running_total(values: NDArray[np.float64], part: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the sum of `values` up to each row, over the rows of the same part.

    All arrays have shape (rows,). NaN counts as 0. The sum is NaN before the first known value of
    the part.
    """
    order = np.argsort(part, kind="stable")
    ends = np.flatnonzero(np.diff(part[order])) + 1
    sums = np.empty_like(values)
    sums[order] = np.concatenate([*map(_running_total, np.split(values[order], ends))])
    return sums


def _running_total(values: NDArray[np.float64]) -> NDArray[np.float64]:
    any_known = np.logical_or.accumulate(~np.isnan(values))
    with np.errstate(all="ignore"):
        return finite(np.where(any_known, np.nancumsum(values), np.nan))


def numbered(labels: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Number the distinct integers in `labels` in the order of their first appearance.

    Return the number of each label, and the index at which each distinct label first appears. For
    example, `[7, 3, 7]` gives the numbers `[0, 1, 0]` and the indices `[0, 1]`.
    """
    # `np.unique` would import `numpy.ma`, which takes longer than reading a small profile.
    order = np.argsort(labels, kind="stable")
    is_new = np.ones(len(labels), np.bool_)
    is_new[1:] = labels[order[1:]] != labels[order[:-1]]
    first = order[is_new]
    by_appearance = np.argsort(first)
    rank = np.empty(len(first), np.int64)
    rank[by_appearance] = np.arange(len(first))
    numbers = np.empty(len(labels), np.int64)
    numbers[order] = rank[np.cumsum(is_new) - 1]
    return numbers, first[by_appearance]


def first_of_each(rows: NDArray[np.int64], known: int) -> NDArray[np.int64]:
    """Return the index in `rows` at which each new row number first occurs.

    A row number is new if it is at least `known`. The caller must number new rows in the order in
    which they first occur.
    """
    highest_before = np.maximum.accumulate(np.append(known - 1, rows))[:-1]
    return np.flatnonzero(rows > highest_before)

"""Arithmetic in which what is not a finite number is N/A, and the telling apart of integers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SHARES: Final = {"min": 0.0, "median": 0.5, "max": 1.0}


def finite(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """`values` with NaN in place of the infinite ones, which no measurement can be."""
    return np.where(np.isfinite(values), values, np.nan)


def difference(
    minuend: NDArray[np.float64], subtrahend: NDArray[np.float64]
) -> NDArray[np.float64]:
    """`minuend - subtrahend`, NaN where that is not finite."""
    with np.errstate(all="ignore"):
        return finite(minuend - subtrahend)


def ratio(
    numerator: NDArray[np.float64], denominator: NDArray[np.float64] | float
) -> NDArray[np.float64]:
    """`numerator / denominator`, NaN where that is not finite."""
    with np.errstate(all="ignore"):
        return finite(np.divide(numerator, denominator))


def total(values: NDArray[np.float64]) -> float:
    """The sum of `values` that are not NaN; NaN if there are none, or it is not finite."""
    known = values[~np.isnan(values)]
    with np.errstate(all="ignore"):
        sum_ = float(np.sum(known)) if len(known) else np.nan
    return sum_ if np.isfinite(sum_) else np.nan


def totals(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Shape (runs,): `total` of each column of `values`, shape (rows, runs)."""
    if values.shape[1] == 1:  # in the order of addition that gives the original's last digits
        return np.array([total(values[:, 0])])
    known = ~np.isnan(values)
    with np.errstate(all="ignore"):
        sums = np.where(known, values, 0.0).sum(axis=0)
    return finite(np.where(known.any(axis=0), sums, np.nan))


def over_runs(values: NDArray[np.float64], statistic: str) -> NDArray[np.float64]:
    """Shape (rows,): one of `columns.RUN_STATISTICS` of the known `values`, shape (rows, runs)."""
    if values.shape[1] == 1:
        return values[:, 0]
    if statistic in _SHARES:
        return quantile_of_runs(values, _SHARES[statistic])
    known = ~np.isnan(values)
    return ratio(np.where(known, values, 0.0).sum(axis=1), known.sum(axis=1))


def quantile_of_runs(values: NDArray[np.float64], share: float) -> NDArray[np.float64]:
    """Shape (rows,): the value below which a share of a row's runs lies, N/A left out.

    Interpolated linearly between neighbours, as percentiles of groups are.
    """
    ascending = np.sort(values, axis=1)  # NaN comes last
    last = np.maximum((~np.isnan(values)).sum(axis=1) - 1, 0)
    place = last * share
    below = np.floor(place).astype(np.int64)
    weight = place - below
    row = np.arange(len(values))
    low, high = ascending[row, below], ascending[row, np.minimum(below + 1, last)]
    with np.errstate(all="ignore"):
        return finite(low + (high - low) * weight)


def spread_of_runs(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Shape (rows,): half the interquartile range over the median; N/A with fewer than two runs.

    Of `values`, shape (rows, runs).
    """
    half = (quantile_of_runs(values, 0.75) - quantile_of_runs(values, 0.25)) / 2
    several = (~np.isnan(values)).sum(axis=1) > 1
    return np.where(several, ratio(half, quantile_of_runs(values, 0.5)), np.nan)


def running_total(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The sum of `values`, shape (rows, runs), down to each row.

    NaN counts for nothing; the sum is NaN above the first row whose value is known.
    """
    any_known = np.logical_or.accumulate(~np.isnan(values), axis=0)
    with np.errstate(all="ignore"):
        return finite(np.where(any_known, np.nancumsum(values, axis=0), np.nan))


def numbered(labels: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The distinct integers in `labels`, numbered in order of first appearance.

    Shape of `labels`: 0 for the label that appears first, 1 for the next new one, and so on. Shape
    (distinct,): where each appears first. (`np.unique` would import `numpy.ma`, which takes more
    time than reading a small profile.)
    """
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

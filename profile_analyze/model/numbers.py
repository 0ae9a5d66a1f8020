"""Arithmetic in which what is not a finite number is N/A, and the telling apart of integers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


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


def running_total(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The sum of `values` up to each place, in which NaN counts for nothing."""
    with np.errstate(all="ignore"):
        return finite(np.nancumsum(values))


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

"""Arithmetic in which what is not a finite number is N/A."""

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

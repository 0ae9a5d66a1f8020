"""Order statistics of all differences between two sets of numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeAlias

    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.float64]
    Integers: TypeAlias = NDArray[np.int64]

_VALUES_AT_ONCE: Final = 1 << 22
"""The most differences in one array. An array of this length takes 32 MiB."""
_MOST_SORTED: Final = 1 << 14
"""Up to this many differences of a row, such as 128 runs against 128, sorting all of them is
fastest. 1,000 runs against 1,000 make a million differences, and searching takes less than a tenth
of the time of sorting. A row with many equal differences is sorted, too."""
_MOST_LEFT: Final = 16
"""The search gives up if more than this many differences for each of the values are left."""
_ERRORS: Final = 8.0
"""The search allows for rounding errors of this many units in the last place."""


def ordered_differences(values: Floats, base: Floats, ranks: Sequence[int]) -> Floats:
    """Return the differences at `ranks` of the ascending list of each row, shape (rows, ranks).

    The list of a row has the differences between each of its `values`, shape (rows, m), and each of
    its `base`, shape (rows, n). Ranks are from 0 to m * n - 1. Both arrays are ascending in each
    row and have no NaN. Two infinite values, such as two logarithms of 0, differ by 0.
    """
    pairs = values.shape[1] * base.shape[1]
    if pairs <= _MOST_SORTED:
        return _sorted(values, base, ranks)
    found = np.full((len(values), len(ranks)), np.nan)
    for row, (ours, theirs) in enumerate(zip(values, base, strict=True)):
        with np.errstate(invalid="ignore", over="ignore"):
            ends = ours[0] - theirs[-1], ours[-1] - theirs[0]
        if ends[0] == ends[1]:  # so all differences are equal
            found[row] = ends[0]
        elif np.isfinite(ends).all():
            found[row] = [_searched(ours, theirs, rank) for rank in ranks]
        if np.isnan(found[row]).any():
            found[row] = _sorted(values[[row]], base[[row]], ranks)
    return found


def _sorted(values: Floats, base: Floats, ranks: Sequence[int]) -> Floats:
    """Return `ordered_differences` from a list of all differences."""
    pairs = values.shape[1] * base.shape[1]
    found = np.empty((len(values), len(ranks)))
    step = max(_VALUES_AT_ONCE // pairs, 1)
    for start in range(0, len(values), step):
        part = slice(start, start + step)
        with np.errstate(invalid="ignore"):
            differences = values[part, :, np.newaxis] - base[part, np.newaxis, :]
        differences = np.where(np.isnan(differences), 0.0, differences)
        found[part] = np.sort(differences.reshape(-1, pairs), axis=1)[:, ranks]
    return found


def _searched(values: Floats, base: Floats, rank: int) -> float:
    """Return the difference at `rank` of one row's ascending list; NaN if too many equal it.

    The search halves an interval of differences until few are left. Each halving takes only
    m * log(n) steps, because the differences below a number can be counted without computing them.
    The counts may be wrong by those differences that are within the rounding error of the ends. The
    ends are therefore moved out by the rounding error, and the differences between them are
    computed and ordered.
    """
    largest = max(abs(values[0]), abs(values[-1]), abs(base[0]), abs(base[-1]))
    error = _ERRORS * float(np.spacing(largest))
    low, high = float(values[0] - base[-1]), float(values[-1] - base[0])
    below_low, below_high = 0, len(values) * len(base)
    while below_high - below_low > len(values) + len(base) and high - low > error:
        middle = low / 2 + high / 2
        below = len(values) * len(base) - int(_up_to(base, values - middle).sum())
        if below <= rank:
            low, below_low = middle, below
        else:
            high, below_high = middle, below
    # For each of `values`, the elements of `base` from `first` to `stop` give differences between
    # the moved ends. The elements from `stop` on give smaller differences.
    first = np.searchsorted(base, values - (high + error), side="left")
    stop = _up_to(base, values - (low - error))
    lengths = stop - first
    if lengths.sum() > _MOST_LEFT * len(lengths):
        return np.nan
    ends = np.cumsum(lengths)
    element = np.arange(ends[-1]) + np.repeat(first - (ends - lengths), lengths)
    differences = np.repeat(values, lengths) - base[element]
    rank_here = rank - int((len(base) - stop).sum())
    return float(np.partition(differences, rank_here)[rank_here])


def _up_to(ascending: Floats, limits: Floats) -> Integers:
    """Return how many elements of `ascending` are at most each limit."""
    counts: Integers = np.searchsorted(ascending, limits, side="right")
    return counts

"""Looks up what is above the rows of a forest, in which each row names the row above it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from typing import TypeAlias

    from numpy.typing import NDArray

    Indices: TypeAlias = NDArray[np.int64]


def innermost_above(parent: Indices, is_target: NDArray[np.bool_]) -> Indices:
    """Return the innermost target above each execution, or -1, shape (executions,).

    A kernel is below the call that launched it.
    """
    above = parent.copy()
    # Each pass looks up the result of the previous pass, and so goes up twice as far. The loop
    # ends, because `load` rejects profiles with cycles.
    while True:
        undecided = np.flatnonzero(above >= 0)
        undecided = undecided[~is_target[above[undecided]]]
        if not len(undecided):
            return above
        above[undecided] = above[above[undecided]]


def depths(above: Indices) -> Indices:
    """Return how many rows are above each row, shape (rows,).

    `above` is the row directly above each row, or -1.
    """
    depth = (above >= 0).astype(np.int64)
    further = above
    while (further >= 0).any():  # each pass goes up twice as far
        has_further = further >= 0
        depth = depth + np.where(has_further, depth[further], 0)
        further = np.where(has_further, further[further], -1)
    return depth


def outermost(owner: Indices, above: Indices) -> Indices:
    """Return the outermost target above each owner, shape (executions,).

    If no target is above an owner, return the owner. For an execution without an owner, return -1.
    """
    rows = np.arange(len(above))
    outer = np.where(above >= 0, above, rows)
    while True:  # as in `innermost_above`
        further = outer[outer]
        if (further == outer).all():
            return np.where(owner >= 0, outer[owner], -1)
        outer = further

"""Finds ancestors in a forest of rows, in which each row names its parent: the row above it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

Index = TypeVar("Index", bound=np.signedinteger[Any])


def innermost_above(parent: NDArray[Index], is_target: NDArray[np.bool_]) -> NDArray[Index]:
    """For each execution, return its nearest ancestor that is a target, shape (executions,).

    `parent` has the parent of each execution, or -1. The parent of a kernel may be the call that
    launched it. An execution without such an ancestor has -1.
    """
    above = parent.copy()
    # At first, `above` is the parent. Later passes go up 2, 4, 8 rows, but never beyond a target.
    # The loop ends, because `load` rejects profiles with cycles.
    while True:
        undecided = np.flatnonzero(above >= 0)
        undecided = undecided[~is_target[above[undecided]]]
        if not len(undecided):
            return above
        above[undecided] = above[above[undecided]]


def depths(above: NDArray[Index]) -> NDArray[np.int64]:
    """Return the number of ancestors of each row, shape (rows,).

    `above` has the parent of each row, or -1.
    """
    depth = (above >= 0).astype(np.int64)
    further = above
    while (further >= 0).any():  # `further` is 1 row up at first, then 2, 4, 8
        has_further = further >= 0
        depth = depth + np.where(has_further, depth[further], 0)
        further = np.where(has_further, further[further], -1)
    return depth


def outermost(owner: NDArray[Index], above: NDArray[Index]) -> NDArray[Index]:
    """For each execution, return the outermost ancestor of its owner, shape (executions,).

    `owner` has the owner of each execution, or -1. `above` has the next ancestor of each execution,
    or -1. If the owner has no ancestors, the result is the owner. An execution without an owner has
    -1.
    """
    rows = np.arange(len(above), dtype=above.dtype)
    outer = np.where(above >= 0, above, rows)
    while True:  # ends, as in `innermost_above`
        further = outer[outer]
        if (further == outer).all():
            return np.where(owner >= 0, outer[owner], -1)
        outer = further

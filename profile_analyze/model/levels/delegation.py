"""Finds the executions that delegate at least half of their work to the executions inside them.

Work is computation (floating-point operations) or, for an operator without computation, memory
(bytes).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from profile_analyze.model.levels.ancestors import depths, innermost_above

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeAlias

    from numpy.typing import NDArray

    from profile_analyze.model.profile import Profile

    Floats: TypeAlias = NDArray[np.float64]
    Indices: TypeAlias = NDArray[np.int64]


def delegating(profile: Profile, parent: Indices, ignored: Sequence[Indices]) -> Indices:
    """Return the indices of the executions that delegate.

    `ignored` has two arrays of executions: the first has the executions whose computation counts
    as 0, the second the executions whose memory counts as 0.

    A format with nested operators may state the same work twice: for a convolution, and for the
    operator that it calls to compute the convolution. These rules decide which executions delegate:

    - An execution delegates if the executions inside do at least half of its computation.
    - An execution without computation delegates if the executions inside move at least half of
      its bytes.
    - The work of an inner execution that delegates does not count here. The executions inside it
      count instead.

    A copy inside a matrix product computes nothing, so the product does not delegate. The work of
    the copy and the work of the product both count.
    """
    executions = profile.executions
    works = [
        np.nan_to_num(work, nan=0.0)
        for work in (profile.operators.computation, profile.operators.memory)
    ]
    has_work = (works[0] > 0) | (works[1] > 0)
    is_node = has_work[executions.operator]  # nodes of the forest are executions with work
    nodes = np.flatnonzero(is_node)
    position = np.full(len(parent) + 1, -1)  # the extra entry stays -1
    position[nodes] = np.arange(len(nodes))
    above = position[innermost_above(parent, is_node)[nodes]]
    if not (above >= 0).any():  # no work is inside other work, as in most formats
        return nodes[:0]
    operator, calls = executions.operator[nodes], executions.calls[nodes]
    with np.errstate(all="ignore"):
        computation, memory = (work[operator] * calls for work in works)
    for work, rows in zip((computation, memory), ignored, strict=True):
        ignored_nodes = position[rows]
        work[ignored_nodes[ignored_nodes >= 0]] = 0.0
    return nodes[_delegating_nodes(above, computation, memory)]


def _delegating_nodes(above: Indices, computation: Floats, memory: Floats) -> NDArray[np.bool_]:
    """Return whether each node of a forest delegates. `above` has each node's parent, or -1."""
    result = np.zeros(len(above), np.bool_)
    depth = depths(above)
    deepest = int(depth.max())
    # Sorted by depth, nodes of the same depth are neighbours, and their parents are neighbours
    # too. NumPy sorts integers of at most 16 bits far faster.
    by_depth = np.argsort(depth.astype(np.min_scalar_type(deepest)), kind="stable")
    position = np.empty(len(above), np.int64)
    position[by_depth] = np.arange(len(above))
    starts = np.searchsorted(depth[by_depth], np.arange(deepest + 2))
    bounds = [*zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True)]
    # The computation and the memory of the executions inside each node of one depth.
    inside = [np.zeros(bounds[-1][1] - bounds[-1][0])] * 2
    for level in reversed(range(len(bounds))):  # innermost nodes first
        nodes = by_depth[slice(*bounds[level])]
        own = (computation[nodes], memory[nodes])
        computes = own[0] > 0
        with np.errstate(all="ignore"):
            does_most = [within >= one / 2 for within, one in zip(inside, own, strict=True)]
            delegates = np.where(computes, does_most[0], does_most[1])
            sums = [  # what counts for the nodes above: work inside, and own work
                within + np.where(delegates, 0.0, one)
                for within, one in zip(inside, own, strict=True)
            ]
        result[nodes] = delegates
        if level:
            first, last = bounds[level - 1]
            outer = position[above[nodes]] - first
            inside = [np.bincount(outer, one, minlength=last - first) for one in sums]
    return result

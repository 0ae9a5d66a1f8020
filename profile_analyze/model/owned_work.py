"""Attributes computation and memory to the executions of one level: see `levels.py`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from profile_analyze.model.ancestors import depths, innermost_above
from profile_analyze.model.categorical import Categorical
from profile_analyze.model.numbers import finite
from profile_analyze.model.terms import DERIVED

if TYPE_CHECKING:
    from typing import TypeAlias

    from numpy.typing import NDArray

    from profile_analyze.model.executions import Executions
    from profile_analyze.model.operators import Operators
    from profile_analyze.model.profile import Profile

    Floats: TypeAlias = NDArray[np.float64]
    Indices: TypeAlias = NDArray[np.int64]


def with_owned_work(
    profile: Profile, parent: Indices, owner: Indices, is_row: NDArray[np.bool_]
) -> Operators:
    """Return the operators with the computation and memory of the executions that they own.

    Work counts once: see `_delegating`. An operator whose calls all delegate, and that owns no
    other work, has none: its computation and memory are N/A.
    """
    operators, executions = profile.operators, profile.executions
    calls = np.bincount(
        executions.operator[is_row], executions.calls[is_row], minlength=len(operators)
    )
    delegating = _delegating(profile, parent)
    is_owned = owner >= 0
    is_owned[delegating] = False
    changed: dict[str, Any] = {}
    for work in ("computation", "memory"):
        per_call: Floats = getattr(operators, work)
        is_known = ~np.isnan(per_call)
        counts = is_known[executions.operator] & is_owned
        inside = counts & ~is_row
        superseded = delegating[is_row[delegating] & is_known[executions.operator[delegating]]]
        if not (inside.any() or len(superseded)):
            continue
        rows = np.flatnonzero(counts)
        owning_operator = executions.operator[owner[rows]]
        with np.errstate(all="ignore"):
            amounts = per_call[executions.operator[rows]] * executions.calls[rows]
            sums = np.bincount(owning_operator, amounts, minlength=len(operators)) / calls
        sums[np.bincount(owning_operator, minlength=len(operators)) == 0] = np.nan
        # Other operators keep their exact values. Multiplying and dividing by calls could round.
        is_changed = np.zeros(len(operators), np.bool_)
        is_changed[executions.operator[owner[inside]]] = True
        is_changed[executions.operator[superseded]] = True
        changed[work] = np.where(is_changed, finite(sums), per_call)
        source = _source_with_inside(operators, work, np.flatnonzero(inside), owner, executions)
        changed[f"{work}_source"] = source
    return replace(operators, **changed) if changed else operators


def _delegating(profile: Profile, parent: Indices) -> Indices:
    """Return the executions that leave most of their work to the executions inside.

    Formats with nested operators state the work of `aten::conv2d` once more for the operators that
    it calls. An execution delegates if the executions inside do at least half of its computation.
    An execution that computes nothing delegates if they move at least half of its bytes. Of the
    executions inside, only those that do not delegate count. An `aten::copy_` inside `aten::addmm`
    computes nothing, so the work of both counts.
    """
    executions = profile.executions
    works = [
        np.nan_to_num(work, nan=0.0)
        for work in (profile.operators.computation, profile.operators.memory)
    ]
    has_work = (works[0] > 0) | (works[1] > 0)
    is_node = has_work[executions.operator]
    nodes = np.flatnonzero(is_node)
    position = np.full(len(parent) + 1, -1)  # the extra entry stays -1
    position[nodes] = np.arange(len(nodes))
    above = position[innermost_above(parent, is_node)[nodes]]
    if not (above >= 0).any():  # no work is inside other work, as in most formats
        return nodes[:0]
    operator, calls = executions.operator[nodes], executions.calls[nodes]
    with np.errstate(all="ignore"):
        computation, memory = (work[operator] * calls for work in works)
    return nodes[_delegating_nodes(above, computation, memory)]


def _delegating_nodes(above: Indices, computation: Floats, memory: Floats) -> NDArray[np.bool_]:
    """Return which nodes of a forest delegate. `above` is the parent of each node, or -1."""
    result = np.zeros(len(above), np.bool_)
    depth = depths(above)
    # The nodes of one depth are neighbours in this order, and so are their parents.
    deepest = int(depth.max())
    # NumPy sorts 16-bit integers far faster.
    by_depth = np.argsort(depth.astype(np.min_scalar_type(deepest)), kind="stable")
    position = np.empty(len(above), np.int64)
    position[by_depth] = np.arange(len(above))
    starts = np.searchsorted(depth[by_depth], np.arange(deepest + 2))
    bounds = [*zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True)]
    inside = [np.zeros(bounds[-1][1] - bounds[-1][0])] * 2
    for level in reversed(range(len(bounds))):  # innermost nodes first
        nodes = by_depth[slice(*bounds[level])]
        own = (computation[nodes], memory[nodes])
        computes = own[0] > 0
        with np.errstate(all="ignore"):
            does_most = [within >= one / 2 for within, one in zip(inside, own, strict=True)]
            delegates = np.where(computes, does_most[0], does_most[1])
            sums = [
                within + np.where(delegates, 0.0, one)
                for within, one in zip(inside, own, strict=True)
            ]
        result[nodes] = delegates
        if level:
            first, last = bounds[level - 1]
            outer = position[above[nodes]] - first
            inside = [np.bincount(outer, one, minlength=last - first) for one in sums]
    return result


def _source_with_inside(
    operators: Operators,
    work: str,
    inside: Indices,
    owner: Indices,
    executions: Executions,
) -> Categorical[str]:
    """Return the source of each operator's work: `derived` if any part of it is derived."""
    source: Categorical[str] = getattr(operators, f"{work}_source")
    is_derived = source.where(one == DERIVED for one in source.categories)
    derived = inside[is_derived[executions.operator[inside]]]
    categories = tuple(dict.fromkeys((*source.categories, DERIVED)))
    codes = source.codes.copy()
    codes[executions.operator[owner[derived]]] = categories.index(DERIVED)
    return Categorical(codes, categories)

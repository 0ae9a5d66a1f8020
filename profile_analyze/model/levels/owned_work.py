"""Adds the work of executions to the rows that own them, so that work counts once.

`levels.py` explains the rows of a level, and `level.py` explains owners. Work is computation
(floating-point operations) and memory (bytes). Operators hold the work of one call; NaN is N/A.

An execution delegates if the executions inside it do at least half of its work. The optional
columns `DELEGATES` and `COPIES` of the result say what became of the work of an operator.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from profile_analyze.model.categorical import Categorical
from profile_analyze.model.levels.ancestors import depths, innermost_above
from profile_analyze.model.numbers import finite
from profile_analyze.model.terms import (
    COMPUTE_DTYPE,
    COPY,
    DERIVED,
    GPU,
    MEASURED,
    MESSAGE_AMOUNTS,
    MESSAGE_TEXTS,
    OPERATOR,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeAlias

    from numpy.typing import NDArray

    from profile_analyze.model.levels.level import Level
    from profile_analyze.model.operators import Operators
    from profile_analyze.model.profile import Profile

    Flags: TypeAlias = NDArray[np.bool_]
    Floats: TypeAlias = NDArray[np.float64]
    Indices: TypeAlias = NDArray[np.int64]


_WORKS = ("computation", "memory")

DELEGATES: Final = "delegates"
"""The optional column that is 1 if any call of an operator delegates, and NaN otherwise. If an
operator with a 1 has no known work, all its work is counted at the operators inside it."""
COPIES: Final = "copies_between_devices"
"""The optional column that marks operators whose kernels mostly copy between devices. It is 1 if
these copies take more than half of the time of the operator's kernels, and NaN otherwise."""
_MOST: Final = 0.5


def leaves_work_inside(operators: Operators) -> Flags:
    """For each operator, return whether the operators inside it have all of its work.

    Shape (operators,).
    """
    has_no_work = np.isnan(operators.computation) & np.isnan(operators.memory)
    result: Flags = has_no_work & ~np.isnan(operators.numbers(DELEGATES))
    return result


def is_limited_by_link(profile: Profile) -> Flags:
    """Return whether a link, not a memory, limits each operator, shape (operators,).

    Copies between devices are limited by their link, such as PCIe. The bandwidth of a GPU's memory
    is many times as high, so it says nothing about how short these copies could be.

    Without a GPU, this is false for all operators: copies stay in the memory of the host. With a
    GPU, it is true for all copies, even on a CPU: a copy may run on the device that receives it.
    """
    if not any(track.device_kind == GPU for track in profile.tracks):
        return np.zeros(len(profile), np.bool_)
    operators = profile.operators
    result: Flags = _are_copies(operators) | ~np.isnan(operators.numbers(COPIES))
    return result


def with_owned_work(level: Level) -> Operators:
    """Return the operators, each with the work and the messages of all executions that it owns.

    Work counts once: see `_delegating`. The work of an operator is N/A if all its calls delegate
    and it owns no other work, or if it owns unknown work and all known work that it owns is 0.

    If some calls of an operator have a device time, only the work of executions that have one
    counts: see `Level.have_device_time`.
    """
    operators, executions = level.operators, level.executions
    owner, is_row = level.owner, level.own_themselves
    is_timed = _with_all_of_untimed(level)
    calls = _calls(level, is_row & is_timed)
    kernels = np.flatnonzero(level.are_kernels & (owner >= 0))
    works: dict[str, Floats] = {name: getattr(operators, name) for name in _WORKS}
    ignored = {name: _partly_known(kernels, works[name], level) for name in _WORKS}
    delegates = _delegating(level, [ignored[name] for name in _WORKS])
    delegates_as_row = delegates[is_row[delegates]]
    owned, changed = np.flatnonzero(level.are_at(OPERATOR) & (owner >= 0)), dict[str, Any]()
    columns = _delegates(delegates_as_row, level)
    for name, per_call in works.items():
        is_known = ~np.isnan(per_call)[executions.operator]
        has_unknown = _owning(owned[~is_known[owned]], level)
        is_known[ignored[name]] = False
        superseded = delegates_as_row[is_known[delegates_as_row]]
        counts = is_known & is_timed & (owner >= 0)
        counts[delegates] = False
        inside = np.flatnonzero(counts & ~is_row)
        if not (len(inside) or len(superseded) or has_unknown.any()):
            continue
        counted = np.flatnonzero(counts)
        sums = _sums(counted, per_call, level) / calls
        sums[has_unknown & (sums == 0)] = np.nan
        # All other operators keep their values, which multiplying and dividing could round.
        is_changed = has_unknown | _owning(inside, level)
        is_changed[executions.operator[superseded]] = True
        changed[name] = np.where(is_changed, finite(sums), per_call)
        changed[f"{name}_source"] = _source_of_owned(name, counted, level)
        if name == "computation":
            columns |= _dtypes_of_most(counted, level)
    columns |= _copies_column(level, kernels)
    columns |= _owned_messages(level, kernels, calls)
    return replace(operators, **changed, optional={**operators.optional, **columns})


def _with_all_of_untimed(level: Level) -> Flags:
    """Return `have_device_time`, but true for all executions of operators without device time."""
    is_timed = level.have_device_time
    has_time = _owning(np.flatnonzero(level.own_themselves & is_timed), level)
    return is_timed | ~has_time[level.executions.operator[level.owner]]


def _calls(level: Level, are_calls: Flags) -> Floats:
    """Return the number of calls of each operator, shape (operators,); NaN without calls."""
    executions, size = level.executions, len(level.operators)
    calls = np.bincount(executions.operator[are_calls], executions.calls[are_calls], minlength=size)
    return np.where(calls > 0, calls, np.nan)


def _owning(rows: Indices, level: Level) -> Flags:
    """Return whether each operator owns any of the executions `rows`, shape (operators,)."""
    result = np.zeros(len(level.operators), np.bool_)
    result[level.owning(rows)] = True
    return result


def _sums(rows: Indices, per_call: Floats, level: Level) -> Floats:
    """Return, for each operator, the total work of the `rows` that it owns; NaN if it owns none."""
    executions, owning, size = level.executions, level.owning(rows), len(per_call)
    with np.errstate(all="ignore"):
        amounts = per_call[executions.operator[rows]] * executions.calls[rows]
        sums = np.bincount(owning, amounts, minlength=size)
    return np.where(np.bincount(owning, minlength=size) > 0, sums, np.nan)


def _dtypes_of_most(rows: Indices, level: Level) -> dict[str, Any]:
    """Return the column `COMPUTE_DTYPE` with the dtypes of more rows; `{}` without the column.

    A row without a dtype gets the dtype of over half of the computation of the `rows` that it owns.
    """
    operators, executions = level.operators, level.executions
    if COMPUTE_DTYPE not in operators.optional:
        return {}
    column = operators.categorical(COMPUTE_DTYPE)
    operator, size, dtypes = executions.operator[rows], len(operators), len(column.categories)
    owning, codes = level.owning(rows).astype(np.int64), column.codes[operator]
    amounts = operators.computation[operator] * executions.calls[rows]
    has_dtype = codes >= 0
    cells = owning[has_dtype] * dtypes + codes[has_dtype]
    with np.errstate(all="ignore"):
        by_dtype = np.bincount(cells, amounts[has_dtype], size * dtypes).reshape(size, dtypes)
        is_most = by_dtype > np.bincount(owning, amounts, size)[:, np.newaxis] / 2
    gets_dtype = (column.codes < 0) & is_most.any(axis=1)
    filled = np.where(gets_dtype, is_most.argmax(axis=1), column.codes) if dtypes else column.codes
    return {COMPUTE_DTYPE: Categorical(filled, column.categories)}


def _partly_known(kernels: Indices, per_call: Floats, level: Level) -> Indices:
    """Return the `kernels` of all operators that own at least one kernel of unknown work.

    These kernels add nothing to the work of the operator. Otherwise, the bytes of a memset would
    count as the bytes of the whole operator.
    """
    unknown = kernels[np.isnan(per_call)[level.executions.operator[kernels]]]
    return kernels[_owning(unknown, level)[level.owning(kernels)]]


def _delegates(rows: Indices, level: Level) -> dict[str, Any]:
    """Return the optional column `DELEGATES`; `{}` if no execution delegates.

    `rows` are the executions that delegate and are rows of the level.
    """
    if not len(rows):
        return {}
    column = np.full(len(level.operators), np.nan)
    column[level.executions.operator[rows]] = 1.0
    return {DELEGATES: column}


def _copies_column(level: Level, kernels: Indices) -> dict[str, Any]:
    """Return the optional column `COPIES`; `{}` if no kernel copies between devices.

    `kernels` are the executions of kernels that have an owner.
    """
    executions, size = level.executions, len(level.operators)
    copies = _are_copies(level.operators)[executions.operator[kernels]]
    if not copies.any():
        return {}
    owning, duration_s = level.owning(kernels), executions.duration_s[kernels]
    total_s = np.bincount(owning, duration_s, minlength=size)
    copies_s = np.bincount(owning[copies], duration_s[copies], minlength=size)
    return {COPIES: np.where(copies_s > _MOST * total_s, 1.0, np.nan)}


def _are_copies(operators: Operators) -> Flags:
    category = operators.category
    return category.where(one == COPY for one in category.categories)


def _owned_messages(level: Level, kernels: Indices, calls: Floats) -> dict[str, Any]:
    """Return the optional columns of messages: each operator gets the values of its kernels.

    The result is `{}` if the format has no messages.
    """
    operators = level.operators
    if "collective" not in operators.optional:
        return {}
    changed: dict[str, Any] = {}
    for name in MESSAGE_AMOUNTS:
        per_call = operators.numbers(name)
        unknown = _partly_known(kernels, per_call, level)
        known = kernels[~np.isin(kernels, unknown)]
        sums = _sums(known, per_call, level) / calls
        changed[name] = np.where(np.isnan(per_call), finite(sums), per_call)
    owning = level.owning(kernels)
    for name in MESSAGE_TEXTS:
        column = operators.categorical(name)
        changed[name] = _common(column, column.codes[level.executions.operator[kernels]], owning)
    return changed


def _common(
    column: Categorical[Any], codes: NDArray[Any], owning: NDArray[Any]
) -> Categorical[Any]:
    """Return, for each operator, the value that all its kernels share, or else its own value."""
    lowest = np.full(len(column), len(column.categories))
    highest = np.full(len(column), -1)
    np.minimum.at(lowest, owning, codes)
    np.maximum.at(highest, owning, codes)
    is_shared = (lowest == highest) & (highest >= 0)
    return Categorical(np.where(is_shared, highest, column.codes), column.categories)


def _source_of_owned(work: str, counted: Indices, level: Level) -> Categorical[str]:
    """Return the source of each operator's work: `derived` if any of its work is derived.

    Otherwise, the source is `measured`. `counted` has the executions whose work counts. Operators
    that own none of these executions keep their source.
    """
    source: Categorical[str] = getattr(level.operators, f"{work}_source")
    is_derived = source.where(one == DERIVED for one in source.categories)
    derived = counted[is_derived[level.executions.operator[counted]]]
    categories = tuple(dict.fromkeys((*source.categories, MEASURED, DERIVED)))
    codes = source.codes.copy()
    codes[level.owning(counted)] = categories.index(MEASURED)
    codes[level.owning(derived)] = categories.index(DERIVED)
    return Categorical(codes, categories)


def _delegating(level: Level, ignored: Sequence[Indices]) -> Indices:
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
    executions, parent = level.executions, level.parent
    works = [np.nan_to_num(getattr(level.operators, name), nan=0.0) for name in _WORKS]
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

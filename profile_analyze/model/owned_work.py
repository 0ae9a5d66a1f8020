"""Attributes the work of executions to the rows of a level, which own them: see `model.levels`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from profile_analyze.model.categorical import Categorical
from profile_analyze.model.device_columns import MESSAGE_AMOUNTS, MESSAGE_TEXTS
from profile_analyze.model.numbers import finite
from profile_analyze.model.terms import DERIVED, KERNEL, MEASURED

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
    """Return the operators with the work and the messages of the executions that they own.

    Work counts once. If an outer and a nested execution both have work, only the nested work
    counts. The work of kernels counts only for an operator that knows it of all its kernels:
    otherwise the bytes of a memset would stand for those of the whole operator.
    """
    operators, executions = profile.operators, profile.executions
    calls = np.bincount(
        executions.operator[is_row], executions.calls[is_row], minlength=len(operators)
    )
    kernels = _owned_kernels(profile, owner)
    changed: dict[str, Any] = {}
    for work in ("computation", "memory"):
        per_call: Floats = getattr(operators, work)
        is_known = ~np.isnan(per_call)[executions.operator]
        is_known &= ~_partly_known(kernels, owner, per_call, executions)
        counts = is_known & ~_has_known_inside(is_known, parent) & (owner >= 0)
        inside = counts & ~is_row
        superseded = is_row & is_known & ~counts  # nested work counts instead
        if not (inside.any() or superseded.any()):
            continue
        sums = _sums(np.flatnonzero(counts), owner, per_call, executions) / _or_nan(calls)
        # Other operators keep their exact values. Multiplying and dividing by calls could round.
        is_changed = np.zeros(len(operators), np.bool_)
        is_changed[executions.operator[owner[inside]]] = True
        is_changed[executions.operator[superseded]] = True
        changed[work] = np.where(is_changed, finite(sums), per_call)
        source = _source_of_owned(operators, work, np.flatnonzero(counts), owner, executions)
        changed[f"{work}_source"] = source
    messages = _with_owned_messages(profile, kernels, owner, _or_nan(calls))
    return replace(operators, **changed, **messages) if changed or messages else operators


def _or_nan(calls: NDArray[Any]) -> Floats:
    """Return the calls, with NaN instead of 0."""
    return np.where(calls > 0, calls, np.nan)


def _sums(rows: Indices, owner: Indices, per_call: Floats, executions: Executions) -> Floats:
    """Return the work of the executions `rows` in each operator that owns them, or NaN."""
    owning, size = executions.operator[owner[rows]], len(per_call)
    with np.errstate(all="ignore"):
        amounts = per_call[executions.operator[rows]] * executions.calls[rows]
        sums = np.bincount(owning, amounts, minlength=size)
    return np.where(np.bincount(owning, minlength=size) > 0, sums, np.nan)


def _owned_kernels(profile: Profile, owner: Indices) -> Indices:
    """Return the executions of kernels that another execution owns."""
    column = profile.operators.level
    is_kernel = column.where(one == KERNEL for one in column.categories)
    rows = np.arange(len(owner))
    return np.flatnonzero(is_kernel[profile.executions.operator] & (owner >= 0) & (owner != rows))


def _partly_known(
    kernels: Indices, owner: Indices, per_call: Floats, executions: Executions
) -> NDArray[np.bool_]:
    """Return which executions are kernels of an operator with a kernel of unknown work."""
    operator = executions.operator
    has_unknown = np.zeros(len(per_call), np.bool_)
    has_unknown[operator[owner[kernels[np.isnan(per_call)[operator[kernels]]]]]] = True
    result = np.zeros(len(owner), np.bool_)
    result[kernels] = has_unknown[operator[owner[kernels]]]
    return result


def _with_owned_messages(
    profile: Profile, kernels: Indices, owner: Indices, calls: Floats
) -> dict[str, Any]:
    """Return `optional` with the messages of the kernels that operators own, if there are any."""
    operators, executions = profile.operators, profile.executions
    if "collective" not in operators.optional:
        return {}
    changed: dict[str, Any] = {}
    for name in MESSAGE_AMOUNTS:
        per_call = operators.numbers(name)
        known = kernels[~_partly_known(kernels, owner, per_call, executions)[kernels]]
        sums = _sums(known, owner, per_call, executions) / calls
        changed[name] = np.where(np.isnan(per_call), finite(sums), per_call)
    owning = executions.operator[owner[kernels]]
    for name in MESSAGE_TEXTS:
        column = operators.categorical(name)
        changed[name] = _common(column, column.codes[executions.operator[kernels]], owning)
    return {"optional": {**operators.optional, **changed}}


def _common(
    column: Categorical[Any], codes: NDArray[Any], owning: NDArray[Any]
) -> Categorical[Any]:
    """Return the value that all kernels of an operator share; other operators keep theirs."""
    lowest = np.full(len(column), len(column.categories))
    highest = np.full(len(column), -1)
    np.minimum.at(lowest, owning, codes)
    np.maximum.at(highest, owning, codes)
    return Categorical(np.where(lowest == highest, highest, column.codes), column.categories)


def _has_known_inside(is_known: NDArray[np.bool_], parent: Indices) -> NDArray[np.bool_]:
    """Return whether each execution contains executions with known work, shape (executions,)."""
    result = np.zeros(len(parent), np.bool_)
    above = _distinct_parents(parent, is_known)
    while len(above):  # one level up in each pass, until all ancestors are marked
        new = above[~result[above]]
        result[new] = True
        above = _distinct_parents(parent, new)
    return result


def _distinct_parents(parent: Indices, rows: NDArray[Any]) -> Indices:
    """Return the distinct parents of the executions `rows`."""
    above = np.unique(parent[rows])
    return above[above >= 0]


def _source_of_owned(
    operators: Operators,
    work: str,
    counted: Indices,
    owner: Indices,
    executions: Executions,
) -> Categorical[str]:
    """Return the source of each operator's work: `derived` if any part of it is derived.

    `counted` has the executions whose work counts.
    """
    source: Categorical[str] = getattr(operators, f"{work}_source")
    is_derived = source.where(one == DERIVED for one in source.categories)
    derived = counted[is_derived[executions.operator[counted]]]
    categories = tuple(dict.fromkeys((*source.categories, MEASURED, DERIVED)))
    codes = source.codes.copy()
    codes[executions.operator[owner[counted]]] = categories.index(MEASURED)
    codes[executions.operator[owner[derived]]] = categories.index(DERIVED)
    return Categorical(codes, categories)

"""Adds the work of executions to the rows that own them.

`levels.py` explains the rows of a level, and `ownership.py` explains owners. Work is computation
(floating-point operations) and memory (bytes). Operators hold the work of one call; NaN is N/A.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from profile_analyze.model.categorical import Categorical
from profile_analyze.model.levels.delegation import delegating
from profile_analyze.model.levels.links import copies_column
from profile_analyze.model.levels.ownership import is_at_level
from profile_analyze.model.numbers import finite
from profile_analyze.model.terms import (
    COMPUTE_DTYPE,
    DERIVED,
    KERNEL,
    MEASURED,
    MESSAGE_AMOUNTS,
    MESSAGE_TEXTS,
    OPERATOR,
)

if TYPE_CHECKING:
    from typing import TypeAlias

    from numpy.typing import NDArray

    from profile_analyze.model.executions import Executions
    from profile_analyze.model.levels.ownership import Ownership
    from profile_analyze.model.operators import Operators
    from profile_analyze.model.profile import Profile

    Flags: TypeAlias = NDArray[np.bool_]
    Floats: TypeAlias = NDArray[np.float64]
    Indices: TypeAlias = NDArray[np.int64]


_WORKS = ("computation", "memory")

DELEGATES: Final = "delegates"
"""The optional column that is 1 if any call of an operator delegates, and NaN otherwise. If an
operator with a 1 has no known work, all its work is counted at the operators inside it."""


def leaves_work_inside(operators: Operators) -> Flags:
    """For each operator, return whether the operators inside it have all of its work.

    Shape (operators,).
    """
    has_no_work = np.isnan(operators.computation) & np.isnan(operators.memory)
    result: Flags = has_no_work & ~np.isnan(operators.numbers(DELEGATES))
    return result


def with_owned_work(profile: Profile, owned_by: Ownership, is_timed: Flags) -> Operators:
    """Return the operators, each with the work and the messages of all executions that it owns.

    Work counts once: see `delegation.py`. The work of an operator is N/A if all its calls delegate
    and it owns no other work, or if it owns unknown work and all known work that it owns is 0.

    If some calls of an operator have a device time, only the work of executions that have one
    counts: see `have_device_time`, which returns `is_timed`.
    """
    operators, executions = profile.operators, profile.executions
    parent, owner, is_row = owned_by.parent, owned_by.owner, owned_by.is_row
    is_timed = _with_all_of_untimed(is_timed, owned_by, executions, len(operators))
    calls = _calls(executions, is_row & is_timed, len(operators))
    kernels = _owned(profile, owner, KERNEL)
    works: dict[str, Floats] = {name: getattr(operators, name) for name in _WORKS}
    ignored = {name: _partly_known(kernels, owner, works[name], executions) for name in _WORKS}
    delegates = delegating(profile, parent, [ignored[name] for name in _WORKS])
    delegates_as_row = delegates[is_row[delegates]]
    owned, changed = _owned(profile, owner, OPERATOR), dict[str, Any]()
    columns = _delegates(delegates_as_row, executions, len(operators))
    for name, per_call in works.items():
        is_known = ~np.isnan(per_call)[executions.operator]
        has_unknown = _owning(owned[~is_known[owned]], owner, executions, len(operators))
        is_known[ignored[name]] = False
        superseded = delegates_as_row[is_known[delegates_as_row]]
        counts = is_known & is_timed & (owner >= 0)
        counts[delegates] = False
        inside = np.flatnonzero(counts & ~is_row)
        if not (len(inside) or len(superseded) or has_unknown.any()):
            continue
        counted = np.flatnonzero(counts)
        sums = _sums(counted, owner, per_call, executions) / calls
        sums[has_unknown & (sums == 0)] = np.nan
        # All other operators keep their values, which multiplying and dividing could round.
        is_changed = has_unknown | _owning(inside, owner, executions, len(operators))
        is_changed[executions.operator[superseded]] = True
        changed[name] = np.where(is_changed, finite(sums), per_call)
        changed[f"{name}_source"] = _source_of_owned(operators, name, counted, owner, executions)
        if name == "computation":
            columns |= _dtypes_of_most(operators, counted, owner, executions)
    columns |= copies_column(profile, kernels, owner)
    columns |= _owned_messages(profile, kernels, owner, calls)
    return replace(operators, **changed, optional={**operators.optional, **columns})


def _with_all_of_untimed(
    is_timed: Flags, owned_by: Ownership, executions: Executions, size: int
) -> Flags:
    """Return `is_timed`, but true for all executions of operators without any device time."""
    timed_rows = np.flatnonzero(owned_by.is_row & is_timed)
    has_time = _owning(timed_rows, owned_by.owner, executions, size)
    return is_timed | ~has_time[executions.operator[owned_by.owner]]


def _calls(executions: Executions, is_row: Flags, size: int) -> Floats:
    """Return the number of calls of each operator, shape (size,); NaN without calls."""
    calls = np.bincount(executions.operator[is_row], executions.calls[is_row], minlength=size)
    return np.where(calls > 0, calls, np.nan)


def _owning(rows: Indices, owner: Indices, executions: Executions, size: int) -> Flags:
    """Return whether each operator owns at least one of the executions `rows`, shape (size,)."""
    result = np.zeros(size, np.bool_)
    result[executions.operator[owner[rows]]] = True
    return result


def _sums(rows: Indices, owner: Indices, per_call: Floats, executions: Executions) -> Floats:
    """Return, for each operator, the total work of the `rows` that it owns; NaN if it owns none."""
    owning, size = executions.operator[owner[rows]], len(per_call)
    with np.errstate(all="ignore"):
        amounts = per_call[executions.operator[rows]] * executions.calls[rows]
        sums = np.bincount(owning, amounts, minlength=size)
    return np.where(np.bincount(owning, minlength=size) > 0, sums, np.nan)


def _dtypes_of_most(
    operators: Operators, rows: Indices, owner: Indices, executions: Executions
) -> dict[str, Any]:
    """Return the column `COMPUTE_DTYPE` with the dtypes of more rows; `{}` without the column.

    A row without a dtype gets the dtype of over half of the computation of the `rows` that it owns.
    """
    if COMPUTE_DTYPE not in operators.optional:
        return {}
    column = operators.categorical(COMPUTE_DTYPE)
    operator, size, dtypes = executions.operator[rows], len(operators), len(column.categories)
    owning, codes = executions.operator[owner[rows]].astype(np.int64), column.codes[operator]
    amounts = operators.computation[operator] * executions.calls[rows]
    has_dtype = codes >= 0
    cells = owning[has_dtype] * dtypes + codes[has_dtype]
    with np.errstate(all="ignore"):
        by_dtype = np.bincount(cells, amounts[has_dtype], size * dtypes).reshape(size, dtypes)
        is_most = by_dtype > np.bincount(owning, amounts, size)[:, np.newaxis] / 2
    gets_dtype = (column.codes < 0) & is_most.any(axis=1)
    filled = np.where(gets_dtype, is_most.argmax(axis=1), column.codes) if dtypes else column.codes
    return {COMPUTE_DTYPE: Categorical(filled, column.categories)}


def _owned(profile: Profile, owner: Indices, level: str) -> Indices:
    """Return the executions at `level` that have an owner, or that own themselves."""
    return np.flatnonzero(is_at_level(profile, level) & (owner >= 0))


def _partly_known(
    kernels: Indices, owner: Indices, per_call: Floats, executions: Executions
) -> Indices:
    """Return the `kernels` of all operators that own at least one kernel of unknown work.

    These kernels add nothing to the work of the operator. Otherwise, the bytes of a memset would
    count as the bytes of the whole operator.
    """
    operator = executions.operator
    unknown = kernels[np.isnan(per_call)[operator[kernels]]]
    has_unknown = _owning(unknown, owner, executions, len(per_call))
    return kernels[has_unknown[operator[owner[kernels]]]]


def _delegates(rows: Indices, executions: Executions, size: int) -> dict[str, Any]:
    """Return the optional column `DELEGATES`; `{}` if no execution delegates.

    `rows` are the executions that delegate and are rows of the level.
    """
    if not len(rows):
        return {}
    column = np.full(size, np.nan)
    column[executions.operator[rows]] = 1.0
    return {DELEGATES: column}


def _owned_messages(
    profile: Profile, kernels: Indices, owner: Indices, calls: Floats
) -> dict[str, Any]:
    """Return the optional columns of messages: each operator gets the values of its kernels.

    The result is `{}` if the format has no messages.
    """
    operators, executions = profile.operators, profile.executions
    if "collective" not in operators.optional:
        return {}
    changed: dict[str, Any] = {}
    for name in MESSAGE_AMOUNTS:
        per_call = operators.numbers(name)
        unknown = _partly_known(kernels, owner, per_call, executions)
        known = kernels[~np.isin(kernels, unknown)]
        sums = _sums(known, owner, per_call, executions) / calls
        changed[name] = np.where(np.isnan(per_call), finite(sums), per_call)
    owning = executions.operator[owner[kernels]]
    for name in MESSAGE_TEXTS:
        column = operators.categorical(name)
        changed[name] = _common(column, column.codes[executions.operator[kernels]], owning)
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


def _source_of_owned(
    operators: Operators,
    work: str,
    counted: Indices,
    owner: Indices,
    executions: Executions,
) -> Categorical[str]:
    """Return the source of each operator's work: `derived` if any of its work is derived.

    Otherwise, the source is `measured`. `counted` has the executions whose work counts. Operators
    that own none of these executions keep their source.
    """
    source: Categorical[str] = getattr(operators, f"{work}_source")
    is_derived = source.where(one == DERIVED for one in source.categories)
    derived = counted[is_derived[executions.operator[counted]]]
    categories = tuple(dict.fromkeys((*source.categories, MEASURED, DERIVED)))
    codes = source.codes.copy()
    codes[executions.operator[owner[counted]]] = categories.index(MEASURED)
    codes[executions.operator[owner[derived]]] = categories.index(DERIVED)
    return Categorical(codes, categories)

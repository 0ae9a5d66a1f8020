"""Which operators are the rows: those of one level, so that times add up and none counts twice.

| level | a row is | its time |
|---|---|---|
| operator | an innermost operator | without the operators that ran inside it |
| top | an outermost operator | with all that ran inside it |
| module | a module or region | without the modules that ran inside it |
| kernel | a kernel, as a device ran it | as recorded |

Calls into the driver belong to the operator that made them. A kernel's device time belongs to the
operator (or module) that launched it, and so do computation and memory that are known of a kernel
or of something else below a row.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from profile_analyze.errors import QueryError
from profile_analyze.model.categorical import Categorical
from profile_analyze.model.measuring import on_side
from profile_analyze.model.numbers import total
from profile_analyze.model.terms import DERIVED, DEVICE, KERNEL, LEVELS, MODULE, OPERATOR, TOP
from profile_analyze.units import counted, seconds

if TYPE_CHECKING:
    from typing import TypeAlias

    from numpy.typing import NDArray

    from profile_analyze.model.executions import Executions
    from profile_analyze.model.operators import Operators
    from profile_analyze.model.profile import Profile

    Indices: TypeAlias = NDArray[np.int64]

_NONE = -1


def levels_of(profile: Profile) -> tuple[str, ...]:
    """The levels that a question about the profile may name, in the order of `terms.LEVELS`."""
    level = profile.operators.level
    used = {level.categories[code] for code in set(level.codes.tolist()) if code >= 0}
    if OPERATOR in used and _is_target(profile, OPERATOR).any():
        above = _targets_above(profile, _is_target(profile, OPERATOR))
        if (above[_is_target(profile, OPERATOR)] >= 0).any():
            used.add(TOP)
    return tuple(one for one in LEVELS if one in used)


def at_level(profile: Profile, level: str | None = None) -> Profile:
    """The profile with the rows of one level, by default operators or else what there is.

    Raises `QueryError` if the profile has no such level.
    """
    if profile.level is not None and level in (None, profile.level):
        return profile
    if level in (None, OPERATOR) and _is_flat(profile):
        return profile
    known = levels_of(profile)
    chosen = level or next(iter(known), OPERATOR)
    if chosen not in known:
        has = f"it has {', '.join(known)}" if known else "it has no rows at all"
        raise QueryError(f"level: the profile has no level {chosen!r}; {has}")
    if chosen == KERNEL:
        return _rows_of(profile, profile.executions, KERNEL, profile.operators)
    return _with_what_ran_inside(profile, chosen)


def _is_flat(profile: Profile) -> bool:
    """Whether all rows are operators already, none of which ran inside another."""
    level = profile.operators.level
    return level.categories == (OPERATOR,) and not profile.executions.nest


def _with_what_ran_inside(profile: Profile, level: str) -> Profile:
    """The rows of the level with their own times, and what was launched from inside of them."""
    executions = profile.executions
    is_target = _is_target(profile, MODULE if level == MODULE else OPERATOR)
    above = _targets_above(profile, is_target)
    owner = np.where(is_target, np.arange(len(executions)), above)
    if level == TOP:
        owner = _outermost(owner, above)
    is_own = is_target & (owner == np.arange(len(executions)))
    own_s = _without_nested(executions, is_target, above)
    executions = executions.changed(
        self_s=np.where(is_own, own_s, np.nan),
        duration_s=executions.duration_s if level == TOP else own_s,
    )
    is_kernel = _is_target(profile, KERNEL) & on_side(profile, DEVICE)
    launched = np.flatnonzero(is_kernel & (owner >= 0))
    rows = np.concatenate([np.flatnonzero(is_own), launched])
    shown = executions.changed(
        operator=np.where(owner >= 0, executions.operator[owner], executions.operator),
        calls=np.where(is_own, executions.calls, 0).astype(np.int32),  # a kernel is no call of it
        parent=np.broadcast_to(np.int32(_NONE), len(executions)),
        launched_by=np.broadcast_to(np.int32(_NONE), len(executions)),
    ).take(rows)
    operators = _with_work_inside(profile, owner, is_own)
    found = _rows_of(profile, shown, MODULE if level == MODULE else OPERATOR, operators)
    lost = np.flatnonzero(is_kernel & (owner < 0))
    notes = (*found.notes, *_on_lost_kernels(profile.executions, lost, level))
    return found.changed(level=level, notes=notes)


def _is_target(profile: Profile, level: str) -> NDArray[np.bool_]:
    """Shape (executions,): whether each is of an operator of that level."""
    column = profile.operators.level
    return column.where(one == level for one in column.categories)[profile.executions.operator]


def _targets_above(profile: Profile, is_target: NDArray[np.bool_]) -> Indices:
    """Shape (executions,): the innermost target that each ran inside of, or -1.

    What was launched belongs where the launching call does.
    """
    executions = profile.executions
    up = np.where(executions.parent >= 0, executions.parent, executions.launched_by)
    above = up.astype(np.int64)
    while True:
        undecided = np.flatnonzero(above >= 0)
        undecided = undecided[~is_target[above[undecided]]]
        if not len(undecided):
            return above
        above[undecided] = up[above[undecided]]


def _outermost(owner: Indices, above: Indices) -> Indices:
    """The last target that is reached from each owner by going up, or -1."""
    found = owner.copy()
    while True:
        inside = np.flatnonzero(found >= 0)
        inside = inside[above[found[inside]] >= 0]
        if not len(inside):
            return found
        found[inside] = above[found[inside]]


def _without_nested(
    executions: Executions, is_target: NDArray[np.bool_], above: Indices
) -> NDArray[np.float64]:
    """Shape (executions,): the duration without the targets that ran inside, on the same track.

    What the file itself says (`self_s`) counts where nothing is known to have run inside.
    """
    nested = np.flatnonzero(is_target & (above >= 0))
    nested = nested[executions.track[nested] == executions.track[above[nested]]]
    if not len(nested):
        given = executions.self_s
        return np.where(np.isnan(given), executions.duration_s, given)
    inside_s = np.bincount(above[nested], executions.duration_s[nested], minlength=len(executions))
    # rounding may leave a little less than nothing
    return np.maximum(executions.duration_s - inside_s, 0.0)


def _with_work_inside(profile: Profile, owner: Indices, is_own: NDArray[np.bool_]) -> Operators:
    """The operators, with the computation and memory of what ran inside of their executions."""
    operators, executions = profile.operators, profile.executions
    inside = np.flatnonzero(~is_own & (owner >= 0))
    changed: dict[str, Any] = {}
    for work in ("computation", "memory"):
        per_call = getattr(operators, work)
        amounts = per_call[executions.operator[inside]] * executions.calls[inside]
        known = np.flatnonzero(~np.isnan(amounts))
        if not len(known):
            continue
        rows = executions.operator[owner[inside[known]]]
        added = np.bincount(rows, amounts[known], minlength=len(operators))
        calls = np.bincount(
            executions.operator[is_own], executions.calls[is_own], minlength=len(operators)
        )
        has_more = added > 0
        with np.errstate(all="ignore"):
            more = np.nan_to_num(per_call) + added / calls
        changed[work] = np.where(has_more, more, per_call)
        changed[f"{work}_source"] = _source_with(operators, work, inside[known], rows, executions)
    return replace(operators, **changed) if changed else operators


def _source_with(
    operators: Operators,
    work: str,
    inside: Indices,
    rows: NDArray[np.int32],
    executions: Executions,
) -> Categorical[str]:
    """The source of each operator's work; derived where a part of it is."""
    source: Categorical[str] = getattr(operators, f"{work}_source")
    is_derived = source.where(one == DERIVED for one in source.categories)
    from_inside = rows[is_derived[executions.operator[inside]]]
    categories = tuple(dict.fromkeys((*source.categories, DERIVED)))
    codes = source.codes.copy()
    codes[from_inside] = categories.index(DERIVED)
    return Categorical(codes, categories)


def _rows_of(profile: Profile, executions: Executions, level: str, operators: Operators) -> Profile:
    """The profile with the operators of the level, and such of `executions` as are of them."""
    column = operators.level
    is_shown = column.where(one == level for one in column.categories)
    kept = np.flatnonzero(is_shown)
    new_row = np.full(len(operators), _NONE, np.int32)
    new_row[kept] = np.arange(len(kept))
    of_kept = np.flatnonzero(is_shown[executions.operator])
    shown = executions.take(of_kept)
    return profile.changed(
        operators=operators.take(kept),
        executions=shown.changed(operator=new_row[shown.operator]),
        uses=None,
        dependencies=None,
        allocations=None,
        level=level,
    )


def _on_lost_kernels(executions: Executions, lost: Indices, level: str) -> tuple[str, ...]:
    if not len(lost):
        return ()
    lost_s = total(executions.duration_s[lost])
    return (
        f"left out {counted(len(lost), 'kernel')} ({seconds(lost_s)} s) that no {level} of the "
        "profile launched; --level kernel has them",
    )

"""Chooses the rows: operators of one level, so that times add up and nothing counts twice.

| level | a row is | its time |
|---|---|---|
| operator | an innermost operator | without the operators that ran inside it |
| top | an outermost operator | with all that ran inside it |
| module | a module or region | without the modules that ran inside it |
| kernel | a kernel, as a device ran it | as recorded |

Calls into the driver belong to the operator that made them. A kernel's device time belongs to the
operator (or module) that launched it. So do the computation and memory of kernels and other
executions below a row.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from profile_analyze.errors import QueryError
from profile_analyze.model.categorical import Categorical
from profile_analyze.model.frozen import constant
from profile_analyze.model.measuring import on_side
from profile_analyze.model.numbers import finite, total
from profile_analyze.model.terms import (
    DERIVED,
    DEVICE,
    KERNEL,
    LEVELS,
    MODULE,
    OPERATOR,
    RUNTIME,
    TOP,
)
from profile_analyze.units import counted, seconds

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import TypeAlias

    from numpy.typing import NDArray

    from profile_analyze.model.executions import Executions
    from profile_analyze.model.operators import Operators
    from profile_analyze.model.profile import Profile

    Floats: TypeAlias = NDArray[np.float64]
    Indices: TypeAlias = NDArray[np.int64]

_NONE: Final = -1

_KINDS: Final = {KERNEL: "kernel", RUNTIME: "call into the driver", OPERATOR: "operator"}
"""What may be outside of all rows of a level, and its name in notes."""

_ADVICE: Final = {
    KERNEL: "--level kernel has them",
    RUNTIME: "no level has them",
    OPERATOR: "--level operator has them",
}


def levels_of(profile: Profile) -> tuple[str, ...]:
    """The levels that a question about the profile may name, in the order of `terms.LEVELS`."""
    level = profile.operators.level
    used = {level.categories[code] for code in set(level.codes.tolist()) if code >= 0}
    if OPERATOR in used:
        is_target = _is_target(profile, OPERATOR)
        if (_targets_above(_up(profile.executions), is_target)[is_target] >= 0).any():
            used.add(TOP)
    return tuple(one for one in LEVELS if one in used)


def at_level(profile: Profile, level: str | None = None) -> Profile:
    """The profile with the rows of one level; by default operators, or else the first level it has.

    Raises `QueryError` if the profile has no such level, or has the rows of another one already.
    """
    if profile.level is not None:
        if level in (None, profile.level):
            return profile
        raise QueryError(f"level: the rows are of level {profile.level} already, not {level}")
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


def common_level(one: Profile, other: Profile) -> str | None:
    """The first level that both profiles have; None if their rows need no level.

    Raises `QueryError` if there is no such level.
    """
    if one.level == other.level and (one.level is not None or (_is_flat(one) and _is_flat(other))):
        return None
    levels = [(profile.level,) if profile.level else levels_of(profile) for profile in (one, other)]
    for level in levels[0]:
        if level in levels[1]:
            return level
    ours, theirs = (", ".join(names) or "no level" for names in levels)
    raise QueryError(f"level: the profiles have none in common: {ours}, and {theirs}")


def _is_flat(profile: Profile) -> bool:
    """Whether all rows are operators, without nested executions or times to leave out."""
    if not len(profile):
        return True
    executions = profile.executions
    is_nested = executions.nest or not np.isnan(executions.self_s).all()
    return profile.operators.level.categories == (OPERATOR,) and not is_nested


def _with_what_ran_inside(profile: Profile, level: str) -> Profile:
    """The rows of the level with their own times, and the kernels launched inside them."""
    executions = profile.executions
    rows = np.arange(len(executions))
    is_target = _is_target(profile, MODULE if level == MODULE else OPERATOR)
    up = _up(executions)
    above = _targets_above(up, is_target)
    owner = np.where(is_target, rows, above)
    if level == TOP:
        owner = _outermost(owner, above)
    is_own = is_target & (owner == rows)
    own_s = _without_nested(executions, is_target, above)
    times = {
        "self_s": np.where(is_own, own_s, np.nan),
        "duration_s": _with_other_tracks(executions, is_target, above, owner)
        if level == TOP
        else own_s,
    }
    is_kernel = _is_target(profile, KERNEL) & on_side(profile, DEVICE)
    launched = np.flatnonzero(is_kernel & (owner >= 0))
    shown = executions.changed(
        **times,
        operator=np.where(owner >= 0, executions.operator[owner], executions.operator),
        calls=np.where(is_own, executions.calls, 0),  # a kernel is not a call
        phase=_own_or_of_owner(executions.phase, owner),
        parent=constant(np.int32(_NONE), len(executions)),
        launched_by=constant(np.int32(_NONE), len(executions)),
    ).take(np.concatenate([np.flatnonzero(is_own), launched]))
    operators = _with_work_inside(profile, up, owner, is_own)
    found = _rows_of(profile, shown, MODULE if level == MODULE else OPERATOR, operators)
    notes = (*found.notes, *_on_what_is_outside(profile, owner, up, level))
    return found.changed(level=level, notes=notes)


def _is_target(profile: Profile, level: str) -> NDArray[np.bool_]:
    """Shape (executions,): whether each is of an operator of that level."""
    column = profile.operators.level
    return column.where(one == level for one in column.categories)[profile.executions.operator]


def _up(executions: Executions) -> Indices:
    """Shape (executions,): the execution that each ran inside, or that launched it, or -1."""
    up = np.where(executions.parent >= 0, executions.parent, executions.launched_by)
    return up.astype(np.int64)


def _targets_above(up: Indices, is_target: NDArray[np.bool_]) -> Indices:
    """Shape (executions,): the innermost target that each ran inside of, or -1.

    A launched execution belongs to the target of the call that launched it. Each pass goes as far
    up as all passes before together.
    """
    above = up.copy()
    while True:
        undecided = np.flatnonzero(above >= 0)
        undecided = undecided[~is_target[above[undecided]]]
        if not len(undecided):
            return above
        above[undecided] = above[above[undecided]]


def _outermost(owner: Indices, above: Indices) -> Indices:
    """The last target that is reached from each owner by going up, or -1."""
    rows = np.arange(len(above))
    outer = np.where(above >= 0, above, rows)
    while True:
        further = outer[outer]
        if (further == outer).all():
            return np.where(owner >= 0, outer[owner], _NONE)
        outer = further


def _without_nested(executions: Executions, is_target: NDArray[np.bool_], above: Indices) -> Floats:
    """Shape (executions,): the duration without the targets that ran inside, on the same track.

    The file's own `self_s` is used for executions without targets inside, where it is known.
    """
    nested = np.flatnonzero(is_target & (above >= 0))
    nested = nested[executions.track[nested] == executions.track[above[nested]]]
    given = np.where(np.isnan(executions.self_s), executions.duration_s, executions.self_s)
    if not len(nested):
        return given
    inside_s = np.bincount(above[nested], executions.duration_s[nested], minlength=len(executions))
    has_inside = np.bincount(above[nested], minlength=len(executions)) > 0
    # rounding may give slightly less than 0
    return np.where(has_inside, np.maximum(executions.duration_s - inside_s, 0.0), given)


def _with_other_tracks(
    executions: Executions, is_target: NDArray[np.bool_], above: Indices, owner: Indices
) -> Floats:
    """Shape (executions,): the duration with what ran inside on other tracks."""
    nested = np.flatnonzero(is_target & (above >= 0))
    nested = nested[executions.track[nested] != executions.track[above[nested]]]
    more_s = np.bincount(owner[nested], executions.duration_s[nested], minlength=len(executions))
    return executions.duration_s + more_s


def _own_or_of_owner(values: Categorical[str], owner: Indices) -> Categorical[str]:
    """The values; an execution without one has that of its owner."""
    if not values.categories:
        return values
    codes = np.where((values.codes < 0) & (owner >= 0), values.codes[owner], values.codes)
    return Categorical(codes, values.categories)


def _with_work_inside(
    profile: Profile, up: Indices, owner: Indices, is_own: NDArray[np.bool_]
) -> Operators:
    """The operators, including the computation and memory of what ran inside their executions.

    Work counts once: if an execution and another inside it both state it, the inner one counts.
    """
    operators, executions = profile.operators, profile.executions
    calls = np.bincount(
        executions.operator[is_own], executions.calls[is_own], minlength=len(operators)
    )
    changed: dict[str, Any] = {}
    for work in ("computation", "memory"):
        per_call: Floats = getattr(operators, work)
        is_known = ~np.isnan(per_call)[executions.operator]
        counts = is_known & ~_has_inside(is_known, up) & (owner >= 0)
        inside = counts & ~is_own
        if not (inside.any() or (is_own & is_known & ~counts).any()):
            continue
        rows = np.flatnonzero(counts)
        of_operator = executions.operator[owner[rows]]
        with np.errstate(all="ignore"):
            amounts = per_call[executions.operator[rows]] * executions.calls[rows]
            sums = np.bincount(of_operator, amounts, minlength=len(operators)) / calls
        sums[np.bincount(of_operator, minlength=len(operators)) == 0] = np.nan
        is_changed = np.zeros(len(operators), np.bool_)
        is_changed[executions.operator[owner[inside]]] = True
        is_changed[executions.operator[is_own & is_known & ~counts]] = True
        changed[work] = np.where(is_changed, finite(sums), per_call)
        source = _source_with(operators, work, np.flatnonzero(inside), owner, executions)
        changed[f"{work}_source"] = source
    return replace(operators, **changed) if changed else operators


def _has_inside(is_known: NDArray[np.bool_], up: Indices) -> NDArray[np.bool_]:
    """Shape (executions,): whether something inside of each is known."""
    found = np.zeros(len(up) + 1, np.bool_)  # the last is for what -1 points to
    above = np.unique(up[is_known])
    above = above[above >= 0]
    while len(above):
        new = above[~found[above]]
        found[new] = True
        above = np.unique(up[new])
        above = above[above >= 0]
    return found[:-1]


def _source_with(
    operators: Operators,
    work: str,
    inside: Indices,
    owner: Indices,
    executions: Executions,
) -> Categorical[str]:
    """The source of each operator's work; `derived` if any part of it is derived."""
    source: Categorical[str] = getattr(operators, f"{work}_source")
    is_derived = source.where(one == DERIVED for one in source.categories)
    derived = inside[is_derived[executions.operator[inside]]]
    categories = tuple(dict.fromkeys((*source.categories, DERIVED)))
    codes = source.codes.copy()
    codes[executions.operator[owner[derived]]] = categories.index(DERIVED)
    return Categorical(codes, categories)


def _rows_of(profile: Profile, executions: Executions, level: str, operators: Operators) -> Profile:
    """The profile with the operators of the level and those of `executions` that belong to them."""
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
        level=level,
        **profile.without_tables(),
    )


def _on_what_is_outside(profile: Profile, owner: Indices, up: Indices, level: str) -> Iterator[str]:
    """Notes on times that belong to no row of the level, each kind with its size."""
    executions = profile.executions
    what = OPERATOR if level == TOP else level
    is_lost = owner < 0
    for kind, name in _KINDS.items():
        is_kind = is_lost & _is_target(profile, kind)
        if kind != KERNEL:
            is_kind &= up < 0  # what is inside of it counts with it
        lost = np.flatnonzero(is_kind)
        if len(lost):
            lost_s = seconds(total(executions.duration_s[lost]))
            how = f"no {what} launched" if kind == KERNEL else f"ran outside of all {what}s"
            yield f"left out {counted(len(lost), name)} ({lost_s} s) that {how}; {_ADVICE[kind]}"

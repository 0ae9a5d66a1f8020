"""Selects the operators of one level as rows, so that times add up and nothing counts twice.

| level | a row is | its time |
|---|---|---|
| operator | an innermost operator | without the operators that ran inside it |
| top | an outermost operator | with everything that ran inside it |
| module | a module or region | without the modules that ran inside it |
| kernel | a kernel | as recorded |

A row owns everything below it: calls into the driver, the device time of the kernels that it
launched, and the computation and memory of all these executions.

In the code, the parent of an execution is the execution around it or, if there is none, the
execution that launched it. A target is an execution at the chosen level. Each execution has at most
one owner: the target to which its time and work belong.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from profile_analyze.errors import QueryError
from profile_analyze.model.categorical import Categorical
from profile_analyze.model.frozen import constant
from profile_analyze.model.measuring import on_side
from profile_analyze.model.notes import Importance, Note
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
from profile_analyze.units import counted, short_time

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

_UNOWNED: Final = {
    KERNEL: ("kernel", "--level kernel has them"),
    RUNTIME: ("call into the driver", "no level has them"),
    OPERATOR: ("operator", "--level operator has them"),
}
"""The kinds of execution that may have no owner. Each has a noun and advice for the note on it."""


def levels_of(profile: Profile) -> tuple[str, ...]:
    """Return the levels that a question can ask for in this profile, in the order of `LEVELS`."""
    level = profile.operators.level
    used = {level.categories[code] for code in set(level.codes.tolist()) if code >= 0}
    if OPERATOR in used:
        is_target = _is_at_level(profile, OPERATOR)
        # Without nested operators, `top` would be the same as `operator`.
        if (innermost_above(profile.executions.above, is_target)[is_target] >= 0).any():
            used.add(TOP)
    return tuple(one for one in LEVELS if one in used)


def at_level(profile: Profile, level: str | None = None) -> Profile:
    """Return the profile with the rows of one level. The default is the first level in `levels_of`.

    Raises `QueryError` if the profile has no such level, or if another level was selected before.
    """
    if profile.level is not None:
        if level in (None, profile.level):
            return profile
        raise QueryError(f"level: the rows are of level {profile.level} already, not {level}")
    if level in (None, OPERATOR) and _is_flat(profile):  # a quick test, true for most formats
        return profile
    known = levels_of(profile)
    chosen = level or next(iter(known), OPERATOR)
    if chosen not in known:
        has = f"it has {', '.join(known)}" if known else "it has no rows at all"
        raise QueryError(f"level: the profile has no level {chosen!r}; {has}")
    if chosen == KERNEL:  # kernels do not nest, so their times are as recorded
        return _rows_of(profile, profile.executions, KERNEL, profile.operators)
    return _with_owned_executions(profile, chosen)


def common_level(profile: Profile, other: Profile) -> str | None:
    """Return the first level that both profiles have; None if no level has to be selected.

    Raises `QueryError` if the profiles have no level in common.
    """
    is_flat = _is_flat(profile) and _is_flat(other)
    if profile.level == other.level and (profile.level is not None or is_flat):
        return None
    levels, other_levels = (
        (side.level,) if side.level else levels_of(side) for side in (profile, other)
    )
    for level in levels:
        if level in other_levels:
            return level
    names, other_names = (", ".join(found) or "no level" for found in (levels, other_levels))
    raise QueryError(f"level: the profiles have no level in common: {names}, and {other_names}")


def _is_flat(profile: Profile) -> bool:
    """Return whether all rows are operators, none of them nested. No level is needed then."""
    if not len(profile):
        return True
    executions = profile.executions
    is_nested = executions.have_ancestors or not np.isnan(executions.self_s).all()
    return profile.operators.level.categories == (OPERATOR,) and not is_nested


def _with_owned_executions(profile: Profile, level: str) -> Profile:
    """Return the profile with the rows of a level. Each row gets its time and its kernels."""
    executions = profile.executions
    rows = np.arange(len(executions))
    is_target = _is_at_level(profile, MODULE if level == MODULE else OPERATOR)
    parent = executions.above
    above = innermost_above(parent, is_target)
    owner = np.where(is_target, rows, above)
    if level == TOP:  # an outermost operator owns all operators inside it
        owner = _outermost(owner, above)
    is_row = is_target & (owner == rows)  # at level `top`, a nested operator is not a row
    nested, nested_on_others = _nested_targets(profile, is_target, above)
    own_s = _without_nested(executions, nested, above)
    times = {
        "self_s": np.where(is_row, own_s, np.nan),
        "duration_s": _with_other_lines(executions, nested_on_others, owner)
        if level == TOP
        else own_s,
    }
    # Kernels stay separate executions. They become the device time of their owner.
    is_kernel = _is_at_level(profile, KERNEL) & on_side(profile, DEVICE)
    launched = np.flatnonzero(is_kernel & (owner >= 0))
    shown = executions.changed(
        **times,
        operator=np.where(owner >= 0, executions.operator[owner], executions.operator),
        calls=np.where(is_row, executions.calls, 0),  # a kernel is not a call of its operator
        phase=_filled_from_owner(executions.phase, owner),
        # The times already account for nested executions, so the result is flat.
        parent=constant(np.int32(_NONE), len(executions)),
        launched_by=constant(np.int32(_NONE), len(executions)),
    ).take(np.concatenate([np.flatnonzero(is_row), launched]))
    operators = _with_owned_work(profile, parent, owner, is_row)
    result = _rows_of(profile, shown, MODULE if level == MODULE else OPERATOR, operators)
    notes = (*result.notes, *_notes_on_unowned(profile, owner, parent, level))
    return result.changed(level=level, notes=notes)


def _is_at_level(profile: Profile, level: str) -> NDArray[np.bool_]:
    """Return whether each execution is of an operator at `level`, shape (executions,)."""
    column = profile.operators.level
    return column.where(one == level for one in column.categories)[profile.executions.operator]


def _nested_targets(
    profile: Profile, is_target: NDArray[np.bool_], above: Indices
) -> tuple[Indices, Indices]:
    """Return two arrays of nested targets: on the line of the target above, and on other lines."""
    line = Categorical.of([track.line for track in profile.tracks]).codes[profile.executions.track]
    nested = np.flatnonzero(is_target & (above >= 0))
    is_same = line[nested] == line[above[nested]]
    return nested[is_same], nested[~is_same]


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


def _outermost(owner: Indices, above: Indices) -> Indices:
    """Return the outermost target above each owner, shape (executions,).

    If no target is above an owner, return the owner. For an execution without an owner, return -1.
    """
    rows = np.arange(len(above))
    outer = np.where(above >= 0, above, rows)
    while True:  # as in `innermost_above`
        further = outer[outer]
        if (further == outer).all():
            return np.where(owner >= 0, outer[owner], _NONE)
        outer = further


def _without_nested(executions: Executions, nested: Indices, above: Indices) -> Floats:
    """Return each duration minus the durations of `nested` targets inside, shape (executions,).

    An execution without nested targets keeps the `self_s` of the file, or else its duration.
    """
    recorded = np.where(np.isnan(executions.self_s), executions.duration_s, executions.self_s)
    if not len(nested):
        return recorded
    inside_s = np.bincount(above[nested], executions.duration_s[nested], minlength=len(executions))
    has_inside = np.bincount(above[nested], minlength=len(executions)) > 0
    # Rounding may give slightly less than 0.
    return np.where(has_inside, np.maximum(executions.duration_s - inside_s, 0.0), recorded)


def _with_other_lines(executions: Executions, nested: Indices, owner: Indices) -> Floats:
    """Return the durations. Owners also get the durations of `nested` targets on other lines."""
    more_s = np.bincount(owner[nested], executions.duration_s[nested], minlength=len(executions))
    return executions.duration_s + more_s


def _filled_from_owner(values: Categorical[str], owner: Indices) -> Categorical[str]:
    """Replace N/A in the values of executions by the value of the owner."""
    if not values.categories:
        return values
    codes = np.where((values.codes < 0) & (owner >= 0), values.codes[owner], values.codes)
    return Categorical(codes, values.categories)


def _with_owned_work(
    profile: Profile, parent: Indices, owner: Indices, is_row: NDArray[np.bool_]
) -> Operators:
    """Return the operators with the computation and memory of the executions that they own.

    Work counts once. If an outer and a nested execution both have work, only the nested work
    counts.
    """
    operators, executions = profile.operators, profile.executions
    calls = np.bincount(
        executions.operator[is_row], executions.calls[is_row], minlength=len(operators)
    )
    changed: dict[str, Any] = {}
    for work in ("computation", "memory"):
        per_call: Floats = getattr(operators, work)
        is_known = ~np.isnan(per_call)[executions.operator]
        counts = is_known & ~_has_known_inside(is_known, parent) & (owner >= 0)
        inside = counts & ~is_row
        superseded = is_row & is_known & ~counts  # nested work counts instead
        if not (inside.any() or superseded.any()):
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


def _rows_of(profile: Profile, executions: Executions, level: str, operators: Operators) -> Profile:
    """Return the profile with only the operators of the level, and their `executions`."""
    column = operators.level
    has_level = column.where(one == level for one in column.categories)
    rows = np.flatnonzero(has_level)
    new_row = np.full(len(operators), _NONE, np.int32)
    new_row[rows] = np.arange(len(rows))
    shown = executions.take(np.flatnonzero(has_level[executions.operator]))
    return profile.changed(
        operators=operators.take(rows),
        executions=shown.changed(operator=new_row[shown.operator]),
        level=level,
        **profile.without_tables(),
    )


def _notes_on_unowned(
    profile: Profile, owner: Indices, parent: Indices, level: str
) -> Iterator[Note]:
    """Yield notes on executions without an owner, one note for each kind of execution."""
    executions = profile.executions
    owner_noun = OPERATOR if level == TOP else level
    for kind, (noun, advice) in _UNOWNED.items():
        is_left_out = (owner < 0) & _is_at_level(profile, kind)
        if kind != KERNEL:
            # Only outermost executions are counted: their times include all nested executions.
            is_left_out &= parent < 0
        rows = np.flatnonzero(is_left_out)
        if len(rows):
            time_s = short_time(total(executions.duration_s[rows]))
            is_kernel = kind == KERNEL
            why = f"no {owner_noun} launched" if is_kernel else f"ran outside of all {owner_noun}s"
            yield Note(
                f"left out {counted(len(rows), noun)} ({time_s}) that {why}; {advice}",
                Importance.INCOMPLETE,
            )

"""Selects the operators of one level as rows, so that times add up and nothing counts twice.

| level | a row is | its time |
|---|---|---|
| operator | any operator, nested or not | without the operators that ran inside it |
| top | an outermost operator | with everything that ran inside it |
| module | a module or region | without the modules that ran inside it |
| kernel | a kernel | as recorded |

A row owns the executions inside it: nested operators, calls into the driver, and their kernels.
The row gets their device time, computation and memory. An execution inside several rows belongs
only to the innermost of them. A row of level `kernel` owns only itself.

Work counts once. Nested operators often state the same work again: for example, an operator for
convolutions calls a second operator, which computes the convolution. The work of an outer operator
therefore does not count if the executions inside do at least half of it. The computation and memory
of the outer operator are then N/A, so that totals count the work only once. See `delegation.py`.

`model.levels.ownership` explains parents, targets and owners.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from profile_analyze.errors import QueryError
from profile_analyze.model.categorical import Categorical
from profile_analyze.model.executions import OWNED
from profile_analyze.model.frozen import constant
from profile_analyze.model.joining.ranks import collective_notes
from profile_analyze.model.levels.ancestors import innermost_above
from profile_analyze.model.levels.owned_work import with_owned_work
from profile_analyze.model.levels.ownership import (
    Ownership,
    have_device_time,
    is_at_level,
    nested_targets,
    ownership,
    without_nested,
)
from profile_analyze.model.levels.unowned_notes import notes_on_unowned
from profile_analyze.model.measuring import on_side
from profile_analyze.model.notes import (
    NO_SCOPE,
    Importance,
    Note,
    TextNote,
    counted_and_share,
    operators_and_share,
    time_and_share,
)
from profile_analyze.model.numbers import quantile_of_runs, ratio, total, totals
from profile_analyze.model.terms import (
    DEVICE,
    KERNEL,
    LEVELS,
    MODULE,
    OPERATOR,
    TOP,
)
from profile_analyze.units import counted

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

_NEEDS: Final = {
    KERNEL: "only traces that recorded the work of a GPU have kernels",
    MODULE: "only traces that recorded modules or named regions have this level",
    TOP: "no operator ran inside another",
}
"""Why a profile may lack a level, for the error message."""
_LEAST_BETWEEN: Final = 0.001
"""The smallest time outside of operators that gets a note, as a share of the time of modules."""
_MOST_WITHOUT_SCOPE: Final = 0.5
"""If operators without a scope take a larger share of the time, the profile has too few modules to
show which modules are slow."""


def levels_of(profile: Profile) -> tuple[str, ...]:
    """Return the levels that a question can ask for in this profile, in the order of `LEVELS`."""
    used = _stored_levels(profile)
    if OPERATOR in used:
        is_target = is_at_level(profile, OPERATOR)
        # Without nested operators, `top` would be the same as `operator`.
        if (innermost_above(profile.executions.above, is_target)[is_target] >= 0).any():
            used.add(TOP)
    return tuple(one for one in LEVELS if one in used)


def _stored_levels(profile: Profile) -> set[str]:
    """Return the levels in `Operators.level`. There, rows of level `top` have level `operator`."""
    level = profile.operators.level
    return {level.categories[code] for code in set(level.codes.tolist()) if code >= 0}


def at_level(profile: Profile, level: str | None = None, *, keep_nested: bool = False) -> Profile:
    """Return the profile with the rows of one level. The default is the first level in `levels_of`.

    With `keep_nested`, `Profile.nested` of a new profile is `profile`, which then stays in memory.

    Raises `QueryError` if the profile has no such level, or if another level was selected before.
    """
    if profile.level is not None:
        if level in (None, profile.level):
            return profile
        raise QueryError(f"level: the rows are of level {profile.level} already, not {level}")
    if level in (None, OPERATOR) and _is_flat(profile):  # a quick test, true for most formats
        return profile
    # `levels_of` looks for nested operators, which takes long. The default level does not need it.
    is_default = level in (None, OPERATOR) and OPERATOR in _stored_levels(profile)
    known = (OPERATOR,) if is_default else levels_of(profile)
    chosen = level or next(iter(known), OPERATOR)
    if chosen not in known:
        has = f"its levels: {', '.join(known)}" if known else "it has no rows at all"
        why = f": {_NEEDS[chosen]}" if known and chosen in _NEEDS else ""
        raise QueryError(f"level: the profile has no level {chosen!r}{why}; {has}")
    if chosen == KERNEL:  # kernels do not nest, so their times are as recorded
        kernels = profile.executions.changed(kernel=_kernel_names(profile))
        result = _rows_of(profile, kernels, KERNEL, profile.operators)
    else:
        result = _with_owned_executions(profile, chosen)
    notes = (*result.notes, *collective_notes(profile))
    return result.changed(notes=notes, nested=profile if keep_nested else None)


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
    return profile.operators.level.categories == (OPERATOR,) and profile.executions.are_flat


def _with_owned_executions(profile: Profile, level: str) -> Profile:
    """Return the profile with the rows of a level. Each row gets its time and its kernels."""
    executions = profile.executions
    owned = ownership(profile, level)
    owner, is_row = owned.owner, owned.is_row
    is_timed = have_device_time(profile, owned)
    nested, on_other_lines = nested_targets(profile, owned.is_target, owned.above)
    own_s = without_nested(executions, nested, owned.above)
    times = {
        "self_s": np.where(is_row, own_s, np.nan),
        "duration_s": _with_other_lines(executions, on_other_lines, owner)
        if level == TOP
        else own_s,
    }
    sums = _owned_sums(executions, owner)
    if "thread_wait_s" in sums:  # a call may end after the operator around it
        sums["thread_wait_s"] = np.minimum(sums["thread_wait_s"], times["duration_s"])
    shown = executions.changed(
        **times,
        operator=np.where(owner >= 0, executions.operator[owner], executions.operator),
        calls=np.where(is_row, executions.calls, 0),  # a kernel is not a call of its operator
        **_untimed_calls(executions, is_row & ~is_timed),
        phase=_filled_from_owner(executions.phase, owner),
        kernel=_kernel_names(profile),
        **sums,
        # The times already account for nested executions, so the result is flat.
        parent=constant(np.int32(_NONE), len(executions)),
        launched_by=constant(np.int32(_NONE), len(executions)),
    ).take(owned.shown)
    operators = with_owned_work(profile, owned, is_timed)
    result = _rows_of(profile, shown, MODULE if level == MODULE else OPERATOR, operators)
    notes = (
        *result.notes,
        *notes_on_unowned(profile, owned, level, result),
        *_notes_on_graphs(profile),
        *(_notes_on_modules(profile, owned, own_s) if level == MODULE else ()),
    )
    return result.changed(level=level, notes=notes)


def _untimed_calls(executions: Executions, is_untimed: NDArray[np.bool_]) -> dict[str, Any]:
    """Return the column `untimed_calls`; `{}` if all calls have a device time."""
    calls = np.where(is_untimed, executions.calls, 0)
    return {"untimed_calls": calls} if calls.any() else {}


def _kernel_names(profile: Profile) -> Categorical[str]:
    """Return the name of each execution of a kernel; N/A for other executions."""
    is_kernel = is_at_level(profile, KERNEL)
    if not is_kernel.any():
        return Categorical.missing(len(is_kernel))
    name = profile.operators.name
    codes = np.where(is_kernel, name.codes[profile.executions.operator], _NONE)
    return Categorical(codes, name.categories)


def _with_other_lines(executions: Executions, on_others: Indices, owner: Indices) -> Floats:
    """Return each duration plus the durations of nested targets on other lines: see `Track.line`.

    `on_others` has these targets. The duration of a target does not contain them, unlike nested
    targets on its own line.
    """
    more_s = np.bincount(
        owner[on_others], executions.duration_s[on_others], minlength=len(executions)
    )
    return executions.duration_s + more_s


def _owned_sums(executions: Executions, owner: Indices) -> dict[str, Floats]:
    """Return the columns in `OWNED`: the sums over all executions that each execution owns.

    A sum is N/A if the execution owns no execution with a known amount.
    """
    found = {}
    for name in OWNED:
        amounts: Floats = getattr(executions, name)
        known = np.flatnonzero(~np.isnan(amounts) & (owner >= 0))
        if len(known):
            sums = np.bincount(owner[known], amounts[known], minlength=len(executions))
            has_known = np.bincount(owner[known], minlength=len(executions)) > 0
            found[name] = np.where(has_known, sums, np.nan)
    return found


def _filled_from_owner(values: Categorical[str], owner: Indices) -> Categorical[str]:
    """Replace N/A in the values of executions by the value of the owner."""
    if not values.categories:
        return values
    codes = np.where((values.codes < 0) & (owner >= 0), values.codes[owner], values.codes)
    return Categorical(codes, values.categories)


def _rows_of(profile: Profile, executions: Executions, level: str, operators: Operators) -> Profile:
    """Return the profile with only the operators of the level, and their `executions`."""
    column = operators.level
    has_level = column.where(one == level for one in column.categories)
    rows = np.flatnonzero(has_level)
    new_row = np.full(len(operators), _NONE, np.int32)
    new_row[rows] = np.arange(len(rows))
    is_shown = has_level[executions.operator]
    # Taking rows copies all columns, which takes long for millions of executions.
    shown = executions if is_shown.all() else executions.take(np.flatnonzero(is_shown))
    return profile.changed(
        operators=operators.take(rows),
        executions=shown.changed(operator=new_row[shown.operator]),
        level=level,
        **profile.without_tables(),
    )


def _notes_on_modules(profile: Profile, owned: Ownership, own_s: Floats) -> Iterator[Note]:
    """Yield the notes on rows at level `module`. For the arguments see `_notes_on_time_between`."""
    yield from _notes_on_missing_modules(profile)
    yield from _notes_on_time_between(profile, owned, own_s)


def _notes_on_graphs(profile: Profile) -> Iterator[Note]:
    """Yield a note on launches of whole graphs: a row does not show the kernels of its graph."""
    executions, is_launch = profile.executions, profile.operators.hold_graphs
    if not is_launch.any():
        return
    launched_by = executions.launched_by
    kernels = np.flatnonzero(
        (launched_by >= 0)
        & is_launch[executions.operator[launched_by]]
        & is_at_level(profile, KERNEL)
    )
    launches = np.bincount(launched_by[kernels])
    in_graphs = kernels[launches[launched_by[kernels]] > 1]
    if not len(in_graphs):
        return
    graphs = int((launches > 1).sum())
    all_s = total(executions.duration_s[is_at_level(profile, KERNEL)])
    yield TextNote(
        f"{counted(graphs, 'graph launch', 'graph launches')} "
        f"{'holds' if graphs == 1 else 'hold'} {counted_and_share(len(in_graphs), 'kernel')}; "
        "--level kernel shows them",
        Importance.INCOMPLETE,
        total(executions.duration_s[in_graphs]) / (all_s or np.nan),
    )


def _notes_on_missing_modules(profile: Profile) -> Iterator[Note]:
    """Yield a note if most of the time is in operators without a scope, which are in no module.

    Rows at level `module` are then mostly steps, which do not say which modules are slow.
    """
    level = profile.operators.level
    is_operator = level.where(one == OPERATOR for one in level.categories)
    if not (is_operator & (profile.operators.scope.codes < 0)).any():
        return
    operators = at_level(profile, OPERATOR)
    unknown = operators.operators.scope.codes < 0
    times_s = operators.measured("time")
    shares = ratio(totals(times_s[unknown]), totals(times_s))
    share = float(quantile_of_runs(shares[np.newaxis], 0.5)[0])
    if share > _MOST_WITHOUT_SCOPE:
        count = int(unknown.sum())
        yield TextNote(
            f"{operators_and_share(count)} {NO_SCOPE[count > 1]}: the profile has hardly any "
            "modules, only steps or regions; record modules, too (for PyTorch, with "
            "with_stack=True); until then, group operators by type and shapes instead: --level "
            "operator --aggregate-by type,in_shapes",
            Importance.ANSWER,
            share,
        )


def _notes_on_time_between(profile: Profile, owned: Ownership, own_s: Floats) -> Iterator[Note]:
    """Yield a note on the device time that modules and regions spent outside of all operators.

    `owned` is the ownership at level `module`, and `own_s` the time of each execution without
    the modules inside.
    """
    executions = profile.executions
    is_operator = is_at_level(profile, OPERATOR)
    operator_above = innermost_above(owned.parent, is_operator)
    # Modules and operators may contain each other. From the time of all modules, subtract the part
    # inside operators, each time only once:
    # - an operator in a module, if no other operator is around it
    # - a module in an operator, if no other module is around it: all its time is in the operator
    is_inside = is_operator & (operator_above < 0) & (owned.above >= 0)
    is_inside |= owned.is_row & (operator_above >= 0) & (owned.above < 0)
    on_device = on_side(profile, DEVICE)
    whole_s = float(np.nansum(own_s[owned.is_row & on_device]))
    between_s = whole_s - float(np.nansum(executions.duration_s[is_inside & on_device]))
    if whole_s > 0 and between_s >= _LEAST_BETWEEN * whole_s:
        advice = (
            "--level operator leaves this time out"
            if is_operator.any()
            else "the profile has no operators; record them, too"
        )
        yield TextNote(
            f"modules and regions took {time_and_share(between_s, len(profile.runs))} outside of "
            f"all operators, for example in Python code; {advice}",
            Importance.INCOMPLETE,
            between_s / whole_s,
        )

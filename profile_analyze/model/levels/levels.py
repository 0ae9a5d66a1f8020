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
of the outer operator are then N/A, so that totals count the work only once. See `owned_work.py`.

`model.levels.level` explains parents, targets and owners.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from profile_analyze.errors import QueryError
from profile_analyze.model.findings import Finding, Kind
from profile_analyze.model.joining.ranks import collective_notes
from profile_analyze.model.levels.level import level_of
from profile_analyze.model.levels.owned_work import with_owned_work
from profile_analyze.model.levels.unowned_notes import notes_on_unowned
from profile_analyze.model.numbers import quantile_of_runs, ratio, total, totals
from profile_analyze.model.terms import KERNEL, LEVELS, MODULE, OPERATOR, TOP

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from profile_analyze.model.levels.level import Level
    from profile_analyze.model.notes import (
        Note,
    )
    from profile_analyze.model.operators import Operators
    from profile_analyze.model.profile import Profile

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
        operators = level_of(profile, OPERATOR)
        # Without nested operators, `top` would be the same as `operator`.
        if (operators.above[operators.are_targets] >= 0).any():
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
    rows = profile.once(f"rows of {chosen}", lambda: _rows_of(profile, level_of(profile, chosen)))
    return rows.changed(nested=profile) if keep_nested else rows


def timed_rows(profile: Profile, name: str) -> Profile:
    """Return the rows of a level with their times, but without the work that they own."""
    return _with_rows(profile, level_of(profile, name), profile.operators)


def _with_rows(profile: Profile, level: Level, operators: Operators) -> Profile:
    """Return the profile with the rows of `level`. `operators` are the operators of all levels."""
    return profile.changed(
        operators=operators.take(level.rows),
        executions=level.shown_executions(),
        level=level.name,
        **profile.without_tables(),
    )


def _rows_of(profile: Profile, level: Level) -> Profile:
    """Return the profile with the rows of `level`, each with its time and its work."""
    if level.name == KERNEL:
        rows = _with_rows(profile, level, profile.operators)
        notes: Iterable[Note] = ()
    else:
        rows = _with_rows(profile, level, with_owned_work(level))
        notes = (
            *notes_on_unowned(profile, level, rows),
            *_notes_on_graphs(level),
            *(_notes_on_modules(profile, level) if level.name == MODULE else ()),
        )
    return rows.changed(notes=(*profile.notes, *notes, *collective_notes(profile)))


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


def _notes_on_modules(profile: Profile, modules: Level) -> Iterator[Note]:
    """Yield the notes on rows at level `module`."""
    yield from _notes_on_missing_modules(profile)
    yield from _notes_on_time_between(profile, modules)


def _notes_on_graphs(level: Level) -> Iterator[Note]:
    """Yield a note on launches of whole graphs: a row does not show the kernels of its graph."""
    executions, is_launch = level.executions, level.operators.hold_graphs
    if not is_launch.any():
        return
    launched_by = executions.launched_by
    kernels = np.flatnonzero(
        (launched_by >= 0) & is_launch[executions.operator[launched_by]] & level.are_kernels
    )
    launches = np.bincount(launched_by[kernels])
    in_graphs = kernels[launches[launched_by[kernels]] > 1]
    if not len(in_graphs):
        return
    graphs = int((launches > 1).sum())
    all_s = total(executions.duration_s[level.are_kernels])
    share = total(executions.duration_s[in_graphs]) / (all_s or np.nan)
    yield Finding.of(
        *("graph-launches", Kind.INCOMPLETE), share=share, launches=graphs, kernels=len(in_graphs)
    )


def _notes_on_missing_modules(profile: Profile) -> Iterator[Note]:
    """Yield a note if most of the time is in operators without a scope, which are in no module.

    Rows at level `module` are then mostly steps, which do not say which modules are slow.
    """
    are_operators = profile.operators.are_at(OPERATOR)
    if not (are_operators & (profile.operators.scope.codes < 0)).any():
        return
    operators = timed_rows(profile, OPERATOR)
    unknown = operators.operators.scope.codes < 0
    times_s = operators.measured("time")
    shares = ratio(totals(times_s[unknown]), totals(times_s))
    share = float(quantile_of_runs(shares[np.newaxis], 0.5)[0])
    if share > _MOST_WITHOUT_SCOPE:
        count = int(unknown.sum())
        yield Finding.of("no-modules", Kind.ANSWER, share=share, operators=count)


def _notes_on_time_between(profile: Profile, modules: Level) -> Iterator[Note]:
    """Yield a note on the device time that modules and regions spent outside of all operators."""
    duration_s, operators = profile.executions.duration_s, level_of(profile, OPERATOR)
    # Modules and operators may contain each other. From the time of all modules, subtract the part
    # inside operators, each time only once:
    # - an operator in a module, if no other operator is around it
    # - a module in an operator, if no other module is around it: all its time is in the operator
    is_inside = operators.are_targets & (operators.above < 0) & (modules.above >= 0)
    is_inside |= modules.own_themselves & (operators.above >= 0) & (modules.above < 0)
    on_device = modules.on_device
    whole_s = float(np.nansum(modules.own_s[modules.own_themselves & on_device]))
    between_s = whole_s - float(np.nansum(duration_s[is_inside & on_device]))
    if whole_s > 0 and between_s >= _LEAST_BETWEEN * whole_s:
        yield Finding.of(
            *("time-between-operators", Kind.INCOMPLETE),
            share=between_s / whole_s,
            between_s=between_s,
            runs=len(profile.runs),
            has_operators=operators.are_targets.any(),
        )

"""Makes the executions of a named region the runs of a profile, as iterations of its process."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from profile_analyze.errors import QueryError
from profile_analyze.model.ancestors import innermost_above
from profile_analyze.model.executions import Run
from profile_analyze.model.notes import Importance, Note, counted_and_share
from profile_analyze.model.numbers import total
from profile_analyze.model.terms import MODULE, OPERATOR
from profile_analyze.model.windows import check_starts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from profile_analyze.model.executions import Executions
    from profile_analyze.model.profile import Profile

    Flags: TypeAlias = NDArray[np.bool_]
    Indices: TypeAlias = NDArray[np.int64]

_MOST_LISTED: Final = 10
"""How many regions a message lists."""


def regions_of(profile: Profile) -> list[str]:
    """Return the names of all modules and regions that ran, the most frequent first."""
    operators = profile.operators
    is_region = operators.level.where(one == MODULE for one in operators.level.categories)
    executed = profile.executions.operator[is_region[profile.executions.operator]]
    counts = np.bincount(operators.name.codes[executed], minlength=len(operators.name.categories))
    order = np.argsort(-counts, kind="stable").tolist()
    return [operators.name.categories[code] for code in order if counts[code]]


def with_step_region(profile: Profile, name: str) -> Profile:
    """Return the profile with a run for each execution of the region `name`.

    The runs of each process are numbered from 1, which is their step. An execution belongs to the
    last region that began before it, or else to the first. Work on a device belongs to the run that
    launched it. A region inside a region of the same name is no run.

    Raises `QueryError` if a process has no such region, or if the format has no start times.
    """
    process = np.array([run.process for run in profile.runs], np.int64)[profile.executions.run]
    regions = _regions_called(profile, name)
    missing = sorted({*process.tolist()} - {*process[regions].tolist()})
    if missing or not len(regions):
        raise QueryError(_unknown_region(profile, name, missing))
    check_starts(profile, "step_region")
    run, runs, is_outside = _iterations(profile.executions, process, regions, name)
    notes = [note for note in profile.notes if not note.endswith(_BEFORE_STEPS)]
    return profile.changed(
        executions=profile.executions.changed(run=run.astype(np.int32)),
        runs=tuple(runs),
        notes=(*notes, *_notes_on_outside(profile, is_outside, name)),
    )


def _regions_called(profile: Profile, name: str) -> Indices:
    """Return the executions of regions called `name` that are not inside another one."""
    operators = profile.operators
    is_region = operators.level.where(one == MODULE for one in operators.level.categories)
    is_region &= operators.name.where(one == name for one in operators.name.categories)
    return _outermost(profile, is_region[profile.executions.operator])


def _iterations(
    executions: Executions, process: Indices, regions: Indices, name: str
) -> tuple[Indices, list[Run], Flags]:
    """Return the run of each execution, all runs, and whether each execution is in no region."""
    run = np.zeros(len(executions), np.int64)
    runs: list[Run] = []
    starts = executions.start_s[_launching(executions.launched_by)]
    is_outside = np.zeros(len(executions), np.bool_)
    for one in sorted({*process.tolist()}):
        own = regions[process[regions] == one]
        own = own[np.argsort(executions.start_s[own], kind="stable")]
        begins, walls = executions.start_s[own], executions.duration_s[own]
        rows = np.flatnonzero(process == one)
        index = np.searchsorted(begins, starts[rows], side="right") - 1
        is_outside[rows] = (index < 0) | (starts[rows] >= (begins + walls)[index])
        index = np.maximum(index, 0)
        run[rows] = index + len(runs)
        # The duration of a region is not the wall time of what ran outside of it.
        outside = np.bincount(index[is_outside[rows]], minlength=len(own))
        walls = np.where(outside > 0, np.nan, walls)
        runs += [Run(one, number, name, wall) for number, wall in enumerate(walls.tolist(), 1)]
    return run, runs, is_outside


_BEFORE_STEPS: Final = "of operators outside of all steps count in the step before"


def note_on_outside(count: int) -> Note:
    """Return a note on executions that are in no step of the file."""
    return Note(f"{counted_and_share(count, 'execution')} {_BEFORE_STEPS}", Importance.CONTEXT)


def _outermost(profile: Profile, is_target: Flags) -> Indices:
    """Return the targets that are in no other target."""
    return np.flatnonzero(is_target & (innermost_above(profile.executions.above, is_target) < 0))


def _launching(launched_by: NDArray[np.int32]) -> Indices:
    """Return the first execution of the chain that launched each execution, or itself."""
    result = np.arange(len(launched_by))
    while True:
        above = launched_by[result]
        if (above < 0).all():
            return result
        result = np.where(above >= 0, above, result)


def _notes_on_outside(profile: Profile, is_outside: Flags, name: str) -> Iterator[Note]:
    level, executions = profile.operators.level, profile.executions
    is_operator = level.where(one == OPERATOR for one in level.categories)[executions.operator]
    rows = _outermost(profile, is_operator)
    outside = rows[is_outside[rows]]
    if len(outside):
        share = total(executions.duration_s[outside]) / (
            total(executions.duration_s[rows]) or np.nan
        )
        yield Note(
            f"{counted_and_share(len(outside), 'execution')} of operators outside of all regions "
            f"{name} count in the iteration before",
            Importance.CONTEXT,
            share,
        )


def _unknown_region(profile: Profile, name: str, missing: list[int]) -> str:
    """Return the message on a region that the processes `missing` do not have."""
    known = regions_of(profile)
    if name in known:
        return f"step_region: no region {name!r} in {profile.processes[missing[0]]}"
    if not known:
        return f"step_region: no regions in {profile.file}"
    more = f" and {len(known) - _MOST_LISTED} more" if len(known) > _MOST_LISTED else ""
    listed = ", ".join(known[:_MOST_LISTED])
    return f"step_region: no region {name!r} in {profile.file}; it has {listed}{more}"

"""Splits each process into iterations at the executions of a named region.

A region is an execution at level `module`: a module, or a range that the program named. Each
iteration becomes a run of the profile.
"""

from __future__ import annotations

from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

import numpy as np

from profile_analyze.errors import QueryError
from profile_analyze.model.busy import busiest, device_of_tracks, is_work, steps_with_work
from profile_analyze.model.executions import Run
from profile_analyze.model.findings import Finding, Kind
from profile_analyze.model.joining.ranks import rank_of_tracks, ranks_of
from profile_analyze.model.levels.ancestors import innermost_above, outermost
from profile_analyze.model.levels.level import level_of
from profile_analyze.model.levels.windows import check_starts
from profile_analyze.model.numbers import total
from profile_analyze.model.terms import MODULE, TOP

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from profile_analyze.model.notes import Note
    from profile_analyze.model.profile import Profile

    Flags: TypeAlias = NDArray[np.bool_]
    Floats: TypeAlias = NDArray[np.float64]
    Indices: TypeAlias = NDArray[np.int64]

_MOST_LISTED: Final = 10
"""The most regions that an error message lists."""


def regions_of(profile: Profile) -> list[str]:
    """Return the names of all modules and regions that ran, the most frequent name first."""
    operators = profile.operators
    is_region = operators.are_at(MODULE)
    executed = profile.executions.operator[is_region[profile.executions.operator]]
    counts = np.bincount(operators.name.codes[executed], minlength=len(operators.name.categories))
    order = np.argsort(-counts, kind="stable").tolist()
    return [operators.name.categories[code] for code in order if counts[code]]


def with_step_region(profile: Profile, name: str) -> Profile:
    """Return the profile with one run for each execution of the region `name`.

    - The n-th execution of the region in a process becomes the run with step n, from 1. In a
      distributed job, the n-th executions of all ranks become one run.
    - An execution belongs to the last region of its rank that began before the execution. An
      execution before the first region belongs to the first region.
    - Work on a device belongs to the run that launched it.
    - A region inside a region of the same name does not start a run.

    Raises `QueryError` if a process or a rank has no region `name`, or if the format has no start
    times.
    """
    regions = _regions_called(profile, name)
    members = _members_of_ranks(profile)
    missing = [owner for owner, rows in members.items() if not regions[rows].any()]
    if missing or not members:
        raise QueryError(_unknown_region(profile, name, missing))
    check_starts(profile, "step_region")
    run, runs, is_outside = _iterations(profile, members, regions, name)
    notes = [note for note in profile.notes if not _is_on_steps(note)]
    return profile.changed(
        origin=profile.origin._replace(recorded=()),  # such as `iterations` of the old runs
        executions=profile.executions.changed(run=run.astype(np.int32)),
        runs=tuple(runs),
        notes=(*notes, *_notes_on_outside(profile, is_outside, name)),
    )


def _is_on_steps(note: Note) -> bool:
    """Return whether a note is about the steps that the file has."""
    return isinstance(note, Finding) and note.code in {"outside-steps", "no-steps"}


def _members_of_ranks(profile: Profile) -> dict[tuple[int, int], Indices]:
    """Return the indices of executions by (process, rank), in ascending order.

    Executions on tracks without a rank have rank -1.
    """
    executions = profile.executions
    process = np.array([run.process for run in profile.runs], np.int64)[executions.run]
    rank = rank_of_tracks(profile)[executions.track]
    order = np.lexsort((rank, process))
    process, rank = process[order], rank[order]
    bounds = np.flatnonzero((np.diff(process) != 0) | (np.diff(rank) != 0)) + 1
    groups = np.split(order, bounds) if len(order) else []
    starts = [0, *bounds.tolist()]
    return {
        (int(process[start]), int(rank[start])): rows
        for start, rows in zip(starts, groups, strict=False)
    }


def _regions_called(profile: Profile, name: str) -> Flags:
    """Return whether each execution is a region `name`, and not inside another region `name`."""
    operators = profile.operators
    is_region = operators.are_at(MODULE)
    is_region &= operators.name.where(one == name for one in operators.name.categories)
    executed = is_region[profile.executions.operator]
    return executed & (innermost_above(profile.executions.above, executed) < 0)


def _iterations(
    profile: Profile, members: Mapping[tuple[int, int], Indices], is_region: Flags, name: str
) -> tuple[Indices, list[Run], Flags]:
    """Return the run of each execution, all runs, and whether each execution is outside of regions.

    `members` has the executions of each (process, rank), grouped by process.
    """
    executions = profile.executions
    launched_by = executions.launched_by
    # Work on a device has the start of the host call that launched it.
    starts = executions.start_s[outermost(np.arange(len(executions), dtype=np.int32), launched_by)]
    work = _work_of(profile)
    run = np.zeros(len(executions), np.int64)
    is_outside = np.zeros(len(executions), np.bool_)
    runs: list[Run] = []
    for process, ranks in groupby(members, key=itemgetter(0)):
        walls, busy = np.empty(0), np.empty(0)
        for owner in ranks:  # each rank separately, because the clocks of ranks differ
            rows = members[owner]
            own = rows[is_region[rows]]
            own = own[np.argsort(executions.start_s[own], kind="stable")]
            begins, durations = executions.start_s[own], executions.duration_s[own]
            index = np.searchsorted(begins, starts[rows], side="right") - 1
            is_outside[rows] = (index < 0) | (starts[rows] >= (begins + durations)[index])
            index = np.maximum(index, 0)
            run[rows] = index + len(runs)
            # The wall time of a run is unknown if executions outside of its region belong to it.
            outside = np.bincount(index[is_outside[rows]], minlength=len(own))
            step = np.where(is_outside[rows], -1, index)
            walls_s, busy_s = _times_of_steps(work, rows, step, begins, durations)
            walls = _longer(walls, np.where(outside > 0, np.nan, walls_s))
            busy = _longer(busy, busy_s)
        new = [Run(process, number, name, wall) for number, wall in enumerate(walls.tolist(), 1)]
        if work.is_complete:
            new = [one._replace(busy_s=s) for one, s in zip(new, busy.tolist(), strict=True)]
        runs += new
    return run, runs, is_outside


class _Work(NamedTuple):
    """The work on devices. All columns have shape (executions,)."""

    is_work: Flags
    is_launched: Flags
    """Whether the launch is in the file."""
    device: Indices
    starts: Floats
    ends: Floats
    is_complete: bool
    """Whether the profile says how long devices worked."""


def _work_of(profile: Profile) -> _Work:
    executions = profile.executions
    return _Work(
        is_work(profile),
        executions.launched_by >= 0,
        device_of_tracks(profile)[executions.track],
        executions.start_s,
        executions.start_s + executions.duration_s,
        not np.isnan([run.busy_s for run in profile.runs]).any(),
    )


def _times_of_steps(
    work: _Work, rows: Indices, step: Indices, begins: Floats, durations: Floats
) -> tuple[Floats, Floats]:
    """Return the wall time of each step, and how long the busiest device worked in it.

    `rows` are the executions of one rank, and `step` has the step of each, or -1. `begins` and
    `durations` are the times of the steps on the host.
    """
    ends = begins + durations
    chosen = np.flatnonzero(work.is_work[rows])
    of_steps = chosen[work.is_launched[rows[chosen]] & (step[chosen] >= 0)]
    first, last = steps_with_work(begins, ends, step[of_steps], work.ends[rows[of_steps]])
    is_changed = (first != begins) | (last != ends)
    walls_s = np.where(is_changed, last - first, durations)  # the exact duration, if possible
    kernels = rows[chosen]
    busy_s = busiest(first, last, work.device[kernels], work.starts[kernels], work.ends[kernels])
    return walls_s, busy_s


def _longer(walls: Floats, others: Floats) -> Floats:
    """Return, for each run, the longer of its two wall times; NaN if one of them is NaN.

    A run that is missing in the shorter array has the wall time 0 there.
    """
    size = max(len(walls), len(others))
    return np.maximum(*(np.append(one, np.zeros(size - len(one))) for one in (walls, others)))


def _notes_on_outside(profile: Profile, is_outside: Flags, name: str) -> Iterator[Note]:
    executions = profile.executions
    rows = np.flatnonzero(level_of(profile, TOP).own_themselves)
    outside = rows[is_outside[rows]]
    if len(outside):
        share = total(executions.duration_s[outside]) / (
            total(executions.duration_s[rows]) or np.nan
        )
        yield Finding.of(
            *("outside-regions", Kind.CONTEXT),
            share=share, executions=len(outside), region=repr(name),
        )  # fmt: skip


def _unknown_region(profile: Profile, name: str, missing: list[tuple[int, int]]) -> str:
    """Return the error message on a region that some processes or ranks lack.

    `missing` has the (process, rank) pairs without the region `name`.
    """
    known = regions_of(profile)
    if name in known:
        process, rank = missing[0]
        of_rank = "" if len(ranks_of(profile)) < 2 else f" on rank {rank}"
        return f"step_region: no region {name!r}{of_rank} in {profile.processes[process]}"
    if not known:
        return (
            f"step_region: no regions in {profile.file}: only traces that recorded modules or "
            "named regions have them; leave out the option"
        )
    more = f" and {len(known) - _MOST_LISTED} more" if len(known) > _MOST_LISTED else ""
    listed = ", ".join(known[:_MOST_LISTED])
    return f"step_region: no region {name!r} in {profile.file}; it has {listed}{more}"

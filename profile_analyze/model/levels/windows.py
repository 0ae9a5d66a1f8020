"""Cuts a profile to a window of time, or to some of its steps.

An execution that overlaps an edge of the window is clipped: only its time inside counts. An
execution outside of the window is left out unless it is an outer execution, which launched or
surrounds an execution inside. Outer executions stay, without time and calls. So the time of a
kernel still belongs to the operator that launched it.

If a process has whole runs inside the window, its runs that are only partly inside are left out. A
median over whole runs and parts of runs would describe neither.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from profile_analyze.errors import QueryError
from profile_analyze.model.busy import device_of_tracks, is_work, worked_in
from profile_analyze.model.executions import OWNED
from profile_analyze.model.findings import Finding, Kind
from profile_analyze.model.measuring import on_side
from profile_analyze.model.numbers import total
from profile_analyze.model.terms import DEVICE, EACH, EARLIER, KERNEL, OPERATOR
from profile_analyze.units import short_time

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from profile_analyze.model.executions import Executions
    from profile_analyze.model.notes import Note
    from profile_analyze.model.profile import Profile

    Flags: TypeAlias = NDArray[np.bool_]
    Floats: TypeAlias = NDArray[np.float64]
    Indices: TypeAlias = NDArray[np.int64]


def within_times(profile: Profile, from_s: float = 0.0, to_s: float = np.inf) -> Profile:
    """Return the profile cut to the time from `from_s` to `to_s`, both in seconds.

    For each execution, time 0 is the start of the first execution in its process and on its clock.
    An execution without a known start is left out.

    Raises `QueryError` if the format has no start times, or if nothing happened in the window.
    """
    check_starts(profile, "from_s")
    executions = profile.executions
    starts = executions.start_s - _first_starts(profile)
    ends = starts + np.nan_to_num(executions.duration_s)
    # An execution without a duration is inside if its start is inside.
    is_inside = (starts < to_s) & ((ends > from_s) | (starts >= from_s))
    if not is_inside.any():
        raise QueryError(
            f"from_s: nothing happened {_window_text(from_s, to_s)}; {profile.file} ends after "
            f"{short_time(float(np.nanmax(ends)))}"
        )
    is_clipped = is_inside & ((starts < from_s) | (ends > to_s))
    partial = _partial_runs(profile, is_inside, is_clipped)
    is_left_out = is_inside & partial.left_out[executions.run]
    is_inside, is_clipped = is_inside & ~is_left_out, is_clipped & ~is_left_out
    clipped = _clipped(executions, starts, ends, is_clipped, (from_s, to_s))
    notes = (
        *profile.notes,
        *_notes(profile, clipped, starts, is_inside, is_clipped, (from_s, to_s)),
        *_notes_on_partial_runs(partial),
    )
    # Work from before the recording is part of no run, so cutting it leaves runs whole.
    is_whole = (is_inside & ~is_clipped) | _is_of(profile, EARLIER)
    return _kept(
        profile.changed(executions=clipped, notes=notes),
        is_inside,
        is_whole,
        busy_s=np.where(partial.shares, np.nan, _busy_s(profile, starts, ends, (from_s, to_s))),
    )


class _PartialRuns(NamedTuple):
    """Runs that are only partly inside a window. All masks have shape (runs,)."""

    left_out: Flags
    """The runs to leave out, because the same process has a whole run inside."""
    mixed: Flags
    """The runs of processes that have parts of several runs inside, but no whole run."""
    shares: Flags
    """The runs of processes that have several runs inside. It is unknown which part of the window
    is of which run."""


def _partial_runs(profile: Profile, is_inside: Flags, is_clipped: Flags) -> _PartialRuns:
    """Return the runs that are only partly inside the window.

    Only operators and kernels with a known start decide whether a run is whole: a module may
    surround several runs.
    """
    executions = profile.executions
    is_counted = _is_of(profile, OPERATOR, KERNEL) & ~np.isnan(executions.start_s)
    is_cut, has_inside = (np.zeros(len(profile.runs), np.bool_) for _ in range(2))
    is_cut[executions.run[is_counted & (~is_inside | is_clipped)]] = True
    has_inside[executions.run[is_inside]] = True
    process = np.array([run.process for run in profile.runs], np.int64)
    has_whole = np.isin(process, process[has_inside & ~is_cut])
    partial = has_inside & is_cut
    has_several = np.bincount(process, weights=has_inside)[process] > 1
    return _PartialRuns(partial & has_whole, partial & ~has_whole & has_several, has_several)


def _is_of(profile: Profile, *levels: str) -> Flags:
    """Return whether the operator of each execution has one of the levels, shape (executions,)."""
    return np.asarray(profile.operators.are_at(*levels)[profile.executions.operator])


def _busy_s(profile: Profile, starts: Floats, ends: Floats, window: tuple[float, float]) -> Floats:
    """Return how long the busiest device worked in the window, for the process of each run.

    Shape (runs,), in seconds; NaN if unknown. `starts` and `ends` count in seconds from the first
    execution, like the times in `window`.
    """
    process = np.array([run.process for run in profile.runs], np.int64)
    most = np.zeros(len(profile.processes))
    most[process[np.isnan([run.busy_s for run in profile.runs])]] = np.nan
    work, tracks = np.flatnonzero(is_work(profile)), len(profile.tracks)
    device = device_of_tracks(profile)[profile.executions.track[work]]
    device += process[profile.executions.run[work]] * tracks
    first, last = np.array([window[0]]), np.array([min(window[1], float(np.nanmax(ends)))])
    for number, worked in worked_in(first, last, device, starts[work], ends[work]):
        most[number // tracks] = np.maximum(most[number // tracks], worked[0])
    return most[process]


def only_steps(profile: Profile, first: int, last: int) -> Profile:
    """Return the profile with only the steps from `first` to `last`, both included.

    `first` and `last` are step numbers from the file. Each execution belongs entirely to one step,
    so none is clipped. A kernel belongs to the step that launched it.

    Raises `QueryError` if the profile has none of these steps.
    """
    known = sorted({run.step for run in profile.runs if run.step is not None})
    chosen = [step for step in known if first <= step <= last]
    if not chosen:
        has = f"its steps: {numbers_text(known)}" if known else "it has no steps"
        wanted = first if first == last else f"{first}-{last}"
        raise QueryError(f"steps: no step {wanted} in {profile.file}; {has}")
    is_chosen = np.array([run.step in chosen for run in profile.runs], np.bool_)
    is_inside = is_chosen[profile.executions.run]
    noun = "step" if len(chosen) == 1 else "steps"
    if not is_inside.any():
        raise QueryError(f"steps: no operator ran in {noun} {numbers_text(chosen)}")
    note = Finding.of(
        *("only-steps", Kind.CONTEXT),
        steps=numbers_text(chosen), is_one=len(chosen) == 1, left_out=(~is_chosen).sum(),
    )  # fmt: skip
    return _kept(profile.changed(notes=(*profile.notes, note)), is_inside, is_inside)


def check_starts(profile: Profile, field: str) -> None:
    """Raise `QueryError` if the profile has no start times of single executions.

    The message begins with `field`, the name of the argument that needs start times.
    """
    starts = profile.executions.start_s
    if profile.origin.times != EACH or np.isnan(starts).all():
        raise QueryError(
            f"{field}: {profile.file} cannot be cut by time: it has no start times (format: "
            f"{profile.origin.format})"
        )


def numbers_text(numbers: Iterable[int]) -> str:
    """Return ascending numbers as a text with ranges: 1, 2, 3 and 7 become `1-3, 7`."""
    ranges: list[list[int]] = []
    for number in numbers:
        if ranges and number == ranges[-1][1] + 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    return ", ".join(f"{one}" if one == last else f"{one}-{last}" for one, last in ranges)


def _first_starts(profile: Profile) -> Floats:
    """For each execution, return the first start of its process and clock, in seconds."""
    executions = profile.executions
    clocks = [track.clock for track in profile.tracks]
    clock = np.array([clocks.index(one) for one in clocks], np.int64)[executions.track]
    process = np.array([run.process for run in profile.runs], np.int64)[executions.run]
    group = process * max(len(clocks), 1) + clock
    first = np.full(int(group.max(initial=0)) + 1, np.inf)
    np.fmin.at(first, group, executions.start_s)  # `fmin` ignores NaN
    return np.asarray(first[group])


def _clipped(
    executions: Executions,
    starts: Floats,
    ends: Floats,
    is_clipped: Flags,
    window: tuple[float, float],
) -> Executions:
    """Return the executions, with the executions in `is_clipped` limited to the window.

    `starts` and `ends` count in seconds from the first execution, like the times in `window`.
    Executions that are not in `is_clipped` keep their exact times, with one exception: a queue
    delay that began before the window counts only from the start of the window.
    """
    low, high = window
    first = executions.start_s - starts
    start = np.maximum(starts, low)
    duration_s = np.where(is_clipped, np.minimum(ends, high) - start, executions.duration_s)
    start_s = np.where(is_clipped, start + first, executions.start_s)
    first_kernel = np.clip(starts + executions.first_kernel_s, low, high) - start
    submitted_s = np.minimum(np.maximum(executions.submitted_s, low + first), start_s)
    return executions.changed(
        start_s=start_s,
        duration_s=duration_s,
        # The file does not say how much of `self_s` is inside the window. It cannot be more than
        # the clipped duration.
        self_s=np.where(is_clipped, np.minimum(executions.self_s, duration_s), executions.self_s),
        first_kernel_s=np.where(is_clipped, first_kernel, executions.first_kernel_s),
        submitted_s=submitted_s,
        # An execution that only waits, or never waits, also does so inside the window. For any
        # other execution, the file does not say how much of the wait is inside.
        thread_wait_s=np.where(
            is_clipped,
            np.select(
                [executions.thread_wait_s == 0, executions.thread_wait_s == executions.duration_s],
                [0.0, duration_s],
                np.nan,
            ),
            executions.thread_wait_s,
        ),
    )


def _kept(
    profile: Profile, is_inside: Flags, is_whole: Flags, *, busy_s: Floats | None = None
) -> Profile:
    """Return the profile with only the executions inside, their outer executions, and their runs.

    Unused operators are left out. `is_whole` says which executions are inside from start to end.
    The wall time of a run is NaN unless all its executions are whole. In runs that are not whole,
    the busiest device worked for `busy_s`, shape (runs,).
    """
    executions, run, is_kept = _with_outer(profile.executions, is_inside)
    is_used = np.zeros(len(profile.runs), np.bool_)
    is_used[run[is_kept]] = True
    new_run = np.cumsum(is_used) - 1
    is_cut = np.zeros(len(profile.runs), np.bool_)
    is_cut[profile.executions.run[~is_whole]] = True
    runs = tuple(
        # The file says how long a run took, but not how much of this time is inside the window.
        profile.runs[index]._replace(
            wall_s=np.nan, busy_s=np.nan if busy_s is None else float(busy_s[index])
        )
        if is_cut[index]
        else profile.runs[index]
        for index in np.flatnonzero(is_used).tolist()
    )
    rows = np.flatnonzero(is_kept)
    shown = executions.changed(run=new_run[run].astype(np.int32)).take(rows)
    is_present = np.zeros(len(profile.operators), np.bool_)
    is_present[shown.operator] = True
    new_operator = (np.cumsum(is_present) - 1).astype(np.int32)
    return profile.changed(
        operators=profile.operators.take(np.flatnonzero(is_present)),
        executions=shown.changed(operator=new_operator[shown.operator]),
        runs=runs,
        **profile.without_tables(),
    )


def _with_outer(executions: Executions, is_inside: Flags) -> tuple[Executions, Indices, Flags]:
    """Return all executions, the run of each, and whether each is kept.

    Executions inside and their outer executions are kept. Outer executions lose their time,
    amounts and calls, and move to the run of the execution inside.
    """
    is_kept, run = is_inside.copy(), executions.run.astype(np.int64)
    outer = executions.above
    rows = np.flatnonzero(is_inside).astype(np.int32)
    while len(rows):  # one level up in each pass
        above = outer[rows]
        is_new = (above >= 0) & ~is_kept[above]
        above, below = above[is_new], rows[is_new]
        is_kept[above] = True
        run[above] = run[below]
        rows = above
    is_outer = is_kept & ~is_inside
    if not is_outer.any():
        return executions, run, is_kept
    nothing = {  # times 0, so that N/A stays N/A
        name: np.where(is_outer, getattr(executions, name) * 0, getattr(executions, name))
        for name in ("duration_s", "self_s", "first_kernel_s", *OWNED)
    }
    calls = np.where(is_outer, 0, executions.calls)
    return executions.changed(**nothing, calls=calls), run, is_kept


def _notes(
    profile: Profile,
    clipped: Executions,
    starts: Floats,
    is_inside: Flags,
    is_clipped: Flags,
    window: tuple[float, float],
) -> Iterator[Finding]:
    """Yield notes on how many executions are inside, are clipped, or have no start time."""
    is_counted = _is_of(profile, OPERATOR, KERNEL)
    inside, cut = (int((chosen & is_counted).sum()) for chosen in (is_inside, is_clipped))
    from_s, to_s = window
    yield Finding.of(
        *("window", Kind.ANSWER),
        from_s=from_s, to_s=None if to_s == np.inf else to_s,
        inside=inside, executions=is_counted.sum(),
    )  # fmt: skip
    if cut:
        inside_s = np.where(is_inside, clipped.duration_s, 0.0)
        own_s = clipped.changed(duration_s=inside_s).own_s
        own_s = own_s * (is_counted & on_side(profile, DEVICE))
        share = total(own_s[is_clipped]) / (total(own_s) or np.nan)
        yield Finding.of("clipped-executions", Kind.WRONG, share=share, executions=cut)
    unknown = int(np.isnan(starts).sum())
    if unknown:
        yield Finding.of("unknown-starts", Kind.INCOMPLETE, executions=unknown)


def _notes_on_partial_runs(partial: _PartialRuns) -> Iterator[Note]:
    """Yield notes on runs that are only partly inside the window."""
    left_out, mixed = int(partial.left_out.sum()), int(partial.mixed.sum())
    if left_out:
        yield Finding.of("runs-partly-inside", Kind.ANSWER, runs=left_out)
    if mixed:
        yield Finding.of("window-without-whole-run", Kind.ANSWER, runs=mixed)


def _window_text(from_s: float, to_s: float) -> str:
    if to_s == np.inf:
        return f"from {short_time(from_s)} on"
    return f"from {short_time(from_s)} to {short_time(to_s)}"

"""Computes measures from executions: see `measures.py`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

import numpy as np

from profile_analyze.large_arrays import array_of_runs, blocks, release
from profile_analyze.model.executions import AMOUNTS, Executions
from profile_analyze.model.frozen import frozen, is_constant
from profile_analyze.model.measures import SELF, THREAD_WAIT
from profile_analyze.model.numbers import difference, finite
from profile_analyze.model.stored_times import CALLS, STORED
from profile_analyze.model.terms import DEVICE, HOST

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from profile_analyze.model.measures import Field, Measure
    from profile_analyze.model.tables import Tables
    from profile_analyze.model.terms import Side

    Floats: TypeAlias = NDArray[np.float64]

_ROWS_PER_PART: Final = 1 << 17
"""About how many executions are measured at once."""
_COLUMNS: Final = (
    *("operator", "duration_s", "run", "track", "start_s", "self_s", "median_s"),
    *("first_kernel_s", "submitted_s", "thread_wait_s", "calls", "untimed_calls", *AMOUNTS),
)
"""The columns of executions that measures are computed from."""


def measured(profile: Tables, measure: Measure) -> Floats:
    """Return the measure in seconds, shape (operators, runs); NaN for N/A."""
    times = profile.stored_times
    if times is not None and measure in STORED:
        return times.read(measure.name)
    side, unknown = side_of(profile, measure), measure.propagates_unknown

    def of_part(part: Tables) -> Floats:
        values = _field_values(part.executions, measure.field)
        return _combined(part, values, on_side(part, side), propagates_unknown=unknown)

    return _in_parts(profile, of_part)


def calls(profile: Tables) -> Floats:
    """Return how often each operator was called, shape (operators, runs); NaN if it did not run.

    A call may be recorded on both sides, so only calls on the device count. For an operator without
    calls on the device, the calls on the host count.
    """
    if profile.stored_times is not None:
        return profile.stored_times.read(CALLS)
    return _in_parts(profile, lambda part: _calls_of_part(part, part.executions.calls))


def have_untimed_calls(profile: Tables) -> bool:
    """Return whether any call has no device time: see `Executions.untimed_calls`."""
    if profile.stored_times is not None:
        return False
    untimed = profile.executions.untimed_calls
    return not is_constant(untimed) and bool(untimed.any())


def timed_calls(profile: Tables, all_calls: Floats) -> Floats:
    """Return the calls of each operator that have a device time, shape (operators, runs).

    For an operator that has no device time in any run, return its `all_calls`. Work divided by a
    device time is then the work of the calls with this time.
    """
    timed = _in_parts(
        profile,
        lambda part: _calls_of_part(part, part.executions.calls - part.executions.untimed_calls),
    )
    has_timed = (timed > 0).any(axis=1, keepdims=True)
    return np.where(has_timed, timed, all_calls)


def _calls_of_part(part: Tables, counts: NDArray[np.int64]) -> Floats:
    """Return the sums of `counts` on the device, or else on the host, shape (operators, runs)."""
    on_device, on_host = (
        _combined(part, counts.astype(np.float64), on_side(part, side), propagates_unknown=True)
        for side in (DEVICE, HOST)
    )
    result = np.where(on_device > 0, on_device, on_host)
    return np.where(result > 0, result, np.nan)


def amounts(profile: Tables, name: Literal["allocated_bytes", "device_allocated_bytes"]) -> Floats:
    """Return an amount of all calls, shape (operators, runs); NaN for N/A.

    Executions without the amount, such as executions of kernels, are left out.
    """

    def of_part(part: Tables) -> Floats:
        values: Floats = getattr(part.executions, name)
        everywhere = np.ones(len(values), np.bool_)
        return _combined(part, values, everywhere, propagates_unknown=False)

    return _in_parts(profile, of_part)


def on_side(profile: Tables, side: Side) -> NDArray[np.bool_]:
    """Return whether each execution is on a track of `side`, shape (executions,)."""
    return _tracks_on(profile, side)[profile.executions.track]


def _tracks_on(profile: Tables, side: Side) -> NDArray[np.bool_]:
    return np.array([track.side == side for track in profile.tracks], np.bool_)


def executed_on(profile: Tables, side: Side) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which operators, and which tracks, have executions on `side`.

    The results have the shapes (operators,) and (tracks,).
    """
    if profile.stored_times is not None:
        return profile.stored_times.executed_on(profile.tracks, side)
    executions, is_on_side = profile.executions, _tracks_on(profile, side)
    operators, tracks = np.zeros(len(profile.operators), np.bool_), np.zeros_like(is_on_side)
    for operator, track in zip(*map(blocks, (executions.operator, executions.track)), strict=True):
        tracks[track] = True
        operators[operator[is_on_side[track]]] = True
    return frozen(operators), frozen(tracks & is_on_side)


def run_counts_of(profile: Tables) -> NDArray[np.int64]:
    """Return how many runs executed each operator, shape (operators,)."""
    is_in_run = np.zeros((len(profile), len(profile.runs)), np.bool_)
    is_in_run[profile.executions.operator, profile.executions.run] = True
    return np.asarray(is_in_run.sum(axis=1), np.int64)


def total_by_track(profile: Tables, side: Side) -> Floats:
    """Return the seconds of all executions on each track of `side`, shape (tracks, runs).

    The seconds are NaN for a track that is not on `side`, or that has no known time in the run.
    """
    return _in_parts(profile, lambda part: _total_by_track_of_part(part, side))


def _total_by_track_of_part(profile: Tables, side: Side) -> Floats:
    executions = profile.executions
    known = on_side(profile, side) & ~np.isnan(executions.duration_s)
    tracks, runs = len(profile.tracks), len(profile.runs)
    # A cell is one track in one run. `np.bincount` adds up each cell, faster than `np.add.at`.
    cells = executions.track[known].astype(np.int64) * runs + executions.run[known]
    sums = np.bincount(cells, executions.duration_s[known], minlength=tracks * runs)
    is_known = np.bincount(cells, minlength=tracks * runs) > 0
    return finite(np.where(is_known, sums, np.nan)).reshape(tracks, runs)


def side_of(profile: Tables, measure: Measure) -> Side:
    """Return the side that a measure uses in this profile.

    If the profile has no host tracks, `self` and `thread_wait` use the device tracks. In a profile
    of a CPU, the device tracks are threads.
    """
    if measure in (SELF, THREAD_WAIT) and not any(track.side == HOST for track in profile.tracks):
        return DEVICE
    return measure.side


def _in_parts(profile: Tables, of_part: Callable[[Tables], Floats]) -> Floats:
    """Return the results of `of_part` for all runs, in one array.

    A large profile is divided into parts with some of the runs. The temporary arrays are then
    small: they take little memory, and fit into the processor's caches.
    """
    run = profile.executions.run
    if len(run) <= _ROWS_PER_PART or len(profile.runs) == 1:
        return of_part(profile)
    parts = ((runs, of_part(part)) for runs, part in _parts(profile))
    return array_of_runs(parts, len(profile.runs))


def _parts(profile: Tables) -> Iterator[tuple[slice, Tables]]:
    """Yield the profile part by part: some runs, and their executions."""
    run = profile.executions.run
    ends = _ends_of_runs(run, len(profile.runs))
    start = done = 0
    while done < len(profile.runs):
        enough = int(np.searchsorted(ends, start + _ROWS_PER_PART))
        end = int(ends[min(enough, len(ends) - 1)])
        # Runs without executions belong to the next part, or else to the last part.
        last = int(run[start:end].max()) if end < len(run) else len(profile.runs) - 1
        runs = slice(done, last + 1)
        yield runs, _part(profile, slice(start, end), runs)
        release(*(getattr(profile.executions, name) for name in _COLUMNS))
        start, done = end, runs.stop


def _ends_of_runs(run: NDArray[np.int32], runs: int) -> NDArray[np.int64]:
    """Return the rows at which the executions can be divided, in ascending order.

    `run` has the run of each execution, and is not empty. `runs` is the number of runs.

    The rows before each result have all executions of some runs, and the rows after it have only
    higher runs. Not every run ends at such a row: executions of files that were read together are
    in the order of their tracks, not of their runs.
    """
    counts = np.zeros(runs, np.int64)
    for block in blocks(run):
        counts += np.bincount(block, minlength=runs)
    ends = np.cumsum(counts)
    # `ends[n]` is the number of rows of run n and all lower runs. If the highest run among the
    # first `ends[n]` rows is n, these rows are all rows of run n and all lower runs.
    first, highest, clean = 0, 0, []
    for block in blocks(run):
        highest_so_far = np.maximum(np.maximum.accumulate(block), highest)
        highest = highest_so_far[-1]
        candidates = np.flatnonzero((ends > first) & (ends <= first + len(block)) & (counts > 0))
        last_rows = ends[candidates] - first - 1  # within the block
        clean.append(ends[candidates[highest_so_far[last_rows] == candidates]])
        first += len(block)
    return np.concatenate(clean)


def _part(profile: Tables, rows: slice, runs: slice) -> Tables:
    """Return some of the runs with their executions. References between executions are lost."""
    columns = {name: getattr(profile.executions, name)[rows] for name in _COLUMNS}
    columns["run"] = columns["run"] - np.int32(runs.start)
    return replace(profile, executions=Executions.of(**columns), runs=profile.runs[runs])


def _field_values(executions: Executions, field: Field) -> Floats:
    """Return the time `field` of each execution in seconds, shape (executions,)."""
    if field == "median":
        return executions.median_s
    if field == "first_kernel":
        return executions.first_kernel_s
    if field == "queue":
        return difference(executions.start_s, executions.submitted_s)
    if field == "thread_wait":
        return executions.thread_wait_s
    if field == "self":
        recorded = executions.self_s
        return np.where(np.isnan(recorded), executions.duration_s, recorded)
    return executions.duration_s


def _combined(
    profile: Tables, values: Floats, selected: NDArray[np.bool_], *, propagates_unknown: bool
) -> Floats:
    """Add up the `selected` values on each track, then combine tracks by `Track.together`.

    `values` and `selected` have shape (executions,). The result has shape (operators, runs).
    """
    if not propagates_unknown:
        selected = selected & ~np.isnan(values)
    takes_largest = np.array([track.together == "max" for track in profile.tracks], np.bool_)
    if not takes_largest.any():
        return finite(_sum_over_tracks(profile, values, selected))
    if takes_largest.all():
        return finite(_largest_over_tracks(profile, values, selected))
    # Only joined files of different formats have tracks with both rules, `sum` and `max`. All
    # tracks of a run have one rule, so one of the results below is NaN, which `fmax` ignores.
    is_largest = takes_largest[profile.executions.track]
    sums = _sum_over_tracks(profile, values, selected & ~is_largest)
    return finite(np.fmax(sums, _largest_over_tracks(profile, values, selected & is_largest)))


def _cells(profile: Tables) -> NDArray[np.int64]:
    """Return the cell of each execution, shape (executions,).

    A cell is a number that stands for one operator in one run.
    """
    executions = profile.executions
    # 64 bits, because the number of cells may exceed 32 bits.
    return executions.operator.astype(np.int64) * len(profile.runs) + executions.run


def _sum_over_tracks(profile: Tables, values: Floats, selected: NDArray[np.bool_]) -> Floats:
    """Return the sums of the `selected` values, shape (operators, runs)."""
    size = len(profile.operators) * len(profile.runs)
    return _sums(_cells(profile)[selected], values[selected], size).reshape(-1, len(profile.runs))


def _largest_over_tracks(profile: Tables, values: Floats, selected: NDArray[np.bool_]) -> Floats:
    """Sum the `selected` values on each track. Return the largest sum, shape (operators, runs)."""
    track = profile.executions.track[selected]
    if len(track) == 0 or track.min() == track.max():  # one track, as in most profiles
        return _sum_over_tracks(profile, values, selected)
    cells, values = _cells(profile)[selected], values[selected]
    size = len(profile.operators) * len(profile.runs)
    largest = np.full(size, -np.inf)  # below any time, and replaced by NaN at the end
    for rows in _rows_by_track(track):
        cells_of_track = cells[rows]
        sums = _sums(cells_of_track, values[rows], size)[cells_of_track]
        largest[cells_of_track] = np.maximum(largest[cells_of_track], sums)  # NaN stays NaN
    largest[np.isneginf(largest)] = np.nan
    return largest.reshape(-1, len(profile.runs))


def _sums(cells: NDArray[np.int64], values: Floats, size: int) -> Floats:
    """Return the sum of the values in each cell, shape (size,); NaN for a cell without values."""
    # Without any value, bincount returns integers, which cannot hold NaN.
    sums = np.bincount(cells, values, minlength=size).astype(np.float64)
    sums[np.bincount(cells, minlength=size) == 0] = np.nan
    return sums


def _rows_by_track(track: NDArray[np.int32]) -> list[NDArray[np.int64]]:
    """Return the rows of each track, without empty tracks. `track` must not be empty."""
    by_track = np.argsort(track, kind="stable")  # stable: sums keep the file's order
    ends = np.cumsum(np.bincount(track))
    return [rows for rows in np.split(by_track, ends[:-1]) if len(rows)]

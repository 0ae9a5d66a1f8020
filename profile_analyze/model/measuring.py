"""Computes measures from executions: see `measures.py`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from profile_analyze.model.measures import SELF, THREAD_WAIT
from profile_analyze.model.numbers import difference, finite
from profile_analyze.model.terms import DEVICE, HOST

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from profile_analyze.model.executions import Executions
    from profile_analyze.model.measures import Field, Measure
    from profile_analyze.model.profile import Profile
    from profile_analyze.model.terms import Side

    Floats: TypeAlias = NDArray[np.float64]


def measured(profile: Profile, measure: Measure) -> Floats:
    """Return the measure in seconds, shape (operators, runs); NaN for N/A."""
    values = _field_values(profile.executions, measure.field)
    selected = on_side(profile, side_of(profile, measure))
    return _combined(profile, values, selected, unknown_spreads=measure.unknown_spreads)


def calls(profile: Profile) -> Floats:
    """Return how often each operator was called, shape (operators, runs); NaN if it did not run.

    A call may be recorded on both sides, so only calls on the device count. For an operator without
    calls on the device, the calls on the host count.
    """
    counts = profile.executions.calls.astype(np.float64)
    on_device, on_host = (
        _combined(profile, counts, on_side(profile, side), unknown_spreads=True)
        for side in (DEVICE, HOST)
    )
    result = np.where(on_device > 0, on_device, on_host)
    return np.where(result > 0, result, np.nan)


def amounts(profile: Profile, name: Literal["allocated_bytes", "device_allocated_bytes"]) -> Floats:
    """Return an amount of all calls, shape (operators, runs); NaN for N/A.

    Executions without the amount, such as executions of kernels, are left out.
    """
    values: Floats = getattr(profile.executions, name)
    everywhere = np.ones(len(values), np.bool_)
    return _combined(profile, values, everywhere, unknown_spreads=False)


def on_side(profile: Profile, side: Side) -> NDArray[np.bool_]:
    """Return whether each execution is on a track of `side`, shape (executions,)."""
    track_is_on_side = np.array([track.side == side for track in profile.tracks], np.bool_)
    return track_is_on_side[profile.executions.track]


def total_by_track(profile: Profile, side: Side) -> Floats:
    """Return the seconds of all executions on each track of `side`, shape (tracks, runs).

    The seconds are NaN for a track that is not on `side`, or that has no known time in the run.
    """
    executions = profile.executions
    known = on_side(profile, side) & ~np.isnan(executions.duration_s)
    tracks, runs = len(profile.tracks), len(profile.runs)
    # A cell is one track in one run. `np.bincount` adds up each cell, faster than `np.add.at`.
    cells = executions.track[known].astype(np.int64) * runs + executions.run[known]
    sums = np.bincount(cells, executions.duration_s[known], minlength=tracks * runs)
    is_known = np.bincount(cells, minlength=tracks * runs) > 0
    return finite(np.where(is_known, sums, np.nan)).reshape(tracks, runs)


def side_of(profile: Profile, measure: Measure) -> Side:
    """Return the side that a measure uses in this profile.

    If the profile has no host tracks, `self` and `thread_wait` use the device tracks. In a profile
    of a CPU, the device tracks are threads.
    """
    if measure in (SELF, THREAD_WAIT) and not any(track.side == HOST for track in profile.tracks):
        return DEVICE
    return measure.side


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
    profile: Profile, values: Floats, selected: NDArray[np.bool_], *, unknown_spreads: bool
) -> Floats:
    """Add up the `selected` values on each track, then combine tracks by `Track.together`.

    `values` and `selected` have shape (executions,). The result has shape (operators, runs).
    """
    if not unknown_spreads:
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


def _cells(profile: Profile) -> NDArray[np.int64]:
    """Return the cell of each execution, shape (executions,).

    A cell is a number that stands for one operator in one run.
    """
    executions = profile.executions
    # 64 bits, because the number of cells may exceed 32 bits.
    return executions.operator.astype(np.int64) * len(profile.runs) + executions.run


def _sum_over_tracks(profile: Profile, values: Floats, selected: NDArray[np.bool_]) -> Floats:
    """Return the sums of the `selected` values, shape (operators, runs)."""
    size = len(profile.operators) * len(profile.runs)
    return _sums(_cells(profile)[selected], values[selected], size).reshape(-1, len(profile.runs))


def _largest_over_tracks(profile: Profile, values: Floats, selected: NDArray[np.bool_]) -> Floats:
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

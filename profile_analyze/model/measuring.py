"""Computes measures: see `measures.py`."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from profile_analyze.model.measures import SELF
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
    """Shape (operators, runs): the measure in seconds, NaN where it is N/A."""
    values = _values(profile.executions, measure.field)
    chosen = on_side(profile, side_of(profile, measure))
    return _reduced(profile, values, chosen, unknown_spreads=measure.unknown_spreads)


def calls(profile: Profile) -> Floats:
    """Shape (operators, runs): how often each operator was called; NaN where it did not run.

    Executions on the device count if they are calls of it, otherwise those on the host.
    """
    counts = profile.executions.calls.astype(np.float64)
    on_device, on_host = (
        _reduced(profile, counts, on_side(profile, side), unknown_spreads=True)
        for side in (DEVICE, HOST)
    )
    found = np.where(on_device > 0, on_device, on_host)
    return np.where(found > 0, found, np.nan)


def on_side(profile: Profile, side: Side) -> NDArray[np.bool_]:
    """Shape (executions,): whether each is on a track of that side."""
    is_there = np.array([track.side == side for track in profile.tracks], np.bool_)
    return is_there[profile.executions.track]


def total_by_track(profile: Profile, side: Side) -> Floats:
    """Shape (tracks, runs): seconds of all executions of that side; NaN if none is known."""
    executions = profile.executions
    known = on_side(profile, side) & ~np.isnan(executions.duration_s)
    tracks, runs = len(profile.tracks), len(profile.runs)
    cells = executions.track[known].astype(np.int64) * runs + executions.run[known]
    sums = np.bincount(cells, executions.duration_s[known], minlength=tracks * runs)
    is_known = np.bincount(cells, minlength=tracks * runs) > 0
    return finite(np.where(is_known, sums, np.nan)).reshape(tracks, runs)


def side_of(profile: Profile, measure: Measure) -> Side:
    """The side that a measure uses: for `self` the device, if there are no host tracks.

    Without any device, CPU threads are device tracks.
    """
    if measure == SELF and not any(track.side == HOST for track in profile.tracks):
        return DEVICE
    return measure.side


def _values(executions: Executions, field: Field) -> Floats:
    """Shape (executions,): the field of each execution that a measure uses, in seconds."""
    if field == "first_kernel":
        return executions.first_kernel_s
    if field == "queue":
        return difference(executions.start_s, executions.submitted_s)
    if field == "self":
        given = executions.self_s
        return np.where(np.isnan(given), executions.duration_s, given)
    return executions.duration_s


def _reduced(
    profile: Profile, values: Floats, chosen: NDArray[np.bool_], *, unknown_spreads: bool
) -> Floats:
    """Shape (operators, runs): the chosen values added up on each track, then over tracks.

    Files of two formats may have tracks of both kinds. Their values are in different cells.
    """
    if not unknown_spreads:
        chosen = chosen & ~np.isnan(values)
    take_largest = np.array([track.together == "max" for track in profile.tracks], np.bool_)
    if not take_largest.any():
        return finite(_added_up(profile, values, chosen))
    if take_largest.all():
        return finite(_largest(profile, values, chosen))
    is_on_those = take_largest[profile.executions.track]
    added_up = _added_up(profile, values, chosen & ~is_on_those)
    return finite(np.fmax(added_up, _largest(profile, values, chosen & is_on_those)))


def _cells(profile: Profile) -> NDArray[np.int64]:
    """Shape (executions,): one number for each operator and run."""
    executions = profile.executions
    return executions.operator.astype(np.int64) * len(profile.runs) + executions.run


def _added_up(profile: Profile, values: Floats, chosen: NDArray[np.bool_]) -> Floats:
    """Shape (operators, runs): the sums of the chosen values."""
    size = len(profile.operators) * len(profile.runs)
    return _sums(_cells(profile)[chosen], values[chosen], size).reshape(-1, len(profile.runs))


def _largest(profile: Profile, values: Floats, chosen: NDArray[np.bool_]) -> Floats:
    """Shape (operators, runs): the largest over the tracks of the sums on each."""
    track = profile.executions.track[chosen]
    if len(track) == 0 or track.min() == track.max():  # one track, as in most profiles
        return _added_up(profile, values, chosen)
    cells, values = _cells(profile)[chosen], values[chosen]
    size = len(profile.operators) * len(profile.runs)
    largest = np.full(size, -np.inf)
    for rows in _rows_of_each(track):
        here = cells[rows]
        on_track = _sums(here, values[rows], size)
        largest[here] = np.maximum(largest[here], on_track[here])  # NaN spreads
    largest[np.isneginf(largest)] = np.nan
    return largest.reshape(-1, len(profile.runs))


def _sums(cells: NDArray[np.int64], values: Floats, size: int) -> Floats:
    """Shape (size,): the sum of the values in each cell; NaN in a cell without any."""
    sums = np.bincount(cells, values, minlength=size).astype(np.float64)
    sums[np.bincount(cells, minlength=size) == 0] = np.nan
    return sums


def _rows_of_each(track: NDArray[np.int32]) -> list[NDArray[np.int64]]:
    """The rows of each track that has some; there must be one."""
    by_track = np.argsort(track, kind="stable")
    ends = np.cumsum(np.bincount(track))
    return [rows for rows in np.split(by_track, ends[:-1]) if len(rows)]

"""How measures are worked out: see `measures.py`."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from profile_analyze.model.measures import REDUCTIONS, SELF
from profile_analyze.model.numbers import difference, finite
from profile_analyze.model.terms import DEVICE, HOST

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from profile_analyze.model.executions import Executions
    from profile_analyze.model.measures import Field, Measure, Reduction
    from profile_analyze.model.profile import Profile
    from profile_analyze.model.terms import Side

    Floats: TypeAlias = NDArray[np.float64]


def measured(profile: Profile, measure: Measure) -> Floats:
    """Shape (operators, runs): the measure in seconds, NaN where it is N/A."""
    executions = profile.executions
    chosen = on_side(profile, _side_of(profile, measure))
    values = _values(executions, measure.field)
    reduction = profile.reductions.get(measure.field, REDUCTIONS[measure.field])
    if reduction.unknown == "is left out":
        chosen = chosen & ~np.isnan(values)
    return _reduced(profile, values, chosen, reduction)


def calls(profile: Profile) -> Floats:
    """Shape (operators, runs): how often each operator was called; NaN where it did not run."""
    executions = profile.executions
    everything = np.ones(len(executions), np.bool_)
    reduction = profile.reductions.get("duration", REDUCTIONS["duration"])
    found = _reduced(profile, executions.calls.astype(np.float64), everything, reduction)
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


def _side_of(profile: Profile, measure: Measure) -> Side:
    """That of `self` is wherever executions nest: without a device, CPU threads stand for one."""
    if measure is SELF and not any(track.side == HOST for track in profile.tracks):
        return DEVICE
    return measure.side


def _values(executions: Executions, field: Field) -> Floats:
    """Shape (executions,): the seconds that a measure takes of each."""
    if field == "first_kernel":
        return executions.first_kernel_s
    if field == "queue":
        return difference(executions.start_s, executions.submitted_s)
    if field == "self":
        given = executions.self_s
        return np.where(np.isnan(given), executions.duration_s, given)
    return executions.duration_s


def _reduced(
    profile: Profile, values: Floats, chosen: NDArray[np.bool_], reduction: Reduction
) -> Floats:
    """Shape (operators, runs): the chosen values added up on each track, then put together."""
    executions, runs = profile.executions, len(profile.runs)
    cells = executions.operator.astype(np.int64) * runs + executions.run
    track = executions.track
    if not chosen.all():
        cells, values, track = cells[chosen], values[chosen], track[chosen]
    size = len(profile.operators) * runs
    if reduction.over_tracks == "sum":
        return finite(_sums(cells, values, size)).reshape(-1, runs)
    largest = np.full(size, -np.inf)
    for rows in _rows_of_each(track):
        here = cells[rows]
        on_track = _sums(here, values[rows], size)
        largest[here] = np.maximum(largest[here], on_track[here])  # NaN spreads
    return finite(largest).reshape(-1, runs)


def _sums(cells: NDArray[np.int64], values: Floats, size: int) -> Floats:
    """Shape (size,): the sum of the values in each cell; NaN in a cell without any."""
    sums = np.bincount(cells, values, minlength=size).astype(np.float64)
    sums[np.bincount(cells, minlength=size) == 0] = np.nan
    return sums


def _rows_of_each(track: NDArray[np.int32]) -> list[NDArray[np.int64]]:
    """The rows of each track that has some."""
    by_track = np.argsort(track, kind="stable")
    ends = np.cumsum(np.bincount(track)) if len(track) else np.empty(0, np.int64)
    return [rows for rows in np.split(by_track, ends[:-1]) if len(rows)]

"""The times of whole runs, and how much of them operators explain."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from profile_analyze.model.frozen import is_constant
from profile_analyze.model.joining.iterations import only_runs, runs_of_units
from profile_analyze.model.measuring import on_side
from profile_analyze.model.numbers import QUANTILES, exact_sums, median, ratio
from profile_analyze.model.terms import DEVICE, HOST

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from profile_analyze.model.joining.iterations import SampleUnit
    from profile_analyze.model.profile import Profile
    from profile_analyze.model.terms import Side

    Floats = NDArray[np.float64]

_ROUNDING: Final = 1.001
"""If operators take longer than their run by up to this factor, the excess is a rounding error."""
_SIDES: Final[Mapping[float, Side]] = {0.0: DEVICE, 1.0: HOST}
"""The side by the share of runs that are explained by host times."""
LEAST_WAITS: Final = 0.01
"""Sentences do not mention waits that are a smaller share of the host time."""


def walls_s(profile: Profile) -> Floats:
    """Return the seconds from start to end of each run, shape (runs,); NaN if unknown."""
    return np.array([run.wall_s for run in profile.runs], np.float64)


def host_waits_s(profile: Profile) -> Floats:
    """Return how long threads of the host only waited in each run, shape (runs,); NaN if unknown.

    Such waits, for example in `cudaDeviceSynchronize`, are part of the host time, but not work. If
    the profile knows of any waits, runs without waits have 0. No wait is longer than the host time.
    """
    nothing = np.full(len(profile.runs), np.nan)
    # Reading executions takes long. Profiles that store times separately have no such waits.
    if profile.stored_times is not None or is_constant(profile.executions.thread_wait_s):
        return nothing
    host_s, waits_s = profile.totals_s("host_time"), profile.totals_s("thread_wait")
    if np.isnan(host_s).all() or np.isnan(waits_s).all():
        return nothing
    return np.minimum(np.nan_to_num(waits_s), host_s)


def outside_s(profile: Profile) -> Floats:
    """Return the seconds of each run that no operator explains, shape (runs,).

    This is the time of the run minus the total time of its operators, without waits. If operators
    have times on the host and on the device, the longer total is used, because host and device work
    at the same time. If it is known how long the device worked, this time is used instead of the
    total on the device. A side cannot be used if its operators may overlap in time. The result is
    N/A for a run in three cases:

    - The time of the run is unknown.
    - Neither side can be used.
    - The operators take longer than the run: see `TypicalRun`.

    The rows must be of one level.
    """
    walls, inside_s = walls_s(profile), _inside(profile).total_s
    outside: Floats = np.maximum(walls - inside_s, 0.0)
    return np.where(inside_s > walls * _ROUNDING, np.nan, outside)


def known_busy_s(profile: Profile) -> Floats:
    """Return how long the busiest device worked in each run, shape (runs,); NaN if unknown."""
    return np.array([run.busy_s for run in profile.runs], np.float64)


def worked_s(profile: Profile) -> Floats:
    """Return how long the device worked in each run, shape (runs,); NaN if unknown.

    If the profile does not say so, this is the time of all operators.
    """
    busy_s = known_busy_s(profile)
    return profile.totals_s("time") if np.isnan(busy_s).all() else busy_s


class _Inside(NamedTuple):
    """The total time of the operators in each run: see `outside_s`. Shapes are (runs,)."""

    total_s: Floats
    """N/A for a run in which neither side can be used."""
    is_on_host: NDArray[np.bool_]
    """Whether the time is the host time of the operators, not that of the device."""


def _inside(profile: Profile) -> _Inside:
    """Return the total time of the operators in each run.

    If the time of every run is unknown, all totals are N/A.
    """
    unknown = np.full(len(profile.runs), np.nan)
    if np.isnan(walls_s(profile)).all():
        return _Inside(unknown, np.zeros(len(unknown), np.bool_))
    sides: tuple[tuple[Side, Floats], ...] = (
        (HOST, profile.totals_s("host_time")),
        (DEVICE, worked_s(profile)),
    )
    host_s, device_s = (
        np.where(_runs_with_one_line(profile, side), times_s, np.nan) for side, times_s in sides
    )
    host_s = host_s - np.nan_to_num(host_waits_s(profile))
    busy_s = known_busy_s(profile)
    if not np.isnan(busy_s).any():
        # Operators between two runs count in one of them, so host times may be longer than the run.
        is_on_host = not (np.isnan(host_s) | (host_s > walls_s(profile) * _ROUNDING)).any()
        is_on_host = is_on_host and median(host_s[np.newaxis]) > median(busy_s[np.newaxis])
        inside_s = host_s if is_on_host else busy_s
        return _Inside(inside_s, np.full(len(inside_s), is_on_host))
    inside_s = np.fmax(host_s, device_s)
    return _Inside(inside_s, inside_s == host_s)


class TypicalRun(NamedTuple):
    """Times of a typical run, in seconds. All fields are of the same runs."""

    wall_s: float = np.nan
    outside_s: float = np.nan
    """The time of the run that no operator explains."""
    explained_on: Side | None = None
    """Which times are compared with the run: the host times of operators, or the time in which the
    device worked. None if the profile has times on one side only, or if the runs differ in this."""
    measured_apart: bool = False
    """Whether the operators take longer than the run, because they were measured one by one, or in
    another run."""
    ran_outside: bool = False
    """Whether the operators take longer than the run, because some ran before or after the run.
    Work between two steps of a trace counts in one of the steps."""
    busy_s: float = np.nan
    """How long the busiest device worked; NaN if it is unknown."""


def typical_run(profile: Profile, statistic: str, unit: SampleUnit | None = None) -> TypicalRun:
    """Return the times of a typical run. The rows must be of one level.

    For the median, this is the run with the median wall time, or the mean over the two runs in the
    middle. All times are N/A unless the wall time of each run is known, because the totals shown
    beside them cover all runs.

    In a comparison, `unit` is the unit of its statistics: a process or an iteration. For processes,
    this function first finds the typical run of each process, and then the typical one of these.
    """
    walls = walls_s(profile)
    if np.isnan(walls).any():
        return TypicalRun()
    inside = _inside(profile)
    takes_longer = inside.total_s > walls * _ROUNDING
    busy_s = known_busy_s(profile)
    times = np.stack([walls, outside_s(profile), takes_longer, inside.is_on_host, busy_s])
    if unit is not None:
        of_units = [times[:, runs] for runs in runs_of_units(profile.runs, unit)]
        times = np.stack([_of_typical_run(one, "median") for one in of_units], axis=1)
    wall_s, outside, longer, on_host, busy = _of_typical_run(times, statistic).tolist()
    # Start times are from a timeline of the run itself, so operators that take longer than the run
    # must have run outside of it. Either all executions of a runtime have start times, or none has.
    ran_outside = longer > 0 and not np.isnan(profile.executions.start_s).all()
    explained_on: Side | None = None
    if not np.isnan(outside) and _has_both_sides(profile):
        explained_on = _SIDES.get(on_host)
    return TypicalRun(
        wall_s,
        outside,
        explained_on,
        longer > 0 and not ran_outside,
        bool(ran_outside),
        busy,
    )


def _has_both_sides(profile: Profile) -> bool:
    """Return whether the profile has host times and device times."""
    if not np.isnan(known_busy_s(profile)).all():
        return True
    totals_s = (profile.totals_s(measure) for measure in ("time", "host_time"))
    return all(not np.isnan(one).all() for one in totals_s)


def _of_typical_run(times: Floats, statistic: str) -> Floats:
    """Return the means of `times`, shape (5, runs), over the runs that the statistic chooses.

    The first row orders the runs. The result has the shape (5,); a mean that is not finite is N/A.
    """
    chosen = np.argsort(times[0], kind="stable")
    if statistic in QUANTILES:
        position = (len(chosen) - 1) * QUANTILES[statistic]
        chosen = chosen[[int(np.floor(position)), int(np.ceil(position))]]
    return ratio(exact_sums(times[:, chosen].T), len(chosen))


def _runs_with_one_line(profile: Profile, side: Side) -> NDArray[np.bool_]:
    """Return a mask of the runs that used exactly one line on this side, shape (runs,).

    A line is a thread or a stream, on which operators run one after another: see `Track.line`.
    """
    lines = list(dict.fromkeys(track.line for track in profile.tracks))
    line_of_track = np.array([lines.index(track.line) for track in profile.tracks], np.int64)
    executions = profile.executions
    uses = np.zeros((len(lines), len(profile.runs)), np.bool_)
    rows = on_side(profile, side)
    uses[line_of_track[executions.track[rows]], executions.run[rows]] = True
    return np.asarray(uses.sum(axis=0) == 1)


def with_device_times(profile: Profile) -> Profile:
    """Return the profile with only the runs that have a device time, or with all if none has one.

    The totals on the device, the totals on the host and the wall time are then of the same runs.
    """
    is_known = ~np.isnan(profile.totals_s("time"))
    if is_known.all() or not is_known.any():
        return profile
    return only_runs(profile, np.flatnonzero(is_known))

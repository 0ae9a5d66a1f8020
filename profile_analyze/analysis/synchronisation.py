"""Corrects synchronised times: the runtime waited for each operator, and times include the wait."""

from __future__ import annotations

from math import isclose
from typing import TYPE_CHECKING

import numpy as np

from profile_analyze.model.measuring import on_side
from profile_analyze.model.notes import Importance, Note
from profile_analyze.model.terms import DEVICE
from profile_analyze.units import counted, short_time

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from profile_analyze.model.profile import Profile

    Floats = NDArray[np.float64]


def waits_s(profile: Profile) -> Floats:
    """Return how long each call waits, in seconds, shape (runs,); NaN if the wait is unknown.

    The time of a run includes only one wait, but the time of each call includes a wait. The times
    of all operators therefore add up to more than the time of the run. All calls share the excess
    equally. An operator that took less than its wait counts as 0, and the other operators share the
    rest. Rows without calls keep their times. If the file has only one row, the wait is unknown.
    All rows must be of one level.
    """
    executions = profile.executions
    rows = on_side(profile, DEVICE) & ~np.isnan(executions.duration_s) & (executions.calls > 0)
    excess_s = profile.totals_s("time") - np.array([run.wall_s or np.nan for run in profile.runs])
    if len(profile) < 2:
        return np.full(len(profile.runs), np.nan)
    rows_of_runs = (rows & (executions.run == run) for run in range(len(profile.runs)))
    return np.array(
        [
            _wait_s(executions.duration_s[of_run], executions.calls[of_run], float(excess))
            for of_run, excess in zip(rows_of_runs, excess_s, strict=True)
        ]
    )


def _wait_s(duration_s: Floats, calls: NDArray[np.int64], excess_s: float) -> float:
    """Return the wait per call whose removal shortens all durations together by `excess_s`.

    No duration falls below 0. If all durations together are below `excess_s`, the result is NaN.
    """
    total_s = float(duration_s.sum())
    if excess_s > total_s and not isclose(excess_s, total_s):
        return float("nan")
    each_s = float("nan")
    is_longer = np.ones(len(duration_s), np.bool_)
    while is_longer.any():
        # An operator that counts as 0 reduces the excess by its whole duration.
        rest_s = excess_s - float(duration_s[~is_longer].sum())
        each_s = rest_s / float(calls[is_longer].sum())
        stays_longer = is_longer & (duration_s >= each_s * calls)
        if stays_longer.sum() == is_longer.sum():
            break
        is_longer = stays_longer
    return each_s


def without_synchronisation(profile: Profile) -> Profile:
    """Return the profile with the wait subtracted from each call, and with a note on the result.

    No time falls below 0. All rows must be of one level.
    """
    if not profile.origin.synchronised:
        return _with_note(
            profile,
            "times are not synchronised in this format, so --correct-sync changes nothing",
        )
    each_s = waits_s(profile)
    if len(profile) < 2:
        return _with_note(
            profile,
            "the file has only one row, so --correct-sync changes nothing: one time does not "
            "show how long each call waited",
        )
    if np.isnan(each_s).any():
        knows_walls = all(run.wall_s > 0 for run in profile.runs)
        of_operators = "the time or the number of calls of some operators"
        unknown = of_operators if knows_walls else "the time of a whole run"
        return _with_note(
            profile,
            f"{unknown} is unknown, so --correct-sync changes nothing: the wait in each call "
            "cannot be computed",
        )
    if (each_s <= 0).all():
        return _with_note(
            profile,
            "all operators together take no longer than a whole run, so --correct-sync changes "
            "nothing: there is no wait to subtract",
        )
    return _corrected(profile, np.maximum(each_s, 0.0))


def _with_note(profile: Profile, text: str) -> Profile:
    return profile.changed(notes=(*profile.notes, Note(text, Importance.ANSWER)))


def _corrected(profile: Profile, each_s: Floats) -> Profile:
    executions = profile.executions
    on_device = on_side(profile, DEVICE)
    wait_s = np.where(on_device, each_s[executions.run] * executions.calls, 0.0)
    is_shorter = executions.duration_s < wait_s
    # These operators count as 0 in all runs. An operator that is shorter than the wait in only some
    # of the runs still has a time.
    gone = np.setdiff1d(
        executions.operator[is_shorter], executions.operator[on_device & ~is_shorter]
    )
    changed = executions.changed(
        duration_s=np.maximum(executions.duration_s - wait_s, 0.0),
        self_s=np.maximum(executions.self_s - wait_s, 0.0),
    )
    least, most = short_time(float(each_s.min())), short_time(float(each_s.max()))
    wait = most if least == most else f"{least} to {most}"
    note = f"times are corrected for synchronisation: a wait of {wait} is subtracted from each call"
    if len(gone):
        count = "counts" if len(gone) == 1 else "count"
        note += f"; {counted(len(gone), 'operator')} took less than the wait and {count} as 0"
    return profile.changed(
        executions=changed,
        origin=profile.origin._replace(synchronised=False),
        notes=(*profile.notes, Note(note, Importance.WRONG)),
    )

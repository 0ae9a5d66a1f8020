"""Synchronised times: the runtime waited for each operator, so its time includes a wait."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from profile_analyze.model.measuring import on_side
from profile_analyze.model.notes import Importance, Note
from profile_analyze.model.numbers import ratio
from profile_analyze.model.terms import DEVICE
from profile_analyze.units import counted, short_time

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from profile_analyze.model.profile import Profile

    Floats = NDArray[np.float64]


def waits_s(profile: Profile) -> Floats:
    """Return the wait in each call, shape (runs,), in seconds; NaN if it is not known.

    All operators together take longer than the whole run, in which the runtime waited only once.
    The wait in each call is this difference, divided by the number of calls. The rows must be of
    one level.
    """
    executions = profile.executions
    rows = on_side(profile, DEVICE) & ~np.isnan(executions.duration_s)
    calls = np.bincount(executions.run[rows], executions.calls[rows], len(profile.runs))
    walls_s = np.array([run.wall_s if run.wall_s > 0 else np.nan for run in profile.runs])
    return ratio(profile.totals_s("time") - walls_s, calls.astype(np.float64))


def without_synchronisation(profile: Profile) -> Profile:
    """Return the profile without the wait in each call, with a note. No time falls below 0.

    The rows must be of one level.
    """
    if not profile.origin.synchronised:
        return _with_note(
            profile,
            "times are not synchronised in this format: --correct-sync changes nothing",
        )
    each_s = waits_s(profile)
    if np.isnan(each_s).any():
        return _with_note(
            profile,
            "the time of a whole run is unknown, so --correct-sync changes nothing: the wait in "
            "each call does not follow",
        )
    if (each_s <= 0).all():
        return _with_note(
            profile,
            "all operators together take no longer than a whole run, so --correct-sync changes "
            "nothing: no wait can be seen",
        )
    return _corrected(profile, np.maximum(each_s, 0.0))


def _with_note(profile: Profile, text: str) -> Profile:
    return profile.changed(notes=(*profile.notes, Note(text, Importance.ANSWER)))


def _corrected(profile: Profile, each_s: Floats) -> Profile:
    executions = profile.executions
    on_device = on_side(profile, DEVICE)
    wait_s = np.where(on_device, each_s[executions.run] * executions.calls, 0.0)
    is_shorter = executions.duration_s < wait_s
    # An operator may be shorter in some runs only. Its time is not 0 then.
    gone = np.setdiff1d(
        executions.operator[is_shorter], executions.operator[on_device & ~is_shorter]
    )
    changed = executions.changed(
        duration_s=np.maximum(executions.duration_s - wait_s, 0.0),
        self_s=np.maximum(executions.self_s - wait_s, 0.0),
    )
    least, most = short_time(float(each_s.min())), short_time(float(each_s.max()))
    wait = most if least == most else f"{least} to {most}"
    note = f"times are corrected for synchronisation: {wait} less for each call"
    if len(gone):
        note += f"; {counted(len(gone), 'operator')} took less than that, and count as 0"
    return profile.changed(
        executions=changed,
        origin=profile.origin._replace(synchronised=False),
        notes=(*profile.notes, Note(note, Importance.WRONG)),
    )

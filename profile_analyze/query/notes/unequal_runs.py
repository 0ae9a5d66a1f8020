"""Finds runs that did no work or hardly any work, such as steps of a trace that ended early."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from profile_analyze.large_arrays import blocks_of_runs
from profile_analyze.model.joining.iterations import indices_in_process, only_runs, runs_by_process
from profile_analyze.model.notes import Importance, Note, TextNote
from profile_analyze.units import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from profile_analyze.model.profile import Profile

    Integers = NDArray[np.int64]

_HARDLY_ANY: Final = 0.1
"""A run with less than this share of the operators of another run did hardly any of the work."""


def with_device_times(profile: Profile) -> Profile:
    """Return the profile with only the runs that have a device time, or with all if none has one.

    The totals on the device, the totals on the host and the wall time are then of the same runs.
    """
    is_known = ~np.isnan(profile.totals_s("time"))
    if is_known.all() or not is_known.any():
        return profile
    return only_runs(profile, np.flatnonzero(is_known))


def unequal_runs_notes(profile: Profile) -> Iterator[Note]:
    """Yield a note on runs without a device time, and a note on runs with hardly any work."""
    if len(profile.runs) < 2:
        return
    is_known = ~np.isnan(profile.totals_s("time"))
    empty = np.flatnonzero(~is_known)
    if len(empty) and is_known.any():
        verb = "has" if len(empty) == 1 else "have"
        yield TextNote(
            f"{_runs_among(profile, empty)} {verb} no device time, so totals, host times and wall "
            f"times leave out {'this run' if len(empty) == 1 else 'these runs'}; "
            "--aggregate-by run shows each run",
            Importance.WRONG,
        )
    counts = _operators_in_runs(profile)
    small = np.flatnonzero(is_known & (counts < _HARDLY_ANY * _most_in_process(profile, counts)))
    if len(small):
        verb = "has" if len(small) == 1 else "have"
        yield TextNote(
            f"runs are very unequal: {_runs_among(profile, small)} {verb} times of fewer than a "
            f"tenth of the operators of another run; --aggregate-by run shows each run",
            Importance.WRONG,
        )


def _operators_in_runs(profile: Profile) -> Integers:
    """Return how many operators have a device time in each run, shape (runs,)."""
    times_s = profile.measured("time")
    counts = np.zeros(times_s.shape[1], np.int64)
    for runs, (block,) in blocks_of_runs(times_s):
        counts[runs] = (~np.isnan(block)).sum(axis=0)
    return counts


def _most_in_process(profile: Profile, counts: Integers) -> Integers:
    """Return the largest of `counts` in the process of each run, shape (runs,).

    If a process has only one run, there is nothing to compare it with, and the result is 0.
    """
    most = np.zeros_like(counts)
    for runs in runs_by_process(profile.runs, least=2):
        most[runs] = counts[runs].max()
    return most


def _runs_among(profile: Profile, chosen: Integers) -> str:
    """Return how many runs are chosen, and the first of them: `2 of 5 runs (such as run 3)`."""
    first = int(chosen[0])
    number = profile.skipped_runs + 1 + int(indices_in_process(profile.runs)[first])
    process = profile.processes[profile.runs[first].process]
    name = f"run {number}" if len(profile.processes) == 1 else f"run {number} of {process}"
    such_as = f"({name})" if len(chosen) == 1 else f"(such as {name})"
    return f"{len(chosen)} of {counted(len(profile.runs), 'run')} {such_as}"

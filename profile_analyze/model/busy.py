"""When steps begin and end, and how long devices work in them.

Times are whole nanoseconds, or seconds. Work is what ran on a device: kernels, copies and memsets.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from profile_analyze.model.terms import DEVICE, EARLIER, KERNEL

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from profile_analyze.model.profile import Profile

    Times: TypeAlias = NDArray[Any]
    Indices: TypeAlias = NDArray[np.int64]
    Flags: TypeAlias = NDArray[np.bool_]


def steps_with_work(
    begins: Times, ends: Times, step: Indices, work_ends: Times
) -> tuple[Times, Times]:
    """Return when each step begins and ends, together with the work that it launched.

    `begins` and `ends` are the times on the host, in ascending order. `step` has the step that
    launched each piece of work. The host may be far ahead of a device, so a step ends at the later
    of its end on the host and the end of its last work. It begins at the later of its begin on the
    host and the end of the step before.
    """
    last = ends.copy()
    np.fmax.at(last, step, work_ends)
    last = np.maximum.accumulate(last)
    first = begins.copy()
    first[1:] = np.maximum(begins[1:], last[:-1])
    return first, last


def busiest(first: Times, last: Times, device: Indices, begins: Times, ends: Times) -> Times:
    """Return how long the busiest device worked in each window from `first` to `last`.

    `device` has the number of the device of each piece of work. Work that ran at the same time on
    several streams counts once.
    """
    result = np.zeros(len(first), np.result_type(first, begins))
    for _, worked in worked_in(first, last, device, begins, ends):
        result = np.maximum(result, worked)
    return result


def worked_in(
    first: Times, last: Times, device: Indices, begins: Times, ends: Times
) -> Iterator[tuple[int, Times]]:
    """Yield each device and how long it worked in each window: see `busiest`."""
    by_device = np.argsort(device, kind="stable")
    bounds = np.flatnonzero(np.diff(device[by_device])) + 1
    for of_device in np.split(by_device, bounds) if len(device) else ():
        rows = of_device[np.argsort(begins[of_device], kind="stable")]
        until_last, until_first = (_covered(begins[rows], ends[rows], at) for at in (last, first))
        yield int(device[rows[0]]), until_last - until_first


def _covered(begins: Times, ends: Times, times: Times) -> Times:
    """Return how long any of the intervals had been open until each of `times`.

    The intervals are sorted by their begins.
    """
    latest = np.maximum.accumulate(ends)
    is_first = np.append(True, begins[1:] > latest[:-1])  # a gap before the interval
    opened = begins[is_first]
    closed = latest[np.append(np.flatnonzero(is_first)[1:], len(begins)) - 1]
    lengths = np.concatenate([np.zeros(1, opened.dtype), np.cumsum(closed - opened)])
    index = np.searchsorted(opened, times, side="right")
    still_open = np.maximum(np.append(closed[:1], closed)[index] - times, 0)
    return lengths[index] - np.where(index > 0, still_open, 0)


def is_work(profile: Profile) -> Flags:
    """Return whether each execution is work on a device that kernels describe.

    This includes work that was launched before the recording. All levels must be present.
    """
    of_level = profile.operators.are_at(KERNEL, EARLIER)
    on_device = np.array([track.side == DEVICE for track in profile.tracks], np.bool_)
    executions = profile.executions
    return np.asarray(of_level[executions.operator] & on_device[executions.track])


def device_of_tracks(profile: Profile) -> Indices:
    """Return the number of the device of each track, shape (tracks,).

    Each rank has its own devices, which may have equal names.
    """
    numbers: dict[object, int] = {}
    return np.array(
        [numbers.setdefault((one.rank, one.device), len(numbers)) for one in profile.tracks],
        np.int64,
    )

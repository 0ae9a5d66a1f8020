"""The tracks of a timeline: workers on the host, and devices."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from profile_analyze.model.executions import Track
from profile_analyze.model.terms import DEVICE, HOST
from profile_analyze.readers.megengine.terms import track_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from profile_analyze.readers.megengine_timeline.placing import Placed
    from profile_analyze.readers.megengine_timeline.recording import Recording

    Indices = NDArray[np.int64]


def tracks_of(recording: Recording, host: Placed, tracks: dict[Track, int]) -> Indices:
    """Return, for each entry of `Placed` and then for each kernel, the index of its track.

    New tracks are added to `tracks`.
    """
    thread = np.append(
        np.array(recording.spans.thread, np.int64)[host.span],
        np.array(recording.kernels.thread, np.int64),
    )
    is_host = np.arange(len(thread)) < len(host.span)
    devices = _device_names(recording)
    pids = {pid for pid, _ in recording.threads}
    result = np.empty(len(thread), np.int64)
    for index, (pid, tid) in enumerate(recording.threads):
        name = recording.thread_names.get((pid, tid), "")
        worker = Track(name or "worker", HOST, kind="thread")
        device = _device(name or f"device {tid}", devices)
        for is_of_track, track in (
            ((thread == index) & is_host, worker),
            ((thread == index) & ~is_host, device),
        ):
            own = track._replace(process=str(pid), clock=str(pid)) if len(pids) > 1 else track
            if is_of_track.any():
                result[is_of_track] = tracks.setdefault(own, len(tracks))
    return result


def _device(name: str, devices: dict[str, str]) -> Track:
    """Return the track of a device. Unlike in GraphProfiler JSON, all threads share one clock."""
    track = track_of(devices.get(name, name), DEVICE)
    return track._replace(name=name, device=name, clock="", together="sum")


def _device_names(recording: Recording) -> dict[str, str]:
    """Return full names of devices, such as `CompNode("cpu0:0" from "xpux:0")`, by short name.

    Both quoted names are keys, because a device's thread may have either of them as its name. The
    argument `__device__` is not used, because it may be `invalid`.
    """
    found = {}
    for facts in recording.facts:
        for tensor in (*facts.inputs, *facts.outputs):
            parts = tensor.device.split('"')
            if len(parts) == 5:  # the quotes around two names
                found[parts[3]] = found[parts[1]] = tensor.device
    return found

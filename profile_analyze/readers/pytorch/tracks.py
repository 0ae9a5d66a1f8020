"""Makes the tracks of a trace: threads of the host, and streams of devices."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

import numpy as np

from profile_analyze.model.executions import Track
from profile_analyze.model.terms import CPU, DEVICE, GPU, HOST
from profile_analyze.readers.pytorch.timeline import integers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from profile_analyze.model.terms import Side
    from profile_analyze.readers.pytorch.columns import Events
    from profile_analyze.readers.pytorch.decoding import Trace
    from profile_analyze.readers.pytorch.metadata import Metadata

    Indices: TypeAlias = NDArray[np.int64]

_RESOLUTION_S: Final = 1e-9
_BACKEND: Final = re.compile(r"\b[nrxh]ccl\b")
"""The libraries with which devices communicate: of NVIDIA, AMD, Intel and Huawei."""
_ON_DEVICE: Final = re.compile(
    r"[nrxh]ccl:|aten::_?(?:cudnn|miopen)_(?!is_acceptable)"
    r"|aten::_(?:scaled_dot_product_)?(?:flash|efficient|cudnn)_attention(?!.*_for_cpu)"
)
"""The start of the names of operators and regions that only run on a device."""
_KERNEL_LAUNCH: Final = re.compile("launch(?!hostfunc)", re.IGNORECASE)
"""Names of driver calls that start kernels contain this word. A host function is no kernel."""
_LAUNCH: Final = re.compile(f"{_KERNEL_LAUNCH.pattern}|memcpy|memset", re.IGNORECASE)
"""Names of driver calls that start work on a device contain one of these words."""


class DeviceUse(NamedTuple):
    """What shows that a device did work, or may have."""

    shown_by: Literal["kernels", "launches", "operator", "memory", "backend", "device"]
    name: str | None = None
    """The name of the operator, backend or device."""
    events: int | None = None
    """The number of launches, or of executions of the operator."""


def use_of_device(trace: Trace, metadata: Metadata) -> DeviceUse | None:
    """Return how the trace shows that a device did work, or may have; None if the CPU did it all.

    If the CPU did all the work, its threads are the device tracks.
    """
    return next(_uses_of_device(trace, metadata), None)


def _uses_of_device(trace: Trace, metadata: Metadata) -> Iterator[DeviceUse]:
    events = trace.events
    if len(events.work):
        yield DeviceUse("kernels")
    if launches := int(_are_called(events, _LAUNCH).sum()):
        yield DeviceUse("launches", events=launches)
    facts = [*events.host_facts]
    runs_on_device = np.array([_ON_DEVICE.match(one.name) is not None for one in facts], np.bool_)
    if calls := int(runs_on_device[integers(events.host.facts)].sum()):
        yield DeviceUse("operator", facts[int(np.argmax(runs_on_device))].name, calls)
    if (integers(events.allocations.device) >= 0).any():
        yield DeviceUse("memory")
    backend = metadata.distributed.backend
    if _BACKEND.search(backend):
        yield DeviceUse("backend", backend)
    # A trace that recorded the driver has its calls, even if nothing was launched. torch writes
    # them after all host events, so a file that was cut may lack them.
    if metadata.devices and not (trace.has_end and len(events.calls)):
        yield DeviceUse("device", metadata.devices[0].name or None)


def launches_kernel(events: Events) -> NDArray[np.bool_]:
    """Return whether each driver call starts kernels, shape (calls,). A copy is no kernel."""
    return _are_called(events, _KERNEL_LAUNCH)


def _are_called(events: Events, words: re.Pattern[str]) -> NDArray[np.bool_]:
    """Return whether the name of each driver call has one of `words`, shape (calls,)."""
    has_word = np.array([words.search(name) is not None for name in events.call_names], np.bool_)
    return np.asarray(has_word[integers(events.calls.facts)])


def tracks_of(
    events: Events, rank: int | None, *, is_of_cpu: bool
) -> tuple[tuple[Track, ...], Indices]:
    """Return the tracks, and the index of the track of each execution.

    Executions are in this order: events on the host, driver calls, work on devices.

    If `is_of_cpu` is true, the threads of the CPU are the device tracks.
    """
    on_host = np.concatenate([integers(events.host.thread), integers(events.calls.thread)])
    on_device = integers(events.work.thread)
    threads = [*events.threads]
    side: Side = DEVICE if is_of_cpu else HOST
    tracks: list[Track] = []
    host_threads, streams = _used(on_host), _used(on_device)
    for number in host_threads:
        process, thread = threads[number]
        name = events.names.get((process, thread)) or f"thread {thread}"
        tracks.append(Track(name, side, None, "thread", str(process), device_kind=CPU))
    for number in streams:
        device, stream = threads[number]
        tracks.append(Track(f"stream {stream}", DEVICE, f"gpu{device}", "stream", device_kind=GPU))
    track_of = np.empty(len(threads), np.int64)
    track_of[host_threads] = np.arange(len(host_threads))
    # Look up the host first: a thread and a stream may have the same number.
    host_tracks = track_of[on_host]
    track_of[streams] = np.arange(len(host_threads), len(tracks))
    # In each file, times start at the first event, so each rank has its own clock.
    clock = "" if rank is None else f"rank {rank}"
    tracks = [one._replace(rank=rank, clock=clock, resolution_s=_RESOLUTION_S) for one in tracks]
    return tuple(tracks), np.concatenate([host_tracks, track_of[on_device]])


def processes_of(events: Events) -> Indices:
    """Return the number of the process of each thread. Processes are numbered from 0."""
    numbers: dict[object, int] = {}
    return np.array(
        [numbers.setdefault(process, len(numbers)) for process, _ in events.threads], np.int64
    )


def _used(threads: Indices) -> list[int]:
    """Return the distinct values of `threads`, ascending."""
    return np.flatnonzero(np.bincount(threads)).tolist()

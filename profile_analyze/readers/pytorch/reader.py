"""Reads a trace of `torch.profiler`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from profile_analyze.errors import MalformedProfileError, UnknownFormatError
from profile_analyze.gc_pause import gc_paused
from profile_analyze.model.origin import ITERATIONS, Origin, RecordedFact
from profile_analyze.model.profile import Profile
from profile_analyze.model.terms import FRAMES
from profile_analyze.readers.pytorch.decoding import read_trace
from profile_analyze.readers.pytorch.executions import recorded
from profile_analyze.readers.pytorch.metadata import metadata_of
from profile_analyze.readers.pytorch.notes import notes_on_trace
from profile_analyze.readers.pytorch.operators import operators_of
from profile_analyze.readers.pytorch.tracks import use_of_device
from profile_analyze.readers.recognition import ASCEND
from profile_analyze.units import counted

if TYPE_CHECKING:
    from collections.abc import Collection

    from profile_analyze.readers.input.source import Source
    from profile_analyze.readers.pytorch.decoding import Trace
    from profile_analyze.readers.pytorch.metadata import Metadata

FORMAT: Final = "PyTorch trace"
_ASCEND: Final = "Ascend Hardware"
"""The name of the process that stands for an NPU in traces of torch_npu."""


def read(source: Source, wanted: Collection[str]) -> Profile:
    """Return the profile in `source`. See `Reader.read`."""
    with gc_paused():
        trace = read_trace(source, with_functions=FRAMES in wanted)
        _check(source.name, trace)
        metadata = metadata_of(trace)
        device_use = use_of_device(trace, metadata)
        found = recorded(trace.events, metadata.distributed.rank, is_of_cpu=device_use is None)
        return Profile(
            file=source.name,
            origin=Origin(
                FORMAT,
                None if metadata.schema_version is None else str(metadata.schema_version),
                hardware=None if device_use is None else _hardware(trace, metadata),
                recorded=_iterations(found.repetitions),
            ),
            operators=operators_of(found.rows),
            executions=found.executions,
            tracks=found.tracks,
            runs=found.runs,
            processes=(source.name,),
            notes=tuple(notes_on_trace(trace, found, device_use)),
        )


def _iterations(repetitions: int) -> tuple[RecordedFact, ...]:
    """Return a fact on a run that may have several iterations; none for one iteration."""
    if repetitions == 1:
        return ()
    unit = "in the run; times and calls are their sums"
    return (RecordedFact("iterations", float(repetitions), unit, ITERATIONS, "perhaps"),)


def _check(file: str, trace: Trace) -> None:
    """Raise an error if the trace has no host event, driver call or device work.

    Also raise one if another library wrote the trace.
    """
    events = trace.events
    if _ASCEND in events.processes:  # far into the file, where no pattern looks for it
        raise UnknownFormatError(file, f"looks like {ASCEND}")
    if not (len(events.host) or len(events.calls) or len(events.work)):
        reason = "has no operator and no kernel; record with activities=[ProfilerActivity.CPU]"
        if events.untimed:
            times = f"the times of {counted(events.untimed, 'event')} are missing or impossible"
            reason = f"has no event with a valid time: {times}"
        raise MalformedProfileError(file, reason)


def _hardware(trace: Trace, metadata: Metadata) -> str | None:
    """Return the names of the devices that did work; None if no name is known.

    If all devices have the same name, it does not matter which of them did the work: ROCm numbers
    devices in another way in kernels than in the list of devices.
    """
    streams = {*trace.events.work.thread}
    used = {
        str(process)
        for number, (process, _) in enumerate(trace.events.threads)
        if number in streams
    }
    are_equal = len({one.name for one in metadata.devices}) == 1
    names = [one.name for one in metadata.devices if are_equal or str(one.id) in used]
    return ", ".join(dict.fromkeys(filter(None, names))) or None

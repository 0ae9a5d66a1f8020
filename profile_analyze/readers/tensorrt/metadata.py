"""Reads what trt-engine-explorer writes about the device and the times of whole inferences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, TypeAlias

import msgspec

from profile_analyze.model.origin import RecordedFact
from profile_analyze.readers.tensorrt.decoding import converted, decoded
from profile_analyze.readers.tensorrt.inferences import LATENCY
from profile_analyze.units import MS_PER_S

if TYPE_CHECKING:
    from profile_analyze.readers.input.source import Source

_Time: TypeAlias = Annotated[float, msgspec.Meta(ge=0)]
_Times: TypeAlias = Annotated[list[_Time], msgspec.Meta(min_length=4)]
"""Times in milliseconds: the minimum, maximum, mean and median, then percentiles.

The file does not say which percentiles these are, so they are not used.
"""


class _Summary(msgspec.Struct, gc=False):
    compute_ms: _Times | None = msgspec.field(default=None, name="GPU Compute Time")
    latency_ms: _Times | None = msgspec.field(default=None, name="Latency")


class _Device(msgspec.Struct, gc=False):
    name: str | None = msgspec.field(default=None, name="Selected Device")


class _Facts(msgspec.Struct, gc=False):
    """`X.profile.metadata.json`, made from the output of trtexec."""

    performance_summary: _Summary = msgspec.field(default_factory=_Summary)
    device_information: _Device = msgspec.field(default_factory=_Device)


class _Listed(msgspec.Struct, gc=False):
    """An entry of `X.metadata.json`, which lists the devices of the machine."""

    name: str = msgspec.field(name="Name")


class Metadata(NamedTuple):
    """What the files beside a profile say about its run."""

    hardware: str | None = None
    """The name of the device; None if no file names it, or a list has different devices."""
    mean_compute_s: float | None = None
    """The mean time that the device computes in an inference."""
    recorded: tuple[RecordedFact, ...] = ()

    def completed_by(self, other: Metadata) -> Metadata:
        """Return these facts. What they lack is taken from `other`."""
        return Metadata(
            self.hardware or other.hardware,
            other.mean_compute_s if self.mean_compute_s is None else self.mean_compute_s,
            self.recorded or other.recorded,
        )


def read_metadata(source: Source) -> Metadata:
    """Return what `source` says. Raises `MalformedProfileError`."""
    document: Any = decoded(source)
    if isinstance(document, list):
        names = {one.name for one in converted(document, list[_Listed], source.name)}
        return Metadata(hardware=names.pop() if len(names) == 1 else None)
    facts = converted(document, _Facts, source.name)
    summary = facts.performance_summary
    compute, latency = summary.compute_ms, summary.latency_ms
    return Metadata(
        facts.device_information.name or None,
        None if compute is None else compute[2] / MS_PER_S,
        () if latency is None else _latencies(latency),
    )


def _latencies(times_ms: list[float]) -> tuple[RecordedFact, ...]:
    least, most, _, median, *_ = times_ms
    return tuple(
        RecordedFact(f"latency_{part}_s", value_ms / MS_PER_S, "s", LATENCY, part)
        for part, value_ms in (("min", least), ("median", median), ("max", most))
    )

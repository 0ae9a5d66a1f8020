"""Reads the times of whole inferences, which `trtexec --exportTimes` writes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final, TypeAlias

import msgspec
import numpy as np

from profile_analyze.model.origin import RecordedFact
from profile_analyze.readers.tensorrt.decoding import converted, decoded
from profile_analyze.units import MS_PER_S

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from profile_analyze.readers.input.source import Source

_Time: TypeAlias = Annotated[float, msgspec.Meta(ge=0)]

LATENCY: Final = "latency"
_PERCENTILES: Final = {"median": 50, "p90": 90, "p95": 95, "p99": 99}


class Inference(msgspec.Struct, gc=False):
    """The times of one inference in milliseconds."""

    compute_ms: _Time = msgspec.field(name="computeMs")
    latency_ms: _Time = msgspec.field(name="latencyMs")
    """From the start of the first copy to the device, to the end of the last copy back."""


def read_inferences(source: Source) -> list[Inference]:
    """Return the inferences in `source`. Raises `MalformedProfileError`."""
    return converted(decoded(source), list[Inference], source.name)


def mean_compute_s(inferences: list[Inference]) -> float:
    """Return the mean time that the device computes in an inference, in seconds."""
    return float(np.mean([one.compute_ms for one in inferences])) / MS_PER_S


def recorded_facts(inferences: list[Inference]) -> Iterator[RecordedFact]:
    """Yield the number of inferences, and the distribution of their latencies."""
    latencies_s = np.array([one.latency_ms for one in inferences]) / MS_PER_S
    count = len(inferences)
    noun = "inference" if count == 1 else "inferences"
    # The count belongs to the latencies: the times of the layers are from another run.
    yield RecordedFact("inferences", float(count), noun, LATENCY)
    for part, value_s in _distribution(latencies_s):
        yield RecordedFact(f"latency_{part}_s", value_s, "s", LATENCY, part)


def _distribution(times_s: NDArray[np.float64]) -> Iterator[tuple[str, float]]:
    yield "min", float(times_s.min())
    for name, percent in _PERCENTILES.items():
        yield name, float(np.quantile(times_s, percent / 100))
    yield "max", float(times_s.max())

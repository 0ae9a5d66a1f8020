"""Reads the fields of a trace besides its events: version, devices and rank."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from profile_analyze.readers.json_errors import DECODING_ERRORS

if TYPE_CHECKING:
    from profile_analyze.readers.pytorch.decoding import Trace


_LARGEST_RANK: Final = (1 << 31) - 1


class DeviceProperties(msgspec.Struct):
    """A device of the machine on which the trace was recorded."""

    id: int = -1
    name: str = ""


class _Distributed(msgspec.Struct):
    rank: int | None = None
    backend: str = ""

    def __post_init__(self) -> None:
        """Drop a rank that no job has."""
        if self.rank is not None and not 0 <= self.rank <= _LARGEST_RANK:
            self.rank = None


class Metadata(msgspec.Struct):
    """The fields of the trace besides its events."""

    schema_version: int | str | None = msgspec.field(default=None, name="schemaVersion")
    devices: list[DeviceProperties] = msgspec.field(default_factory=list, name="deviceProperties")
    distributed: _Distributed = msgspec.field(default_factory=_Distributed, name="distributedInfo")


_decode = msgspec.json.Decoder(Metadata).decode


def metadata_of(trace: Trace) -> Metadata:
    """Return the metadata of a trace.

    If a damaged trace has valid JSON only before the events, the other fields have their defaults.
    """
    return (
        _decoded(b"%b]%b" % (trace.before, trace.after))
        or _decoded(b"%b]}" % trace.before)
        or Metadata()
    )


def _decoded(document: bytes) -> Metadata | None:
    try:
        return _decode(document)
    except DECODING_ERRORS:
        return None

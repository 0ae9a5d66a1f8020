"""Decodes the events of a trace into structures. Fields that are not named here are skipped."""

from __future__ import annotations

from typing import Annotated, Any, Final, TypeAlias, get_args

import msgspec
from msgspec import Meta, Raw

_Id: TypeAlias = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
"""A whole number of 64 bits, which an array can hold."""
_ThreadKey: TypeAlias = int | float | str | None
"""The `pid` or `tid` of an event."""

NOTHING: Final = Raw()
_NO_ID: Final = -1
_UNKNOWN_US: Final = float("nan")


def _field(name: str, default: Any) -> Any:
    return msgspec.field(default=default, name=name)


class Arguments(msgspec.Struct, gc=False):
    """The arguments of an event that has a duration. All arguments are optional."""

    correlation: _Id = _NO_ID
    external_id: _Id = _field("External id", _NO_ID)
    old_external_id: _Id = _field("external id", _NO_ID)
    # Arguments of operators:
    shapes: Raw = _field("Input Dims", NOTHING)
    old_shapes: Raw = _field("Input dims", NOTHING)
    dtypes: Raw = _field("Input type", NOTHING)
    strides: Raw = _field("Input Strides", NOTHING)
    values: Raw = _field("Concrete Inputs", NOTHING)
    sequence: _Id = _field("Sequence number", _NO_ID)
    forward_thread: _Id = _field("Fwd thread id", 0)
    # Arguments of kernels, copies and memsets:
    grid: Raw = NOTHING
    block: Raw = NOTHING
    registers: Raw = _field("registers per thread", NOTHING)
    shared_memory: Raw = _field("shared memory", NOTHING)
    occupancy: Raw = _field("est. achieved occupancy %", NOTHING)
    moved_bytes: Raw = _field("bytes", NOTHING)
    # Arguments of communication:
    collective: Raw = _field("Collective name", NOTHING)
    sent_elements: Raw = _field("In msg nelems", NOTHING)
    received_elements: Raw = _field("Out msg nelems", NOTHING)
    dtype: Raw = NOTHING
    group_size: Raw = _field("Group size", NOTHING)


class Complete(msgspec.Struct, gc=False, tag_field="ph", tag="X"):
    """An event that has a start (`ts`) and a duration (`dur`), in microseconds."""

    name: str = ""
    cat: str = ""
    ts: float = _UNKNOWN_US
    dur: float = _UNKNOWN_US
    pid: _ThreadKey = 0
    tid: _ThreadKey = 0
    args: Arguments | None = None


class InstantArguments(msgspec.Struct, gc=False):
    """The arguments of an event that allocates or frees memory."""

    size: float = _field("Bytes", 0.0)
    device_type: _Id = _field("Device Type", 0)
    device_id: _Id = _field("Device Id", -1)


class Instant(msgspec.Struct, gc=False, tag_field="ph", tag="i"):
    """An event without a duration, such as an allocation. Its time is in microseconds."""

    name: str = ""
    ts: float = _UNKNOWN_US
    pid: _ThreadKey = 0
    tid: _ThreadKey = 0
    args: InstantArguments | None = None


class _MetadataArguments(msgspec.Struct, gc=False):
    name: Raw = NOTHING


class Metadata(msgspec.Struct, gc=False, tag_field="ph", tag="M"):
    """An event that names a process or a thread."""

    name: str = ""
    pid: _ThreadKey = 0
    tid: _ThreadKey = 0
    args: _MetadataArguments | None = None


# The reader does not need flow events, which viewers show as arrows, or counters. Their types have
# no fields, so decoding skips the fields in the file.
class FlowStart(msgspec.Struct, gc=False, tag_field="ph", tag="s"):
    """The start of a flow."""


class FlowEnd(msgspec.Struct, gc=False, tag_field="ph", tag="f"):
    """The end of a flow."""


class _Counter(msgspec.Struct, gc=False, tag_field="ph", tag="C"):
    pass


Event = Complete | Instant | Metadata | FlowStart | FlowEnd | _Counter
EVENT_TYPES: Final[dict[str, type[Any]]] = {
    str(one.__struct_config__.tag): one for one in get_args(Event)
}
"""The type of an event, by the value of its field `ph`."""

decode_events: Final = msgspec.json.Decoder(list[Event]).decode
"""Decodes a list of events."""
decode_event: Final = msgspec.json.Decoder(Event).decode
"""Decodes one event."""

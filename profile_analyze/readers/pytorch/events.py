"""The events of a trace: how they are decoded, and their columns."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec
from msgspec import Raw

if TYPE_CHECKING:
    from collections.abc import Sequence

_NOTHING: Final = Raw()
_NO_ID: Final = -1
_UNKNOWN_US: Final = float("nan")


def _field(name: str, default: Any) -> Any:
    return msgspec.field(default=default, name=name)


class Arguments(msgspec.Struct, gc=False):
    """The arguments of an event that lasts. All are optional."""

    correlation: int = _NO_ID
    external_id: int = _field("External id", _NO_ID)
    old_external_id: int = _field("external id", _NO_ID)
    # of operators
    shapes: Raw = _field("Input Dims", _NOTHING)
    old_shapes: Raw = _field("Input dims", _NOTHING)
    dtypes: Raw = _field("Input type", _NOTHING)
    strides: Raw = _field("Input Strides", _NOTHING)
    values: Raw = _field("Concrete Inputs", _NOTHING)
    sequence: int = _field("Sequence number", _NO_ID)
    forward_thread: int = _field("Fwd thread id", 0)
    # of work on a device
    device: Raw = _NOTHING
    stream: Raw = _NOTHING
    grid: Raw = _NOTHING
    block: Raw = _NOTHING
    registers: Raw = _field("registers per thread", _NOTHING)
    shared_memory: Raw = _field("shared memory", _NOTHING)
    occupancy: Raw = _field("est. achieved occupancy %", _NOTHING)
    moved_bytes: Raw = _field("bytes", _NOTHING)
    # of communication
    collective: Raw = _field("Collective name", _NOTHING)
    sent_elements: Raw = _field("In msg nelems", _NOTHING)
    received_elements: Raw = _field("Out msg nelems", _NOTHING)
    dtype: Raw = _NOTHING
    group_size: Raw = _field("Group size", _NOTHING)


class Complete(msgspec.Struct, gc=False, tag_field="ph", tag="X"):
    """An event that lasts, as the file has it. Times are in microseconds."""

    name: str = ""
    cat: str = ""
    ts: float = _UNKNOWN_US
    dur: float = _UNKNOWN_US
    pid: int | str = 0
    tid: int | str = 0
    args: Arguments | None = None


class _InstantArguments(msgspec.Struct, gc=False):
    size: float = _field("Bytes", 0.0)
    device_type: int = _field("Device Type", 0)
    device_id: int = _field("Device Id", -1)


class Instant(msgspec.Struct, gc=False, tag_field="ph", tag="i"):
    """An event at one time, such as an allocation."""

    name: str = ""
    ts: float = _UNKNOWN_US
    pid: int | str = 0
    tid: int | str = 0
    args: _InstantArguments | None = None


class _MetadataArguments(msgspec.Struct, gc=False):
    name: Raw = _NOTHING


class Metadata(msgspec.Struct, gc=False, tag_field="ph", tag="M"):
    """The name of a process or a thread."""

    name: str = ""
    pid: int | str = 0
    tid: int | str = 0
    args: _MetadataArguments | None = None


# Arrows between events, counters and the like are not needed. Decoding skips their fields.
class _Arrow(msgspec.Struct, gc=False, tag_field="ph", tag="s"):
    pass


class _ArrowHead(msgspec.Struct, gc=False, tag_field="ph", tag="f"):
    pass


class _Counter(msgspec.Struct, gc=False, tag_field="ph", tag="C"):
    pass


Event = Complete | Instant | Metadata | _Arrow | _ArrowHead | _Counter

decode_events: Final = msgspec.json.Decoder(list[Event]).decode
"""Decodes a list of events."""
decode_event: Final = msgspec.json.Decoder(Event).decode
"""Decodes one event."""

_OPERATOR_CATEGORIES: Final = frozenset(("cpu_op", "Operator"))
_REGION_CATEGORIES: Final = frozenset(("user_annotation",))
_FRAME_CATEGORIES: Final = frozenset(("python_function",))
_LAUNCH_CATEGORIES: Final = frozenset(
    ("cuda_runtime", "cuda_driver", "Runtime", "xpu_runtime", "mtia_runtime", "privateuse1_runtime")
)
_DEVICE_CATEGORIES: Final = frozenset(
    ("kernel", "gpu_memcpy", "gpu_memset", "Kernel", "Memcpy", "Memset", "mtia_ccp_events")
)
_MODULE: Final = "nn.Module: "
_MEMORY: Final = "[memory]"

OPERATOR_EVENT: Final = "operator"
REGION_EVENT: Final = "region"
MODULE_EVENT: Final = "module"


class HostFacts(NamedTuple):
    """What the file says of an operator, a region or a module. The arguments are JSON."""

    kind: str
    """`OPERATOR_EVENT`, `REGION_EVENT` or `MODULE_EVENT`."""
    name: str
    shapes: bytes = b""
    dtypes: bytes = b""
    strides: bytes = b""
    values: bytes = b""
    """The values of arguments that are no tensors, as texts."""


class DeviceFacts(NamedTuple):
    """What the file says of work on a device. All but category and name are JSON."""

    category: str
    name: str
    device: bytes
    stream: bytes
    grid: bytes
    block: bytes
    registers: bytes
    shared_memory: bytes
    occupancy: bytes
    collective: bytes
    sent_elements: bytes
    received_elements: bytes
    dtype: bytes
    group_size: bytes


class Columns:
    """The columns that all kinds of event have, in the order of the file."""

    def __init__(self) -> None:
        self.start_us = array("d")
        self.duration_us = array("d")
        self.thread = array("q")
        """The index in `Events.threads`."""
        self.facts = array("q")
        """The index among the distinct facts of the events of this kind."""

    def __len__(self) -> int:
        return len(self.start_us)


class HostColumns(Columns):
    """The operators, regions and modules of a trace."""

    def __init__(self) -> None:
        super().__init__()
        self.external_id = array("q")
        self.sequence = array("q")
        """The number that an operator shares with its backward operator, or -1."""
        self.is_backward = array("b")


class LinkedColumns(Columns):
    """The calls of a driver, or the work on devices."""

    def __init__(self) -> None:
        super().__init__()
        self.correlation = array("q")
        """The number that a call shares with the work that it launched, or -1."""
        self.external_id = array("q")
        self.moved_bytes: list[bytes] = []
        """The bytes that each copy moved, as JSON; only of the work on devices."""


class Allocations:
    """The allocations of a trace."""

    def __init__(self) -> None:
        self.start_us = array("d")
        self.thread = array("q")
        self.size = array("d")
        """Bytes; negative if memory was freed."""
        self.device = array("q")
        """-1 for the memory of the CPU, otherwise the number of a device."""


class Events:
    """The events of a trace as columns."""

    def __init__(self) -> None:
        self.count = 0
        """The number of all events, also of those that are left out."""
        self.threads: dict[tuple[int | str, int | str], int] = {}
        """The index of each thread or stream, by the process and the thread in the file."""
        self.names: dict[tuple[int | str, int | str], str] = {}
        """The name of each thread, by its process and thread."""
        self.host = HostColumns()
        self.host_facts: dict[HostFacts, int] = {}
        self.calls = LinkedColumns()
        self.call_names: dict[str, int] = {}
        self.work = LinkedColumns()
        self.device_facts: dict[DeviceFacts, int] = {}
        self.allocations = Allocations()
        self.untimed = 0
        """The number of events that were left out because they have no time."""
        self.broken = 0
        """The number of events that were left out because they are not JSON."""
        self.repaired = 0
        """The number of events that are not valid JSON, but could be read."""

    def add(self, events: Sequence[Event]) -> None:
        """Add the next events of the file."""
        self.count += len(events)
        complete = [event for event in events if type(event) is Complete]
        timed = [event for event in complete if event.dur >= 0 and event.ts == event.ts]
        self.untimed += len(complete) - len(timed)
        self._add_host(timed)
        self._add_calls([event for event in timed if event.cat in _LAUNCH_CATEGORIES])
        self._add_work([event for event in timed if event.cat in _DEVICE_CATEGORIES])
        self._add_allocations(
            [event for event in events if type(event) is Instant and event.name == _MEMORY]
        )
        for event in events:
            if type(event) is Metadata and event.name == "thread_name" and event.args:
                self.names[event.pid, event.tid] = _text(event.args.name)

    def _add_columns(self, columns: Columns, events: Sequence[Complete]) -> None:
        threads = self.threads
        columns.start_us.extend([event.ts for event in events])
        columns.duration_us.extend([event.dur for event in events])
        columns.thread.extend(
            [threads.setdefault((event.pid, event.tid), len(threads)) for event in events]
        )

    def _add_host(self, complete: Sequence[Complete]) -> None:
        events = [event for event in complete if _is_on_host(event)]
        self._add_columns(self.host, events)
        known = self.host_facts
        self.host.facts.extend(
            [known.setdefault(facts, len(known)) for facts in map(_host_facts, events)]
        )
        arguments = [event.args or _NO_ARGUMENTS for event in events]
        self.host.external_id.extend([args.external_id for args in arguments])
        self.host.sequence.extend([args.sequence for args in arguments])
        self.host.is_backward.extend([args.forward_thread > 0 for args in arguments])

    def _add_calls(self, events: Sequence[Complete]) -> None:
        self._add_columns(self.calls, events)
        names = self.call_names
        self.calls.facts.extend([names.setdefault(event.name, len(names)) for event in events])
        self._add_links(self.calls, [event.args or _NO_ARGUMENTS for event in events])

    def _add_work(self, events: Sequence[Complete]) -> None:
        self._add_columns(self.work, events)
        known = self.device_facts
        self.work.facts.extend(
            [known.setdefault(facts, len(known)) for facts in map(_device_facts, events)]
        )
        arguments = [event.args or _NO_ARGUMENTS for event in events]
        self._add_links(self.work, arguments)
        self.work.moved_bytes.extend([bytes(args.moved_bytes) for args in arguments])

    def _add_links(self, columns: LinkedColumns, arguments: Sequence[Arguments]) -> None:
        columns.correlation.extend([args.correlation for args in arguments])
        columns.external_id.extend(
            [max(args.external_id, args.old_external_id) for args in arguments]
        )

    def _add_allocations(self, events: Sequence[Instant]) -> None:
        threads, columns = self.threads, self.allocations
        for event in events:
            if event.args is not None and event.ts == event.ts:
                columns.start_us.append(event.ts)
                thread = (event.pid, event.tid)
                columns.thread.append(threads.setdefault(thread, len(threads)))
                columns.size.append(event.args.size)
                columns.device.append(event.args.device_id if event.args.device_type else -1)


_NO_ARGUMENTS: Final = Arguments()


def _is_on_host(event: Complete) -> bool:
    category = event.cat
    if category in _OPERATOR_CATEGORIES or category in _REGION_CATEGORIES:
        return True
    return category in _FRAME_CATEGORIES and event.name.startswith(_MODULE)


def _host_facts(event: Complete) -> HostFacts:
    args = event.args or _NO_ARGUMENTS
    if event.cat in _FRAME_CATEGORIES:
        return HostFacts(MODULE_EVENT, event.name.removeprefix(_MODULE))
    kind = OPERATOR_EVENT if event.cat in _OPERATOR_CATEGORIES else REGION_EVENT
    shapes = bytes(args.shapes) or bytes(args.old_shapes)
    if not shapes:
        return HostFacts(kind, event.name)
    return HostFacts(
        kind, event.name, shapes, bytes(args.dtypes), bytes(args.strides), bytes(args.values)
    )


def _device_facts(event: Complete) -> DeviceFacts:
    args = event.args or _NO_ARGUMENTS
    return DeviceFacts(
        event.cat.lower(),
        event.name,
        bytes(args.device),
        bytes(args.stream),
        bytes(args.grid),
        bytes(args.block),
        bytes(args.registers),
        bytes(args.shared_memory),
        bytes(args.occupancy),
        bytes(args.collective),
        bytes(args.sent_elements),
        bytes(args.received_elements),
        bytes(args.dtype),
        bytes(args.group_size),
    )


def _text(name: Raw) -> str:
    """Return a name that the file has as a text or a number."""
    try:
        return str(msgspec.json.decode(name))
    except msgspec.DecodeError:
        return ""

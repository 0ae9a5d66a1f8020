"""Stores the events of a trace in columns.

The docstring of the package defines host events, driver calls and work.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from itertools import count
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import msgspec

from profile_analyze.readers.json_errors import DECODING_ERRORS
from profile_analyze.readers.pytorch.events import (
    NOTHING,
    Arguments,
    Complete,
    Instant,
    Metadata,
)
from profile_analyze.readers.pytorch.facts import (
    FUNCTION_EVENT,
    MODULE_EVENT,
    MODULE_PREFIX,
    OPERATOR_EVENT,
    REGION_EVENT,
    DeviceFacts,
    FactsOfHost,
    FactsOfWork,
    HostFacts,
    as_utf8,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from profile_analyze.readers.pytorch.events import Event

    Thread: TypeAlias = tuple[int | float | str | None, int | float | str | None]
    _Append: TypeAlias = Callable[[Complete], None]

_OPERATOR, _REGION, _FUNCTION, _CALL, _WORK, _MODULE = range(6)
_KIND_OF_CATEGORY: Final = {
    **dict.fromkeys(("cpu_op", "Operator"), _OPERATOR),
    "user_annotation": _REGION,
    "python_function": _FUNCTION,
    **dict.fromkeys(("cuda_runtime", "cuda_driver", "Runtime"), _CALL),
    **dict.fromkeys(("xpu_runtime", "mtia_runtime", "privateuse1_runtime"), _CALL),
    **dict.fromkeys(("xpu_driver", "privateuse1_driver"), _CALL),
    **dict.fromkeys(("kernel", "gpu_memcpy", "gpu_memset", "mtia_ccp_events"), _WORK),
    **dict.fromkeys(("Kernel", "Memcpy", "Memset"), _WORK),
}
_HOST_KINDS: Final = {
    _OPERATOR: OPERATOR_EVENT,
    _REGION: REGION_EVENT,
    _MODULE: MODULE_EVENT,
    _FUNCTION: FUNCTION_EVENT,
}
_MEMORY: Final = "[memory]"
_NO_ARGUMENTS: Final = Arguments()

_EVENT: Final = attrgetter("ts", "dur", "pid", "tid", "name", "args")
_LINKS: Final = attrgetter("correlation", "external_id", "old_external_id")
_OF_HOST: Final = attrgetter(
    "external_id", "old_external_id", "sequence", "forward_thread", "shapes", "old_shapes"
)
_OF_SHAPES: Final = attrgetter("dtypes", "strides", "values")
_OF_KERNELS: Final = attrgetter("grid", "block", "registers", "shared_memory", "occupancy")
_OF_COLLECTIVES: Final = attrgetter(
    "collective", "sent_elements", "received_elements", "dtype", "group_size"
)


class Columns:
    """The columns that host events, driver calls and work have in common, in file order."""

    def __init__(self) -> None:
        self.start_us = array("d")
        self.duration_us = array("d")
        self.thread = array("q")
        """The index in `Events.threads`."""
        self.facts = array("q")
        """The index in `Events.host_facts`, `Events.call_names` or `Events.device_facts`."""
        self.external_id = array("q")
        """An operator and the work that it launched have the same number here; -1 if unknown."""

    def __len__(self) -> int:
        return len(self.start_us)


class HostColumns(Columns):
    """The host events of a trace. Functions of Python are included only if they are wanted."""

    def __init__(self) -> None:
        super().__init__()
        self.sequence = array("q")
        """An operator and its backward operator have the same number here; -1 if unknown."""
        self.forward_thread = array("q")
        """Above 0 for a backward operator."""


class LinkedColumns(Columns):
    """The driver calls, or the work on devices."""

    def __init__(self) -> None:
        super().__init__()
        self.correlation = array("q")
        """A call and the work that it launched have the same number here; -1 if unknown."""
        self.moved_bytes: list[bytes] = []
        """The number of bytes that each copy or memset moved, as JSON; empty for a kernel.

        Driver calls do not fill this list.
        """


class Allocations:
    """The memory that a trace allocated and freed, in the order of the file."""

    def __init__(self) -> None:
        self.start_us = array("d")
        self.thread = array("q")
        self.size = array("d")
        """In bytes; negative if the memory was freed."""
        self.device = array("q")
        """The number of the device; -1 for memory of the CPU."""


def _numbering() -> defaultdict[Any, int]:
    """Return a dictionary that gives each new key the next number, from 0 on."""
    return defaultdict(count().__next__)


class Events:
    """The events of a trace in columns, and counts of the events that were left out or repaired."""

    # A trace may have millions of events. `map` and `zip` are many times as fast as a loop in
    # Python. Extending an array by another array takes half the time of extending it by a list.

    def __init__(self, *, with_functions: bool = False) -> None:
        self._with_functions = with_functions
        self.count = 0
        """The number of decoded events, including events that no column stores."""
        self.threads: defaultdict[Thread, int] = _numbering()
        """The index of each thread or stream. The keys are its `pid` and `tid` in the file."""
        self.names: dict[Thread, str] = {}
        """The name of each thread that has one. The keys are its `pid` and `tid`."""
        self.processes: set[str] = set()
        """The names of processes."""
        self.host = HostColumns()
        self.host_facts: defaultdict[HostFacts, int] = _numbering()
        self._facts = {
            kind: FactsOfHost(name, self.host_facts) for kind, name in _HOST_KINDS.items()
        }
        self.calls = LinkedColumns()
        self.call_names: defaultdict[str, int] = _numbering()
        self.work = LinkedColumns()
        self.device_facts: defaultdict[DeviceFacts, int] = _numbering()
        self._facts_of_work = FactsOfWork(self.device_facts)
        self.allocations = Allocations()
        self.untimed = 0
        """The number of events that were left out because their times are missing or impossible."""
        self.broken = 0
        """The number of events that were left out because they cannot be read as JSON."""
        self.mistyped = 0
        """The number of events that were read without the fields that have a wrong type."""
        self.repaired = 0
        """The number of events that were read although they are not valid JSON."""

    def add(self, events: Sequence[Event]) -> None:
        """Add the next events of the file."""
        self.count += len(events)
        kinds = (*_KIND_OF_CATEGORY.values(), None)
        groups: dict[int | None, list[Complete]] = {kind: [] for kind in kinds}
        append_to = {kind: group.append for kind, group in groups.items()}
        append_of: defaultdict[str, _Append] = defaultdict(lambda: append_to[None])
        append_of.update((cat, append_to[kind]) for cat, kind in _KIND_OF_CATEGORY.items())
        for event in events:
            if type(event) is Complete:
                append_of[event.cat](event)
        self._add_host(_OPERATOR, groups[_OPERATOR])
        self._add_host(_REGION, groups[_REGION])
        self._add_functions(groups[_FUNCTION])
        self._add_calls(groups[_CALL])
        self._add_work(groups[_WORK])
        types = {*map(type, events)}
        if Instant in types:
            self._add_instants([event for event in events if type(event) is Instant])
        if Metadata in types:
            self._add_names([event for event in events if type(event) is Metadata])

    def _add_functions(self, events: Sequence[Complete]) -> None:
        modules = [event for event in events if event.name.startswith(MODULE_PREFIX)]
        self._add_host(_MODULE, modules)
        if self._with_functions:
            others = [event for event in events if not event.name.startswith(MODULE_PREFIX)]
            self._add_host(_FUNCTION, others)

    def _add_host(self, kind: int, events: Sequence[Complete]) -> None:
        if not events:
            return
        names, arguments = self._add_columns(self.host, events)
        external, old, sequence, forward, shapes, old_shapes = _transposed(_OF_HOST, arguments)
        self.host.external_id.extend(array("q", _known_ids(external, old)))
        self.host.sequence.extend(array("q", sequence))
        self.host.forward_thread.extend(array("q", forward))
        recorded: list[Sequence[object]] = [names]
        if not _are_missing(shapes) or not _are_missing(old_shapes):
            either = old_shapes if _are_missing(shapes) else shapes
            recorded += _as_bytes((either, *_transposed(_OF_SHAPES, arguments)))
        facts = map(self._facts[kind].__getitem__, zip(*recorded, strict=True))
        self.host.facts.extend(array("q", [*facts]))

    def _add_calls(self, events: Sequence[Complete]) -> None:
        if not events:
            return
        names, arguments = self._add_columns(self.calls, events)
        self.calls.facts.extend(array("q", [*map(self.call_names.__getitem__, names)]))
        self._add_links(self.calls, arguments)

    def _add_work(self, events: Sequence[Complete]) -> None:
        if not events:
            return
        names, arguments = self._add_columns(self.work, events)
        self._add_links(self.work, arguments)
        categories = [event.cat for event in events]
        recorded: list[Sequence[object]] = [
            categories,
            names,
            *_as_bytes(_transposed(_OF_KERNELS, arguments)),
        ]
        collective, *others = _transposed(_OF_COLLECTIVES, arguments)
        if not _are_missing(collective):
            recorded += _as_bytes((collective, *others))
        facts = map(self._facts_of_work.__getitem__, zip(*recorded, strict=True))
        self.work.facts.extend(array("q", [*facts]))
        moved = [args.moved_bytes for args in arguments]
        is_missing = moved.count(NOTHING) == len(moved)  # the block has only kernels
        self.work.moved_bytes.extend([b""] * len(moved) if is_missing else map(bytes, moved))

    def _add_columns(
        self, columns: Columns, events: Sequence[Complete]
    ) -> tuple[tuple[str, ...], list[Arguments]]:
        """Add the starts, durations and threads of `events`. Return their names and arguments."""
        start, duration, process, thread, names, arguments = _transposed(_EVENT, events)
        columns.start_us.extend(array("d", start))
        columns.duration_us.extend(array("d", duration))
        if process.count(process[0]) == thread.count(thread[0]) == len(thread):
            columns.thread.extend(array("q", [self.threads[process[0], thread[0]]]) * len(thread))
        else:
            threads = zip(process, thread, strict=True)
            columns.thread.extend(array("q", [*map(self.threads.__getitem__, threads)]))
        return names, [one or _NO_ARGUMENTS for one in arguments]

    def _add_links(self, columns: LinkedColumns, arguments: Sequence[Arguments]) -> None:
        correlation, external, old = _transposed(_LINKS, arguments)
        columns.correlation.extend(array("q", correlation))
        columns.external_id.extend(array("q", _known_ids(external, old)))

    def _add_instants(self, events: Sequence[Instant]) -> None:
        columns = self.allocations
        for event in events:
            if event.name == _MEMORY and event.args is not None:
                columns.start_us.append(event.ts)
                columns.thread.append(self.threads[event.pid, event.tid])
                columns.size.append(event.args.size)
                columns.device.append(event.args.device_id if event.args.device_type else -1)

    def _add_names(self, events: Sequence[Metadata]) -> None:
        for event in events:
            if event.name == "thread_name" and event.args is not None:
                self.names[event.pid, event.tid] = _text(event.args.name)
            elif event.name == "process_name" and event.args is not None:
                self.processes.add(_text(event.args.name))


def _known_ids(ids: tuple[int, ...], old_ids: tuple[int, ...]) -> tuple[int, ...]:
    """Return the external ids of a block of events.

    Traces before 2023 name them `external id`, later traces `External id`.
    """
    return old_ids if ids.count(-1) == len(ids) else ids


def _are_missing(column: tuple[msgspec.Raw, ...]) -> bool:
    """Return whether an argument is missing in all events of a block."""
    return column.count(NOTHING) == len(column)


def _as_bytes(columns: Iterable[tuple[msgspec.Raw, ...]]) -> list[list[bytes]]:
    return [[*map(bytes, column)] for column in columns]


def _transposed(get: attrgetter[Any], rows: Iterable[Any]) -> zip[Any]:
    """Return, for each attribute of `get`, a tuple of its values in all `rows`."""
    return zip(*map(get, rows), strict=True)


def _text(name: msgspec.Raw) -> str:
    """Return a name that is a text or a number in the file; empty for null and wrong JSON."""
    try:
        found = msgspec.json.decode(as_utf8(name))
    except DECODING_ERRORS:
        return ""
    return "" if found is None else str(found)

"""The events of a profile: how they are decoded, and their columns."""

from __future__ import annotations

import re
from array import array
from contextlib import suppress
from operator import attrgetter
from typing import TYPE_CHECKING, Annotated, Final, NamedTuple

import msgspec

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

MOST_EVENTS: Final = 1_000_000
"""ONNX Runtime stops recording after this many events."""
_PROVIDER_SUFFIX: Final = "ExecutionProvider"
_KERNEL_TIME: Final = "_kernel_time"
"""If an event has the time of a node, its name ends with this text. Other events of nodes, such as
`relu_fence_before`, are left out."""
_PROVIDER: Final = re.compile(r"(\w+ExecutionProvider)_|DmlFusedNode_")
"""The start of the name of a node that a provider compiled."""
_DIRECTML: Final = "DmlExecutionProvider"


class _MainThread(msgspec.Struct, gc=False):
    wait: float | None = msgspec.field(default=None, name="Wait")


class _ThreadStatistics(msgspec.Struct, gc=False):
    main_thread: _MainThread | None = None
    sub_threads: msgspec.Raw = msgspec.Raw()


class _Arguments(msgspec.Struct, gc=False):
    """The arguments of an event. All are optional, because versions write different arguments."""

    op_name: str | None = None
    provider: str | None = None
    node_index: str | None = None
    input_type_shape: msgspec.Raw = msgspec.Raw()
    output_type_shape: msgspec.Raw = msgspec.Raw()
    activation_size: str | None = None
    parameter_size: str | None = None
    output_size: str | None = None
    thread_scheduling_stats: _ThreadStatistics | str | None = None
    parent_name: str | None = None
    stream: int | str | None = None


class Event(msgspec.Struct, gc=False):
    """One event in the file. Times are in microseconds."""

    cat: str
    name: str
    ts: float
    dur: Annotated[float, msgspec.Meta(ge=0)]
    tid: Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)] = 0
    args: _Arguments | None = None


decode_event: Final = msgspec.json.Decoder(Event).decode
"""Decodes one event."""
decode_events: Final = msgspec.json.Decoder(list[Event]).decode
"""Decodes a list of events."""
_SUB_THREADS: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])
_NO_ARGUMENTS: Final = _Arguments()


class NodeFacts(NamedTuple):
    """What the file says about a node with certain shapes. Texts are as in the file."""

    name: str
    """The name of the event. `node_name` returns the name of the node."""
    type: str | None
    provider: str | None
    node_index: str | None
    """The position of the node in its graph."""
    inputs: bytes
    """The dtypes and shapes of the inputs, as JSON; empty if the file does not say."""
    outputs: bytes
    sizes: tuple[str | None, str | None, str | None]
    """The sizes in bytes of the computed inputs, the constant inputs and the outputs."""


class KernelFacts(NamedTuple):
    """What the file says about an execution of a kernel on a GPU."""

    name: str
    stream: str | None
    parent: str | None
    """The name of the node that launched the kernel; None if the file does not say."""
    type: str | None
    """The type of the node that launched the kernel."""


class Times:
    """The times of all runs, nodes or kernels, in microseconds, in the order of the file."""

    def __init__(self) -> None:
        self.start_us = array("d")
        self.duration_us = array("d")
        self.thread = array("q")

    def extend(self, events: Sequence[Event]) -> None:
        """Add the times of `events`."""
        self.start_us.extend(map(attrgetter("ts"), events))
        self.duration_us.extend(map(attrgetter("dur"), events))
        self.thread.extend(map(attrgetter("tid"), events))


class Events:
    """The events of a profile as columns."""

    def __init__(self) -> None:
        self.count = 0
        """The number of all events, including events that are left out."""
        self.runs = Times()
        self.nodes = Times()
        self.facts_of_nodes = array("q")
        """For each execution of a node, the index in `facts`."""
        self.wait_us = array("d")
        """How long, in each execution of a node, the main thread waited for other threads."""
        self.facts: dict[NodeFacts, int] = {}
        self.kernels = Times()
        self.facts_of_kernels: list[KernelFacts] = []
        self.nodes_before_kernels = array("q")
        """How many executions of nodes precede each kernel in the file."""
        self.threads: int | None = None
        """The number of threads that work on a node together; None if it is unknown."""
        self.has_end = False
        """Whether the list of events is closed."""
        self.broken_lines: list[int] = []
        """The lines that were left out because they are not JSON."""
        self.repaired_lines: list[int] = []
        """The lines with a name that has unescaped quotes or backslashes, or is not UTF-8."""
        self.doubtful_lines: list[int] = []
        """The lines with a name that has a text such as `\\n`. This text stands for a line break if
        the writer escapes names, and otherwise for a backslash and an n."""

    def add(self, events: Sequence[Event]) -> None:
        """Add the next events of the file."""
        self.count += len(events)
        nodes = [
            event for event in events if event.cat == "Node" and event.name.endswith(_KERNEL_TIME)
        ]
        if any(event.cat == "Kernel" for event in events):
            self._add_kernels(events)
        self.runs.extend([one for one in events if one.name == "model_run"])
        self.nodes.extend(nodes)
        known = self.facts
        self.facts_of_nodes.extend(
            [known.setdefault(facts, len(known)) for facts in map(_facts_of, nodes)]
        )
        self.wait_us.extend(map(_wait_us, nodes))
        if nodes and self.threads is None:
            self.threads = _threads(nodes[0])

    def rename(self, changed: Callable[[str], str]) -> None:
        """Change the names of all nodes and kernels."""
        facts = {one._replace(name=changed(one.name)): index for one, index in self.facts.items()}
        if len(facts) == len(self.facts):  # otherwise two nodes would become one
            self.facts = facts
        self.facts_of_kernels = [
            one._replace(name=changed(one.name), parent=one.parent and changed(one.parent))
            for one in self.facts_of_kernels
        ]

    def _add_kernels(self, events: Sequence[Event]) -> None:
        kernels = [event for event in events if event.cat == "Kernel"]
        nodes = len(self.nodes.start_us)
        for event in events:
            if event.cat == "Kernel":
                self.nodes_before_kernels.append(nodes)
            elif event.cat == "Node" and event.name.endswith(_KERNEL_TIME):
                nodes += 1
        self.kernels.extend(kernels)
        for event in kernels:
            args = event.args or _NO_ARGUMENTS
            stream = None if args.stream is None else str(args.stream)
            parent = None if args.parent_name is None else node_name(args.parent_name)
            self.facts_of_kernels.append(KernelFacts(event.name, stream, parent, args.op_name))


def node_name(event: str) -> str:
    """Return the name of the node in the name of an event; empty if the node has no name."""
    return event.removesuffix(_KERNEL_TIME)


def device_of(provider: str | None) -> str | None:
    """Return the name of a device: the name of the provider without `ExecutionProvider`."""
    return provider.removesuffix(_PROVIDER_SUFFIX) if provider else None


def _facts_of(event: Event) -> NodeFacts:
    args = event.args or _NO_ARGUMENTS
    inputs, outputs = bytes(args.input_type_shape), bytes(args.output_type_shape)
    return NodeFacts(
        event.name,
        args.op_name,
        args.provider or _provider_in(event.name),
        args.node_index,
        inputs,
        outputs,
        (args.activation_size, args.parameter_size, args.output_size),
    )


def _provider_in(name: str) -> str | None:
    """Return the provider in the name of a node, for events without arguments, or None."""
    found = _PROVIDER.match(name)
    return found and (found[1] or _DIRECTML)


def _wait_us(event: Event) -> float:
    statistics = event.args and event.args.thread_scheduling_stats
    if not isinstance(statistics, _ThreadStatistics) or statistics.main_thread is None:
        return float("nan")
    wait_us = statistics.main_thread.wait
    return float("nan") if wait_us is None else wait_us


def _threads(event: Event) -> int | None:
    statistics = event.args and event.args.thread_scheduling_stats
    if not isinstance(statistics, _ThreadStatistics) or not bytes(statistics.sub_threads):
        return None
    with suppress(msgspec.DecodeError):
        return 1 + len(_SUB_THREADS.decode(statistics.sub_threads))
    return None

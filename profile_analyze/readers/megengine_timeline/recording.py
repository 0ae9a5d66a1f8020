"""Matches the begin and end events of a timeline: operators, kernels, scopes and steps.

In the order of the file, the events of a thread are nested. Only end events have arguments, so only
the end of a span shows whether it is an operator. The file ends with the names of the threads.
"""

from __future__ import annotations

import re
from array import array
from collections import deque
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

import msgspec

if TYPE_CHECKING:
    from collections.abc import Sequence

    from profile_analyze.readers.megengine_timeline.decoding import Event

Thread: TypeAlias = "tuple[int, int]"
"""A process id and a thread id."""

NONE: Final = -1
_OPERATOR_ID: Final = re.compile(rb'"__id__"\s*:\s*(\d{1,18})\b\s*,?\s*')
_TENSORS: Final = ("Input ", "Output ")
_COMMANDS: Final = (
    "Put ",
    "Del ",
    "Drop ",
    "SwapIn ",
    "SwapOut ",
    "ReGen ",
    "RecFree ",
    "GetValue ",
)
_NUMBERED: Final = (*_TENSORS, *_COMMANDS)
"""Events about one tensor have names that begin with these texts. The tensor's id follows."""
_HOUSEKEEPING: Final = frozenset(
    ("OpDispatch", "StartProfile", "StopProfile", "Sync", "AutoEvict", "GetValue", "TensorWaitProp")
)
"""The names of further events that are neither operators nor scopes."""
_DEEPEST: Final = 200
"""The largest allowed depth of scopes. Deeper scopes are a sign of damage, and take much memory."""
HOST_TO_DEVICE: Final = "HostToDevice"


class TooDeepError(Exception):
    """Scopes are nested too deeply."""


class TensorArguments(msgspec.Struct, frozen=True, gc=False):
    """The shape, dtype and device of an input or output, as texts in the file."""

    shape: str = ""
    dtype: str = ""
    device: str = ""


class _ThreadArguments(msgspec.Struct, gc=False):
    name: str = ""


_decode_tensor: Final = msgspec.json.Decoder(TensorArguments).decode
_decode_thread: Final = msgspec.json.Decoder(_ThreadArguments).decode


class Facts(NamedTuple):
    """What the file says about an operator or kernel. Equal facts are stored once."""

    name: str
    arguments: bytes
    """The arguments without the id, as JSON."""
    inputs: tuple[TensorArguments, ...]
    outputs: tuple[TensorArguments, ...]


class Spans:
    """All spans of host threads, such as operators and scopes, in the order of the file."""

    def __init__(self) -> None:
        self.name: list[str] = []
        self.start_us = array("d")
        self.end_us = array("d")
        """NaN if the span did not end."""
        self.parent = array("q")
        """The index of the span around this span on its thread, or -1."""
        self.thread = array("q")
        """The index in `Recording.threads`."""
        self.facts = array("q")
        """The index in `Recording.facts`; -1 if the span is not an operator."""
        self.id = array("q")
        """The id of the operator, or -1."""
        self.launch_us = array("d")
        """When the operator launched its last kernel; NaN if it launched none."""


class Kernels:
    """The kernels and copies that ran on devices."""

    def __init__(self) -> None:
        self.start_us = array("d")
        self.end_us = array("d")
        self.thread = array("q")
        self.id = array("q")
        """The id of the operator that launched the kernel; -1 if the file does not say."""
        self.facts = array("q")
        self.spans_before = array("q")
        """How many spans began before the end of the kernel, in the order of the file."""


class _Open:
    """A span that has not ended."""

    __slots__ = ("index", "inputs", "name", "outputs")

    def __init__(self, name: str, index: int) -> None:
        self.name = name
        self.index = index
        self.inputs: list[TensorArguments] = []
        self.outputs: list[TensorArguments] = []


class Recording:
    """The events of a timeline as columns."""

    def __init__(self) -> None:
        self.threads: dict[Thread, int] = {}
        self.thread_names: dict[Thread, str] = {}
        self.facts: dict[Facts, int] = {}
        self.spans = Spans()
        self.kernels = Kernels()
        self.steps: list[tuple[int, int]] = []
        """For each end of a step: its thread, and how many spans began before it in the file."""
        self.unmatched = 0
        """How many end events have no begin event."""
        self._open: list[list[_Open]] = []
        self._waiting: dict[tuple[int, str], deque[float]] = {}
        """The starts of the kernels that have not ended, by thread and name."""
        self._arguments: dict[bytes, bytes] = {}

    def add(self, events: Sequence[Event]) -> None:
        """Add the next events of the file."""
        for event in events:
            phase = event.ph
            if phase == "B":
                self._begin(event)
            elif phase == "E":
                self._end(event)
            elif phase == "s" and event.cat == "KernelLaunch":
                self._launch(event)
            elif phase == "i" and event.name == "StopStep":
                self.steps.append((self._thread(event), len(self.spans.name)))
            elif phase == "M" and event.name == "thread_name":
                self.thread_names[event.pid, event.tid] = _decode_thread(event.args).name

    def _thread(self, event: Event) -> int:
        key = (event.pid, event.tid)
        index = self.threads.get(key)
        if index is None:
            index = self.threads[key] = len(self.threads)
            self._open.append([])
        return index

    def _begin(self, event: Event) -> None:
        name = event.name
        if name in _HOUSEKEEPING or name.startswith(_NUMBERED):
            return
        thread = self._thread(event)
        if event.cat == "Kernel" or name == HOST_TO_DEVICE:
            self._waiting.setdefault((thread, name), deque()).append(event.ts)
            return
        spans = self.spans
        stack = self._open[thread]
        if len(stack) >= _DEEPEST:
            raise TooDeepError
        spans.parent.append(stack[-1].index if stack else NONE)
        stack.append(_Open(name, len(spans.name)))
        spans.name.append(name)
        spans.start_us.append(event.ts)
        spans.end_us.append(float("nan"))
        spans.launch_us.append(float("nan"))
        spans.thread.append(thread)
        spans.facts.append(NONE)
        spans.id.append(NONE)

    def _launch(self, event: Event) -> None:
        stack = self._open[self._thread(event)]
        if stack:
            self.spans.launch_us[stack[-1].index] = event.ts

    def _end(self, event: Event) -> None:
        name = event.name
        if name in _HOUSEKEEPING or name.startswith(_COMMANDS):
            return
        thread = self._thread(event)
        if event.cat == "Kernel" or name == HOST_TO_DEVICE:
            self._end_kernel(event, thread)
            return
        stack = self._open[thread]
        if name.startswith(_TENSORS):
            if stack and bytes(event.args):
                tensor = _decode_tensor(event.args)
                (stack[-1].inputs if name[0] == "I" else stack[-1].outputs).append(tensor)
            return
        index = len(stack) - 1
        while index >= 0 and stack[index].name != name:
            index -= 1
        if index < 0:
            self.unmatched += 1
            return
        span = stack.pop(index)
        self.spans.end_us[span.index] = event.ts
        found = _OPERATOR_ID.search(raw := bytes(event.args))
        if found is not None:
            self.spans.id[span.index] = int(found[1])
            facts = self._facts(name, raw, found, tuple(span.inputs), tuple(span.outputs))
            self.spans.facts[span.index] = facts

    def _end_kernel(self, event: Event, thread: int) -> None:
        # The event does not say which kernel ends. A device works on its queue in order, so the
        # kernel that began first is assumed to end first.
        waiting = self._waiting.get((thread, event.name))
        if not waiting:
            self.unmatched += 1
            return
        raw = bytes(event.args)
        found = _OPERATOR_ID.search(raw)
        kernels = self.kernels
        kernels.start_us.append(waiting.popleft())
        kernels.end_us.append(event.ts)
        kernels.thread.append(thread)
        kernels.spans_before.append(len(self.spans.name))
        if found is None:
            tensor = _decode_tensor(raw) if raw else TensorArguments()
            facts = Facts(event.name, b"", (tensor,), (tensor,))
            kernels.id.append(NONE)
            kernels.facts.append(self.facts.setdefault(facts, len(self.facts)))
        else:
            kernels.id.append(int(found[1]))
            kernels.facts.append(self._facts(event.name, raw, found, (), ()))

    def _facts(
        self,
        name: str,
        raw: bytes,
        id_: re.Match[bytes],
        inputs: tuple[TensorArguments, ...],
        outputs: tuple[TensorArguments, ...],
    ) -> int:
        arguments = raw[: id_.start()] + raw[id_.end() :]
        facts = Facts(name, self._arguments.setdefault(arguments, arguments), inputs, outputs)
        return self.facts.setdefault(facts, len(self.facts))

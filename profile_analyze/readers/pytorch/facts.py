"""Stores the facts of events: all fields except times and ids. Equal facts are stored once.

The docstring of the package defines host events, driver calls and work.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from collections import defaultdict

OPERATOR_EVENT: Final = "operator"
REGION_EVENT: Final = "region"
MODULE_EVENT: Final = "module"
FUNCTION_EVENT: Final = "function"
MODULE_PREFIX: Final = "nn.Module: "
_OLD_REGION: Final = re.compile(r"ProfilerStep#\d|Optimizer\.\w+#")
"""torch 1.8 and 1.9 recorded regions as operators. Their names start with this pattern."""


class HostFacts(NamedTuple):
    """The facts of a host event. The fields from `shapes` on are JSON, or empty if missing."""

    kind: str
    """`operator`, `region`, `module` or `function`."""
    name: str
    shapes: bytes = b""
    dtypes: bytes = b""
    strides: bytes = b""
    values: bytes = b""
    """The values of the arguments that are not tensors, as texts."""


class DeviceFacts(NamedTuple):
    """The facts of work on a device. The fields from `grid` on are JSON, or empty if missing."""

    category: str
    name: str
    grid: bytes
    block: bytes
    registers: bytes
    shared_memory: bytes
    occupancy: bytes
    collective: bytes = b""
    sent_elements: bytes = b""
    received_elements: bytes = b""
    dtype: bytes = b""
    group_size: bytes = b""


class FactsOfHost(dict[tuple[Any, ...], int]):
    """Maps the fields of a host event to the index of the `HostFacts` that are stored for them.

    A key has the fields of `HostFacts` after `kind`. Looking up a new key adds it.
    """

    def __init__(self, kind: str, numbers: defaultdict[HostFacts, int]) -> None:
        self._kind = kind
        self._numbers = numbers

    def __missing__(self, values: tuple[Any, ...]) -> int:
        name, *arguments = values
        kind = self._kind
        if kind == MODULE_EVENT:
            name = name.removeprefix(MODULE_PREFIX)
        elif kind == OPERATOR_EVENT and _OLD_REGION.match(name):
            kind = REGION_EVENT
        self[values] = number = self._numbers[HostFacts(kind, name, *map(as_utf8, arguments))]
        return number


class FactsOfWork(dict[tuple[Any, ...], int]):
    """Maps the fields of work on a device to the index of the `DeviceFacts` stored for them.

    A key has the fields of `DeviceFacts`. Looking up a new key adds it.
    """

    def __init__(self, numbers: defaultdict[DeviceFacts, int]) -> None:
        self._numbers = numbers

    def __missing__(self, values: tuple[Any, ...]) -> int:
        category, name, *others = values
        facts = DeviceFacts(category.lower(), name, *map(as_utf8, others))
        self[values] = number = self._numbers[facts]
        return number


def as_utf8(value: Any) -> bytes:
    """Return the JSON of an argument as valid UTF-8. `msgspec` does not check `Raw` fields."""
    return bytes(value).decode("utf-8", "replace").encode()

"""The facts of events: what distinct events of a trace say besides their times."""

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
"""The start of the names of regions that torch 1.8 and 1.9 recorded as operators."""


class HostFacts(NamedTuple):
    """What the file says of an operator, region, module or function. The arguments are JSON."""

    kind: str
    """`operator`, `region`, `module` or `function`."""
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
    """The number of the facts of each operator, region or module, by the fields after the kind."""

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
    """The number of the facts of each work on a device, by its fields."""

    def __init__(self, numbers: defaultdict[DeviceFacts, int]) -> None:
        self._numbers = numbers

    def __missing__(self, values: tuple[Any, ...]) -> int:
        category, name, *others = values
        facts = DeviceFacts(category.lower(), name, *map(as_utf8, others))
        self[values] = number = self._numbers[facts]
        return number


def as_utf8(value: Any) -> bytes:
    """Return the JSON of an argument. Decoding an event does not check the texts in it."""
    return bytes(value).decode("utf-8", "replace").encode()

"""Decodes the facts of work on devices: grids of kernels, bytes of copies, messages.

Work on a device is a kernel, a copy or a memset. A message is a kernel that communicates. The facts
of an event are all its fields except times and ids.
"""

from __future__ import annotations

from math import isnan, nan
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec
import numpy as np

from profile_analyze.model.categorical import Categorical
from profile_analyze.model.numbers import floats
from profile_analyze.readers.json_errors import DECODING_ERRORS
from profile_analyze.readers.pytorch.timeline import integers
from profile_analyze.work.tensor import LARGEST_SIZE, bytes_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import TypeAlias

    from numpy.typing import NDArray

    from profile_analyze.model.operators import OptionalValues
    from profile_analyze.readers.pytorch.columns import Events
    from profile_analyze.readers.pytorch.facts import DeviceFacts

    Floats: TypeAlias = NDArray[np.float64]
    Indices: TypeAlias = NDArray[np.int64]

_DTYPES: Final = {
    "Double": "fp64",
    "Float": "fp32",
    "Half": "fp16",
    "BFloat16": "bf16",
    "Long": "int64",
    "Int": "int32",
    "Short": "int16",
    "Char": "int8",
    "Byte": "uint8",
    "Bool": "bool",
    "ComplexFloat": "complex64",
    "ComplexDouble": "complex128",
    **dict.fromkeys(("Float8_e4m3fn", "Float8_e5m2", "Float8_e4m3fnuz", "Float8_e5m2fnuz"), "fp8"),
}
"""The canonical name of each dtype, by its name in the facts of a message."""
_ENDINGS: Final = ("_oop", "_coalesced", "_base", "_into_tensor", "_tensor", "_single", "_sparse")
"""The endings that torch adds to the name of a collective for its variants."""
_NAMES: Final = {
    "allreduce": "all_reduce",
    "allgather": "all_gather",
    **dict.fromkeys(("alltoall", "alltoallv", "all_to_allv"), "all_to_all"),
}
# A factor is the ratio of bus bytes to message bytes for a number of ranks. Bandwidths computed
# from bus bytes are comparable between collectives. Source: PERFORMANCE.md in
# https://github.com/NVIDIA/nccl-tests
_ONE_WAY: Final = ("all_gather", "reduce_scatter", "all_to_all", "gather", "scatter")
_FACTORS: Final[Mapping[str, Callable[[int], float]]] = {
    "all_reduce": lambda ranks: 2 * (ranks - 1) / ranks,
    **dict.fromkeys(_ONE_WAY, lambda ranks: (ranks - 1) / ranks),
    **dict.fromkeys(("broadcast", "reduce", "send", "recv"), lambda _: 1.0),
}
_MEMCPY: Final = "gpu_memcpy"
_OLD_MEMCPY: Final = "memcpy"


class Amounts(NamedTuple):
    """The mean number of bytes that the executions of one row of work move; NaN if unknown."""

    memory: float = nan
    """Bytes that a copy or a memset reads and writes. For a copy of n bytes, this is 2 n."""
    message_bytes: float = nan
    bus_bytes: float = nan


class Communication(NamedTuple):
    """The collective, ranks and bytes of one message. Unknown fields are None or NaN."""

    collective: str | None = None
    group_size: int | None = None
    message_bytes: float = nan
    bus_bytes: float = nan


def mean_amounts(events: Events, row: Indices, rows: int) -> list[Amounts]:
    """Return the mean amounts of each row of work.

    An amount is NaN if it is unknown for any event of the row. `row` has the row of each event.
    `rows` is the number of rows.
    """
    counts = np.bincount(row, minlength=rows)
    facts = [*events.device_facts]
    fact = integers(events.work.facts)
    messages = [communication(one) for one in facts]
    columns = (
        _moved_bytes(events, facts, fact),
        floats(one.message_bytes for one in messages)[fact],
        floats(one.bus_bytes for one in messages)[fact],
    )
    means = [np.bincount(row, values, minlength=rows) / counts for values in columns]
    return [Amounts(*values) for values in zip(*(one.tolist() for one in means), strict=True)]


def _moved_bytes(events: Events, facts: Sequence[DeviceFacts], fact: Indices) -> Floats:
    """Return the bytes that each event reads and writes. A copy reads and writes all its bytes."""
    number_of = {text: _number(text) for text in {*events.work.moved_bytes}}
    moved = floats(map(number_of.__getitem__, events.work.moved_bytes))
    is_copy = np.array([one.category in (_MEMCPY, _OLD_MEMCPY) for one in facts], np.bool_)
    return np.where(is_copy[fact], 2 * moved, moved)


def communication(facts: DeviceFacts) -> Communication:
    """Decode the facts of a message. All fields are unknown if a kernel does not communicate."""
    name = _decoded(facts.collective)
    if not isinstance(name, str) or not name:
        return Communication()
    collective = canonical_collective(name)
    ranks = _number(facts.group_size)
    elements = [_number(text) for text in (facts.sent_elements, facts.received_elements)]
    known = [one for one in elements if not isnan(one)]
    dtype = _decoded(facts.dtype)
    size = max(known, default=nan) * bytes_of(_DTYPES.get(dtype) if isinstance(dtype, str) else "")
    is_group = ranks >= 1 and ranks == int(ranks)
    factor = _FACTORS.get(collective)
    bus = size * factor(int(ranks)) if factor is not None and is_group else nan
    return Communication(collective, int(ranks) if is_group else None, size, bus)


def canonical_collective(name: str) -> str:
    """Return one name for all variants of a collective: `all_gather` for `_allgather_base`."""
    plain = name.lstrip("_")
    while ending := next((one for one in _ENDINGS if plain.endswith(one)), None):
        plain = plain.removesuffix(ending)
    return _NAMES.get(plain, plain) or name


def columns_of_facts(
    facts: Sequence[Sequence[DeviceFacts]], amounts: Sequence[Amounts]
) -> dict[str, OptionalValues]:
    """Return optional columns of the table of operators, from the facts and amounts of each row.

    Bytes of messages are means over the executions of a row. Any other value is N/A if these
    executions have different values.
    """
    messages = [[communication(one) for one in of_row] for of_row in facts]
    return {
        "grid": Categorical.of([_same(_sizes(one.grid) for one in row) for row in facts]),
        "block": Categorical.of([_same(_sizes(one.block) for one in row) for row in facts]),
        "registers": _same_numbers(facts, lambda one: one.registers),
        "shared_memory": _same_numbers(facts, lambda one: one.shared_memory),
        "occupancy": _same_numbers(facts, lambda one: one.occupancy) / 100,
        "collective": Categorical.of([_same(one.collective for one in row) for row in messages]),
        "group_size": Categorical.of([_same(one.group_size for one in row) for row in messages]),
        "message_bytes": floats(one.message_bytes for one in amounts),
        "bus_bytes": floats(one.bus_bytes for one in amounts),
    }


def _same(values: Any) -> Any:
    """Return the value that all `values` are equal to; None if they differ or there is no value."""
    distinct = {*values}
    return distinct.pop() if len(distinct) == 1 else None


def _same_numbers(
    facts: Sequence[Sequence[DeviceFacts]], text: Callable[[DeviceFacts], bytes]
) -> Floats:
    """Return, for each row, the number that all its facts have; NaN if the numbers differ."""
    return floats(_number(_same(map(text, of_row)) or b"") for of_row in facts)


def _sizes(text: bytes) -> str | None:
    """Return the sizes of a grid or a block as a text such as `32x1x1`; None if unknown."""
    sizes = _decoded(text)
    return "x".join(map(str, sizes)) if isinstance(sizes, list) and sizes else None


def _number(text: bytes) -> float:
    """Return the number in `text`; NaN if it is missing, negative or above `LARGEST_SIZE`."""
    number = _decoded(text)
    if isinstance(number, bool) or not isinstance(number, (int, float)):
        return nan
    return float(number) if 0 <= number <= LARGEST_SIZE else nan


def _decoded(text: bytes) -> Any:
    if not text:
        return None
    try:
        return msgspec.json.decode(text)
    except DECODING_ERRORS:
        return None

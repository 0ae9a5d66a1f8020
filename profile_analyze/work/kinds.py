"""The register of kinds of operator, with the formulas for their work."""

from __future__ import annotations

from math import nan, prod
from typing import TYPE_CHECKING, Final, NamedTuple

from profile_analyze.model import terms
from profile_analyze.work.operation import Operation, Work

if TYPE_CHECKING:
    from collections.abc import Callable

    from profile_analyze.work.tensor import Tensor


class Kind(NamedTuple):
    """A kind of operator."""

    name: str
    category: str
    """One of `terms.CATEGORIES`."""
    macs: Callable[[Operation], float]
    """Returns the multiply-adds of one call; NaN if a size is unknown."""
    other_operations: Callable[[Operation], float]
    """Returns the floating-point operations of one call that are not part of a multiply-add."""
    memory: Callable[[Operation], float]
    """Returns the bytes that one call reads and writes."""
    meaning: str
    """What is counted, and where the formula is from, for the table in the docs."""


def work_of(operation: Operation) -> Work:
    """Return what one call of `operation` costs."""
    kind = KINDS[operation.kind]
    macs = kind.macs(operation)
    return Work(macs, 2 * macs + kind.other_operations(operation), kind.memory(operation))


def _elements(tensor: Tensor | None) -> float:
    return nan if tensor is None else tensor.elements


def _none(_: Operation) -> float:
    return 0.0


def _all_bytes(operation: Operation) -> float:
    """Return the bytes of all inputs and outputs, each once."""
    return sum(
        tensor.bytes for tensor in (*operation.inputs, *operation.outputs) if tensor is not None
    )


def _convolution_macs(operation: Operation) -> float:
    weight, output = operation.inputs[1], operation.outputs[0]
    if weight is None or weight.shape is None or None in weight.shape[1:]:
        return nan
    per_channel: int = prod(weight.shape[1:])  # type: ignore[arg-type]  # no size is None
    return _elements(output) * per_channel


_KINDS: Final = (
    Kind(
        "convolution",
        terms.CONVOLUTION,
        _convolution_macs,
        _none,
        _all_bytes,
        "inputs: data, weight (out channels, in channels / groups, kernel...), bias; output "
        "elements * elements of the weight per output channel",
    ),
)

KINDS: Final = {kind.name: kind for kind in _KINDS}

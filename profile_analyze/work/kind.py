"""`Kind`: what a kind of operator costs, and the functions that several formulas share."""

from __future__ import annotations

from math import nan, prod
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from profile_analyze.work.operation import Operation
    from profile_analyze.work.tensor import Tensor

    Formula: TypeAlias = Callable[[Operation], float]


def nothing(_: Operation) -> float:
    """Return 0: the kind has no such work."""
    return 0.0


def unknown(_: Operation) -> float:
    """Return NaN: shapes do not say how much the kind computes."""
    return nan


def every_tensor(operation: Operation) -> float:
    """Return the bytes of all inputs and outputs, each once."""
    inputs = (
        tensor
        for position, tensor in enumerate(operation.inputs)
        if position not in operation.repeated
    )
    return sum(tensor.bytes for tensor in given((*inputs, *operation.outputs)))


class Kind(NamedTuple):
    """A kind of operator. Formulas return NaN if they need a size that is unknown."""

    name: str
    category: str
    """One of `terms.CATEGORIES`."""
    macs: Formula
    """Returns the multiply-adds of one call."""
    other_operations: Formula
    """Returns the floating-point operations of one call that are not part of a multiply-add."""
    memory: Formula
    """Returns the bytes that one call reads and writes."""
    inputs: str
    """The inputs in order, and the attributes that the formulas use."""
    meaning: str
    """What is counted, for the table in the docs."""
    source: str
    """Where the formula is from: the definition of the operator, or our convention."""
    activation_macs: Formula = nothing
    """Returns the multiply-adds whose factors are always two activations, never a weight."""
    bias_elements: Formula = nothing
    """Returns the number of elements to which a bias is added."""


def given(tensors: Iterable[Tensor | None]) -> list[Tensor]:
    """Return the tensors without None, which stands for a tensor that is left out."""
    return [tensor for tensor in tensors if tensor is not None]


def tensor_at(tensors: tuple[Tensor | None, ...], index: int) -> Tensor | None:
    """Return the tensor at `index`; None if it is left out."""
    return tensors[index] if index < len(tensors) else None


def elements(tensor: Tensor | None) -> float:
    """Return the number of elements; NaN if it is unknown."""
    return nan if tensor is None else tensor.elements


def input_elements(operation: Operation) -> float:
    """Return the number of elements of the first input."""
    return elements(tensor_at(operation.inputs, 0))


def output_elements(operation: Operation) -> float:
    """Return the number of elements of the first output."""
    return elements(tensor_at(operation.outputs, 0))


def size(tensor: Tensor | None, axis: int) -> float:
    """Return the size of one dimension; NaN if it is unknown."""
    if tensor is None or tensor.shape is None or not -len(tensor.shape) <= axis < len(tensor.shape):
        return nan
    found = tensor.shape[axis]
    return nan if found is None else found


def sizes(tensor: Tensor | None, start: int) -> tuple[int, ...] | None:
    """Return the sizes of the dimensions from `start` on; None if any size is unknown."""
    if tensor is None or tensor.shape is None or len(tensor.shape) < start:
        return None
    found = tuple(known for known in tensor.shape[start:] if known is not None)
    return found if len(found) == len(tensor.shape) - start else None


def volume(dims: tuple[int, ...] | None) -> float:
    """Return the product of the sizes `dims`; NaN for None, which means unknown."""
    return nan if dims is None else float(prod(dims))


def attribute(operation: Operation, name: str, default: float) -> float:
    """Return the number in the attribute `name`; NaN if it is None, which means unknown.

    If the operation does not have the attribute, return `default`.
    """
    value = operation.attributes.get(name, default)
    return nan if value is None else float(value)


def fused_operations(operation: Operation) -> float:
    """Return the operations of elementwise functions that are fused into a product.

    The attribute `fused` says how many such functions each output element goes through.
    """
    fused = attribute(operation, "fused", 0)
    return fused * output_elements(operation) if fused else 0.0

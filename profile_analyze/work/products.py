"""Kinds of operator that multiply matrices: products, Einstein sums and recurrent layers."""

from __future__ import annotations

from math import isnan, nan, prod
from typing import TYPE_CHECKING, Final

from profile_analyze.model import terms
from profile_analyze.work.kind import (
    Kind,
    attribute,
    elements,
    every_tensor,
    fused_operations,
    input_elements,
    output_elements,
    size,
    sizes,
    tensor_at,
    volume,
)

if TYPE_CHECKING:
    from profile_analyze.work.kind import Formula
    from profile_analyze.work.operation import Operation
    from profile_analyze.work.tensor import Tensor


def _macs(operation: Operation) -> float:
    # The shape of a packed matrix lacks K and N, so attributes give them.
    if "n" in operation.attributes:
        return input_elements(operation) * attribute(operation, "n", nan)
    a = tensor_at(operation.inputs, 0)
    is_transposed = operation.attributes.get("transposed_a", False)
    return output_elements(operation) * attribute(
        operation, "k", size(a, -2 if is_transposed else -1)
    )


def _bias_elements(operation: Operation) -> float:
    has_bias = tensor_at(operation.inputs, 2) is not None
    return output_elements(operation) if has_bias else 0.0


def _einsum_macs(operation: Operation) -> float:
    """Return the product of the sizes of all labels; 0 with fewer than two inputs."""
    if len(operation.inputs) < 2:
        return 0.0
    equation = operation.attributes.get("equation", "")
    subscripts = equation.replace(" ", "").split("->")[0].split(",")
    if len(subscripts) != len(operation.inputs):
        return nan
    sizes_of: dict[str, list[float]] = {}
    for subscript, tensor in zip(subscripts, operation.inputs, strict=True):
        for label, known in _sizes_by_label(subscript, tensor):
            sizes_of.setdefault(label, []).append(known)
    return prod(map(_size_of_label, sizes_of.values()))


def _size_of_label(found: list[float]) -> float:
    """Return the size of a label from the sizes that the inputs have for it.

    The first known size other than 1 counts. If all known sizes are 1, the result is 1, or NaN if
    another size is unknown.
    """
    known = [one for one in found if not isnan(one) and one != 1]
    return (known or [prod(found)])[0]


def _sizes_by_label(subscript: str, tensor: Tensor | None) -> list[tuple[str, float]]:
    """Return a pair for each dimension of one input: its label and its size, NaN if unknown.

    The dimensions of an ellipsis get the labels `.1`, `.2`, ..., counted from the last dimension.
    If the shape is unknown or does not fit the subscript, the only pair is the subscript with NaN.
    """
    if tensor is None or tensor.shape is None:
        return [(subscript, nan)]
    before, dots, after = subscript.partition("...")
    hidden = len(tensor.shape) - len(before) - len(after) if dots else 0
    labels = [*before, *(f".{hidden - position}" for position in range(hidden)), *after]
    if len(labels) != len(tensor.shape):
        return [(subscript, nan)]
    return [(label, size(tensor, axis)) for axis, label in enumerate(labels)]


def _steps(operation: Operation) -> float:
    """Return the time steps of one direction, added up over all sequences of the batch."""
    data = sizes(tensor_at(operation.inputs, 0), 0)
    return volume(None if data is None else data[:-1])


def _recurrent_macs(operation: Operation) -> float:
    weights = (tensor_at(operation.inputs, index) for index in (1, 2))
    return _steps(operation) * sum(map(elements, weights))


def _recurrent_bias(operation: Operation) -> float:
    bias = tensor_at(operation.inputs, 3)
    return 0.0 if bias is None else _steps(operation) * elements(bias)


def _cell(per_unit: int) -> Formula:
    """Return a formula for recurrent cells: `per_unit` operations for each hidden unit and step.

    Each peephole, which is a weight that reads the state of the cell, adds a product and a sum.
    """

    def formula(operation: Operation) -> float:
        recurrence = tensor_at(operation.inputs, 2)
        units = size(recurrence, 0) * size(recurrence, -1)
        peepholes = tensor_at(operation.inputs, 4)
        of_peepholes = 0.0 if peepholes is None else 2 * elements(peepholes)
        return _steps(operation) * (units * per_unit + of_peepholes)

    return formula


def _recurrent(name: str, gates: int, per_unit: int, *, peepholes: bool = False) -> Kind:
    return Kind(
        name,
        terms.MATMUL,
        _recurrent_macs,
        _cell(per_unit),
        every_tensor,
        "data (steps, batch, I), weights (directions, gates * H, I), recurrent weights "
        f"(directions, gates * H, H), bias{', peepholes' if peepholes else ''}",
        f"MACs: steps * batch * directions * {gates} * H * (I + H); in addition, for each step of "
        f"each sequence, {per_unit} FLO for each hidden unit"
        f"{' and 2 for each peephole weight' if peepholes else ''}",
        f"equations of ONNX {name}",
        bias_elements=_recurrent_bias,
    )


KINDS: Final = (
    Kind(
        "matmul",
        terms.MATMUL,
        _macs,
        fused_operations,
        every_tensor,
        "A, B, bias; transposed_a, k and n (for packed matrices, whose shapes lack them), fused",
        "MACs: output elements * K; if B is packed, A elements * N",
        "ONNX MatMul and Gemm; each output is a sum over K",
        bias_elements=_bias_elements,
    ),
    Kind(
        "einsum",
        terms.MATMUL,
        _einsum_macs,
        fused_operations,
        every_tensor,
        "operands; equation",
        "MACs: product of the sizes of all labels; 0 with a single operand",
        "definition of the Einstein sum, in one step",
    ),
    _recurrent("LSTM", 4, 9, peepholes=True),
    _recurrent("GRU", 3, 8),
    _recurrent("RNN", 1, 1),
)

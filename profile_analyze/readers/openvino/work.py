"""Derives what layers compute, from their types, precisions and shapes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from profile_analyze.model import terms
from profile_analyze.readers.openvino.terms import dtype_of, kind_of
from profile_analyze.work.convolutions import CONVOLUTION, TRANSPOSED, conv_kind
from profile_analyze.work.kinds import KINDS, work_of
from profile_analyze.work.operation import Operation, Work
from profile_analyze.work.tensor import Tensor, is_possible_shape, known_shape

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from profile_analyze.readers.openvino.layers import LayerPort

    Shape = tuple[int, ...]
    Tensors = list[Tensor | None]

_GATES: Final = {4: "LSTM", 3: "GRU", 1: "RNN"}
_UNKNOWN: Final = {
    "pooling": {"kernel": None},
    "rotary embedding": {"per_element": None},
}
"""Attributes that the work of a kind depends on, but that a graph lacks. None means unknown."""


class LayerWork(NamedTuple):
    """The category of a layer, and the work of one call."""

    category: str
    work: Work = Work()
    conv_kind: str | None = None
    """The kind of convolution; None if it is unknown, or if the layer is not a convolution."""


def tensor_of(port: LayerPort) -> Tensor | None:
    """Return the tensor of a port; None for an optional input that the model leaves out."""
    dtype = dtype_of(port.precision)
    if dtype is None and port.dims == (0,):
        return None
    return Tensor(port.dims if is_possible_shape(port.dims) else None, dtype)


def category_of(type_: str) -> str:
    """Return the category of a type of layer."""
    kind = kind_of(type_)
    return terms.OTHER if kind is None else KINDS[kind].category


def work_of_layer(
    type_: str, inputs: Sequence[Tensor | None], outputs: Sequence[Tensor | None]
) -> LayerWork:
    """Return the work of one call of a layer.

    Amounts that do not follow from the shapes are NaN.
    """
    kind = kind_of(type_)
    if kind is None:
        return LayerWork(terms.OTHER)
    is_known = all(
        one is None or (one.shape is not None and None not in one.shape)
        for one in (*inputs, *outputs)
    )
    operation = Operation(kind, tuple(inputs), tuple(outputs), _UNKNOWN.get(kind, {}))
    translate = _TRANSLATIONS.get(kind)
    if translate is not None and is_known and inputs and outputs and inputs[0] and outputs[0]:
        operation = translate(kind, [*inputs], [*outputs])
    elif translate is not None:
        # Tensors or sizes are missing. Without inputs, products have unknown multiply-adds.
        operation = operation._replace(inputs=(), attributes={"k": None})
    category = KINDS[operation.kind].category
    if not is_known and category != terms.CONTROL:
        return LayerWork(category)
    return LayerWork(category, work_of(operation), conv_kind(operation))


def _dtype(tensor: Tensor | None) -> str | None:
    return None if tensor is None else tensor.dtype


def _convolution(kind: str, inputs: Tensors, outputs: Tensors) -> Operation:
    """Return a convolution. A weight with groups has one more dimension than the data."""
    data, weight, result = (
        known_shape(inputs[0]),
        known_shape((inputs[1:] or [None])[0]),
        known_shape(outputs[0]),
    )
    groups = 1
    if len(weight) == len(data) + 1 > 2:
        groups = weight[0]
        merged = (groups * weight[1], *weight[2:])
        inputs[1] = Tensor(merged, _dtype(inputs[1]))
    elif len(weight) != len(data):
        inputs = [inputs[0], None, *inputs[1:]]  # the weight is not an input
    # The bias may be followed by inputs that are added to the result.
    bias = [one for one in inputs[2:3] if len(known_shape(one)) <= 1]
    rest = inputs[2 + len(bias) :]
    added = sum(known_shape(one) == result and len(result) > 1 for one in rest)
    return Operation(
        kind,
        (*inputs[:2], *(bias or [None]), *rest),
        tuple(outputs),
        {"groups": groups, "fused": added, "padding_before": None},
    )


def _product(kind: str, inputs: Tensors, outputs: Tensors) -> Operation:
    """Return the product of two matrices. Both may be transposed."""
    a, result = known_shape(inputs[0]), known_shape(outputs[0])
    depth: int | None = None
    if len(a) == 1:
        depth = a[0]
    elif len(result) >= 1 and len(a) >= 2:
        b = known_shape((inputs[1:] or [None])[0])
        # The last two sizes of `a` are the rows of the result and the depth, in either order.
        rows = result[-1] if len(b) == 1 else (result[-2:-1] or (1,))[0]
        depth = a[-1] if a[-2] == rows else a[-2] if a[-1] == rows else None
    return Operation(kind, tuple(inputs), tuple(outputs), {"k": depth})


def _matrix_product(kind: str, inputs: Tensors, outputs: Tensors) -> Operation:
    """Return a matrix product, perhaps of a fully connected layer."""
    weight = known_shape((inputs[1:] or [None])[0])
    a = known_shape(inputs[0])
    # The weight of a fully connected layer has the shape (columns, depth). The result may have
    # another number of dimensions than the data.
    if len(weight) == 2 and a and weight[-1] == a[-1]:
        return Operation(kind, tuple(inputs), tuple(outputs), {"k": weight[-1]})
    return _product(kind, inputs, outputs)


def _recurrent(kind: str, inputs: Tensors, outputs: Tensors) -> Operation:
    """Return a recurrent layer. Its last three inputs are weights, recurrent weights and bias.

    A cell runs a single step. Its tensors have no dimensions for steps and directions.
    """
    *_, weight, recurrence, bias = (None, None, None, *inputs)
    shapes = [known_shape(one) for one in (weight, recurrence)]
    if len(shapes[0]) == 2:
        shapes = [(1, *one) for one in shapes]
    if not all(len(one) == 3 for one in shapes) or not shapes[1][2]:
        return Operation(kind, (inputs[0], None, None), tuple(outputs))
    kind = _GATES.get(shapes[1][1] // shapes[1][2], kind)
    dtypes = [_dtype(one) for one in (weight, recurrence)]
    weights = (Tensor(*one) for one in zip(shapes, dtypes, strict=True))
    return Operation(kind, (inputs[0], *weights, bias, None, *inputs[1:-3]), tuple(outputs))


def _gather(kind: str, inputs: Tensors, outputs: Tensors) -> Operation:
    """Return an embedding if the layer reads whole rows of a matrix, otherwise a gather."""
    table, result = known_shape(inputs[0]), known_shape(outputs[0])
    indices = known_shape((inputs[1:] or [None])[0])
    is_rows = len(table) == 2 and result == (*indices, table[1])
    return Operation("embedding" if is_rows else kind, tuple(inputs[:2]), tuple(outputs))


_TRANSLATIONS: Final[dict[str, Callable[[str, Any, Any], Operation]]] = {
    **dict.fromkeys((CONVOLUTION, TRANSPOSED), _convolution),
    "matmul": _matrix_product,
    **dict.fromkeys(("LSTM", "GRU", "RNN"), _recurrent),
    "gather": _gather,
}

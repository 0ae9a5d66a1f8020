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

    from profile_analyze.readers.openvino.layers import Layer, LayerPort

    Shape = tuple[int, ...]
    Tensors = list[Tensor | None]

_GATES: Final = {4: "LSTM", 3: "GRU", 1: "RNN"}
_UNKNOWN_TENSOR: Final = Tensor(None)
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


class Row(NamedTuple):
    """A layer, with the tensors, cost and dtype of its row in the table of operators."""

    layer: Layer
    inputs: tuple[Tensor | None, ...]
    outputs: tuple[Tensor | None, ...]
    cost: LayerWork
    dtype: str | None
    """The canonical dtype that the layer computes in."""


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
    category = KINDS[kind].category
    if category != terms.CONTROL and not (_are_known(inputs) and _are_known(outputs)):
        return LayerWork(category)
    translate = _TRANSLATIONS.get(kind)
    if translate is None:
        operation = Operation(kind, tuple(inputs), tuple(outputs), _UNKNOWN.get(kind, {}))
    else:
        operation = translate(kind, [*inputs], [*outputs])
    return LayerWork(KINDS[operation.kind].category, work_of(operation), conv_kind(operation))


def _are_known(tensors: Sequence[Tensor | None]) -> bool:
    """Return whether the sizes of all inputs, or of all outputs, are known.

    The first tensor is never optional. If it is missing, the file lacks it.
    """
    if not tensors or tensors[0] is None:
        return False
    return all(one is None or (one.shape is not None and None not in one.shape) for one in tensors)


def _second(inputs: Tensors) -> Tensor:
    """Return the second input, which the layer needs; an unknown tensor if the file lacks it."""
    return (inputs[1:] or [None])[0] or _UNKNOWN_TENSOR


def _dtype(tensor: Tensor | None) -> str | None:
    return None if tensor is None else tensor.dtype


def _convolution(kind: str, inputs: Tensors, outputs: Tensors) -> Operation:
    """Return a convolution."""
    weight = _second(inputs)
    rest = inputs[2:]
    data, shape, result = map(known_shape, (inputs[0], weight, outputs[0]))
    groups = _groups(kind, shape, data, result)
    if groups is None:  # the weight is not an input
        weight, rest = _UNKNOWN_TENSOR, inputs[1:]
    elif len(shape) > len(data):
        weight = Tensor((groups * shape[1], *shape[2:]), weight.dtype)
    # The bias may be followed by inputs that are added to the result.
    bias = [one for one in rest[:1] if len(known_shape(one)) <= 1]
    rest = rest[len(bias) :]
    added = sum(known_shape(one) == result and len(result) > 1 for one in rest)
    return Operation(
        kind,
        (inputs[0], weight, *(bias or [None]), *rest),
        tuple(outputs),
        {"groups": groups or 1, "fused": added, "padding_before": None},
    )


def _groups(kind: str, shape: Shape, data: Shape, result: Shape) -> int | None:
    """Return the number of groups of a weight; None if `shape` cannot be the shape of a weight.

    A weight with groups has one more dimension than the data. An input with the shape of the
    result is not a weight: the layer adds it to the result.
    """
    if len(shape) not in (len(data), len(data) + 1) or len(data) < 2 or shape == result:
        return None
    groups, *channels = shape[:3] if len(shape) > len(data) else (1, *shape[:2])
    if kind == TRANSPOSED:  # the channels of the data come first
        channels.reverse()
    is_weight = [groups * one for one in channels] == [*result[1:2], *data[1:2]]
    return groups if is_weight else None


def _matrix_product(kind: str, inputs: Tensors, outputs: Tensors) -> Operation:
    """Return a matrix product, perhaps of a fully connected layer."""
    second = _second(inputs)
    a, b, result = map(known_shape, (inputs[0], second, outputs[0]))
    # The weight of a fully connected layer has the shape (columns, depth). The result may have
    # another number of dimensions than the data.
    is_fully_connected = len(b) == 2 and b == (*result[-1:], *a[-1:])
    depth = b[-1] if is_fully_connected else _depth(a, b, result)
    read = (inputs[0], second, *inputs[2:])
    return Operation(kind, read, tuple(outputs), {"k": depth})


def _depth(a: Shape, b: Shape, result: Shape) -> int | None:
    """Return the size K that two matrices share; None if it is unknown. Both may be transposed."""
    if len(a) == 1:
        return a[0]
    if len(a) < 2 or not result:
        return None
    # The last two sizes of `a` are the rows of the result and the depth, in either order.
    rows = result[-1] if len(b) == 1 else (result[-2:-1] or (1,))[0]
    return a[-1] if a[-2] == rows else a[-2] if a[-1] == rows else None


def _recurrent(kind: str, inputs: Tensors, outputs: Tensors) -> Operation:
    """Return a recurrent layer. Its last three inputs are weights, recurrent weights and bias.

    A cell runs a single step. Its tensors have no dimensions for steps and directions.
    """
    *_, weight, recurrence, bias = (None, None, None, *inputs)
    shapes = [known_shape(one) for one in (weight, recurrence)]
    if len(shapes[0]) == 2:
        shapes = [(1, *one) for one in shapes]
    are_weights = all(len(one) == 3 for one in shapes) and shapes[0][:2] == shapes[1][:2]
    if not are_weights or not shapes[1][2]:  # the weights are not inputs
        unknown = (inputs[0], _UNKNOWN_TENSOR, _UNKNOWN_TENSOR)
        return Operation(kind, unknown, tuple(outputs))
    kind = _GATES.get(shapes[1][1] // shapes[1][2], kind)
    dtypes = [_dtype(one) for one in (weight, recurrence)]
    weights = (Tensor(*one) for one in zip(shapes, dtypes, strict=True))
    return Operation(kind, (inputs[0], *weights, bias, None, *inputs[1:-3]), tuple(outputs))


def _gather(kind: str, inputs: Tensors, outputs: Tensors) -> Operation:
    """Return an embedding if the layer reads whole rows of a matrix, otherwise a gather."""
    table, result = known_shape(inputs[0]), known_shape(outputs[0])
    indices = _second(inputs)
    is_rows = len(table) == 2 and result == (*known_shape(indices), table[1])
    return Operation("embedding" if is_rows else kind, (inputs[0], indices), tuple(outputs))


_TRANSLATIONS: Final[dict[str, Callable[[str, Any, Any], Operation]]] = {
    **dict.fromkeys((CONVOLUTION, TRANSPOSED), _convolution),
    "matmul": _matrix_product,
    **dict.fromkeys(("LSTM", "GRU", "RNN"), _recurrent),
    "gather": _gather,
}

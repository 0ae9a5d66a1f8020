"""Derives what MegEngine's operators compute and move, from their shapes, dtypes and parameters."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from profile_analyze.readers.megengine.terms import dtype_of
from profile_analyze.work.kinds import work_of
from profile_analyze.work.operation import Operation, Work
from profile_analyze.work.tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from profile_analyze.model.operators import Dtypes, Parameters, Shape, Shapes

_FLOATS: Final = ("fp32", "fp16", "bf16")
_CHANNEL_AXES: Final = {
    "NCHW": (1,),
    "NHWC": (3,),
    **dict.fromkeys(("NCHW4", "NCHW8", "NCHW32", "NCHW44", "NCHW44_DOT", "NCHW88"), (1, 4)),
}
"""For each image format, the axes that together make up the channels."""

_SIMPLE: Final = {
    "Elemwise": "elementwise",
    "ElemwiseMultiType": "elementwise",
    "SoftmaxForward": "softmax",
    "Reduce": "reduction",
    "Argmax": "reduction",
    "Argmin": "reduction",
    "TypeCvt": "cast",
    "Copy": "copy",
    "Broadcast": "copy",
    "Concat": "concat",
    "Dimshuffle": "layout change",
    "Subtensor": "slice",
    "Reshape": "view",
    "AxisAddRemove": "view",
}
"""Maps types to the kinds of work that need no parameters. Types of the category control are
left out: their work would be 0, and a roofline would show them as the least efficient."""


class Call(NamedTuple):
    """The facts about an operator from which its work is derived."""

    type: str
    in_shapes: Shapes
    out_shapes: Shapes
    dtypes: Dtypes
    """The dtypes of the inputs, with MegEngine's names; None for an unknown dtype."""
    parameters: Mapping[str, Any]


def derived_work(
    type_: str,
    in_shapes: Shapes | None,
    out_shapes: Shapes | None,
    dtypes: Dtypes | None,
    parameters: Parameters | None,
) -> Work:
    """Return the work of one call, from the formulas of `work/`. Unknown amounts are NaN."""
    if in_shapes is None or out_shapes is None:
        return Work()
    operation = operation_of(
        Call(type_, in_shapes, out_shapes, dtypes or (), dict(parameters or ()))
    )
    return Work() if operation is None else work_of(operation)


def operation_of(call: Call) -> Operation | None:
    """Return the operation of a call; None if the kind of operation is not known."""
    if call.type in _SIMPLE:
        return _operation(_SIMPLE[call.type], _tensors(call.in_shapes, call.dtypes), call)
    translate = _TRANSLATIONS.get(call.type)
    return None if translate is None else translate(call)


def _operation(
    kind: str,
    inputs: tuple[Tensor, ...],
    call: Call,
    output_dtype: str | None = None,
    **attributes: Any,
) -> Operation:
    outputs = tuple(Tensor(shape, output_dtype) for shape in call.out_shapes)
    return Operation(kind, inputs, outputs, attributes)


def _tensors(shapes: Shapes, dtypes: Dtypes) -> tuple[Tensor, ...]:
    # If the graph and the footprint have different numbers of inputs, no dtype is known.
    if len(dtypes) != len(shapes):
        dtypes = (None,) * len(shapes)
    return tuple(
        Tensor(shape, None if dtype is None else dtype_of(dtype))
        for shape, dtype in zip(shapes, dtypes, strict=True)
    )


def _inputs_and_dtype(call: Call) -> tuple[tuple[Tensor, ...], str | None]:
    """Return the inputs of a matrix product or convolution, and the dtype of its output.

    The file lacks the dtypes of variables whose memory is not planned, such as inputs of the
    network. MegEngine only multiplies floats of equal dtypes, so one known dtype gives the others.
    """
    inputs = _tensors(call.in_shapes, call.dtypes)
    known = {one.dtype for one in inputs if one.dtype is not None}
    if len(known) == 1 and known <= {*_FLOATS}:
        (dtype,) = known
        return tuple(one._replace(dtype=dtype) for one in inputs), dtype
    return inputs, None


def _convolution(call: Call) -> Operation | None:
    inputs, dtype = _inputs_and_dtype(call)
    if len(inputs) < 2 or not call.out_shapes:
        return None
    data, weight, *further = inputs
    weight_by_channel = _by_channel(weight, call.out_shapes[0], call)
    if weight_by_channel is None:
        return None
    # `ConvBiasForward` adds its further inputs to the output: a bias, and perhaps a tensor `z`.
    added = further if call.type == "ConvBiasForward" else []
    return _operation(
        "convolution", (data, weight_by_channel, *added), call, dtype, fused=len(added)
    )


def _convolution_backward(call: Call) -> Operation | None:
    """Return the operation for the gradient of a convolution's data: a transposed convolution."""
    inputs, dtype = _inputs_and_dtype(call)
    if len(inputs) != 2 or not call.out_shapes:
        return None
    weight, data = inputs
    by_channel = None if data.shape is None else _by_channel(weight, data.shape, call)
    if by_channel is None:
        return None
    return _operation("transposed convolution", (data, by_channel), call, dtype)


def _by_channel(weight: Tensor, image: Any, call: Call) -> Tensor | None:
    """Return the weight with shape (channels of `image`, elements of the weight per channel, 1).

    Formats split channels in many ways, and the weight may have a dimension for groups. In every
    format, the elements of the weight per channel are (elements of the weight) / (channels).
    """
    axes = _CHANNEL_AXES.get(str(call.parameters.get("format")), ())
    if not axes or max(axes) >= len(image):
        return None
    channels = prod(image[axis] for axis in axes)
    elements = int(weight.elements)
    if not channels or elements % channels:
        return None
    return weight._replace(shape=(channels, elements // channels, 1))


def _matmul(call: Call) -> Operation | None:
    inputs, dtype = _inputs_and_dtype(call)
    if len(inputs) != 2 or call.parameters.get("format") != "DEFAULT":
        return None
    is_transposed = call.parameters.get("transposeA") == "true"
    return _operation("matmul", inputs, call, dtype, transposed_a=is_transposed)


def _pooling(call: Call) -> Operation | None:
    window: Shape = tuple(
        size
        for name in ("window_h", "window_w")
        if isinstance(size := call.parameters.get(name), int)
    )
    inputs = _tensors(call.in_shapes, call.dtypes)
    return _operation("pooling", inputs, call, kernel=window) if len(window) == 2 else None


_TRANSLATIONS: Final[Mapping[str, Callable[[Call], Operation | None]]] = {
    "ConvolutionForward": _convolution,
    "ConvBiasForward": _convolution,
    "ConvolutionBackwardData": _convolution_backward,
    "MatrixMul": _matmul,
    "BatchedMatrixMul": _matmul,
    "PoolingForward": _pooling,
}

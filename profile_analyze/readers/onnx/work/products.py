"""Translates convolutions, matrix products and recurrent layers of ONNX models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from profile_analyze.work.kind import tensor_at
from profile_analyze.work.tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from profile_analyze.readers.onnx.call import Call
    from profile_analyze.work.operation import Operation

    Translation = Callable[[Call], Operation]


def convolution(
    *order: int,
    kind: str = "convolution",
    added: int | None = None,
    channels_last: bool = False,
) -> Translation:
    """Return the translation of a convolution.

    `order` has the positions of data, weight, bias and so on. `added` is the position of an input
    that is added to the result. With `channels_last`, the last axis of the data is the axis of the
    channels.
    """

    def translate(call: Call) -> Operation:
        operation = call.as_operation(kind, order)
        if channels_last or call.attribute("channels_last", 0):
            operation = _with_channels_second(operation)
        fused = bool(call.attribute("activation")) + (added is not None and call.has_input(added))
        window = _window(operation, call.node.attributes)
        return operation._replace(
            attributes={"groups": call.attribute("group", 1), "fused": fused, **window}
        )

    return translate


def causal_convolution(call: Call) -> Operation:
    """Translate CausalConvWithState, a depthwise convolution with a state and unknown padding."""
    fused = call.attribute("activation", "none") not in {"", "none"}
    attributes = {"groups": call.size(1, 0), "fused": int(fused), "padding_before": None}
    return call.as_operation("convolution", (0, 1, 2), attributes)


def padded_at_run_time(call: Call) -> Operation:
    """Translate ConvTransposeWithDynamicPads, whose padding is an input and therefore unknown."""
    attributes = {"groups": call.attribute("group", 1), "padding_before": None}
    return call.as_operation("transposed convolution", (0, 1, 3), attributes)


def _with_channels_second(operation: Operation) -> Operation:
    """Return the operation with the channels of data and results moved from last to second axis."""

    def moved(tensor: Tensor | None) -> Tensor | None:
        if tensor is None or tensor.shape is None or len(tensor.shape) < 3:
            return tensor
        batch, *spatial, channels = tensor.shape
        return tensor._replace(shape=(batch, channels, *spatial))

    data, *others = operation.inputs
    return operation._replace(
        inputs=(moved(data), *others),
        outputs=tuple(map(moved, operation.outputs)),
    )


def _window(operation: Operation, attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Return strides, dilations and the padding at the start of each axis, as attributes.

    The result is empty if the number of axes is unknown. The padding is None if it depends on
    unknown sizes.
    """
    data, weight, result = (
        None if tensor is None else tensor.shape
        for tensor in (*operation.inputs[:2], tensor_at(operation.outputs, 0))
    )
    if weight is None or len(weight) < 3:
        return {}
    rank = len(weight) - 2
    strides = attributes.get("strides") or (1,) * rank
    dilations = attributes.get("dilations") or (1,) * rank
    pads = attributes.get("pads") or (0,) * (2 * rank)
    padding: Sequence[int] | None = pads[:rank]
    rule = attributes.get("auto_pad", "NOTSET") or "NOTSET"
    is_transposed = operation.kind == "transposed convolution"
    if rule == "VALID":
        padding = (0,) * rank
    elif rule != "NOTSET" or (is_transposed and "output_shape" in attributes):
        small, large = (data, result) if is_transposed else (result, data)
        extra = attributes.get("output_padding") or (0,) * rank
        padding = _same_padding(
            (small, large, weight),
            (strides, dilations, extra if is_transposed else (0,) * rank),
            rule=rule,
        )
    return {
        "strides": tuple(strides),
        "dilations": tuple(dilations),
        "padding_before": None if padding is None else tuple(padding),
    }


def _same_padding(
    shapes: Sequence[Sequence[int | None] | None], windows: Sequence[Sequence[int]], *, rule: str
) -> tuple[int, ...] | None:
    """Return the padding at the start of each axis of the kernel; None if a size is unknown.

    Some nodes have a rule such as SAME_UPPER, or the shape of the result, instead of a padding. The
    padding then follows from the rule and the shapes.

    `shapes` has the shapes of the smaller tensor, of the larger tensor and of the weight. The
    smaller tensor is the result of a convolution, or the data of a transposed convolution.
    `windows` has the strides, the dilations and the output padding.
    """
    padding = []
    sides = [shape[2:] for shape in shapes if shape is not None]
    if len(sides) < len(shapes):
        return None
    by_axis = zip(*sides, *windows, strict=False)
    for small, large, kernel, stride, dilation, extra in by_axis:
        if small is None or large is None or kernel is None:
            return None
        whole = (small - 1) * stride + (kernel - 1) * dilation + 1 + extra
        padded = max(0, whole - large)
        padding.append(padded // 2 if rule == "SAME_UPPER" else padded - padded // 2)
    return tuple(padding)


def matmul(*order: int) -> Translation:
    """Return the translation of a matrix product. `order` has the positions of A, B and bias."""

    def translate(call: Call) -> Operation:
        attributes: dict[str, Any] = {"transposed_a": bool(call.attribute("transA", 0))}
        if call.attribute("transBatchA", 0) and attributes["transposed_a"]:
            attributes["k"] = call.size(order[0], 0)  # A has the shape (K, batch, M)
        attributes["fused"] = int(bool(call.attribute("activation")))
        return call.as_operation("matmul", order, attributes)

    return translate


def gemm_and_activation(call: Call) -> Operation:
    """Translate GemmFastGelu: a matrix product, then an activation of each element."""
    return call.as_operation("matmul", (0, 1, 2), {"fused": 1})


def packed_matmul(*order: int) -> Translation:
    """Return the translation of a product with a packed matrix.

    The attributes K and N of the node have the sizes of the matrix.
    """

    def translate(call: Call) -> Operation:
        columns = "N" if call.attribute("transB", 1) else "K"
        return call.as_operation("matmul", order, {"n": call.attribute(columns)})

    return translate


def einsum(call: Call) -> Operation:
    """Translate Einsum."""
    equation = call.attribute("equation", "")
    return call.as_operation("einsum", attributes={"equation": equation})


def recurrent(kind: str, peepholes: int = -1) -> Translation:
    """Return the translation of a recurrent layer.

    `peepholes` is the position of the peephole weights; -1 if the layer has none.
    """
    return lambda call: call.as_operation(kind, (0, 1, 2, 3, peepholes))


def quantized_lstm(call: Call) -> Operation:
    """Translate DynamicQuantizeLSTM. Weights are transposed: (directions, inputs, gates * H)."""
    operation = call.as_operation("LSTM", (0, 1, 2, 3, 7))
    data, *weights = operation.inputs[:3]
    transposed = [
        one if one is None or one.shape is None else Tensor(_transposed(one.shape), one.dtype)
        for one in weights
    ]
    return operation._replace(inputs=(data, *transposed, *operation.inputs[3:]))


def _transposed(shape: tuple[int | None, ...]) -> tuple[int | None, ...]:
    return (*shape[:-2], *reversed(shape[-2:]))

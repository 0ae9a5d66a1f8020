"""Derives what the layers of an engine compute, from their parameters and tensors."""

from __future__ import annotations

from math import nan
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from profile_analyze.readers.tensorrt.tensors import EngineTensor
from profile_analyze.work.convolutions import (
    CONVOLUTION,
    TRANSPOSED,
    conv_kind,
    macs_without_padding,
)
from profile_analyze.work.kinds import KINDS, bias_elements, work_of
from profile_analyze.work.operation import Operation, Work
from profile_analyze.work.tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from profile_analyze.readers.tensorrt.layers import Layer

    Translation = Callable[[Layer], Operation]

_KINDS: Final = {
    **dict.fromkeys(("ElementWise", "Unary", "Activation", "Select"), "elementwise"),
    **dict.fromkeys(("SoftMax", "RaggedSoftMax"), "softmax"),
    **dict.fromkeys(("Shuffle", "Transpose"), "layout change"),
    **dict.fromkeys(("Padding", "Scatter", "Identity"), "copy"),
    **dict.fromkeys(("TopK", "NonZero", "NMS"), "data-dependent"),
    **dict.fromkeys(("Constant", "Shape", "Signal", "signal", "Wait", "wait"), "control"),
    "NoOp": "view",
    "Concatenation": "concat",
    "Gather": "gather",
    "Fill": "fill",
    "Cast": "cast",
    "Reduce": "reduction",
    "Normalization": "layer normalization",
    "Quantize": "quantize",
    "Dequantize": "dequantize",
}
"""Maps types of layers to kinds of operator, for work that follows from the tensors alone."""
_WITH_HIDDEN_WEIGHTS: Final = ("Myelin", "myelin", "ForeignNode")
"""Types of layers that execute a part of the network. The file lists only their inputs and outputs,
not their weights."""
_MOVING_NOTHING: Final = ("view", "control")
_QUANTIZED: Final = ("int8", "fp8", "int4", "fp4")
_PADDING_MODES: Final = ("FILL", "CLAMP", "WRAP", "REFLECT")


class Cost(NamedTuple):
    """The cost of one call of a layer. NaN is N/A."""

    category: str
    work: Work
    macs_with_bias: float
    macs_without_padding: float
    conv_kind: str | None


def cost_of(layer: Layer) -> Cost:
    """Return the cost of one call. The memory includes padding channels of tensor formats."""
    operation = _TRANSLATIONS.get(layer.type or "", _simple)(layer)
    kind, work = KINDS[operation.kind], work_of(operation)
    if layer.type in _WITH_HIDDEN_WEIGHTS:
        work = work._replace(memory=nan)
    if kind.name not in _MOVING_NOTHING:
        work = work._replace(memory=work.memory + _padding_bytes(layer))
    return Cost(
        kind.category,
        work,
        work.macs + bias_elements(operation),
        macs_without_padding(operation),
        conv_kind(operation),
    )


def _padding_bytes(layer: Layer) -> float:
    """Return the bytes of the padding channels of tensors of known shape."""
    by_name = {one.name: one for one in (*layer.inputs, *layer.outputs)}
    added = (one.stored.bytes - one.tensor.bytes for one in by_name.values())
    return sum(one for one in added if one > 0)


def _operation(
    layer: Layer,
    kind: str,
    attributes: Mapping[str, Any] | None = None,
    inputs: Sequence[EngineTensor | Tensor | None] | None = None,
) -> Operation:
    """Return an operation on the tensors and constants of a layer, or on other `inputs`."""
    read: Sequence[EngineTensor | Tensor | None] = (
        (*layer.inputs, *layer.constants) if inputs is None else inputs
    )
    names = [one.name if isinstance(one, EngineTensor) else "" for one in read]
    tensors = [one.tensor if isinstance(one, EngineTensor) else one for one in read]
    return Operation(
        kind,
        tuple(tensors),
        tuple(one.tensor for one in layer.outputs),
        attributes or {},
        # If a tensor is read twice, it still occupies memory only once.
        frozenset(n for n, name in enumerate(names) if name and name in names[:n]),
    )


def _simple(layer: Layer) -> Operation:
    return _operation(layer, _KINDS.get(layer.type or "", "other"))


def _convolution(layer: Layer) -> Operation:
    """Return a convolution. It may have a fused sum and a fused activation."""
    is_transposed = "deconvolution" in f"{layer.layer_type} {layer.parameter_type}".lower()
    others = layer.inputs[1:]
    weight: EngineTensor | Tensor = _weight(layer, is_transposed=is_transposed)
    if layer.constant("Weights") is None and others:  # the weight is an input
        weight, others = others[0], others[1:]
    activation = layer.values.get("Activation", "NONE")
    return _operation(
        layer,
        TRANSPOSED if is_transposed else CONVOLUTION,
        {
            "groups": layer.size("Groups"),
            "strides": layer.sizes("Stride"),
            "dilations": layer.sizes("Dilation"),
            "padding_before": layer.sizes("PrePadding"),
            "fused": len(others) + (activation != "NONE"),
        },
        (_first(layer.inputs), weight, layer.constant("Bias"), *others),
    )


def _first(tensors: Sequence[EngineTensor]) -> EngineTensor | None:
    return tensors[0] if tensors else None


def _weight(layer: Layer, *, is_transposed: bool) -> Tensor:
    """Return the weight of a convolution."""
    kernel, groups = layer.sizes("Kernel"), layer.size("Groups") or 1
    shapes = [tensors[0].shape if tensors else None for tensors in (layer.inputs, layer.outputs)]
    if kernel is None or not all(one and len(one) == len(kernel) + 2 for one in shapes):
        return Tensor(None)
    channels, maps = (one[1] for one in shapes if one)
    constant = layer.constant("Weights")
    dtype = None if constant is None else constant.dtype
    first, second = (channels, maps) if is_transposed else (maps, channels)
    is_whole = second % groups == 0
    return Tensor((first, second // groups, *kernel) if is_whole else None, dtype)


def _product(layer: Layer) -> Operation:
    """Return a matrix product. A `gemm` may compute more, but the file does not say what."""
    inputs: list[EngineTensor | Tensor] = [*layer.inputs, *layer.constants]
    if len(inputs) == 1:  # the second matrix is a constant that the file does not describe
        inputs.append(Tensor(None))
    shapes = [one.shape or () for one in (*layer.inputs[:2], *layer.outputs[:1])]
    depth = _depth(*shapes) if len(shapes) == 3 else None
    return _operation(layer, "matmul", {"k": depth}, inputs)


def _depth(a: tuple[int, ...], b: tuple[int, ...], result: tuple[int, ...]) -> int | None:
    """Return the size K that two matrices share; None if their product does not fit `result`."""
    if min(len(a), len(b), len(result)) < 2:
        return None
    for rows, depth in ((a[-2], a[-1]), (a[-1], a[-2])):  # the first matrix may be transposed
        if rows == result[-2] and b[-2:] in {(depth, result[-1]), (result[-1], depth)}:
            return depth
    return None


def _fully_connected(layer: Layer) -> Operation:
    weight, result = layer.constant("Weights"), _first(layer.outputs)
    shape = None if result is None else result.shape
    maps = shape[1] if shape and len(shape) > 1 else 0
    depth = weight.elements / maps if weight is not None and maps else None
    inputs = (_first(layer.inputs), weight, layer.constant("Bias"))
    return _operation(layer, "matmul", {"k": depth}, inputs)


def _pooling(layer: Layer) -> Operation:
    return _operation(layer, "pooling", {"kernel": layer.sizes("WindowSize")})


def _pointwise(layer: Layer) -> Operation:
    """Return an elementwise operation that applies several functions to each element."""
    return _operation(layer, "elementwise", {"per_element": layer.size("NbOperations")})


def _reformat(layer: Layer) -> Operation:
    """Return a layout change, or a quantization if the layer quantizes or dequantizes."""
    if layer.values.get("Origin") == "QDQ" and layer.inputs and layer.outputs:
        before, after = (one[0].tensor.dtype in _QUANTIZED for one in (layer.inputs, layer.outputs))
        if before != after:
            return _operation(layer, "quantize" if after else "dequantize")
    return _operation(layer, "layout change")


def _slice(layer: Layer) -> Operation:
    pads = layer.layer_type == "Padding" or layer.values.get("Mode") in _PADDING_MODES
    return _operation(layer, "copy" if pads else "slice")


_TRANSLATIONS: Final[Mapping[str, Translation]] = {
    **dict.fromkeys(("Convolution", "Deconvolution"), _convolution),
    **dict.fromkeys(("MatrixMultiply", "gemm"), _product),
    "FullyConnected": _fully_connected,
    "Pooling": _pooling,
    **dict.fromkeys(("PointWise", "PointWiseV2"), _pointwise),
    "Scale": lambda layer: _operation(layer, "elementwise", {"per_element": 2}),
    "Reformat": _reformat,
    "Slice": _slice,
    **dict.fromkeys(
        ("Resize", "GridSample"), lambda layer: _operation(layer, "resize", {"taps": None})
    ),
}
"""Functions that return the operation of a layer, for types that need more than `_KINDS` says."""

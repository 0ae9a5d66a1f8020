"""Counts the multiply-adds, memory and parameters of operators as the tool onnx-tool 1.0.1 does.

onnx-tool and `kinds.py` count differently: docs/onnx-tool.md compares them. The formulas in this
module give users the numbers that they know from the tables of onnx-tool.
"""

from __future__ import annotations

from math import nan, prod
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from profile_analyze.work.tensor import Tensor, bytes_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from profile_analyze.work.tensor import Dims


class Call(NamedTuple):
    """One operator of a model, in the terms of ONNX."""

    type: str
    inputs: tuple[Tensor | None, ...]
    """None for an optional input that is left out."""
    outputs: tuple[Tensor | None, ...]
    attributes: Mapping[str, Any] = {}
    weights: tuple[str | None, ...] = ()
    """For each input, its name if it is an initializer, otherwise None."""


class Counts(NamedTuple):
    """What onnx-tool counts for one operator. NaN is N/A."""

    macs: float = nan
    """Instructions: one for each multiply-add, addition, product or comparison. Other functions,
    such as the exponential, are several instructions."""
    memory: float = nan
    """Bytes of the outputs, and of the initializers that no earlier listed operator uses."""
    params: float = nan
    """Elements of the initializers that no earlier listed operator uses."""


def _types(names: str) -> list[str]:
    return names.split()


NOT_LISTED: Final = frozenset(
    _types(
        "Cast Concat Constant ConstantOfShape Gather Identity Pad Reshape Shape Slice Squeeze "
        "Unsqueeze"
    )
)
"""The types of operator that have no row in the tables of onnx-tool."""

_DIVISION: Final = 4
_EXPONENTIAL: Final = 32
_LOGARITHM: Final = 43
_ROOT: Final = 24

_PER_OUTPUT: Final = {
    **dict.fromkeys(
        _types(
            "Erf Flatten Transpose Tile DepthToSpace OneHot Trilu Where Expand ArgMax "
            "TopK Compress ScatterElements ScatterND GatherND GatherElements Split "
            "NonMaxSuppression GridSample RoiAlign Range RandomUniformLike RandomNormalLike"
        ),
        0,
    ),
    **dict.fromkeys(
        _types(
            "Abs Add Ceil Max Min Mod Mul Neg Sub And Equal Floor Greater GreaterOrEqual Less "
            "LessOrEqual Not Or Round Sign Xor CumSum Hardmax NonZero Relu"
        ),
        1,
    ),
    **dict.fromkeys(["Clip", "DequantizeLinear", "LeakyRelu", "PRelu", "QuantizeLinear"], 2),
    **dict.fromkeys(("Div", "Reciprocal"), _DIVISION),
    "HardSigmoid": 4,
    "HardSwish": 5,
    "InstanceNormalization": 3 + _DIVISION,
    "Sqrt": _ROOT,
    **dict.fromkeys(("Exp", "Pow", "Sigmoid"), _EXPONENTIAL),
    "LpNormalization": _EXPONENTIAL + 1,
    "Gelu": _EXPONENTIAL + 2,
    "Elu": _EXPONENTIAL + 3,
    "Softmax": _EXPONENTIAL + _DIVISION,
    **dict.fromkeys(("Cos", "Sin"), 39),
    "Log": _LOGARITHM,
    # onnx-tool counts the instructions of Tanh and Atan twice.
    "Tanh": 2 * (_EXPONENTIAL + 2 + _DIVISION),
    "Atan": 2 * (_ROOT + 4 + _DIVISION),
    "Softplus": _EXPONENTIAL + 1 + _LOGARITHM,
    "LogSoftmax": _EXPONENTIAL + _DIVISION + 1 + _LOGARITHM,
    "BatchNormalization": 3 + _ROOT + _DIVISION,
}
"""The instructions for each element of the first output."""

_PER_INPUT: Final = {
    "Dropout": 0,
    **dict.fromkeys(["ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd", "ReduceSum"], 1),
    "ReduceL2": 1 + _ROOT,
}
"""The instructions for each element of the first input."""

_PER_RESIZED_OUTPUT: Final = {"nearest": 0, "linear": 4, "cubic": 8}


def counts_of(calls: Iterable[Call]) -> Iterator[Counts]:
    """Yield the counts of each call. `calls` have the order of the model.

    If onnx-tool does not list or does not support an operator, all counts of the operator are N/A.
    They are also N/A if a size is unknown.
    """
    used: set[str] = set()
    for call in calls:
        if call.type in NOT_LISTED:
            yield Counts()
            continue
        weights = {
            name: tensor
            for name, tensor in zip(call.weights, call.inputs, strict=False)
            if name is not None and tensor is not None and name not in used
        }
        used |= weights.keys()
        macs = macs_of(call)
        if macs != macs:  # noqa: PLR0124  # NaN: onnx-tool fails, or a size is unknown
            yield Counts()
            continue
        yield Counts(
            macs,
            sum(_bytes(one) for one in (*weights.values(), *_outputs(call)) if one is not None),
            sum(_elements(one) for one in weights.values()),
        )


def macs_of(call: Call) -> float:
    """Return `Counts.macs` of `call`.

    NaN if onnx-tool does not support or does not list the operator, or if a size is unknown.
    """
    try:
        if call.type in _PER_OUTPUT:
            return _PER_OUTPUT[call.type] * _elements(call.outputs[0])
        if call.type in _PER_INPUT:
            return _PER_INPUT[call.type] * _elements(call.inputs[0])
        formula = _FORMULAS.get(call.type)
        return nan if formula is None else formula(call)
    # An input, dimension or attribute is missing, or an attribute has a wrong type.
    except (AttributeError, IndexError, KeyError, OverflowError, TypeError, ValueError):
        return nan


def _outputs(call: Call) -> tuple[Tensor | None, ...]:
    """Return the outputs with the shapes and dtypes that onnx-tool gives them."""
    if call.type == "Dropout":  # the mask is bool, even if the operator set says otherwise
        return (call.inputs[0], *(Tensor(_shape(call.inputs[0]), "bool") for _ in call.outputs[1:]))
    return call.outputs


def _shape(tensor: Tensor | None) -> Dims | None:
    return None if tensor is None else tensor.shape


def _elements(tensor: Tensor | None) -> float:
    """Return the number of elements; 0 for a scalar, as in onnx-tool."""
    if tensor is None:
        return nan
    return tensor.elements if tensor.shape != () else 0.0


def _bytes(tensor: Tensor) -> float:
    return _elements(tensor) * bytes_of(tensor.dtype)


def _size(tensor: Tensor | None, axis: int) -> float:
    """Return the size of one dimension; NaN if it is unknown."""
    if tensor is None or tensor.shape is None:
        return nan
    size = tensor.shape[axis]
    return nan if size is None else size


def _per_channel(weight: Tensor | None, axes: slice) -> float:
    """Return the product of the sizes of `axes` of a weight; NaN if a size is unknown."""
    if weight is None or weight.shape is None:
        return nan
    return prod(nan if size is None else size for size in weight.shape[axes])


def _convolution(call: Call) -> float:
    """Return the instructions of a convolution, transposed or not.

    A bias, which is the third input, adds one instruction for each output element.
    """
    outputs = _elements(call.outputs[0])
    macs = outputs * _per_channel(call.inputs[1], slice(1, None))
    return macs + outputs if len(call.inputs) > 2 else macs


def _integer_convolution(weight: int, inputs_with_bias: int) -> Callable[[Call], float]:
    """Return a formula for a convolution of integers. Its weight is the input at index `weight`.

    A call has a bias if it has `inputs_with_bias` inputs; 0 means that no call has a bias. The
    formula ignores the third axis of a kernel, as onnx-tool does.
    """

    def formula(call: Call) -> float:
        outputs = _elements(call.outputs[0])
        macs = outputs * _per_channel(call.inputs[weight], slice(1, 4))
        return macs + outputs if len(call.inputs) == inputs_with_bias else macs

    return formula


def _matrix_product(call: Call) -> float:
    """Return the instructions of a matrix product.

    A third input, such as C of Gemm, adds one instruction for each output element.
    """
    if any(tensor and tensor.shape and len(tensor.shape) == 1 for tensor in call.inputs[:2]):
        return nan  # onnx-tool fails for a vector
    transposed = call.type == "Gemm" and call.attributes.get("transB", 0) > 0
    outputs = _elements(call.outputs[0])
    macs = outputs * _size(call.inputs[1], -1 if transposed else -2)
    return macs + outputs if len(call.inputs) == 3 else macs


def _quantized_product(call: Call) -> float:
    return _elements(call.inputs[0]) * _size(call.inputs[3], -1)


def _einsum(call: Call) -> float:
    operands, _, result = call.attributes["equation"].replace(" ", "").partition("->")
    subscripts = operands.split(",")
    if len(subscripts) != len(call.inputs) or len(subscripts) != 2 or not result:
        return nan  # onnx-tool supports only two operands and an explicit result
    if "..." in operands:
        return nan
    sizes = {
        label: _size(tensor, axis)
        for subscript, tensor in zip(subscripts, call.inputs, strict=True)
        for axis, label in enumerate(subscript)
    }
    return prod(sizes.values())


def _pooling(call: Call) -> float:
    """Return the instructions of a pooling. Only the first axis of a 3-D kernel counts."""
    kernel = call.attributes["kernel_shape"]
    size: int = prod(kernel) if len(kernel) == 2 else kernel[0]
    return size * _elements(call.outputs[0])


def _global_pooling(call: Call) -> float:
    return _elements(call.inputs[0]) + _DIVISION * _elements(call.outputs[0])


def _local_response(call: Call) -> float:
    per_output: float = _DIVISION + _EXPONENTIAL + 1 + call.attributes["size"]
    return per_output * _elements(call.outputs[0])


def _layer_normalization(call: Call) -> float:
    elements = _elements(call.inputs[0])
    axis = _size(call.inputs[0], call.attributes.get("axis", -1))
    means = elements / axis if axis else nan
    return 7 * elements + (1 + _ROOT + _DIVISION) * means


def _resize(call: Call) -> float:
    per_output = _PER_RESIZED_OUTPUT[call.attributes["mode"]]
    return per_output * _elements(call.outputs[0])


def _recurrent(gates: int, sigmoids: int, tanhs: int, blend: int) -> Callable[[Call], float]:
    """Return a formula for an LSTM or GRU with a bias. onnx-tool supports no other LSTM or GRU."""

    def formula(call: Call) -> float:
        steps = _size(call.inputs[0], 0) * _size(call.inputs[0], 1)
        # onnx-tool counts the state of one direction, even if there are two.
        states = steps * (_size(call.inputs[1], 1) // gates)
        weights = sum(_elements(call.inputs[index]) for index in (1, 2, 3))
        tanh = _EXPONENTIAL + 2 + _DIVISION
        per_state = gates + sigmoids * _EXPONENTIAL + tanhs * tanh + blend
        return steps * weights + states * per_state

    return formula


_FORMULAS: Final[Mapping[str, Callable[[Call], float]]] = {
    **dict.fromkeys(("Conv", "ConvTranspose"), _convolution),
    "QLinearConv": _integer_convolution(3, inputs_with_bias=9),
    "ConvInteger": _integer_convolution(1, inputs_with_bias=0),
    **dict.fromkeys(("Gemm", "MatMul", "MatMulInteger"), _matrix_product),
    "QLinearMatMul": _quantized_product,
    "Einsum": _einsum,
    **dict.fromkeys(("AveragePool", "MaxPool"), _pooling),
    "GlobalAveragePool": _global_pooling,
    "LRN": _local_response,
    "LayerNormalization": _layer_normalization,
    **dict.fromkeys(("Resize", "Upsample"), _resize),
    "LSTM": _recurrent(4, sigmoids=3, tanhs=2, blend=4),
    "GRU": _recurrent(3, sigmoids=2, tanhs=1, blend=5),
    "Sum": lambda call: (len(call.inputs) - 1) * _elements(call.outputs[0]),
}

KNOWN: Final = frozenset((*_PER_OUTPUT, *_PER_INPUT, *_FORMULAS))
"""The types of operator that onnx-tool supports and lists."""

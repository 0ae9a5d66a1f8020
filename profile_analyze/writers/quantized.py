"""Computes quantized products as products of integers, whose tiles can be summed exactly.

The sums have 32 bits. They are scaled once, after all tiles are added. The scaling follows the
reference implementation of ONNX. In the reference implementation, the split model and the original
model give the same results.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Final, NamedTuple

from onnx import TensorProto

from profile_analyze.readers.onnx.graph import Node, Value

if TYPE_CHECKING:
    from collections.abc import Mapping

    from profile_analyze.writers.new_nodes import NewNodes

_OLDEST_OPSET: Final = 11
"""The first version of the operator set that has Round."""
_LIMITS: Final = {"uint8": (0.0, 255.0), "int8": (-128.0, 127.0)}
"""The lowest and the highest value of each dtype."""
_DTYPE_NUMBERS: Final = {"uint8": TensorProto.UINT8, "int8": TensorProto.INT8}


class _Inputs(NamedTuple):
    """The names of the inputs of a quantized product; empty for inputs that it does not have."""

    a: str = ""
    a_scale: str = ""
    a_zero: str = ""
    b: str = ""
    b_scale: str = ""
    b_zero: str = ""
    y_scale: str = ""
    y_zero: str = ""
    bias: str = ""


_ORDERS: Final[Mapping[tuple[str, str], tuple[str, ...]]] = {
    ("", "QLinearMatMul"): (
        *("a", "a_scale", "a_zero", "b", "b_scale", "b_zero"),
        *("y_scale", "y_zero"),
    ),
    ("com.microsoft", "MatMulIntegerToFloat"): (
        *("a", "b", "a_scale", "b_scale", "a_zero", "b_zero", "bias"),
    ),
    ("com.microsoft", "DynamicQuantizeMatMul"): ("a", "b", "b_scale", "b_zero", "bias"),
}
"""The inputs of each type of quantized product, in the order in which a node has them."""
_REQUIRED: Final = frozenset({"a", "b", "a_scale", "b_scale", "y_scale", "y_zero"})
"""The inputs that are required in every type that has them."""


class IntegerProduct(NamedTuple):
    """The product of integers inside a quantized product."""

    node: Node
    values: Mapping[str, Value]
    """The values that the product reads and writes."""
    inputs: _Inputs

    def scaled(self, sums: str, dtype: str | None, nodes: NewNodes) -> str:
        """Add nodes that compute the result of the quantized product from `sums`.

        `dtype` is the dtype of the result. Return the name of the result.
        """
        inputs = self.inputs
        scale = nodes.add("Mul", [inputs.a_scale, inputs.b_scale], "scale")
        if dtype not in _LIMITS:
            exact = nodes.add("Cast", [sums], "result_fp32", to=TensorProto.FLOAT)
            result = nodes.add("Mul", [exact, scale], "scaled")
            return nodes.add("Add", [result, inputs.bias], "biased") if inputs.bias else result
        low, high = _LIMITS[dtype]
        scale = nodes.add("Div", [scale, inputs.y_scale], "scale_of_result")
        exact, scale, zero = (
            nodes.add("Cast", [value], text, to=TensorProto.DOUBLE)
            for value, text in (
                (sums, "result_fp64"),
                (scale, "scale_fp64"),
                (inputs.y_zero, "zero_point_fp64"),
            )
        )
        result = nodes.add("Mul", [exact, scale], "scaled")
        result = nodes.add("Add", [result, zero], "shifted")
        result = nodes.add("Round", [result], "rounded")
        # Not Clip: ONNX Runtime has no Clip of fp64 for version 11 of the operator set.
        result = nodes.add("Max", [result, nodes.number(low, "lowest")], "not_too_low")
        result = nodes.add("Min", [result, nodes.number(high, "highest")], "not_too_high")
        return nodes.add("Cast", [result], f"result_{dtype}", to=_DTYPE_NUMBERS[dtype])


def as_integers(
    node: Node, values: Mapping[str, Value], nodes: NewNodes, opset: int
) -> IntegerProduct | None:
    """Return the product of integers inside `node`; None if `node` is not supported.

    If `node` quantizes A itself, a new node that quantizes A is added to `nodes`.
    """
    order = _ORDERS.get((node.domain, node.type))
    if order is None or opset < _OLDEST_OPSET:
        return None
    inputs = _Inputs(**dict(zip(order, node.inputs, strict=False)))
    if not all(getattr(inputs, name) for name in _REQUIRED.intersection(order)):
        return None  # a damaged model
    result = values[node.outputs[0]]
    if not _is_supported(inputs, result, values):
        return None
    read = (inputs.a, inputs.b, inputs.a_zero, inputs.b_zero)
    # Only the values of this product are copied: a graph may have many values and many products.
    known = {name: values[name] for name in read if name}
    if not inputs.a_scale:
        a, a_scale, a_zero = nodes.quantize_dynamically(inputs.a, "a_quantized")
        known[a] = Value(a, values[inputs.a].dims, "uint8")
        known[a_zero] = Value(a_zero, (), "uint8")
        inputs = inputs._replace(a=a, a_scale=a_scale, a_zero=a_zero)
    sums = nodes.name("sums")
    known[sums] = Value(sums, result.dims, "int32")
    zeros = (inputs.a_zero, inputs.b_zero)
    # An empty name for A's zero point keeps the position of B's zero point.
    operands = (inputs.a, inputs.b, *(zeros if inputs.b_zero else filter(None, zeros)))
    product = node._replace(type="MatMulInteger", domain="", inputs=operands, outputs=(sums,))
    return IntegerProduct(product, known, inputs)


def _is_supported(inputs: _Inputs, result: Value, values: Mapping[str, Value]) -> bool:
    """Return whether the dtypes are supported, and all sums of a column have the same scale."""
    quantized = [inputs.b, *([inputs.a] if inputs.a_scale else [])]
    single = [inputs.a_scale, inputs.y_scale, inputs.y_zero]
    scales = [inputs.a_scale, inputs.b_scale, inputs.y_scale]
    shape_of_scale = values[inputs.b_scale].dims or ()
    return (
        all(values[name].dtype in _LIMITS for name in quantized)
        and all(values[name].dtype in ("fp32", "fp16") for name in scales if name)
        and all(prod(size or 0 for size in values[name].dims or ()) == 1 for name in single if name)
        and (prod(size or 0 for size in shape_of_scale) == 1 or len(shape_of_scale) == 1)
        and result.dtype in (*_LIMITS, "fp32")
    )

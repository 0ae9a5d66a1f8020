"""The kinds of convolution: what they cost, and which are depthwise, grouped, pointwise or full."""

from __future__ import annotations

from math import isnan, nan, prod
from typing import TYPE_CHECKING, Final

from profile_analyze.model import terms
from profile_analyze.work.kind import (
    Kind,
    attribute,
    every_tensor,
    fused_operations,
    input_elements,
    output_elements,
    sizes,
    tensor_at,
)

if TYPE_CHECKING:
    from profile_analyze.work.operation import Operation

CONVOLUTION: Final = "convolution"
TRANSPOSED: Final = "transposed convolution"
DEFORMABLE: Final = "deformable convolution"


_LARGEST_KERNEL: Final = 1 << 16
"""If a side of a kernel is longer than this, `macs_without_padding` is N/A. Only damaged models
have such kernels, and a loop over the side could take too long."""


def _weight(operation: Operation) -> tuple[int, ...] | None:
    """Return the shape of the weight; None if it is unknown or lacks the dimensions of a kernel."""
    weight = sizes(tensor_at(operation.inputs, 1), 0)
    return None if weight is None or len(weight) < 3 else weight


def _taps_per_channel(operation: Operation) -> float:
    """Return how many elements the weight has for each index of its first dimension."""
    weight = _weight(operation)
    return nan if weight is None else prod(weight[1:])


def _macs(operation: Operation) -> float:
    return output_elements(operation) * _taps_per_channel(operation)


def _transposed_macs(operation: Operation) -> float:
    return input_elements(operation) * _taps_per_channel(operation)


def _bias_elements(operation: Operation) -> float:
    has_bias = tensor_at(operation.inputs, 2) is not None
    return output_elements(operation) if has_bias else 0.0


def _interpolations(operation: Operation) -> float:
    """Return the operations of a deformable convolution besides its multiply-adds.

    The convolution multiplies interpolated values. To interpolate a value from four input values
    takes 8 operations, and 1 more with a mask.
    """
    weight = _weight(operation)
    if weight is None or not weight[0]:
        return nan
    channels = weight[1] * attribute(operation, "groups", 1)
    values = output_elements(operation) / weight[0] * channels * prod(weight[2:])
    has_mask = tensor_at(operation.inputs, 4) is not None
    return values * (8 + has_mask) + fused_operations(operation)


def conv_kind(operation: Operation) -> str | None:
    """Return the kind of a convolution: depthwise, grouped, pointwise or full.

    Return None if the operation is not a convolution, or if its weight or groups are unknown. A
    grouped convolution with a kernel of 1 is grouped, not pointwise.
    """
    weight = _weight(operation)
    if operation.kind not in {CONVOLUTION, TRANSPOSED, DEFORMABLE} or weight is None:
        return None
    groups = attribute(operation, "groups", 1)
    if isnan(groups):
        return None
    channels = weight[0] if operation.kind == TRANSPOSED else weight[1] * groups
    if groups > 1:
        return "depthwise" if groups == channels else "grouped"
    return "pointwise" if all(side == 1 for side in weight[2:]) else "full"


def macs_without_padding(operation: Operation) -> float:
    """Return the multiply-adds of a convolution without the products with padding.

    In a transposed convolution, the padding cuts off results. The products for these results are
    left out. The number is NaN for all kinds but convolution and transposed convolution, for
    unknown or impossible sizes and attributes, and for kernels over `_LARGEST_KERNEL`.
    """
    data, result = (
        sizes(tensor_at(tensors, 0), 0) for tensors in (operation.inputs, operation.outputs)
    )
    weight = _weight(operation)
    if operation.kind == TRANSPOSED:
        data, result = result, data  # it has the products of the convolution in reverse
    elif operation.kind != CONVOLUTION:
        return nan
    ranks = {None if shape is None else len(shape) for shape in (data, result, weight)}
    if data is None or result is None or weight is None or len(ranks) > 1:
        return nan
    rank = len(weight) - 2
    windows = [
        operation.attributes.get(name, (default,) * rank)
        for name, default in (("strides", 1), ("dilations", 1), ("padding_before", 0))
    ]
    if any(window is None or len(window) != rank for window in windows) or 0 in windows[0]:
        return nan
    if max(weight[2:], default=0) > _LARGEST_KERNEL:
        return nan
    inside = map(_taps_inside, data[2:], result[2:], weight[2:], *windows)
    return float(result[0] * weight[0] * weight[1] * prod(inside))


def _taps_inside(
    data: int, result: int, kernel: int, stride: int, dilation: int, padding_before: int
) -> int:
    """Return how many products in one dimension read data instead of padding.

    Each product belongs to one position in the result and one position in the kernel.
    """
    count = 0
    for tap in range(kernel):
        shift = padding_before - tap * dilation  # result i reads the data at i * stride - shift
        first = max(0, -(-shift // stride))
        last = min(result - 1, (data - 1 + shift) // stride)
        count += max(0, last - first + 1)
    return count


_INPUTS: Final = (
    "data (N, C, ...), weight (O, C / groups, kernel ...), bias; groups, strides, dilations, "
    "padding_before, fused"
)

KINDS: Final = (
    Kind(
        CONVOLUTION,
        terms.CONVOLUTION,
        _macs,
        fused_operations,
        every_tensor,
        _INPUTS,
        "MACs: output elements * weight elements of one output channel",
        "ONNX Conv; each output is a sum over one filter",
        bias_elements=_bias_elements,
    ),
    Kind(
        TRANSPOSED,
        terms.CONVOLUTION,
        _transposed_macs,
        fused_operations,
        every_tensor,
        _INPUTS.replace("(O, C / groups", "(C, O / groups"),
        "MACs: input elements * weight elements of one input channel",
        "ONNX ConvTranspose; each input is multiplied with one filter",
        bias_elements=_bias_elements,
    ),
    Kind(
        DEFORMABLE,
        terms.CONVOLUTION,
        _macs,
        _interpolations,
        every_tensor,
        _INPUTS.replace(", bias;", ", bias, offset, mask;"),
        "MACs: as convolution; in addition, 8 FLO to interpolate each value, 1 more with a mask",
        "ONNX DeformConv, bilinear interpolation of four values",
        bias_elements=_bias_elements,
    ),
)

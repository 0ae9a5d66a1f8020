"""Computes the work of convolutions, forward and backward."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from profile_analyze.readers.pytorch.calls import UnknownError
from profile_analyze.readers.pytorch.work.costs import Cost, Entry, cost, entries, possible
from profile_analyze.work.kinds import backward_macs
from profile_analyze.work.operation import Operation, Work
from profile_analyze.work.tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Mapping

    from profile_analyze.model.operators import Shape
    from profile_analyze.readers.pytorch.calls import Call

_CONVOLUTION: Final = "convolution"
_TRANSPOSED: Final = "transposed convolution"


def windows(
    sizes: Shape,
    kernel: Shape,
    strides: Shape,
    padding: Shape,
    dilation: Shape,
    *,
    rounds_up: bool = False,
) -> Shape:
    """Return the number of windows in each dimension of an image.

    If `rounds_up` is true, the last window need not be full. Raises `UnknownError` if a stride is
    not positive.
    """
    found = []
    for size, side, stride, pad, step in zip(
        sizes, kernel, strides, padding, dilation, strict=True
    ):
        if stride <= 0:
            raise UnknownError
        steps, rest = divmod(size + 2 * pad - step * (side - 1) - 1, stride)
        # A last window that is not full counts only if it starts before the padding at the end.
        is_added = rounds_up and rest > 0 and (steps + 1) * stride < size + pad
        found.append(steps + 1 + is_added)
    return tuple(found)


def _padding(call: Call, count: int) -> Shape | None:
    """Return the padding at each end of each of the `count` dimensions.

    None stands for the padding `same`: the image keeps its size.
    """
    text = call.value("padding", 0)
    if text == "same":
        return None
    return (0,) * count if text == "valid" else call.sizes("padding", count, 0)


def split_of(data: Shape, spatial: int) -> tuple[Shape, Shape]:
    """Split the shape `data` into the batch and the `spatial` dimensions of the image.

    (2, 3, 8, 9) becomes (2,) and (8, 9). Without a batch, (3, 8, 9) becomes () and (8, 9). Raises
    `UnknownError` if `data` has another number of dimensions.
    """
    if not 1 <= spatial <= len(data) - 1 <= spatial + 1:
        raise UnknownError
    return data[: -spatial - 1], data[-spatial:]


def _is_transposed(call: Call) -> bool:
    return "transpose" in call.name or ("transposed" in call.arguments and call.flag("transposed"))


def _result(call: Call) -> Shape:
    """Return the shape of the result of a convolution."""
    weight = call.shape("weight")
    kernel = weight[2:]
    count = len(kernel)
    batch, image = split_of(call.shape("input"), count)
    strides, dilation = (call.sizes(name, count, 1) for name in ("stride", "dilation"))
    padding = _padding(call, count)
    if padding is None:
        return (*batch, weight[0], *image)
    if not _is_transposed(call):
        return (*batch, weight[0], *windows(image, kernel, strides, padding, dilation))
    added = call.sizes("output_padding", count, 0)
    sizes = (
        (image[axis] - 1) * strides[axis]
        - 2 * padding[axis]
        + dilation[axis] * (kernel[axis] - 1)
        + added[axis]
        + 1
        for axis in range(count)
    )
    return (*batch, weight[1] * call.integer("groups", 1), *sizes)


def _convolution(call: Call) -> Cost:
    data, weight, bias = call.tensor("input"), call.tensor("weight"), call.optional("bias")
    kind = _TRANSPOSED if _is_transposed(call) else _CONVOLUTION
    added = call.optional("z")
    fused = ("relu" in call.name) + (added is not None)
    inputs = [data, weight, bias, *([] if added is None else [added])]
    return cost(kind, inputs, [Tensor(_result(call), data.dtype)], fused=fused)


def _convolution_backward(call: Call) -> Cost:
    """Return the cost of the gradients of data, weight and bias that `output_mask` asks for."""
    gradient, data, weight = (call.tensor(name) for name in ("grad_output", "input", "weight"))
    mask = call.value("output_mask")
    if not isinstance(mask, tuple) or len(mask) != 3:
        raise UnknownError
    kind = _TRANSPOSED if call.flag("transposed") else _CONVOLUTION
    channels = call.shape("grad_output")[1:2]
    results = (data, weight, Tensor(channels, gradient.dtype))
    outputs = possible(one for one, is_needed in zip(results, mask, strict=True) if is_needed)
    macs = backward_macs(
        Operation(kind, (data, weight), (gradient,)),
        input_gradients=int(bool(mask[0])),
        weight_gradients=int(bool(mask[1])),
    )
    memory = sum(one.bytes for one in (gradient, data, weight, *outputs))
    return Cost(Work(macs, 2 * macs, memory), outputs, kind)


def _deformable(call: Call) -> Cost:
    data, weight = call.tensor("input"), call.shape("weight")
    batch, image = split_of(call.shape("input"), 2)
    strides, padding, dilation = (
        tuple(call.integer(f"{name}_{side}") for side in "hw")
        for name in ("stride", "pad", "dilation")
    )
    if len(weight) != 4:
        raise UnknownError
    sizes = windows(image, weight[2:], strides, padding, dilation)
    mask = call.optional("mask") if call.flag("use_mask") else None
    return cost(
        "deformable convolution",
        [data, call.tensor("weight"), call.optional("bias"), call.optional("offset"), mask],
        [Tensor((*batch, weight[0], *sizes), data.dtype)],
        groups=call.sizes("groups", 1)[0],  # `sizes` rejects a negative number
    )


_DATA: Final = "Tensor input, Tensor weight"
_PLAIN: Final = f"{_DATA}, Tensor? bias, stride, padding, dilation, groups"
# Most operators of libraries, such as cuDNN, take the padding before the stride.
_SWAPPED: Final = f"{_DATA}, Tensor? bias, padding, stride, dilation, groups"
_SWAPPED_TRANSPOSED: Final = "padding, output_padding, stride, dilation, groups"
_SLOW: Final = f"{_DATA}, kernel_size, Tensor? bias, stride, padding"
_GENERAL: Final = "stride, padding, dilation, transposed, output_padding, groups"
_CHOICES: Final = "benchmark, deterministic, allow_tf32"
_OPERANDS: Final = "Tensor grad_output, Tensor input, Tensor weight"


def _of(kind: str, names: str, *signatures: str) -> dict[str, Entry]:
    return entries(kind, names, *signatures, translate=_convolution)


TABLE: Final[Mapping[str, Entry]] = {
    **_of(_CONVOLUTION, "conv1d conv2d conv3d _convolution_mode", _PLAIN),
    **_of(
        _CONVOLUTION,
        "convolution convolution_overrideable _convolution",
        f"{_DATA}, Tensor? bias, {_GENERAL}, benchmark, deterministic, cudnn_enabled, allow_tf32",
    ),
    **_of(_CONVOLUTION, "mkldnn_convolution _mps_convolution", _SWAPPED),
    **_of(_CONVOLUTION, "_convolution_pointwise", f"{_SWAPPED}, attr, scalars, algorithm"),
    **_of(
        _CONVOLUTION,
        "miopen_convolution miopen_depthwise_convolution",
        f"{_SWAPPED}, benchmark, deterministic",
    ),
    **_of(
        _CONVOLUTION,
        "cudnn_convolution",
        f"{_DATA}, padding, stride, dilation, groups, {_CHOICES}",
        f"{_SWAPPED}, {_CHOICES}",  # up to torch 1.6
    ),
    **_of(_CONVOLUTION, "cudnn_convolution_relu miopen_convolution_relu", _PLAIN),
    **_of(
        _CONVOLUTION,
        "cudnn_convolution_add_relu miopen_convolution_add_relu",
        f"{_DATA}, Tensor z, alpha, Tensor? bias, stride, padding, dilation, groups",
    ),
    **_of(
        _CONVOLUTION,
        "thnn_conv2d _slow_conv2d_forward slow_conv3d slow_conv3d_forward _conv_depthwise2d "
        "conv_depthwise3d slow_conv_dilated2d slow_conv_dilated3d",
        f"{_SLOW}, dilation",
    ),
    **_of(
        _TRANSPOSED,
        "conv_transpose1d conv_transpose2d conv_transpose3d",
        f"{_DATA}, Tensor? bias, stride, padding, output_padding, groups, dilation",
    ),
    **_of(
        _TRANSPOSED,
        "cudnn_convolution_transpose",
        f"{_DATA}, {_SWAPPED_TRANSPOSED}, {_CHOICES}",
    ),
    **_of(
        _TRANSPOSED,
        "miopen_convolution_transpose",
        f"{_DATA}, Tensor? bias, {_SWAPPED_TRANSPOSED}, benchmark, deterministic",
    ),
    **_of(
        _TRANSPOSED,
        "slow_conv_transpose2d slow_conv_transpose3d",
        f"{_SLOW}, output_padding, dilation",
    ),
    "convolution_backward": Entry(
        _CONVOLUTION,
        (f"{_OPERANDS}, bias_sizes, {_GENERAL}, output_mask",),
        _convolution_backward,
    ),
    "convolution_backward_overrideable": Entry(
        _CONVOLUTION, (f"{_OPERANDS}, {_GENERAL}, output_mask",), _convolution_backward
    ),
    "deform_conv2d": Entry(
        "deformable convolution",
        (
            f"{_DATA}, Tensor offset, Tensor? mask, Tensor? bias, stride_h, stride_w, pad_h, "
            "pad_w, dilation_h, dilation_w, groups, offset_groups, use_mask",
        ),
        _deformable,
    ),
}
"""The entry of each operator. Keys are names without the namespace."""

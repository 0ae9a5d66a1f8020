"""Computes the work of pooling, forward and backward."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, Final

from profile_analyze.readers.pytorch.calls import UnknownError
from profile_analyze.readers.pytorch.work.convolutions import split_of, windows
from profile_analyze.readers.pytorch.work.costs import Cost, Entry, cost, entries, possible
from profile_analyze.work.operation import Work
from profile_analyze.work.tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Mapping

    from profile_analyze.model.operators import Shape
    from profile_analyze.readers.pytorch.calls import Call

_POOLING: Final = "pooling"


def _spatial(call: Call) -> int:
    """Return the number of dimensions in the name: 3 for `max_pool3d`; 2 if the name has none."""
    return next((int(one[0]) for one in call.name.split("pool")[1:] if one[:1] in "123"), 2)


def _pooled_sizes(call: Call, image: Shape, kernel: Shape) -> Shape:
    count = len(image)
    strides = call.integers("stride", ()) or kernel
    strides = strides * count if len(strides) == 1 else strides
    padding = call.sizes("padding", count, 0)
    dilation = call.sizes("dilation", count, 1)
    if len(strides) != count or 0 in strides:
        raise UnknownError
    rounds_up = call.flag("ceil_mode", default=False)
    return windows(image, kernel, strides, padding, dilation, rounds_up=rounds_up)


def _pooled(call: Call, outputs: Shape, **attributes: Any) -> Cost:
    data = call.tensor("self")
    results = [Tensor(outputs, data.dtype)]
    if "with_indices" in call.name or "adaptive_max" in call.name:
        results.append(Tensor(outputs, "int64"))
    return cost("pooling", [data], results, **attributes)


def _pooling(call: Call) -> Cost:
    count = _spatial(call)
    batch, image = split_of(call.shape("self"), count)
    kernel = call.sizes("kernel_size", count)
    channels = call.shape("self")[len(batch)]
    sizes = _pooled_sizes(call, image, kernel)
    return _pooled(call, (*batch, channels, *sizes), kernel=kernel)


def _adaptive_pooling(call: Call) -> Cost:
    count = _spatial(call)
    data = call.shape("self")
    split_of(data, count)  # raises an error for a wrong number of dimensions
    sizes = call.sizes("output_size", count)
    # As in global pooling, each element of the input counts once.
    return _pooled(call, (*data[:-count], *sizes), is_global=True)


def _pooling_backward(call: Call) -> Cost:
    """Return the cost of the gradient: each addition to the input's gradient is one operation."""
    gradient, data = call.tensor("grad_output"), call.tensor("self")
    indices = call.optional("indices")
    if "adaptive_avg" in call.name:
        added = data.elements
    elif "avg" in call.name:
        added = gradient.elements * prod(call.sizes("kernel_size", _spatial(call)))
    else:
        added = gradient.elements
    read = [gradient, *([] if indices is None else [indices])]
    written = possible([data])  # the gradient of `data` has the same shape and dtype
    return Cost(Work(0.0, added, sum(one.bytes for one in (*read, *written))), written)


_WINDOWS: Final = "kernel_size, stride, padding"
_MAX: Final = f"{_WINDOWS}, dilation, ceil_mode"
_AVERAGE: Final = f"{_WINDOWS}, ceil_mode, count_include_pad, divisor_override"
_GRADIENT: Final = "Tensor grad_output, Tensor self"

TABLE: Final[Mapping[str, Entry]] = {
    **entries(
        _POOLING,
        "max_pool1d max_pool2d max_pool3d max_pool1d_with_indices max_pool2d_with_indices "
        "max_pool3d_with_indices mkldnn_max_pool2d mkldnn_max_pool3d quantized_max_pool2d",
        f"Tensor self, {_MAX}",
        translate=_pooling,
    ),
    **entries(
        _POOLING, "avg_pool1d avg_pool2d avg_pool3d", f"Tensor self, {_AVERAGE}", translate=_pooling
    ),
    **entries(
        _POOLING,
        "adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d _adaptive_avg_pool2d "
        "_adaptive_avg_pool3d mkldnn_adaptive_avg_pool2d adaptive_max_pool1d adaptive_max_pool2d "
        "adaptive_max_pool3d",
        "Tensor self, output_size",
        translate=_adaptive_pooling,
    ),
    **entries(
        _POOLING,
        "max_pool2d_with_indices_backward max_pool3d_with_indices_backward",
        f"{_GRADIENT}, {_MAX}, Tensor indices",
        translate=_pooling_backward,
    ),
    **entries(
        _POOLING,
        "avg_pool2d_backward avg_pool3d_backward",
        f"{_GRADIENT}, {_AVERAGE}",
        translate=_pooling_backward,
    ),
    **entries(
        _POOLING,
        "_adaptive_avg_pool2d_backward _adaptive_avg_pool3d_backward "
        "mkldnn_adaptive_avg_pool2d_backward",
        _GRADIENT,
        translate=_pooling_backward,
    ),
    **entries(
        _POOLING,
        "adaptive_max_pool2d_backward adaptive_max_pool3d_backward",
        f"{_GRADIENT}, Tensor indices",
        translate=_pooling_backward,
    ),
    # The work of these operators depends on the values of a tensor, which the file does not have.
    **dict.fromkeys(("roi_align", "roi_pool", "ps_roi_align"), Entry("region pooling")),
}
"""The entry of each operator. Keys are names without the namespace."""

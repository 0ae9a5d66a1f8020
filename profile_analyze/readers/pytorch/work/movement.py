"""Computes the work of operators that copy, fill, join, resize, allocate or view tensors."""

from __future__ import annotations

from math import floor, isfinite
from typing import TYPE_CHECKING, Final

from profile_analyze.readers.pytorch.calls import UnknownError, shape_of
from profile_analyze.readers.pytorch.work.costs import (
    Cost,
    Entry,
    axis_of,
    cost,
    entries,
    promoted,
)
from profile_analyze.work.tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Mapping

    from profile_analyze.model.operators import Shape
    from profile_analyze.readers.pytorch.calls import Call


def _copy(call: Call) -> Cost:
    data = call.tensor("self")
    return cost("copy", [data], [Tensor(data.shape, call.dtype("dtype", data.dtype))])


def _copy_into(call: Call) -> Cost:
    return cost("copy", [call.tensor("src")], [call.tensor("self")])


def _fill(call: Call) -> Cost:
    data, *values = call.every_tensor()
    # Values that are read, such as the probabilities of `bernoulli_`, can be a tensor, too.
    return cost("copy" if values else "fill", values, [data])


def _filled_like(call: Call) -> Cost:
    data = call.tensor("self")
    return cost("fill", [], [Tensor(data.shape, call.dtype("dtype", data.dtype))])


def _filled(call: Call) -> Cost:
    # Without a dtype and a tensor, torch uses its default: fp32, unless a program changes it.
    data = call.optional("self")
    dtype = call.dtype("dtype", "fp32" if data is None else data.dtype)
    return cost("fill", [], [Tensor(call.integers("size"), dtype)])


def _concatenation(call: Call) -> Cost:
    # Torch skips vectors without elements, even if the other tensors have more dimensions.
    shapes = [shape for one in call.tensors("tensors") if (shape := shape_of(one)) != (0,)]
    if not shapes or len({len(shape) for shape in shapes}) > 1:
        raise UnknownError
    axis = axis_of(call.integer("dim"), len(shapes[0]))
    result = list(shapes[0])
    if not result:
        raise UnknownError
    result[axis] = sum(shape[axis] for shape in shapes)
    return _joined(call, tuple(result))


def _stack(call: Call) -> Cost:
    tensors = call.tensors("tensors")
    shape = shape_of(tensors[0])
    axis = axis_of(call.integer("dim"), len(shape) + 1)
    return _joined(call, (*shape[:axis], len(tensors), *shape[axis:]))


def _joined(call: Call, shape: Shape) -> Cost:
    tensors = call.tensors("tensors")
    return cost("concat", tensors, [Tensor(shape, promoted(tensors))])


def _repetition(call: Call) -> Cost:
    data, repeats = call.tensor("self"), call.integers("repeats")
    sizes = shape_of(data)
    if len(repeats) < len(sizes):
        raise UnknownError
    sizes = (1,) * (len(repeats) - len(sizes)) + sizes
    result = tuple(size * count for size, count in zip(sizes, repeats, strict=True))
    return cost("copy", [data], [Tensor(result, data.dtype)])


def _padding(call: Call) -> Cost:
    data = call.tensor("self")
    pad = call.integers("padding" if "padding" in call.arguments else "pad")
    sizes = list(shape_of(data))
    if len(pad) % 2 or len(pad) > 2 * len(sizes):
        raise UnknownError
    for index in range(0, len(pad), 2):  # `pad` starts with the last dimension
        sizes[-1 - index // 2] += pad[index] + pad[index + 1]
    return cost("copy", [data], [Tensor(tuple(sizes), data.dtype)])


def _gradient_of_part(call: Call) -> Cost:
    """Return the cost of copying the gradient of a slice into a larger tensor of zeros."""
    data = call.tensor("grad_output")
    return cost("copy", [data], [Tensor(call.integers("input_sizes"), data.dtype)])


_TAPS: Final = {"nearest": 0, "linear": 2, "bilinear": 4, "trilinear": 8, "bicubic": 16}
"""How many input values a resize reads for each value of its result. The keys are words in names of
operators. 0 stands for a copy."""


def _resized(call: Call, image: Shape) -> Shape:
    if "output_size" in call:
        return call.sizes("output_size", len(image))
    scales = call.value("scale_factors")
    known = [one for one in scales if isinstance(one, float)] if isinstance(scales, tuple) else []
    if len(known) != len(image) or not all(map(isfinite, known)):
        raise UnknownError
    return tuple(floor(size * scale) for size, scale in zip(image, known, strict=True))


def _resize(call: Call) -> Cost:
    data = call.tensor("self")
    sizes = shape_of(data)
    result = Tensor((*sizes[:2], *_resized(call, sizes[2:])), data.dtype)
    taps = next((taps for word, taps in _TAPS.items() if f"_{word}" in call.name), None)
    return cost("resize", [data], [result], taps=taps)


def _grid_sample(call: Call) -> Cost:
    data, grid = call.tensor("self"), call.tensor("grid")
    sizes, points = shape_of(data), shape_of(grid)
    count = len(sizes) - 2
    # Mode 0 is linear, 1 is nearest, and 2 is bicubic.
    taps = {0: 1 << max(count, 0), 1: 0, 2: 16}.get(call.integer("interpolation_mode"))
    if len(points) != len(sizes) or count not in {2, 3} or taps is None:
        raise UnknownError
    result = Tensor((*sizes[:2], *points[1:-1]), data.dtype)
    return cost("resize", [data, grid], [result], taps=taps)


_OPTIONS: Final = "dtype, layout, device, pin_memory"
_VIEWS: Final = (
    "view view_as _unsafe_view reshape reshape_as _reshape_alias t transpose permute numpy_T mT "
    "adjoint swapaxes swapdims movedim expand expand_as broadcast_to broadcast_tensors detach "
    "alias select slice narrow unsqueeze squeeze chunk split split_with_sizes unsafe_chunk "
    "unsafe_split tensor_split unbind diagonal flatten unflatten ravel as_strided unfold "
    "contiguous to type_as cpu cuda conj resolve_conj resolve_neg view_as_real view_as_complex "
    "lift lift_fresh atleast_1d atleast_2d atleast_3d unflatten_dense_tensors _conj _neg_view"
)
_CONTROL: Final = (
    "empty empty_like empty_strided empty_permuted new_empty new_empty_strided resize resize_as "
    "set result_type promote_types can_cast item _local_scalar_dense is_nonzero is_same_size "
    "is_pinned _has_compatible_shallow_copy_type record_stream"
)
# Calls with these scales also have `output_size`, so the scales are not read.
_SCALES: Final = "_scales_d, _scales_h, _scales_w"
_RANDOM: Final = "normal uniform random bernoulli exponential log_normal cauchy geometric"

TABLE: Final[Mapping[str, Entry]] = {
    **dict.fromkeys(_VIEWS.split(), Entry("view")),
    **dict.fromkeys(_CONTROL.split(), Entry("control")),
    **entries("copy", "copy", "Tensor self, Tensor src, non_blocking", translate=_copy_into),
    **entries("copy", "clone", "Tensor self, memory_format", translate=_copy),
    **entries(
        "copy", "_to_copy", f"Tensor self, {_OPTIONS}, non_blocking, memory_format", translate=_copy
    ),
    **entries("copy", "roll", "Tensor self, shifts, dims", translate=_copy),
    **entries("copy", "flip", "Tensor self, dims", translate=_copy),
    **entries("copy", "tril triu", "Tensor self, diagonal", translate=_copy),
    **entries(
        "fill", f"fill zero {_RANDOM}", "Tensor self, any _a, any _b, any _c", translate=_fill
    ),
    **entries("fill", "zeros ones", f"size, {_OPTIONS}", translate=_filled),
    **entries(
        "fill",
        "rand randn",
        f"size, {_OPTIONS}",
        f"size, any _generator, {_OPTIONS}",
        translate=_filled,
    ),
    **entries("fill", "full", f"size, fill_value, {_OPTIONS}", translate=_filled),
    **entries("fill", "new_zeros new_ones", f"Tensor self, size, {_OPTIONS}", translate=_filled),
    **entries("fill", "new_full", f"Tensor self, size, fill_value, {_OPTIONS}", translate=_filled),
    **entries(
        "fill",
        "zeros_like ones_like rand_like randn_like",
        f"Tensor self, {_OPTIONS}, memory_format",
        translate=_filled_like,
    ),
    **entries(
        "fill",
        "full_like",
        f"Tensor self, fill_value, {_OPTIONS}, memory_format",
        translate=_filled_like,
    ),
    **dict.fromkeys(
        ("arange", "linspace", "logspace", "eye", "randint", "scalar_tensor", "range"),
        Entry("fill"),
    ),
    **entries(
        "concat", "cat concat concatenate", "Tensor[] tensors, dim", translate=_concatenation
    ),
    **entries("concat", "stack", "Tensor[] tensors, dim", translate=_stack),
    **dict.fromkeys(("hstack", "vstack", "flatten_dense_tensors"), Entry("concat")),
    **entries("copy", "repeat", "Tensor self, repeats", translate=_repetition),
    **entries(
        "copy",
        "reflection_pad1d reflection_pad2d reflection_pad3d replication_pad1d replication_pad2d "
        "replication_pad3d",
        "Tensor self, padding",
        translate=_padding,
    ),
    **entries("copy", "pad", "Tensor self, pad, mode, value", translate=_padding),
    **entries("copy", "constant_pad_nd", "Tensor self, pad, value", translate=_padding),
    **entries(
        "copy",
        "slice_backward select_backward",
        "Tensor grad_output, input_sizes, dim, index",
        "Tensor grad_output, input_sizes, dim, start, end, step",
        translate=_gradient_of_part,
    ),
    **dict.fromkeys(
        (
            "_copy_from",
            "repeat_interleave",
            "tile",
            "im2col",
            "col2im",
            "one_hot",
            "masked_scatter",
            "take",
        ),
        Entry("copy"),
    ),
    **dict.fromkeys(
        ("pixel_shuffle", "pixel_unshuffle", "channel_shuffle", "to_mkldnn", "to_dense"),
        Entry("layout change"),
    ),
    **entries(
        "resize",
        "upsample_nearest1d upsample_nearest2d upsample_nearest3d _upsample_nearest_exact2d",
        "Tensor self, output_size, scale_factors",
        f"Tensor self, output_size, {_SCALES}",
        translate=_resize,
    ),
    **entries(
        "resize",
        "upsample_linear1d upsample_bilinear2d upsample_trilinear3d upsample_bicubic2d "
        "_upsample_bilinear2d_aa _upsample_bicubic2d_aa",
        "Tensor self, output_size, align_corners, scale_factors",
        f"Tensor self, output_size, align_corners, {_SCALES}",
        translate=_resize,
    ),
    **entries(
        "resize",
        "grid_sampler grid_sampler_2d grid_sampler_3d",
        "Tensor self, Tensor grid, interpolation_mode, padding_mode, align_corners",
        translate=_grid_sample,
    ),
    **dict.fromkeys(("quantize_per_tensor", "quantize_per_channel"), Entry("quantize")),
    "dequantize": Entry("dequantize"),
}
"""The entry of each operator. Keys are names without the namespace, and without the underscore at
the end of in-place operators."""

"""Finds out what a kernel computes, from its name.

A name such as `mlir_convolution_add_relu` joins the names of MIGraphX's operators by underscores.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Final, NamedTuple

CONVOLUTION: Final = "convolution"
TRANSPOSED: Final = "transposed convolution"
PRODUCT: Final = "matmul"
ATTENTION: Final = "attention"
NORMALIZATION: Final = "layer normalization"
SOFTMAX: Final = "softmax"
POOLING: Final = "pooling"
REDUCTION: Final = "reduction"
ELEMENTWISE: Final = "elementwise"
CAST: Final = "cast"
GATHER: Final = "gather"
CONCAT: Final = "concat"
COPY: Final = "copy"
LAYOUT: Final = "layout change"
VIEW: Final = "view"
CONTROL: Final = "control"
DATA_DEPENDENT: Final = "data-dependent"
BATCH_NORMALIZATION: Final = "batch normalization"
LOCAL_NORMALIZATION: Final = "local response normalization"
RMS_NORMALIZATION: Final = "RMS normalization"
FILL: Final = "fill"

_NAMES: Final = {
    CONVOLUTION: "convolution quant_convolution conv",
    TRANSPOSED: "convolution_backwards deconvolution",
    PRODUCT: "dot quant_dot gemm quant_gemm",
    ATTENTION: "attention group_query_attention",
    NORMALIZATION: "layernorm groupnorm instance_norm",
    BATCH_NORMALIZATION: "batch_norm_inference batch_norm",
    LOCAL_NORMALIZATION: "lrn",
    RMS_NORMALIZATION: "rmsnorm",
    SOFTMAX: "softmax logsoftmax",
    POOLING: "pooling",
    REDUCTION: "reduce_mean reduce_sum reduce_max reduce_min reduce_prod reduce_any reduce_all "
    "argmax argmin prefix_scan_sum",
    ELEMENTWISE: "abs acos acosh add asin asinh atan atanh bias bitwise_and ceil clip cos cosh "
    "dequantizelinear div elu equal erf exp floor fmod gelu greater hardsigmoid hardswish isinf "
    "isnan leaky_relu less log log2 logical_and logical_or logical_xor max min mod mul nearbyint "
    "neg not or pow prelu quantizelinear recip relu round rsqrt sigmoid sign silu sin sinh sqdiff "
    "sqrt sub tan tanh unary_not where xor",
    CAST: "convert",
    GATHER: "gather gathernd scatter_none scatter_add scatternd_none",
    CONCAT: "concat",
    COPY: "copy pad reverse roll tile copy_to_gpu copy_from_gpu hip_copy copy_to copy_from",
    LAYOUT: "contiguous layout shape_transform channelwise_conv_layout",
    VIEW: "as_shape bit_cast broadcast broadcast_with_dims flatten get_tuple_elem identity load "
    "multibroadcast reinterpret reshape reshape_copy reshape_lazy scalar slice squeeze step "
    "transpose unsqueeze unpack_int4 unpack_fp4",
    CONTROL: "allocate hip_allocate_memory allocate_memory hip_copy_literal hip_sync_stream "
    "sync_stream record_event wait_event set_stream undefined preallocate if loop run_on_target",
    DATA_DEPENDENT: "topk nonmaxsuppression nonzero multinomial unique random_uniform random_seed",
    FILL: "fill dimensions_of",
}
_KIND_OF: Final = {name: kind for kind, names in _NAMES.items() for name in names.split()}
_WORDS: Final = "|".join(sorted(map(re.escape, _KIND_OF), key=len, reverse=True))
_TOKEN: Final = re.compile(rf"(?<![a-z0-9])(?:(tri)?({_WORDS}))(?![a-z0-9])")
# Parts of names that say how a kernel works, not what it computes.
_NOISE: Final = re.compile(r"(?<![a-z0-9])(?:mlir|ck|kernel|fused|split|main|op|hip|\d+)(?![a-z])")
_LETTER: Final = re.compile(r"[a-z]")
_PREFIX: Final = re.compile(r"(?:gpu|cpu|ref|dnnl|hip|miopen|rocblas)::")
_CONTROL: Final = re.compile(r"@.*|check_context::.*|hip::(?!copy|hip_copy$).*")
"""Instructions that compute nothing. Of the instructions `hip::...`, all but the copies."""


class Contents(NamedTuple):
    """What a kernel or instruction computes."""

    kinds: Counter[str]
    """How many operators of each kind there are. `work/` defines the kinds."""
    is_complete: bool = True
    """Whether every part of the name is known."""

    def only(self, *allowed: str) -> bool:
        """Return whether the whole name is known, and all operators are of the `allowed` kinds."""
        return self.is_complete and all(kind in allowed for kind in self.kinds)


def contents_of(name: str) -> Contents:
    """Return what a kernel, or an instruction such as `gpu::add_relu`, computes."""
    if _CONTROL.fullmatch(name):
        return Contents(Counter((CONTROL,)))
    text = _PREFIX.sub("", name).rpartition("::")[2].lower()
    kinds: Counter[str] = Counter()
    for three, word in _TOKEN.findall(text):
        kinds[_KIND_OF[word]] += 2 if three else 1  # `triadd` adds three tensors
    rest = _NOISE.sub("", _TOKEN.sub("", text))
    return Contents(kinds, bool(kinds) and not _LETTER.search(rest))

"""Translates types, precisions and devices of OpenVINO."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from profile_analyze.model.executions import Track
from profile_analyze.model.terms import CPU, DEVICE, GPU
from profile_analyze.work.convolutions import CONVOLUTION, TRANSPOSED

if TYPE_CHECKING:
    from collections.abc import Iterable

    from profile_analyze.model.terms import DeviceKind

RESOLUTION_S: Final = 1e-6
"""Times are whole microseconds."""


def _each(kind: str, types: str) -> dict[str, str]:
    return dict.fromkeys(types.split(), kind)


_KINDS: Final = {
    **_each(CONVOLUTION, "convolution groupconvolution"),
    **_each(TRANSPOSED, "deconvolution convolutionbackpropdata groupconvolutionbackpropdata"),
    "deformableconvolution": "deformable convolution",
    **_each("matmul", "matmul fullyconnected gemm"),
    "einsum": "einsum",
    **_each("LSTM", "lstmcell lstmsequence"),
    **_each("GRU", "grucell grusequence"),
    **_each("RNN", "rnncell rnnseq rnnsequence"),
    **_each(
        "attention",
        "mha pagedattention pagedattentionextension scaleddotproductattention "
        "scaleddotproductattentionwithkvcache sdpa",
    ),
    **_each(
        "pooling",
        "adaptiveavgpool adaptivemaxpool adaptivepooling avgpool maxpool pooling",
    ),
    **_each("region pooling", "psroipooling roialign roialignrotated roipooling"),
    **_each("softmax", "logsoftmax softmax"),
    **_each("layer normalization", "groupnormalization mvn"),
    **_each("RMS normalization", "normalize normalizel2 rms rmsnorm"),
    "batchnorminference": "batch normalization",
    "lrn": "local response normalization",
    **_each(
        "elementwise",
        "abs acos acosh add asin asinh atan atanh bitwiseand bitwisenot bitwiseor bitwisexor "
        "ceiling cos cosh divide eltwise equal erf exp floor floormod greater greaterequal "
        "isfinite isinf isnan less lessequal log logicaland logicalnot logicalor logicalxor math "
        "maximum minimum mod multiply negative notequal power round select sign sin sinh sqrt "
        "squareddifference subtract tan",
    ),
    **_each(
        "activation",
        "activation clamp elu gelu hardsigmoid hsigmoid hswish leakyrelu mish prelu relu selu "
        "sigmoid softplus softsign swish tanh",
    ),
    "rope": "rotary embedding",
    **_each("quantize", "fakequantize quantize"),
    **_each(
        "reduction",
        "cumsum reduce reducel1 reducel2 reducelogicaland reducelogicalor reducemax reducemean "
        "reducemin reduceprod reducesum",
    ),
    **_each("cast", "convert convertlike"),
    **_each(
        "layout change",
        "batchtospace depthtospace permute reorder reorgyolo shufflechannels spacetobatch "
        "spacetodepth transpose",
    ),
    **_each("concat", "concat concatenation"),
    **_each("slice", "crop slice split stridedslice variadicsplit"),
    **_each(
        "copy",
        "broadcast onehot pad reversesequence roll scatterelementsupdate scatterndupdate "
        "scatterupdate tile",
    ),
    **_each("gather", "gather gatherelements gathernd gathertree"),
    **_each("resize", "gridsample interpolate resample"),
    **_each("fill", "eye randomuniform range"),
    **_each("view", "reshape squeeze unsqueeze"),
    **_each(
        "control",
        "assign const constant if input loop memoryinput memoryoutput output parameter "
        "readvalue result shapeof tensoriterator",
    ),
    **_each("data-dependent", "multiclassnms matrixnms nonmaxsuppression nonzero topk unique"),
}
"""Maps types, in lower case, to kinds of operator (`work.kinds`). For some kinds, the plugins for
CPU and GPU have types of their own."""

CONSTANTS: Final = frozenset(("const", "constant"))
INPUTS: Final = frozenset(("input", "parameter"))
RESULTS: Final = frozenset(("output", "result"))
_RANDOM_OR_STATE: Final = (
    *("inverse", "multinomial", "randomuniform"),
    *("assign", "memoryinput", "memoryoutput", "readvalue"),
)
NEVER_CONSTANT: Final = RESULTS | {*_RANDOM_OR_STATE}
"""The types that every inference executes, even if they depend only on constants."""
FUSED_TYPE: Final = "subgraph"
"""The type of a layer that fuses several operators, for example the parts of an attention."""

DTYPES: Final = {
    "f64": "fp64",
    "f32": "fp32",
    "f16": "fp16",
    "bf16": "bf16",
    **{name: name for name in ("fp64", "fp32", "fp16")},
    **dict.fromkeys(("f8e4m3", "f8e5m2", "f8e8m0"), "fp8"),
    **dict.fromkeys(("f4e2m1", "nf4"), "fp4"),
    **{f"i{bits}": f"int{bits}" for bits in (64, 32, 16, 8, 4, 2)},
    **{f"u{bits}": f"uint{bits}" for bits in (64, 32, 16, 8, 4, 2)},
    **dict.fromkeys(("bool", "boolean"), "bool"),
}
"""The canonical names (`terms.DTYPES`) of precisions, in lower case."""
_OF_GPU: Final = re.compile(r"__|_gpu_|^ocl|^onednn")
"""Texts that occur only in names of the GPU plugin's kernels."""


def kind_of(type_: str) -> str | None:
    """Return the kind of operator of a type; None if the kind is unknown."""
    return _KINDS.get(type_.lower())


def dtype_of(precision: str) -> str | None:
    """Return the canonical dtype of a precision; None if the precision is unspecified.

    A precision without a canonical dtype is returned as it is.
    """
    if precision.lower() in {"", "unspecified", "undefined", "undef", "dynamic"}:
        return None
    return DTYPES.get(precision.lower(), precision)


def dtype_of_primitive(primitive: str) -> str | None:
    """Return the canonical dtype that a name such as `brgconv_avx512_f32` ends with, or None."""
    return DTYPES.get(primitive.rpartition("_")[2].lower())


def device_track(primitives: Iterable[str]) -> Track:
    """Return the track of the device that ran the `primitives`.

    The kind of device is unknown if no name of a primitive shows it, as on an NPU. It is also
    unknown if layers ran on several kinds of devices.
    """
    kinds = {_device_kind(one) for one in primitives} - {None}
    kind = kinds.pop() if len(kinds) == 1 else None
    device = kind and kind.upper()
    return Track(
        device or "device", DEVICE, device, kind="device", resolution_s=RESOLUTION_S,
        device_kind=kind,
    )  # fmt: skip


def _device_kind(primitive: str) -> DeviceKind | None:
    """Return the kind of device that runs a primitive; None if its name does not show it."""
    if _OF_GPU.search(primitive):
        return GPU
    # Of the other names, only those in the CPU plugin end with a dtype: `brgconv_avx512_f32`.
    return None if dtype_of_primitive(primitive) is None else CPU

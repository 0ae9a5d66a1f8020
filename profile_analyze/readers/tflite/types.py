"""Translates types of nodes: TensorFlow Lite's kernels, delegates, and XNNPACK's operators."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from profile_analyze.model import terms

if TYPE_CHECKING:
    from collections.abc import Mapping

INSIDE: Final = "DelegateOpInvoke"
"""The type of nodes that ran inside of a delegate."""
_INSIDE_NAME: Final = "Delegate/"
"""The prefix of the names of nodes inside of a delegate."""
CALLS_SUBGRAPHS: Final = frozenset(
    ("WHILE", "IF", "CALL", "CALL_ONCE", "STABLEHLO_WHILE", "STABLEHLO_CASE", "STABLEHLO_COMPOSITE")
)
"""The types of nodes that run subgraphs."""

_CATEGORIES: Final[Mapping[str, str]] = {
    terms.CONVOLUTION: "CONV_2D DEPTHWISE_CONV_2D TRANSPOSE_CONV CONV_3D CONV_3D_TRANSPOSE "
    "Convolution Deconvolution",
    terms.MATMUL: "FULLY_CONNECTED BATCH_MATMUL LSTM BIDIRECTIONAL_SEQUENCE_LSTM RNN SVDF "
    "UNIDIRECTIONAL_SEQUENCE_LSTM UNIDIRECTIONAL_SEQUENCE_RNN BIDIRECTIONAL_SEQUENCE_RNN "
    "STABLEHLO_DOT_GENERAL Fully_Connected Batch_Matrix_Multiply Dynamic_Fully_Connected",
    terms.ATTENTION: "odml.scaled_dot_product_attention Scaled_Dot_Product_Attention",
    terms.NORMALIZATION: "L2_NORMALIZATION LOCAL_RESPONSE_NORMALIZATION",
    terms.SOFTMAX: "SOFTMAX LOG_SOFTMAX Softmax",
    terms.POOLING: "AVERAGE_POOL_2D MAX_POOL_2D L2_POOL_2D Average_Pooling Max_Pooling "
    "Global_Average_Pooling ArgMax_Pooling Unpooling",
    terms.ELEMENTWISE: "ADD SUB MUL DIV ADD_N ABS NEG EXP LOG SQRT RSQRT SQUARE POW SIN COS FLOOR "
    "CEIL ROUND RELU RELU6 RELU_N1_TO_1 RELU_0_TO_1 PRELU LEAKY_RELU ELU GELU TANH LOGISTIC "
    "HARD_SWISH MAXIMUM MINIMUM SQUARED_DIFFERENCE FLOOR_DIV FLOOR_MOD SELECT SELECT_V2 WHERE "
    "EQUAL NOT_EQUAL LESS LESS_EQUAL GREATER GREATER_EQUAL LOGICAL_AND LOGICAL_OR LOGICAL_NOT "
    "QUANTIZE DEQUANTIZE CAST FAKE_QUANT SIGN Add Subtract Multiply Divide Abs Negate Square "
    "Square_Root Reciprocal_Square_Root Squared_Difference Maximum Minimum Clamp Sigmoid Tanh "
    "HardSwish Leaky_ReLU PReLU ELU Exp GELU Convert Floor Ceiling Bankers_Rounding Truncation "
    "Unary_Elementwise Binary_Elementwise RoPE",
    terms.REDUCTION: "MEAN SUM REDUCE_MAX REDUCE_MIN REDUCE_PROD REDUCE_ANY REDUCE_ALL ARG_MAX "
    "ARG_MIN CUMSUM TOPK_V2 SEGMENT_SUM Mean Sum",
    terms.EMBEDDING: "EMBEDDING_LOOKUP EMBEDDING_LOOKUP_SPARSE GATHER GATHER_ND HASHTABLE_LOOKUP",
    terms.DATA_MOVEMENT: "CONCATENATION RESHAPE TRANSPOSE SLICE STRIDED_SLICE SPLIT SPLIT_V PACK "
    "UNPACK PAD PADV2 MIRROR_PAD SQUEEZE EXPAND_DIMS TILE BROADCAST_TO FILL SPACE_TO_DEPTH "
    "DEPTH_TO_SPACE SPACE_TO_BATCH_ND BATCH_TO_SPACE_ND RESIZE_BILINEAR RESIZE_NEAREST_NEIGHBOR "
    "REVERSE_V2 REVERSE_SEQUENCE SCATTER_ND ONE_HOT RANGE DYNAMIC_UPDATE_SLICE ROLL "
    "Concatenate Concatenate2 Concatenate3 Concatenate4 Copy Transpose Constant_Pad Slice "
    "Even_Split2 Even_Split3 Even_Split4 Depth_To_Space Space_To_Depth Resize_Bilinear Reshape "
    "Pack_LH",
    terms.CONTROL: "SHAPE RANK ASSIGN_VARIABLE READ_VARIABLE VAR_HANDLE "
    + " ".join(CALLS_SUBGRAPHS),
}
"""The types in each category. In XNNPACK's types, `_` stands for a blank or a hyphen."""
_CATEGORY_OF: Final = {
    type_: category for category, types in _CATEGORIES.items() for type_ in types.split()
}

_DELEGATE: Final = re.compile(r"TfLite(\w+?)Delegate(?:V\d+)?$")
_XNNPACK: Final = re.compile(
    r"(.*?) \((?:N[A-Z0-9]+|(?:N[A-Z0-9]+, ?)?([A-Z]+\d+)(?:, ?[A-Z]+\d+[A-Z]?)*)\)"
)
"""A type of XNNPACK's list `operator-type-defs.h`: a name, and in brackets a layout, dtypes or
both, as in `Convolution (NHWC, QC8) IGEMM`, `Fully Connected (NC, QD8, F32, QC8W) GEMM`,
`Mean (ND)` or `Pack LH (X32)`. The first dtype is that of the input. A `W` follows the dtype of a
weight."""
_DTYPES: Final[Mapping[str, str]] = {
    "F32": "fp32",
    "F16": "fp16",
    "BF16": "bf16",
    "S32": "int32",
    "PF32": "fp32",
    **dict.fromkeys(("QC8", "QS8", "S8", "QD8", "QP8"), "int8"),
    **dict.fromkeys(("QU8", "U8", "QDU8"), "uint8"),
}
"""Canonical names of the dtypes in XNNPACK's types. A quantized dtype counts as an integer."""

_CPU_DELEGATES: Final = frozenset(("XNNPack", "Flex"))
_GPU_DELEGATES: Final = frozenset(("Gpu", "GpuV2", "Metal"))


class Kind(NamedTuple):
    """What the type and the name of a node say about the node."""

    type: str
    category: str
    compute_dtype: str | None = None
    device: str | None = "CPU"
    device_kind: terms.DeviceKind | None = terms.CPU


def kind_of(type_: str, name: str) -> Kind:
    """Return what the type and the name of a node say about the node."""
    if type_ == INSIDE:
        type_ = name.removeprefix(_INSIDE_NAME).rpartition(":")[0] or type_
    if found := _DELEGATE.match(type_):
        device = found[1]
        is_gpu, is_cpu = device in _GPU_DELEGATES, device in _CPU_DELEGATES
        kind: terms.DeviceKind | None = terms.GPU if is_gpu else terms.CPU if is_cpu else None
        return Kind(type_, terms.OTHER, None, device, kind)
    if found := _XNNPACK.match(type_):
        category = _CATEGORY_OF.get(re.sub("[ -]", "_", found[1]), terms.OTHER)
        return Kind(type_, category, _DTYPES.get(found[2] or ""), "XNNPack")
    category = _CATEGORY_OF.get(type_.partition("/")[0], terms.OTHER)
    if name.startswith(_INSIDE_NAME):  # the file does not name the delegate
        return Kind(type_, category, None, None, None)
    return Kind(type_, category)


def is_delegate(type_: str) -> bool:
    """Return whether nodes of this type run a part of the graph in a delegate."""
    return _DELEGATE.match(type_) is not None

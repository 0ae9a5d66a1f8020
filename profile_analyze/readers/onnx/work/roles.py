"""Decides the role of each constant of a model, such as weight, quantization or structure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from profile_analyze.model.terms import QUANTIZATION, SCALAR, STRUCTURE, UNUSED, WEIGHT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from profile_analyze.readers.onnx.graph import Node
    from profile_analyze.work.tensor import Tensor

ORDER: Final = (WEIGHT, QUANTIZATION, SCALAR, STRUCTURE, UNUSED)
"""If the uses of a constant give it several roles, it has the role that comes first here."""

_ALL: Final = tuple(range(16))

_STRUCTURE: Final[Mapping[str, tuple[int, ...]]] = {
    **dict.fromkeys(
        (
            *("Reshape", "Expand", "Squeeze", "Unsqueeze", "Split", "SplitToSequence"),
            *("Gather", "GatherElements", "GatherND", "Scatter", "ScatterElements", "ScatterND"),
            *("TopK", "Trilu", "CumSum", "CumProd", "CenterCropPad", "Compress", "ReverseSequence"),
            *("SequenceAt", "SequenceErase", "AffineGrid", "GatherBlockQuantized", "ExpandDims"),
            *("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1"),
            *("ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceSumSquare", "Upsample"),
        ),
        (1,),
    ),
    **dict.fromkeys(("ConstantOfShape", "Range", "If", "MelWeightMatrix"), _ALL),
    **dict.fromkeys(("HannWindow", "HammingWindow", "BlackmanWindow"), (0,)),
    "OneHot": (0, 1, 2),
    "Where": (0,),
    **dict.fromkeys(
        ("Clip", "Dropout", "DFT", "MaxUnpool", "Col2Im", "TorchEmbedding", "Tile"), (1, 2)
    ),
    "Loop": (0, 1),
    "Slice": (1, 2, 3, 4),
    "Pad": (1, 3),
    "Resize": (1, 2, 3),
    "NonMaxSuppression": (2, 3, 4),
    **dict.fromkeys(
        ("RoiAlign", "TensorScatter", "MatMulFpQ4", "ConvTransposeWithDynamicPads"), (2,)
    ),
    "CropAndResize": (2, 3),
    "EmbedLayerNormalization": (0, 1, 8),
    "GroupQueryAttention": (5, 6),
    "RotaryEmbedding": (3,),
    "com.microsoft.RotaryEmbedding": (1,),
    "SequenceInsert": (2,),
    "STFT": (1, 3),
    "Attention": (3,),
    "MatMulNBits": (4,),
    # The lengths of the sequences, and the states before the first step.
    **dict.fromkeys(("GRU", "RNN"), (4, 5)),
    **dict.fromkeys(("LSTM", "DynamicQuantizeLSTM"), (4, 5, 6)),
}
"""The positions of inputs that are shapes, axes, indices, bounds, masks or initial states.

The key is the type of the operator. If two domains use the same type for different operators, the
key for one of them is the domain and the type.
"""

_QUANTIZATION: Final[Mapping[str, tuple[int, ...]]] = {
    **dict.fromkeys(("QuantizeLinear", "DequantizeLinear"), (1, 2)),
    **dict.fromkeys(
        ("QLinearConv", "QLinearMatMul", "QLinearAdd", "QLinearMul"), (1, 2, 4, 5, 6, 7)
    ),
    **dict.fromkeys(("MatMulInteger", "ConvInteger"), (2, 3)),
    **dict.fromkeys(
        (
            *("QLinearAveragePool", "QLinearGlobalAveragePool", "QLinearLeakyRelu"),
            *("QLinearSigmoid", "QLinearSoftmax", "QLinearReduceMean"),
        ),
        (1, 2, 3, 4),
    ),
    "QGemm": (1, 2, 4, 5, 7, 8),
    **dict.fromkeys(("MatMulNBits", "GatherBlockQuantized"), (2, 3)),
    "MatMulBnb4": (2,),
    # The first inputs are the scale and the zero point of the result. Then each part has three
    # inputs: a tensor, its scale and its zero point.
    "QLinearConcat": tuple(position for position in range(1000) if position % 3 != 2),
    "MatMulIntegerToFloat": (2, 3, 4, 5),
    "DynamicQuantizeMatMul": (2, 3),
    "DynamicQuantizeLSTM": (8, 9, 10, 11),
    "QAttention": (3, 4, 6, 7),
    "QLinearWhere": (2, 3, 5, 6, 7, 8),
    "QOrderedMatMul": (1, 3, 4, 7),
    "QOrderedGelu": (1, 2),
    "QOrderedLayerNormalization": (1, 4),
    "QOrderedAttention": (1, 2, 3, 4, 8, 9, 10, 14, 15, 16),
    "MulInteger": (1, 3),
    "GemmFloat8": (3, 4, 5),
    "QMoE": (3, 6, 9),
}
"""The positions of inputs that are scales or zero points, by the type of the operator."""

_SINGLE_NUMBER_TYPES: Final = frozenset(
    (
        *("Div", "Expand", "Max", "Min", "Mod", "Pow", "Where"),
        *("Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual"),
    )
)
"""The types of operator for which a constant with one element is a scalar, whatever its rank.

Add and Mul are not among them: the bias or the scale of a layer with one channel is a weight.
"""
_COUNTING_DTYPES: Final = ("int64", "bool")
"""A single value of these dtypes is a count, an index or a flag, which training never changes."""


def role_of_use(node: Node, position: int, tensor: Tensor) -> str:
    """Return the role of a constant as the input of `node` at `position`.

    If `node` itself is constant, the caller replaces `WEIGHT` with the role of the node's output.
    """
    if position in _QUANTIZATION.get(node.type, ()):
        return QUANTIZATION
    structure = _STRUCTURE.get(f"{node.domain}.{node.type}", _STRUCTURE.get(node.type, ()))
    if node.is_shape_arithmetic or position in structure:
        return STRUCTURE
    return SCALAR if _is_single_number(node, tensor) else WEIGHT


def _is_single_number(node: Node, tensor: Tensor) -> bool:
    if tensor.shape == ():
        return True
    is_number = node.type in _SINGLE_NUMBER_TYPES or tensor.dtype in _COUNTING_DTYPES
    return tensor.elements == 1 and is_number


def higher(role: str, other: str) -> str:
    """Return the role that comes first in `ORDER`."""
    return min(role, other, key=ORDER.index)

"""Translates the nodes of ONNX models to the kinds of operator that all readers share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from profile_analyze.readers.onnx import simple
from profile_analyze.readers.onnx.call import Call
from profile_analyze.readers.onnx.simple import kind, pooling
from profile_analyze.readers.onnx.work import attentions, products
from profile_analyze.readers.onnx.work.products import convolution, matmul, packed_matmul, recurrent

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from profile_analyze.readers.onnx.graph import Node, Value
    from profile_analyze.work.operation import Operation

    Translation = Callable[[Call], Operation]


def operation_of(node: Node, values: Mapping[str, Value]) -> Operation | None:
    """Return the operation of a node; None if its type of operator is unknown."""
    translation = _translation_of(node)
    return None if translation is None else translation(Call(node, values))


def is_known(node: Node) -> bool:
    """Return whether `operation_of` knows the type of a node."""
    return _translation_of(node) is not None


def _translation_of(node: Node) -> Translation | None:
    domain = "" if node.domain == "ai.onnx" else node.domain
    return _OPERATORS.get(domain, {}).get(node.type)


def known_operators(domain: str) -> frozenset[str]:
    """Return the types of operator in a domain that can be translated."""
    return frozenset(_OPERATORS.get(domain, {}))


def _each(translation: Translation, names: str) -> dict[str, Translation]:
    return dict.fromkeys(names.split(), translation)


_MULTIPLYING: Final = {
    "Conv": convolution(0, 1, 2),
    "ConvInteger": convolution(0, 1, -1),
    "QLinearConv": convolution(0, 3, 8),
    "ConvTranspose": convolution(0, 1, 2, kind="transposed convolution"),
    "DeformConv": convolution(0, 1, 3, 2, 4, kind="deformable convolution"),
    "CausalConvWithState": products.causal_convolution,
    "MatMul": matmul(0, 1),
    "MatMulInteger": matmul(0, 1, -1),
    "QLinearMatMul": matmul(0, 3, -1),
    "Gemm": matmul(0, 1, 2),
    "Einsum": products.einsum,
    "LSTM": recurrent("LSTM", 7),
    "GRU": recurrent("GRU"),
    "RNN": recurrent("RNN"),
    "Attention": attentions.attention,
    "LinearAttention": attentions.linear_attention,
}

_PER_ELEMENT: Final = {
    **_each(
        kind("elementwise"),
        "Abs Acos Acosh Add And Asin Asinh Atan Atanh Bernoulli BitShift BitwiseAnd BitwiseNot "
        "BitwiseOr BitwiseXor BlackmanWindow Ceil Clip Cos Cosh Div Equal Erf Exp Floor Greater "
        "GreaterOrEqual HammingWindow HannWindow IsInf IsNaN Less LessOrEqual Log Mod Mul Neg Not "
        "Or Pow Reciprocal Round Sign Sin Sinh Sqrt Sub Tan Where Xor",
    ),
    **_each(simple.of_all_inputs(), "Max Min Sum"),
    "Mean": simple.of_all_inputs(1),
    "AffineGrid": simple.affine_grid,
    **_each(
        kind("activation"),
        "Celu Elu Gelu HardSigmoid HardSwish LeakyRelu Mish PRelu Relu Selu Shrink Sigmoid "
        "Softplus Softsign Swish Tanh ThresholdedRelu",
    ),
    "SwiGLU": kind("activation", per_element=2),
    "Dropout": simple.dropout,
    "RotaryEmbedding": simple.rotary,
    "QuantizeLinear": kind("quantize"),
    "DynamicQuantizeLinear": kind("dynamic quantize"),
    "DequantizeLinear": kind("dequantize"),
    "BatchNormalization": simple.batch_normalization,
    **_each(
        kind("layer normalization", 0, 1, 2),
        "GroupNormalization InstanceNormalization LayerNormalization",
    ),
    "MeanVarianceNormalization": kind("layer normalization", 0),
    **_each(kind("RMS normalization"), "LpNormalization RMSNormalization"),
    "LRN": simple.window_normalization,
    **_each(kind("softmax"), "LogSoftmax Softmax"),
    **_each(
        kind("reduction"),
        "ArgMax ArgMin Col2Im CumProd CumSum Hardmax ReduceLogSum ReduceMax ReduceMean ReduceMin "
        "ReduceProd ReduceSum",
    ),
    **_each(kind("reduction", per_element=2), "ReduceL1 ReduceL2 ReduceLogSumExp ReduceSumSquare"),
    **_each(pooling(), "AveragePool MaxPool"),
    "LpPool": pooling(2),
    **_each(kind("pooling", is_global=True), "GlobalAveragePool GlobalMaxPool"),
    "GlobalLpPool": kind("pooling", is_global=True, per_element=2),
    **_each(kind("region pooling"), "MaxRoiPool RoiAlign"),
    **_each(simple.resize, "Resize Upsample"),
    "GridSample": simple.grid_sample,
    "NegativeLogLikelihoodLoss": kind("loss", per_element=0),
    "SoftmaxCrossEntropyLoss": kind("loss", per_element=5),
}

_MOVING: Final = {
    **_each(kind("cast"), "Cast CastLike"),
    "Gather": simple.gather,
    **_each(kind("gather"), "Compress GatherElements GatherND"),
    **_each(kind("slice"), "CenterCropPad Slice Split SplitToSequence"),
    **_each(kind("concat"), "Concat ConcatFromSequence"),
    **_each(
        kind("copy"),
        "Expand MaxUnpool OneHot Pad ReverseSequence Scatter ScatterElements ScatterND "
        "TensorScatter Tile Trilu",
    ),
    **_each(kind("layout change"), "DepthToSpace SpaceToDepth Transpose"),
    **_each(
        kind("fill"),
        "ConstantOfShape EyeLike RandomNormal RandomNormalLike RandomUniform RandomUniformLike "
        "Range",
    ),
    **_each(
        kind("view"),
        "BitCast Flatten Identity Optional OptionalGetElement Reshape Squeeze Unsqueeze",
    ),
    **_each(
        kind("control"),
        "Constant If Loop OptionalHasElement Scan SequenceAt SequenceConstruct SequenceEmpty "
        "SequenceErase SequenceInsert SequenceLength SequenceMap Shape Size",
    ),
    **_each(
        kind("data-dependent"),
        "ImageDecoder Multinomial NonMaxSuppression NonZero RegexFullMatch StringConcat "
        "StringNormalizer StringSplit TfIdfVectorizer TopK Unique",
    ),
    **_each(kind("other"), "DFT Det MelWeightMatrix STFT"),
}

_MICROSOFT: Final = {
    "FusedConv": convolution(0, 1, 2, added=3),
    "NhwcConv": convolution(0, 1, 2, channels_last=True),
    "NhwcFusedConv": convolution(0, 1, 2, added=3, channels_last=True),
    "QLinearConv": convolution(0, 3, 8),
    "ConvTransposeWithDynamicPads": products.padded_at_run_time,
    "CausalConvWithState": products.causal_convolution,
    **_each(matmul(0, 1), "FusedMatMul FusedMatMulActivation MatMulInteger16 TransposeMatMul"),
    **_each(matmul(0, 1, 2), "FusedGemm GemmFloat8"),
    "GemmFastGelu": products.gemm_and_activation,
    "QGemm": matmul(0, 3, 6),
    "QOrderedMatMul": matmul(0, 2, 5),
    "DynamicQuantizeMatMul": matmul(0, 1, 4),
    "MatMulIntegerToFloat": matmul(0, 1, 6),
    "MatMulBlockQuantizedFp8Weight": matmul(0, 1, 4),
    "MatMulBlockQuantizedFp4Weight": matmul(0, 1, 5),
    "MatMulFpQ4": matmul(0, 1, -1),
    "MatMulNBits": packed_matmul(0, 1, 5),
    "MatMulBnb4": packed_matmul(0, 1, -1),
    "DynamicQuantizeLSTM": products.quantized_lstm,
    "Attention": attentions.projected_attention,
    "QAttention": attentions.quantized_attention,
    "MultiHeadAttention": attentions.multi_head_attention,
    "GroupQueryAttention": attentions.grouped_query_attention,
    "LinearAttention": attentions.linear_attention,
    **_each(kind("elementwise"), "MulInteger QLinearAdd QLinearMul QLinearWhere"),
    "BiasAdd": kind("elementwise", per_element=2),
    **_each(kind("elementwise", per_element=3), "ComplexMul ComplexMulConj"),
    **_each(
        kind("activation"), "Gelu QLinearLeakyRelu QLinearSigmoid QOrderedGelu QuickGelu"
    ),
    **_each(simple.with_bias, "BiasGelu FastGelu"),
    "BiasSplitGelu": kind("activation", per_element=4),
    "RotaryEmbedding": simple.rotary,
    "QuantizeLinear": kind("quantize"),
    "DequantizeLinear": kind("dequantize"),
    "SkipLayerNormalization": kind("layer normalization", 0, 2, 3, 1, 4),
    "SkipSimplifiedLayerNormalization": kind("RMS normalization", 0, 2, -1, 1, 3),
    "EmbedLayerNormalization": simple.embedding_normalization,
    "GroupNorm": kind("layer normalization", 0, 1, 2),
    "QOrderedLayerNormalization": kind("layer normalization", 0, 2, 3, -1, -1),
    "BiasSoftmax": kind("softmax", per_element=6),
    "QLinearSoftmax": kind("softmax"),
    **_each(kind("reduction"), "QLinearReduceMean ReduceSumInteger"),
    **_each(pooling(), "MaxpoolWithMask NhwcMaxPool QLinearAveragePool"),
    "QLinearGlobalAveragePool": kind("pooling", is_global=True),
    "CropAndResize": kind("region pooling"),
    "GridSample": simple.grid_sample,
    "TorchEmbedding": simple.embedding_by_indices,
    "GatherND": kind("gather"),
    "QLinearConcat": kind("concat", 2),
    **_each(kind("copy"), "Pad RemovePadding RestorePadding Trilu UnfoldTensor"),
    "ExpandDims": kind("view"),
    "Range": kind("fill"),
    "Unique": kind("data-dependent"),
}  # fmt: skip

_OTHERS_OF_MICROSOFT: Final = _each(
    kind("other"),
    "AttnLSTM BeamSearch BiasDropout BitmaskBiasDropout BitmaskDropout CDist DecoderAttention "
    "DecoderMaskedMultiHeadAttention DecoderMaskedSelfAttention GatherBlockQuantized "
    "GemmaRotaryEmbedding GreedySearch Inverse Irfft LongformerAttention MatMulNBitsMlp "
    "MatMulNBitsQkv MoE PackedAttention PackedMultiHeadAttention PagedAttention QMoE "
    "QOrderedAttention Rfft Sampling SkipGroupNorm SparseAttention SparseToDenseMatMul "
    "WhisperBeamSearch",
)

_LEARNING: Final = {
    "ArrayFeatureExtractor": kind("gather"),
    **_each(kind("elementwise"), "Binarizer Imputer"),
    "Scaler": kind("elementwise", per_element=2),
    **_each(
        kind("data-dependent"),
        "CastMap CategoryMapper DictVectorizer FeatureVectorizer LabelEncoder OneHotEncoder "
        "TreeEnsemble TreeEnsembleClassifier TreeEnsembleRegressor ZipMap",
    ),
    **_each(
        kind("other"), "LinearClassifier LinearRegressor Normalizer SVMClassifier SVMRegressor"
    ),
}

_TRAINING: Final = {
    "Adam": simple.optimizer(14, 3),
    "Adagrad": simple.optimizer(9, 2),
    "Momentum": simple.optimizer(7, 2),
    "Gradient": kind("other"),
}

_OPERATORS: Final[Mapping[str, Mapping[str, Translation]]] = {
    "": {**_MULTIPLYING, **_PER_ELEMENT, **_MOVING},
    "ai.onnx.ml": _LEARNING,
    "ai.onnx.preview": {"FlexAttention": attentions.flexible_attention},
    "ai.onnx.preview.training": _TRAINING,
    "com.microsoft": {**_MICROSOFT, **_OTHERS_OF_MICROSOFT},
}

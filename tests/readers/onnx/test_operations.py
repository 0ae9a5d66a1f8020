"""The work of each operator of ONNX: products, windows, attention, biases and bytes."""

from __future__ import annotations

from math import nan
from typing import TYPE_CHECKING, Any

import onnx
import pytest

from profile_analyze.readers.onnx.graph import Node, Value
from profile_analyze.readers.onnx.work.operations import known_operators, operation_of
from profile_analyze.work.convolutions import conv_kind, macs_without_padding
from profile_analyze.work.kinds import KINDS, bias_elements, work_of
from profile_analyze.work.tensor import Tensor

if TYPE_CHECKING:
    from profile_analyze.work.operation import Operation

Shape = tuple[int | None, ...] | None


def translated(
    type_: str,
    inputs: list[Shape | str],
    outputs: list[Shape],
    attributes: dict[str, Any] | None = None,
    domain: str = "",
) -> Operation:
    """Return the operation of a node. An input `""` is an omitted optional input."""
    names = [name if isinstance(name, str) else f"i{i}" for i, name in enumerate(inputs)]
    values = {
        name: Value(name, shape, "fp32")
        for name, shape in zip(names, inputs, strict=True)
        if not isinstance(shape, str)
    }
    for i, shape in enumerate(outputs):
        values[f"o{i}"] = Value(f"o{i}", shape, "fp32")
    results = tuple(f"o{i}" for i in range(len(outputs)))
    node = Node("node", type_, domain, tuple(names), results, attributes or {})
    operation = operation_of(node, values)
    assert operation is not None
    return operation


@pytest.mark.parametrize("domain", ["", "ai.onnx.ml", "ai.onnx.preview.training"])
def test_every_operator_of_onnx_is_known(domain: str) -> None:
    schemas = {one.name for one in onnx.defs.get_all_schemas() if one.domain == domain}
    assert schemas - known_operators(domain) == set()


@pytest.mark.parametrize(
    "domain", ["", "ai.onnx.ml", "ai.onnx.preview", "ai.onnx.preview.training", "com.microsoft"]
)
def test_every_translation_survives_unknown_and_wrong_shapes(domain: str) -> None:
    for type_ in sorted(known_operators(domain)):
        for shape in (None, (), (None,) * 4, (0,) * 3, (2,), (2,) * 5):
            for inputs, outputs in [(0, 1), (9, 1), (9, 3), (2, 0)]:
                shapes: list[Shape] = [shape] * outputs
                attributes: dict[str, Any] = {
                    "num_heads": 0,
                    "qkv_hidden_sizes": [1],
                    "strides": [0, 0, 0],
                }
                if outputs == 3:
                    attributes["auto_pad"] = "SAME_UPPER"
                operation = translated(type_, [shape] * inputs, shapes, attributes, domain)
                assert operation.kind in KINDS
                work_of(operation)
                conv_kind(operation)
                macs_without_padding(operation)


def test_unknown_operators_have_no_operation() -> None:
    assert operation_of(Node("n", "Mine", "", (), (), {}), {}) is None
    assert operation_of(Node("n", "Conv", "com.mine", (), (), {}), {}) is None


def test_the_domain_of_onnx_may_be_spelled_out() -> None:
    assert translated("Relu", [(2,)], [(2,)], domain="ai.onnx").kind == "activation"


@pytest.mark.parametrize(
    ("type_", "domain", "inputs", "outputs", "attributes", "kind", "macs"),
    [
        ("ConvInteger", "", [(1, 3, 8), (4, 3, 3), (), ()], [(1, 4, 6)], {}, "convolution", 216),
        (
            *("QLinearConv", ""),
            [(1, 3, 8), (), (), (4, 3, 3), (4,), (4,), (), (), (4,)],
            *([(1, 4, 6)], {}, "convolution", 216),
        ),
        (
            *("QLinearConv", "com.microsoft"),
            [(1, 8, 3), (), (), (4, 3, 3), (4,), (4,), (), ()],
            *([(1, 6, 4)], {"channels_last": 1}, "convolution", 216),
        ),
        (
            *("NhwcConv", "com.microsoft", [(1, 8, 3), (4, 3, 3)]),
            *([(1, 6, 4)], {}, "convolution", 216),
        ),
        (
            *("ConvTranspose", "", [(1, 4, 6), (4, 3, 3)], [(1, 3, 8)]),
            *({}, "transposed convolution", 216),
        ),
        (
            *("DeformConv", "", [(1, 3, 8, 8), (4, 3, 3, 3), (1, 18, 6, 6)], [(1, 4, 6, 6)]),
            *({}, "deformable convolution", 3888),
        ),
        (
            *("CausalConvWithState", "", [(1, 6, 8), (6, 1, 4), (6,), (1, 6, 3)]),
            *([(1, 6, 8), (1, 6, 3)], {}, "convolution", 192),
        ),
        ("MatMul", "", [(2, 1, 4, 5), (3, 5, 6)], [(2, 3, 4, 6)], {}, "matmul", 720),
        ("MatMulInteger", "", [(4, 5), (5, 6), (), ()], [(4, 6)], {}, "matmul", 120),
        (
            *("QLinearMatMul", "", [(4, 5), (), (), (5, 6), (), (), (), ()], [(4, 6)]),
            *({}, "matmul", 120),
        ),
        ("Gemm", "", [(5, 4), (6, 5), (6,)], [(4, 6)], {"transA": 1, "transB": 1}, "matmul", 120),
        (
            *("QGemm", "com.microsoft", [(5, 4), (), (), (5, 6), (), ()]),
            *([(4, 6)], {"transA": 1}, "matmul", 120),
        ),
        (
            *("FusedMatMul", "com.microsoft", [(5, 2, 4), (2, 5, 6)], [(2, 4, 6)]),
            *({"transA": 1, "transBatchA": 1}, "matmul", 240),
        ),
        (
            *("MatMulNBits", "com.microsoft", [(2, 4, 64), (6, 2, 16), (12,)], [None]),
            *({"K": 64, "N": 6, "bits": 4}, "matmul", 3072),
        ),
        (
            *("MatMulBnb4", "com.microsoft", [(4, 6), (192,), (6,)], [None]),
            *({"K": 64, "N": 6, "transB": 0}, "matmul", 1536),
        ),
        (
            "DynamicQuantizeMatMul",
            "com.microsoft",
            [(4, 5), (5, 6), ()],
            [(4, 6)],
            {},
            "matmul",
            120,
        ),
        ("MatMulInteger16", "com.microsoft", [(4, 5), (5, 6)], [(4, 6)], {}, "matmul", 120),
        (
            *("Einsum", "", [(2, 3), (3, 4)], [(2, 4)], {"equation": "ij, jk -> ik"}),
            *("einsum", 24),
        ),
        (
            *("LSTM", "", [(5, 2, 3), (1, 16, 3), (1, 16, 4), (1, 32), "", "", "", (1, 12)]),
            *([(5, 1, 2, 4)], {}, "LSTM", 1120),
        ),
        ("GRU", "", [(5, 2, 3), (2, 12, 3), (2, 12, 4)], [None], {}, "GRU", 1680),
        ("RNN", "", [(5, 2, 3), (1, 4, 3), (1, 4, 4), "", (2,)], [None], {}, "RNN", 280),
        (
            *("DynamicQuantizeLSTM", "com.microsoft", [(5, 2, 3), (1, 3, 16), (1, 4, 16)]),
            *([(5, 1, 2, 4)], {}, "LSTM", 1120),
        ),
    ],
)
def test_products_have_their_kind_and_multiply_adds(
    type_: str,
    domain: str,
    inputs: list[Shape | str],
    outputs: list[Shape],
    attributes: dict[str, Any],
    kind: str,
    macs: float,
) -> None:
    operation = translated(type_, inputs, outputs, attributes, domain)
    assert (operation.kind, work_of(operation).macs) == (kind, macs)


@pytest.mark.parametrize(
    ("type_", "domain", "inputs", "position"),
    [
        ("Conv", "", [(1, 3, 8), (4, 3, 3), (4,)], 2),
        ("FusedConv", "com.microsoft", [(1, 3, 8), (4, 3, 3), "", (1, 4, 6)], None),
        ("ConvInteger", "", [(1, 3, 8), (4, 3, 3), (), ()], None),
        ("ConvTransposeWithDynamicPads", "com.microsoft", [(1, 3, 8), (3, 4, 3), (2,), (4,)], 3),
        ("DeformConv", "", [(1, 3, 8), (4, 3, 3), (1, 3, 6), (4,)], 3),
        ("MatMul", "", [(6, 2), (2, 4)], None),
        ("MatMulInteger", "", [(6, 2), (2, 4), (), ()], None),
        ("QLinearMatMul", "", [(6, 2), (), (), (2, 4), (), (), (), ()], None),
        ("Gemm", "", [(6, 2), (2, 4), (4,)], 2),
        ("DynamicQuantizeMatMul", "com.microsoft", [(6, 2), (2, 4), (), (), (4,)], 4),
        ("MatMulNBits", "com.microsoft", [(6, 2), (9,), (9,), "", "", (4,)], 5),
    ],
)
def test_only_the_input_at_this_position_is_a_bias(
    type_: str, domain: str, inputs: list[Shape | str], position: int | None
) -> None:
    operation = translated(type_, inputs, [(1, 4, 6)], {"N": 4}, domain)
    assert bias_elements(operation) == (0 if position is None else 24)
    if position is not None:
        inputs[position] = ""
        without = translated(type_, inputs, [(1, 4, 6)], {"N": 4}, domain)
        assert bias_elements(without) == 0


@pytest.mark.parametrize(
    ("attributes", "before", "kind", "without_padding"),
    [
        ({}, (0, 0), "full", 432),
        ({"pads": [1, 0, 0, 0]}, (1, 0), "full", 360),
        ({"auto_pad": "VALID"}, (0, 0), "full", 432),
        ({"strides": [2, 2], "group": 1}, (0, 0), "full", 432),
        ({"dilations": [2]}, (0, 0), "full", nan),
    ],
)
def test_padding_and_kind_of_a_convolution_follow_from_its_attributes(
    attributes: dict[str, Any], before: tuple[int, int], kind: str, without_padding: float
) -> None:
    operation = translated("Conv", [(1, 3, 6, 6), (4, 3, 3, 3)], [(1, 4, 2, 2)], attributes)
    assert operation.attributes["padding_before"] == before
    assert conv_kind(operation) == kind
    assert macs_without_padding(operation) == pytest.approx(without_padding, nan_ok=True)


@pytest.mark.parametrize(
    ("type_", "attributes", "sides", "before"),
    [
        # At a stride of 2, three windows of 3 values span 7 values. The input has 5 values, so 1
        # value is padded on each side.
        ("Conv", {"auto_pad": "SAME_UPPER", "strides": [2]}, (5, 3, 3), (1,)),
        ("Conv", {"auto_pad": "SAME_UPPER", "strides": [2]}, (6, 3, 3), (0,)),
        ("Conv", {"auto_pad": "SAME_LOWER", "strides": [2]}, (6, 3, 3), (1,)),
        ("Conv", {"auto_pad": "SAME_LOWER", "dilations": [2]}, (6, 3, 6), (2,)),
        ("Conv", {"auto_pad": "SAME_LOWER"}, (None, 3, 6), None),
        ("ConvTranspose", {"auto_pad": "SAME_UPPER", "strides": [2]}, (3, 3, 6), (0,)),
        ("ConvTranspose", {"auto_pad": "SAME_LOWER", "strides": [2]}, (3, 3, 6), (1,)),
        ("ConvTranspose", {"output_shape": [5], "strides": [2]}, (3, 3, 5), (1,)),
    ],
)
def test_automatic_padding_follows_from_shapes(
    type_: str,
    attributes: dict[str, Any],
    sides: tuple[int | None, int, int],
    before: tuple[int] | None,
) -> None:
    data, kernel, result = sides
    operation = translated(type_, [(1, 4, data), (4, 4, kernel)], [(1, 4, result)], attributes)
    assert operation.attributes["padding_before"] == before


@pytest.mark.parametrize(
    ("type_", "domain", "inputs", "outputs", "attributes", "macs", "scores"),
    [
        # 2 * 4 heads * 6 queries * 6 keys * (8 + 8)
        ("Attention", "", [(2, 4, 6, 8)] * 3, [None], {}, 4608, 288),
        (
            *("Attention", "", [(2, 6, 32), (2, 9, 16), (2, 9, 20)], [None]),
            *({"q_num_heads": 4, "kv_num_heads": 2}, 7776, 432),
        ),
        (
            *("Attention", "", [(2, 4, 1, 8)] * 3 + ["", (2, 4, 5, 8), (2, 4, 5, 8)], [None]),
            *({"is_causal": 1}, 768, 48),
        ),
        (
            *("MultiHeadAttention", "com.microsoft", [(2, 6, 32), (2, 9, 32), (2, 9, 20)]),
            *([None], {"num_heads": 4}, 5616, 432),
        ),
        (
            *("MultiHeadAttention", "com.microsoft", [(2, 6, 4, 3, 8)], [None]),
            *({"num_heads": 4}, 4608, 288),
        ),
        (
            *("MultiHeadAttention", "com.microsoft", [(2, 6, 32), (2, 9, 4, 2, 8)], [None]),
            *({"num_heads": 4}, 6912, 432),
        ),
        (
            *("MultiHeadAttention", "com.microsoft"),
            [(2, 6, 32), (2, 4, 9, 8), (2, 4, 9, 8)],
            *([None], {"num_heads": 4}, 6912, 432),
        ),
        (
            *("MultiHeadAttention", "com.microsoft"),
            [*[(2, 1, 32)] * 3, "", "", "", (2, 4, 5, 8), (2, 4, 5, 8)],
            *([None], {"num_heads": 4}, 768, 48),
        ),
        (
            *("GroupQueryAttention", "com.microsoft"),
            [(2, 1, 32), (2, 1, 16), (2, 1, 16), (2, 2, 5, 8), (2, 2, 5, 8)],
            *([None], {"num_heads": 4, "kv_num_heads": 2}, 768, 48),
        ),
        (
            *("GroupQueryAttention", "com.microsoft"),
            [(2, 1, 64), "", "", (2, 2, 5, 8), (2, 2, 5, 8)],
            [(2, 1, 32), (2, 2, 6, 8), (2, 2, 6, 8)],
            *({"num_heads": 4, "kv_num_heads": 2}, 768, 48),
        ),
        # The past is a buffer of 9 keys, which the present shares.
        (
            *("GroupQueryAttention", "com.microsoft"),
            [(2, 1, 32), (2, 1, 16), (2, 1, 16), (2, 2, 9, 8), (2, 2, 9, 8)],
            [(2, 1, 32), (2, 2, 9, 8), (2, 2, 9, 8)],
            *({"num_heads": 4, "kv_num_heads": 2}, 1152, 72),
        ),
        # In addition, the projection of the inputs: 2 * 6 tokens * 32 inputs * 96 outputs
        (
            *("Attention", "com.microsoft", [(2, 6, 32), (32, 96), (96,)], [None]),
            *({"num_heads": 4}, 4608 + 36_864, 288),
        ),
        (
            *("Attention", "com.microsoft", [(2, 6, 32), (32, 80)], [None]),
            *({"num_heads": 4, "qkv_hidden_sizes": [32, 32, 16]}, 3456 + 30_720, 288),
        ),
        (
            *("QAttention", "com.microsoft"),
            [(2, 6, 32), (32, 96), (96,), (), (), "", (), (), (2, 2, 4, 3, 8)],
            *([None], {"num_heads": 4}, 6912 + 36_864, 432),
        ),
    ],
)
def test_attentions_have_multiply_adds_and_operations(
    type_: str,
    domain: str,
    inputs: list[Shape | str],
    outputs: list[Shape],
    attributes: dict[str, Any],
    macs: float,
    scores: float,
) -> None:
    operation = translated(type_, list(inputs), outputs, attributes, domain)
    assert operation.kind == "attention"
    assert work_of(operation)[:2] == (macs, 2 * macs + 6 * scores)


def test_the_work_of_linear_attentions_depends_on_the_update_rule() -> None:
    shapes: list[Shape | str] = [(2, 5, 12), (2, 5, 6), (2, 5, 8)]
    heads = {"q_num_heads": 4, "kv_num_heads": 2}
    plain = translated("LinearAttention", shapes, [(2, 5, 16)], {**heads, "update_rule": "linear"})
    macs = 2 * 5 * 3 * 4 * (4 + 2)
    assert work_of(plain)[:2] == (macs, 2 * macs + 160)
    delta = translated("LinearAttention", shapes, [(2, 5, 16)], heads)
    macs = 2 * 5 * 3 * 4 * (4 + 2 * 2)
    assert work_of(delta)[:2] == (macs, 2 * macs + 160 + 2 * 5 * 3 * 4 * 2)


@pytest.mark.parametrize(
    ("type_", "domain", "inputs", "outputs", "attributes", "kind", "computation"),
    [
        ("Sum", "", [(4,)] * 3, [(4,)], {}, "elementwise", 8),
        ("Mean", "", [(4,)] * 3, [(4,)], {}, "elementwise", 12),
        ("SwiGLU", "", [(4,), (4,)], [(4,)], {}, "activation", 8),
        ("FastGelu", "com.microsoft", [(4,)], [(4,)], {}, "activation", 4),
        ("FastGelu", "com.microsoft", [(4,), (4,)], [(4,)], {}, "activation", 8),
        ("QLinearAdd", "com.microsoft", [(4,)] * 8, [(4,)], {}, "elementwise", 4),
        ("RotaryEmbedding", "", [(1, 2, 3, 8)], [(1, 2, 3, 8)], {}, "rotary embedding", 144),
        (
            *("RotaryEmbedding", "", [(1, 3, 16)], [(1, 3, 16)]),
            *({"rotary_embedding_dim": 4, "num_heads": 2}, "rotary embedding", 72),
        ),
        ("Gather", "", [(9, 4), (3,)], [(3, 4)], {}, "gather", 0),
        ("Dropout", "", [(4,)], [(4,)], {}, "view", 0),
        ("Dropout", "", [(4,), (), ()], [(4,)], {}, "elementwise", nan),
        ("BatchNormalization", "", [(1, 4)], [(1, 4)], {}, "batch normalization", 8),
        (
            *("BatchNormalization", "", [(1, 4)], [(1, 4)]),
            *({"training_mode": 1}, "batch normalization", 28),
        ),
        ("LRN", "", [(1, 4)], [(1, 4)], {"size": 3}, "local response normalization", 32),
        (
            *("SkipLayerNormalization", "com.microsoft", [(2, 4), (2, 4), (4,), (4,), (4,)]),
            *([(2, 4)], {}, "layer normalization", 72),
        ),
        (
            *("SkipSimplifiedLayerNormalization", "com.microsoft", [(2, 4), (2, 4), (4,)]),
            *([(2, 4)], {}, "RMS normalization", 40),
        ),
        (
            *("EmbedLayerNormalization", "com.microsoft"),
            [(1, 3), (1, 3), (99, 4), (9, 4), (2, 4), (4,), (4,)],
            *([(1, 3, 4)], {}, "embedding normalization", 108),
        ),
        (
            *("QOrderedLayerNormalization", "com.microsoft", [(2, 4), (), (4,), (4,), ()]),
            *([(2, 4)], {}, "layer normalization", 56),
        ),
        ("MaxPool", "", [(1, 1, 4)], [(1, 1, 2)], {"kernel_shape": [3]}, "pooling", 6),
        ("LpPool", "", [(1, 1, 4)], [(1, 1, 2)], {"kernel_shape": [3]}, "pooling", 12),
        ("GlobalAveragePool", "", [(1, 2, 4)], [(1, 2, 1)], {}, "pooling", 8),
        ("Resize", "", [(1, 2, 4)], [(1, 2, 8)], {}, "resize", 0),
        ("Resize", "", [(1, 2, 4)], [(1, 2, 8)], {"mode": "linear"}, "resize", 64),
        ("Resize", "", [(1, 2, 4)], [(1, 2, 8)], {"mode": "cubic"}, "resize", 128),
        (
            *("Resize", "", [(1, 2, 4)], [(1, 2, 8)], {"mode": "linear", "antialias": 1}),
            *("resize", nan),
        ),
        ("GridSample", "", [(1, 2, 4, 4), (1, 3, 3, 2)], [(1, 2, 3, 3)], {}, "resize", 144),
        (
            *("GridSample", "", [(1, 2, 4, 4), (1, 3, 3, 2)], [(1, 2, 3, 3)]),
            *({"mode": "nearest"}, "resize", 0),
        ),
        ("GridSample", "", [None, (1, 3, 3, 2)], [(1, 2, 3, 3)], {}, "resize", nan),
        ("AffineGrid", "", [(1, 2, 3), (4,)], [(1, 5, 5, 2)], {}, "elementwise", 200),
        ("SoftmaxCrossEntropyLoss", "", [(3, 9), (3,)], [()], {}, "loss", 138),
        (
            *("Adam", "ai.onnx.preview.training", [(), (), *[(5,)] * 4], [(5,)] * 3),
            *({}, "optimizer step", 70),
        ),
        ("Shape", "", [(3, 9)], [(2,)], {}, "control", 0),
        ("TopK", "", [(3, 9), (1,)], [(3, 2), (3, 2)], {}, "data-dependent", nan),
        (
            *("GemmFastGelu", "com.microsoft", [(4, 5), (5, 6), (6,)], [(4, 6)]),
            *({}, "matmul", 264),
        ),
        (
            *("FusedConv", "com.microsoft", [(1, 3, 8), (4, 3, 3), (4,), (1, 4, 6)]),
            *([(1, 4, 6)], {"activation": "Relu"}, "convolution", 480),
        ),
        ("STFT", "", [(1, 64)], [None], {}, "other", nan),
        ("LinearClassifier", "ai.onnx.ml", [(1, 64)], [None], {}, "other", nan),
    ],
)
def test_other_operators_have_their_kind_and_computation(
    type_: str,
    domain: str,
    inputs: list[Shape | str],
    outputs: list[Shape],
    attributes: dict[str, Any],
    kind: str,
    computation: float,
) -> None:
    operation = translated(type_, list(inputs), outputs, attributes, domain)
    assert operation.kind == kind
    assert work_of(operation).computation == pytest.approx(computation, nan_ok=True)


def test_rows_of_a_constant_table_are_an_embedding() -> None:
    values = {
        "table": Value("table", (9, 4), "fp32", is_constant=True),
        "ids": Value("ids", (3,), "int64"),
        "rows": Value("rows", (3, 4), "fp32"),
    }
    node = Node("n", "Gather", "", ("table", "ids"), ("rows",), {})
    operation = operation_of(node, values)
    assert operation is not None
    assert (operation.kind, work_of(operation)) == ("embedding", (0, 0, 48 + 48 + 24))
    columns = operation_of(node._replace(attributes={"axis": 1}), values)
    assert columns is not None
    assert columns.kind == "gather"


def test_bytes_include_each_input_and_output_once() -> None:
    inputs: list[Shape | str] = [(1, 3, 8), (), (), (4, 3, 3), (4,), (4,), (), (), (4,)]
    operation = translated("QLinearConv", inputs, [(1, 4, 6)])
    assert operation.inputs[:3] == tuple(Tensor(s, "fp32") for s in [(1, 3, 8), (4, 3, 3), (4,)])
    assert work_of(operation).memory == 4 * (24 + 1 + 1 + 36 + 4 + 4 + 1 + 1 + 4 + 24)


def test_a_tensor_that_is_an_input_twice_is_read_once() -> None:
    values = {name: Value(name, (8,), "fp32") for name in ("x", "bias", "y")}
    for inputs, memory in [(("x", "x"), 64), (("x", "bias"), 96), (("x", "bias", "x"), 96)]:
        operation = operation_of(Node("n", "Sum", "", inputs, ("y",), {}), values)
        assert operation is not None
        assert work_of(operation).memory == memory
        assert operation.inputs[-1] is not None  # the repeated tensor is still an input


def test_fused_and_unfused_attention_have_the_same_multiply_adds() -> None:
    fused = translated(
        "Attention", [(2, 6, 32), (32, 96)], [None], {"num_heads": 4}, "com.microsoft"
    )
    unfused = [
        translated("MatMul", [(2, 6, 32), (32, 96)], [(2, 6, 96)]),
        translated("MatMul", [(2, 4, 6, 8), (2, 4, 8, 6)], [(2, 4, 6, 6)]),
        translated("MatMul", [(2, 4, 6, 6), (2, 4, 6, 8)], [(2, 4, 6, 8)]),
    ]
    assert work_of(fused).macs == sum(work_of(one).macs for one in unfused) == 41_472


@pytest.mark.parametrize(
    ("type_", "domain", "mask"),
    [
        ("Attention", "", 3),
        ("MultiHeadAttention", "com.microsoft", 4),
        ("MultiHeadAttention", "com.microsoft", 5),
        ("GroupQueryAttention", "com.microsoft", 10),
        ("Attention", "com.microsoft", 3),
        ("Attention", "com.microsoft", 5),
        ("QAttention", "com.microsoft", 5),
    ],
)
def test_a_mask_adds_one_operation_for_each_score(type_: str, domain: str, mask: int) -> None:
    shapes: list[Shape | str] = [(2, 6, 32), (32, 96)] if "Q" in type_ or domain else []
    if type_ in {"MultiHeadAttention", "GroupQueryAttention"} or not domain:
        shapes = [(2, 6, 32)] * 3
    heads = dict.fromkeys(("num_heads", "kv_num_heads", "q_num_heads"), 4)
    present = (2, 4, 6, 8)
    inputs = [*shapes, *[""] * (mask - len(shapes)), (2, 6)]
    found = [
        work_of(translated(type_, one, [None, present, present], heads, domain))
        for one in (shapes, inputs)
    ]
    assert found[1].computation - found[0].computation == 2 * 4 * 6 * 6
    assert found[0].macs == found[1].macs


def test_the_bias_of_a_projection_is_added_to_each_query_key_and_value() -> None:
    inputs: list[Shape | str] = [(2, 6, 32), (32, 96), (96,)]
    heads = {"num_heads": 4}
    operation = translated("Attention", inputs, [None], heads, "com.microsoft")
    assert bias_elements(operation) == 2 * 6 * 96
    without = translated("Attention", inputs[:2], [None], heads, "com.microsoft")
    assert bias_elements(without) == 0


def test_the_keys_of_shared_buffers_are_unknown() -> None:
    shapes: list[Shape | str] = [(2, 1, 32)] * 3 + [""] * 3 + [(2, 4, 9, 8)] * 2 + [()]
    operation = translated("MultiHeadAttention", shapes, [None], {"num_heads": 4}, "com.microsoft")
    assert work_of(operation).macs == pytest.approx(nan, nan_ok=True)
    packed: list[Shape | str] = [(2, 1, 64), "", "", (2, 2, 5, 8), (2, 2, 5, 8)]
    heads = {"num_heads": 4, "kv_num_heads": 2}
    grouped = translated("GroupQueryAttention", packed, [None], heads, "com.microsoft")
    assert work_of(grouped).macs == pytest.approx(nan, nan_ok=True)


@pytest.mark.parametrize(
    ("type_", "attributes"), [("NhwcConv", {}), ("QLinearConv", {"channels_last": 1})]
)
def test_convolutions_may_have_their_channels_last(type_: str, attributes: dict[str, Any]) -> None:
    weight = (4, 1, 3, 3)
    inputs: list[Shape | str] = [(1, 6, 6, 4), weight]
    if type_ == "QLinearConv":
        inputs = [(1, 6, 6, 4), (), (), weight, (), (), (), ()]
    attributes = {**attributes, "group": 4, "pads": [1, 0, 1, 0]}
    operation = translated(type_, inputs, [(1, 6, 4, 4)], attributes, "com.microsoft")
    assert conv_kind(operation) == "depthwise"
    assert work_of(operation).macs == 6 * 4 * 4 * 9
    assert macs_without_padding(operation) == (3 * 6 - 2) * 4 * 4 * 3

"""The roles of constants, by the operator that uses them."""

from __future__ import annotations

import re
from typing import Final

import pytest
from onnx import defs

from profile_analyze.readers.onnx.graph import Node
from profile_analyze.readers.onnx.work.operations import is_known
from profile_analyze.readers.onnx.work.roles import role_of_use
from profile_analyze.work.tensor import Tensor

_ROLES = {"w": "weight", "q": "quantization", "s": "structure"}


@pytest.mark.parametrize(
    ("domain", "type_", "roles"),
    [
        ("", "Col2Im", "wss"),
        ("", "CumSum", "ws"),
        ("", "CumProd", "ws"),
        ("", "TensorScatter", "wws"),
        ("", "RotaryEmbedding", "wwws"),
        ("", "Where", "sww"),
        ("", "OneHot", "sss"),
        ("", "LSTM", "wwwwsssw"),
        ("", "GRU", "wwwwss"),
        ("", "Attention", "wwwsww"),
        ("com.microsoft", "RotaryEmbedding", "wsww"),
        ("com.microsoft", "MatMulNBits", "wwqqsw"),
        ("com.microsoft", "MatMulBnb4", "wwq"),
        ("com.microsoft", "GatherBlockQuantized", "wsqq"),
        ("com.microsoft", "QLinearConcat", "qqwqqwqqwqq"),
        ("com.microsoft", "DynamicQuantizeLSTM", "wwwwssswqqqq"),
        ("com.microsoft", "QLinearWhere", "wwqqwqqqq"),
        ("com.microsoft", "QOrderedMatMul", "wqwqqwwq"),
        ("com.microsoft", "QMoE", "wwwqwwqwwqw"),
        ("com.microsoft", "EmbedLayerNormalization", "sswwwwwws"),
    ],
)
def test_scales_and_indices_are_no_weights(domain: str, type_: str, roles: str) -> None:
    node = Node("n", type_, domain, (), (), {})
    found = [role_of_use(node, position, Tensor((4,))) for position in range(len(roles))]
    assert found == [_ROLES[role] for role in roles]


@pytest.mark.parametrize(
    ("type_", "tensor", "role"),
    [
        ("Add", Tensor((), "fp32"), "scalar"),
        ("Add", Tensor((1,), "fp32"), "weight"),  # the bias of a layer with one channel
        ("Add", Tensor((1,), "int64"), "scalar"),
        ("Div", Tensor((1, 1), "fp32"), "scalar"),
        ("Div", Tensor((4,), "fp32"), "weight"),
        ("Div", Tensor((None,), "fp32"), "weight"),
    ],
)
def test_single_numbers_are_no_weights(type_: str, tensor: Tensor, role: str) -> None:
    assert role_of_use(Node("n", type_, "", (), (), {}), 1, tensor) == role


_NO_WEIGHT: Final = re.compile(
    r".*(scale|zero_?point|ind(ex|ices)|ax[ei]s|shape|length|lens|pads|repeats|threshold|size).*"
    r"|starts|ends|steps|split|depth|k|m(in|ax)|M|cond|sizes",
    re.IGNORECASE,
)
"""Names that ONNX operators have for inputs that are scales, zero points, indices or shapes."""
_WEIGHTS: Final = {
    # The scale of a normalization is trained, so it is a weight.
    *((f"{kind}Normalization", "scale") for kind in ("RMS", "Group", "Instance", "Batch")),
    ("LayerNormalization", "Scale"),
    ("Attention", "K"),  # the keys, not a number of elements as in TopK
    # In version 8, `sequence_lens` is at position 0, where later versions have a state.
    ("Scan", "sequence_lens"),
}


def test_no_input_that_is_called_a_scale_or_an_index_is_a_weight() -> None:
    found = set()
    for schema in defs.get_all_schemas_with_history():
        node = Node("n", schema.name, "", (), (), {})
        if schema.domain or not is_known(node):
            continue
        for position, one in enumerate(schema.inputs):
            is_weight = role_of_use(node, position, Tensor((4,))) == "weight"
            if is_weight and _NO_WEIGHT.fullmatch(one.name):
                found.add((schema.name, one.name))
    assert found == _WEIGHTS

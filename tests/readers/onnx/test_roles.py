"""The roles of constants, by the operator that uses them."""

from __future__ import annotations

import pytest

from profile_analyze.readers.onnx.graph import Node
from profile_analyze.readers.onnx.roles import role_of_use

_ROLES = {"w": "weight", "q": "quantization", "s": "structure"}


@pytest.mark.parametrize(
    ("domain", "type_", "roles"),
    [
        ("", "Col2Im", "wss"),
        ("", "CumSum", "ws"),
        ("", "CumProd", "ws"),
        ("", "TensorScatter", "wws"),
        ("", "RotaryEmbedding", "wwws"),
        ("com.microsoft", "RotaryEmbedding", "wsww"),
        ("com.microsoft", "MatMulNBits", "wwqqsw"),
        ("com.microsoft", "MatMulBnb4", "wwq"),
        ("com.microsoft", "GatherBlockQuantized", "wsqq"),
        ("com.microsoft", "QLinearConcat", "qqwqqwqqwqq"),
        ("com.microsoft", "DynamicQuantizeLSTM", "wwwwswwwqqqq"),
    ],
)
def test_scales_and_indices_are_no_weights(domain: str, type_: str, roles: str) -> None:
    node = Node("n", type_, domain, (), (), {})
    found = [role_of_use(node, position, (4,)) for position in range(len(roles))]
    assert found == [_ROLES[role] for role in roles]

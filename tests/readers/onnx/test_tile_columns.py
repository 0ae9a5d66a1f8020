"""The columns on tiles, for fused, quantized and packed products."""

from __future__ import annotations

import numpy as np
import pytest

import profile_analyze as pa
from profile_analyze.model.terms import TILE_AMOUNTS
from profile_analyze.readers.input.source import Source
from profile_analyze.readers.loading import read_profile
from tests.readers.onnx.models import model

HEAD = '<ir_version: 8, opset_import: ["" : 18, "com.microsoft" : 1]>\n'
INPUTS = (
    "float[2, 6, 8] x, float[8, 12] w, float[12, 8] wt, uint8[12, 8] a, uint8[8, 12] b, "
    "float s, uint8 z, uint8[12, 1, 4] packed, float[12, 1] scales"
)


def tiles_of(node: str, dtype: str, shape: str) -> list[float]:
    """Return the number of tiles, their multiply-adds, and the three columns on memory."""
    proto = model(f"g ({INPUTS}) => ({dtype}[{shape}] y) {{ y = {node} }}", HEAD)
    source = Source.of_bytes("m.onnx", proto.SerializeToString())
    source.inputs = pa.ModelInputs.of(tile="6,6,4")
    operators = read_profile(source, ()).operators
    return [float(operators.numbers(name)[0]) for name in TILE_AMOUNTS]


# Each product is 12 x 8 times 8 x 12, in tiles of 6 x 6 x 4: 2 tiles along each of M, N and K.
MACS = 8 * 6 * 6 * 4


@pytest.mark.parametrize(
    ("node", "dtype", "shape", "sizes"),
    [
        # sizes: the bytes per element of A, B, the result and the partial sums
        ("Gemm <transA = 1, transB = 1> (w, wt)", "float", "12, 12", (4, 4, 4, 4)),
        ("com.microsoft.FusedMatMul <transB = 1> (x, wt)", "float", "2, 6, 12", (4, 4, 4, 4)),
        ("QLinearMatMul (a, s, z, b, s, z, s, z)", "uint8", "12, 12", (1, 1, 1, 4)),
        ("MatMulInteger (a, b, z, z)", "int32", "12, 12", (1, 1, 4, 4)),
        ("com.microsoft.DynamicQuantizeMatMul (x, b, s, z)", "float", "2, 6, 12", (4, 1, 4, 4)),
        ("com.microsoft.MatMulIntegerToFloat (a, b, s, s)", "float", "12, 12", (1, 1, 4, 4)),
        (
            "com.microsoft.MatMulNBits <K = 8, N = 12, bits = 4, block_size = 16> "
            "(x, packed, scales)",
            "float",
            "2, 6, 12",
            (4, 0.5, 4, 4),
        ),
    ],
)
def test_all_kinds_of_products_have_tiles(
    node: str, dtype: str, shape: str, sizes: tuple[float, float, float, float]
) -> None:
    a, b, result, partial = sizes
    # The first of two steps along K writes partial sums. The last reads them and writes the result.
    of_result = 144 * (result + 2 * partial)
    # With two tiles along M and N, A and B are read twice. All tiles are full: no padding is added.
    assert tiles_of(node, dtype, shape) == [
        *(8, MACS, 96 * a + 96 * b + 144 * result),
        192 * a + 192 * b + of_result,
        8 * 4 * 6 * (a + b) + of_result,
    ]


@pytest.mark.parametrize(
    "node", ["Einsum <equation = 'bij,jk->bik'> (x, w)", "Relu (x)", "Gemm (x, w)"]
)
def test_other_operators_have_no_tiles(node: str) -> None:
    text = f"""g ({INPUTS}) => (float[12, 12] y, float o) {{
        o = {node.replace("'", '"')}
        y = MatMul (wt, w)
    }}"""
    source = Source.of_bytes("m.onnx", model(text, HEAD).SerializeToString())
    source.inputs = pa.ModelInputs.of(tile="6,6,4")
    operators = read_profile(source, ()).operators
    assert np.isnan(operators.numbers("tiles")[0])
    assert operators.numbers("tiles")[1] == 8

"""Fused and quantized products, split into tiles: results and costs, on random inputs."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import helper

from tests.conftest import examples
from tests.readers.onnx.models import model
from tests.writers.split import (
    MICROSOFT,
    costs_of,
    model_of,
    run,
    split,
    split_and_compare,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Arrays = dict[str, NDArray[Any]]

size = st.integers(1, 6)
sizes = st.tuples(size, size, size)
step = st.integers(1, 5)
tiles = st.tuples(step, step, step)
flag = st.booleans()
leading_sizes = st.lists(st.integers(1, 3), max_size=1)


def numbers(*shape: int) -> NDArray[np.float32]:
    return np.random.default_rng(len(shape)).standard_normal(shape).astype(np.float32)


class Case(NamedTuple):
    proto: Any
    arrays: Arrays
    products: int
    """How many products each node computes."""


@st.composite
def fused(draw: st.DrawFn) -> Case:
    m, n, k = draw(sizes)
    transposed_a, transposed_b = draw(flag), draw(flag)
    batch = draw(leading_sizes)
    # If B is a single matrix, the rows of a transposed A with leading sizes are not split.
    leading_b = batch if transposed_a or draw(flag) else []
    arrays: Arrays = {
        "a": numbers(*batch, k, m) if transposed_a else numbers(*batch, m, k),
        "b": numbers(*leading_b, n, k) if transposed_b else numbers(*leading_b, k, n),
    }
    node = helper.make_node(
        draw(st.sampled_from(["FusedMatMul", "TransposeMatMul"])),
        ["a", "b"],
        ["y"],
        name="layer",
        domain=MICROSOFT,
        transA=int(transposed_a),
        transB=int(transposed_b),
        alpha=draw(st.sampled_from([1.0, 0.5])),
    )
    proto = model_of([node], arrays, opset=draw(st.sampled_from([9, 13, 18])))
    return Case(proto, arrays, prod(batch) if leading_b else 1)


@examples(100)
@given(fused(), tiles)
def test_fused_products_are_split(case: Case, tile: tuple[int, int, int]) -> None:
    text = ",".join(map(str, tile))
    written = split_and_compare(case.proto, case.arrays, text)
    tiles = [node for node in written.graph.node if node.domain == MICROSOFT]
    assert case.products * len(tiles) == costs_of(case.proto, text).tiles


def check_tiles(written: Any, expected: float) -> None:
    """Check the number of tiles, each a MatMulInteger. A product that fits stays unchanged."""
    tiles = [node for node in written.graph.node if node.op_type == "MatMulInteger"]
    assert (len(tiles) or 1) == expected


def quantized(
    product: tuple[int, int, int], leading: list[int], signs: str, *, by_column: bool
) -> Arrays:
    """Return A and B with their scales and zero points. `signs` has their dtypes: `u` or `s`."""
    m, n, k = product
    rng = np.random.default_rng(m + n + k)
    a_dtype, b_dtype = (np.uint8 if sign == "u" else np.int8 for sign in signs[:2])
    columns = (n,) if by_column else ()
    return {
        "a": rng.integers(0, 256, (*leading, m, k)).astype(a_dtype),
        "a_scale": np.array(0.037, np.float32),
        "a_zero": np.array(5, a_dtype),
        "b": rng.integers(0, 256, (k, n)).astype(b_dtype),
        "b_scale": np.asarray(rng.uniform(0.01, 0.1, columns), np.float32),
        "b_zero": np.asarray(rng.integers(0, 9, columns), b_dtype),
        "y_scale": np.array(3.1, np.float32),
        "y_zero": np.array(17, np.uint8 if signs[-1] == "u" else np.int8),
    }


@examples(100)
@given(
    sizes,
    tiles,
    leading_sizes,
    st.sampled_from(["uuu", "uss", "usu", "sss"]),
    st.sampled_from(["by column", "at once"]),
    st.sampled_from([11, 13, 18]),
)
def test_quantized_results_are_the_same_to_the_bit(
    product: tuple[int, int, int],
    tile: tuple[int, int, int],
    leading: list[int],
    signs: str,
    scaled: str,
    opset: int,
) -> None:
    arrays = quantized(product, leading, signs, by_column=scaled == "by column")
    node = helper.make_node("QLinearMatMul", [*arrays], ["y"], name="layer")
    proto = model_of([node], arrays, opset=opset)
    text = ",".join(map(str, tile))
    written = split_and_compare(proto, arrays, text)
    check_tiles(written, costs_of(proto, text).tiles)


def test_ties_are_rounded_as_before() -> None:
    """Most results lie halfway between two integers. Some exceed the range of the dtype."""
    rows = [[1, 0], [1, 2], [2, 3], [250, 249], [255, 255]]
    for zero in (0, 1, 200):
        arrays: Arrays = {
            "a": np.array(rows, np.uint8),
            "a_scale": np.array(1, np.float32),
            "a_zero": np.array(0, np.uint8),
            "b": np.array([[1], [1]], np.uint8),
            "b_scale": np.array(0.5, np.float32),
            "b_zero": np.array(0, np.uint8),
            "y_scale": np.array(1, np.float32),
            "y_zero": np.array(zero, np.uint8),
        }
        proto = model_of([helper.make_node("QLinearMatMul", [*arrays], ["y"])], arrays)
        split_and_compare(proto, arrays, "5,1,1")


@examples(100)
@given(
    sizes,
    tiles,
    leading_sizes,
    st.sampled_from(["by column", "at once"]),
    st.sampled_from(["MatMulIntegerToFloat", "DynamicQuantizeMatMul"]),
    st.integers(0, 3),
)
def test_quantized_products_with_results_of_fp32_are_split(
    product: tuple[int, int, int],
    tile: tuple[int, int, int],
    leading: list[int],
    scaled: str,
    type_: str,
    further: int,
) -> None:
    """Zero points and the bias are optional; `further` says how many of them there are."""
    arrays = quantized(product, leading, "us", by_column=scaled == "by column")
    arrays["bias"] = numbers(product[1])
    if type_ == "DynamicQuantizeMatMul":
        arrays["a"] = numbers(*leading, product[0], product[2])
        names = ["a", "b", "b_scale", *("b_zero", "bias")[:further]]
    else:
        names = ["a", "b", "a_scale", "b_scale", *("a_zero", "b_zero", "bias")[:further]]
    node = helper.make_node(type_, names, ["y"], name="layer", domain=MICROSOFT)
    arrays = {name: arrays[name] for name in names}
    proto = model_of([node], arrays)
    text = ",".join(map(str, tile))
    written = split_and_compare(proto, arrays, text)
    check_tiles(written, costs_of(proto, text).tiles)


SMALL = "uint8[2, 8] a, uint8[8, 3] b, float s, uint8 z, float[2] by_row, float[2, 8] x"


def test_the_nodes_of_a_split_quantized_product() -> None:
    text = f"g ({SMALL}) => (uint8[2, 3] y) {{ [fc] y = QLinearMatMul (a, s, z, b, s, z, s, z) }}"
    written = onnx.load_from_string(split(model(text), "2,3,4").data)
    assert [(node.op_type, [*node.input], [*node.output]) for node in written.graph.node] == [
        ("Constant", [], ["fc/a_0_sizes"]),
        ("Split", ["a", "fc/a_0_sizes"], ["fc/a_0_0", "fc/a_0_1"]),
        ("Constant", [], ["fc/b_sizes"]),
        ("Split", ["b", "fc/b_sizes"], ["fc/b_0", "fc/b_1"]),
        ("MatMulInteger", ["fc/a_0_0", "fc/b_0", "z", "z"], ["fc/product_0_0_0"]),
        ("MatMulInteger", ["fc/a_0_1", "fc/b_1", "z", "z"], ["fc/product_0_0_1"]),
        ("Add", ["fc/product_0_0_0", "fc/product_0_0_1"], ["fc/sum_0_0_1"]),
        ("Mul", ["s", "s"], ["fc/scale"]),
        ("Div", ["fc/scale", "s"], ["fc/scale_of_result"]),
        ("Cast", ["fc/sum_0_0_1"], ["fc/result_fp64"]),
        ("Cast", ["fc/scale_of_result"], ["fc/scale_fp64"]),
        ("Cast", ["z"], ["fc/zero_point_fp64"]),
        ("Mul", ["fc/result_fp64", "fc/scale_fp64"], ["fc/scaled"]),
        ("Add", ["fc/scaled", "fc/zero_point_fp64"], ["fc/shifted"]),
        ("Round", ["fc/shifted"], ["fc/rounded"]),
        ("Constant", [], ["fc/lowest"]),
        ("Max", ["fc/rounded", "fc/lowest"], ["fc/not_too_low"]),
        ("Constant", [], ["fc/highest"]),
        ("Min", ["fc/not_too_low", "fc/highest"], ["fc/not_too_high"]),
        ("Cast", ["fc/not_too_high"], ["y"]),
    ]


@pytest.mark.parametrize(
    ("node", "result", "opset"),
    [
        ("QLinearMatMul (a, by_row, z, b, s, z, s, z)", "uint8[2, 3]", 18),
        ("QLinearMatMul (a, s, z, b, s, z, by_row, z)", "uint8[2, 3]", 18),
        ("QLinearMatMul (a, s, z, b, s, z, s, z)", "uint8[2, 3]", 10),
        ("com.microsoft.DynamicQuantizeMatMul (x, b)", "float[2, 3]", 18),  # no scale
        ("com.microsoft.MatMulIntegerToFloat (a, b)", "float[2, 3]", 18),
        ("com.microsoft.FusedMatMul <transBatchA = 1> (t, u)", "float[2, 3, 3]", 18),
        ("com.microsoft.FusedMatMul <transA = 1> (t, x)", "float[3, 8, 8]", 18),
        ('com.microsoft.FusedGemm <activation = "Relu"> (x, v)', "float[2, 3]", 18),
    ],
)
def test_variants_that_cannot_be_split_stay_unchanged(node: str, result: str, opset: int) -> None:
    head = f'<ir_version: 8, opset_import: ["" : {opset}, "com.microsoft" : 1]>\n'
    inputs = f"{SMALL}, float[3, 2, 8] t, float[2, 8, 3] u, float[8, 3] v"
    proto = model(f"g ({inputs}) => ({result} y) {{ [fc] y = {node} }}", head)
    written = split(proto, "1,2,2")
    assert onnx.load_from_string(written.data) == proto


@pytest.mark.parametrize("type_", ["FusedMatMul", "QLinearMatMul", "MatMulIntegerToFloat"])
def test_results_in_onnx_runtime_stay_the_same(type_: str) -> None:
    """ONNX Runtime scales sums in fp32, so a rounded result may differ by one step."""
    runtime = pytest.importorskip("onnxruntime")
    arrays = quantized((6, 7, 9), [2], "usu", by_column=False)
    names = {
        "FusedMatMul": ["x", "w"],
        "QLinearMatMul": list(arrays),
        "MatMulIntegerToFloat": ["a", "b", "a_scale", "b_scale", "a_zero", "b_zero"],
    }[type_]
    arrays |= {"x": numbers(2, 6, 9), "w": numbers(9, 7)}
    arrays = {name: arrays[name] for name in names}
    domain = "" if type_ == "QLinearMatMul" else MICROSOFT
    proto = model_of([helper.make_node(type_, names, ["y"], domain=domain)], arrays)
    written = onnx.load_from_string(split(proto, "4,4,4").data)
    assert len(written.graph.node) > 20
    before, after = (
        runtime.InferenceSession(one.SerializeToString()).run(None, arrays)[0]
        for one in (proto, written)
    )
    tolerance = 1 if type_ == "QLinearMatMul" else 1e-4
    np.testing.assert_allclose(after.astype(float), before.astype(float), rtol=1e-4, atol=tolerance)
    assert run(proto, arrays).dtype == after.dtype

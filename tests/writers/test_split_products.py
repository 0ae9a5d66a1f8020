"""Matrix products, split into tiles: results and costs, on random inputs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
from hypothesis import given
from hypothesis import strategies as st
from onnx import helper

from tests.conftest import examples
from tests.writers.split import costs_of, counts_of, model_of, split, split_and_compare

if TYPE_CHECKING:
    from numpy.typing import NDArray

size = st.integers(1, 6)
step = st.integers(1, 5)
sizes = st.tuples(size, size, size)
tiles = st.tuples(step, step, step)
flag = st.booleans()


def numbers(*shape: int) -> NDArray[np.float32]:
    # Each example has the same numbers: only shapes matter, and a failure can be repeated.
    return np.random.default_rng(len(shape)).standard_normal(shape).astype(np.float32)


def check(proto: Any, arrays: dict[str, NDArray[Any]], tile: tuple[int, int, int]) -> None:
    text = ",".join(map(str, tile))
    written = split_and_compare(proto, arrays, text)
    # Before opset 9, `onnx` cannot infer the result of a Reshape whose shape comes from a Cast.
    if proto.opset_import[0].version >= 9:
        assert counts_of(written, tile) == costs_of(proto, text)


@st.composite
def gemms(draw: st.DrawFn) -> tuple[Any, dict[str, NDArray[Any]]]:
    m, n, k = draw(sizes)
    transposed_a, transposed_b = draw(flag), draw(flag)
    arrays = {
        "a": numbers(k, m) if transposed_a else numbers(m, k),
        "b": numbers(n, k) if transposed_b else numbers(k, n),
    }
    opset = draw(st.sampled_from([7, 9, 11, 13, 18]))
    biases = [(), (1,), (n,), (1, 1), (1, n), (m, 1), (m, n)]
    # The bias is optional from opset 11 on.
    bias = draw(st.sampled_from([*biases, *([None] if opset >= 11 else [])]))
    if bias is not None:
        arrays["c"] = np.asarray(numbers(*bias))
    node = helper.make_node(
        "Gemm",
        [*arrays],
        ["y"],
        name="layer",
        transA=int(transposed_a),
        transB=int(transposed_b),
        alpha=draw(st.sampled_from([1.0, 0.5])),
        beta=draw(st.sampled_from([1.0, 2.0])),
    )
    constants = {*arrays} & draw(st.sampled_from([set(), {"b"}, {"b", "c"}]))
    return model_of([node], arrays, sorted(constants), opset), arrays


@examples(150)
@given(gemms(), tiles)
def test_a_split_gemm_has_the_same_results_and_costs(
    case: tuple[Any, dict[str, NDArray[Any]]], tile: tuple[int, int, int]
) -> None:
    check(*case, tile)


@st.composite
def matmuls(draw: st.DrawFn) -> tuple[Any, dict[str, NDArray[Any]]]:
    m, n, k = draw(sizes)
    batch = draw(st.lists(st.integers(1, 3), max_size=2))

    def leading() -> list[int]:
        """Return leading sizes that can be broadcast to `batch`."""
        kept = draw(st.integers(0, len(batch)))
        return [one if draw(flag) else 1 for one in batch[len(batch) - kept :]]

    vector_a, vector_b = (draw(st.integers(0, 6)) == 0 for _ in range(2))
    arrays = {
        "a": numbers(k) if vector_a else numbers(*leading(), m, k),
        "b": numbers(k) if vector_b else numbers(*leading(), k, n),
    }
    node = helper.make_node("MatMul", ["a", "b"], ["y"])
    opset = draw(st.sampled_from([7, 9, 11, 13, 18]))
    return model_of([node], arrays, draw(st.sampled_from([[], ["b"]])), opset), arrays


@examples(200)
@given(matmuls(), tiles)
def test_a_split_matmul_has_the_same_results_and_costs(
    case: tuple[Any, dict[str, NDArray[Any]]], tile: tuple[int, int, int]
) -> None:
    check(*case, tile)


@examples(80)
@given(
    sizes,
    tiles,
    st.lists(st.integers(1, 3), max_size=1),
    st.sampled_from(["", "a", "ab", "aB", "B"]),
    st.sampled_from([10, 13, 18]),
)
def test_a_split_matmul_of_integers_has_the_same_results(
    product: tuple[int, int, int],
    tile: tuple[int, int, int],
    leading: list[int],
    zero_points: str,
    opset: int,
) -> None:
    """`zero_points`: `a` and `b` are one number for the matrix, `B` one for each column of b."""
    m, n, k = product
    rng = np.random.default_rng(0)
    arrays: dict[str, NDArray[Any]] = {
        "a": rng.integers(0, 256, (*leading, m, k)).astype(np.uint8),
        "b": rng.integers(-128, 128, (k, n)).astype(np.int8),
    }
    inputs = ["a", "b"]
    if zero_points:
        inputs.append("a0" if "a" in zero_points else "")
        arrays |= {"a0": np.array(7, np.uint8)} if "a" in zero_points else {}
    if "b" in zero_points.lower():
        inputs.append("b0")
        arrays["b0"] = np.array(3, np.int8) if "b" in zero_points else np.arange(n, dtype=np.int8)
    proto = model_of([helper.make_node("MatMulInteger", inputs, ["y"])], arrays, opset=opset)
    split_and_compare(proto, arrays, ",".join(map(str, tile)))


def test_a_reshape_of_old_versions_has_its_shape_as_an_attribute() -> None:
    """Only the shapes are checked, because `onnx.reference` cannot run such a Reshape."""
    arrays = {"a": numbers(2, 3, 4), "b": numbers(4, 5)}
    proto = model_of([helper.make_node("MatMul", ["a", "b"], ["y"])], arrays, opset=4)
    written = onnx.load_from_string(split(proto, "4,5,4").data)
    onnx.checker.check_model(written)
    shapes = [[*one.attribute[0].ints] for one in written.graph.node if one.op_type == "Reshape"]
    assert shapes == [[6, 4], [2, 3, 5]]

"""`backward_macs`: which gradients the operators of a model need."""

from __future__ import annotations

from typing import TYPE_CHECKING

from profile_analyze import Query, run
from tests.readers.onnx.graphs import graph, node, profile

if TYPE_CHECKING:
    from profile_analyze.readers.onnx.graph import Node

SHAPES = {
    "x": (4, 4), "w": (4, 4), "bias": (4,), "q": (4, 4), "k": (4, 4), "scores": (4, 4),
    "out": (4, 4),
}  # fmt: skip


def backward(nodes: list[Node]) -> list[tuple[str, float, float]]:
    """Return the name, `macs` and `backward_macs` of each node between `x` and `out`."""
    made = profile(graph(nodes, SHAPES, inputs="x", outputs="out", initializers="w bias"))
    rows = run(Query(order="+id"), made).rows
    return [(row["name"], row["macs"], row["backward_macs"]) for row in rows]


def test_a_product_of_two_activations_has_two_gradients() -> None:
    assert backward(
        [
            node("MatMul", "x w", "q"),
            node("MatMul", "x w", "k"),
            node("MatMul", "q k", "scores"),
            node("MatMul", "scores scores", "out"),
        ]
    ) == [("q", 64, 64), ("k", 64, 64), ("scores", 64, 128), ("out", 64, 128)]


def test_a_factor_that_depends_on_no_weight_has_no_gradient() -> None:
    assert backward(
        [
            node("MatMul", "x w", "q"),
            node("MatMul", "x q", "k"),
            node("MatMul", "x x", "scores"),
            node("Gemm", "x k bias", "out"),
        ]
    ) == [("q", 64, 64), ("k", 64, 64), ("scores", 64, 0), ("out", 64, 64)]


def test_each_factor_of_an_einstein_sum_has_a_gradient() -> None:
    equation = {"equation": "ij,jk,kl->il"}
    assert backward(
        [
            node("Einsum", "x w w", "q", attributes=equation),
            node("Einsum", "q q q", "k", attributes=equation),
            node("Einsum", "x x k", "out", attributes=equation),
        ]
    ) == [("q", 256, 512), ("k", 256, 768), ("out", 256, 256)]

"""`backward_macs`: which gradients the operators of a model need."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from profile_analyze import Query, run
from tests.readers.onnx.graphs import body, graph, node, profile

if TYPE_CHECKING:
    from profile_analyze.readers.onnx.graph import Body, Node

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


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_a_weight_that_nested_branches_return_has_a_gradient(depth: int) -> None:
    """The branches only return the weight: no operator in them uses it."""

    def branches(level: int) -> tuple[Body, ...]:
        return tuple(
            body(side, graph([], {name: (4, 4)}, outputs=name, initializers=name))
            if level == depth
            else body(
                side,
                graph(
                    [node("If", "c", f"{name}out", bodies=branches(level + 1))],
                    {f"{name}out": (4, 4)},
                    outputs=f"{name}out",
                ),
            )
            for side in ("then", "else")
            for name in (f"{side}{level}",)
        )

    nodes = [node("If", "c", "q", bodies=branches(1)), node("MatMul", "q x", "out")]
    shapes = {**SHAPES, "c": ()}
    made = profile(graph(nodes, shapes, inputs="x c", outputs="out", dtypes={"c": "bool"}))
    rows = run(Query(), made).rows
    assert [row["backward_macs"] for row in rows if row["name"] == "out"] == [64]

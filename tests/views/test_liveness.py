"""The memory of activations, by hand and against a slow but simple count."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from profile_analyze.views.liveness import activation_memory
from tests.readers.onnx.graphs import graph, node, profile

if TYPE_CHECKING:
    from profile_analyze.readers.onnx.graph import Graph


def test_the_memory_of_a_small_graph_by_hand() -> None:
    made = profile(
        graph(
            [
                node("Relu", "x", "a"),
                node("Shape", "x", "s", is_shape_arithmetic=True),
                node("Concat", "a a", "b"),
                node("Relu", "b", "c"),
                node("Add", "c w", "d"),
            ],
            {"x": (10,), "a": (10,), "s": (1,), "b": (20,), "c": (20,), "d": (20,), "w": (20,),
             "never": (99,)},
            inputs="x never",
            outputs="d s",
            initializers="w",
            dtypes={"s": "int64"},
        )
    )  # fmt: skip
    memory = activation_memory(made)
    assert memory.total_bytes == 4 * 70 + 8
    assert memory.without_shapes_bytes == 4 * 70
    # at the second Relu: b and c, and the result s, which stays to the end
    assert (memory.peak_bytes, memory.peak_operator) == (80 + 80 + 8, 3)
    assert made.tensors is not None
    assert [made.tensors.key.values()[n] for n in memory.alive] == ["b", "c", "s"]
    assert memory.peak_inputs_kept_bytes == 80 + 80 + 8 + 40


@st.composite
def chains(draw: st.DrawFn) -> Graph:
    """Generate a graph whose nodes read any earlier values, or a constant."""
    shapes = {f"i{n}": (draw(st.integers(0, 9)),) for n in range(draw(st.integers(0, 3)))}
    inputs = [*shapes]
    shapes["w"] = (5,)
    nodes = []
    for n in range(draw(st.integers(1, 8))):
        reads = draw(st.lists(st.sampled_from([*shapes]), max_size=3))
        shapes[f"v{n}"] = (draw(st.integers(0, 9)),)
        nodes.append(node("Sum", " ".join(reads) or "w", f"v{n}"))
    results = draw(st.lists(st.sampled_from([name for name in shapes if name != "w"]), unique=True))
    return graph(
        nodes, shapes, inputs=" ".join(inputs), outputs=" ".join(results), initializers="w"
    )


@given(main=chains())
def test_the_peak_equals_a_slow_count(main: Graph) -> None:
    def peak(*, keep: bool) -> tuple[int, int]:
        found = []
        last = len(main.nodes) - 1
        for step in range(len(main.nodes)):
            alive = 0
            for name, value in main.values.items():
                made = [n for n, one in enumerate(main.nodes) if name in one.outputs]
                read = [n for n, one in enumerate(main.nodes) if name in one.inputs]
                ends = [*made, *read, *([last] if name in main.outputs else [])]
                if name == "w" or not ends:
                    continue
                start = 0 if name in main.inputs else made[0]
                end = last if keep and name in main.inputs else max(ends)
                if start <= step <= end:
                    alive += 4 * prod(value.dims)  # type: ignore[arg-type]
            found.append((alive, step))
        return max(found, key=lambda one: one[0])  # the first step with the peak

    memory = activation_memory(profile(main))
    assert (memory.peak_bytes, memory.peak_operator) == peak(keep=False)
    assert memory.peak_inputs_kept_bytes == peak(keep=True)[0]

"""The columns with the counts of onnx-tool."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from profile_analyze.work.onnx_tool import Call, Counts, counts_of
from profile_analyze.work.tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from profile_analyze.readers.onnx.graph import Graph, Node


def onnx_tool_columns(
    main: Graph, rows: Sequence[tuple[Node, Graph]]
) -> dict[str, NDArray[np.float64]]:
    """Return the optional columns of `rows`: nodes, each with the graph that it is in.

    onnx-tool counts nothing in bodies, so nodes of other graphs than `main` have N/A.
    """
    counts = counts_of(_call(node, main) for node, graph in rows if graph is main)
    of_rows = [next(counts) if graph is main else Counts() for _, graph in rows]
    return {
        f"onnx_tool_{field}": np.array([getattr(one, field) for one in of_rows], np.float64)
        for field in Counts._fields
    }


def _call(node: Node, graph: Graph) -> Call:
    def tensors(names: Sequence[str]) -> tuple[Tensor | None, ...]:
        values = (graph.values[name] if name else None for name in names)
        return tuple(None if one is None else Tensor(one.dims, one.dtype) for one in values)

    return Call(
        node.type,
        tensors(node.inputs),
        tensors(node.outputs),
        node.attributes,
        tuple(name if name and graph.values[name].is_initializer else None for name in node.inputs),
    )

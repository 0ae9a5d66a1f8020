"""Computes the columns whose values are counted by the rules of onnx-tool."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from profile_analyze.work.onnx_tool import Call, Counts, counts_of
from profile_analyze.work.tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from profile_analyze.readers.onnx.graph import Graph, Node
    from profile_analyze.readers.onnx.tables import PlacedNode


def onnx_tool_columns(rows: Sequence[PlacedNode]) -> dict[str, NDArray[np.float64]]:
    """Return the columns `onnx_tool_*` for `rows`.

    onnx-tool counts nothing in bodies, so nodes in bodies are N/A.
    """
    counts = counts_of(_call(one.node, one.graph) for one in rows if not one.scope)
    of_rows = [Counts() if one.scope else next(counts) for one in rows]
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

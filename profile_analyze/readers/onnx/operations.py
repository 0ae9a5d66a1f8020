"""Translates the nodes of ONNX models to the kinds of operator that all readers share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from profile_analyze.work.operation import Operation
from profile_analyze.work.tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Mapping

    from profile_analyze.readers.onnx.graph import Node, Value


def operation_of(node: Node, values: Mapping[str, Value]) -> Operation | None:
    """Return the operation of a node; None if its type is not known."""

    def tensor(name: str) -> Tensor | None:
        return Tensor(values[name].dims, values[name].dtype) if name else None

    if node.type == "Conv" and not node.domain:
        return Operation(
            "convolution", tuple(map(tensor, node.inputs)), tuple(map(tensor, node.outputs))
        )
    return None

"""Finds the zeros in weights that simple constant nodes compute from stored weights."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from profile_analyze.readers.onnx.work.weights import words_of, zeros_of
from profile_analyze.work.tensor import all_known

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from profile_analyze.readers.onnx.safety.external_data import ModelFolder
    from profile_analyze.readers.onnx.tables import ModelTables, PlacedNode


_MAKERS: Final = ("ConstantOfShape", "DequantizeLinear")
"""For these types of node, zeros are found without computing the result of the node."""


def zeros_behind(
    tables: ModelTables, index: int, folder: ModelFolder | None
) -> NDArray[np.bool_] | None:
    """Return where a constant is 0; None if that is unknown. `folder` is as in `zeros_of`."""
    origin, transposed = _origin_of(tables, index)
    try:
        zeros = None if origin is None else _zeros_made(tables, origin, folder)
        for perm in reversed(transposed):
            zeros = None if zeros is None else zeros.transpose(perm)
    except (IndexError, TypeError, ValueError):  # a damaged node or tensor
        return None
    return zeros


def needs_unsupported_node(tables: ModelTables, index: int) -> bool:
    """Return whether a constant is computed by a node that `zeros_behind` does not support."""
    origin, _ = _origin_of(tables, index)
    return origin is None or (tables.stored(origin) is None and _maker(tables, origin) is None)


def _origin_of(tables: ModelTables, index: int) -> tuple[int | None, list[tuple[int, ...] | None]]:
    """Follow a constant back through Identity and Transpose nodes.

    Return the constant that these nodes start from, and the `perm` of each Transpose node.
    """
    transposed: list[tuple[int, ...] | None] = []
    origin: int | None = index
    while origin is not None and tables.stored(origin) is None:
        producer = tables.producer(origin)
        if producer is None or producer.node.domain:
            break
        if producer.node.type == "Transpose":
            transposed.append(producer.node.attributes.get("perm"))
        elif producer.node.type != "Identity":
            break
        origin = producer.inputs[0] if producer.inputs else None
    return origin, transposed


def _maker(tables: ModelTables, index: int) -> PlacedNode | None:
    """Return the node that computes a constant; None if its type is not in `_MAKERS`."""
    producer = tables.producer(index)
    if producer is None or producer.node.domain or producer.node.type not in _MAKERS:
        return None
    return producer


def _zeros_made(
    tables: ModelTables, index: int, folder: ModelFolder | None
) -> NDArray[np.bool_] | None:
    """Return where a constant is 0; None if that is unknown.

    It is unknown if the constant is neither stored nor the output of a node in `_MAKERS`.
    """
    stored, maker = tables.stored(index), _maker(tables, index)
    if stored is not None:
        return zeros_of(stored.proto, folder)
    if maker is None:
        return None
    if maker.node.type == "ConstantOfShape":
        return _constant_of_shape(tables, maker, index)
    return _dequantized(tables, maker, folder)


def _constant_of_shape(
    tables: ModelTables, placed: PlacedNode, index: int
) -> NDArray[np.bool_] | None:
    """Return where the result of a ConstantOfShape node is 0.

    The array is a view of one element, because a small file can ask for a huge shape.
    """
    value = tables.values[index]
    fill = placed.graph.fills.get(value.name)
    is_zero = np.ones(1, np.bool_) if fill is None else zeros_of(fill.proto, None)
    dims = None if value.dims is None else all_known(value.dims)
    if is_zero is None or dims is None:
        return None
    return np.broadcast_to(is_zero.reshape(()), dims)


def _dequantized(
    tables: ModelTables, placed: PlacedNode, folder: ModelFolder | None
) -> NDArray[np.bool_] | None:
    """Return where a weight equals its zero point. Each channel may have its own zero point."""
    data, _, zero_point = (*placed.inputs, None)[:3]
    values = _stored_words(tables, data, folder)
    points = np.zeros(1) if zero_point is None else _stored_words(tables, zero_point, folder)
    if values is None or points is None or placed.node.attributes.get("block_size"):
        return None
    if points.size > 1:
        axis = placed.node.attributes.get("axis", 1)
        fits = -values.ndim <= axis < values.ndim and points.size == values.shape[axis]
        if not fits:  # only in a damaged model
            return None
        points = points.reshape(-1, *[1] * (values.ndim - axis % values.ndim - 1))
    zeros: NDArray[np.bool_] = values == points
    return zeros if zeros.shape == values.shape else None


def _stored_words(
    tables: ModelTables, index: int | None, folder: ModelFolder | None
) -> NDArray[Any] | None:
    stored = None if index is None else tables.stored(index)
    return None if stored is None else words_of(stored.proto, folder)

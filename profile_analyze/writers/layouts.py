"""Which axes of the inputs and outputs of a matrix product are its rows, columns and inner axis."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from profile_analyze.readers.onnx.graph import Node, Value
    from profile_analyze.work.tiling import Product

_MATMULS: Final = frozenset(
    {
        *(("", "MatMul"), ("", "MatMulInteger")),
        *(("com.microsoft", "FusedMatMul"), ("com.microsoft", "TransposeMatMul")),
    }
)
"""The domains and types of products, other than Gemm, whose tiles can be summed."""


class Operand(NamedTuple):
    """A matrix that is split into tiles, perhaps with leading axes for a batch."""

    name: str
    row_axis: int | None
    """None if the matrix is a vector, or has one row for all rows of the result."""
    column_axis: int | None


class Layout(NamedTuple):
    """The matrices of a product."""

    a: Operand
    b: Operand
    row_axis: int | None
    """The axis of the result that has the rows; None if the result has a single row."""
    column_axis: int | None
    beside: tuple[Operand, ...] = ()
    """The further inputs, whose rows and columns are those of the result: the bias of a Gemm, or
    the zero points of A and B. An input that is left out has an empty name."""
    folded: tuple[int, int] | None = None
    """The shape of A with its leading axes as rows; None if A keeps its shape."""
    result_shape: tuple[int, ...] = ()
    """The shape of the result."""


def layout_of(
    node: Node, values: Mapping[str, Value], product: Product, *, splits_rows: bool
) -> Layout | None:
    """Return the layout of a product; None if the product cannot be split.

    The tiles of other types, such as FusedGemm, cannot be summed: each would be activated.
    `splits_rows` says whether there are several tiles along M.
    """
    shapes = [_shape(values, name) for name in (*node.inputs, *node.outputs[:1])]
    if (node.domain, node.type) == ("", "Gemm"):
        return _of_gemm(node, shapes, product)
    if (node.domain, node.type) not in _MATMULS or _transposes_batch(node):
        return None
    layout = _of_matmul(node, (shapes[0], shapes[1], shapes[-1]), product, splits_rows=splits_rows)
    if layout is None or node.type != "MatMulInteger":
        return layout
    return _with_zero_points(layout, node, shapes[2:-1])


def _transposes_batch(node: Node) -> bool:
    return any(node.attributes.get(name, 0) for name in ("transBatchA", "transBatchB"))


def _transposes(node: Node) -> tuple[bool, bool]:
    """Return whether a node transposes A, and whether it transposes B."""
    return bool(node.attributes.get("transA", 0)), bool(node.attributes.get("transB", 0))


def _shape(values: Mapping[str, Value], name: str) -> tuple[int, ...]:
    """Return the shape of a value; empty for an input that is left out.

    All sizes of A, B and the result are known. An unknown size of another input counts as 0.
    """
    dims = values[name].dims if name else None
    return tuple(size or 0 for size in dims or ())


def _of_gemm(node: Node, shapes: list[tuple[int, ...]], product: Product) -> Layout | None:
    a_is_transposed, b_is_transposed = _transposes(node)
    beside: tuple[Operand, ...] = ()
    if len(node.inputs) > 2 and node.inputs[2]:
        # C is broadcast: an axis of size 1, or a missing axis, is the same for all tiles.
        shape = (1, 1, *shapes[2])[-2:]
        missing = 2 - len(shapes[2])
        if missing < 0 or shape[0] not in (1, product.m) or shape[1] not in (1, product.n):
            return None
        rows, columns = (None if shape[axis] == 1 else axis - missing for axis in (0, 1))
        beside = (Operand(node.inputs[2], rows, columns),)
    return Layout(
        Operand(node.inputs[0], int(a_is_transposed), int(not a_is_transposed)),
        Operand(node.inputs[1], int(b_is_transposed), int(not b_is_transposed)),
        row_axis=0,
        column_axis=1,
        beside=beside,
        result_shape=shapes[-1],
    )


def _of_matmul(
    node: Node,
    shapes: tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]],
    product: Product,
    *,
    splits_rows: bool,
) -> Layout | None:
    a, b, result = shapes
    a_is_transposed, b_is_transposed = _transposes(node)
    # With a single matrix B, the leading axes of A count as rows.
    folded = None
    if splits_rows and len(a) > 2 and len(b) <= 2:
        if a_is_transposed:  # its rows are not in the order of the memory
            return None
        folded = (prod(a[:-1]), product.k)
        a, result = folded, (folded[0], *((product.n,) if len(b) > 1 else ()))
    row_of_a, inner_of_a = _last_axes(len(a), swapped=a_is_transposed)
    inner_of_b, column_of_b = _last_axes(len(b), swapped=b_is_transposed)
    column_axis = len(result) - 1 if len(b) > 1 else None
    row_axis = len(result) - (2 if len(b) > 1 else 1) if len(a) > 1 else None
    return Layout(
        Operand(node.inputs[0], row_of_a if len(a) > 1 else None, inner_of_a),
        Operand(node.inputs[1], inner_of_b, column_of_b if len(b) > 1 else None),
        row_axis=row_axis,
        column_axis=column_axis,
        folded=folded,
        result_shape=shapes[2],
    )


def _last_axes(axes: int, *, swapped: bool) -> tuple[int, int]:
    """Return the last two axes of a matrix with leading axes. A vector has its axis twice."""
    last, other = axes - 1, max(0, axes - 2)
    return (last, other) if swapped else (other, last)


def _with_zero_points(layout: Layout, node: Node, shapes: list[tuple[int, ...]]) -> Layout | None:
    """Return the layout with zero points; None if each row has a zero point of its own."""
    zero_points = []
    for position, (name, shape) in enumerate(zip(node.inputs[2:], shapes, strict=True)):
        is_one = not name or prod(shape) == 1
        is_of_columns = position == 1 and len(shape) == 1
        if not (is_one or is_of_columns):
            return None
        zero_points.append(Operand(name, None, None if is_one else 0))
    return layout._replace(beside=tuple(zero_points))

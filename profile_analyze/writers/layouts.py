"""Finds the axes of a matrix product: the rows, the columns and the inner axis of its matrices."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Final, NamedTuple

from profile_analyze.work.tensor import all_known

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
    """The axis of the rows; None for a vector A, and for a bias or zero point that is the same in
    all rows."""
    column_axis: int | None


class Layout(NamedTuple):
    """The matrices of a product."""

    a: Operand
    b: Operand
    sizes: tuple[int, int, int]
    """M, N and K from the shapes of A and B. The shape of the result may be wrong in the file."""
    row_axis: int | None
    """The axis of the result that has the rows; None if A is a vector."""
    column_axis: int | None
    others: tuple[Operand, ...] = ()
    """The other inputs: the bias of a Gemm, or the zero points of A and B. They are split like
    the rows and columns of the result. An input that is left out has an empty name."""
    folded: tuple[int, int] | None = None
    """The shape of A with its leading axes as rows; None if A keeps its shape."""
    result_shape: tuple[int, ...] = ()
    """The shape of the result, if A is folded."""


def layout_of(
    node: Node, values: Mapping[str, Value], product: Product, *, splits_rows: bool
) -> Layout | None:
    """Return the layout of a product; None if the product cannot be split.

    A product with a fused activation, such as FusedGemm, cannot be split, because the activation
    would apply to each partial sum. `splits_rows` says whether there are several tiles along M.
    """
    shapes = [_shape(values, name) for name in node.inputs]
    if (node.domain, node.type) == ("", "Gemm"):
        return _of_gemm(node, shapes, product)
    if (node.domain, node.type) not in _MATMULS or _transposes_batch(node):
        return None
    layout = _of_matmul(node, shapes[0], shapes[1], splits_rows=splits_rows)
    if layout is None or node.type != "MatMulInteger":
        return layout
    return _with_zero_points(layout, node, shapes[2:])


def _transposes_batch(node: Node) -> bool:
    return any(node.attributes.get(name, 0) for name in ("transBatchA", "transBatchB"))


def _shape(values: Mapping[str, Value], name: str) -> tuple[int, ...]:
    """Return the shape of a value; empty for an input that is left out."""
    if not name:
        return ()
    dims = values[name].dims
    shape = None if dims is None else all_known(dims)
    assert shape is not None, "the splitter splits only products of known shapes"
    return shape


def _of_gemm(node: Node, shapes: list[tuple[int, ...]], product: Product) -> Layout | None:
    (row_of_a, inner_of_a), (inner_of_b, column_of_b) = _axes(node, shapes[0], shapes[1])
    others: tuple[Operand, ...] = ()
    if len(node.inputs) > 2 and node.inputs[2]:
        # C is broadcast: along an axis that is missing or of size 1, tiles have the same values.
        shape = (1, 1, *shapes[2])[-2:]
        missing = 2 - len(shapes[2])
        if missing < 0 or shape[0] not in (1, product.m) or shape[1] not in (1, product.n):
            return None
        rows, columns = (None if shape[axis] == 1 else axis - missing for axis in (0, 1))
        others = (Operand(node.inputs[2], rows, columns),)
    return Layout(
        Operand(node.inputs[0], row_of_a, inner_of_a),
        Operand(node.inputs[1], inner_of_b, column_of_b),
        (shapes[0][row_of_a], shapes[1][column_of_b], shapes[0][inner_of_a]),
        row_axis=0,
        column_axis=1,
        others=others,
    )


def _of_matmul(
    node: Node, a: tuple[int, ...], b: tuple[int, ...], *, splits_rows: bool
) -> Layout | None:
    (row_of_a, inner_of_a), (inner_of_b, column_of_b) = _axes(node, a, b)
    k = a[inner_of_a]
    n = b[column_of_b] if len(b) > 1 else 1
    columns = (n,) if len(b) > 1 else ()
    result_shape: tuple[int, ...] = ()
    folded = None
    if len(b) <= 2:
        # With a single matrix B, the leading axes of A count as rows.
        m = prod(size for axis, size in enumerate(a) if axis != inner_of_a)
        if splits_rows and len(a) > 2:
            if inner_of_a < row_of_a:  # the inner axis is before the rows
                return None
            folded, result_shape = (m, k), (*a[:-1], *columns)
            row_of_a, inner_of_a = 0, 1
    else:
        m = a[row_of_a] if len(a) > 1 else 1
    rows = () if len(a) == 1 else (m,)
    leading = 0 if folded is not None else max(len(a), len(b), 2) - 2
    return Layout(
        Operand(node.inputs[0], row_of_a if rows else None, inner_of_a),
        Operand(node.inputs[1], inner_of_b, column_of_b if columns else None),
        (m, n, k),
        row_axis=leading if rows else None,
        column_axis=leading + len(rows) if columns else None,
        folded=folded,
        result_shape=result_shape,
    )


def _axes(
    node: Node, a: tuple[int, ...], b: tuple[int, ...]
) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return the row axis and the inner axis of A, and the inner axis and the column axis of B.

    The only axis of a vector is the inner axis.
    """
    a_is_transposed, b_is_transposed = (
        bool(node.attributes.get(name, 0)) for name in ("transA", "transB")
    )
    return (
        _last_axes(len(a), swapped=a_is_transposed),
        _last_axes(len(b), swapped=b_is_transposed),
    )


def _last_axes(axes: int, *, swapped: bool) -> tuple[int, int]:
    """Return the last two of `axes` axes, the last one first if `swapped`; 0 twice for a vector."""
    last, other = axes - 1, max(0, axes - 2)
    return (last, other) if swapped else (other, last)


def _with_zero_points(layout: Layout, node: Node, shapes: list[tuple[int, ...]]) -> Layout | None:
    """Return the layout with zero points.

    Return None if a zero point is neither a single number nor a vector for the columns of B.
    """
    zero_points = []
    for position, (name, shape) in enumerate(zip(node.inputs[2:], shapes, strict=True)):
        is_one = not name or prod(shape) == 1
        is_of_columns = position == 1 and len(shape) == 1
        if not (is_one or is_of_columns):
            return None
        zero_points.append(Operand(name, None, None if is_one else 0))
    return layout._replace(others=tuple(zero_points))

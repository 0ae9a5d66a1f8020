"""Makes the nodes that compute one matrix product in tiles."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onnx import AttributeProto

    from profile_analyze.readers.onnx.graph import Node
    from profile_analyze.work.tiling import Product
    from profile_analyze.writers.layouts import Layout, Operand
    from profile_analyze.writers.new_nodes import NewNodes


class TileNodes:
    """The nodes that replace one matrix product.

    The inputs are split, each pair of parts is multiplied, products along K are summed, and the
    results are concatenated. A Gemm adds the previous partial sum itself, as its input C.
    """

    def __init__(
        self,
        node: Node,
        attributes: Sequence[AttributeProto],
        layout: Layout,
        nodes: NewNodes,
    ) -> None:
        """The new nodes are added to `nodes`. Each product of two parts gets `attributes`."""
        self._node = node
        self._attributes = attributes
        self._layout = layout
        self._nodes = nodes

    def add_all(self, product: Product, tile: tuple[int, int, int]) -> str:
        """Add the nodes that compute the product in tiles. Return the name of its result."""
        layout = self._layout
        m, n, k = zip((product.m, product.n, product.k), tile, strict=True)
        a = layout.a
        if layout.folded is not None:
            a = a._replace(name=self._nodes.reshape(a.name, layout.folded, "a"))
        parts_of_a = self._grid(a, m, k, "a")
        parts_of_b = self._grid(layout.b, k, n, "b")
        grids_of_others = [
            self._grid(operand, m, n, f"beside_{index}")
            for index, operand in enumerate(layout.others)
        ]
        rows = []
        for i, row in enumerate(parts_of_a):
            tiles = []
            for j in range(len(parts_of_b[0])):
                pairs = [(part, parts_of_b[step][j]) for step, part in enumerate(row)]
                others = [_at(grid, i, j) for grid in grids_of_others]
                tiles.append(self._sum(pairs, others, f"{i}_{j}"))
            rows.append(self._joined(tiles, layout.column_axis, f"row_{i}"))
        result = self._joined(rows, layout.row_axis, "result")
        if layout.folded is not None:
            result = self._nodes.reshape(result, layout.result_shape, "result")
        return result

    def _grid(
        self, operand: Operand, rows: tuple[int, int], columns: tuple[int, int], name: str
    ) -> list[list[str]]:
        """Return the names of the parts of a matrix, row by row.

        `rows` and `columns` are pairs: the size of the matrix, and the size of a part.
        """
        parts = self._split(operand.name, operand.row_axis, rows, name)
        return [
            self._split(part, operand.column_axis, columns, f"{name}_{index}")
            for index, part in enumerate(parts)
        ]

    def _split(self, value: str, axis: int | None, sizes: tuple[int, int], text: str) -> list[str]:
        """Split a value along an axis. Return the names of the parts; only `value` if it fits."""
        size, step = sizes
        if axis is None or size <= step:
            return [value]
        lengths = [min(step, size - start) for start in range(0, size, step)]
        return self._nodes.split(value, axis, lengths, text)

    def _sum(self, pairs: Sequence[tuple[str, str]], others: list[str], tile: str) -> str:
        """Return the name of a tile of the result: the sum of the products of parts along K.

        `others` has the other inputs of the products: the bias of a Gemm, or zero points.
        """
        result = self._product(pairs[0], others, f"{tile}_0")
        for step, pair in enumerate(pairs[1:], start=1):
            if self._node.type == "Gemm":
                result = self._product(pair, [result], f"{tile}_{step}", adds_sum=True)
                continue
            product = self._product(pair, others, f"{tile}_{step}")
            result = self._nodes.add("Add", [result, product], f"sum_{tile}_{step}")
        return result

    def _product(
        self, pair: tuple[str, str], others: list[str], tile: str, *, adds_sum: bool = False
    ) -> str:
        """Return the name of a product of two parts.

        `adds_sum` says that the input C of a Gemm is a partial sum. The attributes `beta` and
        `broadcast` are meant for the bias, and do not apply to a partial sum.
        """
        type_, domain = self._node.type, self._node.domain or None
        name = self._nodes.add(type_, [*pair, *others], f"product_{tile}", domain=domain)
        for attribute in self._attributes:
            if not (adds_sum and attribute.name in ("beta", "broadcast")):
                self._nodes.all[-1].attribute.add().CopyFrom(attribute)
        return name

    def _joined(self, parts: list[str], axis: int | None, text: str) -> str:
        if axis is None or len(parts) == 1:
            return parts[0]
        return self._nodes.add("Concat", parts, text, axis=axis)


def _at(grid: list[list[str]], row: int, column: int) -> str:
    """Return the part that belongs to a tile of the result.

    A bias with a single row or column has one part for all rows or columns of tiles.
    """
    parts = grid[min(row, len(grid) - 1)]
    return parts[min(column, len(parts) - 1)]

"""Makes the nodes that compute one matrix product in tiles."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from onnx import NodeProto, TensorProto, helper

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from profile_analyze.work.tiling import Product
    from profile_analyze.writers.layouts import Layout, Operand

_SIZES_ARE_INPUT: Final = 13
"""The version of the operator set from which on Split gets its sizes as an input."""
_SHAPE_IS_INPUT: Final = 5
"""The version of the operator set from which on Reshape gets its shape as an input."""
_CAST_HAS_NUMBER: Final = 6
"""The version of the operator set from which on Cast names a dtype by its number."""
_CONSTANTS_HAVE_INTEGERS: Final = 9
"""The version of the operator set from which on Constant may have integers."""


class TileNodes:
    """The nodes that replace one matrix product.

    The inputs are split, each pair of parts is multiplied, products along K are summed, and the
    results are concatenated. A Gemm adds the sum so far itself, as its input C.
    """

    def __init__(
        self, node: NodeProto, layout: Layout, opset: int, new_name: Callable[[str], str]
    ) -> None:
        """`new_name` returns a name that the model does not have yet, made from a given text."""
        self.nodes: list[NodeProto] = []
        self._node = node
        self._layout = layout
        self._opset = opset
        self._new_name = new_name
        self._path = node.name or node.output[0]

    def add_all(self, product: Product, tile: tuple[int, int, int]) -> None:
        """Add the nodes that compute the product in tiles."""
        layout = self._layout
        m, n, k = zip((product.m, product.n, product.k), tile, strict=True)
        a = layout.a
        if layout.folded is not None:
            a = a._replace(name=self._reshaped(a.name, layout.folded, f"{self._path}/a"))
        parts_of_a = self._grid(a, m, k, "a")
        parts_of_b = self._grid(layout.b, k, n, "b")
        beside = [
            self._grid(operand, m, n, f"beside_{index}")
            for index, operand in enumerate(layout.beside)
        ]
        rows = []
        for i, row in enumerate(parts_of_a):
            tiles = []
            for j in range(len(parts_of_b[0])):
                pairs = [(part, parts_of_b[step][j]) for step, part in enumerate(row)]
                others = [_at(grid, i, j) for grid in beside]
                tiles.append(self._sum(pairs, others, f"{i}_{j}"))
            rows.append(self._joined(tiles, layout.column_axis, f"row_{i}"))
        result = self._joined(rows, layout.row_axis, "result")
        if layout.folded is not None:
            result = self._reshaped(result, layout.result_shape, f"{self._path}/result")
        self._rename(result, self._node.output[0])

    def _grid(
        self, operand: Operand, rows: tuple[int, int], columns: tuple[int, int], name: str
    ) -> list[list[str]]:
        """Return the names of the parts of a matrix, row by row.

        `rows` and `columns` have the size of the matrix and that of a part.
        """
        parts = self._split(operand.name, operand.row_axis, rows, f"{self._path}/{name}")
        return [
            self._split(part, operand.column_axis, columns, f"{self._path}/{name}_{index}")
            for index, part in enumerate(parts)
        ]

    def _split(self, value: str, axis: int | None, sizes: tuple[int, int], path: str) -> list[str]:
        """Return the names of the parts of a value along an axis. A single part is the value."""
        size, step = sizes
        if axis is None or size <= step:
            return [value]
        lengths = [min(step, size - start) for start in range(0, size, step)]
        parts = [self._new_name(f"{path}_{index}") for index in range(len(lengths))]
        if self._opset >= _SIZES_ARE_INPUT:
            self._add("Split", [value, self._constant(lengths, f"{path}_sizes")], parts, axis=axis)
        else:
            self._add("Split", [value], parts, axis=axis, split=lengths)
        return parts

    def _sum(self, pairs: Sequence[tuple[str, str]], others: list[str], tile: str) -> str:
        """Return the name of a tile of the result: the sum of the products of parts along K.

        `others` has the further inputs of the products: the bias of a Gemm, or zero points.
        """
        result = self._product(pairs[0], others, f"{tile}_0")
        for step, pair in enumerate(pairs[1:], start=1):
            if self._node.op_type == "Gemm":
                result = self._product(pair, [result], f"{tile}_{step}", adds_sum=True)
                continue
            product = self._product(pair, others, f"{tile}_{step}")
            name = self._new_name(f"{self._path}/sum_{tile}_{step}")
            self._add("Add", [result, product], [name])
            result = name
        return result

    def _product(
        self, pair: tuple[str, str], others: list[str], tile: str, *, adds_sum: bool = False
    ) -> str:
        """Return the name of a product of two parts.

        `adds_sum` says that the input C of a Gemm is a partial sum. The factor of the bias does not
        apply to it.
        """
        name = self._new_name(f"{self._path}/product_{tile}")
        self._add(self._node.op_type, [*pair, *others], [name])
        for attribute in self._node.attribute:
            if not (adds_sum and attribute.name in ("beta", "broadcast")):
                self.nodes[-1].attribute.add().CopyFrom(attribute)
        return name

    def _joined(self, parts: list[str], axis: int | None, path: str) -> str:
        if axis is None or len(parts) == 1:
            return parts[0]
        name = self._new_name(f"{self._path}/{path}")
        self._add("Concat", parts, [name], axis=axis)
        return name

    def _reshaped(self, value: str, shape: Sequence[int], path: str) -> str:
        name = self._new_name(path)
        if self._opset >= _SHAPE_IS_INPUT:
            self._add("Reshape", [value, self._constant(shape, f"{path}_sizes")], [name])
        else:
            self._add("Reshape", [value], [name], shape=shape)
        return name

    def _constant(self, numbers: Sequence[int], path: str) -> str:
        # Not an initializer: before version 4 of the format, it would be an input of the model.
        name = self._new_name(path)
        if self._opset >= _CONSTANTS_HAVE_INTEGERS:
            tensor = helper.make_tensor(name, TensorProto.INT64, [len(numbers)], numbers)
            self._add("Constant", [], [name], value=tensor)
            return name
        exact = self._new_name(f"{path}_fp64")
        tensor = helper.make_tensor(exact, TensorProto.DOUBLE, [len(numbers)], numbers)
        self._add("Constant", [], [exact], value=tensor)
        to = TensorProto.INT64 if self._opset >= _CAST_HAS_NUMBER else "INT64"
        self._add("Cast", [exact], [name], to=to)
        return name

    def _add(self, type_: str, inputs: list[str], outputs: list[str], **attributes: Any) -> None:
        self.nodes.append(helper.make_node(type_, inputs, outputs, name=outputs[0], **attributes))

    def _rename(self, old: str, new: str) -> None:
        """Give the value of the last node the name that the product had."""
        assert [*self.nodes[-1].output] == [old], "the last node writes the result"
        self.nodes[-1].output[0] = new


def _at(grid: list[list[str]], row: int, column: int) -> str:
    """Return the part that belongs to a tile of the result.

    A bias with a single row or column has one part for all rows or columns of tiles.
    """
    parts = grid[min(row, len(grid) - 1)]
    return parts[min(column, len(parts) - 1)]

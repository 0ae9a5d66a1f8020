"""`Call`: a node of an ONNX model with the shapes of its inputs and outputs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from profile_analyze.work.operation import Operation
from profile_analyze.work.tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from profile_analyze.readers.onnx.graph import Node, Value
    from profile_analyze.work.tensor import Dims


class Call(NamedTuple):
    """A node, and all values of its graph."""

    node: Node
    values: Mapping[str, Value]

    def attribute(self, name: str, default: Any = None) -> Any:
        """Return an attribute of the node; `default` if the node does not have it."""
        return self.node.attributes.get(name, default)

    def _tensor(self, names: tuple[str, ...], index: int) -> Tensor | None:
        if not 0 <= index < len(names) or not names[index]:
            return None
        value = self.values.get(names[index])
        return Tensor(None) if value is None else Tensor(value.dims, value.dtype)

    def input(self, index: int) -> Tensor | None:
        """Return an input; None if it is left out."""
        return self._tensor(self.node.inputs, index)

    def output(self, index: int) -> Tensor | None:
        """Return an output; None if it is not used."""
        return self._tensor(self.node.outputs, index)

    def has_input(self, index: int) -> bool:
        """Return whether an optional input is given."""
        return self.input(index) is not None

    def is_constant(self, index: int) -> bool:
        """Return whether an input is given, and does not depend on inputs of the graph."""
        names = self.node.inputs
        value = self.values.get(names[index]) if index < len(names) else None
        return value is not None and value.is_constant

    def dims(self, index: int) -> Dims | None:
        """Return the shape of an input; None if it is left out or unknown."""
        tensor = self.input(index)
        return None if tensor is None else tensor.shape

    def size(self, index: int, axis: int) -> int | None:
        """Return the size of one dimension of an input; None if it is unknown."""
        return _size(self.dims(index), axis)

    def output_size(self, index: int, axis: int) -> int | None:
        """Return the size of one dimension of an output; None if it is unknown."""
        tensor = self.output(index)
        return _size(None if tensor is None else tensor.shape, axis)

    def as_operation(
        self,
        kind: str,
        order: Sequence[int] = (),
        attributes: Mapping[str, Any] | None = None,
    ) -> Operation:
        """Return the operation of the node.

        `order` says where the node has each input that the kind expects. For example, (0, 3, -1)
        means: the kind's first input is input 0 of the node, the second is input 3, and the third
        is missing. The remaining inputs of the node follow, so that their bytes are counted.
        """
        rest = (index for index in range(len(self.node.inputs)) if index not in order)
        positions = (*order, *rest)
        return Operation(
            kind,
            tuple(map(self.input, positions)),
            tuple(map(self.output, range(len(self.node.outputs)))),
            attributes or {},
            self._repeated(positions),
        )

    def _repeated(self, positions: Sequence[int]) -> frozenset[int]:
        names = self.node.inputs
        ordered = [names[at] if 0 <= at < len(names) else "" for at in positions]
        if len({*ordered}) == len(ordered):
            return frozenset()
        return frozenset(at for at, name in enumerate(ordered) if name in ordered[:at])


def _size(dims: Dims | None, axis: int) -> int | None:
    return None if dims is None or not -len(dims) <= axis < len(dims) else dims[axis]


def product(*sizes: int | None) -> int | None:
    """Return the product of sizes; None if a size is unknown."""
    result = 1
    for size in sizes:
        if size is None:
            return None
        result *= size
    return result


def quotient(size: int | None, divisor: int | None) -> int | None:
    """Return `size / divisor`; None if the result is unknown or not an integer."""
    if size is None or not divisor or size % divisor:
        return None
    return size // divisor


def total(*sizes: int | None) -> int | None:
    """Return the sum of sizes; None if a size is unknown."""
    known = [size for size in sizes if size is not None]
    return sum(known) if len(known) == len(sizes) else None

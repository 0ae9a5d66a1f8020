"""Makes nodes of an ONNX model, for all versions of the operator set."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from onnx import NodeProto, TensorProto, helper

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_SIZES_ARE_INPUT: Final = 13
"""The first version of the operator set in which Split gets its sizes as an input."""
_SHAPE_IS_INPUT: Final = 5
"""The first version of the operator set in which Reshape gets its shape as an input."""
_CAST_HAS_NUMBER: Final = 6
"""The first version of the operator set in which Cast names a dtype by its number."""
_CONSTANTS_HAVE_INTEGERS: Final = 9
"""The first version of the operator set in which Constant may have integers."""


class NewNodes:
    """The nodes that replace one node. Their names begin with the path of the replaced node."""

    def __init__(self, node: NodeProto, opset: int, new_name: Callable[[str], str]) -> None:
        """`new_name` returns a name that the model does not have yet, made from a given text."""
        self.all: list[NodeProto] = []
        self.path: str = node.name or node.output[0]
        self._opset = opset
        self._new_name = new_name

    def name(self, text: str) -> str:
        """Return a new name, made from the path and `text`."""
        return self._new_name(f"{self.path}/{text}")

    def add(self, type_: str, inputs: Sequence[str], text: str, **attributes: Any) -> str:
        """Add a node with one output, which gets a new name made from `text`. Return the name."""
        name = self.name(text)
        self._add(type_, inputs, [name], **attributes)
        return name

    def split(self, value: str, axis: int, lengths: Sequence[int], text: str) -> list[str]:
        """Split a value into parts with these lengths, and return the names of the parts."""
        parts = [self.name(f"{text}_{index}") for index in range(len(lengths))]
        if self._opset >= _SIZES_ARE_INPUT:
            sizes = self.integers(lengths, f"{text}_sizes")
            self._add("Split", [value, sizes], parts, axis=axis)
        else:
            self._add("Split", [value], parts, axis=axis, split=lengths)
        return parts

    def reshape(self, value: str, shape: Sequence[int], text: str) -> str:
        """Give a value another shape, and return the name of the result."""
        name = self.name(text)
        if self._opset >= _SHAPE_IS_INPUT:
            self._add("Reshape", [value, self.integers(shape, f"{text}_sizes")], [name])
        else:
            self._add("Reshape", [value], [name], shape=shape)
        return name

    def quantize_dynamically(self, value: str, text: str) -> list[str]:
        """Quantize a value with a scale that fits it.

        Return the names of the quantized value, of its scale and of its zero point.
        """
        names = [self.name(f"{text}{part}") for part in ("", "_scale", "_zero_point")]
        self._add("DynamicQuantizeLinear", [value], names)
        return names

    def integers(self, numbers: Sequence[int], text: str) -> str:
        """Add a constant vector of integers, and return its name."""
        # Not an initializer: before version 4 of the format, each initializer is also an input of
        # the model.
        name = self.name(text)
        if self._opset >= _CONSTANTS_HAVE_INTEGERS:
            tensor = helper.make_tensor(name, TensorProto.INT64, [len(numbers)], numbers)
            self._add("Constant", [], [name], value=tensor)
            return name
        exact = self.name(f"{text}_fp64")
        tensor = helper.make_tensor(exact, TensorProto.DOUBLE, [len(numbers)], numbers)
        self._add("Constant", [], [exact], value=tensor)
        to = TensorProto.INT64 if self._opset >= _CAST_HAS_NUMBER else "INT64"
        self._add("Cast", [exact], [name], to=to)
        return name

    def number(self, value: float, text: str) -> str:
        """Add a constant number of dtype fp64, and return its name."""
        tensor = helper.make_tensor(text, TensorProto.DOUBLE, [], [value])
        return self.add("Constant", [], text, value=tensor)

    def end_with(self, old: str, new: str) -> None:
        """Rename the output of the last node to `new`, the output of the replaced node."""
        assert [*self.all[-1].output] == [old], "the last node writes the result"
        self.all[-1].output[0] = new

    def _add(self, type_: str, inputs: Sequence[str], outputs: list[str], **attrs: Any) -> None:
        self.all.append(helper.make_node(type_, inputs, outputs, name=outputs[0], **attrs))

"""Finds the tensors that each instruction reads and writes.

An argument that is only a buffer for results does not count as read.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from profile_analyze.readers.migraphx.instruction import PARAMETER

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from profile_analyze.readers.migraphx.instruction import Instruction
    from profile_analyze.readers.migraphx.shapes import Shape

_BUFFER: Final = re.compile(r"(?:.*::)?(?:\w*allocate\w*|load)")
"""Operators that provide memory for the result of a kernel, or for its workspace."""
_CONSTANT: Final = re.compile(r"hip::hip_copy_literal|@literal")
_OUTPUT_NAME: Final = re.compile(r"(?:.*[:#])?(?:output|scratch)(?:_\d+)?")
_MOST_DIGITS: Final = 18
_MOST_PARTS: Final = 8
"""A name with more parts between commas is not rejoined."""
_VIEW: Final = re.compile(
    r"transpose|(?:multi)?broadcast(?:_\w+)?|reshape(?:_lazy)?|slice|squeeze|unsqueeze|flatten"
)
_COMPILED: Final = re.compile(r"(?:gpu|cpu|dnnl)::")
"""Operators that write their result to a buffer, which is one of their arguments."""


def gives_constant(operator: str) -> bool:
    """Return whether the result of an operator is a constant of the model."""
    return _CONSTANT.fullmatch(operator) is not None


def writes_buffer(operator: str) -> bool:
    """Return whether an operator writes its result to a buffer that is one of its arguments."""
    return _COMPILED.match(operator) is not None


class Value(NamedTuple):
    """A tensor that an instruction reads."""

    shape: Shape
    is_constant: bool = False
    """Whether the tensor is a weight, or a view of a weight."""


class Tensors(NamedTuple):
    """The tensors that an instruction reads and writes."""

    inputs: tuple[Value, ...] | None
    """Each tensor once; None if the file lacks the line or the shape of an input."""
    outputs: tuple[Shape, ...]


class Listing:
    """The instructions of a report by name."""

    def __init__(self, instructions: Iterable[Instruction]) -> None:
        self._by_name: dict[str, Instruction] = {}
        for one in instructions:
            self._by_name.setdefault(one.name, one)

    def tensors(self, instruction: Instruction) -> Tensors:
        """Return the tensors that an instruction reads and writes."""
        names = self._inputs(instruction, tuple(_joined(instruction.arguments, self._by_name)))
        inputs: list[Value] = []
        for name in dict.fromkeys(names):
            source = self._by_name.get(name)
            if source is None or not source.shapes:
                return Tensors(None, instruction.shapes)
            is_constant = self._is_constant(source)
            inputs += [Value(shape, is_constant) for shape in source.shapes]
        return Tensors(tuple(inputs), instruction.shapes)

    def _inputs(self, instruction: Instruction, names: tuple[str, ...]) -> list[str]:
        """Return the names of the arguments that the instruction reads, without buffers."""
        if not writes_buffer(instruction.operator):
            return list(names)
        output = instruction.attribute("output_arg")
        is_index = output.isdecimal() and len(output) <= _MOST_DIGITS
        written = int(output) if is_index else len(names) - 1
        return [
            name
            for position, name in enumerate(names)
            if not (
                self._is_buffer(name)
                or (position == written and self._is_output(name, instruction))
            )
        ]

    def _is_buffer(self, name: str) -> bool:
        source = self._by_name.get(name)
        return source is not None and _BUFFER.fullmatch(source.operator) is not None

    def _is_output(self, name: str, instruction: Instruction) -> bool:
        """Return whether the argument at the position of the output is a buffer for the output."""
        source = self._by_name.get(name)
        if source is None:
            return True  # the file lacks its line, and this argument is nearly always a buffer
        has_shape = source.shapes == instruction.shapes
        is_parameter = source.operator == PARAMETER and _OUTPUT_NAME.fullmatch(name) is not None
        return bool(instruction.attribute("output_arg")) or (has_shape and is_parameter)

    def _is_constant(self, source: Instruction) -> bool:
        """Return whether the result of an instruction is a weight, or a view of a weight."""
        seen = {source.name}
        while _VIEW.fullmatch(source.operator) and source.arguments:
            inner = self._by_name.get(source.arguments[0])
            if inner is None or inner.name in seen:
                return False
            seen.add(inner.name)
            source = inner
        return gives_constant(source.operator)


def _joined(parts: Sequence[str], known: Mapping[str, Instruction]) -> Iterable[str]:
    """Yield the names of arguments, which were split at commas.

    Names may contain commas, so parts are joined to the longest possible name in `known`.
    """
    start = 0
    while start < len(parts):
        ends = range(min(len(parts), start + _MOST_PARTS), start, -1)
        end = next((end for end in ends if ",".join(parts[start:end]) in known), start + 1)
        yield ",".join(parts[start:end])
        start = end

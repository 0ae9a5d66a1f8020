"""`Instruction`: one line of a report, `NAME = OPERATOR[ATTRIBUTES](ARGUMENTS) -> SHAPE`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from profile_analyze.readers.computed_once import computed_once
from profile_analyze.readers.migraphx.shapes import SHAPE_START, shapes_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from profile_analyze.model.operators import Parameters
    from profile_analyze.readers.migraphx.shapes import Shape

CODE_OBJECT: Final = "gpu::code_object"
"""A kernel that MIGraphX compiled. Its attribute `symbol_name` says what it computes."""
PARAMETER: Final = "@param"
_MAIN: Final = "main"

_DECLARATION: Final = " = @param:"
# The time stamp of a log may precede the name.
_NAMED: Final = re.compile(r"(?:^|.*?\s)(?P<name>\S*@\d+) = ")
_OPERATOR: Final = re.compile(r"[^\[({\s]+")
_ARROW: Final = re.compile(rf" -> (?={SHAPE_START})")
_BRACKETS: Final = re.compile(r"[\[\](){}]")
_ATTRIBUTE: Final = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)
_INTEGER: Final = re.compile(r"[-+]?\d{1,18}")
_REAL: Final = re.compile(r"[-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d{1,3})?")


class Instruction(NamedTuple):
    """One line, without its time."""

    name: str
    """`@7`, or the name of a parameter. The name of the module may come first: `main:@7`."""
    operator: str
    attributes: Parameters = ()
    arguments: tuple[str, ...] = ()
    """The text in the file, split at commas. `Listing` rejoins a name that has commas in it."""
    modules: tuple[str, ...] = ()
    """The modules that the instruction runs, such as the branches of an `if`."""
    shapes: tuple[Shape, ...] = ()
    """The shapes of the results."""

    @property
    def module(self) -> str:
        """The module that the instruction is in; empty for the main module."""
        label = self.attribute("parameter")  # the name of `@param` without the module
        module = self.name.removesuffix(label) if label else self.name.rpartition("@")[0]
        module = module.rstrip(":")
        return "" if module == _MAIN else module

    @property
    def type(self) -> str:
        """The name of the instruction's group in the summary of the report."""
        symbol = self.attribute("symbol_name")
        return f"{CODE_OBJECT}::{symbol}" if self.operator == CODE_OBJECT else self.operator

    def attribute(self, name: str) -> str:
        """Return the value of an attribute as text; empty if the instruction lacks it."""
        return next((str(value) for key, value in self.attributes if key == name), "")


@computed_once
def parsed(text: str) -> Instruction | None:
    """Return the instruction in a line without its time; None if the line has no instruction."""
    name, declaration, rest = text.partition(_DECLARATION)
    arrow = _ARROW.search(rest) if declaration else None
    if arrow is not None:
        label = (("parameter", rest[: arrow.start()]),)
        return Instruction(name, PARAMETER, label, shapes=shapes_of(rest[arrow.end() :]))
    named = _NAMED.match(text)
    operator = None if named is None else _OPERATOR.match(text, named.end())
    if named is None or operator is None:
        return None
    return _with_parts(named["name"], operator[0], text[operator.end() :])


def _with_parts(name: str, operator: str, text: str) -> Instruction | None:
    """Return an instruction; `text` is the rest of the line after the operator."""
    arrow = _ARROW.search(text)
    if arrow is None:
        return None
    shapes = shapes_of(text[arrow.end() :])
    attributes, rest = _bracketed(text[: arrow.start()], "[")
    if attributes is None:
        _, rest = _bracketed(rest, "{")  # the values of a literal
    arguments, rest = _bracketed(rest, "(")
    modules, rest = _bracketed(rest.removeprefix(", "), "[")
    if rest:
        # Text is left over if a name has an unpaired bracket. The arguments may then be split
        # wrongly. If one of them is not the name of an instruction, the inputs become unknown
        # (`Listing`).
        arguments = rest.rpartition("(")[2].removesuffix(")")
    return Instruction(
        name,
        operator,
        _attributes(attributes or ""),
        tuple(_parts(arguments or "")),
        tuple(_parts(modules or "")),
        shapes,
    )


def closing(text: str, start: int = 0) -> int:
    """Return the index of the bracket that closes the bracket at `start`; -1 if it stays open."""
    depth = 0
    for found in _BRACKETS.finditer(text, start):
        depth += 1 if found[0] in "[({" else -1
        if depth == 0:
            return found.start()
    return -1


def _bracketed(text: str, bracket: str) -> tuple[str | None, str]:
    """Return the content of the brackets at the start of `text`, and the rest of `text`.

    The content is None if `text` does not start with `bracket`.
    """
    end = closing(text) if text.startswith(bracket) else -1
    return (None, text) if end < 0 else (text[1:end], text[end + 1 :])


def _parts(text: str) -> Iterator[str]:
    """Split `text` at the commas outside of brackets."""
    start = depth = 0
    for found in re.finditer(r"[\[\](){},]", text):
        if found[0] != ",":
            depth += 1 if found[0] in "[({" else -1
        elif depth <= 0:
            yield text[start : found.start()]
            start = found.end()
    if text[start:].strip():
        yield text[start:]


def _attributes(text: str) -> Parameters:
    """Return the attributes in `text`.

    Values may contain commas: a part without a name continues the value before it.
    """
    found: dict[str, list[str]] = {}
    value: list[str] = []
    for part in _parts(text):
        attribute = _ATTRIBUTE.fullmatch(part.strip())
        if attribute is not None:
            value = found[attribute[1]] = [attribute[2]]
        else:
            value.append(part)
    return tuple(sorted((name, _value(",".join(parts))) for name, parts in found.items()))


def _value(text: str) -> int | float | str:
    if _INTEGER.fullmatch(text):
        return int(text)
    return float(text) if _REAL.fullmatch(text) else text

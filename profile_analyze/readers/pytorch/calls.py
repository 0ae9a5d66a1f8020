"""Gives names to the arguments of an operator, and returns them as a `Call`.

A trace has only the positions of the arguments. The signatures of the operator have the names.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final, NamedTuple, NoReturn

from profile_analyze.readers.pytorch.arguments import SCALAR_TYPES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from profile_analyze.model.operators import Shape
    from profile_analyze.readers.pytorch.arguments import Argument, Value
    from profile_analyze.work.tensor import Tensor


_MOST_OUTPUTS: Final = 3
"""At most this many tensors after the last parameter count as outputs of an `out` variant."""


class UnknownError(Exception):
    """A size, value or argument is unknown, or contradicts another one."""


class Parameter(NamedTuple):
    """One parameter of an operator."""

    name: str
    kind: str
    """What the parameter accepts:

    - `Tensor`: a tensor
    - `Tensor?`: a tensor, or nothing
    - `Tensor[]`: a list of tensors
    - empty: a value that is not a tensor
    - `any`: any argument
    """

    def accepts(self, argument: Argument) -> bool:
        """Return whether the parameter can have `argument` as its value."""
        if self.kind == "any":
            return True
        if self.kind == "Tensor[]":
            return argument.is_list
        if self.kind == "Tensor":
            return argument.is_tensor
        if argument.is_absent:
            return True
        return argument.is_tensor if self.kind == "Tensor?" else argument.tensors is None


@cache
def _parameters(signature: str) -> tuple[Parameter, ...]:
    """Return the parameters in a text such as `Tensor input, Tensor? bias, stride`."""
    words = (one.split() for one in signature.split(",") if one.strip())
    return tuple(Parameter(one[-1], one[0] if len(one) > 1 else "") for one in words)


class Call:
    """One call of an operator.

    Each method that takes a name returns the argument with this name. It raises `UnknownError` if
    the argument is unknown or has another type, unless the docstring of the method says otherwise.
    """

    def __init__(self, name: str, arguments: Mapping[str, Argument]) -> None:
        self.name = name
        """The name without its namespace."""
        self.arguments = arguments

    def __contains__(self, name: str) -> bool:
        """Return whether the call has the argument `name`, and does not leave it out."""
        return name in self.arguments and not self.arguments[name].is_absent

    @property
    def is_in_place(self) -> bool:
        """Whether the operator writes its result to its first input."""
        return self.name.endswith("_") and not self.name.endswith("__")

    def optional(self, name: str) -> Tensor | None:
        """Return a tensor, or None if the argument is missing or is not a tensor."""
        argument = self.arguments.get(name)
        return argument.tensors[0] if argument and argument.is_tensor and argument.tensors else None

    def tensor(self, name: str) -> Tensor:
        """Return a tensor."""
        found = self.optional(name)
        return _unknown() if found is None else found

    def shape(self, name: str) -> Shape:
        """Return the shape of a tensor."""
        return shape_of(self.tensor(name))

    def tensors(self, name: str) -> tuple[Tensor, ...]:
        """Return the tensors of a list."""
        argument = self.arguments.get(name)
        return _unknown() if argument is None or not argument.tensors else argument.tensors

    def listed(self, name: str) -> tuple[Tensor, ...]:
        """Return the tensors of a list, or a single tensor; empty if the argument has none."""
        argument = self.arguments.get(name)
        return () if argument is None else argument.tensors or ()

    def every_tensor(self) -> tuple[Tensor, ...]:
        """Return the tensors of all arguments, including the tensors in lists."""
        return tuple(tensor for name in self.arguments for tensor in self.listed(name))

    def value(self, name: str, default: Value | None = None) -> Value:
        """Return a value that is not a tensor, or `default` if the call lacks the argument."""
        argument = self.arguments.get(name)
        found = default if argument is None else argument.value
        return _unknown() if found is None else found

    def flag(self, name: str, *, default: bool | None = None) -> bool:
        """Return a boolean. Some versions of torch write it as 0 or 1."""
        found = self.value(name, default)
        return bool(found) if isinstance(found, bool | int) else _unknown()

    def dtype(self, name: str, otherwise: str | None) -> str | None:
        """Return the dtype that an argument names; None if the dtype is unknown.

        If the call lacks the argument, return `otherwise`.
        """
        return SCALAR_TYPES.get(self.integer(name)) if name in self else otherwise

    def integer(self, name: str, default: int | None = None) -> int:
        """Return an integer."""
        found = self.value(name, default)
        return found if type(found) is int else _unknown()

    def integers(self, name: str, default: Sequence[int] | None = None) -> Shape:
        """Return a list of integers. A single integer becomes a list."""
        found = self.value(name, None if default is None else tuple(default))
        return tuple(integers_in(found if isinstance(found, tuple) else (found,)))

    def sizes(self, name: str, count: int, default: int | None = None) -> Shape:
        """Return a size for each of `count` dimensions. A single size applies to all dimensions."""
        found = self.integers(name, None if default is None else (default,))
        found = found * count if len(found) == 1 else found
        return found if len(found) == count and min(found, default=0) >= 0 else _unknown()


def calls_of(name: str, signatures: Sequence[str], arguments: Sequence[Argument]) -> Iterator[Call]:
    """Yield a call for each signature that fits the arguments, the likeliest signature first.

    A signature can fit even if there are more arguments than parameters, for two reasons:

    - A variant with `out` has its outputs as the last arguments.
    - In a scripted model, the profiler records all values on the stack of the interpreter. The
      last values are the arguments.
    """
    if not arguments:
        return
    found = [_parameters(signature) for signature in signatures]
    for parameters in found:
        surplus = arguments[len(parameters) :]
        if len(surplus) <= _MOST_OUTPUTS and all(one.is_tensor for one in surplus):
            yield from _matched(name, parameters, arguments)
    for parameters in found:
        first = len(arguments) - len(parameters)
        if first > 0:
            yield from _matched(name, parameters, arguments[first:])


def _matched(
    name: str, parameters: Sequence[Parameter], arguments: Sequence[Argument]
) -> Iterator[Call]:
    """Yield a call if each argument fits its parameter. The last arguments may be missing."""
    pairs = list(zip(parameters, arguments, strict=False))
    if all(parameter.accepts(argument) for parameter, argument in pairs):
        yield Call(name, {parameter.name: argument for parameter, argument in pairs})


def shape_of(tensor: Tensor) -> Shape:
    """Return the shape of a tensor. Raises `UnknownError` if a size is unknown."""
    sizes = tensor.shape
    return _unknown() if sizes is None else tuple(integers_in(sizes))


def integers_in(values: Sequence[object]) -> list[int]:
    """Return `values` as a list. Raises `UnknownError` if a value is not an integer."""
    found = [one for one in values if type(one) is int]
    return found if len(found) == len(values) else _unknown()


def _unknown() -> NoReturn:
    raise UnknownError

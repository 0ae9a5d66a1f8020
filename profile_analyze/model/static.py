"""`StaticModel`: the facts of a model that has not run, apart from its operators and tensors."""

from __future__ import annotations

from math import nan
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

Sizes: TypeAlias = "tuple[int | str | None, ...]"


class Port(NamedTuple):
    """An input or output of the whole model."""

    name: str
    sizes: Sizes | None
    """The size of each dimension: a number, a symbol, or None if nothing is known about it. None if
    even the number of dimensions is unknown."""
    dtype: str | None


class Stored(NamedTuple):
    """The initializers of a model and of its bodies, whether they are used or not."""

    tensors: int
    elements: float
    size: float
    """Their bytes; NaN if a dtype has no fixed size, such as texts."""


class BodyWork(NamedTuple):
    """The work of a graph inside an operator, such as the body of a loop, executed once."""

    operator: str
    """The path of names to the operator."""
    attribute: str
    """The attribute of the operator that has the body, such as `then_branch`."""
    operators: int
    macs: float
    """The multiply-adds of one execution, without the bodies inside this one; NaN is N/A."""
    trip_count: int | None
    """How often one call of the operator executes the body; None if it is unknown."""


class StaticModel(NamedTuple):
    """Facts of a model that has not run."""

    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    initializers: Stored = Stored(0, 0.0, 0.0)
    bodies: tuple[BodyWork, ...] = ()
    macs_executed: float = nan
    """The multiply-adds of one run with all bodies, as often as they are executed; NaN if that is
    unknown."""
    constant_operators: int = 0
    """How many operators depend on no input. They cost nothing, as their results can be stored."""
    macs_of_constant_operators: float = 0.0
    lacks: Mapping[str, str] = {}
    """The options with names of inputs and symbols that the model lacks, each with a message."""

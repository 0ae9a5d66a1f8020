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
    """The size of each dimension: a number, a symbol, or None if the size is unknown. None instead
    of a tuple means that even the number of dimensions is unknown."""
    dtype: str | None


class Stored(NamedTuple):
    """Counts of all initializers of a model and of its bodies, used or unused."""

    tensors: int
    elements: float
    size: float
    """The bytes of all elements; NaN if some elements, such as texts, have no fixed size."""


class BodyWork(NamedTuple):
    """The work of one execution of a body. A body is a graph inside an operator such as a loop."""

    operator: str
    """The path of the operator: the names of operators and bodies around it, then its own name."""
    attribute: str
    """The name of the attribute that holds the body, such as `then_branch`."""
    operators: int
    """The number of operators in the body."""
    macs: float
    """The multiply-adds of one execution, without bodies nested inside; NaN is N/A."""
    trip_count: int | None
    """How often one call of the operator executes the body; None if it is unknown."""
    executions: int | None = None
    """How often a run of the model executes the body; None if it is unknown."""


class StaticModel(NamedTuple):
    """Facts of a model that has not run."""

    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    initializers: Stored = Stored(0, 0.0, 0.0)
    bodies: tuple[BodyWork, ...] = ()
    never_run: tuple[tuple[str, ...], ...] = ()
    """The scopes of the operators that a run never executes."""
    macs_executed: float = nan
    """The multiply-adds of one run. Each body counts as often as the run executes it. NaN if a
    number is unknown."""
    constant_operators: int = 0
    """How many operators depend on no input. They cost nothing: their results can be stored."""
    macs_of_constant_operators: float = 0.0
    lacks: Mapping[str, str] = {}
    """The error message for each option that names an input or a symbol that the model lacks, such
    as `--dim batch`."""
    tile: tuple[int, int, int] | None = None
    """The largest M, N and K of a matrix product that the hardware computes at once, for the
    columns on tiles. None if the caller gives no such sizes."""

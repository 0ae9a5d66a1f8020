"""`Operation`: one operator in terms that all runtimes share, and `Work`: what it costs."""

from __future__ import annotations

from math import nan
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from profile_analyze.work.tensor import Tensor


class Operation(NamedTuple):
    """One operator. A reader translates it from the terms of its runtime.

    Inputs have the order in `Kind.inputs`, even if the runtime has another order.
    """

    kind: str
    """The name of a kind in `kinds.KINDS`."""
    inputs: tuple[Tensor | None, ...]
    """None for an optional input that is left out."""
    outputs: tuple[Tensor | None, ...]
    """None for an output that is not used."""
    attributes: Mapping[str, Any] = {}
    """The attributes that the formulas of the kind use. `Kind.inputs` has their names."""
    repeated: frozenset[int] = frozenset()
    """The positions of inputs that repeat an earlier input. The bytes of a repeated tensor count
    only once."""


class Work(NamedTuple):
    """What one call of an operator costs. NaN is N/A."""

    macs: float = nan
    """Multiply-adds. Padding counts; a bias, an activation or a normalization does not."""
    computation: float = nan
    """Floating-point operations: two for each multiply-add, and `Kind.other_operations`."""
    memory: float = nan
    """Bytes read and written. Most kinds read each input and write each output once."""

"""`RecordedFact`: a number about the whole program, read from the file or computed by a reader."""

from __future__ import annotations

from typing import Final, NamedTuple

ITERATIONS: Final = "iterations"
"""The label of the number of iterations in a run, if there may be several. Times are their sums."""


class RecordedFact(NamedTuple):
    """A number about the whole program that the tables of a profile do not have."""

    name: str
    """The name for programs. It ends with the unit, such as `_s` or `_per_s`."""
    value: float
    unit: str
    """`s` for a time. Other units are written as people read them: `inferences/s`. May be empty."""
    label: str
    """The label of the line that shows the fact. Facts with the same label share a line."""
    part: str = ""
    """The text before the number, in a line that shows several facts."""

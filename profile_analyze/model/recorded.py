"""`RecordedFact`: a number that the runtime itself printed about the whole program."""

from __future__ import annotations

from typing import NamedTuple


class RecordedFact(NamedTuple):
    """A number on the whole program, as in the file. It cannot be computed from the tables."""

    name: str
    """The name for programs. It ends with the unit, such as `_s` or `_per_s`."""
    value: float
    unit: str
    """`s` for a time. Other units are written as people read them: `inferences/s`. May be empty."""
    label: str
    """The label of the line that shows the fact. Facts with the same label share a line."""
    part: str = ""
    """The text before the number, in a line that shows several facts."""

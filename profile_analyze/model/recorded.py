"""`RecordedFact`: a number that the runtime itself printed about the whole program."""

from __future__ import annotations

from typing import NamedTuple


class RecordedFact(NamedTuple):
    """A number on the whole program, as the file has it, that follows from no table."""

    name: str
    """The name for programs, with the unit: `_s`, `_per_s`."""
    value: float
    unit: str
    """`s` for a time; another unit as people read it, such as `inferences/s`; or empty."""
    label: str
    """The label of the line that shows it. Facts with the same label share a line."""
    part: str = ""
    """What comes before the number in a line that shows several facts."""

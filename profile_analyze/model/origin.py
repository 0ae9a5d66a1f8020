"""Where a profile is from, and what its file says about the whole program."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from profile_analyze.model.terms import EACH, MEAN

if TYPE_CHECKING:
    from collections.abc import Sequence

FORMAT_SEPARATOR: Final = ", "
"""The text between the formats of a joined profile."""
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


class Origin(NamedTuple):
    """The source of a profile, and the kind of its times."""

    format: str
    """The name of the format."""
    version: str | None = None
    """The version of the format or of the runtime, if the file has one."""
    times: Literal["of each execution", "mean", "absent"] = EACH
    averaged_over: int | None = None
    """The number of inferences, if the times are means over inferences."""
    hardware: str | None = None
    """A description of the hardware, if the file has one."""
    synchronised: bool = False
    """Whether the runtime waited for each operator before it started the next. The time of an
    operator then includes the wait, so that all operators together may take longer than a run."""
    renaming: str = ""
    """Why operators have other names than in the program that was profiled, and how to tell the
    operators apart. Empty if the runtime keeps the names."""
    recorded: tuple[RecordedFact, ...] = ()
    """Numbers about the whole program, such as its latencies. The tables do not have them."""


def common_origin(origins: Sequence[Origin]) -> Origin:
    """Return the origin of a joined profile. Facts that differ between files are left out."""
    first = origins[0]
    if len(origins) == 1:
        return first
    same = {
        name: value
        for name, value in first._asdict().items()
        if all(getattr(origin, name) == value for origin in origins)
    }
    formats = FORMAT_SEPARATOR.join(dict.fromkeys(origin.format for origin in origins))
    kinds = {origin.times for origin in origins}
    # A single file of means is enough for the joined times to count as means.
    times = MEAN if MEAN in kinds else EACH if EACH in kinds else first.times
    # Likewise, a single synchronised file is enough for the joined times to count as synchronised.
    synchronised = any(origin.synchronised for origin in origins)
    return Origin(**{**same, "format": formats, "times": times, "synchronised": synchronised})

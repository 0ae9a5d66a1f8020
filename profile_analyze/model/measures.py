"""The measures: the kinds of time that a question can ask for.

A measure has one value for each operator in each run. It says which side of the profile it uses,
and which time of an execution. Calls in the same run and on the same track are added up. The reader
states how the times of several tracks are combined: `Track.together`.

`measuring.py` computes the measures.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

from profile_analyze.model.terms import DEVICE, HOST, Side

if TYPE_CHECKING:
    from collections.abc import Mapping

Field: TypeAlias = Literal["duration", "first_kernel", "self", "queue"]


class Measure(NamedTuple):
    """One kind of time."""

    name: str
    side: Side
    field: Field
    title: str
    """The name in output for people."""
    unknown_spreads: bool = True
    """Whether one unknown time makes the result N/A. Otherwise unknown times are left out."""

    @property
    def is_run_time(self) -> bool:
        """Whether the operator works all that time, so that FLOPS and bandwidth make sense."""
        return self.field in ("duration", "self")


TIME: Final = Measure("time", DEVICE, "duration", "device self time")
WAIT: Final = Measure("wait", DEVICE, "first_kernel", "device wait time", unknown_spreads=False)
HOST_TIME: Final = Measure("host_time", HOST, "duration", "host self time")
HOST_WAIT: Final = Measure(
    "host_wait", HOST, "first_kernel", "host wait time", unknown_spreads=False
)
SELF: Final = Measure("self", HOST, "self", "self time")
QUEUE: Final = Measure("queue", DEVICE, "queue", "queue delay", unknown_spreads=False)

MEASURES: Final[Mapping[str, Measure]] = {
    measure.name: measure for measure in (TIME, WAIT, HOST_TIME, HOST_WAIT, SELF, QUEUE)
}

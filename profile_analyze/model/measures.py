"""The measures: the kinds of time that a question can ask for.

A measure has one value for each operator in each run. The side of a measure says whether executions
on the device or on the host count. The field of a measure says which time of an execution counts.
Calls in the same run and on the same track are added up. `Track.together` says how the times of
several tracks are combined.

`measuring.py` computes the measures.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

from profile_analyze.model.terms import DEVICE, HOST, Side

if TYPE_CHECKING:
    from collections.abc import Mapping

Field: TypeAlias = Literal["duration", "median", "first_kernel", "self", "queue", "thread_wait"]


class Measure(NamedTuple):
    """One kind of time."""

    name: str
    side: Side
    field: Field
    title: str
    """The name in output for people."""
    propagates_unknown: bool = True
    """Whether one unknown time makes the result N/A. If false, unknown times are left out."""

    @property
    def is_run_time(self) -> bool:
        """Whether the operator runs during this time. For all other measures, FLOPS is N/A."""
        return self.field in ("duration", "median", "self")


# Unknown waits are left out, because they are common: a track may launch no kernel for an operator.
# The waits on the operator's other tracks still count.
TIME: Final = Measure("time", DEVICE, "duration", "device self time")
WAIT: Final = Measure("wait", DEVICE, "first_kernel", "device wait time", propagates_unknown=False)
HOST_TIME: Final = Measure("host_time", HOST, "duration", "host self time")
HOST_WAIT: Final = Measure(
    "host_wait", HOST, "first_kernel", "host wait time", propagates_unknown=False
)
TIME_MEDIAN: Final = Measure("time_median", DEVICE, "median", "median device time")
SELF: Final = Measure("self", HOST, "self", "self time")
QUEUE: Final = Measure("queue", DEVICE, "queue", "queue delay", propagates_unknown=False)
THREAD_WAIT: Final = Measure(
    "thread_wait", HOST, "thread_wait", "thread wait time", propagates_unknown=False
)

MEASURES: Final[Mapping[str, Measure]] = {
    measure.name: measure
    for measure in (TIME, WAIT, HOST_TIME, HOST_WAIT, TIME_MEDIAN, SELF, QUEUE, THREAD_WAIT)
}

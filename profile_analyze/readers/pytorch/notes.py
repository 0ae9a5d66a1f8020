"""Makes notes on a trace: what was left out or repaired, and what the numbers include."""

from __future__ import annotations

from typing import TYPE_CHECKING

from profile_analyze.model.notes import Importance, Note
from profile_analyze.model.regions import NO_STEPS, note_on_outside
from profile_analyze.units import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from profile_analyze.readers.pytorch.decoding import Trace
    from profile_analyze.readers.pytorch.executions import Recorded


def notes_on_trace(trace: Trace, found: Recorded) -> Iterator[Note]:
    """Yield the notes on the events and steps of a trace."""
    events = trace.events
    if not trace.has_end:
        yield Note(
            "the file ends in the middle, so events are missing; copy or export it again",
            Importance.DAMAGED,
        )
    if events.broken:
        yield Note(
            f"left out {counted(events.broken, 'event')} without valid JSON", Importance.WRONG
        )
    if events.untimed:
        yield Note(
            f"left out {counted(events.untimed, 'event')} without a time or a duration",
            Importance.INCOMPLETE,
        )
    if events.repaired:
        yield Note(
            f"read {counted(events.repaired, 'event')} whose texts are not valid JSON, because "
            "torch did not escape them",
            Importance.CONTEXT,
        )
    if events.mistyped:
        yield Note(
            f"left out the fields of {counted(events.mistyped, 'event')} that have a wrong type",
            Importance.INCOMPLETE,
        )
    if len(found.outside):
        yield note_on_outside(len(found.outside))
    if found.repetitions > 1:
        yield Note(
            f"the trace {NO_STEPS}, but each outermost operator ran {found.repetitions} times or a "
            "multiple of that; --step-region NAME turns each execution of a region into a step, "
            "and profiler.step() records steps",
            Importance.CONTEXT,
        )

"""Makes notes on a trace: what was left out or repaired, and what is unknown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from profile_analyze.model.levels.ancestors import innermost_above
from profile_analyze.model.levels.regions import NO_STEPS, note_on_outside
from profile_analyze.model.notes import Importance, Note, TextNote, notes_with_share, time_and_share
from profile_analyze.model.numbers import ratio, total
from profile_analyze.model.terms import KERNEL, OPERATOR, RUNTIME
from profile_analyze.readers.counted_times import CountedTimes
from profile_analyze.readers.overlaps import notes_on_overlaps
from profile_analyze.readers.pytorch.timeline import integers
from profile_analyze.readers.pytorch.work.operators import follows_from_shapes
from profile_analyze.units import counted, percent, short_time

if TYPE_CHECKING:
    from collections.abc import Iterator

    from profile_analyze.readers.pytorch.columns import Events
    from profile_analyze.readers.pytorch.decoding import Trace
    from profile_analyze.readers.pytorch.executions import Recorded
    from profile_analyze.readers.pytorch.rows import Row

_MOST_HOST_TIME: Final = 0.5
"""If one kind of driver call takes at least this share of the host time, host times say which
operators made these calls, rather than how long the operators themselves take."""
_NO_SHAPES: Final = (
    "the computation of {} is unknown without shapes; record with record_shapes=True"
)


def notes_on_trace(trace: Trace, found: Recorded, device_use: str | None) -> Iterator[Note]:
    """Yield the notes on the events and steps of a trace. For `device_use` see `use_of_device`."""
    events = trace.events
    yield from _notes_on_missing_work(trace, device_use)
    yield from _notes_on_left_out(events)
    if trace.has_end:
        yield from _notes_on_lost_kernels(found)
    yield from _notes_on_work(found)
    yield from notes_on_overlaps(found.overlaps)
    if device_use is not None:
        yield from _notes_on_driver_calls(events, found)
    if len(found.outside):
        yield note_on_outside(len(found.outside))
    if found.repetitions > 1:
        yield TextNote(
            f"the trace {NO_STEPS}, but it may have {found.repetitions} iterations: each outermost "
            f"operator ran {found.repetitions} times or a multiple of {found.repetitions}; "
            "--step-region NAME turns each execution of a region into a step, and "
            "profiler.step() records steps",
            Importance.CONTEXT,
        )
    yield from _notes_on_missing_shapes(found)


def _notes_on_left_out(events: Events) -> Iterator[Note]:
    """Yield notes on events that were left out or repaired."""
    if events.broken:
        yield TextNote(
            f"left out {counted(events.broken, 'part')} of the events: damaged or incomplete",
            Importance.WRONG,
        )
    if events.untimed:
        yield TextNote(
            f"left out {counted(events.untimed, 'event')} without a valid time or duration",
            Importance.INCOMPLETE,
        )
    if events.repaired:
        yield TextNote(
            f"read {counted(events.repaired, 'event')} whose texts are not valid JSON, because "
            "torch did not escape them",
            Importance.CONTEXT,
        )
    if events.mistyped:
        yield TextNote(
            f"left out fields that have a wrong type in {counted(events.mistyped, 'event')}",
            Importance.INCOMPLETE,
        )


def _notes_on_missing_work(trace: Trace, device_use: str | None) -> Iterator[Note]:
    """Yield a note if the file ends in the middle, or if it lacks the kernels that ran."""
    has_work = len(trace.events.work) > 0
    if not trace.has_end:
        where = ", so events are missing"
        if has_work:
            where += " and device times may be too short (torch writes kernels last)"
        elif device_use is not None:
            where = ", before any kernel (torch writes kernels last), so device times are N/A"
        yield TextNote(
            f"the file ends in the middle{where}; copy or export it again", Importance.DAMAGED
        )
    elif not has_work and device_use is not None:
        # An event without a valid time may have been the kernel.
        advice = (
            " with a valid time"
            if trace.events.untimed
            else "; record with the activity of the device, such as ProfilerActivity.CUDA"
        )
        yield TextNote(
            f"device times are N/A: {device_use}, but the trace has no kernel{advice}",
            Importance.INCOMPLETE,
        )


def _notes_on_lost_kernels(found: Recorded) -> Iterator[Note]:
    """Yield a note if some launches of kernels have no kernel in the file."""
    lost, launches = found.lost_launches
    if lost:
        have = "has" if lost == 1 else "have"
        yield TextNote(
            f"{lost} of {counted(launches, 'launch', 'launches')} {have} no kernel in "
            "the file; FLOPS and bandwidth leave out calls without a kernel",
            Importance.INCOMPLETE,
        )


def _notes_on_work(found: Recorded) -> Iterator[Note]:
    """Yield notes on work from before the recording, and on work with impossible durations."""
    executions = found.executions
    is_earlier = np.array([row.is_earlier for row in found.rows], np.bool_)[executions.operator]
    if is_earlier.any():
        of_work = np.array([row.level == KERNEL for row in found.rows], np.bool_)
        earlier_s = total(executions.duration_s[is_earlier])
        whole_s = total(executions.duration_s[of_work[executions.operator]])
        yield TextNote(
            f"left out {counted(int(is_earlier.sum()), 'kernel')}, {time_and_share(earlier_s, 1)}, "
            "that ran before the first kernel whose launch is in the file: they were "
            "probably launched before the recording",
            Importance.INCOMPLETE,
            float(ratio(np.array(earlier_s), whole_s)),
        )
    if found.clipped.kernels:
        yield TextNote(
            f"shortened {counted(found.clipped.kernels, 'kernel')} by "
            f"{short_time(found.clipped.excess_s)} in total: a kernel cannot overlap the next "
            "kernel of its stream",
            Importance.WRONG,
        )


def _notes_on_driver_calls(events: Events, found: Recorded) -> Iterator[Note]:
    """Yield a note if one kind of driver call takes most of the host time of the operators.

    No table of host times shows such a call. Calls that wait for the device do not count: the
    summary shows the waits.
    """
    executions, first = found.executions, len(events.host)
    calls = slice(first, first + len(events.calls))
    is_inside = (executions.parent[calls] >= 0) & ~(executions.thread_wait_s[calls] > 0)
    is_inside &= np.array([row.level == RUNTIME for row in found.rows])[executions.operator[calls]]
    names = integers(events.calls.facts)[is_inside]
    if not len(names):
        return
    seconds = np.bincount(names, executions.duration_s[calls][is_inside])
    most = int(np.argmax(seconds))
    share = seconds[most] / (total(executions.duration_s[found.outermost]) or np.nan)
    if share >= _MOST_HOST_TIME:
        name, calls_of_name = [*events.call_names][most], int(np.count_nonzero(names == most))
        yield TextNote(
            f"{percent(share)} of the host time of operators is in {name} "
            f"({counted(calls_of_name, 'call')})",
            Importance.WRONG,
        )


def _notes_on_missing_shapes(found: Recorded) -> Iterator[Note]:
    """Yield a note if the trace has operators, but no shapes."""
    rows = [row for row in found.rows if row.level == OPERATOR]
    if any(row.described is not None and row.described.in_shapes is not None for row in rows):
        return
    is_unknown = np.array(
        [row.level == OPERATOR and _lacks_shapes(row) for row in found.rows], np.bool_
    )
    times = _counted_times(found)
    if len(times.operator):
        # Some operators have no time, for example because they launch no kernel. Their computation
        # does not matter.
        has_time = np.zeros(len(is_unknown), np.bool_)
        has_time[times.operator] = True
        is_unknown &= has_time
    yield from notes_with_share(
        _NO_SHAPES, Importance.INCOMPLETE, int(is_unknown.sum()), times.share_of(is_unknown),
        dropped_beside="model",
    )  # fmt: skip


def _lacks_shapes(row: Row) -> bool:
    """Return whether the computation of an operator is unknown only because shapes are missing."""
    is_unknown = row.described is None or bool(np.isnan(row.described.work.computation))
    return is_unknown and follows_from_shapes(row.name)


def _counted_times(found: Recorded) -> CountedTimes:
    """Return the times that add up to the total.

    If the trace has kernels, these are the kernels that operators launched. Otherwise these are the
    times of operators without the operators that ran inside them.
    """
    executions = found.executions
    levels = np.array([row.level for row in found.rows])[executions.operator]
    is_operator, is_kernel = levels == OPERATOR, levels == KERNEL
    above = innermost_above(executions.above, is_operator)
    owned = np.flatnonzero(is_kernel if is_kernel.any() else is_operator)
    owner = np.where(is_operator, np.arange(len(executions)), above)[owned]
    duration_s = executions.duration_s if is_kernel.any() else executions.own_s
    counts = owned[owner >= 0]
    return CountedTimes(
        executions.operator[owner[owner >= 0]], executions.run[counts], duration_s[counts]
    )

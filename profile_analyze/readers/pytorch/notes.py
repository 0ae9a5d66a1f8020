"""Findings on a trace: what was left out or repaired, and what is unknown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from profile_analyze.model.findings import Finding, Kind, on_operators
from profile_analyze.model.levels.ancestors import innermost_above
from profile_analyze.model.numbers import ratio, total
from profile_analyze.model.terms import KERNEL, OPERATOR, RUNTIME
from profile_analyze.readers.counted_times import CountedTimes
from profile_analyze.readers.overlaps import on_overlaps
from profile_analyze.readers.pytorch.timeline import integers
from profile_analyze.readers.pytorch.work.operators import follows_from_shapes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from profile_analyze.readers.pytorch.columns import Events
    from profile_analyze.readers.pytorch.decoding import Trace
    from profile_analyze.readers.pytorch.executions import Recorded
    from profile_analyze.readers.pytorch.rows import Row
    from profile_analyze.readers.pytorch.tracks import DeviceUse

_MOST_HOST_TIME: Final = 0.5
"""If one kind of driver call takes at least this share of the host time, host times say which
operators made these calls, rather than how long the operators themselves take."""


def notes_on_trace(
    trace: Trace, found: Recorded, device_use: DeviceUse | None
) -> Iterator[Finding]:
    """Yield the findings on the events and steps of a trace."""
    yield from _on_missing_work(trace, device_use)
    yield from _on_left_out(trace.events)
    lost, launches = found.lost_launches
    if trace.has_end and lost:
        yield Finding.of("lost-kernels", Kind.INCOMPLETE, lost=lost, launches=launches)
    yield from _on_work(found)
    yield from on_overlaps(found.overlaps)
    if device_use is not None:
        yield from _on_driver_calls(trace.events, found)
    if len(found.outside):
        yield Finding.of("outside-steps", Kind.CONTEXT, executions=len(found.outside))
    if found.repetitions > 1:
        yield Finding.of("no-steps", Kind.CONTEXT, iterations=found.repetitions)
    yield from _on_missing_shapes(found)


def _on_left_out(events: Events) -> Iterator[Finding]:
    """Yield findings on events that were left out or repaired."""
    if events.broken:
        yield Finding.of("damaged-events", Kind.WRONG, parts=events.broken)
    if events.untimed:
        yield Finding.of("untimed-events", Kind.INCOMPLETE, events=events.untimed)
    if events.repaired:
        yield Finding.of("repaired-events", Kind.CONTEXT, events=events.repaired)
    if events.mistyped:
        yield Finding.of("mistyped-fields", Kind.INCOMPLETE, events=events.mistyped)


def _on_missing_work(trace: Trace, device_use: DeviceUse | None) -> Iterator[Finding]:
    """Yield a finding if the file ends in the middle, or if it lacks the kernels that ran."""
    has_kernels = len(trace.events.work) > 0
    if not trace.has_end:
        yield Finding.of(
            "cut-trace", Kind.DAMAGED, has_kernels=has_kernels, uses_device=device_use is not None
        )
    elif not has_kernels and device_use is not None:
        yield Finding.of(
            "no-kernels", Kind.INCOMPLETE, untimed=trace.events.untimed, **device_use._asdict()
        )


def _on_work(found: Recorded) -> Iterator[Finding]:
    """Yield findings on work from before the recording, and on work with impossible durations."""
    executions = found.executions
    is_earlier = np.array([row.is_earlier for row in found.rows], np.bool_)[executions.operator]
    if is_earlier.any():
        of_work = np.array([row.level == KERNEL for row in found.rows], np.bool_)
        earlier_s = total(executions.duration_s[is_earlier])
        whole_s = total(executions.duration_s[of_work[executions.operator]])
        yield Finding.of(
            "earlier-kernels",
            Kind.INCOMPLETE,
            share=float(ratio(np.array(earlier_s), whole_s)),
            kernels=int(is_earlier.sum()),
            earlier_s=earlier_s,
        )
    if found.clipped.kernels:
        yield Finding.of("shortened-kernels", Kind.WRONG, **found.clipped._asdict())


def _on_driver_calls(events: Events, found: Recorded) -> Iterator[Finding]:
    """Yield a finding if one kind of driver call takes most of the host time of the operators.

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
        calls_of_name = np.count_nonzero(names == most)
        yield Finding.of(
            "driver-call-dominates",
            Kind.WRONG,
            part=share,
            call=[*events.call_names][most],
            calls=calls_of_name,
        )


def _on_missing_shapes(found: Recorded) -> Iterator[Finding]:
    """Yield a finding if the trace has operators, but no shapes."""
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
    yield from on_operators(
        "no-shapes",
        Kind.INCOMPLETE,
        int(is_unknown.sum()),
        times.share_of(is_unknown),
        dropped_beside="model",
        file_format="PyTorch trace",
    )


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

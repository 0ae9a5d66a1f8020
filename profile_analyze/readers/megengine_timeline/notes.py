"""Notes on a timeline: which events and numbers are missing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from profile_analyze.model.findings import Finding, Kind, on_operators
from profile_analyze.model.terms import OPERATOR
from profile_analyze.readers.counted_times import CountedTimes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from profile_analyze.model.notes import Note
    from profile_analyze.model.operators import Operators
    from profile_analyze.readers.megengine_timeline.decoding import Timeline
    from profile_analyze.readers.megengine_timeline.executions import Recorded
    from profile_analyze.readers.megengine_timeline.recording import Recording


def notes_on(
    timeline: Timeline,
    recording: Recording,
    found: Recorded,
    operators: Operators,
    incomplete: int,
) -> Iterator[Note]:
    """Yield the notes. `incomplete` counts the executions left out of an incomplete iteration."""
    if not timeline.is_complete:
        yield Finding.of("cut-timeline", Kind.DAMAGED, left_out=incomplete)
    elif incomplete:
        yield Finding.of("open-iteration", Kind.INCOMPLETE, executions=incomplete)
    # In a file that is cut, spans without an end are expected, so they get no note.
    open_spans = int(np.isnan(np.array(recording.spans.end_us)).sum())
    if events := (open_spans if timeline.is_complete else 0) + recording.unmatched:
        yield Finding.of("unmatched-events", Kind.INCOMPLETE, events=events)
    if found.impossible:
        yield Finding.of("impossible-times", Kind.INCOMPLETE, executions=found.impossible)
    if not len(recording.kernels.start_us):
        yield Finding.of("no-device-times", Kind.INCOMPLETE)
    yield from _note_on_unknown_work(found, operators)


def _note_on_unknown_work(found: Recorded, operators: Operators) -> Iterator[Note]:
    is_operator = operators.are_at(OPERATOR)
    is_unknown = is_operator & np.isnan(operators.computation)
    if not is_unknown.any():
        return
    executions = found.executions
    launcher = executions.launched_by
    owner = np.where(launcher >= 0, executions.operator[launcher], executions.operator)
    duration_s = np.nan_to_num(executions.duration_s)
    is_device = np.array([track.side == "device" for track in found.tracks])[executions.track]
    counts = is_device if is_device.any() else is_operator[executions.operator]
    times = CountedTimes(owner[counts], executions.run[counts], duration_s[counts])
    yield from on_operators(
        *("underivable-work", Kind.INCOMPLETE, int(is_unknown.sum()), times.share_of(is_unknown)),
        dropped_beside="model", facts=["type", "shapes", "parameters"],
    )  # fmt: skip

"""Notes on a timeline: which events and numbers are missing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from profile_analyze.model.notes import Importance, Note, TextNote, notes_with_share, unknown_work
from profile_analyze.model.terms import OPERATOR
from profile_analyze.readers.counted_times import CountedTimes
from profile_analyze.units import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

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
    executions = counted(incomplete, "execution")
    if not timeline.is_complete and incomplete:
        yield TextNote(
            f"the file ends in the middle: left out {executions} of operators in an incomplete "
            "iteration; copy the file again",
            Importance.DAMAGED,
        )
    elif not timeline.is_complete:
        yield TextNote(
            "the file ends in the middle, so events may be missing; copy it again",
            Importance.DAMAGED,
        )
    elif incomplete:
        yield TextNote(
            f"left out {executions} of operators in an iteration that did not end",
            Importance.INCOMPLETE,
        )
    # In a file that is cut, spans without an end are expected, so they get no note.
    open_spans = int(np.isnan(np.array(recording.spans.end_us)).sum())
    if events := (open_spans if timeline.is_complete else 0) + recording.unmatched:
        yield TextNote(
            f"left out {counted(events, 'event')} without a matching begin or end",
            Importance.INCOMPLETE,
        )
    if found.impossible:
        yield TextNote(
            f"left out the times of {counted(found.impossible, 'execution')}: they are impossible",
            Importance.INCOMPLETE,
        )
    if not len(recording.kernels.start_us):
        yield TextNote(
            "the file has no device times; profile with profile_device=1, which is "
            "the default of Profiler",
            Importance.INCOMPLETE,
        )
    yield from _note_on_unknown_work(found, operators)


def _note_on_unknown_work(found: Recorded, operators: Operators) -> Iterator[Note]:
    is_operator = operators.level.where(one == OPERATOR for one in operators.level.categories)
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
    yield from notes_with_share(
        unknown_work("type, shapes and parameters"),
        Importance.INCOMPLETE,
        int(is_unknown.sum()),
        times.share_of(is_unknown),
        dropped_beside="model",
    )

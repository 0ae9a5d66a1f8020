"""Notes on a timeline: what is missing, and what the numbers include."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from profile_analyze.model.notes import Importance, Note, operators_and_share
from profile_analyze.model.terms import OPERATOR
from profile_analyze.units import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from profile_analyze.model.operators import Operators
    from profile_analyze.readers.megengine_timeline.decoding import Timeline
    from profile_analyze.readers.megengine_timeline.executions import Recorded
    from profile_analyze.readers.megengine_timeline.recording import Recording


def notes_on(
    timeline: Timeline, recording: Recording, found: Recorded, operators: Operators
) -> Iterator[Note]:
    """Yield the notes on a profile."""
    if not timeline.is_complete:
        yield Note(
            "the file ends in the middle, so events may be missing; copy it again",
            Importance.INCOMPLETE,
        )
    open_spans = int(np.isnan(np.array(recording.spans.end_us)).sum())
    if lost := open_spans + recording.unmatched:
        yield Note(
            f"left out {counted(lost, 'event')} without begin or end",
            Importance.INCOMPLETE,
        )
    if not len(recording.kernels.start_us):
        yield Note(
            "the file has no times of devices; profile with the option profile_device=1 of "
            "Profiler, its default",
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
    time_s = np.bincount(owner[counts], duration_s[counts], len(operators))
    total_s = float(time_s.sum())
    share = float(time_s[is_unknown].sum()) / total_s if total_s else float("nan")
    yield Note(
        f"the computation of {operators_and_share(int(is_unknown.sum()))} does not follow from "
        "their types, shapes and parameters",
        Importance.INCOMPLETE,
        share,
        is_without_model=True,
    )

"""Leaves out the last iteration of a timeline if it is incomplete."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from profile_analyze.readers.megengine_timeline.placing import ITERATION, outermost_of
from profile_analyze.readers.megengine_timeline.recording import NONE

if TYPE_CHECKING:
    from array import array

    from numpy.typing import NDArray

    from profile_analyze.readers.megengine_timeline.recording import Recording

    Chosen = NDArray[np.bool_]
    Indices = NDArray[np.int64]


def leave_out_incomplete(recording: Recording, *, is_cut: bool) -> int:
    """Remove the spans and kernels of an incomplete last iteration from `recording`.

    Return how many executions of operators were removed. If no iteration is complete, nothing is
    removed. `is_cut` says whether the file ends in the middle of the list of events.
    """
    spans = recording.spans
    has_end = ~np.isnan(np.array(spans.end_us))
    is_operator = (np.array(spans.facts) >= 0) & has_end
    pids = np.array([pid for pid, _ in recording.threads], np.int64)[np.array(spans.thread)]
    dropped = _in_open_iterations(recording, has_end, is_operator)
    if is_cut:
        dropped |= _after_steps(recording, pids, is_operator)
    if dropped.any():
        _remove_kernels(recording, pids, dropped)
        _remove_spans(recording, dropped)
    return int((dropped & is_operator).sum())


def _in_open_iterations(recording: Recording, has_end: Chosen, is_operator: Chosen) -> Chosen:
    """Return which spans are in an iteration whose scope did not end."""
    spans = recording.spans
    outermost = outermost_of(np.array(spans.parent))
    # The outermost spans that contain operators, or are operators.
    used = np.flatnonzero(np.bincount(outermost[is_operator], minlength=len(has_end)))
    is_open = np.zeros(len(has_end), np.bool_)
    is_open[used] = ~has_end[used]
    are_iterations = all(ITERATION.fullmatch(spans.name[index]) for index in used.tolist())
    if not are_iterations or is_open[used].all():
        return np.zeros(len(has_end), np.bool_)
    result: Chosen = is_open[outermost]
    return result


def _after_steps(recording: Recording, pids: Indices, is_operator: Chosen) -> Chosen:
    """Return which spans began after the last step of their process ended.

    A step ends with the event `StopStep`. The result is False for processes without this event.
    """
    workers = {*np.array(recording.spans.thread)[is_operator].tolist()}
    pid_of_thread = [pid for pid, _ in recording.threads]
    result = np.zeros(len(pids), np.bool_)
    last = {pid_of_thread[thread]: end for thread, end in recording.steps if thread in workers}
    for pid, end in last.items():
        result[end:] |= pids[end:] == pid
    return result


def _remove_kernels(recording: Recording, pids: Indices, dropped: Chosen) -> None:
    """Remove the kernels that the removed spans may have launched.

    A kernel stays if its launching operator stays, or if it ended before the first removed span of
    its process began.
    """
    spans, kernels = recording.spans, recording.kernels
    ids = np.array(spans.id)
    launchers = {*zip(pids[~dropped].tolist(), ids[~dropped].tolist(), strict=True)}
    first = {pid: int(np.argmax(dropped & (pids == pid))) for pid in {*pids[dropped].tolist()}}
    pid_of_thread = [pid for pid, _ in recording.threads]
    is_kept = np.zeros(len(kernels.id), np.bool_)
    for index, (thread, id_) in enumerate(zip(kernels.thread, kernels.id, strict=True)):
        pid = pid_of_thread[thread]
        is_early = kernels.spans_before[index] <= first.get(pid, len(dropped))
        is_kept[index] = is_early or (id_ != NONE and (pid, id_) in launchers)
    columns = (kernels.start_us, kernels.end_us, kernels.thread, kernels.id, kernels.facts)
    for column in (*columns, kernels.spans_before):
        _keep(column, is_kept)
    _renumber(kernels.spans_before, dropped)


def _remove_spans(recording: Recording, dropped: Chosen) -> None:
    spans, is_kept = recording.spans, ~dropped
    spans.name = [name for name, kept in zip(spans.name, is_kept.tolist(), strict=True) if kept]
    columns = (spans.start_us, spans.end_us, spans.thread, spans.facts, spans.id, spans.launch_us)
    for column in (*columns, spans.parent):
        _keep(column, is_kept)
    has_parent = np.array(spans.parent) != NONE
    _renumber(spans.parent, dropped, has_parent)
    positions = np.append(0, np.cumsum(is_kept)).tolist()
    recording.steps = [(thread, positions[before]) for thread, before in recording.steps]


def _keep(column: array[Any], is_kept: Chosen) -> None:
    column[:] = type(column)(column.typecode, np.array(column)[is_kept].tolist())


def _renumber(column: array[int], dropped: Chosen, chosen: Chosen | None = None) -> None:
    """Update a column after the dropped spans are removed.

    The entries of `column` are positions among all spans. Replace them by positions among the spans
    that stay. If `chosen` is given, only the chosen entries are replaced.
    """
    positions = np.append(0, np.cumsum(~dropped))
    old = np.array(column)
    new = positions[old] if chosen is None else np.where(chosen, positions[old], old)
    column[:] = type(column)(column.typecode, new.tolist())

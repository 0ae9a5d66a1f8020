"""Places the spans of workers: their runs, what is around them, and their paths."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from profile_analyze.readers.megengine_timeline.recording import NONE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from profile_analyze.readers.megengine_timeline.recording import Recording

    Indices = NDArray[np.int64]

ITERATION: Final = re.compile(r"(?i:iter|iteration|step|run|batch|loop)[ _-]?\d*")
"""The names of outermost scopes that count as iterations, if all operators are in such scopes."""


class Iteration(NamedTuple):
    """One iteration of the network."""

    pid: int
    number: int
    """From 1, in each process."""
    label: str | None
    """The name of its scope, if it is one."""


class Placed(NamedTuple):
    """The operators and scopes of workers. The columns have an entry for each."""

    span: Indices
    """Their indices in `Recording.spans`, in ascending order."""
    pid: Indices
    run: Indices
    """The index in `iterations`."""
    parent: Indices
    """The index in `Placed` of what is around it, or -1."""
    path: list[tuple[str, ...]]
    """The names of all that is around it, outermost first."""
    iterations: list[Iteration]

    def runs_of(self, pid: int, positions: Indices) -> Indices:
        """Return the runs of the last of them that began before so many spans."""
        own = np.flatnonzero(self.pid == pid)
        if not len(own):
            return np.zeros(len(positions), np.int64)
        before = np.searchsorted(self.span[own], positions) - 1
        return self.run[own[np.maximum(before, 0)]]


def placed(recording: Recording) -> Placed:
    """Return the operators and scopes of workers: the threads that ran operators."""
    spans = recording.spans
    facts, thread = np.array(spans.facts), np.array(spans.thread)
    has_end = ~np.isnan(np.array(spans.end_us))
    is_operator = (facts >= 0) & has_end
    workers = {*thread[is_operator].tolist()}
    is_kept = has_end & np.isin(thread, [*workers])
    pids = np.array([pid for pid, _ in recording.threads], np.int64)[thread]
    all_parents = np.append(np.array(spans.parent), NONE)  # -1 stays -1: it is the last entry
    parent = _nearest(all_parents, is_kept)
    outermost = outermost_of(parent)
    is_iteration = _iteration_scopes(recording, is_kept, is_operator, outermost)
    run, iterations = _runs(recording, pids, workers, is_operator, outermost, is_iteration)
    is_kept &= ~is_iteration
    parent = _nearest(all_parents, is_kept)
    span = np.flatnonzero(is_kept & (run >= 0))
    new_index = np.full(len(is_kept) + 1, NONE)
    new_index[span] = np.arange(len(span))
    parent = new_index[parent[span]]
    path: list[tuple[str, ...]] = []
    inside: dict[int, tuple[str, ...]] = {NONE: ()}
    for outer in parent.tolist():
        if outer not in inside:
            inside[outer] = (*path[outer], spans.name[span[outer]])
        path.append(inside[outer])
    return Placed(span, pids[span], run[span], parent, path, iterations)


def _nearest(all_parents: Indices, is_kept: NDArray[np.bool_]) -> Indices:
    """Return the nearest span around each one that is kept, or -1."""
    is_end = np.append(is_kept, True)  # nothing is around the outermost
    parent = all_parents[:-1]
    while not is_end[parent].all():
        parent = np.where(is_end[parent], parent, all_parents[parent])
    return parent


def outermost_of(parent: Indices) -> Indices:
    """Return the outermost span around each one, or the span itself."""
    result = np.arange(len(parent))
    with_end = np.append(parent, NONE)
    while (inner := with_end[result] >= 0).any():
        result = np.where(inner, with_end[result], result)
    return result


def _iteration_scopes(
    recording: Recording,
    is_kept: NDArray[np.bool_],
    is_operator: NDArray[np.bool_],
    outermost: Indices,
) -> NDArray[np.bool_]:
    """Return which spans are iterations: outermost scopes with such names, around all operators."""
    used = np.flatnonzero(np.bincount(outermost[is_operator], minlength=len(is_kept)))
    names = recording.spans.name
    result = np.zeros(len(is_kept), np.bool_)
    if len(used) and all(
        not is_operator[index] and ITERATION.fullmatch(names[index]) for index in used.tolist()
    ):
        result[used] = True
    return result


def _runs(  # one argument for each column
    recording: Recording,
    pids: Indices,
    workers: set[int],
    is_operator: NDArray[np.bool_],
    outermost: Indices,
    is_iteration: NDArray[np.bool_],
) -> tuple[Indices, list[Iteration]]:
    """Return the run of each span, -1 for none, and the iterations with at least one operator."""
    part = np.zeros(len(pids), np.int64)
    pid_of_thread = [pid for pid, _ in recording.threads]
    for pid in sorted({*pids.tolist()}):
        own = np.flatnonzero(pids == pid)
        ends = [
            position
            for thread, position in recording.steps
            if thread in workers and pid_of_thread[thread] == pid
        ]
        if ends:
            part[own] = np.searchsorted(ends, own, side="right")
        else:
            starts = own[is_iteration[own]]
            part[own] = np.searchsorted(starts, outermost[own], side="right")
    run = np.full(len(pids), NONE)
    iterations: list[Iteration] = []
    numbers: dict[int, int] = {}
    for pid, number in sorted(
        {*zip(pids[is_operator].tolist(), part[is_operator].tolist(), strict=True)}
    ):
        belongs = (pids == pid) & (part == number)
        run[belongs] = len(iterations)
        scopes = np.flatnonzero(belongs & is_iteration)
        numbers[pid] = numbers.get(pid, 0) + 1
        label = recording.spans.name[scopes[0]] if len(scopes) == 1 else None
        iterations.append(Iteration(pid, numbers[pid], label))
    return run, iterations

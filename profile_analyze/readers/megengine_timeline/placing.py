"""Finds the run, the parent and the path of each operator and scope on the threads of workers.

Workers are the threads that run operators.
"""

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
"""Outermost scopes with these names are iterations, if every operator is in one of them."""


class Iteration(NamedTuple):
    """One iteration of the network."""

    pid: int
    number: int
    """The number of the iteration in its process, from 1."""
    label: str | None
    """The name of the scope, if the iteration is a scope."""


class Placed(NamedTuple):
    """Columns with an entry for each operator and each scope of workers."""

    span: Indices
    """The index in `Recording.spans`, in ascending order."""
    pid: Indices
    run: Indices
    """The index in `iterations`."""
    parent: Indices
    """The index in `Placed` of the scope or operator around the entry, or -1."""
    path: list[tuple[str, ...]]
    """The names of all scopes and operators around the entry, outermost first."""
    iterations: list[Iteration]

    def runs_of(self, pid: int, positions: Indices) -> Indices:
        """Return the run of process `pid` at each of `positions` in the file.

        A position says how many spans began earlier in the file. The result is the run of the last
        entry of the process among these spans. If there is none, the first entry counts.
        """
        own = np.flatnonzero(self.pid == pid)
        if not len(own):
            return np.zeros(len(positions), np.int64)
        before = np.searchsorted(self.span[own], positions) - 1
        return self.run[own[np.maximum(before, 0)]]


def placed(recording: Recording) -> Placed:
    """Return the operators and scopes of workers, with their runs, parents and paths."""
    spans = recording.spans
    facts, thread = np.array(spans.facts), np.array(spans.thread)
    has_end = ~np.isnan(np.array(spans.end_us))
    is_operator = (facts >= 0) & has_end
    workers = {*thread[is_operator].tolist()}
    is_kept = has_end & np.isin(thread, [*workers])
    pids = np.array([pid for pid, _ in recording.threads], np.int64)[thread]
    # The index -1 stands for "no parent". The appended entry makes -1 its own parent.
    all_parents = np.append(np.array(spans.parent), NONE)
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
    """Return, for each span, the innermost kept span around it, or -1."""
    is_end = np.append(is_kept, True)  # -1 (no parent) also ends the search
    parent = all_parents[:-1]
    while not is_end[parent].all():
        parent = np.where(is_end[parent], parent, all_parents[parent])
    return parent


def outermost_of(parent: Indices) -> Indices:
    """Return, for each span, the outermost span around it; the span itself if it has no parent."""
    result = np.arange(len(parent))
    while (inner := parent[result] >= 0).any():
        result = np.where(inner, parent[result], result)
    return result


def _iteration_scopes(
    recording: Recording,
    is_kept: NDArray[np.bool_],
    is_operator: NDArray[np.bool_],
    outermost: Indices,
) -> NDArray[np.bool_]:
    """Return which spans are iterations: outermost scopes whose names match `ITERATION`.

    If an operator is outside of such scopes, no span is an iteration.
    """
    # The outermost spans that contain operators, or are operators.
    used = np.flatnonzero(np.bincount(outermost[is_operator], minlength=len(is_kept)))
    names = recording.spans.name
    result = np.zeros(len(is_kept), np.bool_)
    if len(used) and all(
        not is_operator[index] and ITERATION.fullmatch(names[index]) for index in used.tolist()
    ):
        result[used] = True
    return result


def _runs(
    recording: Recording,
    pids: Indices,
    workers: set[int],
    is_operator: NDArray[np.bool_],
    outermost: Indices,
    is_iteration: NDArray[np.bool_],
) -> tuple[Indices, list[Iteration]]:
    """Return the run of each span (-1 for none), and the iterations with at least one operator."""
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
    run = _numbered_with_operators(pids, part, is_operator)
    pid_of = dict(zip(run.tolist(), pids.tolist(), strict=True))
    scopes_of: dict[int, list[int]] = {}
    for scope in np.flatnonzero(is_iteration).tolist():
        scopes_of.setdefault(int(run[scope]), []).append(scope)
    iterations: list[Iteration] = []
    numbers: dict[int, int] = {}
    for number in range(run.max(initial=NONE) + 1):
        pid, scopes = pid_of[number], scopes_of.get(number, [])
        numbers[pid] = numbers.get(pid, 0) + 1
        label = recording.spans.name[scopes[0]] if len(scopes) == 1 else None
        iterations.append(Iteration(pid, numbers[pid], label))
    return run, iterations


def _numbered_with_operators(
    pids: Indices, part: Indices, is_operator: NDArray[np.bool_]
) -> Indices:
    """Return the run of each span, numbered from 0 over all processes; -1 for none.

    `part` counts the steps that ended before each span, or the iterations that began. Spans of one
    process with the same count form a run if one of them is an operator.
    """
    order = np.lexsort((part, pids))
    is_new = np.ones(len(order), np.bool_)
    is_new[1:] = (np.diff(pids[order]) != 0) | (np.diff(part[order]) != 0)
    number = np.empty(len(order), np.int64)
    number[order] = np.cumsum(is_new) - 1
    has_operators = np.bincount(number[is_operator], minlength=int(is_new.sum())) > 0
    return np.where(has_operators, np.cumsum(has_operators) - 1, NONE)[number]

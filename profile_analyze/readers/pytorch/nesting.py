"""Nests the events of each thread: finds, from their times, which event ran inside which.

The innermost event around another event is its parent. Each argument or result named `start`, `end`
or `parent` has shape (events,). Times are whole numbers. The index -1 stands for "no event".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Indices: TypeAlias = NDArray[np.int64]


def parents(thread: Indices, start: Indices, end: Indices) -> Indices:
    """Return, for each event, the innermost event around it on its thread, or -1, shape (events,).

    An event that starts when another event ends is not inside it. Of two events with equal times,
    the first one is the outer one.

    Because times are rounded, an event can seem to end after its parent. The end of the parent is
    then used as the end of the event.
    """
    result = np.full(len(start), -1)
    for rows in rows_by_start(thread, start, end):
        inner = _nested(start[rows], end[rows])
        result[rows] = np.where(inner >= 0, rows[inner], -1)
    return result


def rows_by_start(thread: Indices, start: Indices, end: Indices) -> Iterator[Indices]:
    """Yield, for each thread, the indices of its events, sorted by start, then longest first."""
    by_thread = np.argsort(thread, kind="stable")
    bounds = np.flatnonzero(np.diff(thread[by_thread])) + 1
    for events in np.split(by_thread, bounds):
        starts, ends = start[events], end[events]
        later = starts[1:] > starts[:-1]
        is_sorted = (later | ((starts[1:] == starts[:-1]) & (ends[1:] <= ends[:-1]))).all()
        rows = events if is_sorted else events[np.lexsort((-ends, starts))]
        if len(rows):
            yield rows


def innermost(rows: Indices, start: Indices, end: Indices, times: Indices) -> Indices:
    """Return, for each of `times`, the innermost event that is open then, or -1, shape (times,).

    `rows` are the indices of the events of one thread, sorted by start. `start` and `end` have the
    times of the events of all threads. No event may end after its parent: see `clipped`.
    """
    starts, ends = start[rows], end[rows]
    latest = np.searchsorted(starts, times, side="right") - 1
    # Open events are nested. With n open events, the innermost one has depth n - 1. It is the last
    # event of this depth that has started.
    depth = latest - np.searchsorted(np.sort(ends), times, side="right")
    by_depth, depths = _by_depth(_open_events(starts, ends))
    keys = depths * len(rows) + by_depth
    position = np.searchsorted(keys, depth * len(rows) + latest, side="right") - 1
    return np.where(depth >= 0, rows[by_depth[position]], -1)


def clipped(end: Indices, parent: Indices) -> Indices:
    """Return the end of each event, or the end of an event around it if that is earlier."""
    has_outer = np.flatnonzero(parent >= 0)
    if (end[has_outer] <= end[parent[has_outer]]).all():
        return end
    result, above = end.copy(), parent
    while len(has_outer):  # each pass covers twice as many outer events
        outer = above[has_outer]
        result[has_outer] = np.minimum(result[has_outer], result[outer])
        above = above.copy()
        above[has_outer] = above[outer]
        has_outer = has_outer[above[has_outer] >= 0]
    return result


def _nested(start: Indices, end: Indices) -> Indices:
    """Return the parents, as `parents` does, of the events of one thread, which must be sorted."""
    depth = _open_events(start, end)
    result = np.full(len(start), -1)
    by_depth, depths = _by_depth(depth)
    bounds = np.searchsorted(depths, np.arange(int(depths[-1]) + 2))
    for outer, inner in zip(_slices(by_depth, bounds), _slices(by_depth, bounds[1:]), strict=False):
        result[inner] = outer[np.searchsorted(outer, inner) - 1]
    has_outer = result >= 0
    is_wrong = has_outer & ((end > end[result]) | (end[result] <= start))
    if is_wrong.any():
        _nest_one_by_one(start, end, depth, np.flatnonzero(is_wrong), result)
    return result


def _by_depth(depth: Indices) -> tuple[Indices, Indices]:
    """Return the indices of the events, sorted by depth, and the sorted depths."""
    # NumPy sorts 16-bit numbers several times as fast as 64-bit numbers.
    is_small = depth.max() < 1 << 15
    by_depth = np.argsort(depth.astype(np.int16) if is_small else depth, kind="stable")
    return by_depth, depth[by_depth]


def _slices(values: Indices, bounds: Indices) -> Iterator[Indices]:
    for first, last in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
        yield values[first:last]


def _open_events(start: Indices, end: Indices) -> Indices:
    """Return, for each sorted event, how many earlier events are open when it starts."""
    index = np.arange(len(start))
    ended = np.searchsorted(np.sort(end), start, side="right")
    # `ended` also counts all events without a duration that start at the same time. Only earlier
    # ones should count, so the event itself and later ones are subtracted.
    is_empty = end == start
    if is_empty.any():
        empty_before = np.concatenate([[0], np.cumsum(is_empty)])
        same_start_end = np.searchsorted(start, start, side="right")
        ended = ended - (empty_before[same_start_end] - empty_before[index])
    return index - ended


def _nest_one_by_one(
    start: Indices, end: Indices, depth: Indices, wrong: Indices, result: Indices
) -> None:
    """Correct `result` where events overlap without being nested."""
    # Each event of depth 0 starts a group. Few groups have overlaps, and only these groups take the
    # slow loop.
    first_of_group = np.flatnonzero(depth == 0)
    groups = np.unique(np.searchsorted(first_of_group, wrong, side="right") - 1)
    group_ends = np.append(first_of_group, len(start))[1:]
    for group in groups.tolist():
        rows = slice(int(first_of_group[group]), int(group_ends[group]))
        result[rows] = _nested_one_by_one(start[rows].tolist(), end[rows].tolist(), rows.start)


def _nested_one_by_one(start: list[int], end: list[int], first: int) -> list[int]:
    """Return the parents, as `_nested` does, of events that may overlap.

    `first` is the index of the first event.
    """
    result = []
    around: list[tuple[int, int]] = []  # (index, end) of each open event, outermost first
    for index, (starts, ends) in enumerate(zip(start, end, strict=True), first):
        while around and around[-1][1] <= starts:
            around.pop()
        outer, outer_end = around[-1] if around else (-1, ends)
        result.append(outer)
        around.append((index, min(ends, outer_end)))
    return result

"""Finds events that partly overlap on one thread, which no thread can run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from profile_analyze.model.findings import Finding, Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray


class Overlaps(NamedTuple):
    """Events that overlap another event of their thread, but did not run inside it."""

    events: int
    excess_s: float
    """The time that the events share with the others."""


def of_nested(end: NDArray[Any], parent: NDArray[np.int64]) -> NDArray[Any]:
    """Return by how much each event ends after the event around it; 0 if it does not.

    Both arguments have shape (events,). `parent` is -1 for an event inside no other.
    """
    inner = np.flatnonzero(parent >= 0)
    excess = np.zeros(len(end), end.dtype)
    excess[inner] = np.maximum(end[inner] - end[parent[inner]], 0)
    return excess


def of_neighbours(
    thread: NDArray[np.int64],
    start: NDArray[Any],
    end: NDArray[Any],
    parent: NDArray[np.int64],
) -> NDArray[Any]:
    """Return by how much each event overlaps the one before it on its thread; 0 if it does not.

    Only events inside the same event, or inside none, are neighbours.
    """
    order = np.lexsort((start, parent, thread))
    one, other = order[:-1], order[1:]
    is_near = (thread[one] == thread[other]) & (parent[one] == parent[other])
    excess = np.zeros(len(end), end.dtype)
    shared = np.minimum(end[one], end[other]) - start[other]
    excess[other[is_near]] = np.maximum(shared[is_near], 0)
    return excess


def on_overlaps(overlaps: Overlaps) -> Iterator[Finding]:
    """Yield a finding if there are overlaps."""
    if overlaps.events:
        yield Finding.of("overlapping-events", Kind.WRONG, **overlaps._asdict())

"""Compares the nesting of random events, which may overlap, with a slow but simple search."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from profile_analyze.readers.pytorch.nesting import clipped, innermost, parents, rows_by_start
from profile_analyze.readers.pytorch.scopes import scopes_of
from tests.conftest import IS_FULL, examples


class Span(NamedTuple):
    thread: int
    start: int
    length: int


SPANS = st.lists(
    st.builds(Span, st.integers(0, 1), st.integers(0, 12), st.integers(0, 8)), max_size=12
)


class Nested(NamedTuple):
    parents: list[int]
    ends: list[int]

    def at(self, spans: list[Span], thread: int, time: int, candidates: list[int]) -> int:
        """Return the last one of `candidates` that is open at `time`, or -1."""
        inside = [
            one
            for one in candidates
            if spans[one].thread == thread and spans[one].start <= time < self.ends[one]
        ]
        return inside[-1] if inside else -1


def in_order(spans: list[Span]) -> list[int]:
    """Return the events by start. If starts are equal, the longest comes first."""
    return sorted(range(len(spans)), key=lambda one: (spans[one].start, -spans[one].length, one))


def nested(spans: list[Span]) -> Nested:
    """Return the parent and the end of each event. No event ends after its parent."""
    order = in_order(spans)
    found = Nested([-1] * len(spans), [one.start + one.length for one in spans])
    for position, one in enumerate(order):
        outer = found.at(spans, spans[one].thread, spans[one].start, order[:position])
        found.parents[one] = outer
        if outer >= 0:
            found.ends[one] = min(found.ends[one], found.ends[outer])
    return found


@examples(400)
@given(SPANS, st.lists(st.integers(-1, 22), max_size=6))
def test_nesting_equals_a_search_of_all_events(spans: list[Span], times: list[int]) -> None:
    thread = np.array([one.thread for one in spans], np.int64)
    start = np.array([one.start for one in spans], np.int64)
    end = start + np.array([one.length for one in spans], np.int64)
    parent = parents(thread, start, end)
    expected = nested(spans)
    assert parent.tolist() == expected.parents
    last = clipped(end, parent)
    assert last.tolist() == expected.ends
    for rows in rows_by_start(thread, start, end):
        of_thread = int(thread[rows[0]])
        found = innermost(rows, start, last, np.array(times, np.int64))
        order = in_order(spans)
        assert found.tolist() == [expected.at(spans, of_thread, time, order) for time in times]


def test_paths_of_regions_have_a_limit() -> None:
    """Without a limit, the paths of 100,000 nested regions would need gigabytes."""
    count = 100_000
    parent = np.arange(-1, count - 1)
    scope, inside, scopes = scopes_of(
        parent, np.ones(count, np.bool_), np.zeros(count, np.int64), ["a"]
    )
    assert [*map(len, scopes)] == [*range(1, 101)]
    assert scope.tolist() == [-1, *range(99), *[99] * (count - 100)]
    assert inside.tolist() == [*range(100), *[99] * (count - 100)]


@pytest.mark.slow
def test_many_deep_and_overlapping_events_have_parents() -> None:
    """With so many events, a search in quadratic time would take very long."""
    count = 200_000 if IS_FULL else 20_000
    starts = np.arange(count)
    thread = np.zeros(count, np.int64)
    for end in (2 * count - starts, starts + count, starts + 2, np.full(count, count + 5)):
        parent = parents(thread, starts, end)
        found = innermost(starts, starts, clipped(end, parent), np.arange(-1, 2 * count))
        assert parent[0] == found[0] == -1
        assert (parent < starts).all()

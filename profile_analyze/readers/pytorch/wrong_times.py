"""Leaves out the events whose times are missing or impossible."""

from __future__ import annotations

from itertools import compress
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from array import array
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from profile_analyze.readers.pytorch.columns import Allocations, Columns, Events

# With these limits, all times and their differences in nanoseconds fit into 64 bits.
_LATEST_US: Final = 4e15
"""The year 2096, in microseconds since 1970."""
_LONGEST_US: Final = 1e15
"""31 years."""


def leave_out_wrong_times(events: Events) -> None:
    """Remove the events whose times are missing or impossible. Add their number to `untimed`.

    Some versions of torch write 0 as the start and the duration of an event in the middle of a
    recording. Such events are removed if all others start later.
    """
    kinds = [columns for columns in (events.host, events.calls, events.work) if len(columns)]
    for columns in kinds:
        duration = np.frombuffer(columns.duration_us)
        is_possible = (duration >= 0) & (duration <= _LONGEST_US)
        events.untimed += _leave_out(columns, is_possible & _is_start(columns.start_us))
    kinds = [columns for columns in kinds if len(columns)]
    others = [~_is_zero(columns) for columns in kinds]
    if not all(map(np.all, others)) and _earliest(kinds, others) > 0:
        for columns, is_other in zip(kinds, others, strict=True):
            events.untimed += _leave_out(columns, is_other)
    if events.allocations.start_us:  # a point in time, without a duration
        is_right = _is_start(events.allocations.start_us)
        events.untimed += _leave_out(events.allocations, is_right)


def _is_zero(columns: Columns) -> NDArray[np.bool_]:
    start, duration = np.frombuffer(columns.start_us), np.frombuffer(columns.duration_us)
    return np.asarray((start == 0) & (duration == 0))


def _earliest(kinds: Sequence[Columns], chosen: Sequence[NDArray[np.bool_]]) -> float:
    """Return the earliest start of the chosen events; 0 if no event is chosen."""
    starts = [np.frombuffer(one.start_us)[rows] for one, rows in zip(kinds, chosen, strict=True)]
    return min((float(one.min()) for one in starts if len(one)), default=0.0)


def _is_start(start_us: array[float]) -> NDArray[np.bool_]:
    # A missing time is NaN. Any comparison with NaN is false.
    return np.abs(np.frombuffer(start_us)) <= _LATEST_US


def _leave_out(columns: Columns | Allocations, is_right: NDArray[np.bool_]) -> int:
    """Remove the events with wrong times from `columns`. Return their number."""
    wrong = len(is_right) - int(np.count_nonzero(is_right))
    if wrong:
        for name, column in vars(columns).items():
            kept = column[:0]
            kept.extend(compress(column, is_right))
            setattr(columns, name, kept)
    return wrong

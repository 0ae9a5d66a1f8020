"""Leaves out the events whose times are missing or impossible."""

from __future__ import annotations

from itertools import compress
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from profile_analyze.readers.pytorch.columns import Columns, Events

# With these limits, all times and their differences in nanoseconds fit into 64 bits.
_LATEST_US: Final = 4e15
"""The year 2096, in microseconds since 1970."""
_LONGEST_US: Final = 1e15
"""31 years."""


def leave_out_wrong_times(events: Events) -> None:
    """Remove the events whose times are missing or impossible. Add their number to `untimed`."""
    for columns in (events.host, events.calls, events.work):
        if len(columns):
            events.untimed += _leave_out(columns)


def _leave_out(columns: Columns) -> int:
    """Remove the events with wrong times from `columns`. Return their number."""
    start, duration = np.frombuffer(columns.start_us), np.frombuffer(columns.duration_us)
    # A missing time is NaN. Any comparison with NaN is false.
    is_right = (np.abs(start) <= _LATEST_US) & (duration >= 0) & (duration <= _LONGEST_US)
    wrong = len(columns) - int(np.count_nonzero(is_right))
    if wrong:
        for name, column in vars(columns).items():
            kept = column[:0]
            kept.extend(compress(column, is_right))
            setattr(columns, name, kept)
    return wrong

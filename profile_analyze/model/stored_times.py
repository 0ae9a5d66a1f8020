"""Stored times of operators. With them, most questions need not read the executions."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from profile_analyze.large_arrays import array_of_runs
from profile_analyze.model.frozen import frozen
from profile_analyze.model.measures import HOST_TIME, TIME

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import TypeAlias

    from numpy.typing import NDArray

    from profile_analyze.model.executions import Track
    from profile_analyze.model.terms import Side

    Floats: TypeAlias = NDArray[np.float64]
    Flags: TypeAlias = NDArray[np.bool_]
    Indices: TypeAlias = NDArray[np.int64]

STORED: Final = (TIME, HOST_TIME)
"""The measures that are stored."""
CALLS: Final = "calls"
RESULTS: Final = (*(measure.name for measure in STORED), CALLS)
"""Everything that is stored for each operator and run: `STORED`, and `Profile.calls`."""


class StoredTimes(NamedTuple):
    """The stored times of the operators in some runs, and what ran where."""

    runs: int
    """The number of runs."""
    read: Callable[[str], Floats]
    """Reads one of `RESULTS`, shape (operators, runs)."""
    executed: Mapping[Side, Flags]
    """Whether each operator has executions on a side, shape (operators,)."""
    used_tracks: frozenset[Track]
    """The tracks that have executions."""

    def executed_on(self, tracks: Sequence[Track], side: Side) -> tuple[Flags, Flags]:
        """Return which operators, and which of `tracks`, have executions on `side`."""
        used = [track.side == side and track in self.used_tracks for track in tracks]
        return self.executed[side], frozen(np.array(used, np.bool_))


class MergedTimes:
    """Merges the stored times of several partial results."""

    def __init__(self) -> None:
        self._parts: list[_Part] = []
        self._lacks_some = False

    def add(self, times: StoredTimes | None, rows: Indices) -> None:
        """Add the times of further runs. `rows` has the merged row of each of their operators."""
        self._lacks_some |= times is None
        if times is not None:
            self._parts.append(_Part(times, rows))

    def merged(self, operators: int) -> StoredTimes | None:
        """Return the times of all runs; None if the times of some runs are not stored.

        `operators` is the number of merged operators.
        """
        if self._lacks_some or not self._parts:
            return None
        parts = [*self._parts]  # later additions must not change the result
        runs = sum(part.times.runs for part in parts)
        return StoredTimes(
            runs,
            partial(_merged, parts, operators),
            {side: _executed(parts, side, operators) for side in parts[0].times.executed},
            frozenset().union(*(part.times.used_tracks for part in parts)),
        )


class _Part(NamedTuple):
    times: StoredTimes
    rows: Indices
    """The merged row of each operator in `times`."""


def _executed(parts: Sequence[_Part], side: Side, operators: int) -> Flags:
    """Return whether each merged operator has executions on `side`, shape (operators,)."""
    flags = np.zeros(operators, np.bool_)
    for times, rows in parts:
        flags[rows] |= times.executed[side]
    return frozen(flags)


def _merged(parts: Sequence[_Part], operators: int, name: str) -> Floats:
    """Return one of `RESULTS` for all runs, shape (operators, runs)."""
    runs = sum(part.times.runs for part in parts)
    return array_of_runs(_in_order(parts, operators, name), runs)


def _in_order(parts: Sequence[_Part], operators: int, name: str) -> Iterator[tuple[slice, Floats]]:
    """Yield the runs of each part, and the values of all operators in these runs."""
    first = 0
    for times, rows in parts:
        stored = times.read(name)
        if np.array_equal(rows, np.arange(operators)):  # the part has all operators, in order
            values = stored
        else:
            values = np.full((operators, times.runs), np.nan)
            values[rows] = stored
        yield slice(first, first + times.runs), values
        first += times.runs

"""When operators ran: executions on comp nodes and host threads, and notes on their times."""

from __future__ import annotations

from itertools import chain, repeat
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from profile_analyze.model.categorical import Categorical
from profile_analyze.model.executions import Executions
from profile_analyze.model.numbers import difference
from profile_analyze.model.terms import DEVICE, HOST
from profile_analyze.readers.megengine.operators import (
    FileNote,
    notes_by_file,
    unmatched_entries,
)
from profile_analyze.readers.megengine.terms import track_of
from profile_analyze.units import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from profile_analyze.model.executions import Track
    from profile_analyze.model.terms import Side
    from profile_analyze.readers.megengine.operators import FoundOperators
    from profile_analyze.readers.megengine.sections import IntervalColumns, TimeColumns

_UNMATCHED: Final = -1
"""The row of an entry with the id of no operator."""


class _Columns(NamedTuple):
    """The columns of `Executions` that the format has."""

    operator: NDArray[np.int64]
    run: NDArray[np.int64]
    track: NDArray[np.int64]
    start_s: NDArray[np.float64]
    duration_s: NDArray[np.float64]
    first_kernel_s: NDArray[np.float64]


class _SideTimes(NamedTuple):
    """The executions on one side, device or host."""

    columns: _Columns
    tracks: tuple[Track, ...]
    notes: list[FileNote]


def read_executions(
    found: FoundOperators, times: TimeColumns
) -> tuple[Executions, tuple[Track, ...], list[FileNote]]:
    """Return the executions on device and host, their tracks, and all notes on the files."""
    device = _side_times(DEVICE, times.device, found)
    host = _side_times(HOST, times.host, found)
    # Tracks of the host are numbered after those of the device.
    host_columns = host.columns._replace(track=host.columns.track + len(device.tracks))
    both: dict[str, Any] = {
        name: np.concatenate(sides)
        for name, *sides in zip(_Columns._fields, device.columns, host_columns, strict=True)
    }
    executions = Executions.of(**both)
    tracks = (*device.tracks, *host.tracks)
    opencl_notes = _opencl_notes(executions, tracks, len(found.row_of))
    return executions, tracks, [*device.notes, *host.notes, *found.notes, *opencl_notes]


def _side_times(side: Side, columns: IntervalColumns, found: FoundOperators) -> _SideTimes:
    """Return the executions on one side, without those that belong to no operator."""
    rows_of_files = (
        map(row_of.get, ids, repeat(_UNMATCHED))
        for row_of, ids in zip(found.row_of, columns.ids, strict=True)
    )
    rows = np.fromiter(chain.from_iterable(rows_of_files), np.int64, len(columns.sizes))
    operator = np.repeat(rows, columns.sizes)
    lane, start_s, kern_s, end_s = columns.lane, columns.start_s, columns.kern_s, columns.end_s
    matched = operator != _UNMATCHED
    if not matched.all():
        operator, start_s, kern_s, end_s = (
            values[matched] for values in (operator, start_s, kern_s, end_s)
        )
        # Encoded anew, so that lanes with unmatched entries only do not become tracks.
        lane = Categorical.of(lane.values()[matched].tolist())
    # The writer prints -1 if a thread launched no kernel.
    kern_s = np.where(kern_s < start_s, np.nan, kern_s)
    end_s = np.where(end_s < start_s, np.nan, end_s)
    is_late = kern_s > end_s
    kern_s[is_late] = np.nan
    sound = _Columns(
        operator=operator,
        run=found.file_of[operator],  # each file is one run
        track=lane.codes,
        start_s=start_s,
        duration_s=difference(end_s, start_s),
        first_kernel_s=difference(kern_s, start_s),
    )
    notes = [
        *_entry_notes(side, columns, rows),
        *_time_notes(side, sound, is_late, found.file_of),
    ]
    return _SideTimes(sound, tuple(track_of(name, side) for name in lane.categories), notes)


def _entry_notes(
    side: Side, columns: IntervalColumns, rows: NDArray[np.int64]
) -> Iterator[FileNote]:
    """Yield notes on entries that were left out; `rows` has the operator of each entry."""
    file_of = np.repeat(np.arange(len(columns.ids)), list(map(len, columns.ids)))
    yield from notes_by_file(
        file_of[rows == _UNMATCHED], lambda entries: unmatched_entries(side, entries)
    )
    yield from notes_by_file(
        file_of[columns.sizes == 0],
        lambda entries: (
            f"left out {counted(entries, 'entry', 'entries')} of {side} without a thread or "
            "comp node"
        ),
    )


def _time_notes(
    side: Side, columns: _Columns, is_late: NDArray[np.bool_], file_of: NDArray[np.int64]
) -> Iterator[FileNote]:
    """Yield notes on unknown times, and on first kernels that start after the end."""

    def files(of_executions: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return the file of each operator that has one of these executions."""
        is_affected = np.zeros(len(file_of), np.bool_)
        is_affected[columns.operator[of_executions]] = True
        return file_of[is_affected]

    yield from notes_by_file(
        files(np.isnan(columns.duration_s)),
        lambda operators: (
            f"the {side} time of {counted(operators, 'operator')} is N/A: in the file "
            "it is missing, not a finite number, or ends before it starts"
        ),
    )
    yield from notes_by_file(
        files(is_late),
        lambda operators: (
            f"the {side} wait time of {counted(operators, 'operator')} leaves out executions "
            "with a first kernel that starts after their end"
        ),
    )


def _opencl_notes(
    executions: Executions, tracks: Sequence[Track], files: int
) -> Iterator[FileNote]:
    """Yield a note for each file in which OpenCL measured nothing, so that all times are 0."""
    is_opencl = [track.side == DEVICE and "opencl" in track.name for track in tracks]
    if not any(is_opencl):
        return
    rows = np.array(is_opencl)[executions.track]
    run, duration_s = executions.run[rows], executions.duration_s[rows]
    totals_s = np.bincount(run, np.nan_to_num(duration_s), minlength=files)
    known = np.bincount(run[~np.isnan(duration_s)], minlength=files)
    for file in np.flatnonzero((totals_s == 0) & (known > 0)).tolist():
        yield FileNote(file, "OpenCL measures only after CompNode::enable_opencl_profile(true)")

"""Turns the intervals of comp nodes and host threads into executions, with notes on times."""

from __future__ import annotations

from itertools import chain, repeat
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from profile_analyze.model.categorical import Categorical
from profile_analyze.model.executions import Executions
from profile_analyze.model.findings import Finding, Kind
from profile_analyze.model.numbers import difference
from profile_analyze.model.terms import DEVICE
from profile_analyze.readers.megengine.file_notes import (
    FileNote,
    notes_of_files,
    notes_on_entries,
    notes_on_operators,
)
from profile_analyze.readers.megengine.terms import track_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from profile_analyze.model.executions import Track
    from profile_analyze.model.terms import Side
    from profile_analyze.readers.megengine.operators import DecodedOperators
    from profile_analyze.readers.megengine.sections import Intervals

_UNMATCHED: Final = -1
"""Stands for the row of an entry whose id belongs to no operator of the graph."""


def read_executions(
    decoded: DecodedOperators, times: Mapping[Side, Intervals]
) -> tuple[Executions, tuple[Track, ...], list[list[Finding]]]:
    """Return the executions on device and host, their tracks, and the notes on each file."""
    parts: list[dict[str, NDArray[Any]]] = []
    tracks: list[Track] = []
    notes: list[FileNote] = []
    for side, intervals in times.items():
        columns, lanes, notes_on_side = _side_executions(side, intervals, decoded)
        columns["track"] = columns["track"] + len(tracks)  # numbered across both sides
        parts.append(columns)
        tracks += (track_of(name, side) for name in lanes)
        notes += notes_on_side
    joined: dict[str, Any] = {
        name: np.concatenate([part[name] for part in parts]) for name in parts[0]
    }
    executions = Executions.of(**joined)
    files = len(decoded.row_of)
    notes += (*decoded.notes, *_opencl_notes(executions, tracks, files))
    return executions, tuple(tracks), notes_of_files(notes, files, executions, tracks)


def _side_executions(
    side: Side, intervals: Intervals, decoded: DecodedOperators
) -> tuple[dict[str, NDArray[Any]], Sequence[str], list[FileNote]]:
    """Return the columns of the executions on `side`, the names of the tracks there, and notes."""
    rows_of_files = (
        map(row_of.get, ids, repeat(_UNMATCHED))
        for row_of, ids in zip(decoded.row_of, intervals.ids, strict=True)
    )
    rows = np.fromiter(chain.from_iterable(rows_of_files), np.int64, len(intervals.sizes))
    # An entry has an interval for each comp node or thread that worked on the operator.
    operator = np.repeat(rows, intervals.sizes)
    _, _, lane, start_s, kern_s, end_s = intervals
    matched = operator != _UNMATCHED
    if not matched.all():
        operator, start_s, kern_s, end_s = (
            values[matched] for values in (operator, start_s, kern_s, end_s)
        )
        # Encode the lanes again: a lane whose entries are all unmatched must not become a track.
        lane = Categorical.of(lane.values()[matched].tolist())
    # The writer prints -1 if a thread launched no kernel.
    kern_s = np.where(kern_s < start_s, np.nan, kern_s)
    end_s = np.where(end_s < start_s, np.nan, end_s)
    is_late = kern_s > end_s
    kern_s[is_late] = np.nan
    columns: dict[str, NDArray[Any]] = {
        "operator": operator,
        "run": decoded.file_of[operator],  # each file is one run
        "track": lane.codes,
        "start_s": start_s,
        "duration_s": difference(end_s, start_s),
        "first_kernel_s": difference(kern_s, start_s),
    }
    notes = [
        *_entry_notes(side, intervals, rows),
        *_time_notes(side, columns, is_late, decoded.file_of),
    ]
    return columns, lane.categories, notes


def _entry_notes(side: Side, intervals: Intervals, rows: NDArray[np.int64]) -> Iterator[FileNote]:
    """Yield notes on entries that are left out.

    `rows` has the row of each entry's operator, or `_UNMATCHED`.
    """
    file_of = np.repeat(np.arange(len(intervals.ids)), list(map(len, intervals.ids)))
    yield from notes_on_entries(file_of[rows == _UNMATCHED], "unmatched-entries", side)
    yield from notes_on_entries(file_of[intervals.sizes == 0], "entries-without-track", side)


def _time_notes(
    side: Side,
    columns: Mapping[str, NDArray[Any]],
    is_late: NDArray[np.bool_],
    file_of: NDArray[np.int64],
) -> Iterator[FileNote]:
    """Yield notes on unknown times, and on executions that end before their first kernel starts."""

    def operators_with(executions: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return, for each operator, whether any of `executions` belongs to it."""
        is_affected = np.zeros(len(file_of), np.bool_)
        is_affected[columns["operator"][executions]] = True
        return is_affected

    yield from notes_on_operators(
        operators_with(np.isnan(columns["duration_s"])),
        file_of,
        "untimed-executions",
        Kind.INCOMPLETE,
        has_times=False,
        side=side,
    )
    yield from notes_on_operators(
        operators_with(is_late),
        file_of,
        "late-kernels",
        Kind.INCOMPLETE,
        has_times=side == DEVICE,
        side=side,
    )


def _opencl_notes(
    executions: Executions, tracks: Sequence[Track], files: int
) -> Iterator[FileNote]:
    """Yield a note for each file whose OpenCL times are all 0, because OpenCL measured nothing."""
    is_opencl = [track.side == DEVICE and "opencl" in track.name for track in tracks]
    if not any(is_opencl):
        return
    rows = np.array(is_opencl)[executions.track]
    run, duration_s = executions.run[rows], executions.duration_s[rows]
    totals_s = np.bincount(run, np.nan_to_num(duration_s), minlength=files)
    known = np.bincount(run[~np.isnan(duration_s)], minlength=files)
    for file in np.flatnonzero((totals_s == 0) & (known > 0)).tolist():
        yield FileNote(file, Finding.of("opencl-times-off", Kind.WRONG))

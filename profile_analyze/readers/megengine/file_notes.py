"""Notes on the files that are read together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from profile_analyze.model.findings import Finding, Kind
from profile_analyze.model.terms import DEVICE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from profile_analyze.model.executions import Executions, Track


class FileNote(NamedTuple):
    """A note about one of the files that are read together."""

    file: int
    """The index of the file."""
    note: Finding
    operators: NDArray[np.int64] | None = None
    """The rows of the operators that the note is about. `notes_of_files` adds the share of the
    device time that these operators take. None if the note needs no share."""


def notes_on_operators(
    is_affected: NDArray[np.bool_],
    file_of: NDArray[np.int64],
    code: str,
    kind: Kind,
    *,
    has_times: bool,
    **values: Any,
) -> Iterator[FileNote]:
    """Yield a finding for each file with affected operators; see `model.findings.on_operators`.

    `is_affected` and `file_of` have shape (operators,). If `has_times` is set, the finding gets the
    operators' share of the device time.
    """
    affected = np.flatnonzero(is_affected)
    # `np.unique` would import `numpy.ma`, which takes longer than reading a small profile.
    for file in sorted(set(file_of[affected].tolist())):
        rows = affected[file_of[affected] == file]
        finding = Finding.of(code, kind, operators=len(rows), **values)
        yield FileNote(file, finding, rows if has_times else None)


def notes_on_entries(
    file_of_entries: NDArray[np.int64], code: str, section: str
) -> Iterator[FileNote]:
    """Yield a finding for each file that has entries of a section that are left out.

    `file_of_entries` has the file of each of these entries.
    """
    for file, entries in enumerate(np.bincount(file_of_entries).tolist()):
        if entries:
            finding = Finding.of(code, Kind.INCOMPLETE, entries=entries, section=section)
            yield FileNote(file, finding)


def notes_of_files(
    notes: Iterable[FileNote], files: int, executions: Executions, tracks: Sequence[Track]
) -> list[list[Finding]]:
    """Return the notes on each file. Notes on operators get the operators' share of device time."""
    finished: list[list[Finding]] = [[] for _ in range(files)]
    for file, note, operators in notes:
        share = None if operators is None else _share(file, operators, executions, tracks)
        finished[file].append(note if share is None else note.with_share(share))
    return finished


def _share(
    file: int, operators: NDArray[np.int64], executions: Executions, tracks: Sequence[Track]
) -> float:
    """Return the share of a file's device time that `operators` take; NaN if that time is 0."""
    on_device = np.array([track.side == DEVICE for track in tracks], np.bool_)
    in_file = on_device[executions.track] & (executions.run == file)  # each file is one run
    duration_s = np.nan_to_num(executions.duration_s[in_file])
    with np.errstate(all="ignore"):  # an impossible sum becomes infinite, and the share NaN or 0
        total_s = duration_s.sum()
        chosen_s = duration_s[np.isin(executions.operator[in_file], operators)].sum()
        return float(chosen_s / total_s) if total_s else np.nan

"""The notes on peak rates: how certain they are, and whether they fit the profile."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeVar

import numpy as np

from profile_analyze.analysis.peaks import STABLE_DOUBT
from profile_analyze.model.notes import Importance, Note, operators_and_share
from profile_analyze.model.terms import CPU, DEVICE, GPU
from profile_analyze.query.time_shares import share_of
from profile_analyze.units import counted, percent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from numpy.typing import NDArray

    from profile_analyze.analysis.peaks import Peaks
    from profile_analyze.model.executions import Track
    from profile_analyze.query.rows import OperatorRows

T = TypeVar("T", str, int)

_REMEDIES: Final[Mapping[str, str]] = {
    CPU: "give two rates of that CPU, or use --peaks here on the same machine",
    GPU: "name that GPU; --peaks list shows the known ones",
}
"""What to do if operators ran on this kind of device and the peaks are of another kind."""


def peaks_notes(rows: OperatorRows) -> Iterator[Note]:
    """Yield the notes on the peaks of `rows`, which are all operators of a profile."""
    assert rows.peaks is not None, "these notes are about peak rates"
    if rows.peaks.doubt > STABLE_DOUBT:
        yield Note(
            f"the peaks are uncertain by {percent(rows.peaks.doubt)}, and so is every efficiency, "
            "because the measurements differ or other programs ran meanwhile; they were not kept: "
            "stop other programs and call again",
            Importance.WRONG,
            share=1.0,
        )
    if rows.peaks.device_kind is not None:
        yield from _other_kind_notes(rows, rows.peaks, rows.peaks.device_kind)
    if rows.peaks.threads is not None:
        yield from _other_threads_notes(rows, rows.peaks.threads)


def _other_kind_notes(rows: OperatorRows, peaks: Peaks, kind: str) -> Iterator[Note]:
    for other, ran in _ran_by(rows, lambda track: track.device_kind):
        if other != kind:
            yield Note(
                f"the peaks are of a {kind.upper()} ({peaks.name}), but "
                f"{operators_and_share(ran.sum())} ran on a {other.upper()}; {_REMEDIES[other]}",
                Importance.WRONG,
                share_of(rows, ran),
            )


def _other_threads_notes(rows: OperatorRows, threads: int) -> Iterator[Note]:
    for others, ran in _ran_by(rows, lambda track: track.threads):
        if others != threads:
            yield Note(
                f"the peaks are of {counted(threads, 'thread')}, but "
                f"{operators_and_share(ran.sum())} ran on {counted(others, 'thread')}; "
                f"--peaks here:{others} measures that, on the machine of the profile",
                Importance.WRONG,
                share_of(rows, ran),
            )


def _ran_by(
    rows: OperatorRows, value_of: Callable[[Track], T | None]
) -> Iterator[tuple[T, NDArray[np.bool_]]]:
    """Yield each known value of the device tracks, and the operators that took time on these."""
    profile = rows.profile
    values = [value_of(track) if track.side == DEVICE else None for track in profile.tracks]
    for value in sorted({value for value in values if value is not None}):
        of_track = np.array([one == value for one in values], np.bool_)
        ran = np.zeros(len(profile), np.bool_)
        ran[profile.executions.operator[of_track[profile.executions.track]]] = True
        ran &= rows["time"] > 0
        if ran.any():
            yield value, ran

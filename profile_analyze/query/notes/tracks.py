"""The note that the device time is the sum of several tracks or ranks, which may overlap."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from profile_analyze.model.executions import distinct_names
from profile_analyze.model.joining.ranks import notes_on_incomplete_runs
from profile_analyze.model.measures import TIME
from profile_analyze.model.measuring import on_side, total_by_track
from profile_analyze.model.notes import Importance, Note, TextNote
from profile_analyze.model.numbers import median, numbered, over_runs
from profile_analyze.model.terms import DEVICE
from profile_analyze.query.run_times import known_busy_s
from profile_analyze.units import counted, short_time

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from profile_analyze.model.executions import Track
    from profile_analyze.model.profile import Profile

_MOST_RANKS: Final = 4
_ROUNDING: Final = 0.001
"""Times of streams that add up to the time of the device, up to this share, do not overlap."""


def track_notes(profile: Profile) -> Iterator[Note]:
    """Yield a note if several ranks or tracks of the device have times in one run."""
    if len(profile.executed_tracks(DEVICE)) < 2:
        return
    times_s = total_by_track(profile, DEVICE)
    medians_s = over_runs(times_s, "median")
    by_rank: dict[int, float] = {}
    rows_of: dict[Track, list[int]] = {}
    for row in profile.executed_tracks(DEVICE):
        track = profile.tracks[row]
        rows_of.setdefault(track.line, []).append(row)
        if track.rank is not None:
            by_rank[track.rank] = by_rank.get(track.rank, 0.0) + float(medians_s[row])
    if len(by_rank) > 1:
        yield _note_on_ranks(by_rank)
        yield from notes_on_incomplete_runs(profile)
        return
    process, lines = _busiest_process(profile, times_s, rows_of)
    by_line = {line: float(medians_s[rows_of[line]].sum()) for line in lines}
    if len(by_line) > 1 and not _never_overlap(profile):
        where = "" if len(by_line) == len(rows_of) else f" in {process}"
        busy_s = median(known_busy_s(profile)[np.newaxis])
        yield _note_on_lines(by_line, where, busy_s, adds_up=_adds_up(profile))


def _adds_up(profile: Profile) -> bool:
    """Return whether the device time is the sum of the times of the tracks.

    It is less if an operator ran on several tracks at once, and only the slowest track counts.
    """
    if all(track.together == "sum" for track in profile.tracks):
        return True
    executions, on_device = profile.executions, on_side(profile, DEVICE)
    in_runs = executions.operator[on_device].astype(np.int64) * len(profile.runs)
    in_runs += executions.run[on_device]
    _, on_tracks = numbered(in_runs * len(profile.tracks) + executions.track[on_device])
    return len(on_tracks) == len(numbered(in_runs)[1])


def _never_overlap(profile: Profile) -> bool:
    """Return whether all work of the device ran one after another, so that its times add up."""
    sums_s, busy_s = profile.totals_s(TIME.name), known_busy_s(profile)
    return bool((np.abs(sums_s - busy_s) <= _ROUNDING * busy_s).all())


def _busiest_process(
    profile: Profile, times_s: NDArray[np.float64], rows_of: Mapping[Track, list[int]]
) -> tuple[str, list[Track]]:
    """Return the process of the run with the most lines, and these lines.

    Threads of different processes may have different names, so only lines of one run may overlap.
    `times_s` has shape (tracks, runs). `rows_of` has the tracks of each line.
    """
    if len(profile.processes) == 1:
        return profile.processes[0], [*rows_of]
    is_used = np.array([~np.isnan(times_s[rows]).all(axis=0) for rows in rows_of.values()])
    run = int(is_used.sum(axis=0).argmax())
    lines = [line for line, used in zip(rows_of, is_used[:, run].tolist(), strict=True) if used]
    return profile.processes[profile.runs[run].process], lines


def _note_on_lines(
    by_line: Mapping[Track, float], where: str, busy_s: float, *, adds_up: bool
) -> Note:
    """Return the note that the device time is of several lines. `by_line` has their seconds.

    `busy_s` is the time in which the busiest device worked; NaN if it is unknown.
    """
    kinds = {track.kind for track in by_line}
    noun = kinds.pop() if len(kinds) == 1 else "track"
    lines = sorted(by_line, key=lambda line: line.name)
    parts = ", ".join(
        f"{short_time(by_line[line])} on {name}"
        for line, name in zip(lines, distinct_names(lines), strict=True)
    )
    overlap = ", which may have run at the same time"
    if not np.isnan(busy_s):
        busiest = "device" if len({line.device for line in lines}) == 1 else "busiest device"
        overlap = f", while the {busiest} worked for {short_time(busy_s)}"
    sums, rule = "is the sum of", ""
    if not adds_up:
        sums, rule = "is of", "; for an operator on several, only the slowest counts"
    return TextNote(
        f"the device time {sums} {counted(len(by_line), noun)}{where}{overlap}: {parts}{rule}",
        Importance.WRONG,
    )


def _note_on_ranks(by_rank: dict[int, float]) -> Note:
    """Return the note that the device time is of several ranks. `by_rank` has their seconds."""
    ordered = sorted(by_rank, key=lambda rank: (by_rank[rank], rank))
    texts = {rank: f"{short_time(by_rank[rank])} on rank {rank}" for rank in ordered}
    if len(ordered) > _MOST_RANKS:
        times = f"from {texts[ordered[0]]} to {texts[ordered[-1]]}"
    else:
        times = ", ".join(texts[rank] for rank in sorted(ordered))
    return TextNote(
        f"the device time is the sum of {len(by_rank)} ranks: {times}; --aggregate-by rank shows "
        "each",
        Importance.WRONG,
    )

"""The finding that the device time is the sum of several tracks or ranks, which may overlap."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from profile_analyze.model.executions import distinct_names
from profile_analyze.model.findings import Finding, Kind
from profile_analyze.model.joining.ranks import notes_on_incomplete_runs
from profile_analyze.model.measures import TIME
from profile_analyze.model.measuring import on_side, total_by_track
from profile_analyze.model.numbers import median, numbered, over_runs
from profile_analyze.model.terms import DEVICE
from profile_analyze.query.run_times import known_busy_s

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from profile_analyze.model.executions import Track
    from profile_analyze.model.notes import Note
    from profile_analyze.model.profile import Profile

_MOST_RANKS: Final = 4
_ROUNDING: Final = 0.001
"""Times of streams that add up to the time of the device, up to this share, do not overlap."""


def track_findings(profile: Profile) -> Iterator[Note]:
    """Yield a finding if several ranks or tracks of the device have times in one run."""
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
        yield _several_ranks(by_rank)
        yield from notes_on_incomplete_runs(profile)
        return
    process, lines = _busiest_process(profile, times_s, rows_of)
    by_line = {line: float(medians_s[rows_of[line]].sum()) for line in lines}
    if len(by_line) > 1 and not _never_overlap(profile):
        is_of_one = len(by_line) == len(rows_of)
        busy_s = median(known_busy_s(profile)[np.newaxis])
        adds_up = _adds_up(profile)
        yield _several_tracks(by_line, "" if is_of_one else process, busy_s, adds_up=adds_up)


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


def _several_tracks(
    by_line: Mapping[Track, float], process: str, busy_s: float, *, adds_up: bool
) -> Finding:
    """Return the finding that the device time is of several lines. `by_line` has their seconds.

    `process` is empty if there is only one. `busy_s` is the time in which the busiest device
    worked; NaN if it is unknown.
    """
    kinds = {track.kind for track in by_line}
    lines = sorted(by_line, key=lambda line: line.name)
    return Finding.of(
        "several-tracks",
        Kind.WRONG,
        noun=kinds.pop() if len(kinds) == 1 else "track",
        times_s=[
            (name, by_line[line]) for line, name in zip(lines, distinct_names(lines), strict=True)
        ],
        process=process,
        devices=len({line.device for line in lines}),
        busy_s=busy_s,
        adds_up=adds_up,
    )


def _several_ranks(by_rank: dict[int, float]) -> Finding:
    """Return the finding that the device time is of several ranks. `by_rank` has their seconds.

    Of many ranks, it has only the one with the least time and the one with the most time.
    """
    ordered = sorted(by_rank, key=lambda rank: (by_rank[rank], rank))
    shown = [ordered[0], ordered[-1]] if len(ordered) > _MOST_RANKS else sorted(ordered)
    times_s = [(rank, by_rank[rank]) for rank in shown]
    return Finding.of("several-ranks", Kind.WRONG, ranks=len(by_rank), times_s=times_s)

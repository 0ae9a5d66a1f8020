"""Makes the rows of a timeline (operators, scopes, kernels), with their executions and runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from profile_analyze.model.executions import Executions, Run, Track
from profile_analyze.model.numbers import difference
from profile_analyze.model.terms import MODULE, OPERATOR
from profile_analyze.readers.megengine_timeline.kernels import placed_kernels, rows_of_kernels
from profile_analyze.readers.megengine_timeline.operators import Row
from profile_analyze.readers.megengine_timeline.placing import Placed, placed
from profile_analyze.readers.megengine_timeline.recording import NONE
from profile_analyze.readers.megengine_timeline.tracks import tracks_of
from profile_analyze.units import US_PER_S

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from profile_analyze.readers.megengine_timeline.recording import Recording

    Floats = NDArray[np.float64]
    Indices = NDArray[np.int64]


_LATEST_US: Final = 4e15
"""The year 2096, in microseconds since 1970. Later floats cannot tell microseconds apart."""


class Recorded(NamedTuple):
    """The parts of a `Profile` that come from the events of a timeline."""

    rows: list[Row]
    executions: Executions
    tracks: tuple[Track, ...]
    runs: tuple[Run, ...]
    pids: list[int]
    """The process ids. `Run.process` is an index in this list."""
    impossible: int
    """How many executions have impossible times, which become N/A."""


def recorded(recording: Recording) -> Recorded:
    """Return the rows, executions, tracks and runs of the host and the devices."""
    host = placed(recording)
    kernels = placed_kernels(recording, host)
    rows_of_host = [_row_of(recording, host, index) for index in range(len(host.span))]
    rows: dict[Row, int] = {}
    operator = [
        rows.setdefault(row, len(rows))
        for row in (*rows_of_host, *rows_of_kernels(recording, kernels, rows_of_host))
    ]
    spans = recording.spans
    start_us = np.append(np.array(spans.start_us)[host.span], np.array(recording.kernels.start_us))
    end_us = np.append(np.array(spans.end_us)[host.span], np.array(recording.kernels.end_us))
    is_impossible = (np.abs(start_us) > _LATEST_US) | (np.abs(end_us) > _LATEST_US)
    start_us, end_us = (np.where(is_impossible, np.nan, one) for one in (start_us, end_us))
    run = np.append(host.run, kernels.run)
    none_on_host, none_on_devices = (np.full(len(one.run), NONE) for one in (host, kernels))
    tracks: dict[Track, int] = {}
    executions = Executions.of(
        operator,
        np.where(end_us >= start_us, difference(end_us, start_us), np.nan) / US_PER_S,
        run=run,
        track=tracks_of(recording, host, tracks),
        start_s=start_us / US_PER_S,
        submitted_s=np.append(np.full(len(host.run), np.nan), kernels.launch_us) / US_PER_S,
        parent=np.append(host.parent, none_on_devices),
        launched_by=np.append(none_on_host, kernels.launched_by),
    )
    pids = list(dict.fromkeys(one.pid for one in host.iterations))
    walls_s = _walls_s(run, start_us, end_us, len(host.iterations))
    runs = tuple(
        Run(pids.index(one.pid), one.number, one.label, wall_s)
        for one, wall_s in zip(host.iterations, walls_s, strict=True)
    )
    impossible = int(is_impossible.sum())
    return Recorded([*rows], executions, tuple(tracks), runs, pids, impossible)


def _row_of(recording: Recording, host: Placed, index: int) -> Row:
    span = int(host.span[index])
    facts = recording.spans.facts[span]
    if facts == NONE:
        return Row(host.path[index], recording.spans.name[span], NONE, MODULE)
    return Row(host.path[index], None, facts, OPERATOR)


def _walls_s(run: Indices, start_us: Floats, end_us: Floats, runs: int) -> list[float]:
    """Return, for each run, the seconds from the first start to the last end.

    NaN for a run with an unknown time.
    """
    is_known = ~(np.isnan(start_us) | np.isnan(end_us))
    first_us, last_us = np.full(runs, np.inf), np.full(runs, -np.inf)
    np.minimum.at(first_us, run[is_known], start_us[is_known])
    np.maximum.at(last_us, run[is_known], end_us[is_known])
    last_us[run[~is_known]] = np.nan
    walls_s: list[float] = (np.maximum(difference(last_us, first_us), 0.0) / US_PER_S).tolist()
    return walls_s

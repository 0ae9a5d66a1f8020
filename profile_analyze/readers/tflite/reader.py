"""The reader of the profiles that TensorFlow Lite's benchmark_model prints."""

from __future__ import annotations

from math import nan
from typing import TYPE_CHECKING, Final

import numpy as np

from profile_analyze.errors import MalformedProfileError
from profile_analyze.gc_pause import gc_paused
from profile_analyze.model.categorical import Categorical
from profile_analyze.model.executions import Executions, Run, Track
from profile_analyze.model.operators import Operators, graphs_column
from profile_analyze.model.origin import Origin
from profile_analyze.model.profile import Profile
from profile_analyze.model.terms import CPU, DEVICE, MEAN
from profile_analyze.readers.keys import distinct_keys
from profile_analyze.readers.tflite.log import MAIN, read_log
from profile_analyze.readers.tflite.notes import notes_on
from profile_analyze.readers.tflite.rows import closed_delegates, rows_of
from profile_analyze.units import US_PER_S

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from profile_analyze.readers.input.source import Source
    from profile_analyze.readers.tflite.log import Log, Section
    from profile_analyze.readers.tflite.rows import Row

FORMAT: Final = "TensorFlow Lite benchmark"
_RESOLUTION_S: Final = 1e-6
_ADVICE: Final = "run benchmark_model with --enable_op_profiling=true"


def read(source: Source, wanted: Collection[str]) -> Profile:  # noqa: ARG001  # all columns cost little
    """Return the profile in `source`. See `Reader.read`."""
    with gc_paused():
        log = read_log(source.content().decode("utf-8", "replace"))
        section = _section(source.name, log)
        runs = section.part(MAIN).runs or section.runs
        found = rows_of(section, runs)
        if not found.rows:
            raise MalformedProfileError(source.name, "has no node of the main graph")
        tracks: dict[Track, int] = {}
        executions = _executions(found.rows, section, tracks)
        return Profile(
            file=source.name,
            origin=Origin(FORMAT, times=MEAN, averaged_over=runs),
            operators=_operators(found.rows),
            executions=executions,
            tracks=tuple(tracks),
            runs=(Run(wall_s=section.wall_us / US_PER_S if section.wall_us > 0 else nan),),
            processes=(source.name,),
            notes=tuple(notes_on(log, section, found)),
        )


def _section(file: str, log: Log) -> Section:
    """Return the first section about runs. Raises `MalformedProfileError` if there is none."""
    for section in log.sections:
        if not section.is_initialisation:
            return section
    if log.unread:
        reason = f"line {log.unread[0]} is in a table, but is not a row of it"
    elif not log.is_complete:
        reason = (
            "truncated: the file ends before the first row of the table of the runs; copy it again"
        )
    elif log.sections:
        reason = (
            "has the tables of the initialisation, but not those of the runs; copy the whole log, "
            "or run benchmark_model again"
        )
    else:
        reason = f"has no table of nodes; {_ADVICE}"
    raise MalformedProfileError(file, reason)


def _operators(rows: Sequence[Row]) -> Operators:
    return Operators.of(
        key=Categorical.of(distinct_keys("/".join((*row.scope, row.name)) for row in rows)),
        name=Categorical.of([row.name for row in rows]),
        type=Categorical.of([row.kind.type or None for row in rows]),
        category=Categorical.of([row.kind.category for row in rows]),
        scope=Categorical.of([row.scope or None for row in rows]),
        optional={
            "compute_dtype": Categorical.of([row.kind.compute_dtype for row in rows]),
            "first_s": np.array([row.first_s for row in rows], np.float64),
            **graphs_column(closed_delegates(rows)),
        },
    )


def _executions(rows: Sequence[Row], section: Section, tracks: dict[Track, int]) -> Executions:
    """Return an execution for each row. Each device has a track; new tracks go into `tracks`."""
    return Executions.of(
        np.arange(len(rows)),
        np.array([row.duration_s for row in rows], np.float64),
        track=[tracks.setdefault(_track(row, section), len(tracks)) for row in rows],
        start_s=[row.start_s for row in rows],
        calls=[row.calls for row in rows],
        parent=[row.parent for row in rows],
    )


def _track(row: Row, section: Section) -> Track:
    kind = row.kind
    return Track(
        "thread 1",
        DEVICE,
        kind.device,
        "thread",
        resolution_s=_RESOLUTION_S,
        device_kind=kind.device_kind,
        threads=section.threads or None if kind.device_kind == CPU else None,
    )

"""Notes on a benchmark: what was left out, and what the numbers include."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Final

import numpy as np

from profile_analyze.model.notes import (
    Importance,
    Note,
    TextNote,
    counted_and_time,
    notes_with_share,
)
from profile_analyze.readers.counted_times import share_of_total
from profile_analyze.readers.tflite.log import MAIN
from profile_analyze.readers.tflite.rows import closed_delegates
from profile_analyze.units import MS_PER_S, counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from profile_analyze.readers.tflite.log import Log, Section
    from profile_analyze.readers.tflite.rows import Row, Rows

_SLOW_START: Final = 1.2
"""If the first run takes more than this many times the mean, a note says so."""


def notes_on(log: Log, section: Section, found: Rows) -> Iterator[Note]:
    """Yield the notes on the profile of a section."""
    yield from _notes_on_file(log, section)
    if found.left_out:
        yield TextNote(
            f"left out {counted(found.left_out, 'node')} of subgraphs or inside of delegates: the "
            "node that ran them is unknown, or takes less time than they do",
            Importance.INCOMPLETE,
        )
    yield from _notes_on_rows(found.rows)


def _notes_on_file(log: Log, section: Section) -> Iterator[Note]:
    if not log.is_complete:
        yield TextNote(
            "the file ends inside of a table, so nodes may be missing; copy it again",
            Importance.DAMAGED,
        )
    for name, part in section.parts.items():
        missing = (part.executed or 0) - len(part.nodes)
        if missing > 0 and part.nodes:
            where = f" of {name}" if name else ""
            yield TextNote(
                f"the table{where} has {len(part.nodes)} of {part.executed} nodes; copy the file "
                "again",
                Importance.DAMAGED,
            )
    if lines := log.unread:
        yield TextNote(
            f"left out {counted(len(lines), 'table line')} without a node; the first is line "
            f"{lines[0]}",
            Importance.INCOMPLETE,
        )
    others = [one for one in log.sections if one is not section]
    if repeated := sum(not one.is_initialisation for one in others):
        yield TextNote(
            f"left out {counted(repeated, 'other benchmark')} in the file; write each one to a "
            "file of its own",
            Importance.INCOMPLETE,
        )
    nodes = [node for one in others if one.is_initialisation for node in one.part(MAIN).nodes]
    if nodes:
        time_s = sum(node.mean_ms * node.calls for node in nodes) / MS_PER_S
        yield TextNote(
            f"left out the initialisation: {counted_and_time(len(nodes), 'node')}",
            Importance.CONTEXT,
            time_s,
        )


def _notes_on_rows(rows: list[Row]) -> Iterator[Note]:
    time_s = np.array([row.duration_s for row in rows], np.float64)
    is_outer = np.array([row.parent < 0 for row in rows], np.bool_)
    total_s = float(np.nansum(time_s[is_outer]))
    is_closed = np.array(closed_delegates(rows), np.bool_)
    for is_affected, text, importance in (
        (
            is_closed,
            "a delegate counts as one operator if the file does not name the operators inside: {}",
            Importance.INCOMPLETE,
        ),
        (
            np.isnan(time_s),
            "the time of {} is unknown: the log lacks the number of runs, or the total time",
            Importance.INCOMPLETE,
        ),
    ):
        share = share_of_total(float(np.nansum(time_s[is_affected])), total_s)
        yield from notes_with_share(text, importance, int(is_affected.sum()), share)
    yield from _note_on_first_run(rows)
    yield from notes_with_share(
        "the computation of {} is unknown: tables of TensorFlow Lite have no shapes, and --model "
        "cannot read .tflite files",
        Importance.CONTEXT,
        len(rows),
        share_of_total(total_s, total_s),
        dropped_beside="model",  # an ONNX model may have the shapes
    )


def _note_on_first_run(rows: list[Row]) -> Iterator[Note]:
    """Yield a note if the first run was slow. Only nodes with one call in each run are compared."""
    once = [row for row in rows if row.parent < 0 and row.calls == 1 and row.first_s == row.first_s]
    first_s = sum(row.first_s for row in once)
    mean_s = sum(row.duration_s for row in once)
    if mean_s > 0 and inf > first_s / mean_s > _SLOW_START:
        yield TextNote(
            f"the means include the first run, which took {first_s / mean_s:.1f} times the mean",
            Importance.CONTEXT,
        )

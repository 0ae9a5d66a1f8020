"""Notes on a report: what is missing, and what the rows stand for."""

from __future__ import annotations

from math import isnan, nan
from typing import TYPE_CHECKING, Final

from profile_analyze.model.notes import Importance, Note, TextNote, notes_with_share, unknown_work
from profile_analyze.readers.counted_times import share_of_total
from profile_analyze.readers.migraphx.rows import known_time_s
from profile_analyze.units import MS_PER_S, short_time

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from profile_analyze.readers.migraphx.lines import Report
    from profile_analyze.readers.migraphx.rows import Row, Rows

_KEEP: Final = "keep the whole output of migraphx-driver perf"
_MISSING_SHARE: Final = 0.01
"""If the rows lack more than this share of the total, lines are missing. Rounding alone makes a
smaller difference."""

_NO_TIME: Final = "no time for {}: MIGraphX prints no number for instructions that it did not run"
_NO_CALLS: Final = (
    "the number of calls of {} is unknown, because the file says 0; each counts as one call"
)
_NO_SHAPES: Final = (
    "the computation of {} is unknown without shapes; keep the lines of instructions, or record "
    "with migraphx-driver perf --detailed"
)
_NO_INPUTS: Final = (
    f"the input shapes of {{}} are unknown, because the file lacks the lines of the inputs; {_KEEP}"
)
_UNKNOWN: Final = unknown_work("name and shapes")
_NESTED: Final = (
    "{} ran inside others (if, loop): their times count once here, but twice in the report's "
    "Total instructions time; times inside a loop are means over its iterations"
)


def notes_on_file(reports: Sequence[Report], rows: Rows) -> Iterator[Note]:
    """Yield notes on the whole file. `rows` are the rows of the last report."""
    if len(reports) > 1:
        yield TextNote(
            f"the file has {len(reports)} reports, and only the last one is shown; write each to "
            "its own file",
            Importance.WRONG,
        )
    if rows.part == "totals":
        yield TextNote(
            f"the file has only totals, so all instructions are one row; {_KEEP}",
            Importance.INCOMPLETE,
        )
    if rows.part == "summary":
        lacks = "lacks some" if reports[-1].instructions else "has no"
        yield TextNote(
            f"the rows are the groups of the report's summary, because the file {lacks} lines of "
            f"instructions; {_KEEP}",
            Importance.INCOMPLETE,
        )
        if any(row.calls is None for row in rows.rows):
            yield TextNote(
                "each group counts as one call, because versions of MIGraphX before 2022 do not "
                "print the number of calls",
                Importance.INCOMPLETE,
            )
    yield from _notes_on_totals(reports[-1], rows)


def _notes_on_totals(report: Report, rows: Rows) -> Iterator[Note]:
    if not report.totals.get("total", nan) > 0:
        yield TextNote(
            "the file ends before the time of a whole run (Total time), so instructions may be "
            f"missing; {_KEEP}",
            Importance.DAMAGED,
        )
    whole_s = report.totals.get("instructions", nan) / MS_PER_S
    if whole_s - rows.time_s > _MISSING_SHARE * whole_s:
        yield TextNote(
            f"the rows add up to {short_time(rows.time_s)}, but the report states a Total "
            f"instructions time of {short_time(whole_s)}: the lines of other instructions are "
            f"missing; {_KEEP}",
            Importance.DAMAGED,
        )


def notes_on_rows(rows: Rows, nested: Sequence[Row]) -> Iterator[Note]:
    """Yield notes on some of the operators, with the share of the time that these take.

    `nested` are the rows of instructions that ran inside other instructions.
    """
    for text, affected, importance in (
        (_NO_TIME, [row for row in rows.rows if isnan(row.time_s)], Importance.INCOMPLETE),
        (_NO_CALLS, [row for row in rows.rows if row.calls == 0], Importance.INCOMPLETE),
        *_unknown(rows),
        (_NESTED, nested, Importance.CONTEXT),
    ):
        share = share_of_total(known_time_s(affected), rows.time_s)
        yield from notes_with_share(
            text, importance, len(affected), share,
            dropped_beside="model" if text in (_NO_SHAPES, _NO_INPUTS, _UNKNOWN) else "",
        )  # fmt: skip


def _unknown(rows: Rows) -> Iterator[tuple[str, Sequence[Row], Importance]]:
    """Yield the text, the affected rows and the importance of each note on unknown computation."""
    if rows.part == "totals":
        return
    without_shapes = _NO_SHAPES if rows.part == "summary" else _NO_INPUTS
    unknown = [row for row in rows.rows if isnan(row.cost.work.computation)]
    has_no_shapes = [row for row in unknown if row.inputs is None]
    has_shapes = [row for row in unknown if row.inputs is not None]
    yield without_shapes, has_no_shapes, Importance.INCOMPLETE
    yield _UNKNOWN, has_shapes, Importance.INCOMPLETE

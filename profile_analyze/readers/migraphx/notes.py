"""Notes on a report: what is missing, and what the rows stand for."""

from __future__ import annotations

from math import isnan, nan
from typing import TYPE_CHECKING, Any, Final

from profile_analyze.model.findings import Finding, Kind, on_operators
from profile_analyze.readers.counted_times import share_of_total
from profile_analyze.readers.migraphx.rows import known_time_s
from profile_analyze.units import MS_PER_S

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from profile_analyze.model.findings import Beside
    from profile_analyze.model.notes import Note
    from profile_analyze.readers.migraphx.lines import Report
    from profile_analyze.readers.migraphx.rows import Row, Rows

_MISSING_SHARE: Final = 0.01
"""If the rows lack more than this share of the total, lines are missing. Rounding alone makes a
smaller difference."""
_UNKNOWN: Final = ("no-shapes", "inputs-left-out", "underivable-work")
"""The codes of findings that a model beside the profile makes untrue."""
_INCOMPLETE: Final = Kind.INCOMPLETE


def notes_on_file(reports: Sequence[Report], rows: Rows) -> Iterator[Note]:
    """Yield notes on the whole file. `rows` are the rows of the last report."""
    if len(reports) > 1:
        yield Finding.of("several-reports", Kind.WRONG, reports=len(reports))
    if rows.part == "totals":
        yield Finding.of("totals-only", Kind.INCOMPLETE)
    if rows.part == "summary":
        has_some = bool(reports[-1].instructions)
        yield Finding.of("rows-from-summary", Kind.INCOMPLETE, has_some=has_some)
        if any(row.calls is None for row in rows.rows):
            yield Finding.of("groups-without-calls", Kind.INCOMPLETE)
    yield from _notes_on_totals(reports[-1], rows)


def _notes_on_totals(report: Report, rows: Rows) -> Iterator[Note]:
    if not report.totals.get("total", nan) > 0:
        yield Finding.of("cut-report", Kind.DAMAGED)
    whole_s = report.totals.get("instructions", nan) / MS_PER_S
    if whole_s - rows.time_s > _MISSING_SHARE * whole_s:
        yield Finding.of(
            "missing-instructions", Kind.DAMAGED, found_s=rows.time_s, stated_s=whole_s
        )


def notes_on_rows(rows: Rows, nested: Sequence[Row]) -> Iterator[Note]:
    """Yield notes on some of the operators, with the share of the time that these take.

    `nested` are the rows of instructions that ran inside other instructions.
    """
    for code, affected, kind, values in (
        ("untimed-instructions", [row for row in rows.rows if isnan(row.time_s)], _INCOMPLETE, {}),
        ("unknown-calls", [row for row in rows.rows if row.calls == 0], _INCOMPLETE, {}),
        *_unknown(rows),
        ("nested-instructions", nested, Kind.CONTEXT, {}),
    ):
        share = share_of_total(known_time_s(affected), rows.time_s)
        beside: Beside = "model" if code in _UNKNOWN else ""
        yield from on_operators(code, kind, len(affected), share, dropped_beside=beside, **values)


def _unknown(rows: Rows) -> Iterator[tuple[str, Sequence[Row], Kind, Mapping[str, Any]]]:
    """Yield the code, the rows, the kind and the values of findings on unknown computation."""
    if rows.part == "totals":
        return
    unknown = [row for row in rows.rows if isnan(row.cost.work.computation)]
    has_no_shapes = [row for row in unknown if row.inputs is None]
    has_shapes = [row for row in unknown if row.inputs is not None]
    if rows.part == "summary":
        yield "no-shapes", has_no_shapes, _INCOMPLETE, {"file_format": "MIGraphX report"}
    else:
        yield "inputs-left-out", has_no_shapes, _INCOMPLETE, {}
    yield "underivable-work", has_shapes, _INCOMPLETE, {"facts": ["name", "shapes"]}

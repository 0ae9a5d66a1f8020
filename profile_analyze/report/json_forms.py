"""JSON, of which `docs/report.schema.json` is the schema, and JSON Lines."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any, Final

from profile_analyze.report.machine import (
    ProgramRenderer,
    as_utf8,
    columns_in,
    dumped,
    flat_summary_values,
    names_of,
    summary_values,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from profile_analyze.analysis.peaks import Peaks
    from profile_analyze.model.profile import Profile
    from profile_analyze.query.judgement import Judgement
    from profile_analyze.query.question import Query
    from profile_analyze.query.result import Result
    from profile_analyze.query.summary import Summary
    from profile_analyze.report.base import Display, Report

VERSION: Final = 1
"""Of the document's shape: what reads one version may not understand another."""


class JsonRenderer(ProgramRenderer):
    """See `Renderer`."""

    name = "json"

    def pieces(self, report: Report, display: Display) -> Iterator[str]:  # noqa: ARG002
        """See `Renderer.pieces`. Parts that were not asked for are null."""
        tables = {result.query.side: _table(report, result) for result in report.results}
        document = {
            "version": VERSION,
            "profile": None if report.profile is None else _profile(report.profile),
            "summary": None if report.summary is None else _summary(report.summary),
            "device": tables.get("device"),
            "host": tables.get("host"),
            "notes": [as_utf8(note) for note in report.notes],
        }
        yield dumped(document)
        yield "\n"


class JsonLinesRenderer(ProgramRenderer):
    """See `Renderer`."""

    name = "jsonl"

    def pieces(self, report: Report, display: Display) -> Iterator[str]:  # noqa: ARG002
        """See `Renderer.pieces`. An object a row; of the totals where only they are asked for."""
        if not report.results and report.summary is not None:
            yield dumped(flat_summary_values(report.summary)) + "\n"
        for result in report.results:
            names = columns_in(report, result)
            keys = ["side", *names_of(result, names)]
            sides = [result.query.side] * len(result)
            rows = zip(sides, *(_values(result, name) for name in names), strict=True)
            yield "".join(dumped(dict(zip(keys, row, strict=True))) + "\n" for row in rows)


def _summary(summary: Summary) -> dict[str, Any]:
    judgement = summary.judgement
    verdict = None if judgement is None else _roofline(judgement)
    return summary_values(summary) | {"roofline": verdict}


def _roofline(judgement: Judgement) -> dict[str, Any]:
    return {
        "peaks": _peaks(judgement.peaks),
        "rates": [
            {"dtype": as_utf8(dtype), "flops": rate, "share": share}
            for dtype, rate, share in judgement.rates
        ],
        "covered": judgement.covered,
        "without_footprint": [
            {"type": name, "share": share} for name, share in judgement.without_footprint
        ],
        "judged": judgement.judged,
        "efficiency": judgement.efficiency,
        "lost_s": judgement.lost_s,
        "winners": [
            {
                "label": winner.label,
                "operators": winner.operators,
                "judged": winner.judged,
                "share": winner.share,
                "efficiency": winner.efficiency,
                "total_time_s": winner.total_s,
                "gain": winner.gain,
            }
            for winner in judgement.winners
        ],
    }


def _peaks(peaks: Peaks) -> dict[str, Any]:
    return {
        "name": as_utf8(peaks.name),
        "flops": dict(peaks.flops),
        "bandwidth_bytes_per_s": peaks.bandwidth,
        "dtype": peaks.dtype,
        "source": as_utf8(peaks.source),
    }


def _profile(profile: Profile) -> dict[str, Any]:
    return {
        "source": profile.source,
        "file": as_utf8(profile.file),
        "operators": len(profile),
        "runs": profile.device.time_s.shape[1],
        "devices": list(profile.device.lanes.lane.vocabulary),
    }


def _table(report: Report, result: Result) -> dict[str, Any]:
    names = columns_in(report, result)
    units = [result.column(name).unit for name in names]
    return {
        "query": _query(result.query),
        "matched": result.matched,
        "available": result.available,
        "shown": len(result),
        "columns": [
            {"name": name, "unit": unit}
            for name, unit in zip(names_of(result, names), units, strict=True)
        ],
        "rows": list(zip(*(_values(result, name) for name in names), strict=True)),
    }


def _query(query: Query) -> dict[str, Any]:
    """What was asked, by the names of the fields of a query."""
    values = {field.name: getattr(query, field.name) for field in fields(query)}
    plain = {
        name: list(map(as_utf8, value)) if isinstance(value, tuple) else value
        for name, value in values.items()
        if name != "peaks"
    }
    return plain | {"peaks": query.peaks and _peaks(query.peaks)}


def _values(result: Result, name: str) -> list[Any]:
    """The values of one column; parameters as an object. NaN becomes null when it is written."""
    values: list[Any] = result[name].tolist()
    if name == "parameters":
        return [None if value is None else dict(value) for value in values]
    return values

"""JSON, of which `docs/report.schema.json` is the schema, and JSON Lines."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any, Final

from profile_analyze.model.profile import Profile
from profile_analyze.report.labels import gate_reason
from profile_analyze.report.machine import (
    ProgramRenderer,
    as_utf8,
    change_values,
    columns_in,
    dumped,
    flat_summary_values,
    names_of,
    summary_values,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from profile_analyze.analysis.peaks import Peaks
    from profile_analyze.model.comparison import Comparison
    from profile_analyze.query.change import Change
    from profile_analyze.query.gate import FailVerdict
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
            "profile": _profile(report.source),
            "base": _base(report.source),
            "summary": None if report.summary is None else _summary(report.summary),
            "device": tables.get("device"),
            "host": tables.get("host"),
            "gate": list(map(_condition, report.gate)),
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
    return summary_values(summary) | {
        "roofline": None if judgement is None else _roofline(judgement),
        "comparison": None if summary.change is None else _comparison(summary.change),
    }


def _comparison(change: Change) -> dict[str, Any]:
    largest = [
        {
            "label": one.label,
            "difference_s": one.difference_s,
            "share": one.share,
            "verdict": one.verdict,
        }
        for one in change.contributions
    ]
    return change_values(change) | {
        "verdict": change.verdict,
        "verdicts": dict(change.verdicts),
        "largest_differences": largest,
    }


def _condition(verdict: FailVerdict) -> dict[str, Any]:
    """What became of one condition under which a pipeline is to fail."""
    relative = verdict.condition.relative
    return {
        "condition": as_utf8(verdict.condition.text),
        "outcome": verdict.outcome,
        "reason": gate_reason(verdict),
        "time_s": verdict.time_s,
        "base_time_s": verdict.base_s,
        "ratio": verdict.time_s / verdict.base_s if verdict.base_s > 0 else None,
        "ratio_low": verdict.low if relative else None,
        "ratio_high": verdict.high if relative else None,
        "time_low_s": None if relative else verdict.low,
        "time_high_s": None if relative else verdict.high,
        "p_value": verdict.p_value,
    }


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


def _profile(source: Profile | Comparison | None) -> dict[str, Any] | None:
    if source is None:
        return None
    profile = source if isinstance(source, Profile) else source.profile
    operators = len(source) if isinstance(source, Profile) else source.operators
    return {
        "source": profile.source,
        "file": as_utf8(profile.file),
        "files": list(map(as_utf8, dict.fromkeys(profile.run_files))),
        "operators": operators,
        "runs": profile.runs,
        "devices": list(profile.device.lanes.lane.categories),
    }


def _base(source: Profile | Comparison | None) -> dict[str, Any] | None:
    if source is None or isinstance(source, Profile):
        return None
    return {
        "file": as_utf8(source.base_file),
        "files": list(map(as_utf8, dict.fromkeys(source.base_files))),
        "operators": source.base_operators,
        "runs": source.base_runs,
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
        name: list(map(as_utf8, value)) if isinstance(value, tuple) else _text(value)
        for name, value in values.items()
        if name != "peaks"
    }
    return plain | {"peaks": query.peaks and _peaks(query.peaks)}


def _text(value: Any) -> Any:
    """`value`, which JSON can hold if it is a text: file names and arguments may be none."""
    return as_utf8(value) if isinstance(value, str) else value


def _values(result: Result, name: str) -> list[Any]:
    """The values of one column; parameters as an object. NaN becomes null when it is written."""
    values: list[Any] = result[name].tolist()
    if name == "file":
        return list(map(_text, values))
    if name == "parameters":
        return [None if value is None else dict(value) for value in values]
    return values

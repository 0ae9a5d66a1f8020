"""JSON, of which `docs/report.schema.json` is the schema, and JSON Lines.

Like every renderer's, this module is imported before a file is read, and imports no NumPy.
"""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any, Final

from profile_analyze.model.terms import OPERATOR
from profile_analyze.report.base import encoded
from profile_analyze.report.labels import gate_reason
from profile_analyze.report.machine import (
    ProgramRenderer,
    as_utf8,
    columns_in,
    dumped,
    facts_alone,
    names_of,
    plain,
)
from profile_analyze.report.sections import Facts, TableSection, Verdicts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from profile_analyze.model.comparison import Comparison
    from profile_analyze.model.executions import Track
    from profile_analyze.model.profile import Profile
    from profile_analyze.query.gate import FailVerdict
    from profile_analyze.query.question import Query
    from profile_analyze.query.table import Table
    from profile_analyze.report.base import Display, Report

VERSION: Final = 2
"""Of the document's shape: what reads one version may not understand another."""


class JsonRenderer(ProgramRenderer):
    """See `Renderer`."""

    name = "json"
    suffixes = (".json",)
    has_summary_beside_tables = True

    def pieces(self, report: Report, display: Display) -> Iterator[bytes]:  # noqa: ARG002
        """See `Renderer.pieces`. Parts that were not asked for are null or empty."""
        document = {
            "version": VERSION,
            "profile": _profile(report.source),
            "base": _base(report.source),
            "summary": _summary(report.all_of(Facts)),
            "tables": list(map(_table, report.all_of(TableSection))),
            "gate": [
                _condition(one) for section in report.all_of(Verdicts) for one in section.verdicts
            ],
            "notes": plain(report.notes),
        }
        return encoded([dumped(document), "\n"], "utf-8")


class JsonLinesRenderer(ProgramRenderer):
    """See `Renderer`."""

    name = "jsonl"
    suffixes = (".jsonl", ".ndjson")

    def pieces(self, report: Report, display: Display) -> Iterator[bytes]:  # noqa: ARG002
        """See `Renderer.pieces`. An object a row; of the facts where only they are asked for."""
        return encoded(_lines(report), "utf-8")


def _lines(report: Report) -> Iterator[str]:
    facts = facts_alone(report)
    if facts is not None:
        yield dumped(plain(facts)) + "\n"
    for section in report.all_of(TableSection):
        table, names = section.table, columns_in(section)
        keys = ["measure", *names_of(table, names)]
        measures = [table.query.measure] * len(table)
        rows = zip(measures, *(_values(table, name) for name in names), strict=True)
        yield "".join(dumped(dict(zip(keys, row, strict=True))) + "\n" for row in rows)


def _summary(groups: tuple[Facts, ...]) -> dict[str, Any] | None:
    """The totals, and an object for each further group; null for one that there is not."""
    from profile_analyze.report.facts import GROUPS

    if not groups:
        return None
    values = {group.name: plain(group.values) for group in groups}
    first, *others = (group.name for group in GROUPS)
    return {**values[first], **{name: values.get(name) for name in others}}


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
        "unit": verdict.unit,
    }


def _profile(source: Profile | Comparison | None) -> dict[str, Any] | None:
    from profile_analyze.model.profile import Profile

    if source is None:
        return None
    profile = source if isinstance(source, Profile) else source.profile
    operators = len(source) if isinstance(source, Profile) else source.operators
    return {
        **_origin(profile),
        "file": as_utf8(profile.file),
        "files": plain(list(dict.fromkeys(profile.processes))),
        "level": profile.level or OPERATOR,
        "operators": operators,
        "executions": len(profile.executions),
        "processes": len(profile.processes),
        "runs": len(profile.runs),
        "tracks": [_track(track) for track in profile.tracks],
    }


def _origin(profile: Profile) -> dict[str, Any]:
    """Where the profile is from, and what its times are."""
    return {
        "format": plain(profile.origin.format),
        "format_version": plain(profile.origin.version),
        "times": profile.origin.times,
        "averaged_over": profile.origin.averaged_over,
        "hardware": plain(profile.origin.hardware),
    }


def _track(track: Track) -> dict[str, Any]:
    return {
        "name": plain(track.name),
        "side": track.side,
        "kind": track.kind,
        "device": plain(track.device),
        "process": plain(track.process),
        "rank": track.rank,
    }


def _base(source: Profile | Comparison | None) -> dict[str, Any] | None:
    from profile_analyze.model.profile import Profile

    if source is None or isinstance(source, Profile):
        return None
    return {
        **_origin(source.base),
        "file": as_utf8(source.base.file),
        "files": plain(list(dict.fromkeys(source.base.processes))),
        "operators": source.base_operators,
        "processes": len(source.base.processes),
        "runs": len(source.base.runs),
    }


def _table(section: TableSection) -> dict[str, Any]:
    table, names = section.table, columns_in(section)
    units = [table.column(name).unit for name in names]
    return {
        "name": table.name,
        "measure": table.query.measure,
        "query": _query(table.query),
        "matched": table.matched,
        "available": table.available,
        "shown": len(table),
        "columns": [
            {"name": name, "unit": unit}
            for name, unit in zip(names_of(table, names), units, strict=True)
        ],
        "rows": list(zip(*(_values(table, name) for name in names), strict=True)),
    }


def _query(query: Query) -> dict[str, Any]:
    """What was asked, by the names of the fields of a query."""
    from profile_analyze.report.facts import peaks_record

    values = {field.name: getattr(query, field.name) for field in fields(query)}
    peaks = query.peaks and peaks_record(query.peaks)
    asked: dict[str, Any] = plain(values | {"peaks": peaks})
    return asked


def _values(table: Table, name: str) -> list[Any]:
    """The values of one column; parameters as an object. NaN becomes null when it is written."""
    values: list[Any] = table[name].tolist()
    if name == "file":
        return list(map(plain, values))
    if name == "parameters":
        return [None if value is None else dict(value) for value in values]
    return values

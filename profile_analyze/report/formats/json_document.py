"""The JSON document of a report. `docs/report.schema.json` is its schema."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any, Final

from profile_analyze.columns.kinds import SQL
from profile_analyze.findings.sentences import as_text, sentence, subject_text
from profile_analyze.model.findings import Finding
from profile_analyze.model.profile import Profile
from profile_analyze.model.terms import OPERATOR
from profile_analyze.report.facts.facts import GROUP_NAMES
from profile_analyze.report.facts.sentence_parts import gate_reason
from profile_analyze.report.formats.programs import (
    as_utf8,
    json_ready,
    json_values,
    machine_names,
    peaks_record,
    shown_columns,
)
from profile_analyze.report.sections import (
    INSPECTION,
    Facts,
    TableSection,
    Verdicts,
)

if TYPE_CHECKING:
    from profile_analyze.comparison.comparison import Comparison
    from profile_analyze.gate.judge import FailVerdict
    from profile_analyze.model.executions import Track
    from profile_analyze.query.question import Query
    from profile_analyze.query.table import Table
    from profile_analyze.report.base import Report

VERSION: Final = 2
"""The version of the document's structure. Increase it with every change that could break programs
which read the document."""


def json_document(report: Report) -> dict[str, Any]:
    """Return the document. Parts that were not asked for are null or empty."""
    tables = report.tables
    return {
        "version": VERSION,
        "profile": _profile(report.source),
        "base": _base(report.source),
        "summary": _summary(
            tuple(group for group in report.all_of(Facts) if group.name != INSPECTION)
        ),
        "inspection": _inspection(report),
        "sql": next((_rows(one) for one in tables if one.table.name == SQL), None),
        "tables": [_table(one) for one in tables if one.table.name != SQL],
        "gate": [
            _condition(verdict)
            for section in report.all_of(Verdicts)
            for verdict in section.verdicts
        ],
        "notes": json_ready([as_text(note) for note in report.notes]),
        "findings": [_finding(one) for one in report.notes if isinstance(one, Finding)],
    }


def _finding(finding: Finding) -> dict[str, Any]:
    """Return a note that has a code, with its values in base units."""
    return {
        "code": finding.code,
        "kind": finding.kind.name.lower(),
        "subjects": [subject_text(one) for one in finding.subjects],
        "values": json_ready(dict(finding.values)),
        "share": json_ready(finding.share),
        "time_s": json_ready(finding.size.time_s),
        "text": sentence(finding),
    }


def _summary(groups: tuple[Facts, ...]) -> dict[str, Any] | None:
    """Return the totals, and an object or null for each of the other groups."""
    if not groups:
        return None
    values = {group.name: json_ready(group.values) for group in groups}
    totals, *others = GROUP_NAMES
    return {**values[totals], **{name: values.get(name) for name in others}}


def _inspection(report: Report) -> dict[str, Any] | None:
    """Return the facts about one operator, and the rows of each list as objects."""
    facts = [group for group in report.all_of(Facts) if group.name == INSPECTION]
    if not facts:
        return None
    lists = {table.name: _objects(table) for table in facts[0].tables}
    inspection: dict[str, Any] = json_ready({**facts[0].values, **lists})
    return inspection


def _objects(table: Table) -> list[dict[str, Any]]:
    """Return an object for each row of a short table."""
    names = machine_names(table, table.columns)
    rows = zip(*(json_values(table, name) for name in table.columns), strict=True)
    return [dict(zip(names, row, strict=True)) for row in rows]


def _condition(verdict: FailVerdict) -> dict[str, Any]:
    """Return the verdict on one condition of `--fail-if`."""
    relative = verdict.condition.relative
    return {
        "condition": as_utf8(verdict.condition.text),
        "outcome": verdict.outcome,
        "reason": as_utf8(gate_reason(verdict)),
        "time_s": verdict.time_s,
        "base_time_s": verdict.base_s,
        "ratio": verdict.time_s / verdict.base_s if verdict.base_s > 0 else None,
        # A relative condition limits the ratio, so the interval is an interval of the ratio. For
        # other conditions, it is an interval of the time.
        "ratio_low": verdict.low if relative else None,
        "ratio_high": verdict.high if relative else None,
        "time_low_s": None if relative else verdict.low,
        "time_high_s": None if relative else verdict.high,
        "p_value": verdict.p_value,
        "unit": verdict.unit,
        "amount": verdict.amount,
        "base_amount": verdict.base_amount,
    }


def _profile(source: Profile | Comparison | None) -> dict[str, Any] | None:
    if source is None:
        return None
    profile = source if isinstance(source, Profile) else source.profile
    # The operators of a comparison are the operators of both sides.
    operators = len(source) if isinstance(source, Profile) else source.operators
    return {
        **_origin(profile),
        "file": as_utf8(profile.file),
        # A file that is named twice counts as two processes, but is listed once.
        "files": json_ready(list(dict.fromkeys(profile.processes))),
        "level": profile.level or OPERATOR,
        "operators": operators,
        "executions": len(profile.executions),
        "processes": len(profile.processes),
        "runs": len(profile.runs),
        "left_out": _left_out(profile),
        "tracks": [_track(track) for track in profile.tracks],
    }


def _base(source: Profile | Comparison | None) -> dict[str, Any] | None:
    if source is None or isinstance(source, Profile):
        return None
    return {
        **_origin(source.base),
        "file": as_utf8(source.base.file),
        "files": json_ready(list(dict.fromkeys(source.base.processes))),
        "operators": source.base_operators,
        "processes": len(source.base.processes),
        "runs": len(source.base.runs),
        "left_out": _left_out(source.base),
    }


def _left_out(profile: Profile) -> list[dict[str, str]]:
    """Return the files that cannot be read, and the reasons (`--skip-bad`)."""
    return [{"file": as_utf8(file), "reason": as_utf8(reason)} for file, reason in profile.left_out]


def _origin(profile: Profile) -> dict[str, Any]:
    """Return the format of a profile, and the kind of its times."""
    return {
        "format": json_ready(profile.origin.format),
        "format_version": json_ready(profile.origin.version),
        "times": profile.origin.times,
        "averaged_over": profile.origin.averaged_over,
        "synchronised": profile.origin.synchronised,
        "hardware": json_ready(profile.origin.hardware),
    }


def _track(track: Track) -> dict[str, Any]:
    return {
        "name": json_ready(track.name),
        "side": track.side,
        "kind": track.kind,
        "device": json_ready(track.device),
        "process": json_ready(track.process),
        "rank": track.rank,
        "device_kind": track.device_kind,
        "threads": track.threads,
    }


def _table(section: TableSection) -> dict[str, Any]:
    table, asked = section.table, section.table.asked
    return {
        "name": table.name,
        "measure": asked and asked.query.measure,
        "query": _arrangement(table) if asked is None else _query(asked.query),
        "matched": table.available if asked is None else asked.matched,
        "available": table.available,
        "shown": len(table),
        **_rows(section),
    }


def _rows(section: TableSection) -> dict[str, Any]:
    """Return the columns and the rows of a table."""
    table, names = section.table, shown_columns(section)
    units = [table.column(name).unit for name in names]
    return {
        "columns": [
            {"name": name, "unit": unit}
            for name, unit in zip(machine_names(table, names), units, strict=True)
        ],
        "rows": list(zip(*(json_values(table, name) for name in names), strict=True)),
    }


def _arrangement(table: Table) -> dict[str, Any] | None:
    """Return which rows a table has; None if it has all."""
    if table.arrangement is None:
        return None
    where, order, top, *_ = table.arrangement
    arrangement: dict[str, Any] = json_ready({"where": where, "order": order, "top": top})
    return arrangement


def _query(query: Query) -> dict[str, Any]:
    """Return the question: the value of each field of `Query`, by name."""
    values = {field.name: getattr(query, field.name) for field in fields(query)}
    peaks = query.peaks and peaks_record(query.peaks)
    question: dict[str, Any] = json_ready(values | {"peaks": peaks})
    return question

"""JSON and JSON Lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from profile_analyze.report.base import encoded
from profile_analyze.report.formats.json_document import json_document
from profile_analyze.report.formats.programs import (
    ProgramRenderer,
    facts_alone,
    json_ready,
    json_values,
    machine_names,
    shown_columns,
    to_json,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from profile_analyze.report.base import Display, Report


class JsonRenderer(ProgramRenderer):
    """Renderer of one JSON document; see `Renderer`."""

    name = "json"
    suffixes = (".json",)
    has_summary_beside_tables = True

    def pieces(self, report: Report, display: Display) -> Iterator[bytes]:  # noqa: ARG002  # part of `Renderer`
        """Yield the document; see `Renderer.pieces`."""
        return encoded([to_json(json_document(report)), "\n"], "utf-8")


class JsonLinesRenderer(ProgramRenderer):
    """Renderer of JSON Lines; see `Renderer`."""

    name = "jsonl"
    suffixes = (".jsonl", ".ndjson")

    def pieces(self, report: Report, display: Display) -> Iterator[bytes]:  # noqa: ARG002  # part of `Renderer`
        """Yield an object per row, or one object of the facts if the report has no table."""
        return encoded(_lines(report), "utf-8")


def _lines(report: Report) -> Iterator[str]:
    facts = facts_alone(report)
    if facts is not None:
        yield to_json(json_ready(facts)) + "\n"
    for section in report.tables:
        table, names = section.table, shown_columns(section)
        columns = zip(
            machine_names(table, names), (json_values(table, name) for name in names), strict=True
        )
        measure = {} if table.asked is None else {"measure": [table.query.measure] * len(table)}
        by_name = {**measure, **dict(columns)}
        rows = zip(*by_name.values(), strict=True)
        yield "".join(to_json(dict(zip(by_name, row, strict=True))) + "\n" for row in rows)

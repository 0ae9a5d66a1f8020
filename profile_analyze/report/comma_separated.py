"""Comma-separated values (RFC 4180): rows only, or the totals where only they are asked for."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Any, Final

from profile_analyze.model.visible import visible
from profile_analyze.report.machine import columns, columns_in, names_of, summary_values

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from profile_analyze.query.question import Query
    from profile_analyze.query.result import Result
    from profile_analyze.report.base import Display, Report

# What makes a spreadsheet take a text for a formula; an apostrophe in front keeps it from that.
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")


class CsvRenderer:
    """See `Renderer`."""

    name = "csv"
    for_programs = True

    def columns(self, query: Query) -> tuple[str, ...]:
        """See `Renderer.columns`."""
        return columns(query)

    def pieces(self, report: Report, display: Display) -> Iterator[str]:  # noqa: ARG002
        """See `Renderer.pieces`. With several tables, the first column says which it is."""
        if not report.results and report.summary is not None:
            totals = summary_values(report.summary)
            yield _lines([totals.keys(), totals.values()])
        several = len(report.results) > 1
        for place, result in enumerate(report.results):
            names = columns_in(report, result)
            sides: list[list[Any]] = [[result.query.side] * len(result)] if several else []
            if place == 0:
                yield _lines([["side"] * several + [*map(inert, names_of(result, names))]])
            yield _lines(zip(*sides, *(_values(result, name) for name in names), strict=True))


def _lines(rows: Iterable[Iterable[Any]]) -> str:
    out = io.StringIO()
    csv.writer(out).writerows(rows)
    return out.getvalue()


def _values(result: Result, name: str) -> Sequence[Any]:
    """The cells of one column: numbers as they are, nothing for N/A, texts made inert."""
    column, values = result.column(name), result[name]
    if values.dtype.kind == "f":
        return [None if value != value else value for value in values.tolist()]  # noqa: PLR0124
    if column.kind == "number":
        return list(values.tolist())
    texts = {
        value: value if isinstance(value, (int, float)) else inert(column.as_text(value))
        for value in set(values.tolist()) - {None}
    }
    return [texts.get(value) for value in values.tolist()]


def inert(text: str) -> str:
    """`text` on one line, and no formula."""
    shown = visible(text, "utf-8")
    return f"'{shown}" if shown.startswith(_FORMULA) else shown

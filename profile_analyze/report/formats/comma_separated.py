"""Comma-separated values (RFC 4180): the rows, or the facts if the report has no table."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from profile_analyze.errors import QueryError
from profile_analyze.model.visible import visible
from profile_analyze.report.base import encoded
from profile_analyze.report.formats.programs import (
    ProgramRenderer,
    facts_alone,
    machine_names,
    number_texts,
    program_values,
    shown_columns,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from profile_analyze.query.table import Table
    from profile_analyze.report.base import Display, Report

# Spreadsheets read a text as a formula if it starts with one of these characters. An apostrophe
# before the character prevents this. Some programs skip blanks before the character, or accept its
# wide form, which is used in Chinese text. In regions with decimal commas, a semicolon starts a new
# cell, even inside quotes.
_FORMULA: Final = r"(^|;)([\s\"]*)(?=[=+@\uff1d\uff0b\uff0d\uff20-])"
_FORMULA_STARTS: Final = frozenset("=+-@\uff1d\uff0b\uff0d\uff20")
# From RFC 4180:
_SEPARATOR: Final = ","
_QUOTE: Final = '"'
_LINE_END: Final = "\r\n"
_EMPTY_TEXT: Final = _QUOTE * 2


class CsvRenderer(ProgramRenderer):
    """Renderer of comma-separated values; see `Renderer`."""

    name = "csv"
    suffixes = (".csv",)

    def pieces(self, report: Report, display: Display) -> Iterator[bytes]:  # noqa: ARG002  # part of `Renderer`
        """Yield the rows. With several tables, the first column is the measure of the table.

        Raises `QueryError` if the tables have different columns.
        """
        tables = report.tables
        headers = {tuple(machine_names(one.table, shown_columns(one))) for one in tables}
        if len(headers) > 1:
            raise QueryError(
                "csv has one line of headers, and these tables have different columns; write one "
                "table at a time, or name the columns"
            )
        return encoded(_texts(report), "utf-8", line_end=_LINE_END)


def _texts(report: Report) -> Iterator[str]:
    facts = facts_alone(report)
    if facts is not None:
        texts = (
            csv_cell(value) if isinstance(value, str) else number_texts([value], missing="")[0]
            for value in facts.values()
        )
        yield _lines([facts.keys(), texts])
    sections = report.tables
    several = len(sections) > 1
    for index, section in enumerate(sections):
        table, names = section.table, shown_columns(section)
        measures = [[table.query.measure] * len(table)] if several else []
        if index == 0:
            headers = map(csv_cell, machine_names(table, names))
            yield _lines([["measure", *headers] if several else headers])
        yield _lines(zip(*measures, *(_cells(table, name) for name in names), strict=True))


def _lines(rows: Iterable[Iterable[str]]) -> str:
    """Return the rows as lines. An empty line is written as `""`: readers skip blank lines."""
    lines = map(_SEPARATOR.join, rows)
    return "".join([f"{line or _EMPTY_TEXT}{_LINE_END}" for line in lines])


def _cells(table: Table, name: str) -> list[str]:
    """Return the cells of one column, empty for N/A."""
    column = table.column(name)
    values = program_values(table, name)
    if column.kind == "number":
        return number_texts(values, missing="")
    # Texts repeat, so each distinct text is formatted once. Ids and parameters may be numbers.
    texts = {value: column.as_text(value) for value in set(values) - {None}}
    cells = {
        value: text if isinstance(value, (int, float)) else csv_cell(text)
        for value, text in texts.items()
    }
    return [cells.get(value, "") for value in values]


def csv_cell(text: str) -> str:
    """Return `text` on one line, with formulas disabled, and in quotes if necessary."""
    shown = visible(text, "utf-8")
    if not _FORMULA_STARTS.isdisjoint(shown):
        shown = re.sub(_FORMULA, r"\1\2'", shown)
    # Line breaks would need quotes, too, but `visible` has escaped them.
    if _QUOTE in shown or _SEPARATOR in shown:
        return f"{_QUOTE}{shown.replace(_QUOTE, _QUOTE * 2)}{_QUOTE}"
    return shown

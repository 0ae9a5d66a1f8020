"""Comma-separated values (RFC 4180): rows only, or the facts where only they are asked for."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from profile_analyze.model.visible import visible
from profile_analyze.report.base import encoded
from profile_analyze.report.machine import (
    ProgramRenderer,
    columns_in,
    facts_alone,
    names_of,
    numbers,
)
from profile_analyze.report.sections import TableSection

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from profile_analyze.query.table import Table
    from profile_analyze.report.base import Display, Report

# What makes a spreadsheet take a text for a formula; an apostrophe in front keeps it from that.
# Some skip blanks, some take the wide forms too, and where a comma is the decimal point they begin
# a new cell at a semicolon, even between quotes that begin before it.
_FORMULA: Final = r"(^|;)([\s\"]*)(?=[=+@\uff1d\uff0b\uff0d\uff20-])"
_BEGINS_FORMULAE: Final = frozenset("=+-@\uff1d\uff0b\uff0d\uff20")
_EMPTY: Final = '""'


class CsvRenderer(ProgramRenderer):
    """See `Renderer`."""

    name = "csv"
    suffixes = (".csv",)

    def pieces(self, report: Report, display: Display) -> Iterator[bytes]:  # noqa: ARG002
        """See `Renderer.pieces`. With several tables, the first column says which it is."""
        return encoded(_texts(report), "utf-8")


def _texts(report: Report) -> Iterator[str]:
    facts = facts_alone(report)
    if facts is not None:
        texts = (
            cell(value) if isinstance(value, str) else numbers([value], missing="")[0]
            for value in facts.values()
        )
        yield _lines([facts.keys(), texts])
    sections = report.all_of(TableSection)
    several = len(sections) > 1
    for place, section in enumerate(sections):
        table, names = section.table, columns_in(section)
        measures = [[table.query.measure] * len(table)] if several else []
        if place == 0:
            yield _lines([["measure"] * several + [*map(cell, names_of(table, names))]])
        yield _lines(zip(*measures, *(_cells(table, name) for name in names), strict=True))


def _lines(rows: Iterable[Iterable[str]]) -> str:
    """The lines; one that would be blank, which readers skip, has an empty text in it."""
    return "".join([f"{line or _EMPTY}\r\n" for line in map(",".join, rows)])


def _cells(table: Table, name: str) -> list[str]:
    """The cells of one column, nothing for N/A."""
    column = table.column(name)
    values: list[Any] = table[name].tolist()
    if column.kind == "number":
        return numbers(values, missing="")
    cells = {
        value: str(value) if isinstance(value, (int, float)) else cell(column.as_text(value))
        for value in set(values) - {None}
    }
    return [cells.get(value, "") for value in values]


def cell(text: str) -> str:
    """`text` on one line, no formula, and between quotes if it needs them."""
    shown = visible(text, "utf-8")
    if not _BEGINS_FORMULAE.isdisjoint(shown):
        shown = re.sub(_FORMULA, r"\1\2'", shown)
    if '"' in shown or "," in shown:
        quoted = shown.replace('"', '""')
        return f'"{quoted}"'
    return shown

"""The answer to `--explain COLUMN`: how the column is computed, with numbers of the first row."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from profile_analyze.columns.catalog import find_column
from profile_analyze.columns.formula_words import Formula, ingredients
from profile_analyze.model.visible import visible
from profile_analyze.report.base import encoded
from profile_analyze.report.layout.labels import row_labels
from profile_analyze.report.layout.paragraphs import with_own_indent
from profile_analyze.report.layout.times import time_text
from profile_analyze.report.pages.column_explanation import definition, general_explanation
from profile_analyze.report.sections import TableSection
from profile_analyze.units import counted
from profile_analyze.views.worked import worked_through

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from profile_analyze.model.notes import Note
    from profile_analyze.query.question import Query
    from profile_analyze.query.table import Table
    from profile_analyze.report.base import Display, Need, Report
    from profile_analyze.report.layout.times import TimeUnit


class ExplanationRenderer:
    """Renderer of the explanation of one column; see `Renderer`."""

    name = "explanation"
    for_programs = False
    suffixes: tuple[str, ...] = ()
    has_tables = True
    follows_original = False
    has_stacks = False
    has_summary_beside_tables = True
    needs: Need = ""

    def __init__(self, column: str) -> None:
        self.column = find_column(column)

    def columns(self, query: Query, *, several_runs: bool = False) -> tuple[str, ...]:  # noqa: ARG002  # part of `Renderer`
        """Return the columns that the explanation reads; see `Renderer.columns`."""
        read = ingredients(self.column, query.keys, query.aggregate)
        of_formulas = (Formula.of(one, query.keys, query.aggregate).columns for one in read)
        named = (one.name for columns in of_formulas for one in columns)
        return tuple(dict.fromkeys((self.column.name, *named)))

    def notes(self, table: Table) -> Iterable[Note]:
        """Return the notes on a table; see `Renderer.notes`."""
        return table.notes

    def pieces(self, report: Report, display: Display) -> Iterator[bytes]:
        """Yield the explanation as text; see `Renderer.pieces`."""
        (table, *_) = (section.table for section in report.all_of(TableSection))
        general = general_explanation(self.column.name).splitlines()
        lines = self._lines(table, display.time_unit) if len(table) else general
        texts = (visible(line, display.encoding) for line in lines)
        wrapped = (with_own_indent(text, display.width) for text in texts)
        return encoded((f"{text}\n" for text in wrapped), display.encoding)

    def _lines(self, table: Table, time_unit: TimeUnit) -> Iterator[str]:
        yield definition(self.column)
        yield f"The first row of this answer is {_label(table)}:"
        for sentence in worked_through(table, self.column, partial(time_text, wanted=time_unit)):
            yield f"  {sentence}"


def _label(table: Table) -> str:
    """Return the name of the first row, such as `conv1 (Conv, id 3)`."""
    if table.query.grouped:
        operators = counted(int(table["count"][0]), "operator")
        return f"{table.labels[0]} ({operators})" if table.query.by else f"all {operators}"
    name, type_, id_ = row_labels(table)[0]
    return f"{name} ({type_}, id {id_})"

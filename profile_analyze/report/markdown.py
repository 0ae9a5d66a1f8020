"""Pipe tables in GitHub's Markdown, for issues, pull requests and documentation."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from profile_analyze.model.notes import chosen_notes
from profile_analyze.model.visible import visible
from profile_analyze.report.cells import cells_of, draw_cells, with_intervals
from profile_analyze.report.default_columns import (
    columns_beside_time,
    columns_with_values,
    group_columns,
)
from profile_analyze.report.drawing import draw
from profile_analyze.report.people import PeopleRenderer

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from profile_analyze.query.question import Query
    from profile_analyze.report.base import Display, Report
    from profile_analyze.report.cells import Cells, ColumnTexts
    from profile_analyze.report.sections import Line, TableSection

# Matches text without markup. An underscore at the end of a word may begin emphasis. A dot before a
# letter may be part of an address, such as www.example.com.
_HARMLESS: Final = re.compile(
    r"(?:[A-Za-z0-9 ,%/+()-]|(?<=[A-Za-z0-9])_(?=[A-Za-z0-9])|[.<](?=\d))*"
)


class MarkdownRenderer(PeopleRenderer):
    """Renderer of Markdown; see `Renderer`."""

    name = "markdown"
    suffixes: tuple[str, ...] = (".md", ".markdown")
    before_sentences = "\n\n"

    def columns(self, query: Query, *, several_runs: bool = False) -> tuple[str, ...]:
        """Return the default columns; see `Renderer.columns`."""
        return (
            ("name", "type", "time", *columns_beside_time(query, several_runs=several_runs))
            if query.keys is None
            else group_columns(query, several_runs=several_runs)
        )

    def facts(self, lines: Sequence[Line], display: Display) -> str:  # noqa: ARG002  # markup has no width
        """Return the facts as a table of two columns."""
        rows = [(markdown_cell(name), markdown_cell(value)) for name, value in lines]
        return draw(rows, style="pipe", headers=("total", "value"), right=(1,))

    def sentences(self, texts: Sequence[str], display: Display) -> str:  # noqa: ARG002  # markup has no width
        """Return the sentences as a list."""
        return "\n".join(f"- {markdown_cell(text)}" for text in texts)

    def notes_of(self, report: Report, display: Display) -> str:
        """Return the notes as a list, because readers of a page that is passed on need them."""
        notes = chosen_notes(report.notes, display.notes)
        return self.sentences([visible(f"note: {one}", display.encoding) for one in notes], display)

    def titled(self, title: str, columns: Sequence[Cells], display: Display) -> str:  # noqa: ARG002  # part of `Renderer`
        """Return a short table with a title."""
        return f"{markdown_cell(title)}:\n\n{_pipe_table(columns)}"

    def relation(self, columns: Sequence[Cells], display: Display) -> Iterable[str]:  # noqa: ARG002  # markup has no width
        """Return a line per row."""
        return [_pipe_table(columns)]

    def table(self, section: TableSection, display: Display) -> Iterable[str]:
        """Return a line per row. Default columns without any value are left out."""
        names = section.columns or columns_with_values(self.shown_columns(section), section.table)
        columns = self.column_texts(section.table, names, display)
        return [_table(columns, names, display._replace(color=False))]


def _table(columns: ColumnTexts, names: Sequence[str], display: Display) -> str:
    return _pipe_table(with_intervals(columns, names, cells_of(columns, names, display)))


def _pipe_table(columns: Sequence[Cells]) -> str:
    escaped = [
        cells._replace(
            header=markdown_cell(cells.header), texts=list(map(markdown_cell, cells.texts))
        )
        for cells in columns
    ]
    return draw_cells(escaped, style="pipe")


def markdown_cell(text: str) -> str:
    """Return `text` as a cell, in a code span if it may contain markup.

    A code span ends at as many backticks as it begins with. Inside a code span, only a pipe needs
    an escape, because it would end the cell.
    """
    if _HARMLESS.fullmatch(text):
        return text
    longest = max(map(len, re.findall("`+", text)), default=0)
    fence = "`" * (longest + 1)
    # A blank separates a backtick of the text from the fence. Markdown does not show this blank.
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{pad}{text}{pad}{fence}".replace("|", r"\|")

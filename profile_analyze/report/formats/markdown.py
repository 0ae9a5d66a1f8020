"""Pipe tables in GitHub's Markdown, for issues, pull requests and documentation."""

from __future__ import annotations

import re
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Final

from profile_analyze.findings.sentences import as_text
from profile_analyze.model.notes import chosen_notes
from profile_analyze.model.visible import encodable, visible
from profile_analyze.report.formats.people import PeopleRenderer
from profile_analyze.report.layout.cells import cells_of, draw_cells, with_intervals
from profile_analyze.report.layout.default_columns import (
    columns_beside_time,
    columns_with_values,
    group_columns,
)
from profile_analyze.report.layout.drawing import draw
from profile_analyze.report.pictures.chart_texts import names_of_sides
from profile_analyze.report.sections import Facts
from profile_analyze.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from profile_analyze.query.question import Query
    from profile_analyze.report.base import Display, Report
    from profile_analyze.report.layout.cells import Cells, ColumnTexts
    from profile_analyze.report.layout.column_fitting import Removal
    from profile_analyze.report.sections import Line, TableSection

# Matches text without markup. An underscore at the end of a word may begin emphasis. A dot before a
# letter may be part of an address, such as www.example.com.
_HARMLESS: Final = re.compile(
    r"(?:[A-Za-z0-9 ,%/+()-]|(?<=[A-Za-z0-9])_(?=[A-Za-z0-9])|[.<](?=\d))*"
)


# Matches words that need no code span in a sentence.
_HARMLESS_WORD: Final = re.compile(
    rf"{_HARMLESS.pattern}(?:(?<=[a-z])'(?:s|t)?)?[,;:.!?]*[)]?[,;:.!?]*|[<>]?=?"
)
# Matches words that begin a list or a quotation, or underline a heading, at the start of a line.
_BLOCK_MARKER: Final = re.compile(r"[-+=<>]+|\d+[.)]")
# Matches a word, or a quoted text with its quotes.
_WORD: Final = re.compile(r"(?<!\S)[(]?'[^']*'(?=[),;:.?]*(?:\s|$))|\S+")
_END_OF_WORD: Final = ",;:.?"


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

    def heading(self, report: Report, display: Display) -> str:
        """Return the names of the files and the version of this tool, if there is a summary.

        Without a summary, the answer is a table to paste into another page.
        """
        if report.source is None or not report.all_of(Facts):
            return ""
        files = encodable(", ".join(names_of_sides(report.source)), display.encoding)
        return f"## {markdown_text(files)}\n\nprofile_analyze {VERSION}"

    def facts(self, lines: Sequence[Line], display: Display) -> str:  # noqa: ARG002  # markup has no width
        """Return the facts as a table of two columns."""
        rows = [(markdown_cell(name), markdown_cell(value)) for name, value in lines]
        return draw(rows, style="pipe", headers=("total", "value"), right=(1,))

    def sentences(self, texts: Sequence[str], display: Display) -> str:  # noqa: ARG002  # markup has no width
        """Return the sentences as a list."""
        return "\n".join(f"- {markdown_text(text)}" for text in texts)

    def notes_of(self, report: Report, display: Display) -> str:
        """Return the notes as a list, because readers of the page may not see standard error."""
        notes = chosen_notes(report.notes, display.notes)
        texts = [as_text(note, display.time_unit) for note in notes]
        return self.sentences([visible(f"note: {one}", display.encoding) for one in texts], display)

    def titled(
        self,
        title: str,
        columns: Sequence[Cells],
        removal: Removal,  # noqa: ARG002  # markup has no width
        display: Display,  # noqa: ARG002
    ) -> str:
        """Return a short table with a title."""
        return f"{markdown_cell(title)}:\n\n{_pipe_table(columns)}"

    def rows(self, columns: Sequence[Cells], display: Display, chooser: str) -> Iterable[str]:  # noqa: ARG002  # markup has no width
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

    Inside a code span, only a pipe needs an escape, because it would end the cell.
    """
    return text if _HARMLESS.fullmatch(text) else _code_span(text).replace("|", r"\|")


def markdown_text(text: str) -> str:
    """Return a sentence in which the words that may contain markup are in code spans.

    Several such words in a row share a code span. Punctuation at its end stays outside.
    """
    words = [(one, _needs_code(one)) for one in _WORD.finditer(text)]
    parts, end = [], 0
    for is_code, group in groupby(words, key=itemgetter(1)):
        found = [one for one, _ in group]
        part = text[found[0].start() : found[-1].end()]
        code = part.rstrip(_END_OF_WORD) if is_code else ""
        blanks = text[end : found[0].start()]
        parts.append(f"{blanks}{_code_span(code)}{part[len(code) :]}" if code else blanks + part)
        end = found[-1].end()
    return "".join(parts)


def _needs_code(word: re.Match[str]) -> bool:
    if not word.start() and _BLOCK_MARKER.fullmatch(word[0]):
        return True
    return not _HARMLESS_WORD.fullmatch(word[0])


def _code_span(text: str) -> str:
    """Return `text` as code. A code span ends at as many backticks as it begins with."""
    longest = max(map(len, re.findall("`+", text)), default=0)
    fence = "`" * (longest + 1)
    # A blank separates a backtick of the text from the fence. Markdown does not show this blank.
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{pad}{text}{pad}{fence}"

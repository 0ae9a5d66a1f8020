"""GitHub's pipe tables, for an issue, a pull request or a page of documentation."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from profile_analyze.report.cells import cells_of, draw_cells
from profile_analyze.report.default_columns import columns_of_groups, rates, with_values
from profile_analyze.report.drawing import draw
from profile_analyze.report.labels import gate_sentence
from profile_analyze.report.people import PeopleRenderer

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from profile_analyze.query.gate import FailVerdict
    from profile_analyze.query.question import Query
    from profile_analyze.query.table import Table
    from profile_analyze.report.base import Display
    from profile_analyze.report.sections import Line, TableSection

# An underscore at the end of a word, and a dot before a letter (as in www.), mean something.
_HARMLESS: Final = re.compile(r"(?:[A-Za-z0-9 ,%/+()-]|(?<=[A-Za-z0-9])_(?=[A-Za-z0-9])|\.(?=\d))*")


class MarkdownRenderer(PeopleRenderer):
    """See `Renderer`."""

    name = "markdown"
    suffixes: tuple[str, ...] = (".md", ".markdown")
    before_sentences = "\n\n"

    def columns(self, query: Query, *, several_runs: bool = False) -> tuple[str, ...]:
        """See `Renderer.columns`."""
        return (
            ("name", "type", "time", *rates(query, several_runs=several_runs))
            if query.keys is None
            else columns_of_groups(query, several_runs=several_runs)
        )

    def facts(self, lines: Sequence[Line]) -> str:
        """The facts as a table of two columns."""
        rows = [(code(name), code(value)) for name, value in lines]
        return draw(rows, style="pipe", headers=("total", "value"), right=(1,))

    def sentences(self, texts: Sequence[str]) -> str:
        """The sentences as a list."""
        return _listed(texts)

    def verdicts(self, verdicts: Sequence[FailVerdict]) -> str:
        """The conditions as a list."""
        return _listed(map(gate_sentence, verdicts))

    def table(self, section: TableSection, display: Display) -> Iterable[str]:
        """A line for each row; of its own columns, those that have values."""
        names = section.columns or with_values(self.names_of(section), section.table)
        return [_table(section.table, names, display._replace(color=False))]


def _listed(sentences: Iterable[str]) -> str:
    return "\n".join(f"- {code(sentence)}" for sentence in sentences)


def _table(table: Table, names: Sequence[str], display: Display) -> str:
    columns = [
        cells._replace(header=code(cells.header), texts=list(map(code, cells.texts)))
        for cells in cells_of(table, names, display)
    ]
    return draw_cells(columns, style="pipe")


def code(text: str) -> str:
    """`text` as a cell. What may mean something to Markdown is put into a code span.

    Within one nothing has a meaning but the pipe, which ends the cell unless it is escaped, and
    as many backticks as begin the span.
    """
    if _HARMLESS.fullmatch(text):
        return text
    longest = max(map(len, re.findall("`+", text)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{pad}{text}{pad}{fence}".replace("|", r"\|")

"""The base of output formats for people."""

from __future__ import annotations

from abc import ABC, abstractmethod
from itertools import groupby
from typing import TYPE_CHECKING, ClassVar

from profile_analyze.model.visible import visible
from profile_analyze.report.base import encoded
from profile_analyze.report.facts.sentence_parts import gate_sentence
from profile_analyze.report.layout.aligned_columns import (
    chosen_columns,
    excess_width,
    shortened_cells,
    shortened_columns,
    with_narrow_headers,
)
from profile_analyze.report.layout.cells import (
    ColumnTexts,
    cells_of,
    draw_cells,
    times_in,
)
from profile_analyze.report.layout.column_fitting import Removal, left_out_columns
from profile_analyze.report.layout.default_columns import (
    columns_of_short_table,
    every_column,
    filled_columns,
)
from profile_analyze.report.layout.paragraphs import paragraph, paragraphs
from profile_analyze.report.layout.times import AUTO, ORIGINAL, times_for
from profile_analyze.report.sections import (
    ALL_COLUMNS,
    Facts,
    Sentences,
    TableSection,
    Verdicts,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from profile_analyze.model.notes import Note
    from profile_analyze.query.question import Query
    from profile_analyze.query.table import Table
    from profile_analyze.report.base import Display, Need, Report
    from profile_analyze.report.layout.cells import Cells
    from profile_analyze.report.layout.times import Times
    from profile_analyze.report.sections import Line, Section


class PeopleRenderer(ABC):
    """Base of formats for people; see `Renderer`.

    A subclass turns each kind of section into text. Empty lines separate the sections.
    """

    for_programs = False
    suffixes: tuple[str, ...] = ()
    has_tables = True
    follows_original: bool = False
    has_stacks = False
    has_summary_beside_tables = True
    needs: Need = ""
    before_sentences: ClassVar[str] = "\n"
    """The separator between facts and the sentences that follow from them."""

    @abstractmethod
    def columns(self, query: Query, *, several_runs: bool = False) -> tuple[str, ...]:
        """Return the default columns; see `Renderer.columns`."""

    def notes(self, table: Table) -> Iterable[Note]:
        """Return the notes on a table; see `Renderer.notes`."""
        return table.notes

    @abstractmethod
    def facts(self, lines: Sequence[Line], display: Display) -> str:
        """Return the facts of all groups as text."""

    @abstractmethod
    def table(self, section: TableSection, display: Display) -> Iterable[str]:
        """Return a table of operators or groups in pieces.

        Characters that `display.encoding` lacks are escaped.
        """

    def sentences(self, texts: Sequence[str], display: Display) -> str:
        """Return conclusions from facts, or verdicts on the conditions of `--fail-if`, as text."""
        return paragraphs(texts, display)

    def titled(
        self, title: str, columns: Sequence[Cells], removal: Removal, display: Display
    ) -> str:
        """Return a short table with a title, fitted to the width of the display."""
        heading = paragraph(f"{title}:", display.width, indent="")
        if display.width is None or excess_width(columns, display.width) <= 0:
            return f"{heading}\n\n{draw_cells(columns, style='plain')}"
        headers = [column.header for column in columns]
        columns = with_narrow_headers(columns)
        indices = chosen_columns(columns, removal, display.width)
        shown = [columns[index] for index in indices]
        fitting, about_texts = self.narrowed(shown, display.width, display)
        about_others = left_out_columns(headers, indices, display, chooser="")
        table = draw_cells(fitting, style="plain")
        return "".join([f"{heading}\n\n{table}", *about_others, *about_texts])

    def narrowed(
        self, columns: Sequence[Cells], available: int, display: Display
    ) -> tuple[Sequence[Cells], Iterable[str]]:
        """Return the columns of a short table with narrower texts, and a paragraph about them."""
        fitting = shortened_cells(columns, available, display)
        return fitting, shortened_columns(columns, fitting, display)

    def heading(self, report: Report, display: Display) -> str:  # noqa: ARG002  # for subclasses
        """Return a heading to show before the answer; empty if the format has none."""
        return ""

    def notes_of(self, report: Report, display: Display) -> str:  # noqa: ARG002  # for subclasses
        """Return the notes to show after the answer; empty if the format leaves them out."""
        return ""

    @abstractmethod
    def rows(self, columns: Sequence[Cells], display: Display, chooser: str) -> Iterable[str]:
        """Return a table of rows that are neither operators nor groups, in pieces.

        `chooser` is what chooses other columns; see `TableSection.chooser`.
        """

    def shown_columns(self, section: TableSection) -> tuple[str, ...]:
        """Return the columns of a table: the chosen ones, or else the default ones."""
        table = section.table
        return section.columns or self.columns(table.query, several_runs=table.several_runs)

    def pieces(self, report: Report, display: Display) -> Iterator[bytes]:
        """Yield the report as text that ends with a newline; see `Renderer.pieces`."""
        return encoded(self._texts(report, display), display.encoding, color=display.color)

    def column_texts(self, table: Table, names: Iterable[str], display: Display) -> ColumnTexts:
        """Return the texts of a table that shows the columns `names`."""
        # Without rows, the total decides the unit in the headers.
        has_total = table.asked is not None and not len(table)
        times_s = [table.total_s] if has_total else times_in(table, names)
        return ColumnTexts(table, self.times_of(times_s, display))

    def times_of(self, times_s: Iterable[float], display: Display) -> Times:
        """Return how to write the times of one part of the report."""
        if self.follows_original and display.time_unit == AUTO:
            return ORIGINAL
        return times_for(times_s, display.time_unit)

    def _texts(self, report: Report, display: Display) -> Iterator[str]:
        # Sections of one kind are handled together, because all facts are printed as one table.
        previous: type[Section] | None = None
        if heading := self.heading(report, display):
            yield f"{heading}\n\n"
        # Facts have the same unit of times as the sentences that follow from them.
        times = self.times_of(report.times_s, display)
        for kind, sections in groupby(report.sections, type):
            for text in self._parts(list(sections), times, display):
                if previous is not None:
                    follows_facts = previous is Facts and kind is Sentences
                    yield self.before_sentences if follows_facts else "\n\n"
                previous = kind
                yield from text
        if notes := self.notes_of(report, display):
            yield "" if previous is None else "\n\n"
            yield notes
        yield "\n"

    def _parts(
        self, sections: Sequence[Section], times: Times, display: Display
    ) -> Iterator[Iterable[str]]:
        """Yield the texts of `sections`, which are all of one kind. Each text comes in pieces.

        All facts together are one text, and so are all sentences. They, titles and short tables are
        escaped here, before they are fitted to the width of the display.
        """

        def shown(text: str) -> str:
            return visible(text, display.encoding)

        lines = [line for one in sections if isinstance(one, Facts) for line in one.lines(times)]
        texts = [
            text for one in sections if isinstance(one, Sentences) for text in one.texts(times)
        ]
        if lines:
            yield [self.facts([(shown(label), shown(text)) for label, text in lines], display)]
        if texts:
            yield [self.sentences([*map(shown, texts)], display)]
        for section in sections:
            if isinstance(section, Facts):
                yield from ([self._short_table(one, display)] for one in section.tables)
            elif isinstance(section, TableSection):
                yield self._table(_resolved(section), display)
            elif isinstance(section, Verdicts):
                yield [self.sentences([*map(shown, self._verdicts(section, display))], display)]

    def _table(self, section: TableSection, display: Display) -> Iterable[str]:
        """Return a table in pieces."""
        table = section.table
        if table.asked is not None:
            return self.table(section, display)
        names = section.columns or filled_columns(table.columns, table)
        return self.rows(self._cells(table, names, display), display, section.chooser)

    def _cells(self, table: Table, names: Sequence[str], display: Display) -> list[Cells]:
        """Return the columns of a table whose rows are neither operators nor groups."""
        texts = self.column_texts(table, names, display)
        return cells_of(texts, names, display._replace(color=False))

    def _short_table(self, table: Table, display: Display) -> str:
        """Return a table that belongs to facts, with its title and the number of further rows."""
        names = columns_of_short_table(table)
        more = table.available - len(table)
        title = f"{table.title} ({more} more)" if more else table.title
        return self.titled(
            visible(title, display.encoding),
            self._cells(table, names, display),
            Removal.of_short_table(names),
            display,
        )

    def _verdicts(self, section: Verdicts, display: Display) -> Iterator[str]:
        """Yield a sentence on each condition of `--fail-if`."""
        measured_s = (time_s for one in section.verdicts for time_s in (one.time_s, one.base_s))
        times = self.times_of(measured_s, display)
        return (gate_sentence(verdict, times) for verdict in section.verdicts)


def _resolved(section: TableSection) -> TableSection:
    """Return the section with `ALL_COLUMNS` replaced by the names of the columns with values."""
    if section.columns != ALL_COLUMNS:
        return section
    return section._replace(columns=filled_columns(every_column(section.table), section.table))

"""The base of output formats for people."""

from __future__ import annotations

from abc import ABC, abstractmethod
from itertools import groupby
from typing import TYPE_CHECKING, ClassVar

from profile_analyze.model.visible import encodable
from profile_analyze.report.base import encoded
from profile_analyze.report.paragraphs import paragraphs
from profile_analyze.report.sections import Facts, Sentences, TableSection, Verdicts
from profile_analyze.report.sentence_parts import gate_sentence

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from profile_analyze.query.question import Query
    from profile_analyze.report.base import Display, Need, Report
    from profile_analyze.report.sections import Line, Section


class PeopleRenderer(ABC):
    """Base of formats for people; see `Renderer`.

    Subclasses write each kind of section. Empty lines separate the sections.
    """

    for_programs = False
    suffixes: tuple[str, ...] = ()
    has_tables = True
    counts_constants = False
    has_summary_beside_tables = True
    needs: Need = ""
    before_sentences: ClassVar[str] = "\n"
    """The separator between facts and the sentences that follow from them."""

    @abstractmethod
    def columns(self, query: Query, *, several_runs: bool = False) -> tuple[str, ...]:
        """Return the default columns; see `Renderer.columns`."""

    @abstractmethod
    def facts(self, lines: Sequence[Line], display: Display) -> str:
        """Return the facts of all groups as text."""

    @abstractmethod
    def table(self, section: TableSection, display: Display) -> Iterable[str]:
        """Return a table in pieces, which use only characters that the display has."""

    def sentences(self, texts: Sequence[str], display: Display) -> str:
        """Return the sentences that follow from facts, or those on the conditions of a gate."""
        return paragraphs(texts, display)

    def shown_columns(self, section: TableSection) -> tuple[str, ...]:
        """Return the columns of a table: the chosen ones, or else the default ones."""
        table = section.table
        return section.columns or self.columns(table.query, several_runs=table.several_runs)

    def pieces(self, report: Report, display: Display) -> Iterator[bytes]:
        """Yield the report as text that ends with a newline; see `Renderer.pieces`."""
        return encoded(self._texts(report, display), display.encoding)

    def _texts(self, report: Report, display: Display) -> Iterator[str]:
        # Sections of one kind are handled together, because the facts of all groups are one table.
        previous: type[Section] | None = None
        for kind, sections in groupby(report.sections, type):
            for text in self._parts(list(sections), display):
                if previous is not None:
                    follows_facts = previous is Facts and kind is Sentences
                    yield self.before_sentences if follows_facts else "\n\n"
                previous = kind
                yield from text
        yield "\n"

    def _parts(self, sections: Sequence[Section], display: Display) -> Iterator[Iterable[str]]:
        """Yield the parts of sections of one kind. All facts are one part, as are all sentences.

        Characters that the display's encoding lacks are escaped here. Tables escape their own,
        because their layout depends on the width.
        """

        def shown(text: str) -> str:
            return encodable(text, display.encoding)

        lines = [line for one in sections if isinstance(one, Facts) for line in one.lines]
        texts = [text for one in sections if isinstance(one, Sentences) for text in one.texts]
        if lines:
            yield [self.facts([(shown(label), shown(text)) for label, text in lines], display)]
        if texts:
            yield [self.sentences([*map(shown, texts)], display)]
        for section in sections:
            if isinstance(section, TableSection):
                yield self.table(section, display)
            elif isinstance(section, Verdicts):
                verdicts = map(gate_sentence, section.verdicts)
                yield [self.sentences([*map(shown, verdicts)], display)]

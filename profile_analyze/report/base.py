"""The interface of output formats: `Renderer`, and its input, a `Report` and a `Display`."""

from __future__ import annotations

import codecs
from math import inf
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, Protocol, TypeAlias, TypeVar

from profile_analyze.model.visible import escaped_lines
from profile_analyze.report.facts.facts import sections_of
from profile_analyze.report.layout.colors import SEQUENCES
from profile_analyze.report.layout.times import AUTO
from profile_analyze.report.sections import Facts, Section, TableSection, Verdicts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from profile_analyze.comparison.comparison import Comparison
    from profile_analyze.gate.judge import FailVerdict
    from profile_analyze.model.notes import Note, NoteChoice
    from profile_analyze.model.profile import Profile
    from profile_analyze.query.question import Query
    from profile_analyze.query.table import Table
    from profile_analyze.report.layout.times import TimeUnit
    from profile_analyze.views.summary import Summary


_CHUNK_LENGTH: Final = 1 << 20
"""The number of characters to encode at a time.

This way, memory never holds all bytes of a long text beside the text itself.
"""

S = TypeVar("S")


class Report(NamedTuple):
    """What to print: sections with raw numbers, in the order of printing."""

    sections: tuple[Section, ...] = ()
    source: Profile | Comparison | None = None
    """The profile or comparison, for formats that describe it."""
    notes: tuple[Note, ...] = ()
    """What a person should know before trusting the numbers, for formats that have notes."""
    shows_verdicts: bool = True
    """Whether the output format shows the verdicts on conditions."""

    @classmethod
    def of(
        cls,
        summary: Summary | None,
        tables: Iterable[Table] = (),
        *,
        columns: tuple[str, ...] = (),
        verdicts: tuple[FailVerdict, ...] = (),
        source: Profile | Comparison | None = None,
        notes: tuple[Note, ...] = (),
        shows_verdicts: bool = True,
    ) -> Report:
        """Make a report: first the summary, then the tables, then the verdicts on `--fail-if`.

        `columns` are the columns that tables show, in this order. `all` alone stands for all
        columns. If `columns` is empty, tables show the default columns of the format.
        """
        facts = () if summary is None else sections_of(summary)
        shown = (TableSection(table, columns) for table in tables)
        gate = (Verdicts(verdicts),) if verdicts else ()
        return cls((*facts, *shown, *gate), source, notes, shows_verdicts)

    @property
    def tables(self) -> tuple[TableSection, ...]:
        """The tables, without those that belong to facts."""
        return self.all_of(TableSection)

    @property
    def times_s(self) -> list[float]:
        """The times among the facts. They decide the unit of times in facts and sentences.

        A time above ten times the total of all operators counts as ten times the total. Otherwise,
        the unit could be too large for the total.
        """
        groups = self.all_of(Facts)
        totals_s = [time_s for one in groups if one.name == "totals" for time_s in one.times_s]
        most_s = 10 * totals_s[0] if totals_s else inf
        return [min(time_s, most_s) for one in groups for time_s in one.times_s]

    def all_of(self, kind: type[S]) -> tuple[S, ...]:
        """Return the sections of one kind."""
        return tuple(section for section in self.sections if isinstance(section, kind))


class Display(NamedTuple):
    """Properties of the output. Renderers rely on these and never ask the terminal."""

    encoding: str = "utf-8"
    """The encoding of text for people. Characters that it lacks are written as escapes."""
    width: int | None = None
    """The number of columns of the terminal; None if lines may have any length."""
    color: bool = False
    """Whether to write colours."""
    notes: NoteChoice = "few"
    """Which notes to show in formats for people that have notes."""
    time_unit: TimeUnit = AUTO
    """The unit of times. `auto` chooses a unit for each part of a report, but stands for seconds in
    formats that follow the original."""

    def can_show(self, text: str) -> bool:
        """Return whether the encoding has all characters of `text`."""
        try:
            text.encode(self.encoding)
        except UnicodeEncodeError:
            return False
        return True


Need: TypeAlias = Literal["", "conditions", "findings"]


class Renderer(Protocol):
    """One output format: turns a report into bytes."""

    name: str
    """The name on the command line."""
    for_programs: bool
    """Whether the format is for programs. If so, it is UTF-8, whatever the terminal's encoding."""
    suffixes: tuple[str, ...]
    """The suffixes of files that have this format by default, such as `.csv`."""
    has_tables: bool
    """Whether the format shows tables and totals."""
    follows_original: bool
    """Whether the format shows what the original shows: times in seconds unless the user chooses
    a unit, and the size of a constant as its memory (`model.constants`)."""
    has_stacks: bool
    """Whether the format shows the stacks of all rows instead of columns or groups."""
    has_summary_beside_tables: bool
    """Whether the format shows the summary, verdicts and notes even if the report has tables."""
    needs: Need
    """What the call must ask for, because the output would be empty without it.

    `conditions`: conditions of `--fail-if`. `findings`: conditions of `--fail-if`, a comparison, or
    both.
    """

    def columns(self, query: Query, *, several_runs: bool = False) -> tuple[str, ...]:
        """Return the default columns for an answer to `query`.

        `several_runs` says whether the answer combines several runs.
        """

    def notes(self, table: Table) -> Iterable[Note]:
        """Return the notes on what the format shows of a table."""

    def pieces(self, report: Report, display: Display) -> Iterator[bytes]:
        """Yield the report as bytes, in pieces, because it may be long."""


def encoded(
    texts: Iterable[str], encoding: str, *, color: bool = False, line_end: str = "\n"
) -> Iterator[bytes]:
    """Yield the texts in `encoding`, with escapes for the characters that it lacks.

    Every output format that is text passes through here, so that no name can control a terminal:
    the only control characters are the characters of `line_end` and, with `color`, our colours.
    Where escapes change the layout, renderers escape names earlier.
    """
    allowed = (*line_end, *(SEQUENCES if color else ()))
    # One encoder for all texts, because some encodings have a byte order mark or a shift state.
    encoder = codecs.getincrementalencoder(encoding)("backslashreplace")
    for text in texts:
        # A chunk must not end inside a colour.
        length = (len(text) or 1) if color else _CHUNK_LENGTH
        for start in range(0, len(text), length):
            yield encoder.encode(escaped_lines(text[start : start + length], allowed))

"""The interface of renderers, and what they get: a report and a display."""

from __future__ import annotations

import codecs
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, Protocol, TypeAlias, TypeVar

from profile_analyze.report.sections import Section, TableSection, Verdicts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from profile_analyze.model.comparison import Comparison
    from profile_analyze.model.profile import Profile
    from profile_analyze.query.gate import FailVerdict
    from profile_analyze.query.question import Query
    from profile_analyze.query.summary import Summary
    from profile_analyze.query.table import Table


ALL_COLUMNS: Final = "all"

_AT_ONCE: Final = 1 << 20
"""How many characters are encoded at once, so that a long piece is not held as text and as
bytes."""

S = TypeVar("S")


class Report(NamedTuple):
    """An answer as it is to be shown: raw numbers, in the order of printing."""

    sections: tuple[Section, ...] = ()
    source: Profile | Comparison | None = None
    """The profile or comparison, for formats that describe it."""
    notes: tuple[str, ...] = ()
    """What a person should know, for formats that carry it."""

    @classmethod
    def of(  # all but two by keyword, most of them left out
        cls,
        summary: Summary | None,
        tables: Iterable[Table] = (),
        *,
        columns: tuple[str, ...] = (),
        verdicts: tuple[FailVerdict, ...] = (),
        source: Profile | Comparison | None = None,
        notes: tuple[str, ...] = (),
    ) -> Report:
        """Make a report: the summary first, then the tables, then the verdicts of a gate.

        `columns` are the columns that tables show, in this order: `all` for all columns, empty for
        the format's default.
        """
        from profile_analyze.report.facts import sections_of

        facts = () if summary is None else sections_of(summary)
        shown = (TableSection(table, chosen_columns(columns, table)) for table in tables)
        gate = (Verdicts(verdicts),) if verdicts else ()
        return cls((*facts, *shown, *gate), source, notes)

    def all_of(self, kind: type[S]) -> tuple[S, ...]:
        """The sections of one kind."""
        return tuple(section for section in self.sections if isinstance(section, kind))


def chosen_columns(columns: tuple[str, ...], table: Table) -> tuple[str, ...]:
    """The columns that are asked for of `table`, `all` being all that it has."""
    return table.query.columns if columns == (ALL_COLUMNS,) else columns


class Display(NamedTuple):
    """Where the output is shown. Renderers use this alone, and never ask the terminal."""

    encoding: str = "utf-8"
    """The encoding of text for people. Characters that it lacks are written as escapes."""
    width: int | None = None
    """How many columns the terminal has; None where lines may have any length."""
    color: bool = False
    """Whether to write colours."""

    def can_show(self, text: str) -> bool:
        """Whether the encoding has all characters of `text`."""
        try:
            text.encode(self.encoding)
        except UnicodeEncodeError:
            return False
        return True


Need: TypeAlias = Literal["", "conditions", "findings"]


class Renderer(Protocol):
    """One output format: a report in, bytes out."""

    name: str
    """Its name on the command line."""
    for_programs: bool
    """Whether it is for programs. It is then UTF-8, whatever the terminal's encoding."""
    libraries: tuple[str, ...]
    """The libraries that it imports when it writes, so that they can be imported while a file is
    read."""
    suffixes: tuple[str, ...]
    """Which files are written in it unless another format is asked for, such as `.csv`."""
    has_tables: bool
    """Whether it shows tables and totals; otherwise only verdicts and sentences."""
    has_summary_beside_tables: bool
    """Whether it shows the summary, verdicts and notes beside tables, or only their rows."""
    needs: Need
    """What the call must ask for, or the output would be empty: `conditions` of a gate, `findings`
    of a gate or a comparison. Empty if nothing is needed."""

    def columns(self, query: Query, *, several_runs: bool = False) -> tuple[str, ...]:
        """The columns that it shows of an answer to `query` by default.

        `several_runs` says whether the answer is of more than one run.
        """

    def pieces(self, report: Report, display: Display) -> Iterator[bytes]:
        """The report as bytes, in pieces, because it may be long."""


def encoded(texts: Iterable[str], encoding: str) -> Iterator[bytes]:
    """The texts one after another in `encoding`, with escapes for what it does not have."""
    encoder = codecs.getincrementalencoder(encoding)("backslashreplace")
    for text in texts:
        for start in range(0, len(text), _AT_ONCE):
            yield encoder.encode(text[start : start + _AT_ONCE])

"""What is handed to a renderer, and what a renderer is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from profile_analyze.model.profile import Profile
    from profile_analyze.query.question import Query
    from profile_analyze.query.result import Result
    from profile_analyze.query.summary import Summary


ALL_COLUMNS: Final = "all"


class Report(NamedTuple):
    """An answer as it is to be shown: raw numbers, in the order of printing."""

    summary: Summary | None
    """The totals; None to leave them out."""
    results: tuple[Result, ...]
    """The tables, device before host."""
    columns: tuple[str, ...] = ()
    """What the tables show, in this order, `all` for all that they have; empty for what the form
    shows by itself."""
    profile: Profile | None = None
    """What was asked, for forms that describe it."""
    notes: tuple[str, ...] = ()
    """What a person should know, for forms that carry it."""

    def shown_of(self, query: Query) -> tuple[str, ...]:
        """`columns` for the answer to `query`; empty for what the form shows by itself."""
        return query.columns if self.columns == (ALL_COLUMNS,) else self.columns


class Display(NamedTuple):
    """What the text is for: renderers are told, and never ask."""

    encoding: str = "utf-8"
    """What the text will be encoded in; what it cannot express is written as escapes."""
    width: int | None = None
    """How many columns the terminal has; None where lines may have any length."""
    color: bool = False
    """Whether the terminal is to be told of colours."""

    def can_show(self, text: str) -> bool:
        """Whether the encoding has all characters of `text`."""
        try:
            text.encode(self.encoding)
        except UnicodeEncodeError:
            return False
        return True


class Renderer(Protocol):
    """One output format."""

    name: str
    """What it is called on the command line."""
    for_programs: bool
    """Whether programs read it: then it is UTF-8 whatever the terminal's encoding."""

    def columns(self, query: Query) -> tuple[str, ...]:
        """The columns that it shows of an answer to `query` unless others are asked for."""

    def pieces(self, report: Report, display: Display) -> Iterator[str]:
        """The report as text that ends with a newline, in pieces: it may be long."""


def rates(query: Query) -> tuple[str, ...]:
    """What forms show of a row beside its time; more where there are peaks to compare with."""
    return ("share", "computation", "flops", "memory", "bandwidth", *judged_of(query))


def judged_of(query: Query) -> tuple[str, ...]:
    """What is shown of how far a row is from its roof; nothing without peaks."""
    judged = ("bound", "efficiency", "lost", "gain") if query.peaks else ()
    return tuple(name for name in judged if name not in query.by)


def columns_of_groups(query: Query) -> tuple[str, ...]:
    """What forms with a column for each show of groups."""
    return (*query.by, "count", *query.times, *rates(query))


def parts(
    report: Report,
    *,
    summary: Callable[[Summary], str],
    table: Callable[[Result], Iterable[str]],
) -> Iterator[str]:
    """The pieces of a report whose parts are written by `summary` and `table`.

    An empty line stands between two parts, and a newline at the end.
    """
    gap = ""
    if report.summary is not None:
        yield summary(report.summary)
        gap = "\n\n"
    for result in report.results:
        yield gap
        yield from table(result)
        gap = "\n\n"
    yield "\n"

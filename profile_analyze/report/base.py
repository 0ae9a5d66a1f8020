"""What is handed to a renderer, and what a renderer is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

from profile_analyze.model.visible import encodable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from profile_analyze.model.comparison import Comparison
    from profile_analyze.model.profile import Profile
    from profile_analyze.query.gate import FailVerdict
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
    source: Profile | Comparison | None = None
    """What was asked, for forms that describe it."""
    notes: tuple[str, ...] = ()
    """What a person should know, for forms that carry it."""
    gate: tuple[FailVerdict, ...] = ()
    """What became of the conditions under which a pipeline is to fail."""

    def shown_of(self, query: Query) -> tuple[str, ...]:
        """`columns` for the answer to `query`; empty for what the form shows by itself."""
        return query.columns if self.columns == (ALL_COLUMNS,) else self.columns

    def names_of(self, result: Result, renderer: Renderer) -> tuple[str, ...]:
        """What a table of `result` shows: what is asked for, or else the renderer's own columns."""
        own = renderer.columns(result.query, several_runs=result.several_runs)
        return self.shown_of(result.query) or own


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
    libraries: tuple[str, ...]
    """What it imports when it writes, so that it can be imported while a file is read."""

    def columns(self, query: Query, *, several_runs: bool = False) -> tuple[str, ...]:
        """The columns that it shows of an answer to `query` unless others are asked for.

        `several_runs` says whether the answer is of more than one run.
        """

    def pieces(self, report: Report, display: Display) -> Iterator[str]:
        """The report as text that ends with a newline, in pieces: it may be long."""


def rates(query: Query, *, several_runs: bool) -> tuple[str, ...]:
    """What forms show of a row beside its time.

    More where there are peaks or a base to compare with, and where the time varies from run to run.
    """
    return (
        *compared_of(query),
        *varying(several_runs=several_runs),
        *("share", "computation", "flops", "memory", "bandwidth"),
        *judged_of(query),
    )


def compared_of(query: Query) -> tuple[str, ...]:
    """What is shown of how far a row is from its base; nothing without one."""
    compared = ("base", "difference", "change", "ratio", "verdict") if query.compared else ()
    return tuple(name for name in compared if name not in query.by)


def judged_of(query: Query) -> tuple[str, ...]:
    """What is shown of how far a row is from its roof; nothing without peaks."""
    judged = ("bound", "efficiency", "lost", "gain") if query.peaks else ()
    return tuple(name for name in judged if name not in query.by)


def varying(*, several_runs: bool) -> tuple[str, ...]:
    """What is shown of how a row's time varies from run to run; nothing where there is one run."""
    return ("spread",) if several_runs else ()


def columns_of_groups(query: Query, *, several_runs: bool) -> tuple[str, ...]:
    """What forms with a column for each show of groups."""
    return (*query.by, "count", *query.times, *rates(query, several_runs=several_runs))


def parts(
    report: Report,
    display: Display,
    *,
    summary: Callable[[Summary], str],
    table: Callable[[Result], Iterable[str]],
    gate: Callable[[tuple[FailVerdict, ...]], str],
) -> Iterator[str]:
    """The pieces of a report whose parts are written by `summary`, `table` and `gate`.

    An empty line stands between two parts, and a newline at the end. What the encoding of
    `display` does not have is escaped here in sentences, whose width is nobody's; tables are made
    for it.
    """
    gap = ""
    if report.summary is not None:
        yield encodable(summary(report.summary), display.encoding)
        gap = "\n\n"
    for result in report.results:
        yield gap
        yield from table(result)
        gap = "\n\n"
    if report.gate:
        yield gap + encodable(gate(report.gate), display.encoding)
    yield "\n"

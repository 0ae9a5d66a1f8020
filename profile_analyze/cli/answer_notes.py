"""The notes on an answer with tables: what the numbers do not show, and unused options."""

from __future__ import annotations

from typing import TYPE_CHECKING

from profile_analyze.cli.inputs.sources import notes_on_merged_sides
from profile_analyze.columns.formula_words import needs_times
from profile_analyze.model.findings import Finding, Kind
from profile_analyze.model.measures import MEASURES
from profile_analyze.model.profile import Profile
from profile_analyze.model.terms import HOST, is_run_key
from profile_analyze.query.notes.filters import wildcard_findings
from profile_analyze.query.notes.sums import other_side_findings
from profile_analyze.query.run import run
from profile_analyze.report.facts.totals import notes_on_copy_time
from profile_analyze.report.formats.output_formats import (
    OPERATORS,
    OUTPUT_FORMATS,
    TABLE,
    TABLE_FORMATS,
    format_by_suffix,
)
from profile_analyze.report.sections import ALL_COLUMNS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from profile_analyze.cli.options.asking import Asking
    from profile_analyze.cli.request import Request
    from profile_analyze.comparison.comparison import Comparison
    from profile_analyze.gate.judge import FailVerdict
    from profile_analyze.model.notes import Note
    from profile_analyze.query.question import Query
    from profile_analyze.query.table import Table
    from profile_analyze.report.base import Renderer
    from profile_analyze.views.summary import Summary


def notes_on_answer(
    source: Profile | Comparison,
    request: Request,
    renderer: Renderer,
    summary: Summary,
    tables: list[Table],
    verdicts: tuple[FailVerdict, ...],
) -> Iterator[Note]:
    """Yield the notes on the whole answer. The same note may come several times."""
    reading, asking, showing, writing = request
    if reading.labels is None:  # with labels, the user can tell the files apart
        yield from notes_on_merged_sides(reading.sources.named, reading.sources.named_baseline)
    profile = source if isinstance(source, Profile) else source.profile
    yield from _notes_of_profile(profile, request)
    # Notes on runs matter only if runs are combined. A table that is split by run keeps them apart.
    keeps_runs_apart = tables and any(map(is_run_key, asking.queries["device"].split_by))
    if not keeps_runs_apart:
        yield from profile.notes_on_runs
    if not isinstance(source, Profile):
        yield from source.notes
    yield from summary.notes
    for table in tables:
        yield from renderer.notes(table)
        yield from other_side_findings(table, showing.columns)
    yield from _notes_on_conditions(source, verdicts, asking.query)
    if not tables and _filters_rows_only(asking):
        yield Finding.of("totals-ignore-filters", Kind.ANSWER)
    if not (tables or writing.plot):
        yield from _notes_on_arrangement(source, asking.query)
    yield from _notes_on_sides(asking)
    yield from _notes_on_format(renderer, summary, tables)
    yield from _notes_on_columns(tables, showing.columns)
    yield from _notes_on_suffix(writing.output, renderer)


def _notes_on_sides(asking: Asking) -> Iterator[Note]:
    """Yield notes on tables that have other times than the call asks for."""
    if asking.sides == (HOST,) and not asking.chooses_side:
        yield Finding.of("host-rows", Kind.ANSWER)
    if asking.leaves_out_host:
        yield Finding.of("host-left-out", Kind.ANSWER)


def _notes_on_conditions(
    source: Profile | Comparison, verdicts: tuple[FailVerdict, ...], query: Query
) -> Iterator[Note]:
    """Yield notes on conditions of `--fail-if` that may not do what the user meant."""
    for one in verdicts:
        about = one.condition.about(query)
        # If no operator matches, the verdict itself has a suggestion.
        if (notes := [*wildcard_findings(about)]) and run(about, source).matched:
            yield from notes
    if verdicts and query.having:
        yield Finding.of("idle-having", Kind.ANSWER)


def _notes_on_arrangement(source: Profile | Comparison, query: Query) -> Iterator[Note]:
    """Yield a note on groups and an order, which an answer without a table cannot show.

    In the summary of a comparison, verdicts and differences are of the groups.
    """
    groups = query.grouped and isinstance(source, Profile)
    order = not query.has_default_order
    if groups or order:
        yield Finding.of("idle-arrangement", Kind.CONTEXT, groups=groups, order=order)


def _notes_of_profile(profile: Profile, request: Request) -> tuple[Note, ...]:
    """Return the notes of the profile."""
    # A note of `at_level` says how much time the rows of the level leave out. Stacks of all rows
    # contain this time, so they need only the notes of the profile before `at_level`.
    has_all_time = request.showing.has_stacks and not request.asking.query.selects_rows
    return profile.nested.notes if has_all_time and profile.nested is not None else profile.notes


def _notes_on_columns(tables: list[Table], columns: tuple[str, ...]) -> Iterator[Note]:
    """Yield a note if tables of a model that has not run show chosen columns that need times."""
    if not tables or not tables[0].is_of_model or columns == ALL_COLUMNS:
        return
    names = [name for name in columns if needs_times(tables[0].column(name))]
    if names:
        yield Finding.of("columns-without-times", Kind.ANSWER, names=names)


def _notes_on_suffix(output: str | None, renderer: Renderer) -> Iterator[Note]:
    """Yield a note if the output file is named after a format, or has the suffix of another one."""
    if output in {*OUTPUT_FORMATS, *TABLE_FORMATS} - {OPERATORS, renderer.name}:
        yield Finding.of("file-named-like-format", Kind.ANSWER, file=output)
    by_suffix = format_by_suffix(output or "")
    # The suffix .txt belongs to the format `table`, but suits any text.
    if by_suffix not in (None, TABLE, renderer.name):
        yield Finding.of(
            *("suffix-of-other-format", Kind.ANSWER),
            file=output, format=renderer.name, by_suffix=by_suffix,
        )  # fmt: skip


def _filters_rows_only(asking: Asking) -> bool:
    """Return whether some filter has no effect on the summary."""
    query = asking.queries["device"]
    # The copy time in the summary covers only the operators that pass these filters.
    of_copies = (query.types, query.name, query.input_dtype)
    others = (query.where, query.having, query.min_time_s, query.max_time_s)
    return any(others) or (any(of_copies) and not asking.copy_time)


def _notes_on_format(renderer: Renderer, summary: Summary, tables: list[Table]) -> Iterator[Note]:
    """Yield notes on what the output format does not show."""
    if renderer.follows_original:
        yield from notes_on_copy_time(summary)
    yield from notes_on_more_rows(renderer, tables)


def notes_on_more_rows(renderer: Renderer, tables: Iterable[Table]) -> Iterator[Note]:
    """Yield a note for each table that leaves out rows. In csv, nothing else would show this."""
    for table in tables if renderer.for_programs and renderer.has_tables else ():
        if table.available > len(table):
            side = table.name if table.asked is None else MEASURES[table.query.measure].side
            yield Finding.of(
                *("more-rows", Kind.INCOMPLETE),
                side=side, shown=len(table), available=table.available,
            )  # fmt: skip

"""From a request to its answer: sources, profile, report, delivery.

This module is the door to everything that answers: it imports NumPy, which `--help` does not need.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from profile_analyze.cli.delivery import check_destinations, deliver
from profile_analyze.cli.missing_files import check_that_files_exist
from profile_analyze.cli.sources import find_sources, read
from profile_analyze.errors import InputError
from profile_analyze.model.measures import MEASURES
from profile_analyze.model.profile import Profile
from profile_analyze.model.terms import RUN_KEYS
from profile_analyze.query.catalog import optional_columns_of
from profile_analyze.query.run import run
from profile_analyze.query.summary import summarise
from profile_analyze.readers.loading import default_output_format, default_output_formats
from profile_analyze.report.base import Report
from profile_analyze.report.output_formats import find_explanation_renderer, find_renderer
from profile_analyze.report.sentence_parts import gate_sentence

if TYPE_CHECKING:
    from collections.abc import Iterator

    from profile_analyze.cli.request import Request
    from profile_analyze.cli.sources import Sources
    from profile_analyze.model.comparison import Comparison
    from profile_analyze.query.gate import FailVerdict
    from profile_analyze.query.summary import Summary
    from profile_analyze.query.table import Table
    from profile_analyze.report.base import Renderer


def answer(request: Request) -> Report:
    """Print or write the answer, and return it.

    Raises `ProfileAnalyzeError` before anything is written, unless writing itself fails.
    """
    sources = find_sources(request)
    check_destinations(request, sources)
    if not request.skip_bad:
        check_that_files_exist(request.files)
        check_that_files_exist(request.baseline)
    request = _with_measured_peaks(request, sources)
    renderers = _possible_renderers(request)
    source = read(request, sources, _wanted_columns(request, renderers))
    renderer = _renderer_for(source, renderers)
    report = _report_on(source, request, renderer)
    deliver(report, request, renderer)
    return report


def _with_measured_peaks(request: Request, sources: Sources) -> Request:
    """Return the request with this machine's peaks, if these are to be measured."""
    if request.measure_peaks is None:
        return request
    # Measuring takes seconds, so check first that all files exist.
    for file in sources.all:
        if file != "-" and not os.path.exists(file):  # noqa: PTH110
            raise InputError(file, "no such file")
    peaks = request.measure_peaks()
    queries = {side: query.changed(peaks=peaks) for side, query in request.queries.items()}
    return request._replace(queries=queries)


def _possible_renderers(request: Request) -> list[Renderer]:
    """Return the requested renderer, or the default renderers of all profile formats."""
    if request.explain is not None:
        return [find_explanation_renderer(request.explain)]
    if request.output_format is not None:
        return [find_renderer(request.output_format)]
    return list(map(find_renderer, default_output_formats()))


def _renderer_for(source: Profile | Comparison, renderers: list[Renderer]) -> Renderer:
    """Return the renderer to use, now that the profile's format is known."""
    if len(renderers) == 1:
        return renderers[0]
    default = default_output_format(_profile_of(source))
    return next(renderer for renderer in renderers if renderer.name == default)


def _profile_of(source: Profile | Comparison) -> Profile:
    """Return the profile, without its baseline."""
    return source if isinstance(source, Profile) else source.profile


def _wanted_columns(request: Request, renderers: list[Renderer]) -> frozenset[str]:
    """Return the optional columns that the questions and the tables need."""
    query = request.queries["device"]
    by_default = (name for renderer in renderers for name in renderer.columns(query))
    of_tables = (request.columns or by_default) if request.sides else ()
    of_summary = ["efficiency"] if query.peaks else []
    return query.wanted | optional_columns_of((*of_tables, *of_summary))


def _report_on(source: Profile | Comparison, request: Request, renderer: Renderer) -> Report:
    """Return the answers to all questions of the request."""
    device = request.queries["device"]
    copies_of = device if request.shows_copy_time else None
    summary = summarise(source, copies_of, judged_by=device)
    tables = [run(request.queries[side], source) for side in request.sides]
    for table in tables:  # columns are computed when first used: errors come before any output
        for name in request.columns or renderer.columns(table.query):
            _ = table.shown[table.column(name).name]
    verdicts = _verdicts(source, request)
    notes = _notes(source, request, renderer, summary, tables, verdicts)
    return Report.of(
        summary if request.shows_summary else None,
        tables,
        columns=request.columns,
        verdicts=verdicts,
        source=source,
        notes=tuple(dict.fromkeys(notes)),
    )


def _verdicts(source: Profile | Comparison, request: Request) -> tuple[FailVerdict, ...]:
    """Return the verdict on each `--fail-if` condition."""
    if not request.conditions:
        return ()
    # Imported here, because only calls with `--fail-if` need the statistics.
    from profile_analyze.query.gate import judge_conditions

    return judge_conditions(request.conditions, request.query, source)


def _notes(
    source: Profile | Comparison,
    request: Request,
    renderer: Renderer,
    summary: Summary,
    tables: list[Table],
    verdicts: tuple[FailVerdict, ...],
) -> Iterator[str]:
    """Yield the notes of all parts of the answer. Some may come twice."""
    if request.plot is not None and request.baseline:
        yield "the picture shows only the new side, without the base"
    profile = _profile_of(source)
    yield from profile.notes
    keeps_runs_apart = tables and set(request.queries["device"].split_by) & set(RUN_KEYS)
    if not keeps_runs_apart:
        yield from profile.notes_on_runs
    if not isinstance(source, Profile):
        yield from source.notes
    yield from summary.notes
    for table in tables:
        yield from table.notes
    if renderer.for_programs and renderer.has_tables:
        for table in tables:
            yield from _note_on_more_rows(table)
    if not renderer.has_summary_beside_tables:
        yield from map(gate_sentence, verdicts)


def _note_on_more_rows(table: Table) -> Iterator[str]:
    """Yield a note if rows were left out: csv, for example, has no other sign of this."""
    if table.available > len(table):
        side = MEASURES[table.query.measure].side
        yield f"{side}: the first {len(table)} of {table.available} rows; -t 0 gives all"

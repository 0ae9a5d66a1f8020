"""Answers a request: finds the files, reads them, makes the report and delivers it.

This module imports NumPy, so it is imported only after the options have been checked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from profile_analyze.cli.answer_notes import notes_on_answer, notes_on_more_rows
from profile_analyze.cli.inputs.left_out_files import notes_on_left_out
from profile_analyze.cli.inputs.loading import Wanted, available_cores, engine_of
from profile_analyze.cli.inputs.missing_files import (
    check_that_files_exist,
    check_that_listed_files_exist,
)
from profile_analyze.cli.inputs.sources import chosen_by_label, read
from profile_analyze.cli.options.asking import naming_option
from profile_analyze.cli.output.delivery import check_destinations, deliver, files_written
from profile_analyze.cli.request import check_that_it_ran
from profile_analyze.cli.tables import exported, sql_report
from profile_analyze.columns.catalog import (
    DISTINGUISHING,
    all_optional_columns,
    optional_columns_of,
)
from profile_analyze.comparison.constants import counting_constants
from profile_analyze.errors import QueryError
from profile_analyze.findings.sentences import as_text
from profile_analyze.model.notes import by_importance, chosen_notes
from profile_analyze.model.operators import OPTIONAL_COLUMNS
from profile_analyze.model.profile import Profile
from profile_analyze.model.terms import (
    COMPUTE_DTYPE,
    DERIVED_WORK,
    DEVICE,
    FRAMES,
    HOST,
    MEASURED,
    SHAPES,
)
from profile_analyze.query.run import run
from profile_analyze.readers.loading import default_output_format, default_output_formats
from profile_analyze.report.base import Report
from profile_analyze.report.facts.sentence_parts import gate_sentence
from profile_analyze.report.formats.output_formats import (
    find_explanation_renderer,
    find_renderer,
)
from profile_analyze.report.layout.times import AUTO
from profile_analyze.report.sections import ALL_COLUMNS, TableSection, Verdicts
from profile_analyze.units import counted
from profile_analyze.views.summary import summarise

if TYPE_CHECKING:
    from collections.abc import Sequence

    from profile_analyze.cli.inputs.files import Sources
    from profile_analyze.cli.options.asking import Asking
    from profile_analyze.cli.options.reading import Reading
    from profile_analyze.cli.options.writing import Writing
    from profile_analyze.cli.output.appearance import Appearance
    from profile_analyze.cli.output.further_files import FurtherFiles
    from profile_analyze.cli.request import Request
    from profile_analyze.comparison.comparison import Comparison
    from profile_analyze.model.notes import Note, NoteChoice
    from profile_analyze.model.terms import Side
    from profile_analyze.query.question import Query
    from profile_analyze.report.base import Renderer
    from profile_analyze.report.layout.times import TimeUnit


def answer(request: Request) -> Report:
    """Print or write the answer, and return it.

    Raises `ProfileAnalyzeError`. After the first output, only writing itself can still fail.
    """
    reading, _, showing, writing = request
    sources = _checked_sources(reading, writing)
    if writing.export is not None:
        with engine_of(reading) as engine:
            return exported(reading, sources, writing.export, available_cores(), engine)
    sources = chosen_by_label(reading.labels, sources)
    renderers = _possible_renderers(request)
    source = read(reading, sources, _wanted(request, renderers))
    check_that_it_ran(request, _profile_of(source))
    request = request._replace(asking=_about(request.asking, source))
    renderer = _renderer_for(source, renderers)
    further = None
    report = _other_report(_profile_of(source), request, renderer)
    if report is None:
        further = _further_files(source, request, sources)
        report = _report_on(source, request, renderer, _notes_on_model(further))
    report = report._replace(notes=showing.appearance.chosen(report.notes))
    deliver(report, further, renderer, showing.appearance, writing)
    return report


def _checked_sources(reading: Reading, writing: Writing) -> Sources:
    """Return the files to read, with notes on files that folders leave out.

    Raises `ProfileAnalyzeError` for a file that is missing, and for a destination that cannot be
    written. These checks are cheap, so they come before a long read.
    """
    sources = reading.sources
    if sources.error is not None:
        raise sources.error
    check_destinations(writing, sources)
    if not reading.skip_bad:
        check_that_files_exist(sources.named)
        check_that_files_exist(sources.named_baseline)
        check_that_listed_files_exist(sources.listed)
    check_that_files_exist(sources.models)
    left_out = notes_on_left_out(sources.left_out, sources.all)
    return sources._replace(notes=(*sources.notes, *left_out))


def _other_report(profile: Profile, request: Request, renderer: Renderer) -> Report | None:
    """Return the answer to `--sql`, `--inspect` or `--view`; None if the request has none."""
    sql, inspect, view = request.asking.sql, request.asking.inspect, request.asking.view
    if sql is not None:
        return sql_report(profile, sql, request.showing.appearance.color)
    if inspect is not None:
        return _inspection(profile, inspect)
    if view is None:
        return None
    table = view.view.table(profile, view.arrangement)
    more = notes_on_more_rows(renderer, [table])
    section = TableSection(table, request.showing.columns)
    return Report((section,), profile, by_importance((*table.notes, *more)))


def _inspection(profile: Profile, key: str) -> Report:
    """Return the report on one operator. Raises `QueryError` if `key` names no operator."""
    # Imported here, because only calls with `--inspect` need it.
    from profile_analyze.report.pages.inspection import inspection_report

    try:
        return inspection_report(profile, key)
    except QueryError as error:
        raise naming_option(error) from None


def notes_to_print(report: Report, appearance: Appearance, writing: Writing) -> list[str]:
    """Return the notes to print after the answer, the most important first."""
    return [
        *verdicts_to_print(report, writing.output),
        *printed_notes(report.notes, appearance.notes, appearance.time_unit),
        *files_written(writing, appearance.notes),
    ]


def printed_notes(
    notes: Sequence[Note], which: NoteChoice, time_unit: TimeUnit = AUTO
) -> list[str]:
    """Return the notes to print. `which` is the value of `--notes`.

    With `few`, the last line counts the notes that are not printed.
    """
    chosen = chosen_notes(notes, which)
    left_out = len(notes) - len(chosen)
    texts = [as_text(note, time_unit) for note in chosen]
    if which != "few" or not left_out:
        return texts
    return [*texts, f"--notes all also shows {counted(left_out, 'less important note')}"]


def verdicts_to_print(report: Report, output: str | None) -> list[str]:
    """Return the verdicts on conditions that a person might miss, as sentences.

    These are all verdicts if the output format does not show them, as csv, and otherwise the
    verdicts other than `passed` if the answer is in the file `output`.
    """
    if report.shows_verdicts and output is None:
        return []
    return [
        gate_sentence(verdict)
        for section in report.all_of(Verdicts)
        for verdict in section.verdicts
        if verdict.outcome != "passed" or not report.shows_verdicts
    ]


def _about(asking: Asking, source: Profile | Comparison) -> Asking:
    """Return what to ask, now that the profile is known.

    The peaks to find are found. If the table of device times would have no rows, a table of host
    times replaces it. Raises `PeaksError`.
    """
    queries, shown = asking.queries, asking.sides
    if asking.peaks is not None:
        peaks = asking.peaks.find(_profile_of(source))
        queries = {side: query.changed(peaks=peaks) for side, query in queries.items()}
    if not asking.chooses_side and not _has_times(source, DEVICE) and _has_times(source, HOST):
        shown = (HOST,)
    return asking._replace(queries=queries, sides=shown)


def _has_times(source: Profile | Comparison, side: Side) -> bool:
    """Return whether some operator has executions on a side, also in the baseline."""
    profiles = (source,) if isinstance(source, Profile) else (source.profile, source.base)
    return any(profile.recorded(side).any() for profile in profiles)


def _possible_renderers(request: Request) -> list[Renderer]:
    """Return the requested renderer, or the default renderers of all profile formats."""
    if request.asking.explain is not None:
        return [find_explanation_renderer(request.asking.explain)]
    if request.showing.renderer is not None:
        return [request.showing.renderer]
    # The profile's format decides the output format, but is known only after reading. The columns
    # to load must be chosen before reading. So the columns of all possible renderers are loaded.
    return list(map(find_renderer, default_output_formats()))


def _renderer_for(source: Profile | Comparison, renderers: list[Renderer]) -> Renderer:
    """Return the renderer to use, now that the profile's format is known."""
    if len(renderers) == 1:
        return renderers[0]
    default = default_output_format(_profile_of(source))
    return next(renderer for renderer in renderers if renderer.name == default)


def _further_files(
    source: Profile | Comparison, request: Request, sources: Sources
) -> FurtherFiles | None:
    """Return the files to write besides the answer; None if the options ask for none."""
    if request.writing.plot is None and request.writing.write_model is None:
        return None
    # Imported here, because only calls with `--plot` or `--write-model` need it.
    from profile_analyze.cli.output.further_files import further_files

    return further_files(source, request, sources)


def _profile_of(source: Profile | Comparison) -> Profile:
    """Return the profile, without its baseline."""
    return source if isinstance(source, Profile) else source.profile


def _wanted(request: Request, renderers: list[Renderer]) -> Wanted:
    """Return what the questions and the tables need of each profile."""
    query = request.asking.queries["device"]
    return Wanted(
        columns=_wanted_columns(request, renderers),
        level=query.level,
        # `--inspect` and views show rows of all levels.
        all_levels=request.asking.inspect is not None or request.asking.view is not None,
        # A finding about an unknown type names the level that has the type.
        keeps_nested=request.showing.has_stacks or bool(query.types),
    )


def _wanted_columns(request: Request, renderers: list[Renderer]) -> frozenset[str]:
    """Return the optional columns that the questions and the tables need."""
    reading, asking, showing, writing = request
    # The query about host times differs only in the measure, so it needs the same columns.
    query = asking.queries["device"]
    shown = (name for one in renderers for name in _columns(showing.columns, one, query))
    of_tables = shown if asking.sides else ()
    # The roofline in the summary needs the dtypes, like the column `efficiency`.
    of_summary = ["efficiency"] if query.peaks else []
    of_work = () if reading.work in (None, MEASURED) else DERIVED_WORK
    of_model = () if reading.model is None else (*SHAPES, COMPUTE_DTYPE)
    if asking.inspect is not None:
        return query.wanted | {*OPTIONAL_COLUMNS, FRAMES}
    if asking.view is not None:
        return query.wanted | asking.view.view.wanted | {*of_work, *of_model}
    if asking.sql is not None:
        return query.wanted | all_optional_columns() | {*of_work}
    of_stacks = (FRAMES,) if showing.has_stacks else ()
    of_picture = () if writing.plot is None else DISTINGUISHING
    of_rows = (*of_tables, *of_summary, *of_picture)
    columns = query.wanted | optional_columns_of(map(query.kind.find, of_rows))
    return columns | {*of_work, *of_model, *of_stacks}


def _columns(chosen: tuple[str, ...], renderer: Renderer, query: Query) -> tuple[str, ...]:
    """Return the columns that a table may show. `chosen` are the columns of the request."""
    return query.columns if chosen == ALL_COLUMNS else chosen or renderer.columns(query)


def _notes_on_model(files: FurtherFiles | None) -> tuple[Note, ...]:
    """Return the notes on the model to write."""
    return () if files is None or files.model is None else files.model.notes


def _report_on(
    source: Profile | Comparison,
    request: Request,
    renderer: Renderer,
    notes_on_files: tuple[Note, ...],
) -> Report:
    """Return the report that answers all questions of the request."""
    asking, showing = request.asking, request.showing
    verdicts = () if asking.gate is None else asking.gate.judge(asking.query, source)
    device = asking.queries["device"]
    copies_of = device if asking.copy_time else None
    summary = summarise(source, copies_of, judged_by=device)
    # In formats that follow the original, tables count the size of a constant as its memory. Facts,
    # conditions and pictures must not depend on the output format, so they never count it.
    for_tables = counting_constants(source) if renderer.follows_original else source
    # Host tables of these formats divide the work by the host time, as in the original.
    questions = (
        asking.queries[side].changed(host_rates=renderer.follows_original) for side in asking.sides
    )
    tables = [run(question, for_tables) for question in questions]
    # A column is computed when it is first used. All shown columns are used here, so that an error
    # in a column is raised before any output.
    for table in tables:
        for name in _columns(showing.columns, renderer, table.query):
            _ = table.shown[table.column(name).name]
    notes = notes_on_answer(source, request, renderer, summary, tables, verdicts)
    return Report.of(
        summary if showing.summary else None,
        tables,
        columns=showing.columns,
        verdicts=verdicts,
        source=source,
        notes=by_importance((*notes, *notes_on_files)),
        shows_verdicts=renderer.has_summary_beside_tables,
    )

"""Answers a request: finds the files, reads them, makes the report and delivers it.

This module imports NumPy, so it is imported only after the options have been checked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from profile_analyze.cli.answer_notes import notes_on_answer
from profile_analyze.cli.inputs.left_out_files import notes_on_left_out
from profile_analyze.cli.inputs.loading import available_cores, engine_of
from profile_analyze.cli.inputs.missing_files import (
    check_that_files_exist,
    check_that_listed_files_exist,
)
from profile_analyze.cli.inputs.sources import chosen_by_label, read
from profile_analyze.cli.options.model_options import check_options_on_times
from profile_analyze.cli.output.delivery import check_destinations, deliver, files_written
from profile_analyze.cli.queries import naming_option
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
from profile_analyze.report.sections import ALL_COLUMNS, Verdicts
from profile_analyze.units import counted
from profile_analyze.views.summary import summarise

if TYPE_CHECKING:
    from collections.abc import Sequence

    from profile_analyze.cli.inputs.files import Sources
    from profile_analyze.cli.output.further_files import FurtherFiles
    from profile_analyze.cli.request import Request
    from profile_analyze.comparison.comparison import Comparison
    from profile_analyze.gate.judge import FailVerdict
    from profile_analyze.model.notes import Note, NoteChoice
    from profile_analyze.query.question import Query
    from profile_analyze.report.base import Renderer
    from profile_analyze.report.layout.times import TimeUnit
    from profile_analyze.roofline.peaks import Peaks


def answer(request: Request) -> Report:
    """Print or write the answer, and return it.

    Raises `ProfileAnalyzeError`. After the first output, only writing itself can still fail.
    """
    sources = _checked_sources(request)
    if request.export is not None:
        with engine_of(request) as engine:
            return exported(request, sources, available_cores(), engine)
    sources = chosen_by_label(request, sources)
    request = _with_measured_peaks(request)
    renderers = _possible_renderers(request)
    source = read(request, sources, _wanted_columns(request, renderers))
    request = _with_peaks_of_device(request, _profile_of(source))
    check_options_on_times(request, _profile_of(source))
    request = _with_host_rows(request, source)
    renderer = _renderer_for(source, renderers)
    report = _sql_or_inspection(_profile_of(source), request)
    if report is not None:
        report = _with_chosen_findings(report, request)
        deliver(report, None, request, renderer)
        return report
    files = _further_files(source, request, sources)
    verdicts = request.judge(request.query, source)
    report = _report_on(source, request, renderer, verdicts, _notes_on_model(files))
    report = _with_chosen_findings(report, request)
    deliver(report, files, request, renderer)
    return report


def _with_chosen_findings(report: Report, request: Request) -> Report:
    return report._replace(notes=request.appearance.chosen(report.notes))


def _checked_sources(request: Request) -> Sources:
    """Return the files to read, with notes on files that folders leave out.

    Raises `ProfileAnalyzeError` for a file that is missing, and for a destination that cannot be
    written. These checks are cheap, so they come before a long read.
    """
    sources = request.sources
    if sources.error is not None:
        raise sources.error
    check_destinations(request, sources)
    if not request.skip_bad:
        check_that_files_exist(sources.named)
        check_that_files_exist(sources.named_baseline)
        check_that_listed_files_exist(sources.listed)
    check_that_files_exist(sources.models)
    left_out = notes_on_left_out(sources.left_out, sources.all)
    return sources._replace(notes=(*sources.notes, *left_out))


def _sql_or_inspection(profile: Profile, request: Request) -> Report | None:
    """Return the answer to `--sql` or `--inspect`; None if the request has neither."""
    if request.sql is not None:
        return sql_report(profile, request)
    return None if request.inspect is None else _inspection(profile, request.inspect)


def _inspection(profile: Profile, key: str) -> Report:
    """Return the report on one operator. Raises `QueryError` if `key` names no operator."""
    # Imported here, because only calls with `--inspect` need it.
    from profile_analyze.report.pages.inspection import inspection_report

    try:
        return inspection_report(profile, key)
    except QueryError as error:
        raise naming_option(error) from None


def notes_to_print(report: Report, request: Request) -> list[str]:
    """Return the notes to print after the answer, the most important first."""
    return [
        *verdicts_to_print(report, request),
        *printed_notes(report.notes, request.appearance.notes, request.appearance.time_unit),
        *files_written(request),
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


def verdicts_to_print(report: Report, request: Request) -> list[str]:
    """Return the verdicts on conditions that a person might miss, as sentences.

    These are all verdicts if the output format does not show them, as csv, and otherwise the
    verdicts other than `passed` if the answer is in a file.
    """
    if report.shows_verdicts and request.output is None:
        return []
    return [
        gate_sentence(verdict)
        for section in report.all_of(Verdicts)
        for verdict in section.verdicts
        if verdict.outcome != "passed" or not report.shows_verdicts
    ]


def _with_measured_peaks(request: Request) -> Request:
    """Measure the peaks for `--peaks here`, and return the request with them."""
    if request.measure_peaks is None:
        return request
    return _with_peaks(request, request.measure_peaks())


def _with_peaks_of_device(request: Request, profile: Profile) -> Request:
    """Return the request with the peaks of the profile's device, for `--peaks auto`."""
    if request.peaks_of_profile is None:
        return request
    return _with_peaks(request, request.peaks_of_profile(profile))


def _with_peaks(request: Request, peaks: Peaks) -> Request:
    queries = {side: query.changed(peaks=peaks) for side, query in request.queries.items()}
    return request._replace(queries=queries)


def _with_host_rows(request: Request, source: Profile | Comparison) -> Request:
    """Return the request with a host table if the device table would have no rows."""
    sides = (source,) if isinstance(source, Profile) else (source.profile, source.base)
    if request.chooses_side or any(side.recorded(DEVICE).any() for side in sides):
        return request
    has_host_times = any(side.recorded(HOST).any() for side in sides)
    return request._replace(sides=(HOST,)) if has_host_times else request


def _possible_renderers(request: Request) -> list[Renderer]:
    """Return the requested renderer, or the default renderers of all profile formats."""
    if request.explain is not None:
        return [find_explanation_renderer(request.explain)]
    if request.output_format is not None:
        return [find_renderer(request.output_format)]
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
    if request.plot is None and request.write_model is None:
        return None
    # Imported here, because only calls with `--plot` or `--write-model` need it.
    from profile_analyze.cli.output.further_files import further_files

    return further_files(source, request, sources)


def _profile_of(source: Profile | Comparison) -> Profile:
    """Return the profile, without its baseline."""
    return source if isinstance(source, Profile) else source.profile


def _wanted_columns(request: Request, renderers: list[Renderer]) -> frozenset[str]:
    """Return the optional columns that the questions and the tables need."""
    # The query about host times differs only in the measure, so it needs the same columns.
    query = request.queries["device"]
    shown = (name for renderer in renderers for name in _columns(request, renderer, query))
    of_tables = shown if request.sides else ()
    # The roofline in the summary needs the dtypes, like the column `efficiency`.
    of_summary = ["efficiency"] if query.peaks else []
    of_work = () if request.work in (None, MEASURED) else DERIVED_WORK
    of_model = () if request.model is None else (*SHAPES, COMPUTE_DTYPE)
    if request.inspect is not None:
        return query.wanted | {*OPTIONAL_COLUMNS, FRAMES}
    if request.sql is not None:
        return query.wanted | all_optional_columns() | {*of_work}
    of_stacks = (FRAMES,) if request.has_stacks else ()
    of_picture = () if request.plot is None else DISTINGUISHING
    columns = query.wanted | optional_columns_of((*of_tables, *of_summary, *of_picture))
    return columns | {*of_work, *of_model, *of_stacks}


def _columns(request: Request, renderer: Renderer, query: Query) -> tuple[str, ...]:
    """Return the columns that a table may show."""
    if request.columns == ALL_COLUMNS:
        return query.columns
    return request.columns or renderer.columns(query)


def _notes_on_model(files: FurtherFiles | None) -> tuple[Note, ...]:
    """Return the notes on the model to write."""
    return () if files is None or files.model is None else files.model.notes


def _report_on(
    source: Profile | Comparison,
    request: Request,
    renderer: Renderer,
    verdicts: tuple[FailVerdict, ...],
    notes_on_files: tuple[Note, ...],
) -> Report:
    """Return the report that answers all questions of the request."""
    device = request.queries["device"]
    copies_of = device if request.shows_copy_time else None
    summary = summarise(source, copies_of, judged_by=device)
    # In formats that follow the original, tables count the size of a constant as its memory. Facts,
    # conditions and pictures must not depend on the output format, so they never count it.
    for_tables = counting_constants(source) if renderer.follows_original else source
    # Host tables of these formats divide the work by the host time, as in the original.
    questions = (
        request.queries[side].changed(host_rates=renderer.follows_original)
        for side in request.sides
    )
    tables = [run(question, for_tables) for question in questions]
    # A column is computed when it is first used. All shown columns are used here, so that an error
    # in a column is raised before any output.
    for table in tables:
        for name in _columns(request, renderer, table.query):
            _ = table.shown[table.column(name).name]
    notes = notes_on_answer(source, request, renderer, summary, tables, verdicts)
    return Report.of(
        summary if request.shows_summary else None,
        tables,
        columns=request.columns,
        verdicts=verdicts,
        source=source,
        notes=by_importance((*notes, *notes_on_files)),
        shows_verdicts=renderer.has_summary_beside_tables,
    )

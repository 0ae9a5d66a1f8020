"""Answers calls with `--export` or `--sql`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from profile_analyze.cli.options.parser import PROGRAM
from profile_analyze.cli.output.messages import say
from profile_analyze.cli.output.progress import Progress
from profile_analyze.cli.output.standard import encoding_of_standard_output, show
from profile_analyze.cli.process import end_process
from profile_analyze.errors import OutputError, QueryError
from profile_analyze.fleet import entry
from profile_analyze.report.base import Report, encoded
from profile_analyze.report.sections import TableSection
from profile_analyze.units import counted

if TYPE_CHECKING:
    from collections.abc import Callable

    from profile_analyze.cli.inputs.files import Sources
    from profile_analyze.cli.request import Request
    from profile_analyze.model.notes import Note
    from profile_analyze.model.profile import Profile
    from profile_analyze.readers.base import Engine


def exported(request: Request, sources: Sources, processes: int, engine: Engine | None) -> Report:
    """Add the files of the request to a data set, print what was added, and return the notes."""
    assert request.export is not None, "the caller checks this"
    if sources.data_sets:
        data_set = sources.data_sets[0]
        raise OutputError(f"{data_set}: is a data set already; --export takes the files themselves")
    labels: dict[str, dict[str, str]] = {}
    notes: tuple[Note, ...] = ()
    if request.labels is not None:
        labels, notes = request.labels.exported(sources.files)
    progress = Progress(len(sources.files))
    try:
        outcome = entry.export(
            request.export,
            sources.files,
            skip_bad=request.skip_bad,
            progress=progress.counter_of_next(len(sources.files)),
            processes=processes,
            engine=engine,
            max_size=request.max_size,
            cache=request.cache,
            labels=labels,
        )
    finally:
        progress.clear()
    added, files = counted(outcome.added, "profile"), counted(outcome.files, "profile")
    text = f"{request.export}: added {added}; now {files}\n"
    show(encoded([text], encoding_of_standard_output()), paged=False)
    return Report(notes=(*outcome.notes, *notes, *sources.notes))


def sql_report(profile: Profile, request: Request) -> Report:
    """Return the answer to the query of the request as a report."""
    assert request.sql is not None, "the caller checks this"
    table = entry.answer_sql(
        profile, request.sql, timeout_s=request.sql_timeout, give_up=_giving_up(request)
    )
    notes = (*profile.notes, *profile.notes_on_runs)
    section = TableSection(table, table.columns, chooser="a shorter SELECT")
    return Report((section,), profile, notes)


def _giving_up(request: Request) -> Callable[[QueryError], None]:
    """Return a function that ends the process, for a query that cannot be interrupted."""

    def give_up(error: QueryError) -> None:
        say(f"{PROGRAM}: error", [str(error)], color=request.appearance.color)
        end_process(error.exit_code)

    return give_up

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
    from profile_analyze.cli.options.asking import SqlQuestion
    from profile_analyze.cli.options.reading import Reading
    from profile_analyze.model.notes import Note
    from profile_analyze.model.profile import Profile
    from profile_analyze.readers.base import Engine


def exported(
    reading: Reading, sources: Sources, folder: str, processes: int, engine: Engine | None
) -> Report:
    """Add the files to the data set in `folder`, print what was added, and return the notes."""
    if sources.data_sets:
        data_set = sources.data_sets[0]
        raise OutputError(f"{data_set}: is a data set already; --export takes the files themselves")
    labels: dict[str, dict[str, str]] = {}
    notes: tuple[Note, ...] = ()
    if reading.labels is not None:
        labels, notes = reading.labels.exported(sources.files)
    progress = Progress(len(sources.files))
    try:
        outcome = entry.export(
            folder,
            sources.files,
            skip_bad=reading.skip_bad,
            progress=progress.counter_of_next(len(sources.files)),
            processes=processes,
            engine=engine,
            max_size=reading.max_size,
            cache=reading.cache,
            labels=labels,
        )
    finally:
        progress.clear()
    added, files = counted(outcome.added, "profile"), counted(outcome.files, "profile")
    text = f"{folder}: added {added}; now {files}\n"
    show(encoded([text], encoding_of_standard_output()), paged=False)
    return Report(notes=(*outcome.notes, *notes, *sources.notes))


def sql_report(profile: Profile, sql: SqlQuestion, color: str) -> Report:
    """Return the answer to a query in SQL as a report. `color` is the value of `--color`."""
    table = entry.answer_sql(profile, sql.text, timeout_s=sql.timeout_s, give_up=_giving_up(color))
    notes = (*profile.notes, *profile.notes_on_runs)
    section = TableSection(table, table.columns, chooser="a shorter SELECT")
    return Report((section,), profile, notes)


def _giving_up(color: str) -> Callable[[QueryError], None]:
    """Return a function that ends the process, for a query that cannot be interrupted."""

    def give_up(error: QueryError) -> None:
        say(f"{PROGRAM}: error", [str(error)], color=color)
        end_process(error.exit_code)

    return give_up

"""Answers calls with `--export` or `--sql`, and checks which other options they may have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from profile_analyze.cli.messages import say
from profile_analyze.cli.options import OPTIONS
from profile_analyze.cli.output import encoding_of_standard_output, show
from profile_analyze.cli.parser import PROGRAM, parser
from profile_analyze.cli.process import end_process
from profile_analyze.cli.progress import Progress
from profile_analyze.errors import OutputError, QueryError
from profile_analyze.fleet import entry
from profile_analyze.report.base import Report, encoded
from profile_analyze.report.output_formats import find_renderer, format_by_suffix
from profile_analyze.report.sections import RelationSection
from profile_analyze.units import counted

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from profile_analyze.cli.inputs import Sources
    from profile_analyze.cli.request import Request
    from profile_analyze.model.notes import Note
    from profile_analyze.model.profile import Profile
    from profile_analyze.readers.base import Engine

_OF_BOTH: Final = (
    *("--max-size", "--skip-bad", "--cache", "--no-cache", "--engine"),
    *("--notes", "--color", "--no-pager", "--clear-cache", "--label"),
)
_OF_EXPORT: Final = frozenset((*_OF_BOTH, "--export"))
"""The options that calls with `--export` may have."""
_OF_SQL: Final = frozenset(
    (
        *_OF_BOTH,
        *("--sql", "--sql-timeout", "--level", "--work", "--skip-runs"),
        *("--from", "--to", "--step", "--step-region"),
        *("--correct-drift", "--input-shape", "--dim", "--model", "--split-matmul"),
        *("--format", "--confluence", "--output", "--force", "--time-unit"),
    )
)
"""The options that calls with `--sql` may have."""


def check_tables(arguments: argparse.Namespace, output_format: str | None) -> None:
    """Raise `QueryError` if options have no effect beside `--export` or `--sql`."""
    if arguments.sql_timeout != parser().get_default("sql_timeout") and arguments.sql is None:
        raise QueryError("--sql-timeout needs --sql, whose time it limits")
    if arguments.export is not None:
        if format_by_suffix(arguments.export) is not None:
            raise QueryError(
                f"argument --export: {arguments.export}: takes the folder of a data set; "
                f"-o {arguments.export} writes an answer"
            )
        _check_others(arguments, "--export adds profiles to a data set", _OF_EXPORT)
    if arguments.sql is not None:
        _check_others(arguments, "--sql shows the answer to a query", _OF_SQL)
        renderer = None if output_format is None else find_renderer(output_format)
        if renderer is not None and (renderer.has_stacks or not renderer.has_tables):
            raise QueryError(
                f"--sql shows a table, which {output_format} does not have; use another format"
            )


def _check_others(arguments: argparse.Namespace, what: str, allowed: frozenset[str]) -> None:
    for option in OPTIONS:
        # Like argparse, name the value after the first long flag.
        flag = next(one for one in option.flags if one.startswith("--"))
        name = option.settings.get("dest", flag.lstrip("-").replace("-", "_"))
        default = parser().get_default(name)
        if allowed.isdisjoint(option.flags) and getattr(arguments, name, default) != default:
            raise QueryError(f"{what}, so {flag} has no effect; leave one out")


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
    relation = entry.answer_sql(
        profile, request.sql, timeout_s=request.sql_timeout, give_up=_giving_up(request)
    )
    notes = (*profile.notes, *profile.notes_on_runs)
    return Report((RelationSection(relation),), profile, notes)


def _giving_up(request: Request) -> Callable[[QueryError], None]:
    """Return a function that ends the process, for a query that cannot be interrupted."""

    def give_up(error: QueryError) -> None:
        say(f"{PROGRAM}: error", [str(error)], color=request.appearance.color)
        end_process(error.exit_code)

    return give_up

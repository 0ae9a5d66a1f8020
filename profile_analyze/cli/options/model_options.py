"""Checks options that depend on whether the profile is a model that has not run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from profile_analyze.columns.catalog import find_column
from profile_analyze.columns.formula_words import needs_times
from profile_analyze.errors import QueryError
from profile_analyze.model.findings import Finding, Kind
from profile_analyze.query.question import Query
from profile_analyze.report.sections import ALL_COLUMNS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from profile_analyze.cli.request import Request
    from profile_analyze.model.notes import Note
    from profile_analyze.model.profile import Profile


def check_options_on_times(request: Request, profile: Profile) -> None:
    """Raise `QueryError` if an option needs times, and `profile` is a model that has not run."""
    if profile.model is None:
        return
    query = request.query
    for option, given in (
        ("--min-time", query.min_time_s is not None),
        ("--max-time", query.max_time_s is not None),
        ("--run-stat", query.run_statistic != Query().run_statistic),
        ("--copy-time", request.shows_copy_time),
        ("--correct-drift", request.correct_drift),
        ("--top-end-key kern", query.measure in ("wait", "host_wait")),
        ("--print-only host", request.asked_side == "host"),
        ("--show-host", len(request.sides) > 1),
        (f"--format {request.output_format}", request.has_stacks),
        *((f"--where '{one.text}'", needs_times(one.column)) for one in query.conditions),
        *((f"--having '{one.text}'", needs_times(one.column)) for one in query.group_conditions),
    ):
        if given:
            raise QueryError(
                f"{option} needs times, and {profile.file} is a model that has not run; leave the "
                "option out"
            )


def check_that_names_are_known(profiles: Sequence[Profile]) -> None:
    """Raise `QueryError` if the caller names an input or a symbol that every model lacks."""
    lacks = [{} if one.model is None else one.model.lacks for one in profiles]
    for option, message in lacks[0].items():
        if all(option in others for others in lacks):
            raise QueryError(message)


def notes_on_columns(request: Request, profile: Profile) -> Iterator[Note]:
    """Yield a note if the request names columns that need times, but `profile` has no times."""
    named = request.columns if request.sides and request.columns != ALL_COLUMNS else ()
    names = [name for name in named if needs_times(find_column(name))]
    if profile.model is not None and names:
        yield Finding.of("columns-without-times", Kind.ANSWER, names=names)

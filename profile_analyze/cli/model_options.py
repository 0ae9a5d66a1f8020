"""Rejects options that need times, once it is known that the profile is a model without them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from profile_analyze.errors import QueryError
from profile_analyze.query.question import Query

if TYPE_CHECKING:
    from profile_analyze.cli.request import Request
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
        ("--correct-sync", request.correct_sync),
        ("--top-end-key kern", query.measure in ("wait", "host_wait")),
        ("--print-only host", request.asked_side == "host"),
        ("--show-host", len(request.sides) > 1),
        ("--plot", request.plot is not None),
    ):
        if given:
            raise QueryError(
                f"{option} needs times, and {profile.file} is a model that has not run; leave the "
                "option out"
            )

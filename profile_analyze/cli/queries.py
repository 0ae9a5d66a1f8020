"""Makes the queries of a call from its arguments."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from profile_analyze.cli.output.requested_format import requested_output_format
from profile_analyze.columns.catalog import find_column, split_names
from profile_analyze.errors import QueryError
from profile_analyze.model.terms import LABEL
from profile_analyze.query.question import Query
from profile_analyze.report.formats.output_formats import find_renderer

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping, Sequence

    from profile_analyze.model.terms import Side
    from profile_analyze.roofline.peaks import Peaks

DEFAULT_TOP: Final = 3
"""How many rows a table shows by default, as in the original."""

_MEASURES: Final[Mapping[str, Mapping[Side, str]]] = {
    "end": {"device": "time", "host": "host_time"},
    "kern": {"device": "wait", "host": "host_wait"},
}
"""For each value of `--top-end-key`, the measure of each side."""

# The name of a parameter that may begin the message of a `QueryError` -> the option that sets it.
_OPTION_OF: Final = {
    "level": "--level",
    "by": "--aggregate-by",
    "aggregates": "--aggregate",
    "min_time_s": "--min-time",
    "max_time_s": "--max-time",
    "where": "--where",
    "having": "--having",
    "run_statistic": "--run-stat",
    "skip_runs": "--skip-runs",
    "from_s": "--from/--to",
    "steps": "--step",
    "step_region": "--step-region",
    "inspect": "--inspect",
    "labels": "--label",
}


def naming_option(error: QueryError) -> QueryError:
    """Return the error with the name of an option in place of the name of a parameter."""
    name, _, message = str(error).partition(": ")
    return QueryError(f"argument {_OPTION_OF[name]}: {message}") if name in _OPTION_OF else error


def queries_of(
    arguments: argparse.Namespace, peaks: Peaks | None, labels: Sequence[str]
) -> dict[Side, Query]:
    """Return the query for each side. Raises `QueryError`."""
    fields: dict[str, Any] = {
        "types": arguments.type,
        "name": arguments.opr_name,
        "input_dtype": arguments.input_dtype,
        "min_time_s": arguments.min_time,
        "max_time_s": arguments.max_time,
        "where": arguments.where,
        "by": () if arguments.aggregate_by is None else arguments.aggregate_by,
        "aggregates": () if arguments.aggregate is None else arguments.aggregate,
        "having": arguments.having,
        "order": arguments.order_by,
        "top": _default_top(arguments, labels) if arguments.top is None else arguments.top,
        "peaks": peaks,
        "run_statistic": arguments.run_stat,
        "split_by": _split_by(arguments.explain or arguments.columns, labels),
        "level": arguments.level,
        "unit": arguments.unit,
        "compared": bool(arguments.compare or arguments.compare_label),
        "labels": labels,
    }
    if arguments.threshold is not None:
        fields["threshold"] = arguments.threshold
    try:
        measures = _MEASURES[arguments.top_end_key]
        return {side: Query(measure=measure, **fields) for side, measure in measures.items()}
    except QueryError as error:
        if (better := naming_option(error)) is error:
            raise
        raise better from None


def _default_top(arguments: argparse.Namespace, labels: Sequence[str]) -> int:
    """Return how many rows to show without `--top`; 0 for all rows.

    Stacks cover all rows. Groups by label form a trend, so all of them are shown.
    """
    keys = split_names(arguments.aggregate_by or "")
    if any(key.removeprefix(LABEL).partition("~")[0] in labels for key in keys):
        return 0
    name = requested_output_format(arguments)
    return 0 if name is not None and find_renderer(name).has_stacks else DEFAULT_TOP


def _split_by(columns: str | None, labels: Sequence[str]) -> tuple[str, ...]:
    """Return the keys among `columns` that have values only if rows are split by them."""
    if columns is not None:
        with suppress(QueryError):  # wrong names are reported later
            shown = [find_column(name, labels) for name in split_names(columns)]
            return tuple(column.base_name for column in shown if column.needs_split_rows)
    return ()

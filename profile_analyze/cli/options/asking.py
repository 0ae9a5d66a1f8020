"""What a call asks: the queries, and what it shows instead of or beside their answers."""

from __future__ import annotations

import argparse
import shlex
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from profile_analyze.cli.options.parser import parser
from profile_analyze.cli.options.reading import compares
from profile_analyze.columns.catalog import find_column, split_names
from profile_analyze.errors import QueryError
from profile_analyze.model.terms import LABEL
from profile_analyze.query.question import Query
from profile_analyze.readers.model_inputs import parse_input_shape
from profile_analyze.views.register import DEFAULT_VIEW, find_view

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from profile_analyze.cli.inputs.labels import LabelOptions
    from profile_analyze.cli.inputs.peaks import PeaksToFind
    from profile_analyze.cli.options.fail_if import Gate
    from profile_analyze.columns.column import Kind
    from profile_analyze.model.terms import Side
    from profile_analyze.query.arrangement import Arrangement
    from profile_analyze.roofline.peaks import Peaks
    from profile_analyze.views.view import View

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


class SqlQuestion(NamedTuple):
    """A query in SQL."""

    text: str
    timeout_s: float
    """How long the answer may take, in seconds."""


class ViewQuestion(NamedTuple):
    """A view, and which of its rows to show."""

    view: View
    arrangement: Arrangement

    @classmethod
    def of(cls, arguments: argparse.Namespace, labels: LabelOptions | None) -> ViewQuestion | None:
        """Return the view that `--view` names; None for operators.

        Raises `QueryError` if the rows of the view cannot be arranged as the options ask.
        """
        name = getattr(arguments, "view", DEFAULT_VIEW)  # no option, unless there is a view
        if name == DEFAULT_VIEW:
            return None
        # Imported here, because only calls with `--view` need it.
        from profile_analyze.query.arrangement import Arrangement

        view = find_view(name)
        where, order, top = arguments.where, arguments.order_by, arguments.top
        where = where if labels is None else labels.about_rows(where)
        top = DEFAULT_TOP if top is None else top
        try:
            arrangement = Arrangement.of(view.kind, where=where, order=order or (), top=top)
        except QueryError as error:
            raise naming_option(error) from None
        return cls(view, arrangement)


class Asking(NamedTuple):
    """What to ask. Every check that needs no profile has been made."""

    queries: Mapping[Side, Query]
    """The query of each side."""
    peaks: PeaksToFind | None
    """The peaks that depend on this machine or on the profile; None with other or without peaks.

    Until they are found, `queries` have placeholder peaks.
    """
    asked_side: Side
    """The side whose times `--fail-if` and the chart of times use: `host` with `--print-only host`,
    `device` otherwise."""
    sides: tuple[Side, ...]
    """The sides that have a table, in the order of the tables."""
    chooses_side: bool
    """Whether the call chooses the sides. Otherwise, the table has host times if no operator has a
    device time."""
    leaves_out_host: bool
    """Whether `--print-only` leaves out the host times that `--show-host` asks for."""
    copy_time: bool
    """Whether the summary has the times of copies."""
    gate: Gate | None
    """The conditions that decide the exit code; None without `--fail-if`."""
    explain: str | None
    """The column or the finding to explain instead of showing tables."""
    sql: SqlQuestion | None
    """The query to answer instead of showing tables."""
    inspect: str | None
    """The operator to show instead of tables: its key or name. `@N` at the end chooses its N-th
    execution."""
    view: ViewQuestion | None
    """The rows to show instead of operators and groups."""

    @classmethod
    def of(
        cls, arguments: argparse.Namespace, labels: LabelOptions | None, *, stacks: bool
    ) -> Asking:
        """Return what the arguments ask of files with `labels`.

        `stacks` says whether the output format shows stacks.

        Raises `QueryError` if options contradict each other, or an expression or the peaks are
        wrong.
        """
        _check_input_dtype(arguments.input_dtype)
        _check_needed_options(arguments)
        peaks, peaks_to_find = _peaks(arguments)
        view = ViewQuestion.of(arguments, labels)
        if view is not None:
            arguments = _without_arrangement(arguments)
        queries = _queries(arguments, peaks, labels, stacks=stacks)
        only = arguments.print_only
        asked_side: Side = "host" if only == "host" else "device"
        sql = arguments.sql
        return cls(
            queries=queries,
            peaks=peaks_to_find,
            asked_side=asked_side,
            sides=_sides(arguments),
            chooses_side=only is not None or arguments.show_host,
            leaves_out_host=arguments.show_host and only in ("summary", "device"),
            copy_time=arguments.copy_time,
            gate=_gate(arguments, queries[asked_side]),
            explain=_explain(arguments, queries[asked_side]),
            sql=None if sql is None else SqlQuestion(sql, arguments.sql_timeout),
            inspect=arguments.inspect,
            view=view,
        )

    @property
    def kind(self) -> Kind:
        """The kind of the rows to show."""
        return self.queries["device"].kind if self.view is None else self.view.view.kind

    @property
    def query(self) -> Query:
        """The query of `asked_side`."""
        return self.queries[self.asked_side]


def _without_arrangement(arguments: argparse.Namespace) -> argparse.Namespace:
    """Return the arguments without those that arrange the rows of a view, not operators."""
    arranging: dict[str, Any] = {"where": [], "order_by": None, "columns": None}
    return argparse.Namespace(**{**vars(arguments), **arranging})


def naming_option(error: QueryError) -> QueryError:
    """Return the error with the name of an option in place of the name of a parameter."""
    name, _, message = str(error).partition(": ")
    return QueryError(f"argument {_OPTION_OF[name]}: {message}") if name in _OPTION_OF else error


def _check_input_dtype(dtype: str | None) -> None:
    """Raise `QueryError` if the dtype is written like the shape of an input.

    `--input` is short for `--input-dtype`, but the user may have meant `--input-shape`.
    """
    if dtype is None:
        return
    try:
        name, _ = parse_input_shape(dtype)
    except QueryError:  # as expected, the text is not a shape
        return
    if name:
        raise QueryError(
            "argument --input-dtype, or --input, selects a dtype; did you mean --input-shape "
            f"{shlex.quote(dtype)}?"
        )


def _check_needed_options(arguments: argparse.Namespace) -> None:
    """Raise `QueryError` if an option lacks the option that it belongs to."""
    if arguments.sql_timeout != parser().get_default("sql_timeout") and arguments.sql is None:
        raise QueryError("--sql-timeout needs --sql, whose time it limits")
    if arguments.fail_uncertain is not None and not arguments.fail_if:
        raise QueryError("--fail-uncertain needs --fail-if, which states the conditions")


def _peaks(arguments: argparse.Namespace) -> tuple[Peaks | None, PeaksToFind | None]:
    """Return the peaks of the queries, and the peaks to find after reading."""
    if arguments.peaks is None:
        return None, None
    # Imported here, because only calls with `--peaks` need the roofline.
    from profile_analyze.cli.inputs.peaks import check_that_value_is_not_split, find_peaks

    check_that_value_is_not_split(arguments.peaks, arguments.files)
    return find_peaks(arguments.peaks)


def _queries(
    arguments: argparse.Namespace,
    peaks: Peaks | None,
    labels: LabelOptions | None,
    *,
    stacks: bool,
) -> dict[Side, Query]:
    """Return the query for each side. Raises `QueryError`."""
    names = () if labels is None else labels.names
    # Stacks cover all rows. Groups by label form a trend, so all of them are shown.
    shows_all = stacks or _has_label_key(arguments.aggregate_by or "", names)
    default_top = 0 if shows_all else DEFAULT_TOP
    fields: dict[str, Any] = {
        "types": arguments.type,
        "name": arguments.opr_name,
        "input_dtype": arguments.input_dtype,
        "min_time_s": arguments.min_time,
        "max_time_s": arguments.max_time,
        "where": arguments.where if labels is None else labels.about_rows(arguments.where),
        "by": () if arguments.aggregate_by is None else arguments.aggregate_by,
        "aggregates": () if arguments.aggregate is None else arguments.aggregate,
        "having": arguments.having,
        "order": arguments.order_by,
        "top": default_top if arguments.top is None else arguments.top,
        "peaks": peaks,
        "run_statistic": arguments.run_stat,
        "split_by": _split_by(arguments.explain or arguments.columns, names),
        "level": arguments.level,
        "unit": arguments.unit,
        "compared": compares(arguments),
        "labels": names,
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


def _has_label_key(by: str, labels: Sequence[str]) -> bool:
    """Return whether a group key is a label, or a part of one."""
    return any(key.removeprefix(LABEL).partition("~")[0] in labels for key in split_names(by))


def _split_by(columns: str | None, labels: Sequence[str]) -> tuple[str, ...]:
    """Return the keys among `columns` that have values only if rows are split by them."""
    if columns is not None:
        with suppress(QueryError):  # wrong names are reported later
            shown = [find_column(name, labels) for name in split_names(columns)]
            return tuple(column.base_name for column in shown if column.needs_split_rows)
    return ()


def _sides(arguments: argparse.Namespace) -> tuple[Side, ...]:
    """Return the sides that have a table, in the order of printing."""
    if arguments.print_only == "summary":
        return ()
    if arguments.print_only is not None:
        return (arguments.print_only,)
    return ("device", "host") if arguments.show_host else ("device",)


def _gate(arguments: argparse.Namespace, query: Query) -> Gate | None:
    """Return the conditions of `--fail-if`; None without a condition. Raises `QueryError`."""
    if not arguments.fail_if:
        return None
    # Imported here, because only calls with `--fail-if` need the statistics.
    from profile_analyze.cli.options.fail_if import Gate

    return Gate.of(arguments, query)


def _explain(arguments: argparse.Namespace, query: Query) -> str | None:
    """Return what `--explain` names; None without `--explain`. Raises `QueryError`."""
    if arguments.explain is None:
        return None
    # Imported here, because only calls with `--explain` need it.
    from profile_analyze.cli.options.explain import name_to_explain

    return name_to_explain(arguments.explain, query)

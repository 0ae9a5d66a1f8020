"""The grammar of the conditions of `--fail-if`. If one of them is met, a pipeline fails.

All metrics except `total` and `wall` cover only the operators that pass the filters of the command.

| condition | met if |
|---|---|
| `total > +5%` | all operators together take over 5 % more time than in the baseline |
| `wall > +5%` | a whole run takes over 5 % more time than in the baseline |
| `time > +2ms` | the filtered operators take over 2 ms more than in the baseline |
| `type=ConvolutionForward: time > +3%` | the filtered convolutions take over 3 % more |
| `time > 0.120s` | the filtered operators take over 0.12 s |
| `computation > +1%` | the filtered operators compute over 1 % more |
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from profile_analyze.advice.conditions import REPEAT
from profile_analyze.advice.gates import (
    ANY_SLOWER,
    COVERING_ALL,
    advice_on_form,
    advice_on_inverted,
    advice_on_metric,
    advice_on_subject,
    threshold_of,
    with_signs,
)
from profile_analyze.columns.catalog import CATALOG
from profile_analyze.columns.column import DEFAULT_ORDER
from profile_analyze.columns.comparison_columns import OUTCOMES
from profile_analyze.comparison.formulas import ALL_VERDICTS
from profile_analyze.errors import QueryError
from profile_analyze.gate.limits import parse_limit
from profile_analyze.gate.work import WORK_METRICS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from profile_analyze.gate.limits import LimitUnit
    from profile_analyze.query.conditions import Condition
    from profile_analyze.query.question import Query

TOTAL, WALL = COVERING_ALL
_COLUMNS: Final = frozenset(column.name for column in CATALOG)
_MEASURES: Final[Mapping[str, str]] = {
    TOTAL: "time",
    WALL: "time",
    "device_time": "time",
    "host_time": "host_time",
    "wait": "wait",
}
"""The measure of each metric. The metric `time` uses the measure of the question, and `WALL`, the
time of a whole run, uses none."""

_METRICS: Final = (*_MEASURES, "time", *WORK_METRICS)
NO_FILTERS: Final[Mapping[str, Any]] = {
    "types": (),
    "name": None,
    "input_dtype": None,
    "min_time_s": None,
    "max_time_s": None,
    "where": (),
}
"""The fields of `Query` that filter operators, each with its value for no filter."""
_VERDICT: Final = "verdict"
_ONE_ROW: Final[Mapping[str, Any]] = {
    "by": (),
    "having": (),
    "aggregates": "sum",
    "order": DEFAULT_ORDER,
    "top": 0,
    "split_by": (),
}
_GRAMMAR: Final = re.compile(
    r"\s*(?P<metric>\w+)\s*(?P<operator>[<>=!~]+)\s*(?P<sign>[+-]?)\s*(?P<limit>[^\s+-].*)",
    re.DOTALL,
)


class FailCondition(NamedTuple):
    """One condition under which a pipeline fails."""

    text: str
    subject: str
    """A condition that selects operators, in the grammar of `Query.where`; empty for all."""
    metric: str
    above: bool
    """Whether the condition is met above the limit (`>`) instead of below it (`<`)."""
    limit: float
    limit_unit: LimitUnit
    """`s`: seconds. `s more`: seconds above the baseline. `amount` and `amount more`: the same for
    work, in the unit of the metric. `of baseline`: the change as a fraction of the baseline."""
    unnamed_operators: str = ""
    """Which operators the condition judges, in words; empty if its text names them."""

    @property
    def relative(self) -> bool:
        """Whether the condition needs a baseline."""
        return self.limit_unit not in ("s", "amount")

    @property
    def asks_for_change(self) -> bool:
        """Whether only a changed model can meet the condition: true for `> +5%`, not for `> -3%`.

        If true, the statistical test asks whether there is any change.
        """
        return self.relative and (self.limit >= 0 if self.above else self.limit <= 0)

    @property
    def is_of_runs(self) -> bool:
        """Whether the metric is the wall time of a run, instead of a sum over operators."""
        return self.metric == WALL

    @property
    def is_of_work(self) -> bool:
        """Whether the metric is an amount of work, which is exact, instead of a time."""
        return self.metric in WORK_METRICS

    @property
    def names_measure(self) -> bool:
        """Whether the metric names a kind of time other than the device time, such as `wait`."""
        return _MEASURES.get(self.metric, "time") != "time"

    @property
    def advice_on_work(self) -> str:
        """Advice on how to write the condition with a metric of work instead of a time."""
        if self.limit_unit != "of baseline":
            return f"the metrics of work are {', '.join(WORK_METRICS)}"
        before, _, change = self.text.rpartition(self.metric)
        return f"write {f'{before}macs{change}'!r}, or computation, params or memory"

    def exceeds(self, value: float, bound: float) -> bool:
        """Return whether the value is beyond a bound, on the side that the condition limits."""
        return value > bound if self.above else value < bound

    @classmethod
    def parse(cls, text: str, query: Query) -> FailCondition:
        """Parse a condition on the operators that `query` selects. Raises `QueryError`."""
        # Split at the last colon: a pattern in the subject may contain colons, but a limit cannot.
        subject, colon, rest = text.rstrip().rpartition(":")
        match = _GRAMMAR.fullmatch(rest)
        if match is None or (colon and not subject.strip()):
            advice = with_signs(advice_on_form(text, _METRICS))
            raise QueryError(f"fail-if: {text!r} is not a condition; {advice}")
        if match["metric"] not in _METRICS:
            advice = with_signs(advice_on_metric(text, match["metric"], _METRICS, _COLUMNS))
            raise QueryError(f"fail-if: {text!r}: {advice}")
        if match["operator"] not in (">", "<"):
            raise QueryError(
                f"fail-if: {text!r}: {match['operator']} is not supported; write > or <"
            )
        parts = match["sign"], match["limit"], WORK_METRICS.get(match["metric"], "s")
        limit, limit_unit = parse_limit(text, *parts, compared=query.compared)
        subject = subject.strip()
        if subject and (
            advice := advice_on_subject(subject, match["metric"], rest, _METRICS, _COLUMNS)
        ):
            raise QueryError(f"fail-if: {text!r}: {advice}")
        subject = _with_equality(subject)
        above = match["operator"] == ">"
        covers_all = match["metric"] in COVERING_ALL
        unnamed = "" if subject or covers_all else _filtered_operators(query)
        condition = cls(text.strip(), subject, match["metric"], above, limit, limit_unit, unnamed)
        if condition.relative and not above and limit > 0:
            advice = advice_on_inverted(text, match["sign"] + match["limit"].strip())
            raise QueryError(f"fail-if: {text!r}: {advice}")
        if condition.relative and not query.compared:
            raise QueryError(
                f"fail-if: {text!r} is relative to a baseline; name one with --compare"
            )
        # Making the question here checks the subject before any file is read.
        try:
            condition.check_selection(query)
        except QueryError as error:
            raise QueryError(f"fail-if: {text!r}: {_reason_of(error)}") from None
        return condition

    def check_selection(self, query: Query) -> None:
        """Raise `QueryError` if the selection is invalid, or selects operators by their change."""
        about = self.about(query)
        of_where = about.conditions[:-1] if self.subject else about.conditions
        for one in conditions_on_verdicts(about):
            if one.matches_none(ALL_VERDICTS):
                option = f"--where {one.text!r}: " if one in of_where else ""
                raise QueryError(
                    f"where: {option}there is no verdict {one.value!r}; the verdicts are "
                    f"{', '.join(ALL_VERDICTS)}"
                )
        if self.is_of_work and self.relative:  # noise does not change work
            return
        # Verdicts take noise into account, so a condition with an absolute limit can select by
        # verdict. A limit on the change cannot: all operators with the verdict `slower` changed.
        refused = OUTCOMES if self.relative else OUTCOMES - {_VERDICT}
        if found := next((one for one in about.conditions if one.column.name in refused), None):
            where = f"--where {found.text!r}" if found in of_where else ""
            if found.column.name == _VERDICT:
                raise QueryError(
                    f"where: {where or _VERDICT} already judges how operators changed, so a limit "
                    f"on the change would judge it twice; write {self._without_change()}"
                )
            instead = " in --where, or leave out this --where and write" if where else ", or write"
            raise QueryError(
                f"where: {where or found.column.name} selects operators by how they changed, so "
                f"noise alone could meet the condition; select them by name, type or base{instead} "
                f"{ANY_SLOWER!r} for any operator"
            )

    def _without_change(self) -> str:
        """Return what to write instead of a limit on the change of operators with a verdict."""
        instead = repr(re.sub("[<>][^<>]*$", "> 0s", self.text))
        if self.limit_unit != "of baseline" or not self.limit or not self.asks_for_change:
            return instead
        return f"{instead}, and {threshold_of(f'{100 * abs(self.limit):.6g}')}"

    def about(self, query: Query) -> Query:
        """Return the question whose answer has the value of the metric.

        For a time, the answer has one row, and its column `time` is the metric. For work, the
        answer has a row for each operator, and the metric is the sum of the column with the same
        name.
        """
        asked = query.changed(measure=_MEASURES.get(self.metric, query.measure))
        if self.metric in COVERING_ALL:
            asked = asked.changed(**NO_FILTERS)
        where = (*asked.where, self.subject) if self.subject else asked.where
        # The two sides of a comparison may have different operators, so `amounts_of` adds up the
        # work of each side separately.
        aggregates = () if self.is_of_work else _ONE_ROW["aggregates"]
        return asked.changed(**{**_ONE_ROW, "where": where, "aggregates": aggregates})


def _reason_of(error: QueryError) -> str:
    """Return what is wrong with the subject, from the error of `Query`."""
    # The error begins with the field of `Query` that has the subject.
    reason, repeated, _ = str(error).removeprefix("where: ").partition(REPEAT)
    # To repeat `--fail-if` would not mean that all conditions must hold.
    return f"{reason}a selection has only one, and --where adds others" if repeated else reason


def _with_equality(subject: str) -> str:
    """Return `type=Conv` as `type == Conv`. Before a colon, it is allowed: it reads well."""
    return re.sub(r"^([\w.]+)\s*=(?=[^=~])\s*", r"\1 == ", subject)


def _filtered_operators(query: Query) -> str:
    """Return in words which operators the filters of `query` select."""
    is_filtered = any(getattr(query, name) != none for name, none in NO_FILTERS.items())
    return "the operators that pass the filters" if is_filtered else "all operators"


def conditions_on_verdicts(query: Query) -> list[Condition]:
    """Return the conditions of `query` that select operators by their verdict."""
    return [one for one in query.conditions if one.column.name == _VERDICT]

"""The conditions of `--fail-if`, under which a pipeline fails: their grammar.

| condition | met if |
|---|---|
| `total > +5%` | all operators together take over 5 % more time than in the baseline |
| `time > +2ms` | the operators that pass the filters take over 2 ms more |
| `type=ConvolutionForward: time > +3%` | the convolutions among them take over 3 % more |
| `time > 0.120s` | the operators that pass the filters take over 0.12 s |
| `macs > +1%` | the operators that pass the filters have over 1 % more multiply-adds |
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from profile_analyze.errors import QueryError
from profile_analyze.model.columns import DEFAULT_ORDER
from profile_analyze.query.gate_advice import (
    advice_on_form,
    advice_on_inverted,
    advice_on_metric,
    advice_on_subject,
)
from profile_analyze.query.gate_limits import parse_limit
from profile_analyze.query.work_gate import WORK_METRICS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from profile_analyze.query.gate_limits import LimitUnit
    from profile_analyze.query.question import Query

_TOTAL: Final = "total"
_MEASURES: Final[Mapping[str, str]] = {
    _TOTAL: "time",
    "device_time": "time",
    "host_time": "host_time",
    "wait": "wait",
}
"""The measure of each metric. The metric `time` uses the measure of the question."""

_METRICS: Final = (*_MEASURES, "time", *WORK_METRICS)
_NO_FILTERS: Final[Mapping[str, Any]] = {
    "types": (),
    "name": None,
    "input_dtype": None,
    "min_time_s": None,
    "max_time_s": None,
    "where": (),
}
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
    """What `limit` is: seconds, seconds above the baseline, or a difference as a fraction of the
    baseline. For a metric of work: an amount, or an amount above the baseline, in the unit of the
    metric."""

    @property
    def relative(self) -> bool:
        """Whether the condition needs a baseline."""
        return self.limit_unit not in ("s", "amount")

    @property
    def asks_for_change(self) -> bool:
        """Whether an unchanged model cannot meet the condition: true of `> +5%`, false of `> -3%`.

        If true, the test asks whether there is any change.
        """
        return self.relative and (self.limit >= 0 if self.above else self.limit <= 0)

    @property
    def is_of_work(self) -> bool:
        """Whether the metric is exact work, and not a time."""
        return self.metric in WORK_METRICS

    @property
    def on_work(self) -> str:
        """The advice to state the condition on work instead of a time."""
        if self.limit_unit != "of baseline":
            return f"the metrics of work are {', '.join(WORK_METRICS)}"
        before, _, change = self.text.rpartition(self.metric)
        return f"write '{before}macs{change}', or params or memory"

    @classmethod
    def parse(cls, text: str, query: Query) -> FailCondition:
        """Parse a condition on the operators that `query` selects. Raises `QueryError`."""
        # The last colon: a pattern in the subject may contain colons, and a limit cannot.
        subject, colon, rest = text.rstrip().rpartition(":")
        match = _GRAMMAR.fullmatch(rest)
        if match is None or (colon and not subject.strip()):
            raise QueryError(
                f"fail-if: {text!r} is not a condition; {advice_on_form(text, _METRICS)}"
            )
        if match["metric"] not in _METRICS:
            advice = advice_on_metric(text, match["metric"], _METRICS)
            raise QueryError(f"fail-if: {text!r}: {advice}")
        if match["operator"] not in (">", "<"):
            raise QueryError(
                f"fail-if: {text!r}: {match['operator']} is not supported; write > or <"
            )
        unit = WORK_METRICS.get(match["metric"], "s")
        limit, limit_unit = parse_limit(text, match["sign"], match["limit"], unit)
        # Write `type=Conv` as `type == Conv`: a single = reads well before a colon.
        subject = re.sub(r"^([\w.]+)\s*=(?=[^=~])\s*", r"\1 == ", subject.strip())
        if subject and (advice := advice_on_subject(subject, rest)):
            raise QueryError(f"fail-if: {text!r}: {advice}")
        above = match["operator"] == ">"
        condition = cls(text.strip(), subject, match["metric"], above, limit, limit_unit)
        if condition.relative and not above and limit > 0:
            advice = advice_on_inverted(text, match["sign"] + match["limit"].strip())
            raise QueryError(f"fail-if: {text!r}: {advice}")
        if condition.relative and not query.compared:
            raise QueryError(
                f"fail-if: {text!r} is relative to a baseline; name one with --compare"
            )
        # Making the question checks the subject, before any file is read.
        try:
            condition.about(query)
        except QueryError as error:
            raise QueryError(f"fail-if: {text!r}: {error}") from None
        return condition

    def about(self, query: Query) -> Query:
        """Return the question whose answer has one row, with the metric as `time`.

        For a metric of work, the answer has a row for each operator, with the metric as a column.
        """
        asked = query.changed(measure=_MEASURES.get(self.metric, query.measure))
        if self.metric == _TOTAL:
            asked = asked.changed(**_NO_FILTERS)
        where = (*asked.where, self.subject) if self.subject else asked.where
        # The sides of a comparison have different operators, so work is added up for each side.
        aggregates = () if self.is_of_work else _ONE_ROW["aggregates"]
        return asked.changed(**{**_ONE_ROW, "where": where, "aggregates": aggregates})

"""The conditions of `--fail-if`, under which a pipeline fails: their grammar and their verdicts.

| condition | met if |
|---|---|
| `total > +5%` | all operators together take over 5 % more time than in the baseline |
| `time > +2ms` | the operators that pass the filters take over 2 ms more |
| `type=ConvolutionForward: time > +3%` | the convolutions that pass them take over 3 % more |
| `time > 0.120s` | the operators that pass the filters take over 0.12 s |
| `macs > +1%` | the operators that pass the filters have over 1 % more multiply-adds |
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias

import numpy as np

from profile_analyze.analysis.statistics import (
    LEAST_RUNS,
    SIGNIFICANT,
    adjusted,
    median_interval,
    permutation_test,
    ratio_interval,
)
from profile_analyze.errors import QueryError
from profile_analyze.model.columns import DEFAULT_ORDER
from profile_analyze.model.iterations import unit_noun
from profile_analyze.model.numbers import quantile_of_runs
from profile_analyze.query.gate_limits import parse_limit
from profile_analyze.query.run import run
from profile_analyze.query.work_gate import (
    WORK_METRICS,
    Amounts,
    amounts_of,
    is_beyond,
    reason_unjudged,
)
from profile_analyze.suggestions import METRIC_WORDS, suggestion

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from profile_analyze.model.comparison import Comparison
    from profile_analyze.model.profile import Profile
    from profile_analyze.query.gate_limits import LimitUnit
    from profile_analyze.query.question import Query

Outcome: TypeAlias = Literal["met", "passed", "unjudged"]

TOTAL: Final = "total"
_MEASURES: Final[Mapping[str, str]] = {
    TOTAL: "time",
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
_EXAMPLES: Final = "'total > +5%', 'type=ConvolutionForward: time > +3%' or 'time > 0.120s'"


class FailCondition(NamedTuple):
    """One condition under which a pipeline fails."""

    text: str
    subject: str
    """A condition that selects operators, in the grammar of `Query.where`; empty for all."""
    metric: str
    above: bool
    """Whether the metric must be above the limit, and not below it, to meet the condition."""
    limit: float
    limit_unit: LimitUnit
    """The unit of `limit`: seconds, seconds more than the baseline, or a fraction of the baseline
    more. An amount has the unit of the metric."""

    @property
    def relative(self) -> bool:
        """Whether the condition needs a baseline."""
        return self.limit_unit not in ("s", "amount")

    @property
    def is_of_work(self) -> bool:
        """Whether the metric is exact work, and not a time."""
        return self.metric in WORK_METRICS

    @classmethod
    def parse(cls, text: str, query: Query) -> FailCondition:
        """Parse a condition on the operators that `query` selects. Raises `QueryError`."""
        # The last colon: a pattern in the subject may contain colons, and a limit cannot.
        subject, colon, rest = text.rstrip().rpartition(":")
        match = _GRAMMAR.fullmatch(rest)
        if match is None or (colon and not subject.strip()):
            raise QueryError(
                f"fail-if: {text!r} is not a condition; write [CONDITION:] METRIC > LIMIT, such as "
                f"{_EXAMPLES}; METRIC is one of {', '.join(_METRICS)}"
            )
        if match["metric"] not in _METRICS:
            raise QueryError(f"fail-if: {text!r}: {_unknown_metric(match['metric'])}")
        if match["operator"] not in (">", "<"):
            raise QueryError(
                f"fail-if: {text!r}: {match['operator']} is not supported; write > or <"
            )
        unit = WORK_METRICS.get(match["metric"], "s")
        limit, limit_unit = parse_limit(text, match["sign"], match["limit"], unit)
        # Write `type=Conv` as `type == Conv`: a single = reads well before a colon.
        subject = re.sub(r"^(\s*[\w.]+\s*)=(?=[^=~])", r"\1== ", subject.strip())
        above = match["operator"] == ">"
        condition = cls(text.strip(), subject, match["metric"], above, limit, limit_unit)
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
        if self.metric == TOTAL:
            asked = asked.changed(**_NO_FILTERS)
        where = (*asked.where, self.subject) if self.subject else asked.where
        # The sides of a comparison have different operators, so work is added up for each side.
        aggregates = () if self.is_of_work else _ONE_ROW["aggregates"]
        return asked.changed(**{**_ONE_ROW, "where": where, "aggregates": aggregates})


def _unknown_metric(name: str) -> str:
    """Return the message about a metric that does not exist."""
    if name in ("ratio", "change", "difference", "speedup"):
        advice = "write 'total > +5%' for 5% more than the baseline"
        return f"there is no metric {name!r}; {advice}"
    advice = suggestion(name, _METRICS, METRIC_WORDS) or (
        f"METRIC is one of {', '.join(_METRICS)}; a condition on operators comes before a colon"
    )
    return f"there is no metric {name!r}; {advice}"


class FailVerdict(NamedTuple):
    """The verdict on one condition. Numbers are medians over the runs; NaN is N/A."""

    condition: FailCondition
    outcome: Outcome
    reason: str
    """The reason for the outcome, in words."""
    time_s: float = np.nan
    base_s: float = np.nan
    low: float = np.nan
    """The lower end of the 95 % confidence interval of the ratio to the baseline, or of the time if
    the limit is not relative. `high` is the upper end."""
    high: float = np.nan
    p_value: float = np.nan
    """p, corrected for the number of conditions."""
    unit: str = "runs"
    """The noun for what statistics count: see `iterations.unit_noun`."""
    amount: float = np.nan
    """The work that a condition on work is about. `base_amount` is that of the baseline."""
    base_amount: float = np.nan


class _Measured(NamedTuple):
    """The metric of one condition, shape (1, units): a value for each process or iteration."""

    times: NDArray[np.float64]
    base: NDArray[np.float64] | None
    operators: int
    """How many operators the condition selects."""
    unit: str
    """See `FailVerdict.unit`."""


def judge_conditions(
    conditions: Sequence[FailCondition], query: Query, source: Profile | Comparison
) -> tuple[FailVerdict, ...]:
    """Return the verdict on each condition: whether it is met beyond noise.

    The estimate is the median over the runs, or the ratio of the two medians. A condition is met
    if the estimate is beyond the limit and noise does not explain that:

    - For a limit relative to the baseline, p (corrected for the number of conditions) must be at
      most 0.05, and the confidence interval of the ratio must exclude 1.
    - For an absolute limit, or one that demands an improvement such as `-3%`, the whole confidence
      interval must be beyond the limit.
    """
    timed = [condition for condition in conditions if not condition.is_of_work]
    measured = [_measure(condition, query, source) for condition in timed]
    p_values = adjusted(np.array([_p_value(one) for one in measured]))
    of_times = iter(
        [
            _verdict(condition, one, float(p))._replace(unit=one.unit)
            for condition, one, p in zip(timed, measured, p_values, strict=True)
        ]
    )
    return tuple(
        _verdict_on_work(condition, amounts_of(condition.metric, condition.about(query), source))
        if condition.is_of_work
        else next(of_times)
        for condition in conditions
    )


def _verdict_on_work(condition: FailCondition, amounts: Amounts) -> FailVerdict:
    relative = condition.relative
    unjudged = reason_unjudged(amounts, condition.metric, relative=relative)
    beyond = is_beyond(amounts, condition.limit, condition.limit_unit, above=condition.above)
    outcome: Outcome = "unjudged" if unjudged else "met" if beyond else "passed"
    return FailVerdict(
        condition,
        outcome,
        unjudged or ("beyond the limit" if beyond else "not beyond the limit"),
        amount=amounts.value,
        base_amount=amounts.base if relative else np.nan,
    )


def _measure(condition: FailCondition, query: Query, source: Profile | Comparison) -> _Measured:
    table = run(condition.about(query), source)
    empty = np.empty((1, 0))
    times = table.shown.per_unit("time") if len(table) else empty
    profile, comparison = table.shown.profile, table.shown.comparison
    if not condition.relative or comparison is None:
        return _Measured(times, None, table.matched, unit_noun(query.unit, profile.runs))
    base = table.shown.per_unit("base") if len(table) else empty
    unit = unit_noun(query.unit, profile.runs, comparison.base.runs)
    return _Measured(times, base, table.matched, unit)


def _p_value(measured: _Measured) -> float:
    if measured.base is None or not measured.base.shape[1]:
        return np.nan
    return float(permutation_test(measured.times, measured.base)[0])


def _verdict(condition: FailCondition, measured: _Measured, p_value: float) -> FailVerdict:
    time_s = _median(measured.times)
    base_s = np.nan if measured.base is None else _median(measured.base)
    reason_unjudged = _reason_unjudged(measured)
    if reason_unjudged:
        return FailVerdict(condition, "unjudged", reason_unjudged, time_s, base_s)
    if measured.base is None:
        interval = median_interval(measured.times)
        bounds = (float(interval.low[0]), float(interval.high[0]))
        outcome, reason = _outcome(condition, time_s, bounds, condition.limit, condition.limit)
        return FailVerdict(condition, outcome, reason, time_s, base_s, *bounds)
    interval = ratio_interval(measured.times, measured.base)
    bounds = (float(interval.low[0]), float(interval.high[0]))
    limit = 1 + condition.limit / (base_s if condition.limit_unit == "s more" else 1.0)
    # `> +5%` asks whether there is a change at all, so the interval must exclude 1. `> -3%` asks
    # whether an improvement was missed, so the interval must exclude the improvement.
    reference = min(limit, 1.0) if condition.above else max(limit, 1.0)
    may_be_chance = reference == 1.0 and not p_value <= SIGNIFICANT
    if may_be_chance:
        reference = np.nan  # no interval is beyond NaN
    outcome, reason = _outcome(condition, time_s / base_s, bounds, limit, reference)
    return FailVerdict(condition, outcome, reason, time_s, base_s, *bounds, p_value)


def _outcome(
    condition: FailCondition,
    estimate: float,
    bounds: tuple[float, float],
    limit: float,
    reference: float,
) -> tuple[Outcome, str]:
    """Return whether the estimate is beyond the limit, and its interval beyond the reference."""
    low, high = bounds
    is_beyond = estimate > limit if condition.above else estimate < limit
    is_clear = low > reference if condition.above else high < reference
    may_be_beyond = high > limit if condition.above else low < limit
    if not is_beyond and may_be_beyond:
        return "passed", "within the limit, but its confidence interval extends beyond it"
    if not is_beyond:
        return "passed", "not beyond the limit"
    if not is_clear:
        return "passed", "beyond the limit, but not beyond noise"
    return "met", "beyond the limit, and beyond noise"


def _reason_unjudged(measured: _Measured) -> str:
    """Return why the condition cannot be judged; empty if it can be."""
    if not measured.operators:
        return "no operator matches"
    sides = [("", measured.times)]
    if measured.base is not None:
        sides.append((" of the baseline", measured.base))
    for of_side, times in sides:
        known = int((~np.isnan(times)).sum())
        if not known:
            return f"the time{of_side} is N/A"
        if known < LEAST_RUNS:
            return f"only {known} of the {LEAST_RUNS} required {measured.unit}{of_side}"
    if measured.base is not None and not _median(measured.base) > 0:
        return "the time of the baseline is 0"
    return ""


def _median(times: NDArray[np.float64]) -> float:
    return float(quantile_of_runs(times, 0.5)[0]) if times.shape[1] else np.nan

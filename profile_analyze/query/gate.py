"""The conditions of `--fail-if`, under which a pipeline fails: their grammar and their verdicts.

| condition | met if |
|---|---|
| `total > +5%` | all operators together take over 5 % more time than in the baseline |
| `time > +2ms` | the operators that pass the filters take over 2 ms more |
| `type=ConvolutionForward: time > +3%` | the convolutions among them take over 3 % more |
| `time > 0.120s` | the operators that pass the filters take over 0.12 s |
"""

from __future__ import annotations

import re
from math import isinf
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
from profile_analyze.errors import QuantityError, QueryError
from profile_analyze.model.columns import DEFAULT_ORDER
from profile_analyze.model.iterations import unit_noun
from profile_analyze.model.numbers import quantile_of_runs
from profile_analyze.query.run import run
from profile_analyze.suggestions import METRIC_WORDS, suggestion
from profile_analyze.units import parse_quantity, parse_time

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from profile_analyze.model.comparison import Comparison
    from profile_analyze.model.profile import Profile
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

_METRICS: Final = (*_MEASURES, "time")
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
    """Whether the condition is met above the limit (`>`) instead of below it (`<`)."""
    limit: float
    limit_unit: Literal["s", "s more", "of baseline"]
    """What `limit` is: seconds; how many seconds more than the baseline; or what fraction of the
    baseline more."""

    @property
    def relative(self) -> bool:
        """Whether the condition needs a baseline."""
        return self.limit_unit != "s"

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
        limit, limit_unit = _parse_limit(text, match["sign"], match["limit"])
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
        """Return a question whose answer has one row. Its column `time` is the metric."""
        asked = query.changed(measure=_MEASURES.get(self.metric, query.measure))
        if self.metric == TOTAL:
            asked = asked.changed(**_NO_FILTERS)
        where = (*asked.where, self.subject) if self.subject else asked.where
        return asked.changed(**{**_ONE_ROW, "where": where})


def _unknown_metric(name: str) -> str:
    """Return the message about a metric that does not exist."""
    if name in ("ratio", "change", "difference", "speedup"):
        advice = "write 'total > +5%' for 5% more than the baseline"
        return f"there is no metric {name!r}; {advice}"
    advice = suggestion(name, _METRICS, METRIC_WORDS) or (
        f"METRIC is one of {', '.join(_METRICS)}; a condition on operators comes before a colon"
    )
    return f"there is no metric {name!r}; {advice}"


def _parse_limit(
    text: str, sign: str, limit: str
) -> tuple[float, Literal["s", "s more", "of baseline"]]:
    if re.search(r"\s(and|or)\s|&&|\|\|", limit, re.IGNORECASE):
        raise QueryError(
            f"fail-if: {text!r}: there is another condition; repeat --fail-if for each"
        )
    if not sign and (match := re.fullmatch(r"(\d+\.?\d*)\s*[xX\N{MULTIPLICATION SIGN}]", limit)):
        advice = _advice_on_ratio(float(match[1])) or "write +5% for 5% more, -5% for 5% less"
        raise QueryError(f"fail-if: {text!r}: {limit} of what? {advice}")
    try:
        if limit.endswith("%"):
            return _parse_share(text, sign, limit), "of baseline"
        return _parse_seconds(text, sign, limit), "s more" if sign else "s"
    except QuantityError as error:
        raise QueryError(f"fail-if: {text!r}: {error}, or +5%") from None


def _parse_share(text: str, sign: str, limit: str) -> float:
    if not sign:
        advice = _advice_on_ratio(parse_quantity(limit, "1")) or (
            f"write +{limit} for {limit} more than the baseline"
        )
        raise QueryError(f"fail-if: {text!r}: {limit} of what? {advice}")
    share = parse_quantity(sign + limit, "1")
    if share <= -1:  # no time is below 0, so the condition would always or never be met
        raise QueryError(f"fail-if: {text!r}: nothing takes {-share:.0%} less than the baseline")
    return share


def _advice_on_ratio(ratio: float) -> str:
    """Return how to write a ratio such as 1.05 as a limit; empty for an improbable ratio."""
    if not 1 < ratio < 10:
        return ""
    more = f"{100 * (ratio - 1):.6g}%"
    return f"for {more} more than the baseline write +{more}"


def _parse_seconds(text: str, sign: str, limit: str) -> float:
    seconds = parse_time(sign + limit)
    if isinf(seconds):
        raise QueryError(f"fail-if: {text!r}: {limit} is never reached")
    # A number without a unit could mean percent, milliseconds or seconds.
    if not limit[-1].isalpha():
        examples = f"{sign}{limit}%, {sign}{limit}ms" if sign else f"{limit}s, {limit}ms"
        if sign and abs(seconds) < 1:  # more likely a fraction than a percentage
            examples = f"{sign}{abs(seconds):.6g}s"
            examples = f"{sign}{100 * abs(seconds):.6g}%, {examples}"
        raise QueryError(f"fail-if: {text!r}: {sign}{limit} of what? write {examples}")
    return seconds


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
    measured = [_measure(condition, query, source) for condition in conditions]
    p_values = adjusted(np.array([_p_value(one) for one in measured]))
    return tuple(
        _verdict(condition, one, float(p))._replace(unit=one.unit)
        for condition, one, p in zip(conditions, measured, p_values, strict=True)
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
    """Return the outcome and the reason for it.

    The condition is met if the estimate is beyond `limit`, and its whole interval is beyond
    `reference`.
    """
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

"""Conditions under which a pipeline is to fail: what they say, and whether they are met.

| written | met when |
|---|---|
| `total > +5%` | the time of all operators is over 5 % more than in the baseline |
| `time > +2ms` | the time of the operators that pass the filters is over 2 ms more |
| `type=ConvolutionForward: time > +3%` | the time of the convolutions among them is over 3 % more |
| `time > 0.120s` | the time of the operators that pass the filters is over 0.12 s |
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
from profile_analyze.units import parse_quantity, parse_time

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from profile_analyze.model.comparison import Comparison
    from profile_analyze.model.profile import Profile
    from profile_analyze.query.question import Query

Outcome: TypeAlias = Literal["met", "passed", "unjudged"]

TOTAL: Final = "total"
_TIMES: Final[Mapping[str, Mapping[str, str]]] = {
    TOTAL: {"measure": "time"},
    "device_time": {"measure": "time"},
    "host_time": {"measure": "host_time"},
    "wait": {"measure": "wait"},
}
"""The measure of each metric; `time` is the measure of the question."""

_METRICS: Final = (*_TIMES, "time")
_ALL: Final[Mapping[str, Any]] = {
    "types": (),
    "name": None,
    "input_dtype": None,
    "min_time_s": None,
    "max_time_s": None,
    "where": (),
}
_ALL_IN_ONE: Final[Mapping[str, Any]] = {
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
    """One condition; met if the metric is `above` the limit, or else below it."""

    text: str
    subject: str
    """Which operators it is about, in the grammar of `Query.where`; empty for all."""
    metric: str
    above: bool
    limit: float
    unit: Literal["s", "s more", "of base"]
    """The unit of the limit: seconds, seconds more than the baseline, or a fraction of it more."""

    @property
    def relative(self) -> bool:
        """Whether it needs a baseline."""
        return self.unit != "s"

    @classmethod
    def parse(cls, text: str, query: Query) -> FailCondition:
        """The condition that `text` is, to be judged on what `query` asks.

        Raises `QueryError`.
        """
        subject, colon, rest = text.rstrip().rpartition(":")
        match = _GRAMMAR.fullmatch(rest)
        if match is None or (colon and not subject.strip()):
            raise QueryError(
                f"fail-if: {text!r} is no condition; write [CONDITION:] METRIC > LIMIT, such as "
                f"{_EXAMPLES}; METRIC is one of {', '.join(_METRICS)}"
            )
        if match["metric"] not in _METRICS:
            raise QueryError(
                f"fail-if: {text!r}: there is no metric {match['metric']!r}, but "
                f"{', '.join(_METRICS)}; a condition on operators stands before a colon"
            )
        if match["operator"] not in (">", "<"):
            raise QueryError(
                f"fail-if: {text!r}: {match['operator']} is not judged beyond noise; write > or <"
            )
        limit, unit = _limit(text, match["sign"], match["limit"])
        about = re.sub(r"^(\s*[\w.]+\s*)=(?=[^=~])", r"\1== ", subject.strip())
        found = cls(text.strip(), about, match["metric"], match["operator"] == ">", limit, unit)
        if found.relative and not query.compared:
            raise QueryError(
                f"fail-if: {text!r} is relative to a base, and there is none: --compare names it"
            )
        try:
            found.about(query)
        except QueryError as error:
            raise QueryError(f"fail-if: {text!r}: {error}") from None
        return found

    def about(self, query: Query) -> Query:
        """The question whose answer is one row, of which `time` is the metric."""
        asked = query.changed(**_TIMES.get(self.metric, {}))
        if self.metric == TOTAL:
            asked = asked.changed(**_ALL)
        subject = (*asked.where, self.subject) if self.subject else asked.where
        return asked.changed(**{**_ALL_IN_ONE, "where": subject})


def _limit(text: str, sign: str, limit: str) -> tuple[float, Literal["s", "s more", "of base"]]:
    try:
        if limit.endswith("%"):
            return _share(text, sign, limit), "of base"
        return _seconds(text, sign, limit), "s more" if sign else "s"
    except QuantityError as error:
        raise QueryError(f"fail-if: {text!r}: {error}, or +5%") from None


def _share(text: str, sign: str, limit: str) -> float:
    if not sign:
        raise QueryError(f"fail-if: {text!r}: {limit} of what? write +{limit} of the base")
    share = parse_quantity(sign + limit, "1")
    if share <= -1:
        raise QueryError(f"fail-if: {text!r}: nothing takes {-share:.0%} less than the base")
    return share


def _seconds(text: str, sign: str, limit: str) -> float:
    """The limit. A bare number is refused: it could mean percent, milliseconds or seconds."""
    seconds = parse_time(sign + limit)
    if isinf(seconds):
        raise QueryError(f"fail-if: {text!r}: {limit} is never reached")
    if not limit[-1].isalpha():
        examples = f"{sign}{limit}%, {sign}{limit}ms" if sign else f"{limit}s, {limit}ms"
        raise QueryError(f"fail-if: {text!r}: {sign}{limit} of what? write {examples}")
    return seconds


class FailVerdict(NamedTuple):
    """The verdict on one condition. Numbers are of medians over the runs; NaN is N/A."""

    condition: FailCondition
    outcome: Outcome
    reason: str
    """Why, in words."""
    time_s: float = np.nan
    base_s: float = np.nan
    low: float = np.nan
    """The lower end of the 95 % confidence interval of the ratio to the baseline, or of the time if
    the limit is not relative. `high` is the upper end."""
    high: float = np.nan
    p_value: float = np.nan
    """Corrected for the number of conditions."""
    unit: str = "runs"
    """What statistics counted: see `iterations.unit_noun`."""


class _Measured(NamedTuple):
    """The metric of one condition in each run, shape (1, runs)."""

    times: NDArray[np.float64]
    base: NDArray[np.float64] | None
    operators: int
    unit: str
    """See `FailVerdict.unit`."""


def judge_conditions(
    conditions: Sequence[FailCondition], query: Query, source: Profile | Comparison
) -> tuple[FailVerdict, ...]:
    """Whether each of `conditions` is met beyond noise.

    The estimate is the median over the runs, or the ratio of two. The estimate must be beyond a
    limit that is relative to the baseline, and noise must not explain a change in that direction: p
    (corrected for the number of conditions) is at most 0.05, and the interval of the ratio excludes
    1. If a limit is absolute, or asks for an improvement as `-3%` does, the whole interval must be
    beyond it.
    """
    measured = [_measured(condition, query, source) for condition in conditions]
    p_values = adjusted(np.array([_p_value(one) for one in measured]))
    return tuple(
        _verdict(condition, one, float(p))._replace(unit=one.unit)
        for condition, one, p in zip(conditions, measured, p_values, strict=True)
    )


def _measured(condition: FailCondition, query: Query, source: Profile | Comparison) -> _Measured:
    result = run(condition.about(query), source)
    empty = np.empty((1, 0))
    times = result.shown.per_unit("time") if len(result) else empty
    profile, comparison = result.shown.profile, result.shown.comparison
    if not condition.relative or comparison is None:
        return _Measured(times, None, result.matched, unit_noun(query.unit, profile.runs))
    base = result.shown.per_unit("base") if len(result) else empty
    unit = unit_noun(query.unit, profile.runs, comparison.base.runs)
    return _Measured(times, base, result.matched, unit)


def _p_value(measured: _Measured) -> float:
    if measured.base is None or not measured.base.shape[1]:
        return np.nan
    return float(permutation_test(measured.times, measured.base)[0])


def _verdict(condition: FailCondition, measured: _Measured, p_value: float) -> FailVerdict:
    time_s = _median(measured.times)
    base_s = np.nan if measured.base is None else _median(measured.base)
    missing = _what_is_missing(measured)
    if missing:
        return FailVerdict(condition, "unjudged", missing, time_s, base_s)
    if measured.base is None:
        interval = median_interval(measured.times)
        bounds = (float(interval.low[0]), float(interval.high[0]))
        outcome, reason = _outcome(condition, time_s, bounds, condition.limit, condition.limit)
        return FailVerdict(condition, outcome, reason, time_s, base_s, *bounds)
    interval = ratio_interval(measured.times, measured.base)
    bounds = (float(interval.low[0]), float(interval.high[0]))
    limit = 1 + condition.limit / (base_s if condition.unit == "s more" else 1.0)
    # noise must not explain why an improvement was missed, or else why there is a change
    reference = min(limit, 1.0) if condition.above else max(limit, 1.0)
    is_chance = reference == 1.0 and not p_value <= SIGNIFICANT
    clear_of = np.nan if is_chance else reference  # nothing is beyond NaN
    outcome, reason = _outcome(condition, time_s / base_s, bounds, limit, clear_of)
    return FailVerdict(condition, outcome, reason, time_s, base_s, *bounds, p_value)


def _outcome(
    condition: FailCondition,
    estimate: float,
    bounds: tuple[float, float],
    limit: float,
    reference: float,
) -> tuple[Outcome, str]:
    """Whether the estimate is beyond the limit, and its bounds beyond the reference."""
    low, high = bounds
    is_beyond = estimate > limit if condition.above else estimate < limit
    is_clear = low > reference if condition.above else high < reference
    may_be_beyond = high > limit if condition.above else low < limit
    if not is_beyond and may_be_beyond:
        return "passed", "not beyond the limit, though noise leaves room for that"
    if not is_beyond:
        return "passed", "not beyond the limit"
    if not is_clear:
        return "passed", "beyond the limit, but not beyond noise"
    return "met", "beyond the limit, and beyond noise"


def _what_is_missing(measured: _Measured) -> str:
    """Why the condition cannot be judged; empty if it can."""
    if not measured.operators:
        return "no operator matches"
    sides = [("", measured.times)]
    if measured.base is not None:
        sides.append((" of the base", measured.base))
    for whose, times in sides:
        known = int((~np.isnan(times)).sum())
        if not known:
            return f"the time{whose} is N/A"
        if known < LEAST_RUNS:
            return f"{known} of the {LEAST_RUNS} {measured.unit}{whose} that it takes"
    if measured.base is not None and not _median(measured.base) > 0:
        return "the time of the base is 0"
    return ""


def _median(times: NDArray[np.float64]) -> float:
    return float(quantile_of_runs(times, 0.5)[0]) if times.shape[1] else np.nan

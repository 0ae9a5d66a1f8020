"""Judges the conditions of `--fail-if`, which set limits for times and for amounts of work."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import numpy as np

from profile_analyze.comparison.formulas import tests_of
from profile_analyze.comparison.intervals import median_interval, ratios_of
from profile_analyze.comparison.row_tests import OperatorTimes, compare_rows
from profile_analyze.comparison.statistics import SIGNIFICANT, adjusted
from profile_analyze.gate.hints import Hint, hint_on, hint_on_runs, reason_unknown
from profile_analyze.gate.sides import damage_of, judges_change, with_doubt
from profile_analyze.gate.verdicts import (
    ByVerdicts,
    outcome_by_verdicts,
    reason_few_for_one_condition,
    reason_too_few,
)
from profile_analyze.gate.work import (
    amounts_of,
    is_beyond,
    left_out_text,
    reason_unjudged,
)
from profile_analyze.model.joining.iterations import required_noun, unit_noun
from profile_analyze.model.numbers import median
from profile_analyze.model.profile import Profile
from profile_analyze.query.run import run
from profile_analyze.query.wall_times import wall_times

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from profile_analyze.comparison.comparison import Comparison
    from profile_analyze.comparison.row_tests import RowTests
    from profile_analyze.gate.conditions import FailCondition
    from profile_analyze.gate.verdicts import Selected
    from profile_analyze.model.findings import Finding
    from profile_analyze.query.question import Query

Outcome: TypeAlias = Literal["met", "uncertain", "passed", "unjudged"]
"""`met`: the value is beyond the limit. `uncertain`: noise may be the reason that the value is
beyond the limit or, with `strict`, that it is within the limit. `passed`: the value is within the
limit. `unjudged`: the data do not suffice for a verdict."""


class FailVerdict(NamedTuple):
    """The verdict on one condition. Times are medians over the runs. NaN is N/A."""

    condition: FailCondition
    outcome: Outcome
    reason: str
    """The reason for the outcome, in words. `finding` and `advice` follow."""
    finding: Finding | None = None
    """What explains the outcome, if it is more than `reason`: a damaged file, missing times, few
    runs, or what a condition without operators probably means."""
    advice: str = ""
    """What to do, after `finding`; may be empty."""
    doubt: Finding | None = None
    """Why the two sides may not belong together; usually None."""
    time_s: float = np.nan
    base_s: float = np.nan
    low: float = np.nan
    """The lower end of the 95 % confidence interval; `high` is the upper end. The interval is of
    the ratio to the baseline, or of the time if the limit is absolute."""
    high: float = np.nan
    relative_ratio: float = np.nan
    """The ratio relative to all other operators, if it is judged instead of the ratio of the
    medians: see `comparison.row_tests`. The interval is then of this ratio."""
    p_value: float = np.nan
    """The p of the permutation test, corrected for the number of conditions."""
    corrected_for: int = 1
    """The number of conditions that p is corrected for: those with a p-value."""
    unit: str = "runs"
    """The plural noun for the units that statistics count: see `iterations.unit_noun`."""
    not_ruled_out: float = np.nan
    """The end of the confidence interval (`high` for `>`, `low` for `<`), if it is beyond the limit
    although the estimate is within the limit. Otherwise NaN."""
    over_pairs: float = np.nan
    """The median ratio over all pairs of a run of the candidate and a run of the baseline. It is
    NaN unless the ratio of the medians is judged and only one of the two is beyond the limit."""
    amount: float = np.nan
    """The value of a metric of work; NaN for metrics of time. `base_amount` is its value in the
    baseline."""
    base_amount: float = np.nan
    selected: Selected | None = None
    """The operators that the condition selects by their verdict; usually None."""


class _Measured(NamedTuple):
    """The measured times for one condition, shape (1, units): one per process or iteration."""

    condition: FailCondition
    times: NDArray[np.float64]
    base: NDArray[np.float64] | None
    tests: RowTests | None
    """How the selected operators changed together; None if the limit is absolute."""
    operators: int
    """How many operators the condition selects; 1 for wall times, which are of whole runs."""
    unit: str
    """See `FailVerdict.unit`."""
    required: str
    """The plural noun for the units that a verdict needs: see `iterations.required_noun`."""
    hint: Hint
    """Advice to append to the reason if the condition does not pass."""
    by_verdicts: ByVerdicts
    """What the verdicts say, if the condition selects operators by their verdict."""


def judge_conditions(
    conditions: Sequence[FailCondition],
    query: Query,
    source: Profile | Comparison,
    *,
    strict: bool = False,
) -> tuple[FailVerdict, ...]:
    """Return the verdict on each condition.

    If `strict` is set and only a part of the confidence interval is within the limit, a condition
    is uncertain instead of passed. If a file is damaged, no condition can be judged. If the two
    sides do not belong together, no condition on a change can be judged: see `Comparison.mismatch`.
    If that is only possible, no condition on a change passes: see `Comparison.doubt`.

    Work is exact: a condition on work is met if the work is beyond the limit. For a time, the
    estimate is the median over the runs. If the limit is relative, the estimate is the ratio of the
    two medians, or the ratio relative to all other operators. `comparison.row_tests` decides which.
    In a comparison, times are as measured, even if drift is corrected.

    If the estimate is beyond the limit, the condition is met, uncertain or, with too few runs for
    so many conditions, unjudged. It is met in two cases:

    - The limit asks for a change, such as `> +5%`; p, corrected for the number of conditions, is at
      most 0.05; and the confidence interval of the ratio excludes 1.
    - The limit is absolute, or demands an improvement, such as `> -3%`; and the whole confidence
      interval is beyond the limit.
    """
    source = source if isinstance(source, Profile) else source.as_measured
    settled = [_verdict_without_times(condition, query, source) for condition in conditions]
    measured = [
        _measure_runs(condition, query, source)
        if condition.is_of_runs
        else _measure(condition, query, source, by_verdicts)
        for condition, (verdict, by_verdicts) in zip(conditions, settled, strict=True)
        if verdict is None
    ]
    of_times = iter(_verdicts_on_times(measured, strict=strict))
    return tuple(with_doubt(verdict or next(of_times), query, source) for verdict, _ in settled)


def _verdicts_on_times(measured: Sequence[_Measured], *, strict: bool) -> list[FailVerdict]:
    p_values = np.array([_p_value(one) for one in measured])
    conditions = int((~np.isnan(p_values)).sum())
    return [
        _verdict(one, float(p), conditions, strict=strict)._replace(
            unit=one.unit, corrected_for=conditions
        )
        for one, p in zip(measured, adjusted(p_values), strict=True)
    ]


def _verdict_without_times(
    condition: FailCondition, query: Query, source: Profile | Comparison
) -> tuple[FailVerdict | None, ByVerdicts]:
    """Return the verdict on a condition, and what the verdicts of its operators say about it.

    The verdict is None if times must be judged.
    """
    found = ByVerdicts()
    if damage := damage_of(source):
        return FailVerdict(condition, "unjudged", "", damage), found
    if not isinstance(source, Profile):
        about = condition.about(query)
        mismatch = source.mismatch
        if mismatch and judges_change(condition, query):
            return FailVerdict(condition, "unjudged", "", doubt=mismatch.finding), found
        found = outcome_by_verdicts(about, source)
        if found.outcome:
            return FailVerdict(condition, found.outcome, found.reason, found.finding), found
    if condition.is_of_work:
        return _verdict_on_work(condition, query, source, found), found
    return None, found


def _verdict_on_work(
    condition: FailCondition, query: Query, source: Profile | Comparison, by_verdicts: ByVerdicts
) -> FailVerdict:
    relative = condition.relative
    about = condition.about(query)
    amounts = amounts_of(condition.metric, about, source, relative=relative)
    beyond = is_beyond(amounts, condition.limit, condition.limit_unit, above=condition.above)
    why_unjudged, hint = reason_unjudged(amounts, condition.metric, relative=relative), Hint()
    if not (amounts.operators or amounts.in_bodies):
        hint = hint_on(condition, run(about, source), source)
    if not (why_unjudged or beyond):
        why_unjudged, hint = by_verdicts.reason, Hint(finding=by_verdicts.finding)
    is_unjudged = bool(why_unjudged or hint.finding)
    outcome: Outcome = "unjudged" if is_unjudged else "met" if beyond else "passed"
    judged = f"{'' if beyond else 'not '}beyond the limit{left_out_text(amounts)}"
    verdict = FailVerdict(
        condition,
        outcome,
        why_unjudged if is_unjudged else judged,
        amount=amounts.ours.value,
        base_amount=amounts.base.value if relative else np.nan,
        selected=None if is_unjudged else by_verdicts.selected,
    )
    return _with_hint(verdict, hint)


def _with_hint(verdict: FailVerdict, hint: Hint) -> FailVerdict:
    reason = f"{verdict.reason}{hint.text}"
    return verdict._replace(reason=reason, finding=hint.finding, advice=hint.advice)


def _measure(
    condition: FailCondition, query: Query, source: Profile | Comparison, by_verdicts: ByVerdicts
) -> _Measured:
    table = run(condition.about(query), source)
    empty = np.empty((1, 0))
    times = table.shown.per_unit("time") if len(table) else empty
    hint = hint_on(condition, table, source)
    profile, comparison = table.shown.profile, table.shown.comparison
    base, sides, tests = None, [profile.runs], None
    if condition.relative and comparison is not None:
        base = table.shown.per_unit("base") if len(table) else empty
        tests = table.shown.of_all_rows(tests_of) if len(table) else None
        sides.append(comparison.base.runs)
    unit, required = unit_noun(query.unit, *sides), required_noun(query.unit, *sides)
    return _Measured(
        condition, times, base, tests, table.matched, unit, required, hint, by_verdicts
    )


def _measure_runs(
    condition: FailCondition, query: Query, source: Profile | Comparison
) -> _Measured:
    """Return the wall times of runs. All runs together form one row."""
    profile, comparison = (
        (source, None) if isinstance(source, Profile) else (source.profile, source)
    )
    times, sides = wall_times(profile, query.unit), [profile.runs]
    of_base = None if comparison is None else wall_times(comparison.base, query.unit)
    base, tests = None, None
    if condition.relative and comparison is not None and of_base is not None:
        both, row = np.append(times, of_base, axis=1), np.zeros(1, np.int64)
        base, tests = of_base, compare_rows(OperatorTimes(both, times.shape[1], row), row, both)
        sides.append(comparison.base.runs)
    unit, required = unit_noun(query.unit, *sides), required_noun(query.unit, *sides)
    hint = hint_on_runs(condition, profile, times, of_base)
    return _Measured(condition, times, base, tests, 1, unit, required, hint, ByVerdicts())


def _p_value(measured: _Measured) -> float:
    # A condition has one row, so no correction for the number of rows is needed.
    return np.nan if measured.tests is None else float(measured.tests.p_values[0])


def _verdict(measured: _Measured, p_value: float, conditions: int, *, strict: bool) -> FailVerdict:
    condition = measured.condition
    time_s = median(measured.times)
    base_s = np.nan if measured.base is None else median(measured.base)
    reason_unjudged = _reason_unjudged(measured)
    if reason_unjudged:
        verdict = FailVerdict(condition, "unjudged", reason_unjudged, time_s=time_s, base_s=base_s)
        return _with_hint(verdict, measured.hint)
    limit = condition.limit
    relative_ratio = np.nan
    if measured.tests is None:
        known = measured.times[0][~np.isnan(measured.times[0])]
        estimate, bounds = time_s, median_interval(known)
    else:
        estimate, bounds = _ratio_with_interval(measured.tests, time_s / base_s)
        relative_ratio = estimate if measured.tests.is_relative[0] else np.nan
        limit = 1 + limit / (base_s if condition.limit_unit == "s more" else 1.0)
    verdict = FailVerdict(
        condition,
        "passed",
        "",
        time_s=time_s,
        base_s=base_s,
        low=bounds[0],
        high=bounds[1],
        relative_ratio=relative_ratio,
        p_value=p_value,
    )
    few = _reason_few(measured, conditions)
    verdict = _decided(verdict, estimate, limit, few, strict=strict)
    if measured.tests is not None:
        over_pairs = float(ratios_of(measured.tests.chosen.estimate)[0])
        if condition.exceeds(over_pairs, limit) != condition.exceeds(estimate, limit):
            verdict = verdict._replace(over_pairs=over_pairs)
        if condition.exceeds(time_s / base_s, limit) != condition.exceeds(estimate, limit):
            verdict = verdict._replace(reason=f"the relative change is {verdict.reason}")
    by_verdicts = measured.by_verdicts
    if verdict.outcome == "passed" and not by_verdicts.may_pass:
        return verdict._replace(
            outcome="unjudged", reason=by_verdicts.reason, finding=by_verdicts.finding
        )
    hint = Hint() if verdict.outcome == "passed" else measured.hint
    return _with_hint(verdict._replace(selected=by_verdicts.selected), hint)


def _ratio_with_interval(tests: RowTests, medians: float) -> tuple[float, tuple[float, float]]:
    """Return the ratio of the chosen test with the ends of its confidence interval.

    `medians` is the ratio of the medians. If the row is tested by its own times, this ratio is the
    estimate, and the interval is widened to include this ratio.
    """
    ratio, low, high = ratios_of(np.array([values[0] for values in tests.chosen])).tolist()
    if tests.is_relative[0]:
        return ratio, (low, high)
    return medians, (min(low, medians), max(high, medians))


def _decided(
    verdict: FailVerdict, estimate: float, limit: float, few: str, *, strict: bool
) -> FailVerdict:
    """Return the verdict with its outcome and the reason. `few` is from `_reason_few`."""
    condition = verdict.condition
    ends = (verdict.low, verdict.high)
    # If `near` is beyond the limit, the whole interval is beyond the limit. If `far` is beyond the
    # limit, at least a part of the interval is.
    near, far = ends if condition.above else reversed(ends)

    if condition.exceeds(estimate, limit):
        # `> +5%` asks whether there is a change at all, so the interval must exclude 1. `> -3%`
        # asks whether an improvement was missed, so the whole interval must be above -3 %.
        is_clear = condition.exceeds(near, 1.0 if condition.asks_for_change else limit)
        doubt = _doubt(verdict, is_clear=is_clear)
        if few and not verdict.p_value <= SIGNIFICANT:
            return verdict._replace(outcome="unjudged", reason=f"beyond the limit, but {few}")
        if doubt:
            reason = f"beyond the limit, but {doubt}, so noise may explain that; take more runs"
            return verdict._replace(outcome="uncertain", reason=reason)
        reason = "beyond the limit, and beyond noise"
        if not condition.exceeds(near, limit):
            change = "slow-down" if condition.above else "speed-up"
            reason = f"beyond the limit; a {change} is beyond noise, but its size is uncertain"
        return verdict._replace(outcome="met", reason=reason)
    if condition.exceeds(far, limit):
        outcome: Outcome = "uncertain" if strict else "passed"
        return verdict._replace(outcome=outcome, reason="within the limit", not_ruled_out=far)
    return verdict._replace(reason="within the limit, and so is the confidence interval")


def _doubt(verdict: FailVerdict, *, is_clear: bool) -> str:
    """Return the reason to doubt that the time is beyond the limit; empty if there is no reason.

    `is_clear` says whether the confidence interval excludes 1, if the condition asks for a change.
    For other conditions, it says whether the whole interval is beyond the limit.
    """
    asks_for_change = verdict.condition.asks_for_change
    if asks_for_change and not verdict.p_value <= SIGNIFICANT:
        other = " (the interval, from another test, excludes 0)" if is_clear else ""
        return f"p is over {SIGNIFICANT}{other}"
    if is_clear:
        return ""
    if np.isnan(verdict.low):
        return "there is no confidence interval"
    if asks_for_change:
        return "the confidence interval, from another test than p, includes 0"
    return "the confidence interval includes values within the limit"


def _reason_unjudged(measured: _Measured) -> str:
    """Return why the condition cannot be judged; empty if it can be."""
    if not measured.operators:
        return "no operator matches"
    runs, base_runs = _known(measured.times), _known(measured.base)
    if 0 in (runs, base_runs):
        return reason_unknown(measured.condition, of_base=runs != 0)
    if too_few := reason_too_few(measured.required, runs or 0, base_runs):
        return too_few
    if measured.base is not None and not median(measured.base) > 0:
        return "the time of the baseline is 0"
    return ""


def _reason_few(measured: _Measured, conditions: int) -> str:
    """Return why the units are too few to show a change for this condition alone; empty if not.

    `conditions` is the number of conditions with a p-value.
    """
    if measured.tests is None or not measured.condition.asks_for_change:
        return ""
    units = _known(measured.times) or 0, _known(measured.base) or 0
    return reason_few_for_one_condition(units, conditions, measured.required)


def _known(times: NDArray[np.float64] | None) -> int | None:
    """Return the number of known times; None if `times` is None."""
    return None if times is None else int((~np.isnan(times)).sum())

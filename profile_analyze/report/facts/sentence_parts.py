"""Parts of sentences: signed numbers, intervals, runs, and the verdicts on `--fail-if`."""

from __future__ import annotations

from functools import partial
from math import isnan
from typing import TYPE_CHECKING, Final

from profile_analyze.columns.wording import without_residue
from profile_analyze.findings.sentences import advice, brief, sentence
from profile_analyze.gate.work import WORK_METRICS
from profile_analyze.query.notes.filters import ON_CONDITION
from profile_analyze.report.layout.times import AUTO, ORIGINAL
from profile_analyze.units import (
    NOT_AVAILABLE,
    counted,
    p_text,
    percent,
    scaled_text,
    short_time,
    three_digits,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from profile_analyze.gate.judge import FailVerdict
    from profile_analyze.gate.verdicts import Selected
    from profile_analyze.report.layout.times import Times
    from profile_analyze.views.baseline import Baseline
    from profile_analyze.views.comparison_summary import Change
    from profile_analyze.views.summary import Summary

OVER_PAIRS: Final = "the median change over all pairs of runs"
"""What the estimate of a change is."""
_OUTCOMES: Final = {
    "met": "FAILED",
    "uncertain": "uncertain",
    "passed": "passed",
    "unjudged": "cannot be judged",
}


def signed(value: float, to_text: Callable[[float], str]) -> str:
    """Return the number as text, with a plus sign if it is positive."""
    text = to_text(value)
    return f"+{text}" if value > 0 and text != NOT_AVAILABLE else text


def signed_percent(fraction: float) -> str:
    """Return a change as a percentage, with a plus sign if it is positive."""
    return signed(without_residue(fraction, "1"), percent)


def signed_time(time_s: float, to_text: Callable[[float], str]) -> str:
    """Return a difference of times as text, with a plus sign if it is positive."""
    return signed(without_residue(time_s, "s"), to_text)


def interval_text(low: str, high: str) -> str:
    """Return a confidence interval as text; empty if an end is N/A."""
    return "" if NOT_AVAILABLE in (low, high) else f"95 %: {low} to {high}"


def known_part(value: float, unit: str, unknown: int) -> str:
    """Return a total as text. `unknown` is the number of operators that the total leaves out."""
    known = NOT_AVAILABLE if isnan(value) else scaled_text(value, unit)
    if not unknown:
        return known
    # A total of 0 would look as if the operators had no work.
    return f"{NOT_AVAILABLE if value == 0 else known}, unknown for {counted(unknown, 'operator')}"


def in_brackets(text: str) -> str:
    """Return `text` in brackets after a blank; empty if `text` is empty or N/A."""
    return f" ({text})" if text and text != NOT_AVAILABLE else ""


def iterations_remark(unit: str) -> str:
    """Return the warning to append to a verdict that counts iterations; empty for other units."""
    return " (counting iterations, which are not independent)" if unit == "iterations" else ""


def runs_and_spread(side: Summary | Baseline, change: Change | None) -> str:
    """Return the runs with their processes and spread, such as `8 in 2 processes (...)`.

    `change` says what counts as one value in a comparison; None without a comparison. Beside a wall
    time, the text says that the spread is of another time.
    """
    runs, processes, copies = side.runs, side.processes, side.copies
    of = "" if runs == processes else f" in {counted(processes, 'process', 'processes')}"
    are_copies = f", {copies} of them {'a copy' if copies == 1 else 'copies'}" if copies else ""
    once = ", each process counts once" if change and change.unit == "processes" else ""
    others = side.runs_without_time
    without_time = f", and {others} more without a device time" if others else ""
    count = f"{runs}{of}{are_copies}{without_time}{once}"
    if isnan(side.spread.value):
        return count
    spread = "spread" if isnan(side.wall_s) else "spread of the device time"
    low, high = (signed_percent(one) for one in (side.spread.low, side.spread.high))
    return f"{count} ({spread}: half within {low} to {high})"


def comparable_times(times: Times) -> Callable[[float], str]:
    """Return how to write times that a sentence compares with each other.

    The original has no such sentences. If times are written as the original writes them, without
    zeros at the end, a time in a sentence has four digits and the unit that suits it: `40.00 ms`.
    With three digits, `182 ms instead of 185 ms` would contradict a change of -1.1%.
    """
    return partial(short_time, digits=4) if times.as_original else times.text


def gate_sentence(verdict: FailVerdict, times: Times = ORIGINAL) -> str:
    """Return the verdict on one condition: the outcome, the condition, and the reason."""
    outcome = _OUTCOMES[verdict.outcome]
    return f"{outcome}: {verdict.condition.text}: {gate_reason(verdict, times)}"


def gate_reason(verdict: FailVerdict, times: Times = ORIGINAL) -> str:
    """Return what was measured for a condition, and the reason for the verdict."""
    to_text = comparable_times(times)
    reason = reason_in_words(verdict, times)
    if verdict.condition.is_of_work:
        measured = _amounts(verdict)
    elif verdict.condition.relative:
        measured, not_ruled_out = _measured_change(verdict, to_text)
        reason += not_ruled_out
    else:
        measured, not_ruled_out = _measured_time(verdict, to_text)
        reason += not_ruled_out
    if verdict.selected:
        measured = _selected(verdict.selected, verdict.condition.metric, measured, to_text)
    return f"{measured}: {reason}" if measured else reason


def reason_in_words(verdict: FailVerdict, times: Times = ORIGINAL) -> str:
    """Return the reason for the verdict, with its findings and advice."""
    reason = verdict.reason
    if verdict.finding is not None:
        code, unit = verdict.finding.code, times.unit if times.is_fixed else AUTO
        is_brief = code in (*ON_CONDITION, "nothing-matches")
        text = (brief if is_brief else sentence)(verdict.finding, unit)
        joint = "; " if code in ON_CONDITION else ": "
        reason = f"{reason}{joint}{text}" if reason else text
    reason += verdict.advice
    if verdict.doubt is None:
        return reason
    return f"{brief(verdict.doubt)}; {reason or advice(verdict.doubt)}"


def _selected(
    selected: Selected, metric: str, measured: str, to_text: Callable[[float], str]
) -> str:
    """Return the operator that changed most, how many others a condition selects, and `measured`.

    `measured` is the metric of all operators that the condition selects by verdict.
    """
    name = f"{selected.name}{in_brackets(selected.detail)}"
    ratio = "" if isnan(selected.ratio) else f", {three_digits(selected.ratio)} times the baseline"
    more = counted(selected.operators - 1, "more operator")
    rest, of = ("", "its") if selected.operators == 1 else (f", and {more}", "together, their")
    amount = f"; {of} {metric.replace('_', ' ')} is {measured}" if measured else ""
    return f"{name} {signed_time(selected.difference_s, to_text)}{ratio}{rest}{amount}"


def _time_with_subject(verdict: FailVerdict, to_text: Callable[[float], str]) -> str:
    """Return the time, and which operators it is of if the line does not say so elsewhere."""
    operators = "" if verdict.selected else verdict.condition.unnamed_operators
    of = f" of {operators}" if operators else ""
    return f"{to_text(verdict.time_s)}{of}{iterations_remark(verdict.unit)}"


def _measured_time(verdict: FailVerdict, to_text: Callable[[float], str]) -> tuple[str, str]:
    """Return the time, and what to add to the reason; two empty texts if the time is N/A."""
    if isnan(verdict.time_s):
        return "", ""
    interval = interval_text(to_text(verdict.low), to_text(verdict.high))
    once = "each process counts once" if verdict.unit == "processes" else ""
    interval = in_brackets(", ".join(filter(None, [once, interval])))
    measured = f"{_time_with_subject(verdict, to_text)}{interval}"
    return measured, _not_ruled_out(verdict, "times", to_text)


def _measured_change(verdict: FailVerdict, to_text: Callable[[float], str]) -> tuple[str, str]:
    """Return the change, and what to add to the reason; two empty texts if the change is N/A."""
    if isnan(verdict.time_s) or not verdict.base_s > 0:
        return "", ""

    def change_text(ratio: float) -> str:
        """Return a change in the unit of the limit."""
        if verdict.condition.limit_unit == "s more":
            return signed_time((ratio - 1) * verdict.base_s, to_text)
        return signed_percent(ratio - 1)

    interval = interval_text(change_text(verdict.low), change_text(verdict.high))
    # p matters only if the change is beyond the limit.
    is_beyond = verdict.outcome in ("met", "uncertain") and isnan(verdict.not_ruled_out)
    has_p = is_beyond and verdict.condition.asks_for_change
    relative = (
        ""
        if isnan(verdict.relative_ratio)
        else f"{change_text(verdict.relative_ratio)} relative to all other operators"
    )
    # The verdict of the summary has another p for the same change: it is not corrected.
    others = f" for {verdict.corrected_for} conditions" if verdict.corrected_for > 1 else ""
    p = f"{p_text(verdict.p_value)}{others}" if has_p else ""
    certainty = ", ".join(filter(None, (relative, interval, p)))
    change = change_text(verdict.time_s / verdict.base_s) + in_brackets(certainty)
    measured = _time_with_subject(verdict, to_text)
    return (
        f"{change}, {measured} against {to_text(verdict.base_s)} of the baseline",
        _not_ruled_out(verdict, "changes", change_text) or _within_over_pairs(verdict, change_text),
    )


def _not_ruled_out(verdict: FailVerdict, noun: str, to_text: Callable[[float], str]) -> str:
    """Return what to add to the reason if the confidence interval extends beyond the limit."""
    if isnan(verdict.not_ruled_out):
        return ""
    end = to_text(verdict.not_ruled_out)
    up_to = f"{'up' if verdict.condition.above else 'down'} to {end}"
    if end == NOT_AVAILABLE:  # the end of the interval is infinite
        up_to = "of any size"
    of_pairs = option = ""
    if not isnan(verdict.over_pairs):
        change = to_text(verdict.over_pairs)
        of_pairs = f"a better estimate, {change} ({OVER_PAIRS}), is beyond it; "
        option = (
            "; --fail-uncertain not-ruled-out makes this uncertain"
            if verdict.outcome == "passed"
            else ""
        )
    return f", but {of_pairs}{noun} {up_to} are not ruled out; take more runs{option}"


def _within_over_pairs(verdict: FailVerdict, to_text: Callable[[float], str]) -> str:
    """Return what to add to the reason if only the ratio of the medians is beyond the limit."""
    if isnan(verdict.over_pairs):
        return ""
    estimate = f"{to_text(verdict.over_pairs)} ({OVER_PAIRS})"
    decides = ", but the medians decide" if verdict.outcome == "met" else ""
    return f"; a better estimate, {estimate}, is within the limit{decides}"


def _amounts(verdict: FailVerdict) -> str:
    """Return the amount of work that a condition limits; empty if it is N/A or not judged."""
    if verdict.outcome == "unjudged" or isnan(verdict.amount):
        return ""
    unit = WORK_METRICS[verdict.condition.metric]
    amount, base = (scaled_text(value, unit) for value in (verdict.amount, verdict.base_amount))
    of_base = f" against {base} of the baseline" if verdict.condition.relative else ""
    return f"{amount}{of_base}"

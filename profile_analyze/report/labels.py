"""What rows, tables and totals are called."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING, Final

from profile_analyze.model.comparison import ADDED, REMOVED
from profile_analyze.model.visible import visible
from profile_analyze.units import (
    NOT_AVAILABLE,
    counted,
    decimal_rate,
    percent,
    scaled,
    seconds,
    seconds_fixed,
    six_digits,
    three_digits,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from profile_analyze.query.change import Change, Contribution
    from profile_analyze.query.gate import FailVerdict
    from profile_analyze.query.judgement import Judgement, Winner
    from profile_analyze.query.result import Result
    from profile_analyze.query.summary import Summary

ALL = "all"
"""The label of the one group that everything is in."""


def time_title(result: Result) -> str:
    """What kind of time a table is about: `device self time`, `host wait time`."""
    kind = "self" if result.query.end_key == "end" else "wait"
    return f"{result.query.side} {kind} time"


def row_labels(result: Result) -> list[tuple[str, ...]]:
    """For each row what tells it from others: name, type and id, or its keys, count and N/A."""
    if not result.query.grouped:
        return [
            (name, type_, str(id_))
            for name, type_, id_ in zip(
                result["name"], result["type"], result["id"].tolist(), strict=True
            )
        ]
    keys = [result.key_texts(key) for key in result.query.by] or [[ALL] * len(result)]
    counts = map(str, result["count"].tolist())
    return list(zip(*keys, counts, [NOT_AVAILABLE] * len(result), strict=True))


def label_in_one(label: tuple[str, ...]) -> tuple[str, str, str]:
    """A label of `row_labels` with all keys in one text."""
    *keys, second, third = label
    return ", ".join(keys), second, third


def summary_lines(summary: Summary) -> list[tuple[str, str]]:
    """The totals, each with what it is called."""
    lines = [
        ("total device time", six_digits(summary.device_time_s)),
        ("total host time", six_digits(summary.host_time_s)),
    ]
    if summary.copy is not None:
        copy = summary.copy
        lines += [
            ("copy time", _total_and_mean(copy.total_s, copy.mean_s)),
            ("copy wait time", _total_and_mean(copy.wait_total_s, copy.wait_mean_s)),
        ]
    if summary.runs > 1 or summary.change is not None:
        lines += _run_lines(summary)
    if summary.change is not None:
        lines += _change_lines(summary.change)
    if summary.judgement is not None:
        lines += _judgement_lines(summary.judgement)
    return lines


def _run_lines(summary: Summary) -> list[tuple[str, str]]:
    return [("runs", _runs(summary.runs, summary.spread))]


def _runs(count: int, spread: float) -> str:
    return str(count) if isnan(spread) else f"{count}, which spread by {percent(spread)}"


def _change_lines(change: Change) -> list[tuple[str, str]]:
    ratio = three_digits(change.ratio)
    difference = _signed_seconds(change.difference_s)
    between = _between(three_digits(change.low), three_digits(change.high))
    return [
        ("base device time", six_digits(change.base_time_s)),
        ("base runs", _runs(change.base_runs, change.base_spread)),
        ("difference", difference + _in_brackets(_signed(change.change, percent))),
        ("ratio", ratio + _in_brackets(between)),
        ("verdict", change.verdict or (_HIDDEN if change.drift_corrected else NOT_AVAILABLE)),
    ]


def _signed_seconds(value: float) -> str:
    return _with_unit(_signed(value, seconds))


def _seconds(value: float) -> str:
    return _with_unit(seconds(value))


def _with_unit(text: str) -> str:
    return text if text == NOT_AVAILABLE else f"{text} s"


def _signed(value: float, writer: Callable[[float], str]) -> str:
    return f"+{writer(value)}" if value > 0 else writer(value)


def _between(low: str, high: str) -> str:
    return "" if NOT_AVAILABLE in (low, high) else f"95 %: {low} to {high}"


def _in_brackets(text: str) -> str:
    return f" ({text})" if text and text != NOT_AVAILABLE else ""


def summary_sentences(summary: Summary) -> list[str]:
    """In words what changed, what covers the judgement, and which groups would win most."""
    change = [] if summary.change is None else _change_sentences(summary, summary.change)
    return [*change, *_judgement_sentences(summary)]


_HIDDEN: Final = f"{NOT_AVAILABLE} (drift is corrected)"

_IN_WORDS: Final = {
    "slower": "slower than the base",
    "faster": "faster than the base",
    "same": "the same as the base, within the threshold",
    "uncertain": "noise hides whether it differs from the base",
    ADDED: "the base has none of these operators",
    REMOVED: "the profile has none of the operators of the base",
    None: "no verdict",
}


def _change_sentences(summary: Summary, change: Change) -> list[str]:
    """What changed, and which groups explain how much of it."""
    if isnan(change.difference_s):
        return []
    lines = [
        f"{_IN_WORDS[change.verdict]}: {_seconds(summary.device_time_s)} instead of "
        f"{_seconds(change.base_time_s)}, {_signed(change.change, percent)}"
    ]
    told = [one for one in change.contributions if one.verdict not in ("same", "uncertain")]
    # of a difference that is more than noise, and where no part is larger than the whole
    with_shares = change.verdict in ("slower", "faster", None) and all(
        0 <= one.share <= 1 for one in told
    )
    largest = "; ".join(_contribution(one, with_share=with_shares) for one in told)
    by = visible(", ".join(change.by), "utf-8")
    called = [
        f"{one.verdict}: {visible(one.label, 'utf-8')} {_signed_seconds(one.difference_s)}, "
        f"{three_digits(one.ratio)} times the base"
        for one in change.called
    ]
    return [
        *lines,
        *([f"largest differences by {by}: {largest}"] if told else []),
        *called,
        *_counts(change),
    ]


def _counts(change: Change) -> list[str]:
    """How many rows have each verdict, where some have one."""
    if not set(dict(change.verdicts)) - {NOT_AVAILABLE}:
        return []
    count_of_all = sum(count for _, count in change.verdicts)
    rows = (
        counted(count_of_all, "group")
        if change.of_groups
        else f"{counted(count_of_all, 'operator')} with a time"
    )
    return [f"{rows}: {', '.join(f'{count} {word}' for word, count in change.verdicts)}"]


def _contribution(one: Contribution, *, with_share: bool) -> str:
    """One group's part of the difference."""
    share = f", {percent(one.share)} of the difference" if with_share else ""
    difference = f"{visible(one.label, 'utf-8')} {_signed_seconds(one.difference_s)}"
    return difference + share + _in_brackets(one.verdict or "")


def gate_sentence(verdict: FailVerdict) -> str:
    """What became of one condition: what was measured, and why."""
    what = {"met": "FAILED", "passed": "not met", "unjudged": "not judged"}[verdict.outcome]
    return f"{what}: {visible(verdict.condition.text, 'utf-8')}: {gate_reason(verdict)}"


def gate_text(verdicts: Iterable[FailVerdict]) -> str:
    """A line for each condition."""
    return "\n".join(map(gate_sentence, verdicts))


def gate_reason(verdict: FailVerdict) -> str:
    """What was measured of one condition, and why it is judged so."""
    if verdict.outcome == "unjudged":
        return verdict.reason
    measured = f"{seconds(verdict.time_s)} s"
    if not verdict.condition.relative:
        between = _between(seconds(verdict.low), seconds(verdict.high))
        return f"{measured}{_in_brackets(between)}, {verdict.reason}"
    change = verdict.time_s / verdict.base_s - 1
    between = _between(*(_signed(end - 1, percent) for end in (verdict.low, verdict.high)))
    against = f"{measured} against {seconds(verdict.base_s)} s of the base"
    return f"{_signed(change, percent)}{_in_brackets(between)}, {against}: {verdict.reason}"


def _judgement_lines(judgement: Judgement) -> list[tuple[str, str]]:
    from profile_analyze.analysis.peaks import ANY_DTYPE

    peaks = judgement.peaks
    lines = [("peaks", f"{visible(peaks.name, 'utf-8')}, {decimal_rate(peaks.bandwidth)}")]
    for dtype, rate, share in judgement.rates:
        of = "" if dtype == ANY_DTYPE else f" {dtype}"
        ridge = f"{three_digits(peaks.ridge(dtype))} FLO/byte"
        text = f"{' '.join(scaled(rate, 'FLO/s'))}, from {ridge} on; {percent(share)} of the time"
        lines.append((f"roof{of}", text))
    lost = judgement.lost_s
    return [
        *lines,
        ("covered by footprints", percent(judgement.covered)),
        ("judged", percent(judgement.judged)),
        ("efficiency of that", percent(judgement.efficiency)),
        ("lost", seconds(lost) if isnan(lost) else f"{seconds(lost)} s"),
    ]


def _judgement_sentences(summary: Summary) -> list[str]:
    judgement = summary.judgement
    if judgement is None:
        return []
    without = ", ".join(f"{name} {percent(share)}" for name, share in judgement.without_footprint)
    lines = [f"peaks: {visible(judgement.peaks.source, 'utf-8')}"]
    if without:
        lines.append(f"most time without a footprint: {visible(without, 'utf-8')}")
    return lines + [
        f"{winner.operators} {visible(winner.label, 'utf-8')}{_of_which(winner)}, "
        f"{percent(winner.share)} of the time, run at "
        f"{percent(winner.efficiency)} of the roof: at the roof the model takes "
        f"{seconds(winner.total_s)} s instead of {seconds(summary.device_time_s)} s, "
        f"{winner.gain:.2f} times as fast"
        for winner in judgement.winners
    ]


def _of_which(winner: Winner) -> str:
    return "" if winner.judged == winner.operators else f" ({winner.judged} of them judged)"


def _total_and_mean(total_s: float, mean_s: float) -> str:
    total, mean = seconds_fixed(total_s), seconds_fixed(mean_s)
    return NOT_AVAILABLE if NOT_AVAILABLE in (total, mean) else f"tot={total} avg={mean}"

"""What rows, tables and totals are called."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING

from profile_analyze.model.visible import visible
from profile_analyze.query.catalog import PARAMETER
from profile_analyze.units import (
    NOT_AVAILABLE,
    decimal_rate,
    percent,
    scaled,
    seconds,
    seconds_fixed,
    six_digits,
    three_digits,
)

if TYPE_CHECKING:
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
    keys = [_key_texts(result, key) for key in result.query.by] or [[ALL] * len(result)]
    counts = map(str, result["count"].tolist())
    return list(zip(*keys, counts, [NOT_AVAILABLE] * len(result), strict=True))


def _key_texts(result: Result, key: str) -> list[str]:
    """The values of a key; those of a parameter, which say little alone, with its name."""
    texts = result.texts(key)
    name = key.removeprefix(PARAMETER)
    return texts if name == key else [f"{name}={text}" for text in texts]


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
    if summary.judgement is not None:
        lines += _judgement_lines(summary.judgement)
    return lines


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


def judgement_sentences(summary: Summary) -> list[str]:
    """In words what covers the judgement, and which groups would win most."""
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

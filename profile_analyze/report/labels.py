"""What rows, tables and totals are called."""

from __future__ import annotations

from typing import TYPE_CHECKING

from profile_analyze.units import NOT_AVAILABLE, seconds_fixed, six_digits

if TYPE_CHECKING:
    from profile_analyze.query.result import Result
    from profile_analyze.query.summary import Summary

ALL = "all"
"""The label of the one group that everything is in."""


def time_title(result: Result) -> str:
    """What kind of time a table is about: `device self time`, `host wait time`."""
    kind = "self" if result.query.end_key == "end" else "wait"
    return f"{result.query.side} {kind} time"


def row_labels(result: Result) -> list[tuple[str, str, str]]:
    """For each row what tells it from others: name, type and id, or type, count and N/A."""
    if not result.query.grouped:
        return [
            (name, type_, str(id_))
            for name, type_, id_ in zip(
                result["name"], result["type"], result["id"].tolist(), strict=True
            )
        ]
    keys = zip(*map(result.texts, result.query.by), strict=True)
    labels = map(", ".join, keys) if result.query.by else [ALL] * len(result)
    return [
        (label, str(count), NOT_AVAILABLE)
        for label, count in zip(labels, result["count"].tolist(), strict=True)
    ]


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
    return lines


def _total_and_mean(total_s: float, mean_s: float) -> str:
    total, mean = seconds_fixed(total_s), seconds_fixed(mean_s)
    return NOT_AVAILABLE if NOT_AVAILABLE in (total, mean) else f"tot={total} avg={mean}"

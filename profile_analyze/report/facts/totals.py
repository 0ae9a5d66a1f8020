"""Facts on the totals: the times, work, copies and runs of all operators."""

from __future__ import annotations

from math import isclose, isnan
from typing import TYPE_CHECKING, Final

from profile_analyze.model.findings import Finding, Kind
from profile_analyze.model.terms import DEVICE, HOST, KERNEL, MODULE
from profile_analyze.query.run_times import LEAST_WAITS
from profile_analyze.report.facts.facts import COUNT, Fact, FactGroup
from profile_analyze.report.facts.sentence_parts import in_brackets, known_part, runs_and_spread
from profile_analyze.units import NOT_AVAILABLE, counted, percent

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from profile_analyze.report.layout.times import Times
    from profile_analyze.views.summary import Summary

_SHORTEST_SHOWN_S: Final = 0.5e-4
"""The original's format shows shorter copy times as 0.0000."""
_ROWS_OF_LEVELS: Final[Mapping[str | None, str]] = {
    MODULE: "modules and regions",
    KERNEL: "kernels",
}
"""What the rows of a level are called, if they are not called operators."""
_CLOSE: Final = 0.1
"""Times that differ by at most this share of the longer one are about the same."""


def _host_time_text(summary: Summary, times: Times) -> str:
    waits = ""
    if summary.thread_wait_s > 0 and summary.thread_wait_s >= LEAST_WAITS * summary.host_time_s:
        waits = f"waiting: {times.total(summary.thread_wait_s)}"
    return _total_text(summary, summary.host_time_s, times, waits)


def _device_time_text(summary: Summary, times: Times) -> str:
    return _total_text(summary, summary.device_time_s, times)


def _total_text(summary: Summary, total_s: float, times: Times, part: str = "") -> str:
    """Return a total time as text, of how many runs it is, and `part`; empty for a model."""
    if not summary.has_times:
        return ""
    each = summary.runs_per_total
    # Files may have different numbers of runs.
    of_runs = f"of {counted(int(each), 'run') if each.is_integer() else 'several runs'}"
    remarks = (of_runs if each > 1 and not isnan(total_s) else "", part)
    return times.total(total_s) + in_brackets(", ".join(filter(None, remarks)))


def _wall_text(summary: Summary, times: Times) -> str:
    if isnan(summary.wall_s):
        return ""
    wall = times.total(summary.wall_s)
    if summary.measured_apart:
        return f"{wall} (operators take longer: measured one by one, or in other runs)"
    if summary.ran_outside:
        return f"{wall} (operators take longer: some ran before or after it)"
    if isnan(summary.outside_s):
        return wall
    share, rest = percent(summary.explained), times.total(summary.outside_s)
    rows = _ROWS_OF_LEVELS.get(summary.level, "operators")
    parts = f"{rows}: {share}, outside of them: {rest}"
    if summary.explained_on == HOST:
        waits = "waiting or " if summary.thread_wait_s > 0 else ""
        parts = f"{rows} on the host: {share}, {waits}outside of them: {rest}"
        if summary.busy_s <= summary.wall_s:  # false if unknown
            idle_s = summary.wall_s - summary.busy_s
            busy = percent(summary.busy_s / summary.wall_s)
            parts = f"{_busy_text(summary, busy, times.total(idle_s))}; {parts}"
    if summary.explained_on == DEVICE:
        parts = _busy_text(summary, share, rest)
    return f"{wall} ({_in_such_a_run(summary)}{parts})"


def _busy_text(summary: Summary, share: str, idle: str) -> str:
    which = "device" if summary.devices == 1 else "busiest device"
    return f"{which} busy: {share}, idle: {idle}"


def _in_such_a_run(summary: Summary) -> str:
    """Return `in such a run, ` if both totals are far from the operators' time in the typical run.

    The totals and the typical run are then of very different runs: see `TypicalRun`. Totals that
    add up several runs differ for another reason, and say so themselves. The time in which the
    device worked is not a total of operators.
    """
    if summary.runs_per_total > 1 or (summary.explained_on == DEVICE and summary.busy_s > 0):
        return ""
    inside_s = summary.wall_s - summary.outside_s
    waits_s = 0.0 if isnan(summary.thread_wait_s) else summary.thread_wait_s
    totals_s = (summary.device_time_s, summary.host_time_s - waits_s)
    is_close = any(isclose(inside_s, total_s, rel_tol=_CLOSE) for total_s in totals_s)
    return "" if is_close else "in such a run, "


def _work_text(summary: Summary, amount: float, unit: str, unknown: int | None) -> str:
    """Return the amount as text; empty for a profile with times.

    For a model, `unknown` is the number of operators whose amount is unknown.
    """
    # For a profile with times, the original has no lines on work.
    return "" if summary.has_times else known_part(amount, unit, unknown or 0)


def _memory_text(summary: Summary, _: Times) -> str:
    """Return the memory as text; empty for a model with a baseline.

    `model_texts.memory_text` shows the memory of such a model.
    """
    model = summary.model
    if model is not None and model.base is not None:
        return ""
    return _work_text(summary, summary.memory, "byte", model and model.unknown_memory)


def _copy_text(summary: Summary, times: Times) -> str:
    copy = summary.copy
    return "" if copy is None else _total_and_mean(copy.total_s, copy.mean_s, times)


def notes_on_copy_time(summary: Summary) -> Iterator[Finding]:
    """Yield a note if the original's format would show a copy time above 0 as 0."""
    copy = summary.copy
    if copy is not None and 0 < copy.total_s < _SHORTEST_SHOWN_S:
        yield Finding.of("short-copy-time", Kind.CONTEXT, copy_s=copy.total_s)


def _copy_wait_text(summary: Summary, times: Times) -> str:
    copy = summary.copy
    return "" if copy is None else _total_and_mean(copy.wait_total_s, copy.wait_mean_s, times)


def _total_and_mean(total_s: float, mean_s: float, times: Times) -> str:
    total, mean = times.copy_time(total_s), times.copy_time(mean_s)
    return NOT_AVAILABLE if NOT_AVAILABLE in (total, mean) else f"tot={total} avg={mean}"


def _runs_text(summary: Summary, _: Times) -> str:
    # In a comparison, even a single run gets a line.
    if summary.runs + summary.runs_without_time == 1 and summary.change is None:
        return ""
    runs = runs_and_spread(summary, summary.change)
    unlike = f"; these look like {summary.unlike}, so the totals make no sense"
    return runs + unlike if summary.unlike else runs


GROUP: Final = FactGroup(
    "totals",
    "Totals over all operators, regardless of filters; null if not asked for.",
    (
        Fact(
            "device_time_s",
            "The device time of all operators.",
            lambda summary: summary.device_time_s,
            label="total device time",
            text=_device_time_text,
        ),
        Fact(
            "host_time_s",
            "The host time of all operators.",
            lambda summary: summary.host_time_s,
            label="total host time",
            text=_host_time_text,
        ),
        Fact(
            "thread_wait_s",
            "How much of the host time is only waiting, for the device or for other threads; null "
            "if the file does not say.",
            lambda summary: summary.thread_wait_s,
            shown_with="host_time_s",
        ),
        Fact(
            "wall_time_s",
            "The time from the start of a run to its end; null if the file does not say.",
            lambda summary: summary.wall_s,
            label="wall time of a run",
            text=_wall_text,
        ),
        Fact(
            "outside_operators_s",
            "How much of the wall time is outside of operators on the host, or without work of the "
            "device (`explained_on` says which); null if operators may have run at the same time.",
            lambda summary: summary.outside_s,
            shown_with="wall_time_s",
        ),
        Fact(
            "explained",
            "The rest of the wall time, as a share of it.",
            lambda summary: summary.explained,
            shown_with="wall_time_s",
        ),
        Fact(
            "explained_on",
            "What `explained` is a share of the wall time of: the times of operators on the host "
            "without waits, or the time in which the busiest device worked. Null if `explained` is "
            "null, if the profile has times on one side only, or if its runs differ.",
            lambda summary: summary.explained_on,
            {"enum": [HOST, DEVICE, None]},
            shown_with="wall_time_s",
        ),
        Fact(
            "computation_flo",
            "The floating-point operations of all operators in a run, as far as they are known. In "
            "a model that has not run, operators in bodies are left out.",
            lambda summary: summary.computation,
            label="total computation",
            text=lambda summary, _: _work_text(
                summary,
                summary.computation,
                "FLO",
                summary.model and summary.model.unknown_computation,
            ),
        ),
        Fact(
            "memory_bytes",
            "The bytes that all operators in a run read and write, as far as they are known. In a "
            "model that has not run, operators in bodies are left out.",
            lambda summary: summary.memory,
            label="total memory traffic",
            text=_memory_text,
        ),
        Fact(
            "copy_time_s",
            "The time of copies between devices; null without --copy-time.",
            lambda summary: summary.copy and summary.copy.total_s,
            label="copy time",
            text=_copy_text,
        ),
        Fact(
            "copy_time_mean_s",
            "The mean time of a copy between devices.",
            lambda summary: summary.copy and summary.copy.mean_s,
            shown_with="copy_time_s",
        ),
        Fact(
            "copy_wait_time_s",
            "How long copies between devices waited for their first kernel.",
            lambda summary: summary.copy and summary.copy.wait_total_s,
            label="copy wait time",
            text=_copy_wait_text,
        ),
        Fact(
            "copy_wait_time_mean_s",
            "The mean time that a copy between devices waited for its first kernel.",
            lambda summary: summary.copy and summary.copy.wait_mean_s,
            shown_with="copy_wait_time_s",
        ),
        Fact(
            "runs",
            "The number of runs in the totals.",
            lambda summary: summary.runs,
            COUNT,
            label="runs",
            text=_runs_text,
        ),
        Fact(
            "spread",
            "The spread of the device time: half its interquartile range divided by its median; "
            "null with one run.",
            lambda summary: summary.spread.value,
            shown_with="runs",
        ),
    ),
    pages=dict.fromkeys(("waiting", "device busy", "idle"), "docs/reading.md"),
)

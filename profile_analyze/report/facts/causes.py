"""Facts on the causes of a change: the work of both sides, and the parts of the difference."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Any, Final

from profile_analyze.comparison.compared_work import WORK_TOLERANCE
from profile_analyze.query.change_causes import CAUSES, PER_WORK, RESIDUAL, UNKNOWN_WORK
from profile_analyze.report.facts.facts import (
    DETAIL,
    NUMBER,
    TEXT,
    Fact,
    list_schema,
    object_schema,
)
from profile_analyze.report.facts.sentence_parts import in_brackets, signed_percent
from profile_analyze.units import counted, percent, scaled_text, three_digits

if TYPE_CHECKING:
    from collections.abc import Iterator

    from profile_analyze.query.change_causes import Cause, WorkChange
    from profile_analyze.report.layout.times import Times
    from profile_analyze.views.comparison_summary import Change
    from profile_analyze.views.summary import Summary

_RATES: Final = {"computation": ("FLO", "FLOPS"), "memory": ("byte", "bandwidth")}
"""For each kind of work, its unit, and the name of the work divided by the time."""

_LEAST_SHOWN: Final = 0.001
"""Sentences leave out parts of the difference below this share of the largest part. They mention
operators of unknown work only if these take at least this share of the time."""
_LEAST_RESIDUAL: Final = 0.01
"""A residual below this share of the baseline's time is not worth a sentence on causes."""


def _change(summary: Summary) -> Change:
    assert summary.change is not None, "nothing was compared"
    return summary.change


def _work_sentence(summary: Summary, _: Times) -> Iterator[str]:
    """Yield a sentence on how the work changed; nothing if the work is unchanged or unknown."""
    change = _change(summary)
    work = change.work
    if work.compared_work is None or _is_same(work.work_ratio):
        return
    unit, rate = _RATES[work.compared_work]
    ours, base = (
        (work.computation, work.base_computation)
        if work.compared_work == "computation"
        else (work.memory, work.base_memory)
    )
    share = percent(work.left_out_share)
    left_out = f", unknown for {counted(work.left_out, 'operator')} with {share} of the time"
    work_text = (
        f"{work.compared_work} {signed_percent(work.work_ratio - 1)}"
        f" ({scaled_text(base, unit)} to {scaled_text(ours, unit)}"
        f"{left_out if work.left_out_share >= _LEAST_SHOWN else ''})"
    )
    if not work.ratio_per_work > 0:  # unknown, or the profile takes no time
        yield work_text
    else:
        yield (
            f"{work_text}, time {signed_percent(change.change)}: "
            f"{three_digits(1 / work.ratio_per_work)} times the {rate}"
        )


def _is_same(work_ratio: float) -> bool:
    """Return whether the work is the same within the tolerance, or unknown."""
    larger = max(work_ratio, 1 / work_ratio) if work_ratio else inf
    return not larger > 1 + WORK_TOLERANCE


def _causes_sentence(summary: Summary, times: Times) -> Iterator[str]:
    """Yield a sentence with the parts of the difference; nothing if all of them are ordinary."""
    change = _change(summary)
    largest_s = max((abs(one.difference_s) for one in change.causes), default=0.0)
    causes = [one for one in change.causes if abs(one.difference_s) >= _LEAST_SHOWN * largest_s]
    if all(_is_ordinary(one, change.base.time_s) for one in causes):
        return
    yield f"difference by cause: {', '.join(_cause_text(one, times) for one in causes)}"


def _is_ordinary(cause: Cause, base_time_s: float) -> bool:
    """Return whether a cause is to be expected if nothing but the speed changed."""
    if cause.cause == RESIDUAL:
        return abs(cause.difference_s) < _LEAST_RESIDUAL * base_time_s
    return cause.cause in (PER_WORK, UNKNOWN_WORK)


def _cause_text(cause: Cause, times: Times) -> str:
    text = f"{cause.cause} {times.text(cause.difference_s, signed=True)}"
    if cause.cause == RESIDUAL:
        return f"{text} ({cause.remark})"
    first = cause.largest[0]
    name = f"{first.name}{in_brackets(first.detail)}"
    if cause.operators == 1:
        return f"{text}{in_brackets(name)}"
    largest = f"{name} {times.text(first.difference_s, signed=True)}"
    return f"{text} ({cause.operators} operators, the largest {largest})"


def _work_record(work: WorkChange) -> dict[str, Any]:
    return {
        "computation_flo": work.computation,
        "base_computation_flo": work.base_computation,
        "memory_bytes": work.memory,
        "base_memory_bytes": work.base_memory,
        "compared_work": work.compared_work,
        "work_ratio": work.work_ratio,
        "ratio_per_work": work.ratio_per_work,
        "left_out": work.left_out,
        "left_out_share": work.left_out_share,
    }


def _cause_record(cause: Cause) -> dict[str, Any]:
    return {
        "cause": cause.cause,
        "difference_s": cause.difference_s,
        "operators": cause.operators,
        "largest": [one._asdict() for one in cause.largest],
    }


FACTS: Final = (
    Fact(
        "work",
        "The work of all operators in a run, on both sides. Operators of unknown work are left "
        "out; if they take over 5 % of the time, the work is null.",
        lambda summary: _work_record(_change(summary).work),
        object_schema(
            {
                "computation_flo": NUMBER,
                "base_computation_flo": NUMBER,
                "memory_bytes": NUMBER,
                "base_memory_bytes": NUMBER,
                "compared_work": {
                    "description": "The work that work_ratio compares.",
                    "enum": ["computation", "memory", None],
                },
                "work_ratio": {"description": "The work / the baseline's work.", **NUMBER},
                "ratio_per_work": {"description": "ratio / work_ratio.", **NUMBER},
                "left_out": {
                    "description": "How many operators have unknown work.",
                    "type": "integer",
                    "minimum": 0,
                },
                "left_out_share": {
                    "description": "The share of the device time that these operators take.",
                    **NUMBER,
                },
            }
        ),
        sentences=_work_sentence,
    ),
    Fact(
        "causes",
        "The parts of the difference. They add up to the whole difference.",
        lambda summary: list(map(_cause_record, _change(summary).causes)),
        list_schema(
            {
                "cause": {"enum": list(CAUSES)},
                "difference_s": {"type": "number"},
                "operators": {"type": "integer", "minimum": 0},
                "largest": list_schema(
                    {"name": TEXT, "detail": DETAIL, "difference_s": {"type": "number"}}
                ),
            }
        ),
        sentences=_causes_sentence,
    ),
)
"""The facts on causes. They are entries of the group `comparison`."""

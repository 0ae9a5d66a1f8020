"""Facts on the roofline: how all operators compare with the peak rates of a device."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING, Any, Final

from profile_analyze.model.terms import DEVICE_KINDS
from profile_analyze.report.facts.facts import (
    INTEGER,
    NUMBER,
    TEXT,
    Fact,
    FactGroup,
    list_schema,
    object_schema,
)
from profile_analyze.report.facts.roofline_sentences import (
    dtype_sentences,
    judgement_of,
    misfit,
    peaks_sentences,
    winner_sentences,
)
from profile_analyze.report.formats.programs import peaks_record
from profile_analyze.roofline.peaks import ANY_DTYPE, AS_GIVEN
from profile_analyze.units import (
    counted,
    decimal_rate,
    percent,
    scaled,
    small_percent,
    three_digits,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from profile_analyze.report.layout.times import Times
    from profile_analyze.report.sections import Line
    from profile_analyze.views.judgement import Winner
    from profile_analyze.views.summary import Summary

_LEAST_SHARE: Final = 0.0005
"""Roofs and types get no text if they are about a smaller share of the time, which would be shown
as 0.0%. JSON has them all."""


def roofline_caption(summary: Summary) -> str:
    """Return a caption that sums up the roofline of all operators; empty without peaks."""
    judgement = summary.judgement
    if judgement is None:
        return ""
    if reason := misfit(judgement):
        return f"{reason[0].upper()}{reason[1:]}, so distances from the roof mean nothing."
    judged = percent(judgement.judged)
    which = "the operators" if judged == percent(1) else "the judged operators"
    return (
        f"At the roof, {which} would take {small_percent(judgement.efficiency)} of their time. "
        f"Judged: {judged} of the time. "
        f"Unknown memory: {percent(1 - judgement.memory_known)}."
    )


def _peaks_text(summary: Summary, _: Times) -> str:
    peaks = judgement_of(summary).peaks
    name = peaks.name
    # If the user gave two rates, the name of the peaks already has the bandwidth.
    return name if peaks.source == AS_GIVEN else f"{name}, {decimal_rate(peaks.bandwidth)}"


def _roof_lines(summary: Summary, _: Times) -> Iterator[Line]:
    judgement = judgement_of(summary)
    # Without times, shares are N/A, and all roofs are shown.
    large = [one for one in judgement.rates if not one[2] < _LEAST_SHARE]
    rates = large or judgement.rates
    for dtype, rate, share in rates:
        # With a single roof, the fact `judged` already says which share of the time is judged.
        has_share = summary.has_times and len(rates) > 1
        judges = f"the operators that it judges take {percent(share)} of the time"
        if isnan(rate):  # no rate is known, so the judged operators of this dtype only move data
            if has_share:
                yield "bandwidth alone", judges
            continue
        # If the user gave two rates, these apply to every dtype, so the roof needs no name.
        suffix = "" if dtype == ANY_DTYPE else f" {dtype}"
        ridge = f"{three_digits(judgement.peaks.ridge(dtype))} FLO/byte"
        text = f"{' '.join(scaled(rate, 'FLO/s'))}, at {ridge} or more"
        yield f"roof{suffix}", f"{text}; {judges}" if has_share else text


def _if_timed(text: Callable[[Summary, Times], str]) -> Callable[[Summary, Times], str]:
    """Return a function like `text` whose result is empty for a profile without times."""
    return lambda summary, times: text(summary, times) if summary.has_times else ""


def _if_fitting(text: Callable[[Summary, Times], str]) -> Callable[[Summary, Times], str]:
    """Return a function like `_if_timed(text)` whose result is also empty for a `misfit`."""
    timed = _if_timed(text)
    return lambda summary, times: "" if misfit(judgement_of(summary)) else timed(summary, times)


def least_text(summary: Summary, times: Times) -> str:
    """Return the least possible time of a model that has not run; empty for recorded runs."""
    judgement = judgement_of(summary)
    if summary.has_times:
        return ""
    if judgement.without_least:
        unknown = f"unknown for {counted(judgement.without_least, 'operator')}"
        return f"{times.text(judgement.least_s)}, {unknown}"
    return f"{times.text(judgement.least_s)}, each operator on its own"


def _types_of_unknown_memory(summary: Summary, _: Times) -> Iterator[str]:
    types = [
        f"{name} {percent(share)}"
        for name, share in judgement_of(summary).memory_unknown
        if share >= _LEAST_SHARE
    ]
    if types:
        listed = ", ".join(types)
        yield f"operators of unknown memory take the most time in these types: {listed}"


def _winner_record(winner: Winner) -> dict[str, Any]:
    return {
        "label": winner.label,
        "operators": winner.operators,
        "judged": winner.judged,
        "share": winner.share,
        "efficiency": winner.efficiency,
        "total_time_s": winner.total_s,
        "gain": winner.gain,
    }


_PEAKS_SCHEMA: Final = object_schema(
    {
        "name": TEXT,
        "flops": {
            "description": "FLO/s by dtype; any stands for every dtype.",
            "type": "object",
            "additionalProperties": {"type": "number"},
        },
        "bandwidth_bytes_per_s": {"type": "number"},
        "dtype": {"description": "The dtype assumed for operators with an unknown dtype.", **TEXT},
        "source": TEXT,
        "device_kind": {"description": "null if it is unknown.", "enum": [*DEVICE_KINDS, None]},
        "threads": {
            "description": "The number of CPU threads that reach the rates; null if unknown.",
            "type": ["integer", "null"],
        },
        "doubt": {
            "description": "The share by which measured rates may be too low; 0 for other rates.",
            "type": "number",
        },
    }
)

_WINNER_SCHEMA: Final = {
    "label": TEXT,
    "operators": INTEGER,
    "judged": {
        "description": "The number of operators with a known least possible time.",
        "type": "integer",
    },
    "share": {"type": "number"},
    "efficiency": {"type": "number"},
    "total_time_s": {
        "description": "The time of all operators, in the runs in which the group ran, if it ran "
        "at its roof.",
        "type": "number",
    },
    "gain": {
        "description": "How many times as fast all operators of these runs would be. A run also "
        "takes time outside of operators, so a whole run may gain less.",
        "type": "number",
    },
}

GROUP: Final = FactGroup(
    "roofline",
    "How all operators compare with the peaks of a device; null without --peaks.",
    (
        Fact(
            "peaks",
            "The peak rates of the device.",
            lambda summary: peaks_record(judgement_of(summary).peaks),
            _PEAKS_SCHEMA,
            label="peaks",
            text=_peaks_text,
            sentences=peaks_sentences,
        ),
        Fact(
            "rates",
            "The dtypes that judged operators compute in. Each has its rate, and the share of the "
            "device time that these operators take.",
            lambda summary: [
                {"dtype": dtype, "flops": rate, "share": share}
                for dtype, rate, share in judgement_of(summary).rates
            ],
            list_schema({"dtype": TEXT, "flops": NUMBER, "share": NUMBER}),
            lines=_roof_lines,
        ),
        Fact(
            "least_time_s",
            "The sum of the least possible times, without operators in bodies. Operators that are "
            "faster than their roof count with their least possible time, unlike in lost_s. null "
            "for a model if the sum would leave out multiply-adds.",
            lambda summary: judgement_of(summary).least_s,
            label="least possible time",
            text=least_text,
            sentences=dtype_sentences,
        ),
        Fact(
            "memory_known",
            "The share of the device time that operators of known memory take. If an operator "
            "leaves all work to operators inside it, its memory counts as known.",
            lambda summary: judgement_of(summary).memory_known,
            label="memory known",
            text=_if_timed(lambda summary, _: percent(judgement_of(summary).memory_known)),
        ),
        Fact(
            "memory_unknown",
            "The types that take most time among the operators whose memory is unknown.",
            lambda summary: [
                {"type": name, "share": share}
                for name, share in judgement_of(summary).memory_unknown
            ],
            list_schema({"type": TEXT, "share": {"type": "number"}}),
            sentences=_types_of_unknown_memory,
        ),
        Fact(
            "judged",
            "The share of the device time that judged operators take. An operator is judged if its "
            "least possible time is known.",
            lambda summary: judgement_of(summary).judged,
            label="judged",
            text=_if_timed(lambda summary, _: percent(judgement_of(summary).judged)),
        ),
        Fact(
            "efficiency",
            "1 - lost_s / time, for the judged operators.",
            lambda summary: judgement_of(summary).efficiency,
            label="efficiency, judged",
            text=_if_fitting(lambda summary, _: small_percent(judgement_of(summary).efficiency)),
        ),
        Fact(
            "lost_s",
            "Time minus least possible time, for the judged operators that are slower than their "
            "roof. A whole run saves no more than this.",
            lambda summary: judgement_of(summary).lost_s,
            label="lost",
            text=_if_fitting(lambda summary, times: times.text(judgement_of(summary).lost_s)),
        ),
        Fact(
            "winners",
            "The groups that would gain most at their roof.",
            lambda summary: list(map(_winner_record, judgement_of(summary).winners)),
            list_schema(_WINNER_SCHEMA),
            sentences=winner_sentences,
        ),
    ),
    page="docs/roofline.md",
)

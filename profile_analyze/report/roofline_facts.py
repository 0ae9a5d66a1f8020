"""Facts on the roofline: how all operators compare with the peak rates of a device."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING, Any, Final

from profile_analyze.analysis.peaks import ANY_DTYPE, AS_GIVEN, DEFAULT_DTYPE, TF32
from profile_analyze.model.terms import DEVICE_KINDS
from profile_analyze.model.visible import visible
from profile_analyze.report.facts import (
    INTEGER,
    NUMBER,
    TEXT,
    Fact,
    FactGroup,
    list_schema,
    object_schema,
)
from profile_analyze.report.programs import peaks_record
from profile_analyze.units import counted, decimal_rate, percent, scaled, three_digits

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from profile_analyze.query.judgement import Judgement, Winner
    from profile_analyze.query.summary import Summary
    from profile_analyze.report.sections import Line
    from profile_analyze.report.times import Times

_HALF: Final = 0.5


def roofline_caption(summary: Summary) -> str:
    """Return a caption that sums up the roofline of all operators; empty without peaks."""
    judgement = summary.judgement
    if judgement is None:
        return ""
    if misfit := _misfit(judgement):
        return f"{misfit[0].upper()}{misfit[1:]}."
    return (
        f"At the roof, the operators would take {percent(judgement.efficiency)} of their time. "
        f"Judged: {percent(judgement.judged)} of the time. "
        f"Unknown memory: {percent(1 - judgement.memory_known)}."
    )


def _judgement(summary: Summary) -> Judgement:
    assert summary.judgement is not None, "there are no peaks"
    return summary.judgement


def _peaks_text(summary: Summary, _: Times) -> str:
    peaks = _judgement(summary).peaks
    name = visible(peaks.name, "utf-8")
    # If the user gave two rates, the name of the peaks already has the bandwidth.
    return name if peaks.source == AS_GIVEN else f"{name}, {decimal_rate(peaks.bandwidth)}"


def _misfit(judgement: Judgement) -> str:
    """Return a warning if the peaks are wrong for operators that take at least half of the time.

    These operators ran on a different kind of device, or faster than their roofs. Without such
    operators, the text is empty.
    """
    share = sum(share for _, share in judgement.other_kinds)
    if not share >= _HALF:
        return _too_low(judgement)
    kinds = " or a ".join(kind.upper() for kind, _ in judgement.other_kinds)
    return (
        f"these are peaks of a {str(judgement.peaks.device_kind).upper()}, but operators on a "
        f"{kinds} take {percent(share)} of the time: the columns efficiency, "
        "lost and gain mean nothing"
    )


def _too_low(judgement: Judgement) -> str:
    """Return a warning if operators faster than their roof take at least half of the time.

    Otherwise, the text is empty.
    """
    if not judgement.faster >= _HALF:
        return ""
    return (
        f"operators that are faster than their roofs take {percent(judgement.faster)} of the time: "
        "these peaks are too low, so the columns efficiency, lost and gain mean nothing"
    )


def _gain_sentence(summary: Summary, times: Times) -> str:
    """Return a sentence on how much faster the whole model could be."""
    judgement = _judgement(summary)
    gain = f"{judgement.gain:.2f}"
    unjudged = percent(1 - judgement.judged)
    is_whole = unjudged == percent(0)
    if gain == "1.00":
        judged = f"the judged operators ({percent(judgement.judged)} of the time)"
        which = "the whole model" if is_whole else judged
        return f"with these peaks, {which} could gain next to nothing"
    but = f"; the operators that are not judged ({unjudged} of the time) keep their times"
    return (
        f"the whole model at its roof takes {times.text(judgement.total_s)}, "
        f"{gain} times as fast{_than_what(summary, times)}{'' if is_whole else but}"
    )


def _than_what(summary: Summary, times: Times) -> str:
    """Return a sentence part on the sum of the operators' times, to which the gain is relative.

    The part is empty unless this sum is larger than the time of a whole run. The sum is larger if
    the runtime waited for each operator.
    """
    if not summary.device_time_s > summary.wall_s:
        return ""
    return (
        f" as the sum of the operators' times ({times.text(summary.device_time_s)}), which is "
        "longer than a whole run"
    )


def _peaks_sentences(summary: Summary, times: Times) -> Iterator[str]:
    """Yield a sentence on what the whole model could gain, and a sentence on the peaks' source."""
    judgement = _judgement(summary)
    if misfit := _misfit(judgement):
        yield "; ".join(filter(None, (misfit, judgement.better_rates)))
    elif not isnan(judgement.gain):
        yield _gain_sentence(summary, times)
    if judgement.peaks.source != AS_GIVEN:
        yield f"peaks: {visible(judgement.peaks.source, 'utf-8')}"


def _roof_lines(summary: Summary, _: Times) -> Iterator[Line]:
    judgement = _judgement(summary)
    for dtype, rate, share in judgement.rates:
        if isnan(rate):  # no rate is known, so the judged operators of this dtype only move data
            continue
        # If the user gave two rates, these apply to every dtype, so the roof needs no name.
        suffix = "" if dtype == ANY_DTYPE else f" {dtype}"
        ridge = f"{three_digits(judgement.peaks.ridge(dtype))} FLO/byte"
        text = f"{' '.join(scaled(rate, 'FLO/s'))}, at {ridge} or more"
        # With a single roof, the fact `judged` already says which share of the time is judged.
        if summary.has_times and len(judgement.rates) > 1:
            text += f"; the operators that it judges take {percent(share)} of the time"
        yield f"roof{suffix}", text


def _if_timed(text: Callable[[Summary, Times], str]) -> Callable[[Summary, Times], str]:
    """Return a function like `text` whose result is empty for a profile without times."""
    return lambda summary, times: text(summary, times) if summary.has_times else ""


def least_text(summary: Summary, times: Times) -> str:
    """Return the least possible time of a model that has not run; empty for recorded runs."""
    judgement = _judgement(summary)
    if summary.has_times:
        return ""
    if judgement.without_least:
        unknown = f"unknown for {counted(judgement.without_least, 'operator')}"
        return f"{times.text(judgement.least_s)}, {unknown}"
    return f"{times.text(judgement.least_s)}, each operator on its own"


def _dtype_sentences(summary: Summary, _: Times) -> Iterator[str]:
    """Yield a sentence on the rate that is assumed for operators in FP32."""
    judgement = _judgement(summary)
    peaks = judgement.peaks
    if isnan(judgement.least_s):
        return
    has_fp32 = DEFAULT_DTYPE in {dtype for dtype, _, _ in judgement.rates}
    if judgement.replaces_fp32:
        yield (
            f"operators in {DEFAULT_DTYPE} use the rate of {peaks.dtype}, but their memory counts "
            f"in {DEFAULT_DTYPE}"
        )
    elif not summary.has_times and has_fp32 and peaks.has_faster_tf32():
        yield (
            f"operators in {DEFAULT_DTYPE} use the rate without tensor cores; --peaks "
            f"DEVICE:{TF32} uses the rate with tensor cores"
        )


def _types_of_unknown_memory(summary: Summary, _: Times) -> Iterator[str]:
    types = [f"{name} {percent(share)}" for name, share in _judgement(summary).memory_unknown]
    if types:
        listed = visible(", ".join(types), "utf-8")
        yield f"operators of unknown memory take the most time in these types: {listed}"


def _winner_sentences(summary: Summary, times: Times) -> Iterator[str]:
    judgement = _judgement(summary)
    for winner in () if _misfit(judgement) else judgement.winners:
        # Operators whose work or time is unknown are not judged.
        all_judged = winner.judged == winner.operators
        judged = "" if all_judged else f", {winner.judged} of them judged"
        group = visible(_group_text(judgement.by, winner.keys), "utf-8")
        one = winner.operators == 1
        yield (
            f"{counted(winner.operators, 'operator')} {group} ({percent(winner.share)} of the time"
            f"{judged}) {'runs' if one else 'run'} at {percent(winner.efficiency)} of the roof: if "
            f"{'this' if one else 'these'} alone ran at the roof, the model would take "
            f"{times.text(winner.total_s)}, {winner.gain:.2f} times as fast"
        )


def _group_text(by: Sequence[str], values: Sequence[str]) -> str:
    """Return what the operators of a group share: `of type Conv`, `with scope a and type Conv`."""
    *first, last = (f"{key} {value}" for key, value in zip(by, values, strict=True))
    return f"with {', '.join(first)} and {last}" if first else f"of {last}"


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
        "description": "The total time if this group ran at its roof.",
        "type": "number",
    },
    "gain": {
        "description": "How many times as fast the whole profile would run.",
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
            lambda summary: peaks_record(_judgement(summary).peaks),
            _PEAKS_SCHEMA,
            label="peaks",
            text=_peaks_text,
            sentences=_peaks_sentences,
        ),
        Fact(
            "rates",
            "The dtypes that judged operators compute in. Each has its rate, and the share of the "
            "device time that these operators take.",
            lambda summary: [
                {"dtype": dtype, "flops": rate, "share": share}
                for dtype, rate, share in _judgement(summary).rates
            ],
            list_schema({"dtype": TEXT, "flops": NUMBER, "share": NUMBER}),
            lines=_roof_lines,
        ),
        Fact(
            "least_time_s",
            "The sum of the least possible times, without operators in bodies. Operators that are "
            "faster than their roof count with their least possible time, unlike in lost_s. null "
            "for a model if the sum would leave out multiply-adds.",
            lambda summary: _judgement(summary).least_s,
            label="least possible time",
            text=least_text,
            sentences=_dtype_sentences,
        ),
        Fact(
            "memory_known",
            "The share of the device time that operators of known memory take. If an operator "
            "leaves all work to operators inside it, its memory counts as known.",
            lambda summary: _judgement(summary).memory_known,
            label="memory known",
            text=_if_timed(lambda summary, _: percent(_judgement(summary).memory_known)),
        ),
        Fact(
            "memory_unknown",
            "The types that take most time among the operators whose memory is unknown.",
            lambda summary: [
                {"type": name, "share": share} for name, share in _judgement(summary).memory_unknown
            ],
            list_schema({"type": TEXT, "share": {"type": "number"}}),
            sentences=_types_of_unknown_memory,
        ),
        Fact(
            "judged",
            "The share of the device time that judged operators take. An operator is judged if its "
            "least possible time is known.",
            lambda summary: _judgement(summary).judged,
            label="judged",
            text=_if_timed(lambda summary, _: percent(_judgement(summary).judged)),
        ),
        Fact(
            "efficiency",
            "1 - lost_s / time, for the judged operators.",
            lambda summary: _judgement(summary).efficiency,
            label="efficiency, judged",
            text=_if_timed(lambda summary, _: percent(_judgement(summary).efficiency)),
        ),
        Fact(
            "lost_s",
            "Time minus least possible time, for the judged operators that are slower than their "
            "roof.",
            lambda summary: _judgement(summary).lost_s,
            label="lost",
            text=_if_timed(lambda summary, times: times.text(_judgement(summary).lost_s)),
        ),
        Fact(
            "winners",
            "The groups that would gain most at their roof.",
            lambda summary: list(map(_winner_record, _judgement(summary).winners)),
            list_schema(_WINNER_SCHEMA),
            sentences=_winner_sentences,
        ),
    ),
)

"""The register of the summary's facts: an entry reaches every format and the schema.

An entry says what programs call the fact, its unit, its meaning, how its value comes from the
`Summary`, and how people read it: in a line of its own, in sentences, or with another fact.
"""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from profile_analyze.model.terms import ADDED, REMOVED
from profile_analyze.model.visible import visible
from profile_analyze.report.sections import Facts, FactValue, Sentences
from profile_analyze.report.shown_numbers import (
    between,
    counting,
    in_brackets,
    signed,
    signed_seconds,
    with_unit,
)
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
    from collections.abc import Callable, Iterator, Mapping

    from profile_analyze.analysis.peaks import Peaks
    from profile_analyze.query.comparison_summary import Change, Contribution
    from profile_analyze.query.judgement import Judgement, Winner
    from profile_analyze.query.summary import Summary
    from profile_analyze.report.sections import Line, Section


class Fact(NamedTuple):
    """One entry of the register."""

    name: str
    """What programs call it, with its unit."""
    unit: str
    """`s`, `1` for a bare number, empty for what is no number."""
    meaning: str
    value: Callable[[Summary], Any]
    """A number in base units (NaN or None for N/A), a text, or a list or dictionary of these."""
    schema: Mapping[str, Any]
    """What JSON has, in the terms of JSON Schema."""
    label: str = ""
    """What people call it; empty where a sentence or another fact says it."""
    text: Callable[[Summary], str] | None = None
    """How people read it; empty to leave its line out."""
    lines: Callable[[Summary], Iterator[Line]] | None = None
    """Instead of `label` and `text`, for a fact with a line for each of its records."""
    sentences: Callable[[Summary], Iterator[str]] | None = None
    """Conclusions from it, in words."""
    told_with: str = ""
    """The fact of the same group whose line or sentences say it, if it has none of its own."""

    def shown(self, summary: Summary) -> FactValue:
        """What programs get and people read of `summary`."""
        return FactValue(self.name, _plain(self.value(summary)), tuple(self._lines(summary)))

    def _lines(self, summary: Summary) -> Iterator[Line]:
        if self.lines is not None:
            yield from self.lines(summary)
        elif self.text is not None:
            text = self.text(summary)
            if text:
                yield self.label, text


class FactGroup(NamedTuple):
    """Facts that belong together: JSON has an object for each group but the first."""

    name: str
    meaning: str
    facts: tuple[Fact, ...]
    applies: Callable[[Summary], bool]
    """Whether a summary has them."""


def sections_of(summary: Summary) -> tuple[Section, ...]:
    """The facts of `summary`, group by group, and then conclusions in words."""
    groups = [group for group in GROUPS if group.applies(summary)]
    facts = [
        Facts(group.name, tuple(fact.shown(summary) for fact in group.facts)) for group in groups
    ]
    sentences = tuple(
        sentence
        for group in groups
        for fact in group.facts
        if fact.sentences is not None
        for sentence in fact.sentences(summary)
    )
    return (*facts, *((Sentences(sentences),) if sentences else ()))


def _plain(value: Any) -> Any:
    """`value` for programs: None for NaN, and no number of NumPy's."""
    if value is None or value != value:  # noqa: PLR0124  # NaN
        return None
    return float(value) if isinstance(value, float) else value


# The JSON schema of a fact.

NUMBER: Final = {"$ref": "#/$defs/number"}
COUNT: Final = {"type": "integer", "minimum": 1}
TEXT: Final = {"type": "string"}
VERDICT: Final = {"$ref": "#/$defs/verdict"}


def object_schema(properties: Mapping[str, Any], meaning: str = "") -> dict[str, Any]:
    """The schema of an object with all of `properties`, and no others."""
    description = {"description": meaning} if meaning else {}
    return {
        **description,
        "type": "object",
        "additionalProperties": False,
        "required": list(properties),
        "properties": dict(properties),
    }


def list_schema(properties: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of a list of such objects."""
    return {"type": "array", "items": object_schema(properties)}


# The totals.


def _copy_time(summary: Summary) -> str:
    copy = summary.copy
    return "" if copy is None else _total_and_mean(copy.total_s, copy.mean_s)


def _copy_wait_time(summary: Summary) -> str:
    copy = summary.copy
    return "" if copy is None else _total_and_mean(copy.wait_total_s, copy.wait_mean_s)


def _total_and_mean(total_s: float, mean_s: float) -> str:
    total, mean = seconds_fixed(total_s), seconds_fixed(mean_s)
    return NOT_AVAILABLE if NOT_AVAILABLE in (total, mean) else f"tot={total} avg={mean}"


def _of_a_model(summary: Summary, amount: float, unit: str) -> str:
    """The amount as people read it; empty if there are times, which matter more."""
    return "" if summary.has_times else " ".join(scaled(amount, unit))


def _run_count(summary: Summary) -> str:
    if summary.runs == 1 and summary.change is None:
        return ""
    return _runs_and_spread(summary.runs, summary.processes, summary.spread)


def _runs_and_spread(runs: int, processes: int, spread: float) -> str:
    of = "" if runs == processes else f" in {counted(processes, 'process', 'processes')}"
    count = f"{runs}{of}"
    return count if isnan(spread) else f"{count}, which spread by {percent(spread)}"


_TOTALS: Final = (
    Fact(
        "device_time_s",
        "s",
        "The device time of all operators.",
        lambda summary: summary.device_time_s,
        NUMBER,
        label="total device time",
        text=lambda summary: six_digits(summary.device_time_s) if summary.has_times else "",
    ),
    Fact(
        "host_time_s",
        "s",
        "The host time of all operators.",
        lambda summary: summary.host_time_s,
        NUMBER,
        label="total host time",
        text=lambda summary: six_digits(summary.host_time_s) if summary.has_times else "",
    ),
    Fact(
        "wall_time_s",
        "s",
        "From the start of a run to its end; null if the file does not say.",
        lambda summary: summary.wall_s,
        NUMBER,
        label="wall time of a run",
        text=lambda summary: "" if isnan(summary.wall_s) else six_digits(summary.wall_s),
    ),
    Fact(
        "computation_flo",
        "FLO",
        "The floating-point operations of all operators in a run, as far as they are known.",
        lambda summary: summary.computation,
        NUMBER,
        label="total computation",
        text=lambda summary: _of_a_model(summary, summary.computation, "FLO"),
    ),
    Fact(
        "memory_bytes",
        "byte",
        "The bytes that all operators in a run read and write, as far as they are known.",
        lambda summary: summary.memory,
        NUMBER,
        label="total memory",
        text=lambda summary: _of_a_model(summary, summary.memory, "byte"),
    ),
    Fact(
        "copy_time_s",
        "s",
        "The time of copies between devices; null without --copy-time.",
        lambda summary: summary.copy and summary.copy.total_s,
        NUMBER,
        label="copy time",
        text=_copy_time,
    ),
    Fact(
        "copy_time_mean_s",
        "s",
        "The mean time of a copy between devices.",
        lambda summary: summary.copy and summary.copy.mean_s,
        NUMBER,
        told_with="copy_time_s",
    ),
    Fact(
        "copy_wait_time_s",
        "s",
        "How long these copies waited for their first kernel.",
        lambda summary: summary.copy and summary.copy.wait_total_s,
        NUMBER,
        label="copy wait time",
        text=_copy_wait_time,
    ),
    Fact(
        "copy_wait_time_mean_s",
        "s",
        "The mean time that a copy between devices waited for its first kernel.",
        lambda summary: summary.copy and summary.copy.wait_mean_s,
        NUMBER,
        told_with="copy_wait_time_s",
    ),
    Fact(
        "runs",
        "1",
        "The number of runs that the totals are of.",
        lambda summary: summary.runs,
        COUNT,
        label="runs",
        text=_run_count,
    ),
    Fact(
        "spread",
        "1",
        "Half the interquartile range of the device time over its median; null with one run.",
        lambda summary: summary.spread,
        NUMBER,
        told_with="runs",
    ),
)


# The comparison with a baseline.

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


def _change(summary: Summary) -> Change:
    assert summary.change is not None, "nothing was compared"
    return summary.change


def _difference(summary: Summary) -> str:
    change = _change(summary)
    return signed_seconds(change.difference_s) + in_brackets(signed(change.change, percent))


def _ratio(summary: Summary) -> str:
    change = _change(summary)
    bounds = between(three_digits(change.low), three_digits(change.high))
    return three_digits(change.ratio) + in_brackets(bounds)


def _verdict(summary: Summary) -> str:
    change = _change(summary)
    known = change.verdict or (_HIDDEN if change.drift_corrected else NOT_AVAILABLE)
    return known + counting(change.unit)


def _is_known(summary: Summary) -> bool:
    """Whether it is known how much the times differ; nothing is said of it otherwise."""
    return not isnan(_change(summary).difference_s)


def _verdict_in_words(summary: Summary) -> Iterator[str]:
    change = _change(summary)
    if _is_known(summary):
        yield (
            f"{_IN_WORDS[change.verdict]}: {with_unit(seconds(summary.device_time_s))} instead of "
            f"{with_unit(seconds(change.base_time_s))}, {signed(change.change, percent)}"
            f"{counting(change.unit)}"
        )


def _largest_differences(summary: Summary) -> Iterator[str]:
    change = _change(summary)
    told = [one for one in change.contributions if one.verdict not in ("same", "uncertain")]
    if not told or not _is_known(summary):
        return
    # shares make sense if the difference is more than noise, and no part exceeds the whole
    with_shares = change.verdict in ("slower", "faster", None) and all(
        0 <= one.share <= 1 for one in told
    )
    largest = "; ".join(_contribution(one, with_share=with_shares) for one in told)
    yield f"largest differences by {visible(', '.join(change.by), 'utf-8')}: {largest}"


def _contribution(one: Contribution, *, with_share: bool) -> str:
    """One group's part of the difference."""
    share = f", {percent(one.share)} of the difference" if with_share else ""
    difference = f"{visible(one.label, 'utf-8')} {signed_seconds(one.difference_s)}"
    return difference + share + in_brackets(one.verdict or "")


def _called(summary: Summary) -> Iterator[str]:
    for one in _change(summary).called if _is_known(summary) else ():
        yield (
            f"{one.verdict}: {visible(one.label, 'utf-8')} {signed_seconds(one.difference_s)}, "
            f"{three_digits(one.ratio)} times the base{counting(_change(summary).unit)}"
        )


def _verdict_counts(summary: Summary) -> Iterator[str]:
    """How many rows have each verdict, where some have one."""
    change = _change(summary)
    if not _is_known(summary) or not set(dict(change.verdicts)) - {NOT_AVAILABLE}:
        return
    count_of_all = sum(count for _, count in change.verdicts)
    rows = (
        counted(count_of_all, "group")
        if change.of_groups
        else f"{counted(count_of_all, 'operator')} with a time"
    )
    counts = ", ".join(f"{count} {word}" for word, count in change.verdicts)
    yield f"{rows}: {counts}{counting(change.unit)}"


_CONTRIBUTION: Final = {
    "label": TEXT,
    "difference_s": {"type": "number"},
    "share": {"description": "The share of the whole difference.", **NUMBER},
    "ratio": NUMBER,
    "verdict": VERDICT,
}


def _contribution_record(one: Contribution) -> dict[str, Any]:
    return {
        "label": one.label,
        "difference_s": one.difference_s,
        "share": one.share,
        "ratio": one.ratio,
        "verdict": one.verdict,
    }


_COMPARISON: Final = (
    Fact(
        "base_device_time_s",
        "s",
        "The device time of all operators of the baseline.",
        lambda summary: _change(summary).base_time_s,
        NUMBER,
        label="base device time",
        text=lambda summary: six_digits(_change(summary).base_time_s),
    ),
    Fact(
        "base_runs",
        "1",
        "The number of runs of the baseline.",
        lambda summary: _change(summary).base_runs,
        COUNT,
        label="base runs",
        text=lambda summary: _runs_and_spread(
            _change(summary).base_runs,
            _change(summary).base_processes,
            _change(summary).base_spread,
        ),
    ),
    Fact(
        "base_spread",
        "1",
        "Half the interquartile range of the baseline's device time over its median.",
        lambda summary: _change(summary).base_spread,
        NUMBER,
        told_with="base_runs",
    ),
    Fact(
        "difference_s",
        "s",
        "The device time minus that of the baseline.",
        lambda summary: _change(summary).difference_s,
        NUMBER,
        label="difference",
        text=_difference,
    ),
    Fact(
        "change",
        "1",
        "The difference as a fraction of the baseline's device time.",
        lambda summary: _change(summary).change,
        NUMBER,
        told_with="difference_s",
    ),
    Fact(
        "ratio",
        "1",
        "The device time over that of the baseline.",
        lambda summary: _change(summary).ratio,
        NUMBER,
        label="ratio",
        text=_ratio,
    ),
    Fact(
        "ratio_low",
        "1",
        "The lower end of the 95 % confidence interval of the ratio of medians.",
        lambda summary: _change(summary).low,
        NUMBER,
        told_with="ratio",
    ),
    Fact(
        "ratio_high",
        "1",
        "The upper end of the 95 % confidence interval of the ratio of medians.",
        lambda summary: _change(summary).high,
        NUMBER,
        told_with="ratio",
    ),
    Fact(
        "p_value",
        "1",
        "How often chance alone makes a difference at least this large.",
        lambda summary: _change(summary).p_value,
        NUMBER,
        told_with="verdict",
    ),
    Fact(
        "verdict",
        "",
        "The verdict on the whole; null with fewer than four runs on a side.",
        lambda summary: _change(summary).verdict,
        VERDICT,
        label="verdict",
        text=_verdict,
        sentences=_verdict_in_words,
    ),
    Fact(
        "unit",
        "",
        "What the statistics count: runs (if each process has one), processes or iterations.",
        lambda summary: _change(summary).unit,
        {"enum": ["runs", "processes", "iterations"]},
        told_with="verdict",
    ),
    Fact(
        "largest_differences",
        "",
        "The groups with the largest differences.",
        lambda summary: list(map(_contribution_record, _change(summary).contributions)),
        list_schema(_CONTRIBUTION),
        sentences=_largest_differences,
    ),
    Fact(
        "largest_differences_by",
        "",
        "The keys that largest_differences are grouped by.",
        lambda summary: list(_change(summary).by),
        {"type": "array", "items": TEXT},
        told_with="largest_differences",
    ),
    Fact(
        "called",
        "",
        "Of the rows that are slower or faster, those with the largest differences.",
        lambda summary: list(map(_contribution_record, _change(summary).called)),
        list_schema(_CONTRIBUTION),
        sentences=_called,
    ),
    Fact(
        "verdicts",
        "",
        "The number of rows (operators, or groups if asked for) with each verdict, N/A included.",
        lambda summary: dict(_change(summary).verdicts),
        {"type": "object", "additionalProperties": COUNT},
        sentences=_verdict_counts,
    ),
)


# How all operators compare with the peaks of a device.


def _judgement(summary: Summary) -> Judgement:
    assert summary.judgement is not None, "there are no peaks"
    return summary.judgement


def _roofs(summary: Summary) -> Iterator[Line]:
    from profile_analyze.analysis.peaks import ANY_DTYPE

    judgement = _judgement(summary)
    for dtype, rate, share in judgement.rates:
        of = "" if dtype == ANY_DTYPE else f" {dtype}"
        ridge = f"{three_digits(judgement.peaks.ridge(dtype))} FLO/byte"
        text = f"{' '.join(scaled(rate, 'FLO/s'))}, from {ridge} on; {percent(share)} of the time"
        yield f"roof{of}", text


def _types_of_unknown_memory(summary: Summary) -> Iterator[str]:
    types = [f"{name} {percent(share)}" for name, share in _judgement(summary).memory_unknown]
    if types:
        yield f"most time without known memory: {visible(', '.join(types), 'utf-8')}"


def _winners(summary: Summary) -> Iterator[str]:
    for winner in _judgement(summary).winners:
        yield (
            f"{winner.operators} {visible(winner.label, 'utf-8')}{_of_which(winner)}, "
            f"{percent(winner.share)} of the time, run at "
            f"{percent(winner.efficiency)} of the roof: at the roof the model takes "
            f"{seconds(winner.total_s)} s instead of {seconds(summary.device_time_s)} s, "
            f"{winner.gain:.2f} times as fast"
        )


def _of_which(winner: Winner) -> str:
    return "" if winner.judged == winner.operators else f" ({winner.judged} of them judged)"


def peaks_record(peaks: Peaks) -> dict[str, Any]:
    """The peaks of a device as programs get them."""
    return {
        "name": peaks.name,
        "flops": dict(peaks.flops),
        "bandwidth_bytes_per_s": peaks.bandwidth,
        "dtype": peaks.dtype,
        "source": peaks.source,
    }


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
        "dtype": {"description": "The dtype of operators whose own is unknown.", **TEXT},
        "source": TEXT,
    }
)

_WINNER: Final = {
    "label": TEXT,
    "operators": {"type": "integer"},
    "judged": {"description": "How many of them have a least possible time.", "type": "integer"},
    "share": {"type": "number"},
    "efficiency": {"type": "number"},
    "total_time_s": {
        "description": "The time of the whole, with this group at its roof.",
        "type": "number",
    },
    "gain": {"description": "How many times as fast the whole would be.", "type": "number"},
}

_ROOFLINE: Final = (
    Fact(
        "peaks",
        "",
        "The peak rates of the device.",
        lambda summary: peaks_record(_judgement(summary).peaks),
        _PEAKS_SCHEMA,
        label="peaks",
        text=lambda summary: (
            f"{visible(_judgement(summary).peaks.name, 'utf-8')}, "
            f"{decimal_rate(_judgement(summary).peaks.bandwidth)}"
        ),
        sentences=lambda summary: iter(
            [f"peaks: {visible(_judgement(summary).peaks.source, 'utf-8')}"]
        ),
    ),
    Fact(
        "rates",
        "",
        "The dtypes that judged operators compute in, with their shares of the device time.",
        lambda summary: [
            {"dtype": dtype, "flops": rate, "share": share}
            for dtype, rate, share in _judgement(summary).rates
        ],
        list_schema({"dtype": TEXT, "flops": NUMBER, "share": NUMBER}),
        lines=_roofs,
    ),
    Fact(
        "memory_known",
        "1",
        "The share of the device time in operators whose memory is known.",
        lambda summary: _judgement(summary).memory_known,
        NUMBER,
        label="memory known",
        text=lambda summary: percent(_judgement(summary).memory_known),
    ),
    Fact(
        "memory_unknown",
        "",
        "The types that take most time among the operators whose memory is unknown.",
        lambda summary: [
            {"type": name, "share": share} for name, share in _judgement(summary).memory_unknown
        ],
        list_schema({"type": TEXT, "share": {"type": "number"}}),
        sentences=_types_of_unknown_memory,
    ),
    Fact(
        "judged",
        "1",
        "The share of the device time in operators whose least possible time is known.",
        lambda summary: _judgement(summary).judged,
        NUMBER,
        label="judged",
        text=lambda summary: percent(_judgement(summary).judged),
    ),
    Fact(
        "efficiency",
        "1",
        "Least possible time over time, of the judged operators.",
        lambda summary: _judgement(summary).efficiency,
        NUMBER,
        label="efficiency of that",
        text=lambda summary: percent(_judgement(summary).efficiency),
    ),
    Fact(
        "lost_s",
        "s",
        "Time minus least possible time, of the judged operators.",
        lambda summary: _judgement(summary).lost_s,
        NUMBER,
        label="lost",
        text=lambda summary: with_unit(seconds(_judgement(summary).lost_s)),
    ),
    Fact(
        "winners",
        "",
        "The groups that would gain most at their roof.",
        lambda summary: list(map(_winner_record, _judgement(summary).winners)),
        list_schema(_WINNER),
        sentences=_winners,
    ),
)


GROUPS: Final = (
    FactGroup(
        "totals",
        "Totals over all operators, whatever is filtered; null if not asked for.",
        _TOTALS,
        lambda _: True,
    ),
    FactGroup(
        "comparison",
        "How the device time of all operators differs from that of the baseline; null without "
        "--compare.",
        _COMPARISON,
        lambda summary: summary.change is not None,
    ),
    FactGroup(
        "roofline",
        "How all operators compare with the peaks of a device; null without --peaks.",
        _ROOFLINE,
        lambda summary: summary.judgement is not None,
    ),
)
"""In the order of printing."""


def roofline_caption(summary: Summary) -> str:
    """The caption of a picture of the roofline, on all operators; empty without peaks."""
    judgement = summary.judgement
    if judgement is None:
        return ""
    return (
        f"all operators: {percent(judgement.efficiency)} of the roof over "
        f"{percent(judgement.judged)} of the time; operators without known memory take "
        f"{percent(1 - judgement.memory_known)} of it"
    )

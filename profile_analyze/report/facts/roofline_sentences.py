"""Sentences on the roofline: what could be gained, and how far the peaks fit the profile.

The gain is of the operators' times. A run also takes time outside of operators, which no roof
shortens. So if the time of a whole run is known, sentences also say what a whole run could gain.
"""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING, Final

from profile_analyze.advice.peaks import highest_rates_advice, tf32_advice, threads_advice
from profile_analyze.model.terms import HOST
from profile_analyze.report.facts.sentence_parts import comparable_times
from profile_analyze.roofline.peaks import AS_GIVEN, DEFAULT_DTYPE, TF32
from profile_analyze.units import counted, percent, short_time, small_percent

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from profile_analyze.query.fit_of_peaks import BetterRates
    from profile_analyze.report.layout.times import Times
    from profile_analyze.views.judgement import Judgement, Winner
    from profile_analyze.views.summary import Summary

_HALF: Final = 0.5
_DOUBTFUL_EFFICIENCY: Final = 0.1
"""If a whole model is less efficient than this, its peaks may be wrong."""

_SHORT_CALL_S: Final = 5e-6
"""A call on a GPU that takes less time than this, and less than half of it at its roof, takes most
of its time to start and to end."""


def judgement_of(summary: Summary) -> Judgement:
    """Return the judgement of a summary, which must have one."""
    assert summary.judgement is not None, "there are no peaks"
    return summary.judgement


def misfit(judgement: Judgement) -> str:
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
        f"{kinds} take {percent(share)} of the time"
    )


def _too_low(judgement: Judgement) -> str:
    """Return a warning if operators faster than their roof take at least half of the time.

    Otherwise, the text is empty.
    """
    if not judgement.faster >= _HALF:
        return ""
    return (
        f"operators that are faster than their roofs take {percent(judgement.faster)} of the time: "
        "these peaks are too low"
    )


def peaks_sentences(summary: Summary, times: Times) -> Iterator[str]:
    """Yield a sentence on what all operators could gain, and a sentence on the peaks' source."""
    judgement = judgement_of(summary)
    if reason := misfit(judgement):
        nothing = f"{reason}, so the columns efficiency, lost and gain mean nothing"
        yield "; ".join(filter(None, (nothing, _advice(judgement.better_rates))))
    elif not isnan(judgement.gain):
        yield _gain_sentence(summary, times)
        if judgement.efficiency < _DOUBTFUL_EFFICIENCY:
            efficiency = small_percent(judgement.efficiency)
            yield (
                f"an efficiency of {efficiency} is very low: either overhead "
                "dominates the times, or the peaks are of another device, dtype or number of "
                "threads than the profile"
            )
    if judgement.are_highest_rates:
        yield (
            "peaks: the highest rates in this profile itself, so the roof is the speed of its "
            "fastest operators; the hardware may allow more, or less if data was in caches"
        )
    elif judgement.peaks.source != AS_GIVEN:
        yield f"peaks: {judgement.peaks.source}"


def _advice(rates: BetterRates) -> str:
    """Return which rates to give instead of peaks that do not fit; empty if unknown."""
    if rates.threads:
        return "; ".join(map(threads_advice, rates.threads))
    return tf32_advice(rates.tf32) if rates.tf32 else highest_rates_advice(rates.highest)


def _gain_sentence(summary: Summary, times: Times) -> str:
    """Return a sentence on how much faster the operators, and a whole run, could be."""
    judgement = judgement_of(summary)
    gain = f"{judgement.gain:.2f}"
    unjudged = percent(1 - judgement.judged)
    is_whole = unjudged == percent(0)
    if gain == "1.00":
        judged = f"the judged operators ({percent(judgement.judged)} of the time)"
        which = "the operators" if is_whole else judged
        return f"with these peaks, {which} could gain next to nothing"
    but = f"; the operators that are not judged ({unjudged} of the time) keep their times"
    total_s = judgement.total_s + judgement.lost_s
    of_run = _of_run(total_s, judgement.lost_s, gain, summary, times)
    return (
        f"the operators at their roofs take {times.text(judgement.total_s)}, {gain} times as fast"
        f"{_than_what(summary, times)}{of_run}{'' if is_whole else but}"
    )


def _than_what(summary: Summary, times: Times) -> str:
    """Return a sentence part on what the gain is relative to: the sum of the operators' times.

    The part is empty unless this sum is larger than the time of a whole run. The sum is larger if
    the runtime waited for each operator.
    """
    if not summary.device_time_s > summary.wall_s:
        return ""
    return (
        f" as the sum of the operators' times ({times.text(summary.device_time_s)}), which is "
        "longer than a whole run"
    )


def _of_run(total_s: float, lost_s: float, gain: str, summary: Summary, times: Times) -> str:
    """Return a sentence part on a whole run in which the operators do not lose `lost_s`.

    `total_s` is the time of all operators, and `gain` is what they gain. The part is empty if a run
    gains the same, or is not longer than the operators' times. A run cannot save more than its
    operators save, and it takes at least as long as its operators take on the host. It may save
    less, if operators ran at the same time or if the host does other work.
    """
    # In a comparison, the summary may combine one total per process. `total_s` combines all runs.
    operators_s = max(total_s, summary.device_time_s)
    if summary.runs_per_total > 1 or not operators_s < summary.wall_s:
        return ""
    saved_s, on_host_s = summary.wall_s - lost_s, _on_host_s(summary)
    run_s = max(saved_s, on_host_s)
    of_run = f"{summary.wall_s / run_s:.2f}"
    if of_run == gain:
        return ""
    reason = ", because the host takes that long" if saved_s < on_host_s else ""
    return f", and a whole run at best {times.text(run_s)}, {of_run} times as fast{reason}"


def _on_host_s(summary: Summary) -> float:
    """Return how long operators take on the host in the typical run, without waits; 0 if unknown.

    The time is unknown if the profile has no device times, or if several threads ran operators.
    """
    if summary.explained_on != HOST:
        return 0.0
    return summary.wall_s - summary.outside_s


def dtype_sentences(summary: Summary, _: Times) -> Iterator[str]:
    """Yield a sentence on the rate that is assumed for operators in FP32."""
    judgement = judgement_of(summary)
    peaks = judgement.peaks
    if isnan(judgement.least_s):
        return
    if judgement.replaces_fp32:
        yield (
            f"operators in {DEFAULT_DTYPE} use the rate of {peaks.dtype}; their memory is still "
            f"counted in {DEFAULT_DTYPE}"
        )
    elif judgement.may_be_tf32 and not misfit(judgement):
        condition = "if they ran in TF32, " if summary.has_times else ""
        yield (
            f"operators in {DEFAULT_DTYPE} use the rate of {DEFAULT_DTYPE}; {condition}"
            f"{peaks.with_rate_of(TF32)} uses the rate of {TF32}"
        )


def winner_sentences(summary: Summary, times: Times) -> Iterator[str]:
    """Yield a sentence on each group of operators that would gain much at its roof."""
    judgement = judgement_of(summary)
    for winner in () if misfit(judgement) else judgement.winners:
        # Operators whose work or time is unknown are not judged.
        all_judged = winner.judged == winner.operators
        judged = "" if all_judged else f", {winner.judged} of them judged"
        group = _group_text(judgement.by, winner.keys)
        one = winner.operators == 1
        efficiency = small_percent(winner.efficiency)
        yield (
            f"{counted(winner.operators, 'operator')} {group} ({percent(winner.share)} of the time"
            f"{judged}) {'runs' if one else 'run'} at {efficiency} of the roof"
            f"{_on_short_calls(winner)}: if {'this' if one else 'these'} alone ran at the roof, "
            f"{_with_group_at_roof(winner, summary, times)}"
        )


def _on_short_calls(winner: Winner) -> str:
    """Return a sentence part on calls that are too short for a roof; empty for other calls."""
    is_short = winner.gpu_call_s < _SHORT_CALL_S and winner.efficiency < _HALF
    if not is_short:
        return ""
    longest = "" if winner.operators == 1 else " at most"
    return f" (a call takes{longest} {short_time(winner.gpu_call_s)} on average, mostly the launch)"


def _with_group_at_roof(winner: Winner, summary: Summary, times: Times) -> str:
    """Return a sentence part on the operators of all runs, or of those in which the group ran."""
    gain = f"{winner.gain:.2f}"
    if winner.in_all_runs:
        lost_s = winner.runs_s - winner.total_s
        return (
            f"{_total_at_roof(winner.total_s, summary, times)}, {gain} times as fast"
            f"{_of_run(winner.runs_s, lost_s, gain, summary, times)}"
        )
    to_text = comparable_times(times)
    which = "this operator" if winner.operators == 1 else "these operators"
    return (
        f"all operators of the runs with {which} would take {to_text(winner.total_s)} instead of "
        f"{to_text(winner.runs_s)}, {gain} times as fast"
    )


def _total_at_roof(total_s: float, summary: Summary, times: Times) -> str:
    """Return a sentence part on the total time if some operators ran at their roof.

    If the operators' times add up to more than a run, the part names this sum.
    """
    if not summary.device_time_s > summary.wall_s:
        return f"all operators would take {times.text(total_s)}"
    to_text = comparable_times(times)
    return (
        f"the operators' times would add up to {to_text(total_s)} instead of "
        f"{to_text(summary.device_time_s)}"
    )


def _group_text(by: Sequence[str], values: Sequence[str]) -> str:
    """Return what the operators of a group share: `of type Conv`, `with scope a and type Conv`."""
    *first, last = (f"{key} {value}" for key, value in zip(by, values, strict=True))
    return f"with {', '.join(first)} and {last}" if first else f"of {last}"

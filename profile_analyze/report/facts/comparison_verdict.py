"""The sentence with the verdict of a comparison, and what is known about the change."""

from __future__ import annotations

from math import isfinite, isnan, log, log1p
from typing import TYPE_CHECKING, Final

from profile_analyze.comparison.statistics import SIGNIFICANT, UNCERTAIN
from profile_analyze.findings.rules.comparison import reason_of
from profile_analyze.model.terms import LESS_WORK, MORE_WORK
from profile_analyze.query.change_causes import WORK_CAUSES
from profile_analyze.query.conditions import TIME_TOLERANCE_S
from profile_analyze.report.facts.sentence_parts import (
    OVER_PAIRS,
    comparable_times,
    iterations_remark,
    signed_percent,
)
from profile_analyze.units import NOT_AVAILABLE, percent

if TYPE_CHECKING:
    from profile_analyze.report.layout.times import Times
    from profile_analyze.views.comparison_summary import Change

_IN_WORDS: Final = {
    "slower": "slower than the baseline",
    "faster": "faster than the baseline",
    MORE_WORK: "slower than the baseline, with more work",
    LESS_WORK: "faster than the baseline, with less work",
    "same": "the same as the baseline, within the threshold",
    "uncertain": "cannot tell whether the model is slower, faster or the same",
    None: "no verdict",
}


def verdict_in_words(change: Change, time_s: float, times: Times) -> str:
    """Return the sentence with the verdict. `time_s` is the device time of all operators."""
    in_words = _small_change(change) or _IN_WORDS[change.verdict]
    reason = ""
    if change.verdict is None and change.mismatch is not None:
        reason = f", because {reason_of(change.mismatch).meaning}"
    relative = "" if isnan(change.change) else f", {signed_percent(change.change)}"
    to_text = comparable_times(times)
    return (
        f"{in_words}{reason}: {to_text(time_s)} instead of {to_text(change.base.time_s)}"
        f"{relative}{_basis(change)}{_possible_changes(change)}{_needed_runs(change)}"
        f"{_explained_by_work(change, times)}{iterations_remark(change.unit)}"
    )


def _small_change(change: Change) -> str:
    """Return the words for an uncertain verdict on a change beyond noise; empty otherwise."""
    is_clear = change.p_value <= SIGNIFICANT and (change.low > 1 or change.high < 1)
    if change.verdict != UNCERTAIN or not is_clear:
        return ""
    direction = _IN_WORDS["slower" if change.low > 1 else "faster"]
    return f"{direction}, but perhaps by less than the threshold of {percent(change.threshold)}"


def _possible_changes(change: Change) -> str:
    """Return which changes are possible, if the verdict is uncertain; empty for other verdicts."""
    if change.verdict != UNCERTAIN:
        return ""
    is_significant = change.p_value <= SIGNIFICANT
    noise = ""
    if not is_significant:
        noise = f"{'; either' if _basis(change) else ', which'} may be noise alone"
    excludes_0 = change.low > 1 or change.high < 1
    if excludes_0 != is_significant and not isnan(change.low):
        p = f"p is {'at most' if is_significant else 'over'} {SIGNIFICANT}"
        verb = "excludes" if excludes_0 else "includes"
        noise += f"; {p}, although the interval, from another test, {verb} a change of 0%"
    if isnan(change.low):
        return noise
    low, high = (signed_percent(end - 1) for end in (change.low, change.high))
    changes = f"from {low} to {high}" if isfinite(change.high) else f"of {low} or more"
    return f"{noise}; changes {changes} are possible"


def _basis(change: Change) -> str:
    """Return which change the verdict uses, if the verdict may contradict the change shown."""
    contradicts = _is_far(change) or _small_change(change)
    if change.verdict is None or not (contradicts and _says_more(change)):
        return ""
    return f"; a better estimate is {_estimate(change)} ({OVER_PAIRS}, which has less noise)"


def _is_far(change: Change) -> bool:
    """Return whether the change of the medians is far from the change that the verdict uses.

    It is far if it has the opposite sign, or if the interval was widened to include it.
    """
    is_opposite = (change.ratio - 1) * (change.estimate - 1) < 0
    return is_opposite or change.ratio in (change.low, change.high)


def _says_more(change: Change) -> bool:
    """Return whether the estimate is known, and written in another way than the change."""
    return _estimate(change) not in (NOT_AVAILABLE, signed_percent(change.change))


def _needed_runs(change: Change) -> str:
    """Return how many runs would settle an uncertain verdict, and which change this assumes."""
    if isnan(change.runs_needed):
        return ""
    is_change = abs(log(change.estimate)) >= log1p(change.threshold)
    outcome = (
        "settle the question" if is_change else f"rule out a change of {percent(change.threshold)}"
    )
    runs = f"{change.runs_needed:.0f} {change.unit}"
    # `_basis` may have said what the estimate is.
    is_new = _says_more(change) and not _basis(change)
    origin = f" ({OVER_PAIRS})" if is_new else ""
    return f"; if the true change is {_estimate(change)}{origin}, about {runs} a side {outcome}"


def _estimate(change: Change) -> str:
    return signed_percent(change.estimate - 1)


def _explained_by_work(change: Change, times: Times) -> str:
    """Return how much of the difference the changed work explains; empty if it explains nothing.

    The numbers agree with the sentence on causes. The work explains nothing if the verdict is about
    time alone, or if the changed work moved the total in the other direction.
    """
    if change.verdict not in (MORE_WORK, LESS_WORK):
        return ""
    sign = 1 if change.verdict == MORE_WORK else -1
    by_work_s = sum(one.difference_s for one in change.causes if one.cause in WORK_CAUSES)
    rest_s = change.difference_s - by_work_s
    if by_work_s * sign <= 0:
        return ""
    explained = f"; {change.verdict} explains {times.text(by_work_s, signed=True)}"
    if rest_s * sign <= TIME_TOLERANCE_S:
        return explained
    return (
        f"{explained}; the rest, {times.text(rest_s, signed=True)}, is within noise or the "
        f"threshold of {percent(change.threshold)}"
    )

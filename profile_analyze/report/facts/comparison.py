"""Facts on the difference between the profile and its baseline."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING, Any, Final

from profile_analyze.columns.wording import without_residue
from profile_analyze.comparison.compared_work import CHANGED
from profile_analyze.comparison.statistics import too_few_runs
from profile_analyze.findings.rules.comparison import reason_of
from profile_analyze.findings.sentences import brief
from profile_analyze.model.terms import LESS_WORK, MORE_WORK
from profile_analyze.query.change_causes import CAUSES
from profile_analyze.report.facts.baseline import FACTS as BASELINE_FACTS
from profile_analyze.report.facts.causes import FACTS as CAUSE_FACTS
from profile_analyze.report.facts.comparison_verdict import verdict_in_words
from profile_analyze.report.facts.facts import (
    COUNT,
    DETAIL,
    NUMBER,
    TEXT,
    VERDICT,
    Fact,
    FactGroup,
    list_schema,
)
from profile_analyze.report.facts.sentence_parts import (
    comparable_times,
    in_brackets,
    interval_text,
    iterations_remark,
    signed_percent,
)
from profile_analyze.units import NOT_AVAILABLE, counted, p_text, percent, three_digits
from profile_analyze.views.comparison_summary import COUNTED_VERDICTS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from profile_analyze.report.layout.times import Times
    from profile_analyze.views.comparison_summary import Change, Contribution, VerdictCount
    from profile_analyze.views.summary import Summary


_UNEXPLAINED: Final = 0.005
"""If shares that should add up to 100 % differ from it by more, a remark says why."""


def comparison_caption(summary: Summary, times: Times) -> str:
    """Return a caption for a picture: the verdict, and the ratio of the device times."""
    ratio, verdict = _ratio_text(summary, times), _verdict_text(summary, times)
    return f"device time: ratio {ratio}, verdict {verdict}"


def _change(summary: Summary) -> Change:
    assert summary.change is not None, "nothing was compared"
    return summary.change


def _difference_text(summary: Summary, times: Times) -> str:
    change = _change(summary)
    difference = times.text(_without_residue(change), signed=True)
    return difference + in_brackets(signed_percent(change.change))


def _without_residue(compared: Change | Contribution) -> float:
    """Return the difference; 0 if it is rounding noise."""
    # Rounding noise grows with the times, so their ratio is checked as well as the difference.
    is_noise = without_residue(compared.ratio - 1, "1") == 0
    return 0.0 if is_noise else without_residue(compared.difference_s, "s")


def _ratio_text(summary: Summary, _: Times) -> str:
    change = _change(summary)
    interval = interval_text(three_digits(change.low), three_digits(change.high))
    return three_digits(change.ratio) + in_brackets(interval)


def _verdict_text(summary: Summary, _: Times) -> str:
    change = _change(summary)
    mismatch = "" if change.mismatch is None else reason_of(change.mismatch).meaning
    reasons = (mismatch, _why_no_verdict(change))
    # Without a difference, a side has no times. Other reasons then do not matter.
    reason = next(filter(None, reasons if _is_known(summary) else reasons[::-1]), "")
    missing = NOT_AVAILABLE + in_brackets(reason)
    basis = f"{p_text(change.p_value)}, threshold {percent(change.threshold)}"
    basis += f"; {reason_of(change.doubt).meaning}" if change.doubt else ""
    return (
        (change.verdict or missing)
        + in_brackets(basis if change.verdict else "")
        + iterations_remark(change.unit)
    )


def _why_no_verdict(change: Change) -> str:
    """Return which side has no device times or too few runs; empty if neither has."""
    finding = change.why_no_verdict
    if finding is None:
        return ""
    if finding.code == "no-times":
        return brief(finding)
    values: dict[str, Any] = dict(finding.values)
    return too_few_runs(values["units"], values["runs"], values["base_runs"])


def _wall_sentence(summary: Summary, times: Times) -> Iterator[str]:
    """Yield how the wall time changed, if the change of the device time is unknown."""
    change = _change(summary)
    wall, to_text = change.wall, comparable_times(times)
    if _is_known(summary) or change.mismatch or isnan(wall.ratio):
        return
    interval = interval_text(*(signed_percent(end - 1) for end in (wall.low, wall.high)))
    yield (
        f"wall time: {signed_percent(wall.ratio - 1)}{in_brackets(interval)}, "
        f"{to_text(summary.wall_s)} instead of {to_text(change.base.wall_s)}"
        f"{iterations_remark(change.unit)}"
    )


def _is_known(summary: Summary) -> bool:
    """Return whether the difference is known. If it is unknown, there are no sentences."""
    return not isnan(_change(summary).difference_s)


def _verdict_sentence(summary: Summary, times: Times) -> Iterator[str]:
    if _is_known(summary):
        yield verdict_in_words(_change(summary), summary.device_time_s, times)


def _largest_differences(summary: Summary, times: Times) -> Iterator[str]:
    change = _change(summary)
    # With too few runs, no group has a verdict, and all groups are shown.
    clear = [
        one
        for one in change.contributions
        if one.verdict not in ("same", "uncertain") and _without_residue(one)
    ]
    if not clear or not _is_known(summary):
        return
    # Shares of the difference make no sense if the difference may be noise, or if a share is not
    # between 0 and 1. Without a verdict, noise is unknown, and shares are shown.
    with_shares = change.verdict in (*CHANGED, None) and all(0 <= one.share <= 1 for one in clear)
    largest = "; ".join(_contribution_text(one, times, with_share=with_shares) for one in clear)
    by = ", ".join(change.by)
    remark = "" if change.medians_add_up else " (medians do not add up)"
    yield f"largest differences{_measured_remark(change)} by {by}{remark}: {largest}"


def _measured_remark(change: Change) -> str:
    """Return ` as measured` if the answer's table, unlike the summary, is corrected for drift."""
    return " as measured" if change.of_corrected else ""


def _contribution_text(contribution: Contribution, times: Times, *, with_share: bool) -> str:
    share = f", {percent(contribution.share)} of the difference" if with_share else ""
    difference = times.text(contribution.difference_s, signed=True)
    return f"{contribution.label} {difference}{share}{in_brackets(contribution.verdict or '')}"


def _changed_sentences(summary: Summary, times: Times) -> Iterator[str]:
    change = _change(summary)
    remark = iterations_remark(change.unit)
    for one in change.changed if _is_known(summary) else ():
        difference = times.text(one.difference_s, signed=True) + _measured_remark(change)
        label = f"{one.label}{in_brackets(one.detail)}"
        is_of_work = one.verdict in (MORE_WORK, LESS_WORK)
        work = f" with {three_digits(one.work_ratio)} times the work" if is_of_work else ""
        yield (
            f"{one.verdict}: {label} {difference}, "
            f"{three_digits(one.ratio)} times the baseline{work}{remark}"
        )


def _verdict_counts(summary: Summary, _: Times) -> Iterator[str]:
    """Yield a sentence that says how many rows have each verdict; nothing if no row has one."""
    change = _change(summary)
    if not _is_known(summary) or all(one.verdict == NOT_AVAILABLE for one in change.verdicts):
        return
    row_count = sum(one.rows for one in change.verdicts)
    rows = (
        counted(row_count, "group")
        if change.of_groups
        else f"{counted(row_count, 'operator')} with a time"
    )
    first = next((one for one in change.verdicts if not isnan(one.share)), None)
    counts = ", ".join(
        f"{one.verdict} {one.rows}{in_brackets(_of_verdict(one, is_first=one is first))}"
        for one in change.verdicts
    )
    shares = [one.share for one in change.verdicts if not isnan(one.share)]
    remark = "; medians do not add up" if shares and abs(sum(shares) - 1) > _UNEXPLAINED else ""
    yield f"verdicts on {rows}: {counts}{iterations_remark(change.unit)}{remark}"


def _of_verdict(count: VerdictCount, *, is_first: bool) -> str:
    """Return the share of the time of these rows, and how many of them took no time."""
    share = "" if isnan(count.share) else percent(count.share)
    whole = f"{share} of the time" if is_first else share
    without_time = f"{count.without_time} took no time" if count.without_time else ""
    return ", ".join(filter(None, (whole, without_time)))


_CONTRIBUTION_SCHEMA: Final = {
    "label": TEXT,
    "detail": DETAIL,
    "difference_s": {"type": "number"},
    "share": {"description": "The share of the whole difference.", **NUMBER},
    "ratio": NUMBER,
    "work_ratio": {"description": "The work / the baseline's work.", **NUMBER},
    "verdict": VERDICT,
}


def _contribution_record(contribution: Contribution) -> dict[str, Any]:
    return {name: getattr(contribution, name) for name in _CONTRIBUTION_SCHEMA}


GROUP: Final = FactGroup(
    "comparison",
    "How the device time of all operators differs from the baseline's; null without --compare.",
    (
        *BASELINE_FACTS,
        Fact(
            "difference_s",
            "The device time minus the baseline's device time.",
            lambda summary: _change(summary).difference_s,
            label="difference",
            text=_difference_text,
        ),
        Fact(
            "change",
            "The difference as a fraction of the baseline's device time.",
            lambda summary: _change(summary).change,
            shown_with="difference_s",
        ),
        Fact(
            "ratio",
            "The device time divided by the baseline's device time.",
            lambda summary: _change(summary).ratio,
            label="ratio",
            text=_ratio_text,
        ),
        Fact(
            "ratio_low",
            "The lower end of the 95 % confidence interval of the ratio.",
            lambda summary: _change(summary).low,
            shown_with="ratio",
        ),
        Fact(
            "ratio_high",
            "The upper end of the 95 % confidence interval of the ratio.",
            lambda summary: _change(summary).high,
            shown_with="ratio",
        ),
        Fact(
            "p_value",
            "How often chance alone makes a difference at least this large.",
            lambda summary: _change(summary).p_value,
            shown_with="verdict",
        ),
        Fact(
            "verdict",
            "The verdict on the device time of all operators; null with fewer than four runs or no "
            "device time on a side, if the two sides are different models, and if they probably "
            "have different numbers of iterations in a run.",
            lambda summary: _change(summary).verdict,
            VERDICT,
            label="verdict",
            text=_verdict_text,
            sentences=_verdict_sentence,
        ),
        Fact(
            "estimate",
            "The ratio that p_value, verdict and runs_needed are based on: the median ratio over "
            "all pairs of runs, one of each side.",
            lambda summary: _change(summary).estimate,
            shown_with="verdict",
        ),
        Fact(
            "runs_needed",
            "How many runs of each side would settle an uncertain verdict in four of five "
            "comparisons, if `estimate` is right; null for other verdicts, if more than 1,000 runs "
            "are needed, and if both sides have the same times.",
            lambda summary: _change(summary).runs_needed,
            shown_with="verdict",
        ),
        Fact(
            "threshold",
            "The smallest change that a verdict calls slower or faster, as a fraction.",
            lambda summary: _change(summary).threshold,
            shown_with="verdict",
        ),
        Fact(
            "unit",
            "What the statistics count: runs (if each process has one), processes or iterations.",
            lambda summary: _change(summary).unit,
            {"enum": ["runs", "processes", "iterations"]},
            shown_with="verdict",
        ),
        Fact(
            "wall_difference_s",
            "The wall time of a run minus the baseline's.",
            lambda summary: _change(summary).wall.difference_s,
            sentences=_wall_sentence,
        ),
        Fact(
            "wall_ratio",
            "The wall time of a run divided by the baseline's.",
            lambda summary: _change(summary).wall.ratio,
            shown_with="wall_difference_s",
        ),
        Fact(
            "wall_ratio_low",
            "The lower end of the 95 % confidence interval of wall_ratio.",
            lambda summary: _change(summary).wall.low,
            shown_with="wall_difference_s",
        ),
        Fact(
            "wall_ratio_high",
            "The upper end of the 95 % confidence interval of wall_ratio.",
            lambda summary: _change(summary).wall.high,
            shown_with="wall_difference_s",
        ),
        *CAUSE_FACTS,
        Fact(
            "largest_differences",
            "At most three groups, the largest differences first.",
            lambda summary: list(map(_contribution_record, _change(summary).contributions)),
            list_schema(_CONTRIBUTION_SCHEMA),
            sentences=_largest_differences,
        ),
        Fact(
            "largest_differences_by",
            "The keys that largest_differences are grouped by.",
            lambda summary: list(_change(summary).by),
            {"type": "array", "items": TEXT},
            shown_with="largest_differences",
        ),
        Fact(
            # These rows have one of the verdicts in `CHANGED`. Programs read the name of this fact,
            # so it must not change.
            "called",
            "At most three rows that changed beyond noise, the largest differences first. Empty "
            "for the operators of two different models, and for sides that probably have different "
            "numbers of iterations in a run.",
            lambda summary: list(map(_contribution_record, _change(summary).changed)),
            list_schema(_CONTRIBUTION_SCHEMA),
            sentences=_changed_sentences,
        ),
        Fact(
            "verdicts",
            "The number of rows (operators, or groups if asked for) with each verdict, N/A "
            "included.",
            lambda summary: {one.verdict: one.rows for one in _change(summary).verdicts},
            {"type": "object", "additionalProperties": COUNT},
            sentences=_verdict_counts,
        ),
        Fact(
            "verdict_shares",
            "The share of the profile's device time that the rows with each verdict take; null for "
            "removed rows.",
            lambda summary: {one.verdict: one.share for one in _change(summary).verdicts},
            {"type": "object", "additionalProperties": NUMBER},
            shown_with="verdicts",
        ),
    ),
    pages={
        **dict.fromkeys(
            (*CAUSES, "difference by cause", "medians do not add up"), "docs/reading.md"
        ),
        **dict.fromkeys(
            (*COUNTED_VERDICTS, "drift factor", "threshold", "processes"), "docs/statistics.md"
        ),
    },
)

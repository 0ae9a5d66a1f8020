"""The summary of a comparison: how the total time changed, and which groups changed most."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from profile_analyze.comparison.compared_work import CHANGED
from profile_analyze.comparison.formulas import tests_of
from profile_analyze.comparison.intervals import ratios_of
from profile_analyze.comparison.statistics import LEAST_RUNS, SAME, UNCERTAIN
from profile_analyze.model.findings import Finding, Kind
from profile_analyze.model.joining.iterations import unit_noun
from profile_analyze.model.terms import ADDED, REMOVED
from profile_analyze.query.change_causes import add_up, causes_of, work_change
from profile_analyze.query.conditions import TIME_TOLERANCE_S
from profile_analyze.query.distinct_names import details_of
from profile_analyze.query.few_units import units_of, why_no_verdict
from profile_analyze.query.missing_times import missing_times_of
from profile_analyze.query.notes.comparison import (
    drift_findings,
    few_units_findings,
    odd_run_findings,
    wall_time_findings,
)
from profile_analyze.query.question import Query
from profile_analyze.query.run import run
from profile_analyze.query.time_shares import share_of
from profile_analyze.query.wall_times import wall_change_of
from profile_analyze.units import NOT_AVAILABLE
from profile_analyze.views.baseline import baseline_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from profile_analyze.comparison.comparison import Comparison
    from profile_analyze.comparison.notes import Mismatch
    from profile_analyze.model.joining.iterations import SampleUnit
    from profile_analyze.model.notes import Note
    from profile_analyze.query.change_causes import Cause, WorkChange
    from profile_analyze.query.table import Table
    from profile_analyze.query.wall_times import WallChange
    from profile_analyze.views.baseline import Baseline

_MOST_CONTRIBUTIONS: Final = 3
COUNTED_VERDICTS: Final = (*CHANGED, ADDED, REMOVED, SAME, UNCERTAIN)
"""All verdicts, in the order in which the summary counts them."""


class Contribution(NamedTuple):
    """How much one group or operator contributes to the difference of the total times."""

    label: str
    """The values of the group's keys, or the operator's name."""
    detail: str
    """What tells the operator apart from others with this name; empty for groups."""
    difference_s: float
    share: float
    """The share of the total difference; NaN if the total difference is 0."""
    ratio: float
    work_ratio: float
    verdict: str | None


class VerdictCount(NamedTuple):
    """How many rows of a question have a particular verdict."""

    verdict: str
    """A verdict, or N/A."""
    rows: int
    share: float
    """The share of the profile's device time that these rows take; NaN for removed rows."""
    without_time: int
    """How many of these rows took no time, if the verdict is `added` or `removed`; otherwise 0.
    `Change.causes` leaves out rows that took no time."""


class Change(NamedTuple):
    """How the total device time differs between the baseline and the profile. NaN is N/A."""

    base: Baseline
    difference_s: float
    change: float
    """The difference as a fraction of the baseline's time."""
    ratio: float
    low: float
    """The lower end of the 95 % confidence interval of the ratio; `high` is the upper end."""
    high: float
    p_value: float
    verdict: str | None
    """The verdict on the total. None if there are too few runs, or with a `mismatch`."""
    estimate: float
    """The ratio that `p_value`, `verdict` and `runs_needed` are based on: the median ratio of all
    pairs of runs, one of each side. `ratio` may differ, because it is the ratio of two medians."""
    runs_needed: float
    """How many runs of each side would probably settle an uncertain verdict. N/A if both sides
    have the same times, because the runs of both sides are then probably the same."""
    why_no_verdict: Finding | None
    """Which side has no device times, or too few runs for verdicts; None if neither has."""
    mismatch: Finding | None
    """Why the change has no verdict: the two sides are different models, or have different numbers
    of iterations in a run; usually None."""
    doubt: Finding | None
    """Why the two sides may be different models, although the change has a verdict; usually
    None."""
    wall: WallChange
    work: WorkChange
    causes: tuple[Cause, ...]
    """The parts of the difference. They add up to the whole difference."""
    contributions: tuple[Contribution, ...]
    """At most three groups, the largest differences first. `by` has the keys of the groups."""
    medians_add_up: bool
    """Whether the differences of all groups add up to the whole difference, and those of all
    operators, too: see `change_causes.add_up`. Times are medians, which need not add up."""
    changed: tuple[Contribution, ...]
    """At most three rows of the question with one of the verdicts in `CHANGED`, the largest
    differences first. Empty with a `mismatch`, unless the mismatch is that the sides are different
    models and the rows are groups."""
    verdicts: tuple[VerdictCount, ...]
    """How many rows of the question (operators or groups) have each verdict, including N/A."""
    threshold: float
    """The smallest change that counts as slower or faster, as a fraction of the baseline."""
    of_groups: bool
    """Whether the rows of the question are groups."""
    by: tuple[str, ...]
    """The keys that `contributions` are grouped by: the keys of the question, or else `type`."""
    of_corrected: bool
    """Whether the table of the answer, unlike this summary, has times corrected for drift."""
    unit: str
    """The plural noun for the units that statistics count: see `iterations.unit_noun`."""
    notes: tuple[Note, ...]


def change_of(query: Query, comparison: Comparison) -> Change:
    """Return the summary of `comparison`. `query` has the group keys and the settings."""
    whole, rows, operators, groups = _answers(query, comparison)
    tests = whole.shown.of_all_rows(tests_of) if len(whole) else None
    difference_s, verdicts = _number(whole, "difference"), tuple(_verdict_counts(rows))
    mismatch = _mismatch(comparison)
    verdict = _verdict_on(whole, mismatch)
    can_be_settled = verdict is not None and not _have_equal_times(whole)
    return Change(
        base=baseline_of(comparison, _number(whole, "base"), query),
        difference_s=difference_s,
        change=_number(whole, "change"),
        ratio=_number(whole, "ratio"),
        low=_number(whole, "ratio_low"),
        high=_number(whole, "ratio_high"),
        p_value=_number(whole, "p_value"),
        verdict=verdict,
        estimate=np.nan if tests is None else float(ratios_of(tests.chosen.estimate)[0]),
        runs_needed=_number(whole, "runs_needed") if can_be_settled else np.nan,
        why_no_verdict=why_no_verdict(comparison, query.unit),
        mismatch=None if mismatch is None else mismatch.finding,
        doubt=None if comparison.doubt is None else comparison.doubt.finding,
        wall=wall_change_of(whole, comparison),
        work=work_change(whole, operators),
        causes=tuple(causes_of(operators, difference_s)),
        contributions=tuple(_contributions(groups, difference_s)),
        medians_add_up=all(add_up(table, difference_s) for table in (groups, operators)),
        changed=tuple(_changed(rows, difference_s, mismatch)),
        verdicts=verdicts,
        threshold=query.threshold,
        of_groups=rows.query.grouped,
        by=groups.query.by,
        of_corrected=comparison.uncorrected is not None,
        unit=_unit_noun(comparison, query.unit),
        notes=(
            *odd_run_findings(comparison, query.unit, is_uncertain=verdict == UNCERTAIN),
            *_notes(comparison, rows, operators, verdicts, difference_s),
            *wall_time_findings(whole, comparison),
        ),
    )


def _mismatch(comparison: Comparison) -> Mismatch | None:
    """Return the mismatch that leaves no verdict on the change; usually None."""
    mismatch = comparison.mismatch
    # If the same runs are on both sides, the change of 0 is right.
    return None if mismatch is None or mismatch.kind == "runs" else mismatch


class _Answers(NamedTuple):
    """The tables of the summary, each about all operators, with the times as measured.

    Filters of the question do not apply.
    """

    whole: Table
    """One row for all operators together."""
    rows: Table
    """A row for each operator, or for each group if the question has keys."""
    operators: Table
    groups: Table
    """The groups of the question, or else a group for each type."""


def _answers(query: Query, comparison: Comparison) -> _Answers:
    # Drift correction removes any change that all operators share, so the whole summary uses the
    # times as measured.
    measured = comparison.as_measured
    operators = run(_query_for_all(query), measured)
    rows = run(_query_for_all(query, by=query.by), measured) if query.by else operators
    groups = rows if query.by else run(_query_for_all(query, by="type"), measured)
    # With an aggregate but without keys, all operators form one group: the whole.
    whole = run(_query_for_all(query, aggregates="sum"), measured)
    return _Answers(whole, rows, operators, groups)


def _query_for_all(query: Query, *, by: str | tuple[str, ...] = (), aggregates: str = "") -> Query:
    """Return a question about the device time of all operators, with the settings of `query`."""
    return Query(
        by=by,
        aggregates=aggregates or (),
        compared=True,
        threshold=query.threshold,
        unit=query.unit,
        level=query.level,
        peaks=query.peaks,
    )


def _only_value(whole: Table, name: str) -> Any:
    """Return the value in the only row of `whole`; None if no operator has a device time."""
    return whole[name][0] if len(whole) else None


def _verdict_on(whole: Table, mismatch: Mismatch | None) -> str | None:
    """Return `Change.verdict`."""
    verdict: str | None = _only_value(whole, "verdict")
    return verdict if mismatch is None else None


def _number(whole: Table, name: str) -> float:
    value = _only_value(whole, name)
    return np.nan if value is None else float(value)


def _have_equal_times(whole: Table) -> bool:
    """Return whether both sides have the same total times, in any order."""
    times, base = (np.sort(whole.shown.per_unit(name), axis=None) for name in ("time", "base"))
    return np.array_equal(times, base)


def _contributions(
    rows: Table, whole_s: float, verdicts: tuple[str, ...] = ()
) -> Iterator[Contribution]:
    """Yield the rows with the largest differences.

    If `verdicts` is not empty, only rows with one of these verdicts count. `rows` must be in the
    default order of comparisons, which puts the largest differences first.
    """
    differences, row_verdicts = rows["difference"], rows["verdict"]
    chosen = [
        index
        for index in np.flatnonzero(np.nan_to_num(differences) != 0).tolist()
        if not verdicts or row_verdicts[index] in verdicts
    ]
    labels = rows.labels if rows.query.by else rows.texts("name")
    largest = chosen[:_MOST_CONTRIBUTIONS]
    details = [""] * len(largest) if rows.query.grouped else details_of(rows, largest)
    for index, detail in zip(largest, details, strict=True):
        difference_s = float(differences[index])
        yield Contribution(
            label=labels[index],
            detail=detail,
            difference_s=difference_s,
            share=difference_s / whole_s if whole_s else np.nan,
            ratio=float(rows["ratio"][index]),
            work_ratio=float(rows["work_ratio"][index]),
            verdict=row_verdicts[index],
        )


def _changed(rows: Table, whole_s: float, mismatch: Mismatch | None) -> Iterator[Contribution]:
    """Yield `Change.changed`."""
    # Of different models, few operators match, and only by chance. Groups, such as types, can be
    # compared.
    if mismatch is None or (rows.query.grouped and mismatch.kind == "models"):
        yield from _contributions(rows, whole_s, CHANGED)


def _verdict_counts(rows: Table) -> Iterator[VerdictCount]:
    row_verdicts = np.array(rows.texts("verdict"), dtype=object)
    took_no_time = np.abs(rows["difference"]) <= TIME_TOLERANCE_S
    for verdict in (*COUNTED_VERDICTS, NOT_AVAILABLE):
        chosen = row_verdicts == verdict
        if chosen.any():
            share = np.nan if verdict == REMOVED else share_of(rows.shown, chosen)
            without_time = chosen & took_no_time & (verdict in (ADDED, REMOVED))
            yield VerdictCount(verdict, int(chosen.sum()), share, int(without_time.sum()))


def _notes(
    comparison: Comparison,
    rows: Table,
    operators: Table,
    counts: Sequence[VerdictCount],
    difference_s: float,
) -> Iterator[Note]:
    yield from _scope_notes(comparison, rows)
    yield from few_units_findings(comparison, rows)
    yield from _no_verdict_notes(comparison, rows, counts)
    yield from drift_findings(operators, comparison, difference_s)


def _scope_notes(comparison: Comparison, rows: Table) -> Iterator[Note]:
    """Yield a note if only one side has scopes, so that rows may not belong together."""
    if comparison.scopes_on and not rows.query.grouped:
        yield Finding.of("scopes-on-one-side", Kind.ANSWER, side=comparison.scopes_on)


def _no_verdict_notes(
    comparison: Comparison, rows: Table, counts: Sequence[VerdictCount]
) -> Iterator[Note]:
    """Yield a note if some rows have no verdict although there are enough runs for verdicts."""
    if missing_times_of(rows) or min(units_of(comparison, rows.query.unit)) < LEAST_RUNS:
        return
    noun = "group" if rows.query.grouped else "operator"
    for one in counts:
        if one.verdict == NOT_AVAILABLE:
            yield Finding.of(
                "rows-without-verdict",
                Kind.INCOMPLETE,
                share=one.share,
                rows=one.rows,
                noun=noun,
                least=LEAST_RUNS,
                units=_unit_noun(comparison, rows.query.unit),
            )


def _unit_noun(comparison: Comparison, unit: SampleUnit) -> str:
    return unit_noun(unit, comparison.profile.runs, comparison.base.runs)

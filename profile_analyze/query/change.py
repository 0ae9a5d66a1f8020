"""What changed as a whole between a baseline and a profile, and what explains it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from profile_analyze.analysis.statistics import (
    FASTER,
    LEAST_RUNS,
    SAME,
    SIGNIFICANT,
    SLOWER,
    UNCERTAIN,
    least_p,
)
from profile_analyze.model.iterations import unit_noun, units_in
from profile_analyze.model.terms import ADDED, REMOVED
from profile_analyze.query.question import Query
from profile_analyze.query.run import run
from profile_analyze.units import NOT_AVAILABLE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from profile_analyze.model.comparison import Comparison
    from profile_analyze.model.iterations import Unit
    from profile_analyze.query.table import Table

_CONTRIBUTIONS: Final = 3
_WORDS: Final = (SLOWER, FASTER, ADDED, REMOVED, SAME, UNCERTAIN)


class Contribution(NamedTuple):
    """The part of a difference that one group or operator accounts for."""

    label: str
    """The keys of a group, or the operator's name."""
    difference_s: float
    share: float
    """The share of the whole difference; NaN if that is 0."""
    ratio: float
    verdict: str | None


class Change(NamedTuple):
    """The device time of all operators, in a profile and in its baseline. NaN is N/A."""

    base_file: str
    base_runs: int
    base_processes: int
    base_time_s: float
    base_spread: float
    """Half the interquartile range of the baseline's runs over their median."""
    difference_s: float
    change: float
    """The difference as a fraction of the baseline's time."""
    ratio: float
    low: float
    """The lower end of the 95 % confidence interval of the ratio; `high` is the upper end."""
    high: float
    p_value: float
    verdict: str | None
    """`slower`, `faster`, `same` or `uncertain`; None with too few runs, if the baseline's time is
    0, or if drift is corrected."""
    contributions: tuple[Contribution, ...]
    """The groups with the largest differences, grouped by the keys of the question or by type."""
    called: tuple[Contribution, ...]
    """The rows of the question that are called slower or faster, the largest differences first."""
    verdicts: tuple[tuple[str, int], ...]
    """How many rows of the question (operators, or its groups) have each verdict; N/A too."""
    of_groups: bool
    """Whether the rows of the question are groups."""
    by: tuple[str, ...]
    """The keys that `contributions` are grouped by."""
    drift_corrected: bool
    """Whether drift is corrected, so that there is no verdict on the whole."""
    unit: str
    """What statistics count: see `iterations.unit_noun`."""
    notes: tuple[str, ...]


def change_of(query: Query, comparison: Comparison) -> Change:
    """What changed as a whole. Groups are formed by the keys of `query`, or by type."""
    whole = run(_like(query, aggregates="sum"), comparison)
    rows = run(_like(query, by=query.by), comparison)
    groups = rows if query.by else run(_like(query, by="type"), comparison)
    difference_s = _number(whole, "difference")
    return Change(
        base_file=comparison.base.file,
        base_runs=len(comparison.base.runs),
        base_processes=units_in(comparison.base.runs, "process"),
        base_time_s=_number(whole, "base"),
        base_spread=comparison.base.spread(),
        difference_s=difference_s,
        change=_number(whole, "change"),
        ratio=_number(whole, "ratio"),
        low=_number(whole, "ratio_low"),
        high=_number(whole, "ratio_high"),
        p_value=_number(whole, "p_value"),
        verdict=None if comparison.drift_corrected else _only(whole, "verdict"),
        contributions=tuple(_contributions(groups, difference_s)),
        called=tuple(_contributions(rows, difference_s, (SLOWER, FASTER))),
        verdicts=tuple(_counts(rows)),
        of_groups=rows.query.grouped,
        by=groups.query.by,
        drift_corrected=comparison.drift_corrected,
        unit=_noun(comparison, query.unit),
        notes=(*_notes(comparison, query.unit), *_on_few_runs(comparison, rows)),
    )


def _like(query: Query, *, by: str | tuple[str, ...] = (), aggregates: str = "") -> Query:
    """A question about all operators on the device that compares as `query` does."""
    return Query(
        by=by,
        aggregates=aggregates or (),
        compared=True,
        threshold=query.threshold,
        unit=query.unit,
        level=query.level,
        peaks=query.peaks,
    )


def _only(result: Table, name: str) -> Any:
    """The value in the only row; None without one, where no operator has a device time."""
    return result[name][0] if len(result) else None


def _number(result: Table, name: str) -> float:
    value = _only(result, name)
    return np.nan if value is None else float(value)


def _contributions(
    rows: Table, whole_s: float, verdicts: tuple[str, ...] = ()
) -> Iterator[Contribution]:
    """The first rows that differ, if `verdicts` are given only those with one of them."""
    differences, found = rows["difference"], rows["verdict"]
    chosen = [
        place
        for place in np.flatnonzero(np.nan_to_num(differences) != 0).tolist()
        if not verdicts or found[place] in verdicts
    ]
    labels = rows.labels if rows.query.by else rows.texts("name")
    for place in chosen[:_CONTRIBUTIONS]:
        difference_s = float(differences[place])
        yield Contribution(
            label=labels[place],
            difference_s=difference_s,
            share=difference_s / whole_s if whole_s else np.nan,
            ratio=float(rows["ratio"][place]),
            verdict=found[place],
        )


def _counts(rows: Table) -> Iterator[tuple[str, int]]:
    found = rows.texts("verdict")
    for word in (*_WORDS, NOT_AVAILABLE):
        if word in found:
            yield word, found.count(word)


def _notes(comparison: Comparison, unit: Unit) -> Iterator[str]:
    counts = _units(comparison, unit)
    if min(counts) < LEAST_RUNS:
        what = _noun(comparison, unit)
        yield (
            f"verdicts are N/A: they need {LEAST_RUNS} {what} or more on each side, and here are "
            f"{counts[0]} and {counts[1]} of the base; with so few, large differences often occur "
            "by chance"
        )


def _on_few_runs(comparison: Comparison, rows: Table) -> Iterator[str]:
    """A note if the correction for the number of rows rules out a verdict on any single row."""
    unit = rows.query.unit
    counts = _units(comparison, unit)
    asked = int((~np.isnan(rows["p_value"])).sum())
    if min(counts) < LEAST_RUNS or least_p(*counts) * asked <= SIGNIFICANT:
        return
    enough = LEAST_RUNS
    while least_p(enough, enough) * asked > SIGNIFICANT:
        enough += 1
    what = "groups" if rows.query.grouped else "operators"
    yield (
        f"so few {_noun(comparison, unit)}, {counts[0]} and {counts[1]} of the base, cannot "
        f"show a change of just one of {asked} {what}, however large; {enough} on each side can"
    )


def _units(comparison: Comparison, unit: Unit) -> tuple[int, int]:
    """How many units statistics count on each side."""
    return units_in(comparison.profile.runs, unit), units_in(comparison.base.runs, unit)


def _noun(comparison: Comparison, unit: Unit) -> str:
    return unit_noun(unit, comparison.profile.runs, comparison.base.runs)

"""What changed as a whole between a base and a profile, and what explains it."""

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
from profile_analyze.model.comparison import ADDED, REMOVED
from profile_analyze.query.question import Query
from profile_analyze.query.run import run
from profile_analyze.units import NOT_AVAILABLE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from profile_analyze.model.comparison import Comparison
    from profile_analyze.query.table import Table

_CONTRIBUTIONS: Final = 3
_WORDS: Final = (SLOWER, FASTER, ADDED, REMOVED, SAME, UNCERTAIN)


class Contribution(NamedTuple):
    """The part of a difference that one group or operator has."""

    label: str
    """The keys of a group, or the operator's name."""
    difference_s: float
    share: float
    """Of the difference of the whole; NaN where that is 0."""
    ratio: float
    verdict: str | None


class Change(NamedTuple):
    """The device time of all operators, in a profile and in its base. NaN is N/A."""

    base_file: str
    base_runs: int
    base_time_s: float
    base_spread: float
    """Half the interquartile range of the base's runs over their median."""
    difference_s: float
    change: float
    """As a fraction of the base's time."""
    ratio: float
    low: float
    """Between this and the next the ratio lies, at 95 %."""
    high: float
    p_value: float
    verdict: str | None
    """`slower`, `faster`, `same` or `uncertain`; None with too few runs, a base of 0, or where a
    change of everything was taken out."""
    contributions: tuple[Contribution, ...]
    """The groups with the largest differences, by the keys of the question or by type."""
    called: tuple[Contribution, ...]
    """The rows of the question that are called slower or faster, the largest differences first."""
    verdicts: tuple[tuple[str, int], ...]
    """How many rows of the question (operators, or its groups) have each verdict; N/A too."""
    of_groups: bool
    """Whether those are groups."""
    by: tuple[str, ...]
    """What `contributions` are by."""
    drift_corrected: bool
    """Whether a change of everything was taken out, so that there is no verdict on the whole."""
    notes: tuple[str, ...]


def change_of(query: Query, comparison: Comparison) -> Change:
    """What changed as a whole; groups are formed as `query` does, or by type."""
    whole = run(_like(query, aggregates="sum"), comparison)
    rows = run(_like(query, by=query.by), comparison)
    groups = rows if query.by else run(_like(query, by="type"), comparison)
    difference_s = _number(whole, "difference")
    return Change(
        base_file=comparison.base_file,
        base_runs=comparison.base_runs,
        base_time_s=_number(whole, "base"),
        base_spread=comparison.base_device.spread("end"),
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
        notes=(*_notes(comparison), *_on_few_runs(comparison, rows)),
    )


def _like(query: Query, *, by: str | tuple[str, ...] = (), aggregates: str = "") -> Query:
    """A question about all operators on the device that compares as `query` does."""
    return Query(
        by=by,
        aggregates=aggregates or (),
        compared=True,
        threshold=query.threshold,
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
    """The largest, in the order of `rows`; of those with one of `verdicts`, if some are given."""
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


def _notes(comparison: Comparison) -> Iterator[str]:
    runs, base_runs = comparison.profile.runs, comparison.base_runs
    if min(runs, base_runs) < LEAST_RUNS:
        yield (
            f"verdicts are N/A: they need {LEAST_RUNS} runs or more on each side, and here are "
            f"{runs} and {base_runs} of the base; chance sets so few apart too often"
        )


def _on_few_runs(comparison: Comparison, rows: Table) -> Iterator[str]:
    """A note where the correction for the number of rows leaves none that could be called."""
    runs, base_runs = comparison.profile.runs, comparison.base_runs
    asked = int((~np.isnan(rows["p_value"])).sum())
    if min(runs, base_runs) < LEAST_RUNS or least_p(runs, base_runs) * asked <= SIGNIFICANT:
        return
    enough = LEAST_RUNS
    while least_p(enough, enough) * asked > SIGNIFICANT:
        enough += 1
    what = "groups" if rows.query.grouped else "operators"
    yield (
        f"so few runs, {runs} and {base_runs} of the base, cannot call one of {asked} {what} "
        f"slower or faster if it alone has changed, however much; {enough} on each side could"
    )

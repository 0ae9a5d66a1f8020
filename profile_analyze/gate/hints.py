"""Advice on conditions of `--fail-if` that are valid, but probably a mistake or without values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from profile_analyze.gate.conditions import NO_FILTERS, TOTAL, WALL, conditions_on_verdicts
from profile_analyze.model.findings import Finding
from profile_analyze.model.measures import MEASURES
from profile_analyze.model.numbers import median
from profile_analyze.query.missing_times import missing_times_of
from profile_analyze.query.notes.filters import ON_CONDITION
from profile_analyze.query.run import run
from profile_analyze.query.run_times import walls_s

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from profile_analyze.comparison.comparison import Comparison
    from profile_analyze.gate.conditions import FailCondition
    from profile_analyze.model.profile import Profile
    from profile_analyze.query.question import Query
    from profile_analyze.query.table import Table


_FILTERS: Final[Mapping[str, str]] = {
    "types": "the filter by type",
    "name": "the filter by name",
    "input_dtype": "the filter by input dtype",
    "min_time_s": "the minimum time",
    "max_time_s": "the maximum time",
    "where": "--where",
}
"""The words for each filter of `Query`."""


class Hint(NamedTuple):
    """What to append to the reason for an outcome."""

    text: str = ""
    """Words that follow the reason."""
    finding: Finding | None = None
    """What follows them, as a finding."""
    advice: str = ""
    """Words that follow the finding."""


def reason_unknown(condition: FailCondition, *, of_base: bool) -> str:
    """Return the reason if no selected operator of the profile, or of the baseline, has a time."""
    side = " of the baseline" if of_base else ""
    if condition.is_of_runs:
        return f"the wall time{side} is N/A"
    if condition.names_measure:
        operators = condition.unnamed_operators or "all selected operators"
        return f"{condition.metric}{side} is N/A for {operators}"
    return f"the time{side} is N/A"


def hint_on(condition: FailCondition, table: Table, source: Profile | Comparison) -> Hint:
    """Return advice on a condition that is probably a mistake; empty if it looks right.

    `table` has the operators of `source` that the condition selects.
    """
    if not table.matched:
        return _hint_on_no_operator(condition, table, source)
    if any(without_times := _hint_on_missing_times(condition, table)):
        return without_times
    # A condition that selects rows by their verdict may not limit the change of a time: see
    # `FailCondition.check_selection`. So `> +LIMIT` is no advice for it.
    if table.shown.comparison is None or conditions_on_verdicts(table.query):
        return Hint()
    return _hint_on_baseline(condition, table.shown.per_unit("base"))


def hint_on_runs(
    condition: FailCondition,
    profile: Profile,
    times: NDArray[np.float64],
    base: NDArray[np.float64] | None,
) -> Hint:
    """Return advice on a condition on wall times; empty if it looks right.

    `times` and `base` have the wall times of both sides, shape (1, units) each.
    """
    if profile.model is not None:
        return _hint_on_model(condition)
    lacking = [
        side
        for side, walls in (("profile", times), ("baseline", base if condition.relative else None))
        if walls is not None and np.isnan(walls).all()
    ]
    if lacking:
        return Hint(
            f": no file of the {lacking[0]} has the wall time of a run; limit total instead"
        )
    return Hint() if base is None else _hint_on_baseline(condition, base)


def _hint_on_baseline(condition: FailCondition, base: NDArray[np.float64]) -> Hint:
    """Return advice on an absolute limit that the baseline exceeds, too; empty for others."""
    if not condition.above or condition.limit_unit != "s" or not median(base) > condition.limit:
        return Hint()
    before, _, limit = condition.text.rpartition(">")
    change = f"{before.rstrip()} > +{limit.lstrip()}"
    return Hint(f"; the baseline is beyond this limit, too; to limit the change, write {change!r}")


def _hint_on_model(condition: FailCondition) -> Hint:
    return Hint(f"; a model that has not run has no times: {condition.advice_on_work}")


def _hint_on_no_operator(
    condition: FailCondition, table: Table, source: Profile | Comparison
) -> Hint:
    """Return why the condition selects no operator, or what to write; empty if that is unclear."""
    if not table.recorded and not condition.is_of_work:
        return Hint(f": {condition.metric} is N/A for all operators")
    if by_filters := _hint_on_filters(condition, table.query, source):
        return Hint(by_filters)
    findings = [one for one in table.notes if isinstance(one, Finding)]
    if len(table.without_times) and not condition.is_of_work:
        return Hint(finding=next(one for one in findings if one.code == "nothing-matches"))
    # `FailCondition.about` appends the subject to the conditions of the question, so the last
    # condition is the subject.
    if not condition.subject or conditions_on_verdicts(table.query):
        return Hint()
    text = table.query.conditions[-1].text
    about = [one for one in findings if one.code in ON_CONDITION and one["condition"] == text]
    return Hint(finding=min(about, key=lambda one: ON_CONDITION.index(one.code), default=None))


def _hint_on_missing_times(condition: FailCondition, table: Table) -> Hint:
    """Return why a side has no times at all, or what to do; empty if the condition has times."""
    if table.shown.profile.model is not None:
        return _hint_on_model(condition)
    missing = missing_times_of(table)
    # An absolute limit does not need the times of the baseline.
    is_needed = condition.relative or np.isnan(table.shown.per_unit("time")).all()
    if not (missing and is_needed):
        return Hint(_hint_on_missing_kernels(condition, table))
    return Hint(finding=missing, advice=_instead_of_total(condition, table))


def _instead_of_total(condition: FailCondition, table: Table) -> str:
    """Return how to limit whole runs instead of `total`; empty if their times are unknown."""
    comparison = table.shown.comparison
    sides = [table.shown.profile, *([comparison.base] if comparison and condition.relative else [])]
    if condition.metric != TOTAL or any(np.isnan(walls_s(side)).any() for side in sides):
        return ""
    return f", or limit whole runs: {condition.text.replace(TOTAL, WALL, 1)!r}"


def _hint_on_missing_kernels(condition: FailCondition, table: Table) -> str:
    """Return which sides have no times to first kernel at all, and what to do; usually empty."""
    measure, comparison = MEASURES[table.query.measure], table.shown.comparison
    if measure.field != "first_kernel":
        return ""
    sides = {"profile": table.shown.profile}
    if comparison is not None and condition.relative:
        sides["baseline"] = comparison.base
    lacking = [
        f"the {name}"
        for name, profile in sides.items()
        if np.isnan(profile.measured(measure.name)).all()
    ]
    have = "has" if len(lacking) == 1 else "have"
    advice = f"limit {measure.side}_time instead"
    whose = " and ".join(lacking)
    return f": {whose} {have} no times to first kernel; {advice}" if lacking else ""


def _hint_on_filters(condition: FailCondition, about: Query, source: Profile | Comparison) -> str:
    """Return which filters leave out all operators; empty if the selection matches none."""
    asked: dict[str, Any] = {name: getattr(about, name) for name in NO_FILTERS}
    selection = about.where[-1:] if condition.subject else ()
    alone = {**NO_FILTERS, "where": selection}
    found = {name: value for name, value in asked.items() if value != alone[name]}
    selected = run(about.changed(**alone), source).matched
    if not (found and selected):
        return ""
    # One filter may leave out all operators. Otherwise, each filter leaves out some of them.
    enough = [
        name
        for name, value in found.items()
        if not run(about.changed(**{**alone, name: value}), source).matched
    ]
    names = enough[:1] or [*found]
    together = "leaves" if len(names) == 1 else "together leave"
    filters = " and ".join(_FILTERS[name] for name in names)
    few = {1: "the only operator", 2: "both operators"}
    operators = few.get(selected, f"all {selected} operators")
    selects = f" that {condition.subject!r} selects" if condition.subject else ""
    return f": {filters} {together} out {operators}{selects}"

"""Judges conditions of `--fail-if` by the verdicts of operators and by the number of runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from profile_analyze.comparison.compared_work import CHANGED, WORK_VERDICTS
from profile_analyze.comparison.statistics import (
    LEAST_RUNS,
    SIGNIFICANT,
    SUGGESTED_RUNS,
    UNCERTAIN,
    least_p,
    too_few_runs,
)
from profile_analyze.comparison.verdicts import least_runs
from profile_analyze.gate.conditions import conditions_on_verdicts
from profile_analyze.gate.work import share_of_time
from profile_analyze.model.categorical import Categorical
from profile_analyze.model.joining.iterations import required_noun
from profile_analyze.model.terms import ABSENT
from profile_analyze.query.distinct_names import details_of
from profile_analyze.query.few_units import enough_for_one_operator, hidden_of
from profile_analyze.query.missing_times import missing_times_of
from profile_analyze.query.rows import MOST_UNKNOWN
from profile_analyze.query.run import run
from profile_analyze.query.time_shares import share_of
from profile_analyze.units import counted, percent

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from profile_analyze.comparison.comparison import Comparison
    from profile_analyze.model.findings import Finding
    from profile_analyze.query.question import Query
    from profile_analyze.query.table import Table


class Selected(NamedTuple):
    """The operators that a condition selects by their verdict."""

    operators: int
    name: str
    """The operator with the largest difference. All later attributes are about this operator."""
    detail: str
    """What tells the operator apart from others with this name; may be empty."""
    difference_s: float
    ratio: float
    """The time divided by the time of the baseline; NaN if only one side has the operator."""


class ByVerdicts(NamedTuple):
    """What the verdicts of operators say about a condition that selects operators by verdict."""

    outcome: Literal["passed", "uncertain", "unjudged"] | None = None
    """The outcome if no operator has the verdict; None if the limit must be judged."""
    reason: str = ""
    """The reason for the outcome. If the limit must be judged, this is the reason why the condition
    cannot pass, whatever the value; empty if it can pass, or if `finding` says why."""
    selected: Selected | None = None
    """The operators that have the verdict; None if there is none."""
    finding: Finding | None = None
    """Why the condition cannot be judged, if a finding says so."""

    @property
    def may_pass(self) -> bool:
        """Whether the condition can pass, if the limit must be judged."""
        return not (self.reason or self.finding)


def outcome_by_verdicts(about: Query, source: Comparison) -> ByVerdicts:
    """Return what the verdicts say about the condition whose question is `about`.

    If no operator has the verdict that `about` selects, the outcome is `passed`: in a healthy
    model, no operator is slower. There are two exceptions:

    - The outcome is `unjudged` if operators with over 5 % of the time have no verdict, or have the
      verdict `uncertain` because there are too few runs: see `few_units.hidden_of`.
    - Otherwise, the outcome is `uncertain` if operators with over 5 % of the time are `uncertain`.
    """
    of_verdicts = conditions_on_verdicts(about)
    if not of_verdicts:
        return ByVerdicts()
    table, verdicts = _all_verdicts(about, source)
    if source.profile.origin.times != ABSENT and (missing := missing_times_of(table)):
        return ByVerdicts("unjudged", finding=missing)
    holds = np.all([[*one.holds_for(verdicts.categories)] for one in of_verdicts], 0)
    met = verdicts.where(holds)
    selected = {one for one, held in zip(verdicts.categories, holds, strict=True) if held}
    # Operators without a verdict, or with the verdict `uncertain`, are on both sides. If the
    # condition selects only `added` or `removed`, more runs cannot give them such a verdict.
    may_hold = not selected.isdisjoint(WORK_VERDICTS)
    unknown = (verdicts.codes < 0) & may_hold
    uncertain = verdicts.where(one == UNCERTAIN for one in verdicts.categories) & ~met & may_hold
    rest = _unknown_in_words(table, unknown) if unknown.any() else ""
    unjudged = "" if not rest or share_of_time(table, unknown) <= MOST_UNKNOWN else rest
    finding = None
    if not unjudged and not selected.isdisjoint(CHANGED):
        hidden = hidden_of(source, table)
        if share_of_time(table, hidden.rows & uncertain) > MOST_UNKNOWN:
            finding = hidden.finding
    if not len(table) or met.any():
        return ByVerdicts(None, unjudged, _selected(table, met), finding)
    if unjudged or finding:
        units = (table.shown.per_unit(name).shape[1] for name in ("time", "base"))
        required = required_noun(about.unit, source.profile.runs, source.base.runs)
        few = reason_too_few(required, *units, enough=enough_for_one_operator(table))
        return ByVerdicts("unjudged", few or unjudged, finding=None if few else finding)
    return _if_none_has_the_verdict(table, uncertain, rest)


def _if_none_has_the_verdict(table: Table, uncertain: NDArray[np.bool_], rest: str) -> ByVerdicts:
    """Return the outcome if no operator has the verdict. `rest` says whose verdict is N/A."""
    doubt = _uncertain_in_words(table, uncertain) if uncertain.any() else ""
    none = "no operator has such a verdict"
    if share_of_time(table, uncertain) > MOST_UNKNOWN:
        parts = [f"{none}, but {doubt}", rest, "take more runs"]
        return ByVerdicts("uncertain", "; ".join(filter(None, parts)))
    return ByVerdicts("passed", "; ".join(filter(None, [none, doubt, rest])))


def _uncertain_in_words(table: Table, uncertain: NDArray[np.bool_]) -> str:
    """Return the number of the uncertain operators, and their share as the summary has it."""
    count, share = int(uncertain.sum()), percent(share_of(table.shown, uncertain))
    verb = "is" if count == 1 else "are"
    return f"{counted(count, 'operator')} ({share} of the time) {verb} uncertain"


def _unknown_in_words(table: Table, unknown: NDArray[np.bool_]) -> str:
    """Return the number of the operators without a verdict, and the share that decides.

    Such operators often ran in few runs, so that their share in the summary is 0.
    """
    count, share = int(unknown.sum()), percent(share_of_time(table, unknown))
    return f"the verdict of {counted(count, 'operator')} ({share} of the time of both sides) is N/A"


def _selected(table: Table, met: NDArray[np.bool_]) -> Selected | None:
    """Return the operators in `met`; None if there is none."""
    rows = np.flatnonzero(met)
    if not len(rows):
        return None
    differences = table.shown["difference"]
    row = int(rows[np.argmax(np.abs(np.nan_to_num(differences[rows])))])
    return Selected(
        len(rows),
        table.shown["name"].values()[row],
        details_of(table, [row])[0],
        float(differences[row]),
        float(table.shown["ratio"][row]),
    )


def reason_too_few(
    required: str, runs: int, base_runs: int | None, *, enough: int = LEAST_RUNS
) -> str:
    """Return a message on too few runs, with advice; empty if there are enough runs.

    `required` is the plural noun for the units that a verdict needs. `base_runs` is None without a
    baseline. If `enough` is not `LEAST_RUNS`, it is how many runs can show a change of a
    single operator.
    """
    if too_few := too_few_runs(required, runs, base_runs):
        where = "" if base_runs is None else " on each side"
        number = (
            f"{LEAST_RUNS} profiles{where}, better {SUGGESTED_RUNS},"
            if enough == LEAST_RUNS
            else f"{enough} profiles{where} to show a change of just one operator,"
        )
        return f"{too_few}; record at least {number} each by its own process, and name them all"
    return ""


def reason_few_for_one_condition(units: tuple[int, int], conditions: int, noun: str) -> str:
    """Return why the units are too few to show a change for one condition alone; empty if not.

    `units` has the units of each side. The p-values of all `conditions` are corrected together.
    """
    # The correction multiplies p by the number of conditions.
    permitted = SIGNIFICANT / conditions
    if least_p(*units) <= permitted:
        return ""
    return (
        f"{units[0]} {noun} and {units[1]} of the baseline are too few to show a change for just "
        f"one of {conditions} conditions, however large; {least_runs(permitted)} on each side are "
        "enough"
    )


def _all_verdicts(about: Query, source: Comparison) -> tuple[Table, Categorical[str]]:
    """Return a table of operators, and their verdicts.

    The operators meet all conditions of `about` except the conditions on verdicts.
    """
    of_verdicts = conditions_on_verdicts(about)
    others = [one.text for one in about.conditions if one not in of_verdicts]
    table = run(about.changed(where=others, aggregates=()), source)
    verdicts = table.shown["verdict"]
    assert isinstance(verdicts, Categorical), "verdicts are texts"
    return table, verdicts

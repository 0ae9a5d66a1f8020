"""Reasons why a condition of `--fail-if` cannot be judged: too few runs or verdicts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from profile_analyze.analysis.statistics import LEAST_RUNS, SUGGESTED_RUNS, too_few_runs
from profile_analyze.model.categorical import Categorical
from profile_analyze.model.iterations import required_noun
from profile_analyze.query.gate_conditions import conditions_on_verdicts
from profile_analyze.query.rows import MOST_UNKNOWN
from profile_analyze.query.run import run
from profile_analyze.query.work_gate import share_of_time
from profile_analyze.units import counted, percent

if TYPE_CHECKING:
    from profile_analyze.model.comparison import Comparison
    from profile_analyze.query.question import Query
    from profile_analyze.query.table import Table


def outcome_by_verdicts(
    about: Query, source: Comparison
) -> tuple[Literal["passed", "unjudged"] | None, str]:
    """Return the outcome and its reason if no operator has the verdict that `about` selects.

    In a healthy model, no operator is slower, so the outcome is `passed`. It is `unjudged` if
    operators with over 5 % of the time have no verdict.

    The outcome is None if an operator has the verdict, or if `about` does not select by verdicts.
    The text is then the reason why the condition cannot pass, even within its limit: operators with
    over 5 % of the time have no verdict. It is empty if the condition can pass.
    """
    of_verdicts = conditions_on_verdicts(about)
    if not of_verdicts:
        return None, ""
    table, verdicts = _all_verdicts(about, source)
    unknown = verdicts.codes < 0
    share = share_of_time(table, unknown)
    operators = f"{counted(int(unknown.sum()), 'operator')} ({percent(share)} of the time)"
    rest = f"the verdict of {operators} is N/A" if unknown.any() else ""
    is_complete = not rest or share <= MOST_UNKNOWN
    met = np.all([verdicts.where(one.holds_for(verdicts.categories)) for one in of_verdicts], 0)
    if not len(table) or met.any():
        return None, "" if is_complete else rest
    if is_complete:
        return "passed", f"no operator has this verdict{f'; {rest}' if rest else ''}"
    units = (table.shown.per_unit(name).shape[1] for name in ("time", "base"))
    required = required_noun(about.unit, source.profile.runs, source.base.runs)
    return "unjudged", reason_too_few(required, *units) or rest


def reason_too_few(required: str, runs: int, base_runs: int | None) -> str:
    """Return a message on too few runs, with advice; empty if there are enough runs.

    `required` is the plural noun for the units that a verdict needs. `base_runs` is None without a
    baseline.
    """
    if too_few := too_few_runs(required, runs, base_runs):
        where = "" if base_runs is None else " on each side"
        return (
            f"{too_few}; record at least {LEAST_RUNS} profiles{where}, better {SUGGESTED_RUNS}, "
            "each by its own process, and name them all"
        )
    return ""


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

"""Advice on conditions of `--fail-if` that are valid, but probably a mistake."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from profile_analyze.model.numbers import median
from profile_analyze.query.gate_conditions import conditions_on_verdicts
from profile_analyze.query.missing_times import missing_times_of
from profile_analyze.query.unmatched_notes import advice_on_last_condition

if TYPE_CHECKING:
    from profile_analyze.query.gate_conditions import FailCondition
    from profile_analyze.query.table import Table


def hint_on(condition: FailCondition, table: Table) -> str:
    """Return advice on a condition that is probably a mistake; empty if it looks right."""
    if not table.matched and not table.recorded and not condition.is_of_work:
        return f": {condition.metric} is N/A for all operators"
    if not table.matched:
        # `FailCondition.about` appends the subject to the conditions of the question, so the last
        # condition is the subject.
        is_advised = condition.subject and not conditions_on_verdicts(table.query)
        return advice_on_last_condition(table) if is_advised else ""
    if without_times := _hint_on_missing_times(condition, table):
        return without_times
    is_absolute = table.shown.comparison is not None and condition.limit_unit == "s"
    # A condition that selects rows by their verdict may not limit the change of a time: see
    # `FailCondition.check_selection`. So `> +LIMIT` is no advice for it.
    may_be_relative = is_absolute and not conditions_on_verdicts(table.query)
    if not (condition.above and may_be_relative):
        return ""
    if median(table.shown.per_unit("base")) > condition.limit:
        before, _, limit = condition.text.rpartition(">")
        change = f"{before.rstrip()} > +{limit.lstrip()}"
        return f"; the baseline is beyond this limit, too; to limit the change, write {change!r}"
    return ""


def _hint_on_missing_times(condition: FailCondition, table: Table) -> str:
    """Return why a side has no times at all, or what to do; empty if the condition has times."""
    if table.shown.profile.model is not None:
        return f"; a model that has not run has no times: {condition.on_work}"
    missing = missing_times_of(table)
    # An absolute limit does not need the times of the baseline.
    is_needed = condition.relative or np.isnan(table.shown.per_unit("time")).all()
    return f": {missing}" if missing and is_needed else ""

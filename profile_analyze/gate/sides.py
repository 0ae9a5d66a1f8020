"""Says what is wrong with the sides of a comparison, for verdicts on `--fail-if`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from profile_analyze.gate.conditions import conditions_on_verdicts
from profile_analyze.gate.work import WORK_METRICS
from profile_analyze.model.findings import Finding, Kind
from profile_analyze.model.profile import Profile
from profile_analyze.units import scaled_text, short_time

if TYPE_CHECKING:
    from profile_analyze.comparison.comparison import Comparison
    from profile_analyze.gate.conditions import FailCondition
    from profile_analyze.gate.judge import FailVerdict
    from profile_analyze.query.question import Query


def damage_of(source: Profile | Comparison) -> Finding | None:
    """Return the finding that a file is damaged; None if no file is damaged."""
    own = source.notes
    notes = own if isinstance(source, Profile) else (*source.profile.notes, *own)
    damaged = (one for one in notes if isinstance(one, Finding) and one.kind == Kind.DAMAGED)
    return next(damaged, None)


def judges_change(condition: FailCondition, query: Query) -> bool:
    """Return whether a condition needs two sides that belong together.

    It limits a change, or selects operators by their verdict.
    """
    return condition.relative or bool(conditions_on_verdicts(condition.about(query)))


def with_doubt(verdict: FailVerdict, query: Query, source: Profile | Comparison) -> FailVerdict:
    """Return the verdict, changed if the two sides may be different models: `Comparison.doubt`.

    Two runtimes may name all operators differently, so sides of different formats are judged even
    if few operators match. They may also be different models, and a pipeline must not pass two
    models. A condition on a change may therefore fail, but never pass.
    """
    if isinstance(source, Profile) or source.doubt is None:
        return verdict
    if not judges_change(verdict.condition, query):
        return verdict
    verdict = verdict._replace(doubt=source.doubt.finding)
    if verdict.outcome not in ("passed", "uncertain"):
        return verdict
    reason = _absolute_limit(verdict, query)
    return verdict._replace(
        outcome="unjudged",
        reason=reason,
        finding=None,
        advice="",
        not_ruled_out=np.nan,
        over_pairs=np.nan,
        selected=None,
    )


def _absolute_limit(verdict: FailVerdict, query: Query) -> str:
    """Return advice to replace a limit on the change by one that needs no baseline; maybe empty."""
    condition = verdict.condition
    if condition.is_of_work:
        unit = WORK_METRICS[condition.metric]
        base, text = verdict.base_amount, partial(scaled_text, unit=unit)
    else:
        base, text = verdict.base_s, partial(short_time, digits=4)
    of_baseline = condition.limit_unit == "of baseline"
    limit = base * (1 + condition.limit) if of_baseline else base + condition.limit
    # A selection by verdict needs a baseline. Nothing takes less than no time.
    if conditions_on_verdicts(condition.about(query)) or not limit > 0:
        return ""
    selection, metric, _ = condition.text.rpartition(condition.metric)
    meant = f"{selection}{metric} {'>' if condition.above else '<'} {text(limit)}"
    return f"if they are one model, write {meant!r}, which needs no baseline"

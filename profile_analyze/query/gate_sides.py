"""Says what is wrong with the sides of a comparison, for verdicts on `--fail-if`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from profile_analyze.model.notes import Importance
from profile_analyze.model.profile import Profile
from profile_analyze.query.work_gate import WORK_METRICS
from profile_analyze.units import scaled_text, short_time

if TYPE_CHECKING:
    from profile_analyze.model.comparison import Comparison
    from profile_analyze.query.gate import FailVerdict


def damage_of(source: Profile | Comparison) -> str:
    """Return the note that a file is damaged; empty if no file is damaged."""
    own = source.notes
    notes = own if isinstance(source, Profile) else (*source.profile.notes, *own)
    return next((note for note in notes if note.importance == Importance.DAMAGED), "")


def with_doubt(verdict: FailVerdict, source: Profile | Comparison) -> FailVerdict:
    """Return the verdict, changed if the two sides may be different models: see `Comparison.doubt`.

    Two runtimes may name all operators differently, so sides of different formats are judged even
    if few operators match. They may also be different models, and a pipeline must not pass two
    models. A condition on a change may therefore fail, but never pass.
    """
    if isinstance(source, Profile) or not verdict.condition.relative or source.doubt is None:
        return verdict
    if verdict.outcome not in ("passed", "uncertain"):
        return verdict._replace(reason=f"{source.doubt}; {verdict.reason}")
    reason = f"{source.doubt}; if they are one model, {_absolute_limit(verdict)}"
    return verdict._replace(
        outcome="unjudged", reason=reason, not_ruled_out=np.nan, over_pairs=np.nan
    )


def _absolute_limit(verdict: FailVerdict) -> str:
    """Return advice to replace a limit on the change by one that needs no baseline."""
    condition = verdict.condition
    if condition.is_of_work:
        unit = WORK_METRICS[condition.metric]
        base, text = verdict.base_amount, partial(scaled_text, unit=unit)
    else:
        base, text = verdict.base_s, partial(short_time, digits=4)
    of_baseline = condition.limit_unit == "of baseline"
    limit = base * (1 + condition.limit) if of_baseline else base + condition.limit
    selection, metric, _ = condition.text.rpartition(condition.metric)
    sign = ">" if condition.above else "<"
    return f"write '{selection}{metric} {sign} {text(limit)}', which needs no baseline"

"""Says what is wrong with the sides of a comparison, for verdicts on `--fail-if`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from profile_analyze.model.notes import Importance
from profile_analyze.model.profile import Profile

if TYPE_CHECKING:
    from profile_analyze.model.comparison import Comparison
    from profile_analyze.query.gate_conditions import FailCondition


def damage_of(source: Profile | Comparison) -> str:
    """Return the note that a file is damaged; empty if no file is damaged."""
    own = source.notes
    notes = own if isinstance(source, Profile) else (*source.profile.notes, *own)
    return next((note for note in notes if note.importance == Importance.DAMAGED), "")


def before_reason(condition: FailCondition, source: Profile | Comparison) -> str:
    """Return what a verdict on a change says before its reason; usually nothing.

    Sides of different formats are judged even if few operators match, but may be different models.
    """
    if isinstance(source, Profile) or not condition.relative or source.doubt is None:
        return ""
    return f"{source.doubt}; "

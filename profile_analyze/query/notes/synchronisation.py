"""A note on times that include a wait, because the runtime waited for each operator to end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from profile_analyze.model.notes import Importance, Note, TextNote
from profile_analyze.model.numbers import ratio

if TYPE_CHECKING:
    from collections.abc import Iterator

    from profile_analyze.model.profile import Profile


def synchronisation_notes(profile: Profile) -> Iterator[Note]:
    """Yield a note on how much the wait adds to the times. The rows must be of one level."""
    text = "the runtime waited for each operator before the next, so times include that wait"
    walls_s = np.array([run.wall_s for run in profile.runs])
    factor = float(np.fmax.reduce(ratio(profile.totals_s("time"), walls_s), initial=0.0))
    if factor > 1:
        yield TextNote(
            f"{text}: all operators together take {factor:.3g} times as long as a whole run",
            Importance.WRONG,
        )
    else:
        yield TextNote(f"{text}, which matters for short operators", Importance.CONTEXT)

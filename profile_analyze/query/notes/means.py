"""Says which times are means over inferences, and whether it is known how much they vary."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from profile_analyze.model.joining.iterations import by_unit
from profile_analyze.model.notes import Importance, Note, TextNote
from profile_analyze.model.numbers import Spread
from profile_analyze.model.terms import MEAN
from profile_analyze.units import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from profile_analyze.model.profile import Profile


def notes_on_means(profile: Profile) -> Iterator[Note]:
    """Yield a note if the times are means over inferences, or are from a single inference.

    The note says what is known about how much times vary. With several runs, the summary shows the
    spread of the runs. Single inferences vary more than means over them.
    """
    if profile.origin.times != MEAN:
        return
    count = profile.origin.averaged_over
    inferences = "several inferences" if count is None else counted(count, "inference")
    if not _has_spread(profile):
        kind = "from a single inference" if count == 1 else f"means over {inferences}"
        text = f"times are {kind}; how much they vary is not known"
    elif count == 1:
        text = "the times of each run are from a single inference"
    else:
        text = f"times are means over {inferences}; single inferences vary more than these runs"
    yield TextNote(text, Importance.CONTEXT)


def _has_spread(profile: Profile) -> bool:
    """Return whether the runs show how much the total varies.

    Copies of a run do not show it. Runs of different models, or files of different kinds about one
    run, do not show it either.
    """
    if profile.unlike:
        return False
    totals_s = by_unit(profile.totals_s("time")[np.newaxis], profile.runs, "iteration")
    return not np.isnan(Spread.of(totals_s[0]).value)

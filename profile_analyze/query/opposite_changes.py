"""Finds comparisons in which operators became faster, but whole runs slower, or the reverse."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from profile_analyze.analysis.intervals import shift
from profile_analyze.analysis.statistics import LEAST_RUNS
from profile_analyze.model.iterations import by_unit
from profile_analyze.model.notes import Importance, Note
from profile_analyze.query.few_units import units_of
from profile_analyze.query.run_times import typical_run, walls_s
from profile_analyze.query.unequal_runs import with_device_times
from profile_analyze.units import percent, short_time

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from profile_analyze.model.comparison import Comparison
    from profile_analyze.model.profile import Profile
    from profile_analyze.query.table import Table

_LEAST_CHANGE: Final = 0.01
"""Smaller changes get no note, even if the threshold of verdicts is smaller."""


def opposite_change_notes(whole: Table, comparison: Comparison) -> Iterator[Note]:
    """Yield a note if operators take less time than in the baseline, but runs more, or the reverse.

    `whole` has one row for all operators together. Both changes must be at least as large as the
    threshold of verdicts, and at least 1 %. With enough runs for verdicts, both 95 % confidence
    intervals must also exclude "no change", because noise may move the two times apart. If the two
    sides do not belong together, there is no note.
    """
    if not len(whole) or comparison.mismatch is not None:
        return
    measured, unit = comparison.as_measured, whole.query.unit
    sides = [with_device_times(side) for side in (measured.profile, measured.base)]
    ours, base = (typical_run(side, whole.query.run_statistic, unit) for side in sides)
    of_operators = float(whole["change"][0])
    of_runs = ours.wall_s / base.wall_s - 1 if base.wall_s > 0 else np.nan
    least = max(_LEAST_CHANGE, whole.query.threshold)
    are_opposite = of_operators * of_runs < 0  # false if a time is N/A
    if not are_opposite or min(abs(of_operators), abs(of_runs)) < least:
        return
    if min(units_of(comparison, unit)) >= LEAST_RUNS and not _are_beyond_noise(whole, sides):
        return
    less, more = ("less", "more") if of_operators < 0 else ("more", "less")
    # The same runs may have other medians, so the time outside may not explain the change.
    if (ours.outside_s - base.outside_s) * of_runs > 0:
        advice = (
            f"{short_time(ours.outside_s)} of a run is outside of operators, instead of "
            f"{short_time(base.outside_s)}; find out what happens there"
        )
    else:
        advice = "find out how far operators overlap, and what happens between them"
    yield Note(
        f"operators take {percent(abs(of_operators))} {less} time than in the baseline, but a "
        f"whole run takes {percent(abs(of_runs))} {more}: {advice}; verdicts are on operators only",
        Importance.ANSWER,
    )


def _are_beyond_noise(whole: Table, sides: Sequence[Profile]) -> bool:
    """Return whether both 95 % confidence intervals, of operators and of runs, exclude no change.

    An end that is N/A is infinite.
    """
    unit = whole.query.unit
    with np.errstate(divide="ignore"):
        walls = [np.log(by_unit(walls_s(side)[np.newaxis], side.runs, unit)) for side in sides]
    of_runs = shift(*walls)
    of_operators_excludes = bool(whole["ratio_low"][0] > 1 or whole["ratio_high"][0] < 1)
    return of_operators_excludes and bool(of_runs.low[0] > 0 or of_runs.high[0] < 0)

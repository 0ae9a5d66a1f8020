"""Finds comparisons in which whole runs did not change as the sum of their operators did."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from profile_analyze.analysis.intervals import shift
from profile_analyze.analysis.statistics import LEAST_RUNS
from profile_analyze.model.iterations import by_unit
from profile_analyze.model.notes import Importance, Note
from profile_analyze.query.few_units import units_of
from profile_analyze.query.run_times import TypicalRun, typical_run, walls_s
from profile_analyze.query.unequal_runs import with_device_times
from profile_analyze.units import percent, short_time

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from profile_analyze.model.comparison import Comparison
    from profile_analyze.model.profile import Profile
    from profile_analyze.query.table import Table

_LEAST_CHANGE: Final = 0.01
"""Smaller changes get no note, even if the threshold of verdicts is smaller."""
_FOLLOWS: Final = 0.5
"""A run follows its operators if it changes by at least this share of their change, in seconds or
as a fraction: operators on several threads save more seconds than their run."""


class _Change(NamedTuple):
    """A change of the time of all operators, or of the wall time. NaN is N/A."""

    fraction: float
    """The change as a fraction of the baseline."""
    difference_s: float


def wall_time_notes(whole: Table, comparison: Comparison) -> Iterator[Note]:
    """Yield a note if runs did not become slower or faster as their operators did.

    `whole` has one row for all operators together, whose change must be at least as large as the
    threshold of verdicts, and at least 1 %. There are two cases:

    - The wall time changed in the opposite direction, by at least the same limit.
    - The wall time changed by less than half of what the operators did, both in seconds and as a
      fraction. This case needs enough runs for verdicts. With fewer, the note of the first case
      says that noise may be the reason.

    If the two sides do not belong together, there is no note.
    """
    if not len(whole) or comparison.mismatch is not None:
        return
    measured = comparison.as_measured
    sides = [with_device_times(side) for side in (measured.profile, measured.base)]
    ours, base = (typical_run(one, whole.query.run_statistic, whole.query.unit) for one in sides)
    operators = _Change(float(whole["change"][0]), float(whole["difference"][0]))
    of_runs_s = ours.wall_s - base.wall_s
    runs = _Change(of_runs_s / base.wall_s if base.wall_s > 0 else np.nan, of_runs_s)
    least = max(_LEAST_CHANGE, whole.query.threshold)
    if not abs(operators.fraction) >= least or np.isnan(runs.fraction):
        return
    is_opposite = operators.fraction * runs.fraction < 0 and abs(runs.fraction) >= least
    has_enough_runs = min(units_of(comparison, whole.query.unit)) >= LEAST_RUNS
    if has_enough_runs:
        is_opposite = is_opposite and _is_beyond_noise(whole, sides, 0.0)
        as_fractions = (operators.difference_s / base.wall_s, operators.fraction)
        limit = _FOLLOWS * min(as_fractions, key=abs)
        if not is_opposite and not _is_beyond_noise(whole, sides, limit):
            return
    elif not is_opposite:
        return
    noise = "" if has_enough_runs else ", unless noise is the reason: there are few runs"
    yield Note(
        f"{_in_words(operators, runs, is_opposite=is_opposite)}{noise}: "
        f"{_advice(ours, base, operators.difference_s)}; verdicts are on operators only",
        Importance.ANSWER,
    )


def _advice(ours: TypicalRun, base: TypicalRun, difference_s: float) -> str:
    """Return where to look for the reason. `difference_s` is the change of all operators."""
    # Time outside of operators explains the wall time only if it changed in the other direction. It
    # may not have, because the median time of the operators may be from another run.
    if (ours.outside_s - base.outside_s) * difference_s < 0:
        return (
            f"{short_time(ours.outside_s)} of a run is outside of operators, instead of "
            f"{short_time(base.outside_s)}; find out what happens there"
        )
    return "find out how far operators overlap, and what happens between them"


def _in_words(operators: _Change, runs: _Change, *, is_opposite: bool) -> str:
    """Return how the times changed: in percent if `is_opposite`, else in seconds."""
    less, more = ("less", "more") if operators.fraction < 0 else ("more", "less")
    if is_opposite:
        return (
            f"operators take {percent(abs(operators.fraction))} {less} time than in the baseline, "
            f"but a whole run takes {percent(abs(runs.fraction))} {more}"
        )
    only = f"only {short_time(abs(runs.difference_s))} {less}"
    if operators.fraction * runs.fraction <= 0:
        only = f"{short_time(abs(runs.difference_s))} {more}" if runs.difference_s else "as long"
    return (
        f"operators take {short_time(abs(operators.difference_s))} {less} than in the baseline, "
        f"but a whole run takes {only}"
    )


def _is_beyond_noise(whole: Table, sides: Sequence[Profile], limit: float) -> bool:
    """Return whether noise is an unlikely reason for the different changes.

    The 95 % confidence interval of the change of the operators must exclude "no change". If they
    became slower, the interval of the wall time must be below `limit`, a change as a fraction of
    the baseline; if they became faster, above `limit`. An end that is N/A counts as infinite.
    """
    unit = whole.query.unit
    with np.errstate(divide="ignore"):
        walls = [np.log(by_unit(walls_s(side)[np.newaxis], side.runs, unit)) for side in sides]
    of_runs, limit_log = shift(*walls), np.log1p(limit)
    if whole["ratio_low"][0] > 1:
        return bool(of_runs.high[0] < limit_log)
    return bool(whole["ratio_high"][0] < 1 and of_runs.low[0] > limit_log)

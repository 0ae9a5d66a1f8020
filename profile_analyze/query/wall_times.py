"""The wall times of runs in a comparison, beside the times of their operators."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from profile_analyze.comparison.intervals import Shift, ratios_of, shift
from profile_analyze.comparison.statistics import LEAST_RUNS
from profile_analyze.model.joining.iterations import by_unit
from profile_analyze.model.numbers import ratio
from profile_analyze.query.few_units import units_of
from profile_analyze.query.run_times import TypicalRun, typical_run, walls_s, with_device_times

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from profile_analyze.comparison.comparison import Comparison
    from profile_analyze.model.joining.iterations import SampleUnit
    from profile_analyze.model.profile import Profile
    from profile_analyze.query.table import Table

_LEAST_CHANGE: Final = 0.01
"""Smaller changes do not count, even if the threshold of verdicts is smaller."""


class WallChange(NamedTuple):
    """How the wall time of a run differs between the baseline and the profile. NaN is N/A."""

    difference_s: float
    ratio: float
    low: float
    """The lower end of the 95 % confidence interval of the ratio; `high` is the upper end."""
    high: float


def wall_change_of(whole: Table, comparison: Comparison) -> WallChange:
    """Return how the wall time of a run changed. `whole` has the settings of the question."""
    times = ComparedTimes.of(whole, comparison)
    logs = times.shift_of_runs()
    value = 1 + times.runs.fraction
    low, high = (float(ratios_of(end)[0]) for end in (logs.low, logs.high))
    # As for the device time, the interval is widened to include the ratio of the medians.
    return WallChange(times.runs.difference_s, value, min(low, value), max(high, value))


def wall_times(profile: Profile, unit: SampleUnit) -> NDArray[np.float64]:
    """Return the wall time of each process or iteration in seconds, shape (1, units).

    As in the summary, runs without a device time are left out if others have one.
    """
    side = with_device_times(profile)
    return by_unit(walls_s(side)[np.newaxis], side.runs, unit)


class TimeChange(NamedTuple):
    """A change of the time of all operators, or of the wall time. NaN is N/A."""

    fraction: float
    """The change as a fraction of the baseline."""
    difference_s: float


class ComparedTimes(NamedTuple):
    """The profile and the baseline, in seconds and as fractions. NaN is N/A."""

    whole: Table
    """One row for all operators together."""
    sides: tuple[Profile, Profile]
    ours: TypicalRun
    base: TypicalRun
    operators: TimeChange
    runs: TimeChange
    least: float
    """Smaller changes count as no change."""
    has_enough_runs: bool
    """Whether there are enough runs for verdicts."""

    @classmethod
    def of(cls, whole: Table, comparison: Comparison) -> ComparedTimes:
        """Compare the times of a question's operators and runs."""
        measured = comparison.as_measured
        sides = with_device_times(measured.profile), with_device_times(measured.base)
        query = whole.query
        ours, base = (typical_run(one, query.run_statistic, query.unit) for one in sides)
        of_runs_s = ours.wall_s - base.wall_s
        return cls(
            whole,
            sides,
            ours,
            base,
            operators=TimeChange(*(_only(whole, name) for name in ("change", "difference"))),
            runs=TimeChange(of_runs_s / base.wall_s if base.wall_s > 0 else np.nan, of_runs_s),
            least=max(_LEAST_CHANGE, query.threshold),
            has_enough_runs=min(units_of(comparison, query.unit)) >= LEAST_RUNS,
        )

    def parts_of_run(self) -> tuple[float, float]:
        """Return the time of all operators as a share of a run, and the same in the baseline."""
        times_s = np.array([self.whole[name][0] for name in ("time", "base")])
        ours, base = ratio(times_s, np.array([self.ours.wall_s, self.base.wall_s])).tolist()
        return ours, base

    def shift_of_runs(self) -> Shift:
        """Return the change of the wall time with its confidence interval, as logarithms."""
        with np.errstate(divide="ignore"):
            ours, base = (np.log(wall_times(side, self.whole.query.unit)) for side in self.sides)
        return shift(ours, base)


def _only(whole: Table, name: str) -> float:
    """Return the value in the only row of `whole`; NaN if no operator has a device time."""
    return float(whole[name][0]) if len(whole) else np.nan

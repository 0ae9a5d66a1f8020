"""Compares the wall times of runs, also with the change of the sum of their operators."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from profile_analyze.comparison.intervals import Shift, ratios_of, shift
from profile_analyze.comparison.statistics import LEAST_RUNS
from profile_analyze.model.joining.iterations import by_unit
from profile_analyze.model.notes import Importance, Note, TextNote
from profile_analyze.model.numbers import ratio
from profile_analyze.model.terms import DEVICE, HOST
from profile_analyze.query.notes.few_units import units_of
from profile_analyze.query.notes.unequal_runs import with_device_times
from profile_analyze.query.run_times import TypicalRun, typical_run, walls_s
from profile_analyze.units import percent, short_time

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from profile_analyze.comparison.comparison import Comparison
    from profile_analyze.model.joining.iterations import SampleUnit
    from profile_analyze.model.profile import Profile
    from profile_analyze.query.table import Table

_LEAST_CHANGE: Final = 0.01
"""Smaller changes get no note, even if the threshold of verdicts is smaller."""
_LARGE_CHANGE: Final = 0.1
"""With too few runs for verdicts, a smaller change of the wall time alone gets no note."""
_FOLLOWS: Final = 0.5
"""A run follows its operators if it changes by at least this share of their change, in seconds or
as a fraction: operators on several threads save more seconds than their run."""
_SMALL_PART: Final = 0.5
"""If operators take a smaller share of a run, on both sides, other things decide how long the run
takes. A run may then not follow its operators, even if its noise could also hide that it does."""
_FEW_RUNS: Final = " (there are few runs, so noise may be the reason)"
_MORE_NOISE: Final = " (wall times vary more than that, so noise may be the reason)"


class WallChange(NamedTuple):
    """How the wall time of a run differs between the baseline and the profile. NaN is N/A."""

    difference_s: float
    ratio: float
    low: float
    """The lower end of the 95 % confidence interval of the ratio; `high` is the upper end."""
    high: float


def wall_change_of(whole: Table, comparison: Comparison) -> WallChange:
    """Return how the wall time of a run changed. `whole` has the settings of the question."""
    compared = _compared(whole, comparison)
    logs = _shift_of_runs(compared)
    value = 1 + compared.runs.fraction
    low, high = (float(ratios_of(end)[0]) for end in (logs.low, logs.high))
    # As for the device time, the interval is widened to include the ratio of the medians.
    return WallChange(compared.runs.difference_s, value, min(low, value), max(high, value))


def wall_times(profile: Profile, unit: SampleUnit) -> NDArray[np.float64]:
    """Return the wall time of each process or iteration in seconds, shape (1, units).

    As in the summary, runs without a device time are left out if others have one.
    """
    side = with_device_times(profile)
    return by_unit(walls_s(side)[np.newaxis], side.runs, unit)


class _Change(NamedTuple):
    """A change of the time of all operators, or of the wall time. NaN is N/A."""

    fraction: float
    """The change as a fraction of the baseline."""
    difference_s: float


class _Compared(NamedTuple):
    """The profile and the baseline, in seconds and as fractions. NaN is N/A."""

    whole: Table
    """One row for all operators together."""
    sides: tuple[Profile, Profile]
    ours: TypicalRun
    base: TypicalRun
    operators: _Change
    runs: _Change
    least: float
    """Smaller changes count as no change."""
    has_enough_runs: bool
    """Whether there are enough runs for verdicts."""


def wall_time_notes(whole: Table, comparison: Comparison) -> Iterator[Note]:
    """Yield a note if runs did not become slower or faster as their operators did.

    `whole` has one row for all operators together. A change counts if it is at least as large as
    the threshold of verdicts, and at least 1 %. There are three cases:

    - The wall time changed in the opposite direction.
    - The wall time changed by less than half of what the operators did, both in seconds and as a
      fraction.
    - The wall time changed, but the operators did not.

    If noise may be the reason, only some of these cases have a note, and the note says so: see
    `_doubt_on_different_changes` and `_doubt_on_change_of_runs`. If the two sides do not belong
    together, there is no note.
    """
    if not len(whole) or comparison.mismatch is not None:
        return
    compared = _compared(whole, comparison)
    operators, runs = compared.operators, compared.runs
    if np.isnan(operators.fraction) or np.isnan(runs.fraction):
        return
    if abs(operators.fraction) < compared.least:
        doubt, is_opposite = _doubt_on_change_of_runs(compared), False
        text = _only_runs_changed(operators, runs)
    else:
        doubt, is_opposite = _doubt_on_different_changes(compared)
        text = _in_words(operators, runs, is_opposite=is_opposite)
    if doubt is None:
        return
    yield TextNote(
        f"{text}{doubt}: {_advice(compared)}; verdicts are on operators only", Importance.ANSWER
    )


def _compared(whole: Table, comparison: Comparison) -> _Compared:
    measured = comparison.as_measured
    sides = with_device_times(measured.profile), with_device_times(measured.base)
    ours, base = (typical_run(one, whole.query.run_statistic, whole.query.unit) for one in sides)
    of_runs_s = ours.wall_s - base.wall_s
    return _Compared(
        whole,
        sides,
        ours,
        base,
        operators=_Change(*(_only(whole, name) for name in ("change", "difference"))),
        runs=_Change(of_runs_s / base.wall_s if base.wall_s > 0 else np.nan, of_runs_s),
        least=max(_LEAST_CHANGE, whole.query.threshold),
        has_enough_runs=min(units_of(comparison, whole.query.unit)) >= LEAST_RUNS,
    )


def _only(whole: Table, name: str) -> float:
    """Return the value in the only row of `whole`; NaN if no operator has a device time."""
    return float(whole[name][0]) if len(whole) else np.nan


def _doubt_on_different_changes(compared: _Compared) -> tuple[str | None, bool]:
    """Return how noise may explain that runs changed in another way than their operators did.

    The first result is empty if noise is an unlikely reason, and None if there is nothing to say:
    the runs follow their operators, or noise is a likely reason. The second result is whether the
    wall time changed in the opposite direction.

    Doubtful cases are a change in the opposite direction with few runs, and any different change
    if operators take only a small part of a run.
    """
    operators, runs = compared.operators, compared.runs
    is_opposite = operators.fraction * runs.fraction < 0 and abs(runs.fraction) >= compared.least
    as_fractions = (operators.difference_s / compared.base.wall_s, operators.fraction)
    limit = _FOLLOWS * min(as_fractions, key=abs)
    follows = runs.fraction <= limit if operators.fraction < 0 else runs.fraction >= limit
    is_plausible = not follows and _take_small_part(compared)
    if not compared.has_enough_runs:
        return (_FEW_RUNS if is_opposite or is_plausible else None), is_opposite
    is_opposite = is_opposite and _is_beyond_noise(compared, 0.0)
    if is_opposite or _is_beyond_noise(compared, limit):
        return "", is_opposite
    return (_MORE_NOISE if is_plausible else None), False


def _doubt_on_change_of_runs(compared: _Compared) -> str | None:
    """Return how noise may explain that only the wall time changed, not the operators.

    The result is None if the wall time did not change, or if noise is a likely reason. With few
    runs, only a large change is doubtful; a smaller one is likely to be noise.
    """
    change = compared.runs.fraction
    if not compared.has_enough_runs:
        return _FEW_RUNS if abs(change) >= _LARGE_CHANGE else None
    of_runs, whole = _shift_of_runs(compared), compared.whole
    # The change of the operators is not known exactly, either. The runs may still follow it.
    with np.errstate(divide="ignore"):
        highest = np.maximum(np.log1p(compared.least), np.log(whole["ratio_high"][0]))
        lowest = np.minimum(np.log1p(-min(compared.least, 1.0)), np.log(whole["ratio_low"][0]))
    is_change = of_runs.low[0] > highest or of_runs.high[0] < lowest
    return "" if is_change and abs(change) >= compared.least else None


def _parts_of_run(compared: _Compared) -> tuple[float, float]:
    """Return the time of all operators as a share of a run, and the same in the baseline."""
    times_s = np.array([compared.whole[name][0] for name in ("time", "base")])
    runs_s = np.array([compared.ours.wall_s, compared.base.wall_s])
    ours, base = ratio(times_s, runs_s).tolist()
    return ours, base


def _take_small_part(compared: _Compared) -> bool:
    """Return whether operators take only a small part of a run, on both sides."""
    return all(part < _SMALL_PART for part in _parts_of_run(compared))


def _advice(compared: _Compared) -> str:
    """Return where to look for the reason."""
    ours, base = compared.ours, compared.base
    # A part of a run explains the wall time only if it changed in the same direction. It may not
    # have, because the median time of the operators may be from another run.
    unexplained_s = compared.runs.difference_s - compared.operators.difference_s
    outside_s, inside_s = ours.outside_s - base.outside_s, _inside_s(ours) - _inside_s(base)
    if unexplained_s < 0:
        outside_s, inside_s = -outside_s, -inside_s
    is_same_side = ours.explained_on == base.explained_on
    if is_same_side and ours.explained_on == HOST and inside_s > max(outside_s, 0):
        return (
            f"operators take {short_time(_inside_s(ours))} of a run on the host, instead of "
            f"{short_time(_inside_s(base))}; --show-host shows host times"
        )
    is_small = _take_small_part(compared)
    if is_same_side and outside_s > (abs(unexplained_s) / 2 if is_small else 0):
        is_idle = ours.explained_on == DEVICE
        return (
            f"{short_time(ours.outside_s)} of a run is "
            f"{'without work of the device' if is_idle else 'outside of operators'}, instead of "
            f"{short_time(base.outside_s)}; find out what happens there"
        )
    if is_small:
        where = "" if ours.explained_on is None else " on the device"
        parts = _parts_of_run(compared)
        return (
            f"operators take only {percent(parts[0])} of a run{where} ({percent(parts[1])} in the "
            "baseline); find out what takes the rest"
        )
    return "find out how far operators overlap, and what happens between them"


def _inside_s(run: TypicalRun) -> float:
    """Return the time of the run that operators explain."""
    return run.wall_s - run.outside_s


def _only_runs_changed(operators: _Change, runs: _Change) -> str:
    """Return that the wall time changed, but the operators did not."""
    sign = "+" if operators.fraction > 0 else ""
    return (
        f"operators take about as long as in the baseline ({sign}{percent(operators.fraction)}), "
        f"but a whole run takes {percent(abs(runs.fraction))} "
        f"{'less' if runs.fraction < 0 else 'more'}"
    )


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


def _is_beyond_noise(compared: _Compared, limit: float) -> bool:
    """Return whether noise is an unlikely reason for the different changes.

    The 95 % confidence interval of the change of the operators must exclude "no change". If they
    became slower, the interval of the wall time must be below `limit`, a change as a fraction of
    the baseline; if they became faster, above `limit`. An end that is N/A counts as infinite.
    """
    whole, of_runs, limit_log = compared.whole, _shift_of_runs(compared), np.log1p(limit)
    if whole["ratio_low"][0] > 1:
        return bool(of_runs.high[0] < limit_log)
    return bool(whole["ratio_high"][0] < 1 and of_runs.low[0] > limit_log)


def _shift_of_runs(compared: _Compared) -> Shift:
    """Return the change of the wall time with its confidence interval, as logarithms."""
    unit = compared.whole.query.unit
    with np.errstate(divide="ignore"):
        ours, base = (np.log(wall_times(side, unit)) for side in compared.sides)
    return shift(ours, base)

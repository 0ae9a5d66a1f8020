"""Finds and removes drift: how much slower a whole run was, for example on a busy machine."""

from __future__ import annotations

from dataclasses import replace
from math import exp, log
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from profile_analyze.comparison.comparison import Comparison
from profile_analyze.comparison.intervals import ratios_of, shift
from profile_analyze.comparison.permutation import permutation_test
from profile_analyze.comparison.row_tests import OperatorTimes, unchanged_operators
from profile_analyze.comparison.run_levels import RunLevels, weighted_medians
from profile_analyze.comparison.statistics import SIGNIFICANT
from profile_analyze.model.findings import Finding, Kind
from profile_analyze.model.joining.iterations import by_unit
from profile_analyze.model.measuring import on_side
from profile_analyze.model.numbers import difference, exact_total, quantile_of_runs, ratio
from profile_analyze.model.terms import DEVICE, HOST

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import TypeAlias

    from numpy.typing import NDArray

    from profile_analyze.model.executions import Run
    from profile_analyze.model.profile import Profile
    from profile_analyze.model.terms import Side

    Floats: TypeAlias = NDArray[np.float64]
    Chosen: TypeAlias = NDArray[np.bool_]

_MEASURES: Final[Mapping[Side, str]] = {DEVICE: "time", HOST: "host_time"}
"""The measure that shows the drift of device times, and the one for host times."""

_LEAST_OPERATORS: Final = 8
"""The fewest operators from which `shared_change` estimates a change. The operators that it leaves
out do not count."""
_MOST_CHANGED: Final = 2
"""How many operators `shared_change` leaves out: the operators with the largest differences."""
_LEAST_SHARE: Final = 0.8
"""A change is shared if operators that changed alike have at least this share of the baseline's
time. The operators that `shared_change` leaves out do not count."""
_SIMILARITY: Final = 3.0
"""In `shared_change`, an operator changed alike if its ratio is between r ** (1 / 3) and r ** 3,
where r is the shared ratio."""
_ALIKE: Final = log(1.03)
"""In `drift_between`, an operator changed alike if the logarithm of its ratio differs from the
logarithm of the shared ratio by at most this."""


class SharedChange(NamedTuple):
    """A change that nearly all operators share."""

    ratio: float
    """The weighted median of the operators' ratios to the baseline."""
    alike: Chosen
    """Whether each operator changed by a similar ratio, shape (operators,)."""


def shared_change(times_s: Floats, base_s: Floats) -> SharedChange | None:
    """Return the change that nearly all operators share; None if they do not change alike.

    `times_s` and `base_s` have shape (operators,). The two operators with the largest differences
    are left out: if only these change, the model has changed, not the machine.
    """
    ratios = ratio(times_s, base_s)
    usable = (times_s > 0) & (ratios > 0)
    differences = np.where(usable, np.abs(difference(times_s, base_s)), -1.0)
    others = usable.copy()
    others[np.argsort(-differences, kind="stable")[:_MOST_CHANGED]] = False
    if others.sum() < _LEAST_OPERATORS:
        return None
    shared = float(weighted_medians(ratios[others, np.newaxis], base_s[others])[0])
    # The ratio of each operator is `shared ** power`. If `shared` is 1, all powers are NaN.
    with np.errstate(all="ignore"):
        powers = ratio(np.log(ratios), np.log(shared))
    alike = usable & (powers >= 1 / _SIMILARITY) & (powers <= _SIMILARITY)
    share = exact_total(base_s[others & alike]) / exact_total(base_s[others])
    return SharedChange(shared, alike) if share >= _LEAST_SHARE else None


def drift_factors(times_s: Floats) -> Floats | None:
    """Return a factor for each run that says how slow it was, shape (runs,); 1 is the median run.

    `times_s` has shape (operators, runs). Return None if no operator has a usable time in each run.

    The factors follow from the levels of the runs: see `RunLevels`. They are the size factors of
    Anders and Huber (2010), with medians in place of geometric means. Operators with little noise
    count more.
    """
    levels = RunLevels.of(times_s)
    return _factors(levels, np.ones(len(levels.operators), np.bool_))


def _factors(levels: RunLevels, chosen: Chosen) -> Floats | None:
    if not chosen.any():
        return None
    level = levels.level(chosen)
    with np.errstate(over="ignore"):  # times that are divided by infinity become 0
        factors: Floats = np.exp(level - quantile_of_runs(level[np.newaxis], 0.5))
    return factors


class DriftBetween(NamedTuple):
    """How the levels of the runs differ between the two sides of a comparison. NaN is N/A."""

    factors: Floats
    """The drift factor of each run, shape (runs of both sides,)."""
    ratio: float
    """The level of the profile divided by the level of the baseline."""
    low: float
    """The lower end of the 95 % confidence interval of `ratio`; `high` is the upper end."""
    high: float
    p_value: float
    agreeing: int
    """How many operators changed like the level: their confidence intervals contain `ratio`, or
    their own ratio differs from `ratio` by 3 % at most."""
    operators: int
    """How many operators have a usable time in each run."""


def drift_between(comparison: Comparison, measure: str) -> DriftBetween | None:
    """Return how the levels of the two sides differ; None if no operator has usable times.

    A level includes only operators whose category is unchanged: see `unchanged_operators`.
    """
    profile, base = comparison.profile, comparison.base
    times_s = np.concatenate([profile.measured(measure), base.measured(measure)], axis=1)
    operators = OperatorTimes(times_s, len(profile.runs), profile.operators.category.codes)
    levels = RunLevels.of(times_s)
    factors = _factors(levels, unchanged_operators(operators, levels))
    if factors is None:
        return None

    def by_process(values: Floats) -> tuple[Floats, Floats]:
        ours, theirs = operators.split(values)
        return by_unit(ours, profile.runs, "process"), by_unit(theirs, base.runs, "process")

    with np.errstate(divide="ignore"):
        level = np.log(factors)
    of_level = by_process(level[np.newaxis])
    change = shift(*of_level)
    relative = shift(*by_process(levels.logs - level))  # of each operator, without the level
    agrees = (relative.low <= 0) & (relative.high >= 0) | (np.abs(relative.estimate) <= _ALIKE)
    ratio_, low, high = ratios_of(np.concatenate(change)).tolist()
    return DriftBetween(
        factors=factors,
        ratio=ratio_,
        low=low,
        high=high,
        p_value=float(permutation_test(*of_level)[0]),
        agreeing=int(agrees.sum()),
        operators=len(levels.operators),
    )


def without_drift(source: Profile | Comparison) -> Profile | Comparison:
    """Return `source` with the times of each run divided by the drift factor of the run.

    Host and device have separate factors. Durations and wall times change; positions in time stay.

    In a comparison, the factors compare each run with the medians over the runs of both sides. A
    real change of all operators at once is therefore removed, too. A note says how the levels of
    the two sides differ, and `Comparison.uncorrected` keeps the times as measured. If most
    operators did not change alike, nothing is corrected.
    """
    if isinstance(source, Comparison):
        return _comparison_without_drift(source)
    factors = {measure: drift_factors(source.measured(measure)) for measure in _MEASURES.values()}
    corrected = _divided(source, factors)
    of_times = factors["host_time"] if factors["time"] is None else factors["time"]
    return corrected.changed(notes=(*source.notes, _note(of_times, len(source.runs))))


def _comparison_without_drift(comparison: Comparison) -> Comparison:
    profile, base = comparison.profile, comparison.base
    drifts = {measure: drift_between(comparison, measure) for measure in _MEASURES.values()}
    shown = drifts["time"] or drifts["host_time"]
    if shown is not None and not np.isnan(shown.p_value) and shown.agreeing < shown.operators / 2:
        notes = (*comparison.notes, _refusal(shown))
        return replace(comparison, notes=notes, uncorrected=comparison)
    runs = len(profile.runs)
    of_profile, of_base = (
        {measure: None if one is None else one.factors[part] for measure, one in drifts.items()}
        for part in (slice(None, runs), slice(runs, None))
    )
    note = _note(None if shown is None else shown.factors, runs + len(base.runs), shown)
    return replace(
        comparison,
        profile=_divided(profile, of_profile),
        base=_divided(base, of_base),
        notes=(*comparison.notes, note),
        uncorrected=comparison,
    )


def _refusal(drift: DriftBetween) -> Finding:
    return Finding.of(
        "unlike-drift", Kind.ANSWER, agreeing=drift.agreeing, operators=drift.operators
    )


def _note(factors: Floats | None, runs: int, drift: DriftBetween | None = None) -> Finding:
    """Return the finding on the drift factors of this many runs.

    In a comparison, `drift` says how long the runs of the two sides took.
    """
    if runs == 1 or factors is None:
        return Finding.of("no-drift-factors", Kind.ANSWER, one_run=runs == 1)
    change: tuple[float, ...] | None = None
    is_change = False
    if drift is not None:
        change = ()
        if not np.isnan(drift.p_value):
            is_alike = exp(-_ALIKE) <= drift.ratio <= exp(_ALIKE)
            is_change = bool(drift.p_value <= SIGNIFICANT and not is_alike)
            of_ratio = (drift.ratio, drift.low, drift.high, drift.p_value)
            change = (drift.operators, drift.agreeing, *of_ratio, is_change)
    kind = Kind.WRONG if is_change else Kind.CONTEXT
    least, most = factors.min(), factors.max()
    return Finding.of("corrected-drift", kind, least=least, most=most, change=change)


def _divided(profile: Profile, factors_of: Mapping[str, Floats | None]) -> Profile:
    """Return the profile with each duration divided by the factor of its run.

    `factors_of` has the factors for device times and for host times. Times without factors (None)
    stay as they are.
    """
    executions = profile.executions
    divisor = np.ones(len(executions))
    for side, measure in _MEASURES.items():
        factors = factors_of[measure]
        if factors is not None:
            on_this_side = on_side(profile, side)
            divisor[on_this_side] = factors[executions.run[on_this_side]]
    # Starts are positions in time. Scaling them would shift executions relative to each other.
    scaled = executions.changed(
        duration_s=ratio(executions.duration_s, divisor),
        self_s=ratio(executions.self_s, divisor),
        median_s=ratio(executions.median_s, divisor),
        first_kernel_s=ratio(executions.first_kernel_s, divisor),
        thread_wait_s=ratio(executions.thread_wait_s, divisor),
    )
    return profile.changed(executions=scaled, runs=_divided_runs(profile, factors_of))


def _divided_runs(profile: Profile, factors_of: Mapping[str, Floats | None]) -> tuple[Run, ...]:
    """Return the runs of the profile, with each time divided by the factor of its run.

    The factors of wall times are those of the side whose operators take longer in total, because
    `query.run_times` compares wall times with this side, unless it used several threads.
    """
    longer = max(_MEASURES.values(), key=lambda measure: np.nan_to_num(profile.total_s(measure)))
    runs = profile.runs
    for name, measure in (("wall_s", longer), ("busy_s", _MEASURES[DEVICE])):
        factors = factors_of[measure]
        if factors is not None:
            times_s = ratio(np.array([getattr(run, name) for run in runs]), factors).tolist()
            runs = tuple(
                run._replace(**{name: time_s}) for run, time_s in zip(runs, times_s, strict=True)
            )
    return runs

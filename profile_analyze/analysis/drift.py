"""Finds and removes drift. For example, a busy machine slows down all operators of a run."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from profile_analyze.model.comparison import Comparison
from profile_analyze.model.measuring import on_side
from profile_analyze.model.notes import Importance, Note
from profile_analyze.model.numbers import difference, quantile_of_runs, ratio, total
from profile_analyze.model.terms import DEVICE, HOST

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import TypeAlias

    from numpy.typing import NDArray

    from profile_analyze.model.profile import Profile
    from profile_analyze.model.terms import Side

    Floats: TypeAlias = NDArray[np.float64]
    Chosen: TypeAlias = NDArray[np.bool_]

_MEASURES: Final[Mapping[Side, str]] = {DEVICE: "time", HOST: "host_time"}
"""The measure that shows the drift of each side."""

_LEAST_OPERATORS: Final = 8
"""The fewest operators from which `shared_change` estimates a change. The operators that it leaves
out do not count."""
_MOST_CHANGED: Final = 2
"""`shared_change` leaves out this many operators: those with the largest differences."""
_LEAST_SHARE: Final = 0.8
"""A change is shared if operators that changed alike have at least this share of the baseline's
time. The operators that `shared_change` leaves out do not count."""
_SIMILARITY: Final = 3.0
"""An operator changed alike if its ratio is between r ** (1 / 3) and r ** 3, where r is the shared
ratio."""


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
    shared = float(_weighted_medians(ratios[others, np.newaxis], base_s[others])[0])
    # The ratio of each operator is `shared ** power`. If `shared` is 1, all powers are NaN.
    with np.errstate(all="ignore"):
        powers = ratio(np.log(ratios), np.log(shared))
    alike = usable & (powers >= 1 / _SIMILARITY) & (powers <= _SIMILARITY)
    share = total(base_s[others & alike]) / total(base_s[others])
    return SharedChange(shared, alike) if share >= _LEAST_SHARE else None


def drift_factors(times_s: Floats) -> Floats | None:
    """Return a factor for each run that says how slow it was, shape (runs,); 1 is the median run.

    `times_s` has shape (operators, runs). Returns None if no operator has a time in all runs.

    The ratio of an operator in a run is its time in the run / its median time over all runs. The
    factor of a run is the weighted median of these ratios, with the median times as weights. An
    operator that lacks a time in any run is left out. These are the size factors of Anders and
    Huber (2010), with medians in place of geometric means. The weights matter, because many
    operators take only one or two ticks of the clock, and their ratios are noise.
    """
    medians = quantile_of_runs(times_s, 0.5)
    usable = ~np.isnan(times_s).any(axis=1) & (medians > 0)
    if not usable.any():
        return None
    ratios = times_s[usable] / medians[usable, np.newaxis]
    factors = _weighted_medians(ratios, medians[usable])
    factors = ratio(factors, float(quantile_of_runs(factors[np.newaxis], 0.5)[0]))
    # A run in which most operators took no time has no factor: its times stay as they are.
    return np.where(factors > 0, factors, 1.0)


def _weighted_medians(values: Floats, weights: Floats) -> Floats:
    """Return the weighted median of each column, shape (columns,).

    The weighted median is the smallest value at which the cumulative weight reaches half of the
    total weight. `weights` has shape (rows,).
    """
    order = np.argsort(values, axis=0, kind="stable")
    # `order` has the shape of `values`, so `weights[order]` sorts the weights for each column.
    with np.errstate(over="ignore"):  # for times near the largest float, any result will do
        covered = np.cumsum(weights[order], axis=0)
    row = (covered < covered[-1] / 2).sum(axis=0)
    medians: Floats = np.take_along_axis(values, order, axis=0)[row, np.arange(values.shape[1])]
    return medians


def without_drift(source: Profile | Comparison) -> Profile | Comparison:
    """Return `source` with the times of each run divided by the drift factor of the run.

    Host and device have separate factors. Durations change; positions in time stay. In a
    comparison, the factors of both sides refer to the same median times. A real change of all
    operators at once is therefore removed, too; a note says so.
    """
    if isinstance(source, Comparison):
        return _comparison_without_drift(source)
    factors = {measure: drift_factors(source.measured(measure)) for measure in _MEASURES.values()}
    corrected = _divided(source, factors)
    return corrected.changed(notes=(*source.notes, _note(factors)))


def _comparison_without_drift(comparison: Comparison) -> Comparison:
    profile, base = comparison.profile, comparison.base
    factors = {
        # The runs of both sides together, so that all factors refer to the same median times.
        measure: drift_factors(
            np.concatenate([profile.measured(measure), base.measured(measure)], axis=1)
        )
        for measure in _MEASURES.values()
    }
    runs = len(profile.runs)
    of_profile, of_base = (
        {measure: None if both is None else both[part] for measure, both in factors.items()}
        for part in (slice(None, runs), slice(runs, None))
    )
    return replace(
        comparison,
        profile=_divided(profile, of_profile),
        base=_divided(base, of_base),
        notes=(*comparison.notes, _note(factors)),
        drift_corrected=factors["time"] is not None,
    )


def _note(factors_of: Mapping[str, Floats | None]) -> Note:
    device, host = factors_of["time"], factors_of["host_time"]
    factors = host if device is None else device
    if factors is None:
        return Note(
            "no operator has a time in every run: drift was not corrected", Importance.ANSWER
        )
    if len(factors) == 1:
        return Note(
            "there is only one run: there is no drift between runs to correct", Importance.ANSWER
        )
    return Note(
        "times are corrected for drift: the times of each run are divided by its drift factor, "
        f"{factors.min():.3g} to {factors.max():.3g} (1 is the median run); a change of all "
        "operators at once is hidden",
        Importance.CONTEXT,
    )


def _divided(profile: Profile, factors_of: Mapping[str, Floats | None]) -> Profile:
    """Return the profile with each duration divided by the factor of its run.

    `factors_of` has the factors for device times and for host times; None divides nothing.
    """
    executions = profile.executions
    divisor = np.ones(len(executions))
    for side, measure in _MEASURES.items():
        factors = factors_of[measure]
        if factors is not None:
            on_this_side = on_side(profile, side)
            divisor[on_this_side] = factors[executions.run[on_this_side]]
    # Starts are positions in time. Scaling them would move executions against each other.
    scaled = executions.changed(
        duration_s=ratio(executions.duration_s, divisor),
        self_s=ratio(executions.self_s, divisor),
        median_s=ratio(executions.median_s, divisor),
        first_kernel_s=ratio(executions.first_kernel_s, divisor),
        thread_wait_s=ratio(executions.thread_wait_s, divisor),
    )
    return profile.changed(executions=scaled)

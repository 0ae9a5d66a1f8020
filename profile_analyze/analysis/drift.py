"""Corrects drift: what makes all operators of one run faster or slower, such as a busy machine."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from profile_analyze.model.comparison import Comparison
from profile_analyze.model.measuring import on_side
from profile_analyze.model.numbers import quantile_of_runs, ratio
from profile_analyze.model.terms import DEVICE, HOST

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import TypeAlias

    from numpy.typing import NDArray

    from profile_analyze.model.profile import Profile
    from profile_analyze.model.terms import Side

    Floats: TypeAlias = NDArray[np.float64]

_OF_SIDES: Final[Mapping[Side, str]] = {DEVICE: "time", HOST: "host_time"}
"""The measure that shows how slow a run was on each side."""


def drift_factors(times_s: Floats) -> Floats | None:
    """Shape (runs,): how slow each run was as a whole; 1 is the median run.

    None if no operator has a time in each run.

    `times_s` has shape (operators, runs). Only operators with a time in each run count. Each has
    the ratio of its time in the run to its median time; the factor is the median of these ratios,
    weighted by median time. These are the size factors of Anders and Huber (2010), with medians in
    place of geometric means. The weights matter because many operators take only a tick of the
    clock or two, and their ratios say nothing. A run in which most operators took no time is left
    as it is.
    """
    medians = quantile_of_runs(times_s, 0.5)
    usable = ~np.isnan(times_s).any(axis=1) & (medians > 0)
    if not usable.any():
        return None
    ratios = times_s[usable] / medians[usable, np.newaxis]
    factors = _weighted_medians(ratios, medians[usable])
    corrected = ratio(factors, float(quantile_of_runs(factors[np.newaxis], 0.5)[0]))
    return np.where(corrected > 0, corrected, 1.0)


def _weighted_medians(values: Floats, weights: Floats) -> Floats:
    """Shape (columns,): the least value of each column up to which half of the weight lies."""
    order = np.argsort(values, axis=0, kind="stable")
    up_to = np.cumsum(weights[order], axis=0)
    place = (up_to < up_to[-1] / 2).sum(axis=0)
    found: Floats = np.take_along_axis(values, order, axis=0)[place, np.arange(values.shape[1])]
    return found


def without_drift(source: Profile | Comparison) -> Profile | Comparison:
    """Divide the times of each run by its drift factor. Host and device have factors of their own.

    Durations change, positions in time stay. In a comparison, the runs of both sides are compared
    with the same medians. This also removes a change of all operators at once, and a note says so.
    """
    if isinstance(source, Comparison):
        return _compared_without_drift(source)
    factors = {measure: drift_factors(source.measured(measure)) for measure in _OF_SIDES.values()}
    corrected = _divided(source, factors)
    return corrected.changed(notes=(*source.notes, _note(factors)))


def _compared_without_drift(comparison: Comparison) -> Comparison:
    profile, base = comparison.profile, comparison.base
    runs = len(profile.runs)
    factors = {
        measure: drift_factors(
            np.concatenate([profile.measured(measure), base.measured(measure)], axis=1)
        )
        for measure in _OF_SIDES.values()
    }
    of_profile, of_base = (
        {name: None if found is None else found[part] for name, found in factors.items()}
        for part in (slice(None, runs), slice(runs, None))
    )
    return replace(
        comparison,
        profile=_divided(profile, of_profile),
        base=_divided(base, of_base),
        notes=(*comparison.notes, _note(factors)),
        drift_corrected=factors["time"] is not None,
    )


def _note(of_sides: Mapping[str, Floats | None]) -> str:
    device, host = of_sides["time"], of_sides["host_time"]
    factors = host if device is None else device
    if factors is None:
        return "no operator has a time in each run: no drift was taken out"
    if len(factors) == 1:
        return "there is one run: no drift between runs can be taken out"
    return (
        "times are corrected for drift: those of each run are divided by how slow it was as a "
        f"whole, {factors.min():.3g} to {factors.max():.3g} of the median run; what changed in all "
        "operators at once is hidden"
    )


def _divided(profile: Profile, factors: Mapping[str, Floats | None]) -> Profile:
    """The profile with the durations on each side divided by the factors of their runs."""
    executions = profile.executions
    divisor = np.ones(len(executions))
    for side, measure in _OF_SIDES.items():
        found = factors[measure]
        if found is not None:
            chosen = on_side(profile, side)
            divisor[chosen] = found[executions.run[chosen]]
    scaled = executions.changed(
        duration_s=ratio(executions.duration_s, divisor),
        self_s=ratio(executions.self_s, divisor),
        first_kernel_s=ratio(executions.first_kernel_s, divisor),
    )
    return profile.changed(executions=scaled)

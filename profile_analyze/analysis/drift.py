"""Taking out what makes all operators of one run faster or slower: a busy machine, its clock."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from profile_analyze.model.comparison import Comparison
from profile_analyze.model.numbers import quantile_of_runs, ratio
from profile_analyze.model.profile import Timings

if TYPE_CHECKING:
    from typing import TypeAlias

    from numpy.typing import NDArray

    from profile_analyze.model.profile import Profile

    Floats: TypeAlias = NDArray[np.float64]


def drift_factors(times_s: Floats) -> Floats | None:
    """Shape (runs,): how slow each run was as a whole; 1 is the median run.

    None where no operator has a time in each run, so that they cannot be told.

    The median, over the operators that have a time in each run, of the ratio of that time to the
    operator's median: the size factors of Anders and Huber (2010), with the median in place of the
    geometric mean, and each operator weighed by its median time. Many take a tick of the clock or
    two, whose ratios say nothing. A run in which most took no time is left as it is.
    `times_s` has shape (operators, runs).
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
    """The same with the times of each run divided by its factor, those of each side by its own.

    In a comparison the runs of both are held against the same medians, so that a change of all
    operators at once is taken out too; a note says so.
    """
    if isinstance(source, Comparison):
        return _compared_without_drift(source)
    device, factors = _corrected(source.device)
    host, _ = _corrected(source.host)
    return replace(source, device=device, host=host, notes=(*source.notes, _note(factors)))


def _compared_without_drift(comparison: Comparison) -> Comparison:
    profile = comparison.profile
    device, base_device, factors = _together(profile.device, comparison.base_device)
    host, base_host, _ = _together(profile.host, comparison.base_host)
    return replace(
        comparison,
        profile=replace(profile, device=device, host=host),
        base_device=base_device,
        base_host=base_host,
        notes=(*comparison.notes, _note(factors)),
        drift_corrected=factors is not None,
    )


def _note(factors: Floats | None) -> str:
    if factors is None:
        return "no operator has a device time in each run: no drift was taken out"
    if len(factors) == 1:
        return "there is one run: no drift between runs can be taken out"
    return (
        "times are corrected for drift: those of each run are divided by how slow it was as a "
        f"whole, {factors.min():.3g} to {factors.max():.3g} of the median run; what changed in all "
        "operators at once is hidden"
    )


def _corrected(timings: Timings) -> tuple[Timings, Floats | None]:
    factors = drift_factors(timings.time_s)
    return timings if factors is None else _divided(timings, factors), factors


def _together(timings: Timings, base: Timings) -> tuple[Timings, Timings, Floats | None]:
    factors = drift_factors(np.concatenate([timings.time_s, base.time_s], axis=1))
    if factors is None:
        return timings, base, None
    ours, theirs = factors[: timings.runs], factors[timings.runs :]
    return _divided(timings, ours), _divided(base, theirs), factors


def _divided(timings: Timings, factors: Floats) -> Timings:
    lanes = timings.lanes
    of_intervals = factors[lanes.run]
    scaled = replace(
        lanes,
        start_s=ratio(lanes.start_s, of_intervals),
        kern_s=ratio(lanes.kern_s, of_intervals),
        end_s=ratio(lanes.end_s, of_intervals),
    )
    return Timings(scaled, operators=timings.operators, runs=timings.runs)

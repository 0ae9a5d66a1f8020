"""How slow each run was as a whole: the level that the operators of a run share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from profile_analyze.model.numbers import quantile_of_runs

if TYPE_CHECKING:
    from typing import TypeAlias

    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.float64]
    Chosen: TypeAlias = NDArray[np.bool_]

_DEVIATION_OF_NORMAL: Final = 1.4826
"""The standard deviation of normal noise divided by its median absolute deviation."""
_LEAST_NOISE: Final = 0.01
"""The least noise of an operator that counts, as a fraction of its time. Without this bound, a few
very quiet operators would outweigh all others."""
_LEAST_TICKS: Final = 5
"""Operators that take fewer ticks of the clock say nothing about the speed of a run."""


def robust_deviation(values: Floats) -> Floats:
    """Return the robust standard deviation of each row, shape (rows,): see `_DEVIATION_OF_NORMAL`.

    `values` has shape (rows, runs). NaN is left out.
    """
    distances = np.abs(values - quantile_of_runs(values, 0.5)[:, np.newaxis])
    return _DEVIATION_OF_NORMAL * quantile_of_runs(distances, 0.5)


def weighted_medians(values: Floats, weights: Floats) -> Floats:
    """Return the weighted median of each column, shape (columns,).

    The weighted median is the smallest value at which the cumulative weight reaches half of the
    total weight. `values` has shape (rows, columns), and `weights` has shape (rows,).
    """
    order = np.argsort(values, axis=0)  # the order of equal values does not matter
    # `order` has the shape of `values`, so `weights[order]` sorts the weights for each column.
    with np.errstate(over="ignore"):  # times near the largest float may have any result
        covered = np.cumsum(weights[order], axis=0)
    row = (covered < covered[-1] / 2).sum(axis=0)
    medians: Floats = np.take_along_axis(values, order, axis=0)[row, np.arange(values.shape[1])]
    return medians


class RunLevels(NamedTuple):
    """Operators whose times show how slow each run was."""

    operators: NDArray[np.int64]
    """The rows of these operators. They have a time above 0 in all runs, and a median time of at
    least `_LEAST_TICKS` ticks."""
    logs: Floats
    """Shape (these operators, runs): log(time / median time over all runs)."""
    weights: Floats
    """Shape (these operators,): 1 / noise. Noise is the robust deviation from the run's level."""

    @classmethod
    def of(cls, times_s: Floats) -> RunLevels:
        """Return the levels in `times_s`, shape (operators, runs).

        The levels do not depend on which run belongs to which side of a comparison. A test that
        assigns the runs to the sides at random may therefore use these levels.
        """
        medians = quantile_of_runs(times_s, 0.5)
        usable = ~np.isnan(times_s).any(axis=1) & (times_s > 0).all(axis=1)
        usable &= medians >= _LEAST_TICKS * _tick(times_s[usable])
        operators = np.flatnonzero(usable)
        medians = medians[operators]
        # Dividing a very large time by a very small time would overflow.
        logs = np.log(times_s[operators]) - np.log(medians)[:, np.newaxis]
        weights = medians
        # The first levels weight operators by time, the second levels by 1 / noise.
        for _ in range(2 if len(operators) else 0):
            noise = robust_deviation(logs - weighted_medians(logs, weights))
            weights = 1 / np.maximum(noise, _LEAST_NOISE)
        return cls(operators, logs, weights)

    def level(self, chosen: Chosen) -> Floats:
        """Return the level of each run, shape (runs,), from only the `chosen` operators.

        The level is the weighted median of `logs`: 0.1 means that the run was about 10 % slower
        than the median run.
        """
        return weighted_medians(self.logs[chosen], self.weights[chosen])


def _tick(times_s: Floats) -> float:
    """Return the smallest difference between two of the times: the resolution of the clock."""
    ascending = np.sort(times_s, axis=None)
    steps = np.diff(ascending)
    # Equal times that were computed in different ways may differ in the last digits.
    steps = steps[steps > 1e-9 * ascending[1:]]
    return float(steps.min()) if len(steps) else 0.0

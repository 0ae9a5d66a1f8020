"""Tests each row (operator or group) of a comparison by one of two kinds of times.

- Its own times, in seconds. On a noisy machine, a whole run is slow or fast, and so is each of its
  operators. The own times of a row contain this noise.
- Its relative times: the times divided by the level of all other operators in the same run. The
  noise that all operators of a run share cancels out.

A row is tested by its relative times under two conditions. Otherwise, its own times are tested.

1. The relative times do not have much more noise than the own times: see `_MORE_NOISE`.
2. The row changed more than the other operators. Otherwise, a change of the other operators would
   look like the opposite change of the row. This condition depends on which runs belong to which
   side, so the p of the permutation test is only approximate.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from profile_analyze.comparison.intervals import Shift, shift
from profile_analyze.comparison.permutation import permutation_test
from profile_analyze.comparison.run_levels import RunLevels
from profile_analyze.comparison.statistics import SIGNIFICANT, adjusted
from profile_analyze.model.numbers import exact_total, quantile_of_runs, ratio

if TYPE_CHECKING:
    from typing import TypeAlias

    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.float64]
    Integers: TypeAlias = NDArray[np.int64]
    Chosen: TypeAlias = NDArray[np.bool_]

LEAST_OTHERS: Final = 8
"""With fewer other operators, a row has no relative times."""
_HEAVY: Final = 0.01
"""A row with at least this share of the weight in a level is compared with a level that leaves the
row out. All other rows hardly move the level. To save time, they are all compared with one level,
unless fewer than `LEAST_OTHERS` of its operators are outside the row."""
_MORE_NOISE: Final = 2.0
"""Relative times are used only if their noise is below this multiple of the noise of the own times.
It is above 1 because own times have more noise than `_noise` returns: on a busy machine, `_noise`
measures only a quiet phase."""
BY_TIME: Final = 0.25
"""The part of the permitted error rate that is divided among the rows in proportion to their times.
The rest is divided equally. Rows that take much time matter more. They therefore get a larger part,
and a verdict more easily (Genovese, Roeder and Wasserman, 2006)."""


class OperatorTimes(NamedTuple):
    """The times of the operators on both sides of a comparison."""

    times_s: Floats
    """Shape (operators, runs of both sides). The runs of the candidate come first."""
    runs: int
    """The number of runs of the candidate."""
    categories: Integers
    """Shape (operators,): a code for the category of each operator."""

    def split(self, values: Floats) -> tuple[Floats, Floats]:
        """Split `values`, shape (rows, runs of both sides), into the values of each side."""
        return values[:, : self.runs], values[:, self.runs :]

    def shift(self, values: Floats) -> Shift:
        """Return the shift of `values`, shape (rows, runs of both sides), between the sides."""
        return shift(*self.split(values))

    def p_values(self, values: Floats) -> Floats:
        """Return the p of a permutation test of `values`, shape (rows, runs of both sides)."""
        return permutation_test(*self.split(values))


class RowTests(NamedTuple):
    """How far each row changed, and how often chance alone causes such a change.

    All arrays have shape (rows,), and NaN is N/A. Shifts are differences of logarithms: a shift of
    0.1 is a ratio of exp(0.1).
    """

    own: Shift
    relative: Shift
    is_relative: Chosen
    """Whether the row is tested by its relative times."""
    p_values: Floats
    """The p of each row, without the correction for the number of rows."""
    weights: Floats
    """The weight of each row in the correction for the number of rows; 1 on average."""

    @property
    def corrected(self) -> Floats:
        """The p-values corrected for the number of rows: see `statistics.adjusted`."""
        return adjusted(self.p_values, self.weights)

    @property
    def chosen(self) -> Shift:
        """The shift of the times that were chosen for the test."""
        pairs = zip(self.relative, self.own, strict=True)
        return Shift(*(np.where(self.is_relative, relative, own) for relative, own in pairs))


def compare_rows(operators: OperatorTimes, row: Integers, own_s: Floats) -> RowTests:
    """Test the rows of a comparison.

    `row` has the row of each operator, shape (operators,). It is -1 for operators in no row.
    `own_s` has the times of the rows, shape (rows, runs of both sides). All times are in seconds.
    """
    with np.errstate(divide="ignore"):
        logs = np.log(own_s)  # -inf for 0
    levels = levels_of_others(operators, row, len(own_s))
    difference = logs - levels
    own, relative = operators.shift(logs), operators.shift(difference)
    of_others = operators.shift(levels).estimate
    changed_more = _changed_more_than_others(own.estimate, of_others, relative.estimate)
    is_quieter = _noise(difference) < _MORE_NOISE * _noise(logs)
    is_relative = is_quieter & changed_more
    p_values = operators.p_values(np.where(is_relative[:, np.newaxis], difference, own_s))
    return RowTests(own, relative, is_relative, p_values, _weights(own_s, p_values))


def _noise(values: Floats) -> Floats:
    """Return the length of the shortest interval that holds three eighths of the runs.

    `values` has shape (rows, runs of both sides), and the result has shape (rows,). If the sides
    differ, the shortest interval is within one side, so a change does not count as noise.
    """
    ascending = np.sort(values, axis=1)
    held = max(3 * values.shape[1] // 8, 2)
    with np.errstate(invalid="ignore"):
        lengths = ascending[:, held - 1 :] - ascending[:, : values.shape[1] - held + 1]
    # In a row with N/A, the N/A values come last. Lengths up to an N/A value do not count.
    noise: Floats = np.where(np.isnan(lengths), np.inf, lengths).min(axis=1)
    return noise


def _changed_more_than_others(inside: Floats, outside: Floats, difference: Floats) -> Chosen:
    """Return whether each row changed more than all other operators, shape (rows,).

    `inside` is the shift of the row, and `outside` the shift of the level of the others.
    `difference` is the shift of the relative times. It must have the direction of the row's own
    change, and at least half the size of the change of the others. If the row and the others
    changed alike, relative times say nothing about the row.
    """
    changed_more: Chosen = (
        (np.sign(inside) == np.sign(difference))
        & (np.abs(inside) > np.abs(outside))
        & (np.abs(difference) >= np.abs(outside) / 2)
    )
    return changed_more


def levels_of_others(operators: OperatorTimes, row: Integers, rows: int) -> Floats:
    """Return the level of the others of each row, shape (rows, runs of both sides); NaN is N/A.

    Levels are logarithms. A row has a level of others if two conditions hold: at least one of its
    operators has a usable time in every run, and there are at least `LEAST_OTHERS` others. The
    others are the operators outside the row whose category is unchanged. If these are too few, all
    operators outside the row count.
    """
    levels = RunLevels.of(operators.times_s)
    result = np.full((rows, operators.times_s.shape[1]), np.nan)
    others = unchanged_operators(operators, levels)
    if not rows or others.sum() < LEAST_OTHERS:
        return result
    row_of = row[levels.operators]
    in_row = row_of >= 0
    result[np.bincount(row_of[in_row], minlength=rows) > 0] = levels.level(others)
    shared = in_row & others
    weights = np.bincount(row_of[shared], levels.weights[shared], minlength=rows)
    apart = weights >= _HEAVY * levels.weights[others].sum()
    apart |= others.sum() - np.bincount(row_of[shared], minlength=rows) < LEAST_OTHERS
    for index in np.flatnonzero(apart):
        rest = others & (row_of != index)
        if rest.sum() < LEAST_OTHERS:
            rest = row_of != index
        result[index] = levels.level(rest) if rest.sum() >= LEAST_OTHERS else np.nan
    return result


def unchanged_operators(operators: OperatorTimes, levels: RunLevels) -> Chosen:
    """Return which operators of `levels` have a category that did not change more than the others.

    The level of each category is tested relative to the level of all other categories. If fewer
    than `LEAST_OTHERS` operators have an unchanged category, all operators are returned.
    """
    category = operators.categories[levels.operators]
    every = np.ones(len(category), np.bool_)
    codes = [code for code in np.unique(category).tolist() if (category != code).any()]
    if not codes:
        return every
    inside = np.array([levels.level(category == code) for code in codes])
    outside = np.array([levels.level(category != code) for code in codes])
    corrected = adjusted(operators.p_values(inside - outside))
    changed_more = _changed_more_than_others(
        *(operators.shift(level).estimate for level in (inside, outside, inside - outside))
    )
    changed = np.array(codes)[(corrected <= SIGNIFICANT) & changed_more]
    unchanged = (category[:, np.newaxis] != changed).all(axis=1)
    return unchanged if unchanged.sum() >= LEAST_OTHERS else every


def _weights(own_s: Floats, p_values: Floats) -> Floats:
    """Return `RowTests.weights`. Rows without a p are left out of the average, which is 1."""
    medians = np.where(np.isnan(p_values), np.nan, quantile_of_runs(own_s, 0.5))
    known = np.maximum(int((~np.isnan(p_values)).sum()), 1)
    shares = ratio(medians, exact_total(medians))
    weights: Floats = 1 - BY_TIME + BY_TIME * known * np.nan_to_num(shares)
    return weights

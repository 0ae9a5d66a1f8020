"""Tests each row (operator or group) of a comparison by one of two kinds of times.

- Its own times, in seconds. On a noisy machine, a whole run is slow or fast, and so is each of its
  operators. The own times of a row contain this noise.
- Its relative times: the times divided by the level of all other operators in the same run. The
  noise that all operators of a run share cancels out.

A row is tested by its relative times, unless these have much more noise: see `_MORE_NOISE`. The
noise is measured over the runs of both sides together, before the test looks at which run is on
which side. The choice of the times thus keeps p exact. The relative times of a row also change if
all other operators change. Relative times are therefore used only if the row itself changed more
than the other operators.

A change of a few operators hardly moves the level of their group. A group that is tested by its
relative times is therefore tested by its own times, too: see `_OF_OWN`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from profile_analyze.analysis.intervals import Shift, shift
from profile_analyze.analysis.permutation import permutation_test
from profile_analyze.analysis.run_levels import RunLevels, robust_deviation
from profile_analyze.analysis.statistics import SIGNIFICANT, adjusted
from profile_analyze.model.numbers import quantile_of_runs, ratio, total

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.float64]
    Integers: TypeAlias = NDArray[np.int64]
    Chosen: TypeAlias = NDArray[np.bool_]
    OwnTimes: TypeAlias = Callable[[Floats], Floats]

LEAST_OTHERS: Final = 8
"""The fewest other operators that tell the level of a run."""
_HEAVY: Final = 0.01
"""A row with at least this share of the weight would move the level that it is compared with, so it
is left out of that level. Lighter rows hardly move the level. To save time, they are all compared
with the same level."""
_MORE_NOISE: Final = 2.0
"""Relative times are used if they have less than this many times the noise of the own times. A busy
machine has quiet phases, in which own times have little noise. `_noise` measures only such a phase,
but the test uses all runs."""
_BY_TIME: Final = 0.25
"""The part of the permitted error rate that is divided among the rows in proportion to their times.
The rest is divided equally. Rows that take much time matter more, so they get a verdict more easily
(Genovese, Roeder and Wasserman, 2006)."""
_OF_OWN: Final = 0.2
"""The part of the permitted error rate that goes to the test of a group's own times, if the group
is tested by its relative times, too. The relative times show a change of most of its operators, and
the own times show a change of a few."""
_STEPS_TO_ESTIMATE: Final = 4
"""How often the estimate of the own times is corrected. Each correction shrinks the error."""
_STEPS_TO_END: Final = 10
"""How often the distance to an end of an interval is halved. Less than a thousandth of the distance
is left."""
_FIRST_LENGTHS: Final = 4.0
"""The ends are first sought within this many lengths of the first interval."""
_SHORTEST: Final = 1e-3
"""The first interval counts as at least this long. Its length may be 0 if many times are equal."""
_DOUBLINGS: Final = 8
"""How often the search goes further out, each time twice as far. An end beyond is infinite."""
_FURTHEST: Final = 200.0
"""The largest shift that is tried. Moved by it, times are still far below the largest float."""


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
    """How far each row changed, and how often chance alone makes such a change.

    All arrays have shape (rows,), and NaN is N/A. Shifts are differences of logarithms: a shift of
    0.1 is a ratio of exp(0.1).
    """

    own: Shift
    relative: Shift
    is_relative: Chosen
    """Whether the row is tested by its relative times."""
    p_values: Floats
    """The p of the test that was chosen, without correction for the number of rows."""
    weights: Floats
    """The weight of each row in the correction for the number of rows; 1 on average."""
    parts: Floats
    """The part of the permitted errors that the test of a row gets if the row changed by itself: 1
    if it then has one test. Of two tests, the larger part counts."""

    @property
    def corrected(self) -> Floats:
        """The p-values corrected for the number of rows: see `statistics.adjusted`."""
        return adjusted(self.p_values, self.weights)

    @property
    def chosen(self) -> Shift:
        """The shift of the times that were chosen for the test."""
        return Shift(
            *(
                np.where(self.is_relative, relative, own)
                for relative, own in zip(self.relative, self.own, strict=True)
            )
        )


class Relative(NamedTuple):
    """The two levels that the relative times of rows are computed from, as logarithms.

    Both have shape (rows, runs of both sides). `inside - outside` has the relative times.
    """

    inside: Floats
    """The level of the row's own operators in each run."""
    outside: Floats
    """The level of all other operators in each run."""


def limited_times(times_s: Floats) -> Floats:
    """Return the times with odd times of single operators limited, in the shape of `times_s`.

    `times_s` has shape (operators, runs of both sides). Each time is limited to one robust standard
    deviation around the median of its operator. The sum over many operators then has less noise. A
    change between the sides remains visible. The median and the deviation are over the runs of both
    sides, so the deviation grows with the change.
    """
    middle = quantile_of_runs(times_s, 0.5)[:, np.newaxis]
    margin = robust_deviation(times_s)[:, np.newaxis]
    limited: Floats = np.clip(times_s, middle - margin, middle + margin)
    return limited


def compare_rows(operators: OperatorTimes, row: Integers, own_times: OwnTimes) -> RowTests:
    """Test the rows of a comparison.

    `row` has the row of each operator, shape (operators,), or -1 if the operator is in no row.
    `own_times` returns the times of the rows in seconds, shape (rows, runs of both sides), from the
    times of the operators.
    """
    own_s = own_times(operators.times_s)
    relative = relative_times(operators, row, len(own_s))
    own = _own_logs(own_s)
    difference = relative.inside - relative.outside
    shifts = _own_shift(operators, row, own_times), operators.shift(difference)
    is_quieter = _noise(difference) < _MORE_NOISE * _noise(own)
    is_relative = is_quieter & _changed_itself(operators, relative, shifts[1])
    p_values = operators.p_values(np.where(is_relative[:, np.newaxis], difference, own_s))
    several = np.bincount(row[row >= 0], minlength=len(own_s)) > 1
    both = np.flatnonzero(is_relative & several)
    of_own = operators.p_values(own_s[both]) / _OF_OWN
    of_relative = p_values[both] / (1 - _OF_OWN)
    is_relative[both] = of_relative <= of_own
    p_values[both] = np.minimum(np.minimum(of_own, of_relative), 1.0)
    parts = np.ones(len(own_s))
    parts[is_quieter & several] = max(_OF_OWN, 1 - _OF_OWN)
    return RowTests(*shifts, is_relative, p_values, _weights(own_s, p_values), parts)


def _own_shift(operators: OperatorTimes, row: Integers, own_times: OwnTimes) -> Shift:
    """Return the shift of the own times.

    If the times of operators are limited, a change of all operators of a row is limited, too, and
    the shift would be too small. A shift is therefore removed before the times are limited: the two
    sides are moved together. The estimate is the shift whose removal leaves a shift of 0. The
    interval holds all shifts whose removal leaves an interval that includes 0.
    """

    def after(moved: Floats) -> Shift:
        """Return the shift that is left after the sides were moved together by `moved`."""
        by = np.append(moved, 0.0)[row][:, np.newaxis] / 2  # row -1 is not moved
        ours, base = operators.split(operators.times_s)
        with np.errstate(over="ignore"):  # times near the largest float become infinite
            together = np.concatenate([ours * np.exp(-by), base * np.exp(by)], axis=1)
        return operators.shift(_own_logs(own_times(together)))

    at_first = after(np.zeros(int(row.max(initial=-1)) + 1))
    several = np.bincount(row[row >= 0], minlength=len(at_first.estimate)) > 1
    moving = several & np.isfinite(at_first).all(axis=0)
    if not moving.any():
        return at_first
    estimate = np.where(moving, at_first.estimate, 0.0)
    for _ in range(_STEPS_TO_ESTIMATE):
        estimate = estimate + np.where(moving, after(estimate).estimate, 0.0)
    length = np.zeros(len(moving))
    length[moving] = np.maximum(at_first.high[moving] - at_first.low[moving], _SHORTEST)
    low, high = (
        _end(after, estimate, estimate + direction * _FIRST_LENGTHS * length)
        for direction in (-1, 1)
    )
    pairs = zip((estimate, low, high), at_first, strict=True)
    return Shift(*(np.where(moving, found, first) for found, first in pairs))


def _end(after: Callable[[Floats], Shift], inside: Floats, outside: Floats) -> Floats:
    """Return the end of the interval, which is sought between `inside` and `outside` first.

    While the interval holds the shift `outside`, too, the search goes further out. After
    `_DOUBLINGS` steps, the end is infinite.
    """
    direction = np.sign(outside - inside)

    def is_held(moved: Floats) -> Chosen:
        left = after(moved)
        held: Chosen = (left.low <= 0) & (left.high >= 0) & (direction != 0)
        return held

    held = is_held(outside)
    for _ in range(_DOUBLINGS):
        if not held.any():
            break
        further = np.clip(outside + 2 * (outside - inside), -_FURTHEST, _FURTHEST)
        inside, outside = np.where(held, outside, inside), np.where(held, further, outside)
        held = is_held(outside)
    is_infinite = held
    for _ in range(_STEPS_TO_END):
        middle = (inside + outside) / 2
        is_inside = is_held(middle)
        inside, outside = np.where(is_inside, middle, inside), np.where(is_inside, outside, middle)
    return np.where(is_infinite, np.copysign(np.inf, direction), outside)


def _own_logs(own_s: Floats) -> Floats:
    """Return the logarithms of the times; -inf for 0."""
    with np.errstate(divide="ignore"):
        logs: Floats = np.log(own_s)
    return logs


def _noise(values: Floats) -> Floats:
    """Return the length of the shortest interval that holds three eighths of the runs.

    `values` has shape (rows, runs of both sides); the result has shape (rows,). If the sides
    differ, the shortest interval is within one side, so a change does not count as noise.
    """
    ascending = np.sort(values, axis=1)
    held = max(3 * values.shape[1] // 8, 2)
    with np.errstate(invalid="ignore"):
        lengths = ascending[:, held - 1 :] - ascending[:, : values.shape[1] - held + 1]
    # In a row with N/A, the N/A values come last. Lengths up to an N/A value do not count.
    noise: Floats = np.where(np.isnan(lengths), np.inf, lengths).min(axis=1)
    return noise


def _changed_itself(operators: OperatorTimes, relative: Relative, difference: Shift) -> Chosen:
    """Return whether a change of the relative times is a change of the row, not of the others.

    The times of the row must have changed in the same direction, and more than the times of the
    others. If the row and the others changed alike, the relative times say nothing about the row.
    """
    inside = operators.shift(relative.inside).estimate
    outside = operators.shift(relative.outside).estimate
    itself: Chosen = (
        (np.sign(inside) == np.sign(difference.estimate))
        & (np.abs(inside) > np.abs(outside))
        & (np.abs(difference.estimate) >= np.abs(outside) / 2)
    )
    return itself


def relative_times(operators: OperatorTimes, row: Integers, rows: int) -> Relative:
    """Return the relative times of the rows. A row without them is NaN.

    A row lacks relative times if none of its operators has a usable time in each run, or if there
    are fewer than `LEAST_OTHERS` others. The others are the operators outside the row whose
    category did not change. If these are too few, all operators outside the row count.
    """
    levels = RunLevels.of(operators.times_s)
    runs = operators.times_s.shape[1]
    inside, outside = np.full((rows, runs), np.nan), np.full((rows, runs), np.nan)
    others = unchanged_operators(operators, levels)
    if others.sum() < LEAST_OTHERS:
        return Relative(inside, outside)
    row_of = row[levels.operators]
    outside[:] = levels.level(others)
    in_row = row_of >= 0
    counts = np.bincount(row_of[in_row], minlength=rows)
    alone = in_row & (counts[np.maximum(row_of, 0)] == 1)
    inside[row_of[alone]] = levels.logs[alone]
    for index in np.flatnonzero(counts > 1):
        inside[index] = levels.level(row_of == index)
    weights = np.bincount(row_of[in_row & others], levels.weights[in_row & others], minlength=rows)
    for index in np.flatnonzero(weights >= _HEAVY * levels.weights[others].sum()):
        rest = others & (row_of != index)
        if rest.sum() < LEAST_OTHERS:
            rest = row_of != index
        outside[index] = levels.level(rest) if rest.sum() >= LEAST_OTHERS else np.nan
    return Relative(inside, outside)


def unchanged_operators(operators: OperatorTimes, levels: RunLevels) -> Chosen:
    """Return which operators of `levels` are of a category that did not change by itself.

    The level of each category is tested relative to the level of all others. If too few operators
    remain, all are returned.
    """
    category = operators.categories[levels.operators]
    every = np.ones(len(category), np.bool_)
    codes = [code for code in np.unique(category).tolist() if (category != code).any()]
    if not codes:
        return every
    inside = np.array([levels.level(category == code) for code in codes])
    relative = Relative(inside, np.array([levels.level(category != code) for code in codes]))
    difference = relative.inside - relative.outside
    corrected = adjusted(operators.p_values(difference))
    itself = _changed_itself(operators, relative, operators.shift(difference))
    changed = np.array(codes)[(corrected <= SIGNIFICANT) & itself]
    unchanged = (category[:, np.newaxis] != changed).all(axis=1)
    return unchanged if unchanged.sum() >= LEAST_OTHERS else every


def _weights(own_s: Floats, p_values: Floats) -> Floats:
    """Return `RowTests.weights`. Only rows with a p count in their average."""
    medians = np.where(np.isnan(p_values), np.nan, quantile_of_runs(own_s, 0.5))
    known = np.maximum(int((~np.isnan(p_values)).sum()), 1)
    shares = ratio(medians, total(medians))
    weights: Floats = 1 - _BY_TIME + _BY_TIME * known * np.nan_to_num(shares)
    return weights

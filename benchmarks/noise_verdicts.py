"""Verdicts and intervals as `--compare` has them, and verdicts by means, to compare with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from profile_analyze.comparison.row_tests import OperatorTimes, RowTests, compare_rows
from profile_analyze.comparison.statistics import (
    FASTER,
    SAME,
    SLOWER,
    UNCERTAIN,
    VERDICTS,
)
from profile_analyze.comparison.verdicts import runs_needed, verdict_codes
from profile_analyze.model.numbers import ratio

if TYPE_CHECKING:
    from typing import TypeAlias

    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.float64]
    Integers: TypeAlias = NDArray[np.int64]
    Ends: TypeAlias = tuple[Floats, Floats]

THRESHOLD: Final = 0.03
IS_FASTER, IS_SLOWER, IS_SAME, IS_UNCERTAIN = (
    VERDICTS.index(one) for one in (FASTER, SLOWER, SAME, UNCERTAIN)
)


def verdicts(operators: OperatorTimes, row: Integers) -> Integers:
    """Return the verdicts of `--compare` as indices in `VERDICTS`, shape (rows,).

    `row` has the row of each operator, as in `compare_rows`.
    """
    tests, ratios = _tests(operators, row)
    return verdict_codes(tests, ratios, THRESHOLD)


def verdicts_and_needed(operators: OperatorTimes, row: Integers) -> tuple[Integers, Floats]:
    """Return the `verdicts`, and how many runs would settle each uncertain row."""
    tests, ratios = _tests(operators, row)
    codes = verdict_codes(tests, ratios, THRESHOLD)
    runs = operators.runs, operators.times_s.shape[1] - operators.runs
    with np.errstate(invalid="ignore"):  # a ratio to 0 s and its interval are infinite
        return codes, runs_needed(tests, codes, runs, THRESHOLD)


def intervals(operators: OperatorTimes, row: Integers) -> Ends:
    """Return both ends of the 95 % confidence intervals of the ratios, shape (rows,) each.

    As in tables, an interval always includes the ratio of the medians.
    """
    tests, ratios = _tests(operators, row)
    return np.fmin(np.exp(tests.own.low), ratios), np.fmax(np.exp(tests.own.high), ratios)


def _tests(operators: OperatorTimes, row: Integers) -> tuple[RowTests, Floats]:
    measured_s = _times_of_rows(operators.times_s, row)
    return compare_rows(operators, row, measured_s), _ratios(operators, measured_s)


def _times_of_rows(times_s: Floats, row: Integers) -> Floats:
    sums = np.zeros((int(row.max()) + 1, times_s.shape[1]))
    np.add.at(sums, row, times_s)
    return sums


def _ratios(operators: OperatorTimes, times_s: Floats) -> Floats:
    ours, theirs = operators.split(times_s)
    return ratio(np.median(ours, axis=1), np.median(theirs, axis=1))


def by_means(operators: OperatorTimes, row: Integers) -> Integers:
    """Judge by the ratio of the means alone, which must reach the threshold."""
    ours, theirs = operators.split(_times_of_rows(operators.times_s, row))
    ratios = ratio(ours.mean(axis=1), theirs.mean(axis=1))
    codes = np.full(len(ratios), IS_UNCERTAIN)
    codes[ratios >= 1 + THRESHOLD] = IS_SLOWER
    codes[ratios <= 1 / (1 + THRESHOLD)] = IS_FASTER
    return codes

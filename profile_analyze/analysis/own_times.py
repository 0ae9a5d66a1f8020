"""The own times of rows: their shift between the two sides of a comparison, with its interval.

The sum over many operators has less noise if the outliers of each operator are limited first. But
limiting pulls both sides together, so a change would look too small. The change is therefore
removed before outliers are limited: see `own_shift`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from profile_analyze.analysis.intervals import Shift
from profile_analyze.analysis.run_levels import robust_deviation, weighted_medians
from profile_analyze.model.numbers import quantile_of_runs

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    from numpy.typing import NDArray

    from profile_analyze.analysis.row_tests import OperatorTimes

    Floats: TypeAlias = NDArray[np.float64]
    Integers: TypeAlias = NDArray[np.int64]
    Chosen: TypeAlias = NDArray[np.bool_]

_STEPS_TO_ESTIMATE: Final = 4
"""How many times the estimate of the shift is corrected. Each correction shrinks the error."""
_STEPS_TO_END: Final = 10
"""How many times the search for an end of the interval halves the distance that is left to search.
Less than a thousandth of the distance remains."""
_FIRST_LENGTHS: Final = 4.0
"""The search for an end starts this far from the estimate. The unit is the length of the row's
interval before any shift is removed."""
_SHORTEST: Final = 1e-3
"""The least value of this unit. If many times are equal, the length may be 0."""
_DOUBLINGS: Final = 8
"""How many times the search for an end goes further out, each time twice as far. An end that is not
found is infinite."""
_FURTHEST: Final = 200.0
"""The largest shift that is tried, as a logarithm of a ratio. Times shifted this far stay far below
the largest float."""


_MOST_ONE_SIDED: Final = 0.05
"""If operators that only one side has take more than this share of a row's time, outliers are not
limited. The interval would lack the noise of these operators."""


class OwnTimes(NamedTuple):
    """The own times of rows, in seconds."""

    measured_s: Floats
    """The times as measured, shape (rows, runs of both sides)."""
    added_up: Callable[[Floats], Floats] | None
    """Adds up, or averages, times of operators, shape (operators, columns), to times of the rows.
    None if outliers are not limited: if the rows are operators, if they do not add up, or if a time
    is the median of several runs, which limits outliers already."""


def limited_times(times_s: Floats) -> Floats:
    """Return a copy of `times_s` in which outliers are limited.

    `times_s` has shape (operators, runs of both sides). In the copy, no time is further from the
    median of its operator than one robust standard deviation. The sum over many operators then has
    less noise. A change between the sides remains visible: the median and the deviation are over
    the runs of both sides, so the deviation grows with the change.
    """
    middle = quantile_of_runs(times_s, 0.5)[:, np.newaxis]
    margin = robust_deviation(times_s)[:, np.newaxis]
    limited: Floats = np.clip(times_s, middle - margin, middle + margin)
    return limited


def limited_rows(operators: OperatorTimes, row: Integers, own: OwnTimes) -> Chosen:
    """Return for which rows outliers are limited, shape (rows,).

    Such a row has several operators. Operators that only one side has take little of its time: see
    `_MOST_ONE_SIDED`.
    """
    rows = len(own.measured_s)
    if own.added_up is None or not rows:
        return np.zeros(rows, np.bool_)
    medians = operators.medians_s()
    longer_s = np.nan_to_num(np.fmax(*medians))
    is_one_sided = np.isnan(medians[0]) != np.isnan(medians[1])
    in_row = row >= 0
    with np.errstate(over="ignore"):
        whole_s, one_sided_s = (
            np.bincount(row[in_row], times_s[in_row], rows)
            for times_s in (longer_s, np.where(is_one_sided, longer_s, 0.0))
        )
        is_shared = one_sided_s <= _MOST_ONE_SIDED * whole_s
    return (np.bincount(row[in_row], minlength=rows) > 1) & is_shared


def own_shift(
    operators: OperatorTimes, row: Integers, own: OwnTimes, own_s: Floats, limited: Chosen
) -> Shift:
    """Return the shift of the own times `own_s`, which have outliers limited in the rows `limited`.

    Limited outliers make a shift between the sides look smaller. In these rows, the shift of each
    operator is therefore removed first: each side moves towards the other by half of it. Most
    operators get the shift of their row. Operators that changed otherwise keep their distance from
    it: see `_apart`.

    The estimate is the shift of the row that, once removed, leaves a shift of 0. The interval holds
    each shift that, once removed, leaves no difference that a rank-sum test would detect.
    """
    measured = operators.shift(own_logs(own_s))
    added_up = own.added_up
    if added_up is None or not limited.any():
        return measured
    middle, apart = _apart(operators, row, len(own_s))
    # The sums leave out operators that only one side has. `_of_rows` adds their times.
    is_shared = ~np.isnan(operators.typical_s())
    ours, base = operators.split(np.where(is_shared[:, np.newaxis], operators.times_s, np.nan))

    def after(removed: Floats) -> Shift:
        """Return the shift that is left after the shift `removed` of each row was removed."""
        by = (np.append(removed, 0.0)[row] + apart)[:, np.newaxis] / 2  # 0 for operators in no row
        with np.errstate(all="ignore"):  # large times may become infinite; 0 times infinity is N/A
            moved_s = np.concatenate([ours * np.exp(-by), base * np.exp(by)], axis=1)
        return operators.shift(own_logs(added_up(limited_times(moved_s))))

    is_moved = limited & np.isfinite(np.stack(after(middle))).all(axis=0)
    found = _found(after, np.where(is_moved, middle, 0.0), is_moved)
    of_rows = (_of_rows(operators, row, added_up, apart, one) for one in found)
    pairs = zip(of_rows, measured, strict=True)
    return Shift(*(np.where(is_moved, one, plain) for one, plain in pairs))


def _found(after: Callable[[Floats], Shift], start: Floats, searched: Chosen) -> Shift:
    """Return the shift that leaves a shift of 0, and its interval, for the rows `searched`.

    `after` returns the shift that is left after a shift was removed. The search begins at `start`.
    """
    estimate = start
    for _ in range(_STEPS_TO_ESTIMATE):
        step = np.where(searched, after(estimate).estimate, 0.0)
        estimate = np.clip(estimate + step, -_FURTHEST, _FURTHEST)
    at_start = after(start)
    length = np.zeros(len(start))
    length[searched] = np.maximum(at_start.high[searched] - at_start.low[searched], _SHORTEST)
    low, high = (
        _end(after, estimate, estimate + direction * _FIRST_LENGTHS * length)
        for direction in (-1, 1)
    )
    return Shift(estimate, low, high)


def _apart(operators: OperatorTimes, row: Integers, rows: int) -> tuple[Floats, Floats]:
    """Return the middle shift of the operators of each row, and how far each operator is from it.

    The shapes are (rows,) and (operators,). The middle is the median, weighted by time. An operator
    is apart from it if its own interval excludes the middle. Otherwise, the distance is noise, and
    the result is 0.
    """
    shifts = operators.shift(own_logs(operators.times_s))
    weights = np.nan_to_num(operators.typical_s())
    middle, apart = np.zeros(rows), np.zeros(len(row))
    is_known = np.isfinite(shifts.estimate) & (row >= 0)
    for index in np.unique(row[is_known]).tolist():
        of_row = np.flatnonzero(is_known & (row == index))
        values = shifts.estimate[of_row]
        # Two medians, because swapped sides must give the negated result.
        high, low = (
            sign * weighted_medians(sign * values[:, np.newaxis], weights[of_row])[0]
            for sign in (-1, 1)
        )
        middle[index] = (low + high) / 2
        is_apart = (shifts.low[of_row] > middle[index]) | (shifts.high[of_row] < middle[index])
        apart[of_row] = np.where(is_apart, values - middle[index], 0.0)
    return middle, apart


def _of_rows(
    operators: OperatorTimes,
    row: Integers,
    added_up: Callable[[Floats], Floats],
    apart: Floats,
    shift: Floats,
) -> Floats:
    """Return the shift of the rows, shape (rows,), whose operators have the shift `shift + apart`.

    Both sides get typical times of all operators, including operators that only one side has.
    """
    by = (np.append(shift, 0.0)[row] + apart) / 2
    typical_s = operators.typical_s()
    with np.errstate(all="ignore"):
        ours, base = (
            own_logs(
                added_up(np.where(np.isnan(typical_s), own_s, typical_s * np.exp(half))[:, None])
            )
            for own_s, half in zip(operators.medians_s(), (by, -by), strict=True)
        )
        return (ours - base)[:, 0]


def _end(after: Callable[[Floats], Shift], inside: Floats, outside: Floats) -> Floats:
    """Return the lower or the upper end of the interval of each row.

    The search starts between `inside`, which is in the interval, and `outside`. While `outside` is
    in the interval, too, the search goes further out: see `_DOUBLINGS`.
    """
    direction = np.sign(outside - inside)  # 0 in rows whose interval is not searched

    def is_held(removed: Floats) -> Chosen:
        left = after(removed)
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


def own_logs(own_s: Floats) -> Floats:
    """Return the logarithms of the times; -inf for 0."""
    with np.errstate(divide="ignore"):
        logs: Floats = np.log(own_s)
    return logs

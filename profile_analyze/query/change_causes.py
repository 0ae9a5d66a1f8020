"""The causes of a change: the work, the time per work, and operators that only one side has."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from profile_analyze.model.numbers import difference, total
from profile_analyze.model.terms import ADDED, LESS_WORK, MORE_WORK, REMOVED
from profile_analyze.query.conditions import TIME_TOLERANCE_S
from profile_analyze.query.distinct_names import details_of
from profile_analyze.query.time_shares import share_of
from profile_analyze.units import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from profile_analyze.query.table import Table

PER_WORK: Final = "time per work"
UNKNOWN_WORK: Final = "unknown work"
RESIDUAL: Final = "residual"
CAUSES: Final = (MORE_WORK, LESS_WORK, PER_WORK, UNKNOWN_WORK, ADDED, REMOVED, RESIDUAL)
"""All causes, in the order in which the summary lists them."""
WORK_CAUSES: Final = (MORE_WORK, LESS_WORK, ADDED, REMOVED)
"""The causes in which the work changed: more or less work, or operators that one side lacks."""
_MOST_OPERATORS: Final = 3
_NO_RESIDUAL: Final = 1e-9
"""A smaller residual is a rounding error. The limit is a fraction of the baseline's time, or of the
difference if the difference is larger."""

_UNRELATED: Final = 10.0
"""If the additional work of an operator would take over ten times the operator's time on either
side, the operator is not split into work and time per work: both parts would mean nothing. For
example, a kernel of one element takes as long to launch as a kernel of thousands."""

_ADDING_UP: Final = 0.005
"""Differences add up if their sum is wrong by at most this fraction of the largest of them."""


class CauseOperator(NamedTuple):
    """How much one operator adds to a cause."""

    name: str
    detail: str
    """What tells the operator apart from others with this name: see `details_of`."""
    difference_s: float


class Cause(NamedTuple):
    """A part of the difference between the total times. All parts add up to the difference.

    If both sides have an operator, its difference has two parts. The work part is its time in the
    baseline * (`work_ratio` - 1): the time that the additional work takes at the baseline's time
    per work. It counts as `more work` or `less work`. The rest counts as `time per work`. If
    `work_ratio` is N/A, the whole difference counts as `unknown work`. If the work part is larger
    than `_UNRELATED` times both times of the operator, the whole difference counts as `more work`
    if the operator takes longer, and as `time per work` otherwise.

    The `residual` is the rest of the difference. It has two reasons. Operators that both sides have
    may have a time on one side only, so that their difference is N/A. And times are medians: the
    medians of operators need not add up to the median of the total.
    """

    cause: str
    """One of `CAUSES`."""
    difference_s: float
    operators: int
    """How many operators differ for this cause; 0 for the residual."""
    largest: tuple[CauseOperator, ...]
    """At most three operators whose difference has the same sign as `difference_s`, the largest
    differences first."""
    remark: str = ""
    """Why there is a residual; empty for all other causes."""


class WorkChange(NamedTuple):
    """The work of all operators on both sides. NaN is N/A."""

    computation: float = np.nan
    """FLO of all operators in a run: see `Rows.work_on_sides`."""
    base_computation: float = np.nan
    memory: float = np.nan
    """Bytes of all operators in a run, counted like `computation`."""
    base_memory: float = np.nan
    compared_work: str | None = None
    """The work that `work_ratio` compares: `computation` or `memory`. None if it is unknown."""
    work_ratio: float = np.nan
    ratio_per_work: float = np.nan
    """The ratio of the times, divided by `work_ratio`."""
    left_out: int = 0
    """How many operators `work_ratio` leaves out, because their work is unknown on a side."""
    left_out_share: float = np.nan
    """The share of the profile's device time that these operators take."""


def work_change(whole: Table, operators: Table) -> WorkChange:
    """Return the work of all operators. `whole` has a single row for all `operators`."""
    if not len(whole):
        return WorkChange()
    compared = whole["compared_work"][0]
    unknown = _is_unknown(operators, compared or "computation")
    (computation,), (base_computation,) = whole.shown.work_on_sides("computation")
    (memory,), (base_memory,) = whole.shown.work_on_sides("memory")
    return WorkChange(
        computation=float(computation),
        base_computation=float(base_computation),
        memory=float(memory),
        base_memory=float(base_memory),
        compared_work=compared,
        work_ratio=float(whole["work_ratio"][0]),
        ratio_per_work=float(whole["ratio_per_work"][0]),
        left_out=int(unknown.sum()),
        left_out_share=share_of(operators.shown, unknown),
    )


def _is_unknown(operators: Table, name: str) -> NDArray[np.bool_]:
    """Return whether the work of each operator is unknown on a side that has the operator."""
    in_profile, in_base = operators.shown.on_sides
    ours, base = operators[name], operators[f"base_{name}"]
    unknown: NDArray[np.bool_] = (in_profile & np.isnan(ours)) | (in_base & np.isnan(base))
    return unknown


def causes_of(operators: Table, difference_s: float) -> Iterator[Cause]:
    """Yield the causes of the difference between the total times. Causes of 0 s are left out.

    `operators` has a row for each operator, and `difference_s` is the difference of the totals.
    """
    if np.isnan(difference_s):
        return
    parts = _parts(operators)
    # Parts within the tolerance are rounding errors.
    rows_of = {
        cause: np.flatnonzero(np.abs(parts_s) > TIME_TOLERANCE_S)
        for cause, parts_s in parts.items()
    }
    largest = {cause: _largest(parts[cause], rows) for cause, rows in rows_of.items()}
    # One call looks for equal names in all causes, because each search takes time.
    details = iter(details_of(operators, np.concatenate([*largest.values()]).tolist()))
    sums_s = {cause: float(np.nansum(parts_s)) for cause, parts_s in parts.items()}
    for cause, rows in largest.items():
        names, parts_s = operators["name"][rows].tolist(), parts[cause][rows].tolist()
        of_operators = tuple(map(CauseOperator, names, islice(details, len(rows)), parts_s))
        if len(rows):
            yield Cause(cause, sums_s[cause], len(rows_of[cause]), of_operators)
    residual_s = difference_s - sum(sums_s.values())
    rounding_s = _NO_RESIDUAL * max(total(operators["base"]), abs(difference_s))
    if abs(residual_s) > rounding_s:
        remark = _remark_on_residual(operators, residual_s, rounding_s)
        yield Cause(RESIDUAL, residual_s, 0, (), remark)


def _remark_on_residual(operators: Table, residual_s: float, rounding_s: float) -> str:
    """Return `Cause.remark`. The residual may be wrong by `rounding_s`."""
    one_sided_s = _times_on_one_side(operators)
    count = int((np.abs(one_sided_s) > TIME_TOLERANCE_S).sum())
    verb = "has" if count == 1 else "have"
    one_sided = f"{counted(count, 'operator')} {verb} a time on one side only" if count else ""
    is_explained = abs(residual_s - one_sided_s.sum()) <= rounding_s
    return "; ".join(filter(None, (one_sided, "" if is_explained else "medians do not add up")))


def add_up(rows: Table, whole_s: float) -> bool:
    """Return whether the differences of the rows add up to the whole difference.

    If a row that both sides have has a time on one side only, this time counts as its difference.
    """
    known_s = np.nan_to_num(rows["difference"]) + _times_on_one_side(rows)
    largest_s = max(abs(whole_s), np.abs(known_s).max(initial=0.0))
    return bool(abs(known_s.sum() - whole_s) <= _ADDING_UP * largest_s)


def _times_on_one_side(rows: Table) -> NDArray[np.float64]:
    """Return the time of rows that both sides have, but that have a time on one side only.

    Times of the baseline are negative. All other rows are 0. The shape is (rows,).
    """
    in_profile, in_base = rows.shown.on_sides
    times_s, base_s = rows["time"], rows["base"]
    is_one_sided = in_profile & in_base & (np.isnan(times_s) != np.isnan(base_s))
    return np.where(is_one_sided, np.nan_to_num(times_s) - np.nan_to_num(base_s), 0.0)


def _largest(parts_s: NDArray[np.float64], rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return `Cause.largest` as rows. `rows` has the operators with this cause."""
    # Positive for operators whose part has the sign of the whole cause.
    same_sign_s = parts_s[rows] * np.copysign(1.0, parts_s[rows].sum())
    order = np.argsort(-same_sign_s, kind="stable")[:_MOST_OPERATORS]
    found: NDArray[np.int64] = rows[order[same_sign_s[order] > 0]]
    return found


def _parts(operators: Table) -> dict[str, NDArray[np.float64]]:
    """Return how much each operator adds to each cause except the residual, shape (operators,)."""
    in_profile, in_base = operators.shown.on_sides
    differences, base_s = operators["difference"], operators["base"]
    work_s = base_s * (operators["work_ratio"] - 1)
    longest_s = np.fmax(operators["time"], base_s)
    # The time of such an operator hardly depends on its work.
    is_unrelated = work_s / _UNRELATED > longest_s
    work_s = np.where(is_unrelated, np.maximum(differences, 0.0), work_s)
    on_both = in_profile & in_base
    has_work = on_both & ~np.isnan(work_s) & ~np.isnan(differences)
    return {
        MORE_WORK: np.where(has_work & (work_s > 0), work_s, 0.0),
        LESS_WORK: np.where(has_work & (work_s < 0), work_s, 0.0),
        PER_WORK: np.where(has_work, difference(differences, work_s), 0.0),
        UNKNOWN_WORK: np.where(on_both & ~has_work, differences, 0.0),
        ADDED: np.where(in_base, 0.0, differences),
        REMOVED: np.where(in_profile, 0.0, differences),
    }

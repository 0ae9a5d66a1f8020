"""The roofline: the formulas of the columns that compare operators with peak rates.

An operator takes at least computation / peak rate, and at least memory / peak bandwidth. The larger
of these two times is its least possible time.

See Williams, Waterman and Patterson, "Roofline: an insightful visual performance model for
multicore architectures", Communications of the ACM 52(4), 2009.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from profile_analyze.columns.rows import Formulas
from profile_analyze.model.categorical import MISSING_CODE, Categorical
from profile_analyze.model.levels.owned_work import is_limited_by_link
from profile_analyze.model.measures import TIME
from profile_analyze.model.measuring import on_side
from profile_analyze.model.numbers import difference, finite, ratio
from profile_analyze.model.stale_work import has_stale_work
from profile_analyze.model.terms import ABSENT, COPY, DATA_MOVEMENT, DEVICE
from profile_analyze.roofline.peaks import DEFAULT_DTYPE, TF32

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from profile_analyze.columns.rows import GroupRows, OperatorRows
    from profile_analyze.model.profile import Profile
    from profile_analyze.roofline.peaks import Peaks

    Floats = NDArray[np.float64]

COMPUTE: Final = "compute"
MEMORY: Final = "memory"

_SAME_RATE: Final[Mapping[str, str]] = {"uint8": "int8"}
"""Dtypes without a rate of their own, each with the dtype whose rate applies to it."""


def rate_dtypes(profile: Profile, peaks: Peaks) -> Categorical[str]:
    """Return the dtype whose rate limits each operator, shape (operators,); N/A if unknown.

    The dtype that the user named may replace FP32: see `replaces_fp32`.
    """
    replaced = dict(_SAME_RATE)
    if replaces_fp32(profile, peaks):
        replaced[DEFAULT_DTYPE] = peaks.dtype
    return profile.operators.categorical("compute_dtype").mapped(
        lambda dtype: replaced.get(dtype, dtype)
    )


def replaces_fp32(profile: Profile, peaks: Peaks) -> bool:
    """Return whether operators in FP32 are judged as if they ran in the dtype of `peaks`.

    The user must have named that dtype. It may be any dtype if the model has not run. For a
    recorded run, it must be TF32: profiles record FP32 also for operators that ran in TF32.
    """
    return (
        (profile.origin.times == ABSENT or peaks.dtype == TF32)
        and peaks.dtype_is_named
        and peaks.dtype != DEFAULT_DTYPE
        and DEFAULT_DTYPE in profile.operators.categorical("compute_dtype").categories
    )


def is_judged(rows: OperatorRows) -> NDArray[np.bool_]:
    """Return whether the time of each operator can be compared with a roof, shape (operators,).

    Host times, wait times, times of 0 and times below the clock's resolution cannot be compared.
    Nor can the time of an operator whose work was recorded in another run, with other shapes.
    Operators that do no work, and copies between devices, have no roof.

    A model that has not run has no times, but all of its operators count as judged. The roofline
    then gives the least time that these operators need.
    """
    times: Floats = rows["time"]
    if rows.profile.origin.times == ABSENT:
        return np.full(len(times), rows.measure == TIME)
    if rows.measure != TIME:
        return np.zeros(len(times), np.bool_)
    is_long_enough = (times > 0) & ~is_below_clock_resolution(rows)  # false for NaN
    judged: NDArray[np.bool_] = is_long_enough & ~does_no_work(rows)
    judged &= ~has_stale_work(rows.profile.operators) & ~is_limited_by_link(rows.profile)
    return judged


def does_no_work(rows: OperatorRows) -> NDArray[np.bool_]:
    """Return whether each operator computes and moves nothing, shape (operators,).

    Such operators are views and allocations. Their time is overhead, and no rate of a device says
    how short it could be.
    """
    computes_nothing = (rows["computation"] == 0) | only_moves_data(rows)
    no_work: NDArray[np.bool_] = computes_nothing & (rows["memory"] == 0)
    return no_work


def is_below_clock_resolution(rows: OperatorRows) -> NDArray[np.bool_]:
    """Return whether a call of each operator is shorter than a clock tick, shape (operators,).

    If an operator ran on several device tracks, the coarsest clock counts.
    """
    resolution_s = _resolution_s(rows.profile) * (1 - 1e-6)  # tolerates rounding noise
    time_per_call: Floats = rows["time"] / np.fmax(rows["calls"], 1.0)
    return time_per_call < resolution_s


def _resolution_s(profile: Profile) -> Floats:
    """Return the resolution of each operator's coarsest device clock, shape (operators,)."""
    executions = profile.executions
    on_device = on_side(profile, DEVICE)
    of_tracks = np.array([track.resolution_s for track in profile.tracks], np.float64)
    resolution_s = np.zeros(len(profile))
    np.maximum.at(
        resolution_s, executions.operator[on_device], of_tracks[executions.track[on_device]]
    )
    return resolution_s


def _peaks(rows: OperatorRows) -> Peaks:
    assert rows.peaks is not None, "this column needs peak rates"
    peaks: Peaks = rows.peaks
    return peaks


def peak_rates(rows: OperatorRows) -> Floats:
    """Return the peak FLO/s in the dtype of each operator, shape (operators,); NaN if unknown."""
    peaks = _peaks(rows)
    dtypes = rate_dtypes(rows.profile, peaks)
    rates = [peaks.rate(dtype) for dtype in dtypes.categories]
    # The code of an unknown dtype is -1, which indexes the default rate at the end.
    return np.array([*rates, peaks.rate(None)])[dtypes.codes]


def only_moves_data(rows: OperatorRows) -> NDArray[np.bool_]:
    """Return whether each operator only moves data, shape (operators,).

    Only the bandwidth limits an operator that moves data. Runtimes report its number of elements as
    computation, so peak rates do not apply. A data movement with unknown computation is left out:
    it may be a view, which moves nothing.
    """
    category = rows.profile.operators.category
    is_copy, is_movement = (
        category.where(one == wanted for one in category.categories)
        for wanted in (COPY, DATA_MOVEMENT)
    )
    has_computation: NDArray[np.bool_] = ~np.isnan(rows.profile.operators.computation)
    moves: NDArray[np.bool_] = is_copy | (is_movement & has_computation)
    return moves


def _compute_time(rows: OperatorRows) -> Floats:
    time = ratio(rows["computation"], peak_rates(rows))
    # In a model that has not run, an operator that does no work is judged: it needs no time, even
    # at an unknown rate.
    time = np.where(does_no_work(rows), 0.0, time)
    # An unknown memory time may be larger than the compute time, so the roof is then unknown.
    has_roof = is_judged(rows) & ~only_moves_data(rows) & ~np.isnan(rows["memory"])
    return np.where(has_roof, time, np.nan)


def _memory_time(rows: OperatorRows) -> Floats:
    has_roof = ~np.isnan(rows["compute_time"]) | (is_judged(rows) & only_moves_data(rows))
    return np.where(has_roof, ratio(rows["memory"], _peaks(rows).bandwidth), np.nan)


def _least_time(rows: OperatorRows) -> Floats:
    memory: Floats = rows["memory_time"]
    return np.where(only_moves_data(rows), memory, np.maximum(rows["compute_time"], memory))


def _attainable(rows: OperatorRows) -> Floats:
    rates = peak_rates(rows)
    with np.errstate(all="ignore"):
        memory_bound: Floats = finite(rows["intensity"] * _peaks(rows).bandwidth)
    # The intensity of an operator that moves 0 bytes is N/A, but the peak rate still limits it.
    lesser = np.where(rows["memory"] == 0, rates, np.minimum(rates, memory_bound))
    attainable = np.where(only_moves_data(rows), memory_bound, lesser)
    # For groups, this column is computed from `least_time`. An operator whose least time is unknown
    # or 0 must therefore have no value here either.
    return np.where(rows["least_time"] > 0, attainable, np.nan)


def _efficiency(rows: OperatorRows) -> Floats:
    return ratio(rows["least_time"], rows["time"])


def _lost(rows: OperatorRows) -> Floats:
    return difference(rows.per_run("time"), rows["least_time"][:, None])


def _gain(rows: OperatorRows) -> Floats:
    return _speed_up(rows["lost"], rows.own_totals_s("lost"))


def _gain_of_groups(rows: GroupRows) -> Floats:
    # Runs in which no judged operator of the group ran have no `lost.sum`, so they do not count.
    return _speed_up(rows["lost.sum"], rows.own_totals_s("lost.sum"))


def _speed_up(lost_s: Floats, totals_s: Floats) -> Floats:
    """Return how many times as fast runs that take `totals_s` would be without `lost_s`."""
    rest_s = totals_s - lost_s
    return ratio(totals_s, np.where(rest_s > 0, rest_s, np.nan))


def _bound(rows: OperatorRows) -> Categorical[str]:
    return _larger(rows["compute_time"], rows["memory_time"], rows["least_time"])


def _bound_of_groups(rows: GroupRows) -> Categorical[str]:
    return _larger(rows["compute_time.sum"], rows["memory_time.sum"], rows["least_time.sum"])


def _larger(compute: Floats, memory: Floats, least: Floats) -> Categorical[str]:
    """Return `compute` or `memory`, whichever takes longer; N/A if the least time is N/A or 0."""
    # For an operator that only moves data, `compute` is NaN, the comparison is false, and so the
    # result is `memory`.
    codes = np.where(compute >= memory, 0, 1)
    return Categorical(np.where(least > 0, codes, MISSING_CODE), (COMPUTE, MEMORY))


FORMULAS: Final = Formulas(
    of_rows={},
    of_operators={
        "bound": _bound,
        "attainable": _attainable,
        "compute_time": _compute_time,
        "memory_time": _memory_time,
        "least_time": _least_time,
        "efficiency": _efficiency,
        "lost": _lost,
        "gain": _gain,
    },
    of_groups={"bound": _bound_of_groups, "gain": _gain_of_groups},
)

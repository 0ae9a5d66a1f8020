"""The roofline: the formulas of the columns that compare operators with peak rates.

An operator cannot take less time than its computation takes at the peak rate, nor less than its
memory takes at the peak bandwidth. The larger of the two is its least possible time.

See Williams, Waterman and Patterson, "Roofline: an insightful visual performance model for
multicore architectures", Communications of the ACM 52(4), 2009.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from profile_analyze.analysis.peaks import DEFAULT_DTYPE, TF32
from profile_analyze.model.categorical import MISSING_CODE, Categorical
from profile_analyze.model.measures import TIME
from profile_analyze.model.measuring import on_side
from profile_analyze.model.numbers import difference, finite, ratio
from profile_analyze.model.rows import Formulas
from profile_analyze.model.terms import ABSENT, COPY, DATA_MOVEMENT, DEVICE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from profile_analyze.analysis.peaks import Peaks
    from profile_analyze.model.profile import Profile
    from profile_analyze.model.rows import GroupRows, OperatorRows, Rows

    Floats = NDArray[np.float64]

COMPUTE: Final = "compute"
MEMORY: Final = "memory"

_SAME_RATE: Final[Mapping[str, str]] = {"uint8": "int8", "uint4": "int4"}
"""Dtypes that compute at the rate of another dtype."""


def rate_dtypes(profile: Profile, peaks: Peaks) -> Categorical[str]:
    """Return the dtype whose rate limits each operator, shape (operators,); N/A if unknown.

    A dtype that the user names may replace FP32.
    """
    replaced = dict(_SAME_RATE)
    if replaces_fp32(profile, peaks):
        replaced[DEFAULT_DTYPE] = peaks.dtype
    return profile.operators.categorical("compute_dtype").mapped(
        lambda dtype: replaced.get(dtype, dtype)
    )


def replaces_fp32(profile: Profile, peaks: Peaks) -> bool:
    """Return whether operators in FP32 are judged as if they ran in the dtype of `peaks`.

    A model that has not run can run in any dtype. Operators that ran in FP32 can only have run in
    TF32, which profiles do not record.
    """
    return (
        (profile.origin.times == ABSENT or peaks.dtype == TF32)
        and peaks.dtype_is_named
        and peaks.dtype != DEFAULT_DTYPE
        and DEFAULT_DTYPE in profile.operators.categorical("compute_dtype").categories
    )


def is_judged(rows: OperatorRows) -> NDArray[np.bool_]:
    """Whether the time of each operator can be compared with a roof, shape (operators,).

    Host times, wait times, times of 0 and times below the clock's resolution cannot be compared. In
    a model that has not run, every operator has a least possible time.
    """
    times: Floats = rows["time"]
    if rows.profile.origin.times == ABSENT:
        return np.full(len(times), rows.measure == TIME)
    if rows.measure != TIME:
        return np.zeros(len(times), np.bool_)
    judged: NDArray[np.bool_] = ~np.isnan(times) & (times > 0) & ~is_below_clock_resolution(rows)
    return judged


def is_below_clock_resolution(rows: OperatorRows) -> NDArray[np.bool_]:
    """Whether a call is shorter than one tick of the clock of its tracks, shape (operators,)."""
    resolution_s = _resolution_s(rows.profile) * (1 - 1e-6)  # tolerates rounding noise
    time_per_call: Floats = rows["time"] / np.fmax(rows["calls"], 1.0)
    return time_per_call < resolution_s


def _resolution_s(profile: Profile) -> Floats:
    """Return the resolution of the coarsest device clock of each operator, shape (operators,)."""
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
    """Return the FLO/s of each operator's dtype, shape (operators,); NaN if unknown."""
    peaks = _peaks(rows)
    dtypes = rate_dtypes(rows.profile, peaks)
    rates = [peaks.rate(dtype) for dtype in dtypes.categories]
    # The code of an unknown dtype is -1, which indexes the default rate at the end.
    return np.array([*rates, peaks.rate(None)])[dtypes.codes]


def only_moves_data(rows: OperatorRows) -> NDArray[np.bool_]:
    """Shape (operators,): whether the operator only moves data, so that only memory limits it.

    The computation that runtimes report for a data movement counts elements, so it has no roof. A
    data movement without computation may be a view, which moves nothing.
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
    # An operator that computes and moves nothing takes no time at any rate, also at an unknown one.
    is_free = (rows["computation"] == 0) & (rows["memory"] == 0)
    time = np.where(is_free, 0.0, time)
    # An unknown memory time may be the larger one, so there is no roof without it.
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
    # The intensity of an operator that moves 0 bytes is N/A, but its rate is still a limit.
    lesser = np.where(rows["memory"] == 0, rates, np.minimum(rates, memory_bound))
    attainable = np.where(only_moves_data(rows), memory_bound, lesser)
    # Groups compute this column from `least_time`, so operators without one have no value here.
    return np.where(np.isnan(rows["least_time"]), np.nan, attainable)


def _efficiency(rows: OperatorRows) -> Floats:
    return ratio(rows["least_time"], rows["time"])


def _lost(rows: OperatorRows) -> Floats:
    return difference(rows.per_run("time"), rows["least_time"][:, None])


def _gain(rows: OperatorRows) -> Floats:
    return _speed_up(rows, rows["lost"])


def _gain_of_groups(rows: GroupRows) -> Floats:
    return _speed_up(rows, rows["lost.sum"])


def _speed_up(rows: Rows, lost: Floats) -> Floats:
    """Return how many times as fast the whole would be without `lost` seconds."""
    rest = rows.total_s - lost
    return ratio(np.full(len(lost), rows.total_s), np.where(rest > 0, rest, np.nan))


def _bound(rows: OperatorRows) -> Categorical[str]:
    return _larger(rows["compute_time"], rows["memory_time"], rows["least_time"])


def _bound_of_groups(rows: GroupRows) -> Categorical[str]:
    return _larger(rows["compute_time.sum"], rows["memory_time.sum"], rows["least_time.sum"])


def _larger(compute: Floats, memory: Floats, least: Floats) -> Categorical[str]:
    """Return which of the two times is larger; N/A without a least time, or if it is 0."""
    # For operators that only move data, `compute` is NaN: the comparison is false, which is memory.
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

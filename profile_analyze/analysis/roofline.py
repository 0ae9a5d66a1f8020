"""How far operators are from what the hardware allows: the roofline.

(Williams, Waterman and Patterson, "Roofline: an insightful visual performance model for multicore
architectures", Communications of the ACM 52(4), 2009.) An operator cannot take less time than its
computation takes at the peak rate, nor less than its memory takes at the peak bandwidth: the larger
of the two is its least possible time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from profile_analyze.model.categorical import MISSING_CODE, Categorical
from profile_analyze.model.measures import TIME
from profile_analyze.model.measuring import on_side
from profile_analyze.model.numbers import difference, finite, ratio
from profile_analyze.model.rows import Formulas
from profile_analyze.model.terms import COPY, DATA_MOVEMENT, DEVICE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from profile_analyze.analysis.peaks import Peaks
    from profile_analyze.model.profile import Profile
    from profile_analyze.model.rows import GroupRows, OperatorRows, Rows

    Floats = NDArray[np.float64]

COMPUTE: Final = "compute"
MEMORY: Final = "memory"

_RATE_OF: Final[Mapping[str, str]] = {"uint8": "int8", "uint4": "int4"}
"""Dtypes that compute at the rate of another."""


def rate_dtypes(profile: Profile) -> Categorical[str]:
    """Shape (operators,): the dtype that each computes in, N/A where the profile does not say.

    It has its canonical name, or that of the dtype with the same rate.
    """
    return profile.operators.categorical("compute_dtype").mapped(
        lambda dtype: _RATE_OF.get(dtype, dtype)
    )


def is_judged(rows: OperatorRows) -> NDArray[np.bool_]:
    """Shape (operators,): whether the time of each can be compared with a roof.

    Host times, wait times, times of 0 and times shorter than the clock resolves cannot be.
    """
    times: Floats = rows["time"]
    if rows.measure != TIME:
        return np.zeros(len(times), np.bool_)
    judged: NDArray[np.bool_] = ~np.isnan(times) & (times > 0) & ~below_the_clock(rows)
    return judged


def below_the_clock(rows: OperatorRows) -> NDArray[np.bool_]:
    """Shape (operators,): whether a call is shorter than the clock of its tracks resolves."""
    resolution_s = _resolution_s(rows.profile) * (1 - 1e-6)  # but for rounding noise
    of_one_call: Floats = rows["time"] / np.fmax(rows["calls"], 1.0)
    return of_one_call < resolution_s


def _resolution_s(profile: Profile) -> Floats:
    """Shape (operators,): what the coarsest clock on the device that timed it resolves."""
    executions = profile.executions
    on_device = on_side(profile, DEVICE)
    of_tracks = np.array([track.resolution_s for track in profile.tracks], np.float64)
    found = np.zeros(len(profile))
    np.maximum.at(found, executions.operator[on_device], of_tracks[executions.track[on_device]])
    return found


def _peaks(rows: OperatorRows) -> Peaks:
    assert rows.peaks is not None, "a column that needs peaks was asked for without"
    peaks: Peaks = rows.peaks
    return peaks


def _rates(rows: OperatorRows) -> Floats:
    """Shape (operators,): FLO/s of each operator's dtype; NaN where the device has none."""
    peaks, dtypes = _peaks(rows), rate_dtypes(rows.profile)
    rates = [peaks.rate(dtype) for dtype in dtypes.categories]
    return np.array([*rates, peaks.rate(None)])[dtypes.codes]  # the last is that of N/A


def moves_only(rows: OperatorRows) -> NDArray[np.bool_]:
    """Shape (operators,): whether the operator only moves data, so that only bytes bound it.

    What a runtime calls the computation of a data movement counts elements. One without a
    computation may be a view, which moves nothing.
    """
    category = rows.profile.operators.category
    is_copy, is_movement = (
        category.where(one == wanted for one in category.categories)
        for wanted in (COPY, DATA_MOVEMENT)
    )
    known: NDArray[np.bool_] = ~np.isnan(rows.profile.operators.computation)
    found: NDArray[np.bool_] = is_copy | (is_movement & known)
    return found


def _compute_time(rows: OperatorRows) -> Floats:
    time = ratio(rows["computation"], _rates(rows))
    has_roof = is_judged(rows) & ~moves_only(rows) & ~np.isnan(rows["memory"])
    return np.where(has_roof, time, np.nan)


def _memory_time(rows: OperatorRows) -> Floats:
    has_roof = ~np.isnan(rows["compute_time"]) | (is_judged(rows) & moves_only(rows))
    return np.where(has_roof, ratio(rows["memory"], _peaks(rows).bandwidth), np.nan)


def _least_time(rows: OperatorRows) -> Floats:
    memory: Floats = rows["memory_time"]
    return np.where(moves_only(rows), memory, np.maximum(rows["compute_time"], memory))


def _attainable(rows: OperatorRows) -> Floats:
    """Operators that are not judged have none. Groups count the same operators."""
    rates = _rates(rows)
    with np.errstate(all="ignore"):
        by_memory: Floats = finite(rows["intensity"] * _peaks(rows).bandwidth)
    lesser = np.where(rows["memory"] == 0, rates, np.minimum(rates, by_memory))
    attainable = np.where(moves_only(rows), by_memory, lesser)
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
    """How many times as fast the whole would be without `lost` seconds."""
    rest = rows.total_s - lost
    return ratio(np.full(len(lost), rows.total_s), np.where(rest > 0, rest, np.nan))


def _bound(rows: OperatorRows) -> Categorical[str]:
    return _larger(rows["compute_time"], rows["memory_time"], rows["least_time"])


def _bound_of_groups(rows: GroupRows) -> Categorical[str]:
    return _larger(rows["compute_time.sum"], rows["memory_time.sum"], rows["least_time.sum"])


def _larger(compute: Floats, memory: Floats, least: Floats) -> Categorical[str]:
    """Which of the two bounds each row; N/A where the least time is.

    Data movers have no compute time: memory bounds them, even if they move no byte.
    """
    codes = np.where(compute >= memory, 0, 1)
    return Categorical(np.where(np.isnan(least), MISSING_CODE, codes), (COMPUTE, MEMORY))


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

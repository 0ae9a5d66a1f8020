"""How a whole profile compares with the peaks of a device, and what would gain most."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from profile_analyze.analysis.peaks import ANY_DTYPE
from profile_analyze.analysis.roofline import rate_dtypes
from profile_analyze.model.categorical import MISSING_CODE
from profile_analyze.model.numbers import ratio, total
from profile_analyze.query.question import Query
from profile_analyze.query.roof_notes import largest_types, roof_notes, share_of
from profile_analyze.query.rows import OperatorRows
from profile_analyze.query.run import run

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from profile_analyze.analysis.peaks import Peaks
    from profile_analyze.model.profile import Profile

_ROWS: Final = 3
_LEAST_GAIN: Final = 1.005
"""A group that would gain less than half a percent gets no sentence."""


class Winner(NamedTuple):
    """One group that would gain much at its roof."""

    label: str
    """Its keys."""
    operators: int
    """How many operators it stands for."""
    judged: int
    """How many of them have a least possible time."""
    share: float
    efficiency: float
    total_s: float
    """What the whole would take if this group ran at its roof."""
    gain: float


class Judgement(NamedTuple):
    """The time of all operators on the device, compared with the peaks. NaN is N/A."""

    peaks: Peaks
    rates: tuple[tuple[str, float, float], ...]
    """The dtypes that judged operators compute in: their rates, and shares of the device time."""
    memory_known: float
    """The share of device time in operators whose memory is known."""
    memory_unknown: tuple[tuple[str, float], ...]
    """The types with most of the rest, and the share of each."""
    judged: float
    """The share of device time in operators whose least possible time is known."""
    efficiency: float
    """Of the judged ones: the sum of least possible times over that of times."""
    lost_s: float
    winners: tuple[Winner, ...]
    notes: tuple[str, ...]


def judge(query: Query, profile: Profile) -> Judgement:
    """How `profile` compares with `query.peaks`. Groups are by the keys of `query`, or by type."""
    assert query.peaks is not None, "there is nothing to judge by"
    rows = OperatorRows(profile, Query(peaks=query.peaks, run_statistic=query.run_statistic))
    times = rows["time"]
    judged = ~np.isnan(rows["least_time"])
    memory_known = ~np.isnan(rows["memory"])
    judged_s = total(times[judged])
    least_s = total(rows["least_time"][judged])
    return Judgement(
        peaks=query.peaks,
        rates=tuple(_rates(rows, query.peaks, judged)),
        memory_known=share_of(rows, memory_known),
        memory_unknown=tuple(largest_types(rows, ~memory_known)),
        judged=share_of(rows, judged),
        efficiency=float(ratio(np.array([least_s]), judged_s)[0]),
        lost_s=total(rows["lost"]),
        winners=tuple(_winners(query, profile)),
        notes=tuple(roof_notes(rows)),
    )


def _rates(
    rows: OperatorRows, peaks: Peaks, judged: NDArray[np.bool_]
) -> Iterator[tuple[str, float, float]]:
    """The dtypes that are judged by, those with most time first."""
    dtypes = rate_dtypes(rows.profile)
    shares: dict[str, float] = {}
    for code, dtype in [*enumerate(dtypes.categories), (MISSING_CODE, peaks.dtype)]:
        here = judged & (dtypes.codes == code)
        if here.any():
            name = dtype if dtype in dict(peaks.flops) else ANY_DTYPE
            shares[name] = shares.get(name, 0.0) + share_of(rows, here)
    for dtype in sorted(shares, key=lambda dtype: -shares[dtype]):
        yield dtype, peaks.rate(dtype), shares[dtype]


def _winners(query: Query, profile: Profile) -> Iterator[Winner]:
    by = query.keys_of_one or ("type",)
    worth = f"gain > {_LEAST_GAIN}"
    groups = Query(
        by=by,
        having=worth,
        order="lost",
        top=_ROWS,
        peaks=query.peaks,
        run_statistic=query.run_statistic,
    )
    result = run(groups, profile)
    for place in range(len(result)):
        lost_s = float(result["lost"][place])
        yield Winner(
            label=result.labels[place],
            operators=int(result["count"][place]),
            judged=int(result["least_time.count"][place]),
            share=float(result["share"][place]),
            efficiency=float(result["efficiency"][place]),
            total_s=result.total_s - lost_s,
            gain=float(result["gain"][place]),
        )

"""How a whole profile stands against the peaks of a device, and what would win most."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from profile_analyze.analysis.roofline import below_the_clock, rate_dtypes
from profile_analyze.model.numbers import total
from profile_analyze.query.question import Query
from profile_analyze.query.rows import OperatorRows
from profile_analyze.query.run import run
from profile_analyze.units import counted, percent

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from profile_analyze.analysis.peaks import Peaks
    from profile_analyze.model.profile import Profile

_ROWS: Final = 3
_LEAST_GAIN: Final = 1.005
"""What wins less than half a percent is not worth a sentence."""


class Winner(NamedTuple):
    """One group that would win much at its roof."""

    label: str
    """Its keys."""
    operators: int
    """How many operators it stands for."""
    share: float
    efficiency: float
    total_s: float
    """What the whole would take if this row ran at its roof."""
    gain: float


class Judgement(NamedTuple):
    """The time of all operators on the device, held against the peaks. NaN is N/A."""

    peaks: Peaks
    covered: float
    """The share of device time in operators that have a footprint."""
    without_footprint: tuple[tuple[str, float], ...]
    """The types with most of the rest, and the share of each."""
    judged: float
    """The share of device time in operators whose least possible time is known."""
    efficiency: float
    """Of the judged ones: the sum of least possible times over that of times."""
    lost_s: float
    winners: tuple[Winner, ...]
    notes: tuple[str, ...]


def judge(query: Query, profile: Profile) -> Judgement:
    """How `profile` stands against `query.peaks`; groups are formed as `query` does, or by type."""
    assert query.peaks is not None, "there is nothing to judge by"
    rows = OperatorRows(profile, Query(peaks=query.peaks))
    times = rows["time"]
    judged = ~np.isnan(rows["least_time"])
    footprint = ~np.isnan(profile.memory)
    judged_s = total(times[judged])
    return Judgement(
        peaks=query.peaks,
        covered=_share(rows, footprint),
        without_footprint=tuple(_largest_types(rows, ~footprint)),
        judged=_share(rows, judged),
        efficiency=total(rows["least_time"][judged]) / judged_s,
        lost_s=total(rows["lost"]),
        winners=tuple(_winners(query, profile)),
        notes=tuple(_notes(rows, query.peaks)),
    )


def _share(rows: OperatorRows, chosen: NDArray[np.bool_]) -> float:
    known = total(np.where(chosen, rows["time"], 0.0))
    return known / rows.total_s if rows.total_s > 0 else np.nan


def _largest_types(rows: OperatorRows, chosen: NDArray[np.bool_]) -> Iterator[tuple[str, float]]:
    """The types with most time among the chosen operators, and their shares."""
    types = rows.profile.type
    shares = [
        (word, _share(rows, chosen & (types.codes == code)))
        for code, word in enumerate(types.vocabulary)
        if (chosen & (types.codes == code)).any()
    ]
    yield from sorted((one for one in shares if one[1] > 0), key=lambda one: -one[1])[:_ROWS]


def _winners(query: Query, profile: Profile) -> Iterator[Winner]:
    by = query.by or ("type",)
    worth = f"gain > {_LEAST_GAIN}"
    groups = Query(by=by, having=worth, order="lost", top=_ROWS, peaks=query.peaks)
    result = run(groups, profile)
    for place in range(len(result)):
        lost_s = float(result["lost"][place])
        yield Winner(
            label=", ".join(result.texts(key)[place] for key in by),
            operators=int(result["count"][place]),
            share=float(result["share"][place]),
            efficiency=float(result["efficiency"][place]),
            total_s=result.total_s - lost_s,
            gain=float(result["gain"][place]),
        )


def _notes(rows: OperatorRows, peaks: Peaks) -> Iterator[str]:
    """What a person should know before trusting the efficiencies."""
    over = rows["efficiency"] > 1
    if over.any():
        yield (
            f"{_counted(rows, over)} are faster than their roof: the peaks, the dtype or the "
            "footprint are not theirs, or the data stayed in caches"
        )
    short = below_the_clock(rows) & ~np.isnan(rows["time"])
    if short.any():
        yield (
            f"{_counted(rows, short)} took less than the clock resolves, 1 us, and are not judged"
        )
    yield from _on_dtypes(rows, peaks)


def _counted(rows: OperatorRows, chosen: NDArray[np.bool_]) -> str:
    """How many operators are chosen, and their share: `26 operators (0.7% of the time)`."""
    count = counted(int(chosen.sum()), "operator")
    return f"{count} ({percent(_share(rows, chosen))} of the time)"


def _on_dtypes(rows: OperatorRows, peaks: Peaks) -> Iterator[str]:
    dtypes = rate_dtypes(rows.profile)
    works = rows.profile.device.recorded & ~np.isnan(rows.profile.computation)
    unknown = works & (dtypes.codes < 0)
    if unknown.any() and peaks.dtype != "any":
        yield (
            f"the profile does not say what {counted(int(unknown.sum()), 'operator')} compute in; "
            f"taken for {peaks.dtype}"
        )
    for code, dtype in enumerate(dtypes.vocabulary):
        here = works & (dtypes.codes == code)
        if here.any() and np.isnan(peaks.rate(dtype)):
            yield (
                f"{peaks.name} has no known rate for {dtype}: "
                f"{counted(int(here.sum()), 'operator')} are not judged"
            )

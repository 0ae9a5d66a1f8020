"""What a person should know before trusting efficiencies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from profile_analyze.analysis.roofline import below_the_clock, is_judged, moves_only, rate_dtypes
from profile_analyze.model.measures import TIME
from profile_analyze.model.numbers import ratio, totals
from profile_analyze.model.terms import HOST
from profile_analyze.units import counted, percent

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from profile_analyze.query.rows import OperatorRows

_TYPES: Final = 3
_WORTH_TELLING: Final = 0.005
"""The smallest share of the time that gets a note if it is not judged."""


def share_of(rows: OperatorRows, chosen: NDArray[np.bool_]) -> float:
    """The share of the profile's time that the chosen operators take; NaN if that is 0."""
    chosen_s = np.where(chosen[:, np.newaxis], rows.per_run("time"), 0.0)
    return rows.over_runs(
        ratio(totals(chosen_s), np.where(rows.totals_s > 0, rows.totals_s, np.nan))
    )


def largest_types(rows: OperatorRows, chosen: NDArray[np.bool_]) -> Iterator[tuple[str, float]]:
    """The types with most time among the chosen operators, and their shares."""
    types = rows.profile.operators.type
    shares = np.array(
        [share_of(rows, chosen & (types.codes == n)) for n in range(len(types.categories))]
    )
    for code in np.argsort(-shares, kind="stable")[:_TYPES]:
        if shares[code] > 0:
            yield types.categories[code], float(shares[code])


def roof_notes(rows: OperatorRows) -> Iterator[str]:
    """The notes on the judgement of `rows`, all operators of a profile."""
    if rows.measure.side == HOST:
        yield "host times have no roof: bound, efficiency, lost and gain are of the device"
    if rows.measure != TIME:
        return
    over = rows["efficiency"] > 1
    if over.any():
        yield (
            f"faster than their roof: {_counted(rows, over)}; the peaks, the dtype or the counted "
            "work are wrong for them, or the data stayed in caches; this lowers what is lost"
        )
    short = below_the_clock(rows) & ~np.isnan(rows["time"])
    if short.any():
        yield (
            "not judged, because their times are below the clock's resolution: "
            f"{_counted(rows, short)}"
        )
    yield from _on_formulae(rows)
    yield from _on_dtypes(rows)


def _on_formulae(rows: OperatorRows) -> Iterator[str]:
    without = np.isnan(rows["computation"]) & (rows["time"] > 0) & np.isnan(rows["least_time"])
    if share_of(rows, without) > _WORTH_TELLING:
        types = ", ".join(
            f"{name} {percent(share)}" for name, share in largest_types(rows, without)
        )
        count = _counted(rows, without)
        yield f"not judged, because their computation is unknown: {count}: {types}"


def _on_dtypes(rows: OperatorRows) -> Iterator[str]:
    peaks, dtypes = rows.peaks, rate_dtypes(rows.profile)
    assert peaks is not None, "there is nothing to judge by"
    works = is_judged(rows) & ~moves_only(rows) & ~np.isnan(rows["computation"])
    unknown = works & (dtypes.codes < 0)
    if unknown.any() and peaks.dtype != "any":
        yield f"of an unknown dtype, taken for {peaks.dtype}: " + counted(
            int(unknown.sum()), "operator"
        )
    for code, dtype in enumerate(dtypes.categories):
        here = works & (dtypes.codes == code)
        if here.any() and np.isnan(peaks.rate(dtype)):
            count = counted(int(here.sum()), "operator")
            yield f"not judged, because {peaks.name} has no known rate for {dtype}: {count}"


def _counted(rows: OperatorRows, chosen: NDArray[np.bool_]) -> str:
    """How many operators are chosen, and their share: `26 operators (0.7% of the time)`."""
    count = counted(int(chosen.sum()), "operator")
    return f"{count} ({percent(share_of(rows, chosen))} of the time)"

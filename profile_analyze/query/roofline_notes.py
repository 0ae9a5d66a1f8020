"""The notes on a roofline: what a person should know before trusting efficiencies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from profile_analyze.analysis.roofline import (
    is_below_clock_resolution,
    is_judged,
    only_moves_data,
    rate_dtypes,
)
from profile_analyze.model.measures import TIME
from profile_analyze.model.numbers import ratio, totals
from profile_analyze.model.terms import HOST
from profile_analyze.units import counted, percent

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from profile_analyze.query.rows import OperatorRows

_MOST_TYPES: Final = 3
_NOTEWORTHY_SHARE: Final = 0.005
"""The smallest share of the time that gets a note if it is not judged."""


def share_of(rows: OperatorRows, chosen: NDArray[np.bool_]) -> float:
    """Return the share of the total time that the chosen operators take; NaN if the total is 0."""
    chosen_s = np.where(chosen[:, np.newaxis], rows.per_run("time"), 0.0)
    return rows.over_runs(
        ratio(totals(chosen_s), np.where(rows.totals_s > 0, rows.totals_s, np.nan))
    )


def largest_types(rows: OperatorRows, chosen: NDArray[np.bool_]) -> Iterator[tuple[str, float]]:
    """Yield the types with the most time among the chosen operators, and their shares."""
    types = rows.profile.operators.type
    shares = np.array(
        [share_of(rows, chosen & (types.codes == n)) for n in range(len(types.categories))]
    )
    for code in np.argsort(-shares, kind="stable")[:_MOST_TYPES]:
        if shares[code] > 0:
            yield types.categories[code], float(shares[code])


def roofline_notes(rows: OperatorRows) -> Iterator[str]:
    """Yield the notes on the roofline of `rows`, which are all operators of a profile."""
    if rows.measure.side == HOST:
        yield "host times have no roof: bound, efficiency, lost and gain are N/A"
    if rows.measure != TIME:
        return
    faster = rows["efficiency"] > 1
    if faster.any():
        yield (
            f"faster than their roof: {_counted(rows, faster)}; their peak rates, dtype or counted "
            "work are wrong, or their data stayed in caches; they lower the sum of lost"
        )
    short = is_below_clock_resolution(rows) & ~np.isnan(rows["time"])
    if short.any():
        yield (
            "not judged, because their times are below the clock's resolution: "
            f"{_counted(rows, short)}"
        )
    yield from _unknown_computation_notes(rows)
    yield from _dtype_notes(rows)


def _unknown_computation_notes(rows: OperatorRows) -> Iterator[str]:
    # Data movements may have a least time without a computation.
    unknown = np.isnan(rows["computation"]) & (rows["time"] > 0) & np.isnan(rows["least_time"])
    if share_of(rows, unknown) > _NOTEWORTHY_SHARE:
        types = ", ".join(
            f"{name} {percent(share)}" for name, share in largest_types(rows, unknown)
        )
        count = _counted(rows, unknown)
        yield f"not judged, because their computation is unknown: {count}: {types}"


def _dtype_notes(rows: OperatorRows) -> Iterator[str]:
    peaks, dtypes = rows.peaks, rate_dtypes(rows.profile)
    assert peaks is not None, "a roofline needs peak rates"
    computes = is_judged(rows) & ~only_moves_data(rows) & ~np.isnan(rows["computation"])
    unknown = computes & (dtypes.codes < 0)
    # With one rate for every dtype, an unknown dtype changes nothing.
    if unknown.any() and peaks.dtype != "any":
        yield f"dtype unknown, assumed to be {peaks.dtype}: " + counted(
            int(unknown.sum()), "operator"
        )
    for code, dtype in enumerate(dtypes.categories):
        of_dtype = computes & (dtypes.codes == code)
        if of_dtype.any() and np.isnan(peaks.rate(dtype)):
            count = counted(int(of_dtype.sum()), "operator")
            yield f"not judged, because {peaks.name} has no known rate for {dtype}: {count}"


def _counted(rows: OperatorRows, chosen: NDArray[np.bool_]) -> str:
    """Return the number of chosen operators and their share: `26 operators (0.7% of the time)`."""
    count = counted(int(chosen.sum()), "operator")
    return f"{count} ({percent(share_of(rows, chosen))} of the time)"

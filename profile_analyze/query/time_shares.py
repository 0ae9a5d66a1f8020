"""Shares of the total time that chosen operators take."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from profile_analyze.model.numbers import totals_of_chosen

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from profile_analyze.query.rows import OperatorRows
    from profile_analyze.query.shown_rows import ShownRows

_MOST_TYPES: Final = 3


def share_of(rows: OperatorRows | ShownRows, chosen: NDArray[np.bool_]) -> float:
    """Return the share of the total time that the chosen rows take; NaN if the total is 0."""
    chosen_s = totals_of_chosen(rows.per_run("time"), chosen, rows.totals_s)
    total_s = rows.over_runs(rows.totals_s)
    return rows.over_runs(chosen_s) / total_s if total_s > 0 else np.nan


def largest_types(rows: OperatorRows, chosen: NDArray[np.bool_]) -> Iterator[tuple[str, float]]:
    """Yield the types whose chosen operators take the most time, with their shares of the time."""
    types = rows.profile.operators.type
    shares = np.array(
        [share_of(rows, chosen & (types.codes == n)) for n in range(len(types.categories))]
    )
    for code in np.argsort(-shares, kind="stable")[:_MOST_TYPES]:
        if shares[code] > 0:
            yield types.categories[code], float(shares[code])

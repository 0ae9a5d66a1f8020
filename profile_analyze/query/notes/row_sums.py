"""The notes on rows whose times do not add up to the total."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from profile_analyze.columns.aggregates import DEFAULT_AGGREGATE
from profile_analyze.large_arrays import blocks_of_rows, run_by_run
from profile_analyze.model.notes import Importance, Note, TextNote
from profile_analyze.model.numbers import totals
from profile_analyze.model.terms import LABEL, is_run_key
from profile_analyze.units import percent

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from profile_analyze.model.profile import Profile
    from profile_analyze.query.filters import Selection
    from profile_analyze.query.group_rows import GroupRows
    from profile_analyze.query.rows import OperatorRows

_TOLERATED: Final = 0.05
"""There is a note if the sum of the rows differs from the total by more than this share."""
_ROUNDING: Final = 1e-9
_STATISTICS: Final = {"median": "median", "min": "minimum", "max": "maximum"}
"""For each run statistic whose results do not add up, the noun for it."""


def row_sum_notes(
    operators: OperatorRows, rows: OperatorRows | GroupRows, selection: Selection
) -> Iterator[Note]:
    """Yield a note if the times of all rows do not add up to the total.

    The total is the run statistic, such as the median, of the totals of the runs. The time of each
    row is the same statistic of its own times, so the sum may be smaller or larger. There is no
    note if filters leave out operators, or if rows are split by labels and therefore cover
    different runs.
    """
    query, runs = operators.query, len(operators.profile.runs)
    statistic = _STATISTICS.get(query.run_statistic)
    adds_up = not query.grouped or query.aggregate == DEFAULT_AGGREGATE
    if runs < 2 or statistic is None or not adds_up or operators.comparison is not None:
        return
    is_split = any(key.startswith(LABEL) for key in operators.profile.split_by)
    if is_split or len(selection.operators) < selection.recorded:
        return
    times_s = operators.per_run("time")
    # Not `total_s`: rows of modules overlap, so even in one run, their sum is not the total.
    sums_s = run_by_run(lambda block_s: totals(block_s)[np.newaxis], times_s)[0]
    whole_s = operators.over_runs(sums_s)
    share = float(np.nansum(rows["time"])) / whole_s if whole_s > 0 else np.nan
    if not abs(share - 1) > _TOLERATED:
        return
    over = (
        f"those of the {runs} runs in which the row ran"
        if _has_partial_row(times_s)
        else f"the {runs} runs; with --run-stat mean, they add up to it"
    )
    yield TextNote(
        f"all rows add up to {percent(share)} of the total: each time is the {statistic} over "
        f"{over}",
        Importance.CONTEXT,
    )


def split_sum_notes(whole: Profile, operators: OperatorRows) -> Iterator[Note]:
    """Yield a note if splitting the rows of `whole` makes their times add up to more.

    An operator that ran on several tracks at once counts as long as on the slowest track. Split by
    track or device, it has a row for each of them.
    """
    measure = operators.query.measure
    keys = [key for key in operators.profile.split_by if not is_run_key(key)]
    takes_longest = any(one.together == "max" for one in whole.tracks)
    if not keys or not takes_longest or len(whole.tracks) < 2:
        return
    # Splitting by run or file changes the runs, so the sums are over all runs.
    split_s, whole_s = (
        float(np.nansum(one.totals_s(measure))) for one in (operators.profile, whole)
    )
    if whole_s > 0 and split_s > whole_s * (1 + _ROUNDING):
        yield TextNote(
            f"rows are split by {' and '.join(keys)}: operators that ran on several tracks at once "
            f"count on each, so all rows add up to {percent(split_s / whole_s)} of the total; "
            "shares are relative to this sum",
            Importance.ANSWER,
        )


def _has_partial_row(times_s: NDArray[np.float64]) -> bool:
    """Return whether a row has times in some, but not all runs. Shape (rows, runs)."""
    for (block_s,) in blocks_of_rows(times_s):
        known = ~np.isnan(block_s)
        if (known.any(axis=1) & ~known.all(axis=1)).any():
            return True
    return False

"""The note on sums of host times over groups of the device table, and the reverse."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from profile_analyze.model.measures import HOST_TIME, MEASURES, TIME
from profile_analyze.model.notes import Importance, Note
from profile_analyze.model.numbers import totals_of_chosen
from profile_analyze.units import percent

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from profile_analyze.query.table import Table

_COLUMNS: Final = {"host_time": HOST_TIME, "device_time": TIME}
"""The columns that show the times of one side, whatever the side of the table."""


def other_side_notes(table: Table, columns: Collection[str]) -> Iterator[Note]:
    """Yield a note on each of `columns` whose groups leave out times of the other side.

    Groups have the operators with a time on the side of the table. In the device table, sums of
    host times therefore leave out operators that only ran on the host.
    """
    side = MEASURES[table.query.measure].side
    if not table.query.grouped or not len(table.without_times):
        return
    profile = table.shown.profile
    for name, measure in _COLUMNS.items():
        if name not in columns or measure.side == side:
            continue
        times_s = profile.measured(measure.name)
        left_out = np.zeros(len(times_s), np.bool_)
        left_out[table.without_times] = ~np.isnan(times_s[table.without_times]).all(axis=1)
        left_out_s = totals_of_chosen(times_s, left_out, profile.totals_s(measure.name))
        total_s = np.nansum(profile.totals_s(measure.name))
        share = float(np.nansum(left_out_s) / total_s) if total_s > 0 else np.nan
        if share > 0:
            yield Note(
                f"{name}: the groups of the {side} table leave out operators without a {side} "
                f"time, {percent(share)} of the {measure.side} time; --print-only {measure.side} "
                "shows all",
                Importance.INCOMPLETE,
                share,
            )

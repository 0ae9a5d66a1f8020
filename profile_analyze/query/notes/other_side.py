"""The notes on values that a table leaves out because they are of operators on the other side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from profile_analyze.columns.registry import COLUMNS
from profile_analyze.model.measures import HOST_TIME, MEASURES, TIME
from profile_analyze.model.notes import Importance, Note, TextNote
from profile_analyze.model.numbers import totals_of_chosen
from profile_analyze.units import percent

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from profile_analyze.query.table import Table

_COLUMNS_WITHOUT_SIDE: Final = tuple(column.name for column in COLUMNS if not column.has_side)
_COLUMNS: Final = {"host_time": HOST_TIME, "device_time": TIME}
"""The columns that show the times of one side, whatever the side of the table."""


def other_side_notes(table: Table, columns: Collection[str]) -> Iterator[Note]:
    """Yield a note on each of `columns` whose rows leave out values of the other side.

    Rows and groups have the operators with a time on the side of the table. In the device table,
    sums of host times therefore leave out operators that only ran on the host.
    """
    yield from _notes_on_times(table, columns)
    if len(table.without_times):
        for name in _COLUMNS_WITHOUT_SIDE:
            if name in columns:
                yield from _notes_on_amounts(table, name)


def _notes_on_amounts(table: Table, name: str) -> Iterator[Note]:
    """Yield a note if operators without a time have a part of a column without a side."""
    amounts = np.nan_to_num(table.shown.of_all_operators(name))
    left_out, total = (
        float(np.maximum(values, 0).sum()) for values in (amounts[table.without_times], amounts)
    )
    if left_out > 0:
        side = MEASURES[table.query.measure].side
        yield TextNote(
            f"{name}: left out operators without a {side} time, {percent(left_out / total)} of the "
            f"sum; --order-by {name} shows them, too",
            Importance.INCOMPLETE,
        )


def _notes_on_times(table: Table, columns: Collection[str]) -> Iterator[Note]:
    """Yield a note on each column of times whose groups leave out times of the other side."""
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
            yield TextNote(
                f"{name}: the groups of the {side} table leave out operators without a {side} "
                f"time, {percent(share)} of the {measure.side} time; --print-only {measure.side} "
                "shows all",
                Importance.INCOMPLETE,
                share,
            )

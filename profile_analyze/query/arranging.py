"""Sorts rows of any kind, and arranges the rows of a table."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from profile_analyze.model.categorical import Categorical, taken
from profile_analyze.query.filters import evaluate, meeting_all
from profile_analyze.query.notes.filters import row_findings

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from profile_analyze.columns.rows import ColumnValues, Values
    from profile_analyze.query.arrangement import Arrangement
    from profile_analyze.query.order import Order
    from profile_analyze.query.table import Table

_NEARLY_ZERO: Final = np.finfo(np.float64).tiny


def in_order(
    orders: tuple[Order, ...], rows: ColumnValues, candidates: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the indices in `candidates`, sorted by `orders`. The first order matters most."""
    # Each sort is stable, so sorting starts with the least important column.
    for order in reversed(orders):
        candidates = candidates[_sorted_indices(rows[order.column.name], candidates, order)]
    return candidates


def _sorted_indices(
    values: Values, candidates: NDArray[np.int64], order: Order
) -> NDArray[np.int64]:
    """Return the indices that sort `candidates` by `values`. The sort is stable.

    N/A comes last. With `order.unknown_before_zero`, N/A counts as a number just above 0.
    """
    chosen = (
        values.ranks(natural=order.column.has_natural_order)[candidates]
        if isinstance(values, Categorical)
        else values[candidates]
    )
    if order.unknown_before_zero:
        chosen = np.where(np.isnan(chosen), _NEARLY_ZERO, chosen)
    # NumPy sorts NaN last whatever its sign, so N/A is last in both directions.
    return np.argsort(chosen if order.ascending else -chosen, kind="stable")


def arranged(table: Table, arrangement: Arrangement) -> Table:
    """Return the table with the rows that meet all conditions, in order and within the limit.

    A `Query` arranges operators and groups, so the rows must have columns of their own.
    """
    every = np.ones(len(table), np.bool_)
    matching, unjudged = meeting_all(evaluate(arrangement.conditions, table.values), every)
    candidates = np.flatnonzero(matching)
    chosen = in_order(arrangement.orders, table.values, candidates)[: arrangement.top or None]
    return replace(
        table,
        values={name: taken(table.values[name], chosen) for name in table.columns},
        size=len(chosen),
        available=len(candidates),
        notes=(
            *table.notes,
            *row_findings(unjudged, len(table), len(candidates), table.name.removesuffix("s")),
        ),
        arrangement=arrangement,
    )

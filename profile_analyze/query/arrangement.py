"""Which rows to show, and in which order, of rows that are neither operators nor groups."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from profile_analyze.query.conditions import Condition, parse_conditions
from profile_analyze.query.order import Order, parse_orders
from profile_analyze.query.question_fields import arrangement_fields

if TYPE_CHECKING:
    from collections.abc import Iterable

    from profile_analyze.columns.column import Kind


class Arrangement(NamedTuple):
    """Conditions, an order and a limit. It is checked when it is made, before a file is read."""

    where: tuple[str, ...]
    """Rows are kept if they meet all of these conditions, in the grammar of `Query.where`."""
    order: tuple[str, ...]
    """The columns to sort by, as in `Query.order`. Ties keep the order of the rows."""
    top: int
    """The largest number of rows to keep; 0 for no limit."""
    conditions: tuple[Condition, ...]
    orders: tuple[Order, ...]

    @classmethod
    def of(
        cls,
        kind: Kind,
        *,
        where: str | Iterable[str] = (),
        order: str | Iterable[str] = (),
        top: int = 0,
    ) -> Arrangement:
        """Parse the arrangement of rows of this kind.

        Raises `QueryError`, as `Query` does, if the rows cannot be arranged like this.
        """
        fields = arrangement_fields(where, order, top)
        conditions = parse_conditions("where", fields["where"], kind)
        return cls(**fields, conditions=conditions, orders=parse_orders(fields["order"], kind))

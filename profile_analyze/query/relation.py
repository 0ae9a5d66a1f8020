"""The answer to an SQL query: columns of plain values, whose names decide their units."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from profile_analyze.model.wording import unit_of_machine_name

if TYPE_CHECKING:
    from collections.abc import Sequence


class RelationColumn(NamedTuple):
    """A column of an SQL answer."""

    name: str
    is_number: bool
    values: Sequence[Any]
    """Integers, floats, truth values or texts; None for N/A."""

    @property
    def unit(self) -> str:
        """The unit, as in `model.columns.Column.unit`. It follows from the name: `total_s`."""
        return (unit_of_machine_name(self.name) or "1") if self.is_number else ""


class Relation(NamedTuple):
    """The answer to an SQL query."""

    columns: tuple[RelationColumn, ...]

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return [column.name for column in self.columns]

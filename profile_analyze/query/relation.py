"""The answer to an SQL query: columns of plain values. The name of a column decides its unit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from profile_analyze.columns.wording import unit_of_machine_name

if TYPE_CHECKING:
    from collections.abc import Sequence


ValueType: TypeAlias = Literal["integer", "number", "truth", "text"]


class RelationColumn(NamedTuple):
    """A column of an SQL answer."""

    name: str
    type: ValueType
    """The type of the values, even if all of them are N/A."""
    values: Sequence[Any]
    """Integers, floats, truth values or texts; None for N/A."""

    @property
    def is_number(self) -> bool:
        """Whether the values are numbers."""
        return self.type in ("integer", "number")

    @property
    def unit(self) -> str:
        """The unit, as in `columns.column.Column.unit`. It follows from the name: `total_s`."""
        return (unit_of_machine_name(self.name) or "1") if self.is_number else ""


class Relation(NamedTuple):
    """The answer to an SQL query."""

    columns: tuple[RelationColumn, ...]

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return [column.name for column in self.columns]

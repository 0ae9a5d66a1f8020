"""The answer to an SQL query as cells for people, fitted to the width of the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from profile_analyze.report.layout.cells import Cells
from profile_analyze.report.layout.column_fitting import fit_columns, left_out_columns
from profile_analyze.units import NOT_AVAILABLE, SCALED, scaled_text, six_digits

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from profile_analyze.query.relation import Relation, RelationColumn
    from profile_analyze.report.base import Display
    from profile_analyze.report.layout.times import Times

_SECONDS: Final = "s"
_CHOOSER: Final = "a shorter SELECT"


def relation_times(relation: Relation) -> list[float]:
    """Return all times of an SQL answer, in seconds."""
    times = (column.values for column in relation.columns if column.unit == _SECONDS)
    return [value for values in times for value in values if value is not None]


def relation_cells(relation: Relation, times: Times) -> list[Cells]:
    """Return the columns of an SQL answer. Times and amounts have units, as in other tables."""
    return [
        Cells(
            _header(column, times),
            [_text(value, column.unit, times) for value in column.values],
            is_number=column.is_number,
        )
        for column in relation.columns
    ]


def fitting_columns(
    columns: Sequence[Cells],
    widths: Sequence[int],
    separators_width: Callable[[int], int],
    display: Display,
) -> tuple[list[Cells], Iterator[str]]:
    """Return the columns that fit the display, and a paragraph about the other columns.

    The last columns are left out first. `widths` has the least width of each column.
    """
    shown = list(range(len(columns)))
    shown, _ = fit_columns(widths, display.width, separators_width, shown[::-1])
    headers = [column.header for column in columns]
    about_others = left_out_columns(headers, shown, display, chooser=_CHOOSER)
    return [columns[index] for index in shown], about_others


def _header(column: RelationColumn, times: Times) -> str:
    if column.unit != _SECONDS:
        return column.name
    return times.title(f"{column.name.removesuffix('_s').replace('_', ' ')} (s)")


def _text(value: Any, unit: str, times: Times) -> str:
    if value is None:
        return NOT_AVAILABLE
    if unit == _SECONDS:
        return times.number(value)
    if unit in SCALED:
        return scaled_text(value, unit)
    if isinstance(value, bool):
        return str(value).lower()
    return six_digits(value) if isinstance(value, float) else str(value)

"""Lists of what surrounds an operator, as cells for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from profile_analyze.report.layout.cells import Cells
from profile_analyze.report.layout.column_fitting import Removal
from profile_analyze.units import NOT_AVAILABLE, percent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from profile_analyze.report.layout.times import Times
    from profile_analyze.views.inspection_listings import Listing

_SECONDS: Final = "s"

# On a narrow terminal, these columns are left out in this order: first `_EXTRAS`, as
# `Removal.extras`. The names, the main time, and the columns that tell rows apart always stay.
_EXTRAS: Final = ("level", "step")
_LESS_IMPORTANT: Final = ("share", "calls", "queue", "start", "launched by", "key")


def listing_times(listing: Listing) -> list[float]:
    """Return all times of a listing."""
    return [
        value
        for index, (_, unit) in enumerate(listing.columns)
        for value in (row[index] for row in listing.rows)
        if unit == _SECONDS
    ]


def listing_title(listing: Listing) -> str:
    """Return the title of a listing, with the number of rows that it leaves out."""
    left_out = listing.available - len(listing.rows)
    return f"{listing.title} ({left_out} more)" if left_out else listing.title


def listing_cells(listing: Listing, times: Times) -> list[Cells]:
    """Return the columns of a listing, with numbers aligned on the right.

    The column `key` is left out if it has the same texts as the column of names.
    """
    columns = [
        Cells(
            _header(name, unit, times),
            [_text(row[index], unit, times) for row in listing.rows],
            is_number=bool(unit),
        )
        for index, (name, unit) in enumerate(listing.columns)
    ]
    names = {tuple(column.texts) for column in columns if column.header in ("name", "kernel")}
    return [
        column for column in columns if column.header != "key" or tuple(column.texts) not in names
    ]


def listing_removal(columns: Sequence[Cells]) -> Removal:
    """Return the order in which columns of a listing are left out on a narrow terminal."""
    words = [column.header.partition(" (")[0] for column in columns]  # without the unit of times
    extras, others = (
        [words.index(word) for word in order if word in words]
        for order in (_EXTRAS, _LESS_IMPORTANT)
    )
    return Removal(extras, others)


def _header(name: str, unit: str, times: Times) -> str:
    words = name.replace("_", " ")
    return times.title(f"{words} (s)") if unit == _SECONDS else words


def _text(value: Any, unit: str, times: Times) -> str:
    if value is None:
        return NOT_AVAILABLE
    if unit == _SECONDS:
        return times.number(value)
    return percent(value) if unit == "1" else str(value)

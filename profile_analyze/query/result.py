"""The answer: columns of raw numbers in base units, and what they refer to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from profile_analyze.errors import UnknownColumnError
from profile_analyze.model.coded import Coded
from profile_analyze.model.columns import COLUMNS, find_column
from profile_analyze.units import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from profile_analyze.query.question import Query
    from profile_analyze.query.rows import ShownRows


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Result:
    """The answer to one `Query`: `result["time"]` is a column, `result.rows` all of them by row.

    Numbers are in base units (seconds, bytes, FLO, FLO/s, byte/s, fractions of 1).
    """

    query: Query
    total_s: float
    """Seconds that a share of 1 stands for: all operators of the profile, not only those shown.
    NaN if the profile has no times."""
    looked_at: int
    """How many operators have an entry on the side that was asked about."""
    matched: int
    """How many of them passed the filters."""
    without_footprint: int
    """How many of those have no footprint, so that not even their memory is known."""
    available: int
    """How many rows (operators or groups) there were before the first `top` were taken."""
    notes: tuple[str, ...]
    """What a person should know before trusting the answer, a sentence each."""
    shown: ShownRows
    """The rows, by column, as the report builder wants them; see `__getitem__` for arrays."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns that the rows have."""
        return tuple(
            column.name for column in COLUMNS if column.belongs_to(groups=self.query.grouped)
        )

    def __getitem__(self, column: str) -> NDArray[Any]:
        """The values of a column, shape (rows,), not to be written to.

        Numbers are float64 with NaN for N/A, or int64; text and tuples of shapes are objects
        with None for N/A.

        Raises `UnknownColumnError` for a column that these rows do not have.
        """
        name = find_column(column).name
        if name not in self.columns:
            what = "groups" if self.query.grouped else "operators"
            raise UnknownColumnError(f"{what} have no column {column!r}")
        column_values = self.shown[name]
        values = column_values.values() if isinstance(column_values, Coded) else column_values
        read_only: NDArray[Any] = np.asarray(values).view()
        read_only.flags.writeable = False
        return read_only

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The rows as plain Python values by column name, None for N/A."""
        columns = {name: _plain(self[name]) for name in self.columns}
        return [
            dict(zip(columns, values, strict=True))
            for values in zip(*columns.values(), strict=True)
        ]

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """The rows, as in `rows`."""
        return iter(self.rows)

    def __len__(self) -> int:
        """How many rows are shown."""
        return len(self.shown.sizes)

    def __repr__(self) -> str:
        rows = counted(len(self), "group" if self.query.grouped else "operator")
        return f"Result({rows} of {self.available}, columns={self.columns})"


def _plain(values: NDArray[Any]) -> list[Any]:
    if values.dtype.kind != "f":
        return list(values.tolist())
    return [None if value != value else value for value in values.tolist()]  # noqa: PLR0124  # NaN

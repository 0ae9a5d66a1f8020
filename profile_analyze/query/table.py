"""The answer: columns of raw numbers in base units, and what they refer to."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from profile_analyze.model.categorical import Categorical
from profile_analyze.model.columns import AGGREGATED
from profile_analyze.model.terms import ABSENT
from profile_analyze.model.visible import visible
from profile_analyze.model.wording import heading, value_text
from profile_analyze.query.aggregates import DEFAULT_AGGREGATE
from profile_analyze.query.catalog import PARAMETER, check_columns, find_column
from profile_analyze.units import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from profile_analyze.model.columns import Column
    from profile_analyze.model.wording import Style
    from profile_analyze.query.question import Query
    from profile_analyze.query.rows import ShownRows


_NOTEBOOK_ROWS: Final = 100


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Table:
    """The answer to one `Query`: `table["time"]` is a column, `table.rows` all of them by row.

    Numbers are in base units (seconds, bytes, FLO, FLO/s, byte/s, fractions of 1).
    """

    query: Query
    total_s: float
    """The denominator of shares: seconds of all operators of the profile, not only those shown. NaN
    if the profile has no times."""
    looked_at: int
    """How many operators have an entry on the side that was asked about."""
    matched: int
    """How many of them passed the filters."""
    without_memory: int
    """How many of those have an unknown memory."""
    available: int
    """How many rows (operators or groups) there were before the first `top` were taken."""
    notes: tuple[str, ...]
    """What a person should know before trusting the answer, a sentence each."""
    shown: ShownRows
    """The rows, by column, as the report builder wants them; see `__getitem__` for arrays."""

    @property
    def name(self) -> str:
        """What the rows are, which is what programs call the table: `operators` or `groups`."""
        return self.query.kind.noun

    @property
    def several_runs(self) -> bool:
        """Whether times are of more than one run."""
        comparison = self.shown.comparison
        base_runs = len(comparison.base.runs) if comparison else 1
        return max(len(self.shown.profile.runs), base_runs) > 1

    @property
    def level(self) -> str | None:
        """The level of the rows; None if the profile has only one."""
        return self.shown.profile.level

    @property
    def several_calls(self) -> bool:
        """Whether some operator was called more than once in a run."""
        return bool((self.shown.profile.calls() > 1).any())

    @property
    def has_times(self) -> bool:
        """Whether the format has times at all."""
        return self.shown.profile.origin.times != ABSENT

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns that the rows have, except those that were not loaded."""
        not_loaded = self.shown.profile.operators.not_loaded
        return tuple(
            name for name in self.query.columns if find_column(name).optional not in not_loaded
        )

    def column(self, name: str) -> Column:
        """The column of that name.

        Raises `UnknownColumnError` if these rows do not have it.
        """
        check_columns((name,), self.query.kind)
        return find_column(name)

    def shown_column(self, name: str) -> Column:
        """The column under the name that is shown: a group's `time` may be `time.p90`."""
        column = self.column(name)
        aggregate = self.query.aggregate
        is_other = self.query.grouped and aggregate != DEFAULT_AGGREGATE
        if is_other and column.of_groups == AGGREGATED:
            return find_column(f"{column.name}.{aggregate}")
        return column

    def __getitem__(self, name: str) -> NDArray[Any]:
        """The values of a column, shape (rows,), read-only.

        Numbers are float64 with NaN for N/A, or int64. Texts and tuples of shapes are objects with
        None for N/A.

        Raises `UnknownColumnError` for a column that these rows do not have.
        """
        found = self.shown[self.column(name).name]
        read_only: NDArray[Any] = np.asarray(
            found.values() if isinstance(found, Categorical) else found
        ).view()
        read_only.flags.writeable = False
        return read_only

    def has_numbers(self, name: str) -> bool:
        """Whether the values of that column are numbers alone."""
        return not isinstance(self.shown[self.column(name).name], Categorical)

    def has_values(self, name: str) -> bool:
        """Whether some row has a value in that column, and not N/A."""
        found = self.shown[self.column(name).name]
        missing = found.codes < 0 if isinstance(found, Categorical) else np.isnan(found)
        return not bool(missing.all())

    def texts(self, name: str, style: Style = "short") -> list[str]:
        """The values of a column as people read them, N/A for what is not available."""
        column = self.column(name)
        values = self[name].tolist()
        known = {value: value_text(column, value, style) for value in set(values)}
        return [known[value] for value in values]

    def key_texts(self, key: str) -> list[str]:
        """The values of a key as text, with `NAME=` where a value alone says little."""
        texts = self.texts(key)
        name = key.removeprefix(PARAMETER)
        return texts if name == key and key != "match" else [f"{name}={text}" for text in texts]

    @property
    def labels(self) -> list[str]:
        """The keys of each group, which identify it."""
        return list(map(", ".join, zip(*map(self.key_texts, self.query.by), strict=True)))

    def to_dict(self) -> dict[str, list[Any]]:
        """The columns as lists for a data frame: numbers, and texts for all else; None for N/A."""
        return {name: self._for_a_frame(name) for name in self.columns}

    def _for_a_frame(self, name: str) -> list[Any]:
        """One column with values of one kind, as the libraries for data frames want it."""
        values = _plain(self[name])
        if all(value is None or isinstance(value, (int, float)) for value in values):
            return values
        as_text = self.column(name).as_text
        return [None if value is None else as_text(value) for value in values]

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

    def _repr_html_(self) -> str:
        """The first rows as a table, for a notebook, and how many more there are."""
        names = self.columns
        lines = ["<table>", _html_row("th", [heading(self.shown_column(name)) for name in names])]
        rows = zip(*(self.texts(name) for name in names), strict=True)
        lines += [_html_row("td", row) for row in islice(rows, _NOTEBOOK_ROWS)]
        more = len(self) - _NOTEBOOK_ROWS
        rest = [f"<p>and {more} more rows</p>"] if more > 0 else []
        return "\n".join([*lines, "</table>", *rest])

    def __repr__(self) -> str:
        rows = counted(len(self), "group" if self.query.grouped else "operator")
        return f"Table({rows} of {self.available}, columns={self.columns})"


def _html_row(tag: str, texts: Iterable[str]) -> str:
    from html import escape

    cells = "".join(f"<{tag}>{escape(visible(text, 'utf-8'))}</{tag}>" for text in texts)
    return f"<tr>{cells}</tr>"


def _plain(values: NDArray[Any]) -> list[Any]:
    if values.dtype.kind != "f":
        return list(values.tolist())
    return [None if value != value else value for value in values.tolist()]  # noqa: PLR0124  # NaN

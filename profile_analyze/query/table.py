"""The container of all rows: columns of raw values in base units."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from profile_analyze.columns.aggregates import DEFAULT_AGGREGATE
from profile_analyze.columns.catalog import column_of
from profile_analyze.columns.column import AGGREGATED
from profile_analyze.columns.kinds import FixedKind
from profile_analyze.columns.parameter_columns import PARAMETER
from profile_analyze.columns.wording import heading, value_text
from profile_analyze.model.categorical import Categorical
from profile_analyze.model.visible import visible
from profile_analyze.units import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from profile_analyze.columns.column import Column, Kind
    from profile_analyze.columns.rows import ColumnValues, Values
    from profile_analyze.columns.wording import Style
    from profile_analyze.model.notes import Note
    from profile_analyze.query.arrangement import Arrangement
    from profile_analyze.query.question import Query
    from profile_analyze.query.shown_rows import ShownRows


_NOTEBOOK_ROWS: Final = 100

# The replacements of `html.escape`. Importing `html` would also load all of its named characters.
_HTML: Final = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#x27;"})


class Asked(NamedTuple):
    """The question that a table of operators or groups answers, and facts about the answer."""

    query: Query
    shown: ShownRows
    """The rows by column, for reports. `Table.__getitem__` returns the same values as arrays."""
    recorded: int
    """How many operators have executions on the side (device or host) of the measure. In a profile
    without times, all operators count."""
    matched: int
    """How many operators passed the filters."""
    without_times: NDArray[np.int64]
    """The indices of operators that would pass the filters, but have no executions on this side."""
    without_memory: int
    """How many operators that passed the filters have an unknown memory."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Table:
    """Rows with columns: `table["time"]` is a column, `table.rows` has one dict per row.

    The rows are operators, groups of operators, or rows with columns of their own, such as the
    kernels of an operator. Numbers are in base units (seconds, bytes, FLO, FLO/s, byte/s, fractions
    of 1).
    """

    kind: Kind
    """What the rows are, and which columns they have."""
    values: ColumnValues
    """The values of each column: an array of numbers, or a categorical column."""
    size: int
    """The number of rows."""
    available: int
    """How many rows there would be without a limit."""
    title: str = ""
    """What people read above the table; empty if it needs no title."""
    notes: tuple[Note, ...] = ()
    """What a person should know before trusting the answer, one sentence each."""
    asked: Asked | None = None
    """The question about operators that the rows answer; None for other rows."""
    arrangement: Arrangement | None = None
    """The conditions, the order and the limit of other rows; None if all rows are shown."""

    @classmethod
    def of(
        cls,
        name: str,
        columns: Iterable[Column],
        rows: Sequence[Sequence[Any]],
        *,
        title: str = "",
        available: int | None = None,
    ) -> Table:
        """Make a table of rows of Python values, with None for N/A.

        `available` is the number of rows before a limit was applied; None if there was none.
        """
        catalog = {column.name: column for column in columns}
        by_column = list(zip(*rows, strict=True)) or [()] * len(catalog)
        values = {
            column.name: _column_values(column, of_column)
            for column, of_column in zip(catalog.values(), by_column, strict=True)
        }
        size = len(rows)
        available = size if available is None else available
        return cls(FixedKind(name, catalog), values, size, available, title)

    @property
    def name(self) -> str:
        """The name of the table in output formats for programs, such as `operators`."""
        return self.kind.noun

    @property
    def _asked(self) -> Asked:
        if self.asked is None:
            raise AttributeError(f"the table {self.name} is not the answer to a Query")
        return self.asked

    @property
    def query(self) -> Query:
        """The question. Only tables of operators and groups have this and the next attributes."""
        return self._asked.query

    @property
    def shown(self) -> ShownRows:
        """See `Asked.shown`."""
        return self._asked.shown

    @property
    def total_s(self) -> float:
        """The denominator of shares: the seconds of all operators of the profile.

        It does not depend on the rows shown. NaN if the profile has no times.
        """
        return self.shown.total_s

    @property
    def recorded(self) -> int:
        """See `Asked.recorded`."""
        return self._asked.recorded

    @property
    def matched(self) -> int:
        """See `Asked.matched`."""
        return self._asked.matched

    @property
    def without_times(self) -> NDArray[np.int64]:
        """See `Asked.without_times`."""
        return self._asked.without_times

    @property
    def without_memory(self) -> int:
        """See `Asked.without_memory`."""
        return self._asked.without_memory

    @property
    def several_runs(self) -> bool:
        """Whether there is more than one run, in the profile or in its baseline."""
        comparison = self.shown.comparison
        base_runs = len(comparison.base.runs) if comparison else 1
        return max(len(self.shown.profile.runs), base_runs) > 1

    @property
    def level(self) -> str | None:
        """The level of the rows; None if the profile has only one level."""
        return self.shown.profile.level

    @property
    def is_of_model(self) -> bool:
        """Whether the profile is a model that has not run."""
        return self.shown.profile.model is not None

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns, except those that were not loaded."""
        if self.asked is None:
            return self.kind.names()
        not_loaded = self.shown.profile.operators.not_loaded
        return tuple(
            name for name in self.query.columns if self.kind.find(name).optional not in not_loaded
        )

    def column(self, name: str) -> Column:
        """Return the column named `name`.

        Raises `UnknownColumnError` if these rows do not have it.
        """
        return column_of(self.kind, name)

    def shown_column(self, name: str) -> Column:
        """Return the column that tables show for `name`.

        If groups have another aggregate than `sum`, such as p90, this is `time.p90` for `time`.
        """
        column = self.column(name)
        if self.asked is None:
            return column
        aggregate = self.query.aggregate
        is_other = self.query.grouped and aggregate != DEFAULT_AGGREGATE
        if is_other and column.of_groups == AGGREGATED:
            return self.kind.find(f"{column.name}.{aggregate}")
        return column

    def __getitem__(self, name: str) -> NDArray[Any]:
        """Return the values of a column as a read-only array of shape (rows,).

        Numbers are float64 with NaN for N/A, or int64. Texts and tuples of shapes are objects with
        None for N/A.

        Raises `UnknownColumnError` if these rows do not have the column.
        """
        values = self.values[self.column(name).name]
        array: NDArray[Any] = np.asarray(
            values.values() if isinstance(values, Categorical) else values
        ).view()
        array.flags.writeable = False
        return array

    def has_numbers(self, name: str) -> bool:
        """Whether the column has numbers, and no texts."""
        column = self.column(name)
        return column.kind == "number" or not isinstance(self.values[column.name], Categorical)

    def has_values(self, name: str) -> bool:
        """Whether at least one row has a value other than N/A in the column."""
        values = self.values[self.column(name).name]
        missing = values.codes < 0 if isinstance(values, Categorical) else np.isnan(values)
        return not bool(missing.all())

    def texts(
        self, name: str, style: Style = "short", rows: NDArray[np.int64] | None = None
    ) -> list[str]:
        """Return the values of a column as text for people, for `rows` or else for all rows."""
        column = self.column(name)
        chosen = self[name] if rows is None else self[name][rows]
        values = chosen.tolist()  # `value_text` does not recognise NumPy's integers
        # Long columns repeat few values, so each distinct value is formatted once.
        text_of = {value: value_text(column, value, style) for value in set(values)}
        return [text_of[value] for value in values]

    def key_texts(self, key: str) -> list[str]:
        """Return the values of a group key as text. Parameters and `match` get `NAME=` in front."""
        texts = self.texts(key)
        name = key.removeprefix(PARAMETER)
        return texts if name == key and key != "match" else [f"{name}={text}" for text in texts]

    @property
    def labels(self) -> list[str]:
        """The name of each group: the values of its keys."""
        return list(map(", ".join, zip(*map(self.key_texts, self.query.by), strict=True)))

    def to_dict(self) -> dict[str, list[Any]]:
        """Return the columns for a data frame: lists of numbers or of texts, with None for N/A."""
        return {name: self._frame_column(name) for name in self.columns}

    def _frame_column(self, name: str) -> list[Any]:
        """Return a column whose values have one type, as data frame libraries require."""
        values = _python_values(self[name])
        if all(value is None or isinstance(value, (int, float)) for value in values):
            return values
        as_text = self.column(name).as_text
        return [None if value is None else as_text(value) for value in values]

    @property
    def rows(self) -> list[dict[str, Any]]:
        """One dict for each row: plain Python values by column name, with None for N/A."""
        columns = {name: _python_values(self[name]) for name in self.columns}
        return [
            dict(zip(columns, values, strict=True))
            for values in zip(*columns.values(), strict=True)
        ]

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Iterate over `rows`."""
        return iter(self.rows)

    def __len__(self) -> int:
        """Return the number of rows."""
        return self.size

    def _repr_html_(self) -> str:
        """Return the first rows as an HTML table for a notebook, and how many more there are."""
        names = self.columns
        columns = map(self.shown_column, names)
        compared = self.asked is not None and self.query.compared
        headings = [heading(column, compared=compared) for column in columns]
        lines = ["<table>", _html_row("th", headings)]
        rows = zip(*(self.texts(name) for name in names), strict=True)
        lines += [_html_row("td", row) for row in islice(rows, _NOTEBOOK_ROWS)]
        more = len(self) - _NOTEBOOK_ROWS
        rest = [f"<p>and {more} more rows</p>"] if more > 0 else []
        return "\n".join([*lines, "</table>", *rest])

    def __repr__(self) -> str:
        rows = counted(len(self), "row" if self.asked is None else self.name.removesuffix("s"))
        return f"Table({rows} of {self.available}, columns={self.columns})"


def _column_values(column: Column, values: Sequence[Any]) -> Values:
    """Return Python values, with None for N/A, as the values of a column.

    Integers of which some are N/A stay exact in a categorical column.
    """
    if column.kind == "number":
        if column.has_whole_numbers and None not in values:
            return np.array(values, np.int64)
        if all(value is None or isinstance(value, float) for value in values):
            return np.array(values, np.float64)
    return Categorical.of(values)


def _html_row(tag: str, texts: Iterable[str]) -> str:
    cells = "".join(f"<{tag}>{visible(text, 'utf-8').translate(_HTML)}</{tag}>" for text in texts)
    return f"<tr>{cells}</tr>"


def _python_values(values: NDArray[Any]) -> list[Any]:
    if values.dtype.kind != "f":
        return list(values.tolist())
    return [None if value != value else value for value in values.tolist()]  # noqa: PLR0124  # NaN

"""The kinds of rows: `RowKind` for operators and groups, and `FixedKind` for all other rows."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

from profile_analyze.advice.names import did_you_mean, likely_names
from profile_analyze.columns.catalog import BY_NAME, CATALOG, find_column, listed
from profile_analyze.columns.column import Column, LabelOf
from profile_analyze.errors import QueryError, UnknownColumnError
from profile_analyze.model.terms import LABEL

if TYPE_CHECKING:
    from collections.abc import Mapping


SQL: Final = "sql"
"""The name of the answer to an SQL query."""


class _RowKind(NamedTuple):
    """The fields of `RowKind`."""

    keys: tuple[str, ...] | None
    """The group keys, which may be empty. None if rows are operators."""
    has_peaks: bool = False
    """Whether peak rates were given."""
    has_base: bool = False
    """Whether a baseline was given."""
    split_by: tuple[str, ...] = ()
    """The keys by which rows are split: see `model.levels.splitting`."""
    labels: tuple[str, ...] = ()
    """The names of the labels that files have."""


class RowKind(_RowKind):
    """Operators or groups of operators. Their columns are in the catalog; see `Kind`."""

    @cached_property
    def found(self) -> dict[str, Column]:
        """The columns that were looked up, by name."""
        return {}

    @property
    def noun(self) -> str:
        """See `Kind.noun`."""
        return "operators" if self.keys is None else "groups"

    @property
    def catalog(self) -> Mapping[str, Column]:
        """See `Kind.catalog`."""
        return BY_NAME

    def find(self, text: str) -> Column:
        """See `Kind.find`. Each column is looked up once."""
        if text not in self.found:
            self.found[text] = find_column(text, self.labels)
        return self.found[text]

    def are_split_by(self, column: Column) -> bool:
        """Return whether rows are split by the column, such as `run`, or by its label."""
        keys = {column.base_name}
        if isinstance(column.of_operators, LabelOf):
            keys.add(column.of_operators.key)
        return not keys.isdisjoint(self.split_by)

    def has(self, column: Column) -> bool:
        """See `Kind.has`."""
        if column.needs_peaks and not self.has_peaks:
            return False
        if column.needs_base and not self.has_base:
            return False
        if column.needs_split_rows and not self.are_split_by(column):
            return False
        if self.keys is None:  # operators
            return column.of_operators is not None
        return column.of_groups is not None or (column.is_key and column.name in self.keys)

    def check_needs(self, column: Column) -> None:
        """See `Kind.check_needs`."""
        if column.needs_peaks and not self.has_peaks:
            raise QueryError(
                f"{column.name} needs the peak rates of a device; add --peaks DEVICE (--peaks list "
                "shows all), --peaks auto for the device that the profile names, --peaks here for "
                "this machine, or two rates: --peaks 19.5T:1555G"
            )
        if column.needs_base and not self.has_base:
            raise QueryError(f"{column.name} needs a profile to compare with; add --compare FILE")
        if column.is_label:
            self._check_label(column)
        if column.needs_split_rows and not self.are_split_by(column):
            raise QueryError(
                f"rows are not split by {column.name}; group by {column.name}, or filter with "
                f"--where '{column.name} == ...'"
            )

    def _check_label(self, column: Column) -> None:
        """Raise `QueryError` if the files do not have the label of `column`."""
        name = column.export_name.partition("~")[0]
        if name not in self.labels:
            labels = ", ".join(self.labels)
            known = f"the labels are {labels}" if labels else "files have no labels"
            raise QueryError(f"there is no label {name!r}; {known}")

    def names(self, extra: tuple[str, ...] = ()) -> tuple[str, ...]:
        """Return the names of the columns that these rows have.

        Group keys come first. The other columns are in the order of the registry, with the columns
        in `extra` after `time`. Labels that split operators come last.
        """
        keys = self.keys or ()
        names = [column.name for column in CATALOG if self.has(column) and column.name not in keys]
        after_time = names.index("time") + 1
        of_operators = self.split_by if self.keys is None else ()
        labels = [key for key in of_operators if key.startswith(LABEL)]
        return (*keys, *names[:after_time], *extra, *names[after_time:], *labels)

    def orderable(self) -> tuple[str, ...]:
        """See `Kind.orderable`."""
        named = [column.name for column in CATALOG if column.orderable and self.has(column)]
        derived = [key for key in self.keys or () if key not in BY_NAME]
        return (*derived, *named)


class FixedKind(NamedTuple):
    """Rows with columns of their own, such as kernels, or the answer to an SQL query."""

    noun: str
    """See `Kind.noun`."""
    catalog: Mapping[str, Column]
    """See `Kind.catalog`. The rows have all of these columns."""

    @property
    def keys(self) -> None:
        """See `Kind.keys`."""
        return

    def find(self, text: str) -> Column:
        """See `Kind.find`."""
        if text in self.catalog:
            return self.catalog[text]
        names = self.names()
        advice = did_you_mean(likely_names(text, names, {})) or f"the columns are {listed(names)}"
        raise UnknownColumnError(f"there is no column {text!r}; {advice}")

    def has(self, column: Column) -> bool:
        """See `Kind.has`."""
        return column.name in self.catalog

    def check_needs(self, column: Column) -> None:
        """See `Kind.check_needs`. These columns need nothing."""

    def names(self) -> tuple[str, ...]:
        """See `Kind.names`."""
        return tuple(self.catalog)

    def orderable(self) -> tuple[str, ...]:
        """See `Kind.orderable`."""
        return tuple(name for name, column in self.catalog.items() if column.orderable)

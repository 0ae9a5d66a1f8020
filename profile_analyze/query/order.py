"""Parses orders such as `+time`, and advises on orders that are written as in other tools."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from profile_analyze.column_words import meant_column
from profile_analyze.errors import QueryError, UnknownColumnError
from profile_analyze.query.catalog import (
    NO_BLANKS,
    check_needs,
    find_column,
    likely_columns,
    listed,
    orderable_names,
    with_need,
)
from profile_analyze.suggestions import did_you_mean

if TYPE_CHECKING:
    from profile_analyze.model.columns import Column, RowKind


class Order(NamedTuple):
    """One column to sort by."""

    column: Column
    ascending: bool = False
    unknown_before_zero: bool = False
    """Whether N/A comes just before 0 instead of last. Rows of unknown work matter more than rows
    without work."""

    @classmethod
    def parse(cls, text: str, kind: RowKind) -> Order:
        """Parse `[+]COLUMN`, where `+` means ascending.

        Raises `UnknownColumnError` if the column does not exist. Raises `QueryError` if the column
        cannot order rows of this kind.
        """
        name = text.removeprefix("+")
        if not name:
            advice = "write a name after +, such as +time" if text else NO_BLANKS
            raise QueryError(f"no column to order by in {text!r}; {advice}")
        try:
            column = find_column(name, kind.labels)
        except UnknownColumnError:
            advice = _advice_on_unknown(name, kind)
            raise UnknownColumnError(f"there is no column {name!r} to order by; {advice}") from None
        check_needs(column, kind)
        if not (column.orderable and kind.has(column)):
            raise QueryError(f"{kind.noun} cannot be ordered by {name!r}; they {_choices(kind)}")
        return cls(column, text.startswith("+"))


def _choices(kind: RowKind) -> str:
    return f"can be ordered by {listed(orderable_names(kind))}"


def _advice_on_unknown(name: str, kind: RowKind) -> str:
    """Return what to write instead of `name`, which is not a column."""
    return (
        _advice_on_order(name)
        or likely_columns(name, orderable_names(kind))
        or _column_of_comparisons(name)
        or f"{kind.noun} {_choices(kind)}"
    )


def _advice_on_order(name: str) -> str:
    """Return what to write instead of `-time` or `time desc`; empty for other names."""
    column, _, direction = name.replace(":", " ").rpartition(" ")
    if not column:  # `time,desc`
        column = "time"
    if name.startswith("-"):
        column = name[1:]
    elif direction.lower() not in ("asc", "desc", "ascending", "descending"):
        return ""
    with suppress(UnknownColumnError):
        find_column(column)
        return f"write {column}, which is largest first, or +{column}, which is smallest first"
    return ""


def _column_of_comparisons(name: str) -> str:
    """Return advice if another tool uses `name` for a column of comparisons; empty otherwise."""
    meant = meant_column(name)
    return did_you_mean([with_need(meant)]) if meant and find_column(meant).needs_base else ""

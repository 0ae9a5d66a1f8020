"""Parses orders such as `+time`, and advises on orders that are written as in other tools."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from profile_analyze.advice.names import did_you_mean
from profile_analyze.advice.words import meant_column
from profile_analyze.columns.catalog import (
    NO_BLANKS,
    check_needs,
    find_column,
    likely_columns,
    listed,
    orderable_names,
    with_need,
)
from profile_analyze.errors import QueryError, UnknownColumnError

if TYPE_CHECKING:
    from profile_analyze.columns.column import Column, RowKind


class Order(NamedTuple):
    """One column to sort by."""

    column: Column
    ascending: bool = False
    unknown_before_zero: bool = False
    """Whether N/A comes just before 0 instead of last. Rows of unknown work matter more than rows
    without work."""

    @classmethod
    def parse(cls, text: str, kind: RowKind, before: str = "") -> Order:
        """Parse `[+]COLUMN`, where `+` means ascending.

        `before` is the previous order in the list; empty for the first.

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
            advice = _advice_on_unknown(name, kind, before)
            raise UnknownColumnError(f"there is no column {name!r} to order by; {advice}") from None
        check_needs(column, kind)
        if not (column.orderable and kind.has(column)):
            raise QueryError(f"{kind.noun} cannot be ordered by {name!r}; they {_choices(kind)}")
        return cls(column, text.startswith("+"))


def _choices(kind: RowKind) -> str:
    return f"can be ordered by {listed(orderable_names(kind))}"


def _advice_on_unknown(name: str, kind: RowKind, before: str) -> str:
    """Return what to write instead of `name`, which is not a column."""
    return (
        _advice_on_order(name, before.removeprefix("+"))
        or _advice_on_no_order(name)
        or _likely_columns(name, kind)
        or _advice_on_comparisons(name)
        or f"{kind.noun} {_choices(kind)}"
    )


def _advice_on_order(name: str, before: str) -> str:
    """Return what to write instead of `-time` or `time desc`; empty for other names."""
    column, _, direction = name.replace(":", " ").rpartition(" ")
    if not column:  # `desc` alone: `time,desc` was split at its comma
        column = before or "time"
    if name.startswith("-"):
        column = name[1:]
    elif direction.lower() not in ("asc", "desc", "ascending", "descending"):
        return ""
    with suppress(UnknownColumnError):
        find_column(column)
        return f"write {column}, which is largest first, or +{column}, which is smallest first"
    return ""


def _advice_on_no_order(name: str) -> str:
    """Return advice if `name` stands for a column without an order, such as shapes; else empty."""
    meant = meant_column(name)
    if not meant or find_column(meant).orderable:
        return ""
    return f"{meant} has no order; --columns name,time,{meant} shows it"


def _likely_columns(name: str, kind: RowKind) -> str:
    """Return the columns that `name` may mean. Columns that lack peaks are marked `--peaks`."""

    def as_text(column: str) -> str:
        lacks_peaks = find_column(column).needs_peaks and not kind.has_peaks
        return f"{column} (with --peaks)" if lacks_peaks else column

    return likely_columns(name, orderable_names(kind._replace(has_peaks=True)), as_text)


def _advice_on_comparisons(name: str) -> str:
    """Return advice if another tool uses `name` for a column of comparisons; empty otherwise."""
    meant = meant_column(name)
    return did_you_mean([with_need(meant)]) if meant and find_column(meant).needs_base else ""

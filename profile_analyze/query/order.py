"""Parses orders such as `+time`, and advises on orders that are written as in other tools."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from profile_analyze.advice.names import did_you_mean, likely_names
from profile_analyze.advice.words import meant_column
from profile_analyze.columns.catalog import (
    NO_BLANKS,
    find_column,
    likely_columns,
    listed,
    with_need,
)
from profile_analyze.columns.kinds import RowKind
from profile_analyze.errors import QueryError, UnknownColumnError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from profile_analyze.columns.column import Column, Kind


class Order(NamedTuple):
    """One column to sort by."""

    column: Column
    ascending: bool = False
    unknown_before_zero: bool = False
    """Whether N/A comes just before 0 instead of last. Rows of unknown work matter more than rows
    without work."""

    @classmethod
    def parse(cls, text: str, kind: Kind, before: str = "") -> Order:
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
            column = kind.find(name)
        except UnknownColumnError:
            advice = _advice_on_unknown(name, kind, before)
            raise UnknownColumnError(f"there is no column {name!r} to order by; {advice}") from None
        kind.check_needs(column)
        if not (column.orderable and kind.has(column)):
            raise QueryError(f"{kind.noun} cannot be ordered by {name!r}; they {_choices(kind)}")
        return cls(column, text.startswith("+"))


def parse_orders(texts: Sequence[str], kind: Kind) -> tuple[Order, ...]:
    """Parse the columns to sort by, the most important first: see `Order.parse`."""
    pairs = zip(texts, ("", *texts), strict=False)
    return tuple(Order.parse(text, kind, before) for text, before in pairs)


def _choices(kind: Kind) -> str:
    return f"can be ordered by {listed(kind.orderable())}"


def _advice_on_unknown(name: str, kind: Kind, before: str) -> str:
    """Return what to write instead of `name`, which is not a column."""
    return (
        _advice_on_order(name, kind, before.removeprefix("+"))
        or _advice_on_word(name, kind)
        or f"{kind.noun} {_choices(kind)}"
    )


def _advice_on_word(name: str, kind: Kind) -> str:
    """Return the columns that `name` may mean; empty if none is likely."""
    if not isinstance(kind, RowKind):
        return did_you_mean(likely_names(name, kind.orderable(), {}))
    return _advice_on_no_order(name) or _likely_columns(name, kind) or _advice_on_comparisons(name)


def _advice_on_order(name: str, kind: Kind, before: str) -> str:
    """Return what to write instead of `-time` or `time desc`; empty for other names."""
    column, _, direction = name.replace(":", " ").rpartition(" ")
    if not column:  # `desc` alone: `time,desc` was split at its comma
        column = before or "time"
    if name.startswith("-"):
        column = name[1:]
    elif direction.lower() not in ("asc", "desc", "ascending", "descending"):
        return ""
    with suppress(UnknownColumnError):
        kind.find(column)
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

    return likely_columns(name, kind._replace(has_peaks=True).orderable(), as_text)


def _advice_on_comparisons(name: str) -> str:
    """Return advice if another tool uses `name` for a column of comparisons; empty otherwise."""
    meant = meant_column(name)
    return did_you_mean([with_need(meant)]) if meant and find_column(meant).needs_base else ""

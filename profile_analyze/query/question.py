"""The question: a plain value, checked when it is made, before any file is read."""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan
from typing import TYPE_CHECKING

from profile_analyze.errors import QueryError, UnknownColumnError
from profile_analyze.model.columns import find_column, group_keys, orderable_names
from profile_analyze.query.aggregates import AGGREGATES
from profile_analyze.query.patterns import compile_pattern

if TYPE_CHECKING:
    from collections.abc import Iterable

    from profile_analyze.model.profile import EndKey, Side

DEFAULT_AGGREGATE = "sum"
DEFAULT_ORDER = "time"


@dataclass(frozen=True, slots=True)
class Order:
    """One column to sort by."""

    column: str
    ascending: bool = False

    @classmethod
    def parse(cls, text: str, *, groups: bool) -> Order:
        """The order that `[+]COLUMN` stands for; `+` is ascending.

        Raises `UnknownColumnError` for a column that does not exist, `QueryError` for one that a
        table of groups (else of operators) cannot be ordered by.
        """
        name = text.removeprefix("+")
        choices = ", ".join(orderable_names(groups=groups))
        what = "groups" if groups else "operators"
        if not name:
            raise QueryError(f"no column to order by in {text!r}; {what} can be by {choices}")
        try:
            column = find_column(name)
        except UnknownColumnError:
            raise UnknownColumnError(
                f"there is no column {name!r} to order by; {what} can be by {choices}"
            ) from None
        if column.name not in orderable_names(groups=groups):
            raise QueryError(f"{what} cannot be ordered by {name!r}; they can be by {choices}")
        return cls(column.name, text.startswith("+"))


@dataclass(frozen=True, init=False)
class Query:
    """What is asked of a profile.

    Raises `QueryError` when the question makes no sense, whatever the profile.
    """

    side: Side
    """Times of the device or of the host."""
    end_key: EndKey
    """`end`: an operator's time is `end - start`. `kern`: its wait time, `kern - start`."""
    types: tuple[str, ...]
    """Keep operators of one of these types; all where empty."""
    name: str | None
    """Keep operators whose name matches this regular expression, anchored at the start only."""
    input_dtype: str | None
    """Keep operators with an input of this dtype, such as `Float32`."""
    min_time_s: float | None
    """Keep operators that took at least so many seconds (to half a nanosecond)."""
    max_time_s: float | None
    """Keep operators that took at most so many seconds (to half a nanosecond)."""
    by: tuple[str, ...]
    """Group by these columns; a row is then a group, in order of first appearance."""
    aggregate: str | None
    """How values become a group's: sum (the default with `by`), mean, max, min. Without `by` all
    operators are one group."""
    order: tuple[str, ...]
    """Columns to sort by, the most important first: largest first, with a `+` smallest first.
    N/A comes last, and ties keep the file's order."""
    top: int
    """Give only the first so many rows; 0: all."""

    def __init__(  # noqa: PLR0913  # all by keyword, most of them left out
        self,
        *,
        side: Side = "device",
        end_key: EndKey = "end",
        types: str | Iterable[str] = (),
        name: str | None = None,
        input_dtype: str | None = None,
        min_time_s: float | None = None,
        max_time_s: float | None = None,
        by: str | Iterable[str] = (),
        aggregate: str | None = None,
        order: str | Iterable[str] = DEFAULT_ORDER,
        top: int = 0,
    ) -> None:
        values = {
            "side": side,
            "end_key": end_key,
            "types": _texts(types),
            "name": name,
            "input_dtype": input_dtype,
            "min_time_s": min_time_s,
            "max_time_s": max_time_s,
            "by": _texts(by),
            "aggregate": DEFAULT_AGGREGATE if aggregate is None and by else aggregate,
            "order": _texts(order),
            "top": top,
        }
        for field, value in values.items():
            object.__setattr__(self, field, value)
        self._check_choices()
        self._check_numbers()
        if self.name:
            compile_pattern(self.name)
        self.parsed_order()

    def _check_choices(self) -> None:
        choices = [
            ("side", self.side, ("device", "host")),
            ("end_key", self.end_key, ("end", "kern")),
            *(("by", key, group_keys()) for key in self.by),
        ]
        if self.aggregate is not None:
            choices.append(("aggregate", self.aggregate, tuple(AGGREGATES)))
        for field, value, allowed in choices:
            if value not in allowed:
                raise QueryError(f"{field}: {value!r} is not one of {', '.join(allowed)}")

    def _check_numbers(self) -> None:
        if self.top < 0:
            raise QueryError(f"top: {self.top} rows cannot be shown; 0 shows all")
        if any(bound is not None and isnan(bound) for bound in (self.min_time_s, self.max_time_s)):
            raise QueryError("a time to compare with cannot be NaN")

    @property
    def grouped(self) -> bool:
        """Whether the answer has groups for rows, not operators."""
        return self.aggregate is not None

    def parsed_order(self) -> tuple[Order, ...]:
        """`order`, taken apart."""
        return tuple(Order.parse(text, groups=self.grouped) for text in self.order)


def _texts(value: str | Iterable[str]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)

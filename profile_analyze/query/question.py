"""The question: a plain value, checked when it is made, before any file is read."""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan
from numbers import Real
from operator import index
from typing import TYPE_CHECKING, NamedTuple

from profile_analyze.errors import QueryError, UnknownColumnError
from profile_analyze.model.columns import DEFAULT_ORDER, find_column, group_keys, orderable_names
from profile_analyze.query.aggregates import AGGREGATES, DEFAULT_AGGREGATE
from profile_analyze.query.patterns import compile_pattern

if TYPE_CHECKING:
    from collections.abc import Iterable

    from profile_analyze.model.profile import EndKey, Side


class Order(NamedTuple):
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
        if name == "info":  # what the original calls name, type and id together
            raise QueryError(f"info has no order; {choices} have")
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

    Parameters
    ----------
    side
        `device` or `host`: whose times.
    end_key
        `end`: an operator's time is `end - start`. `kern`: its wait time, `kern - start`.
    types
        Keep operators of this type, or of one of these; all where empty.
    name
        Keep operators whose name matches this regular expression, a text, from its start on.
    input_dtype
        Keep operators with an input of this dtype, such as `Float32`.
    min_time_s, max_time_s
        Keep operators that took at least, at most so many seconds (to half a nanosecond).
    by
        Group by `type`; a row is then a group, in order of first appearance.
    aggregate
        How values become a group's: `sum` (the default with `by`), `mean`, `max`, `min`. Without
        `by` all operators are one group.
    order
        The column to sort by, or several, the most important first: largest first, with a `+`
        before the name smallest first. N/A comes last, and ties keep the file's order.
    top
        Give only the first so many rows; 0: all.

    Raises
    ------
    QueryError
        When the question makes no sense, whatever the profile.
    """

    side: Side
    end_key: EndKey
    types: tuple[str, ...]
    name: str | None
    input_dtype: str | None
    min_time_s: float | None
    max_time_s: float | None
    by: tuple[str, ...]
    aggregate: str | None
    order: tuple[str, ...]
    top: int

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
        keys = _texts("by", by)
        values = {
            "side": side,
            "end_key": end_key,
            "types": _texts("types", types),
            "name": name,
            "input_dtype": input_dtype,
            "min_time_s": min_time_s,
            "max_time_s": max_time_s,
            "by": keys,
            "aggregate": DEFAULT_AGGREGATE if aggregate is None and keys else aggregate,
            "order": _texts("order", order),
            "top": _count(top),
        }
        for field, value in values.items():
            object.__setattr__(self, field, value)
        self._check_kinds()
        self._check_choices()
        self._check_numbers()
        if self.name:
            compile_pattern(self.name)
        self.parsed_order()

    def _check_kinds(self) -> None:
        for field in ("name", "input_dtype"):
            value = getattr(self, field)
            if not isinstance(value, str | None):
                raise QueryError(f"{field}: {value!r} is not a text")
        for field in ("min_time_s", "max_time_s"):
            value = getattr(self, field)
            if isinstance(value, str):
                raise QueryError(f"{field}: a number of seconds; parse_time reads {value!r}")
            if not isinstance(value, Real | None):
                raise QueryError(f"{field}: {value!r} is not a number of seconds")

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


def _texts(field: str, value: str | Iterable[str]) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    try:
        texts = tuple(value)
    except TypeError:
        texts = (value,)  # type: ignore[assignment]  # to be refused
    if not all(isinstance(text, str) for text in texts):
        raise QueryError(f"{field}: {value!r} is neither a text nor several")
    return texts


def _count(value: int) -> int:
    try:
        return index(value)
    except TypeError:
        raise QueryError(f"top: {value!r} is not a number of rows") from None

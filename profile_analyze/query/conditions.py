"""`COLUMN OP VALUE`: what users write to keep some rows."""

from __future__ import annotations

import re
from itertools import combinations
from math import inf, isnan, nan
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from profile_analyze.errors import ProfileAnalyzeError, QuantityError, QueryError
from profile_analyze.query.catalog import check_needs, find_column
from profile_analyze.query.patterns import compile_pattern, finds
from profile_analyze.units import parse_quantity, percent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import TypeAlias

    import numpy as np
    from numpy.typing import NDArray

    from profile_analyze.model.columns import Column, RowKind
    from profile_analyze.model.rows import Rows

    _Limit: TypeAlias = tuple[float, bool]  # and whether it is within itself

TIME_TOLERANCE_S: Final = 0.5e-9
"""Measured times that differ by no more than this are equal: no clock resolves less than 1 ns. The
difference of two clock readings carries rounding noise (3e-06 comes out as 2.99999999997e-06)."""

_COMPARISONS: Final[Mapping[str, Callable[[Any, float, float], Any]]] = {
    "==": lambda values, bound, tolerance: abs(values - bound) <= tolerance,
    "!=": lambda values, bound, tolerance: abs(values - bound) > tolerance,
    "<": lambda values, bound, tolerance: values < bound - tolerance,
    "<=": lambda values, bound, tolerance: values <= bound + tolerance,
    ">": lambda values, bound, tolerance: values > bound + tolerance,
    ">=": lambda values, bound, tolerance: values >= bound - tolerance,
}
_SHARE: Final = "share"
_FOR_PATTERNS: Final = ("~", "!~")
_FOR_TEXT: Final = ("==", "!=", *_FOR_PATTERNS)
_NAME: Final = r"param\.[^\s=!<>~]+|[A-Za-z_][\w.]*"


class Condition(NamedTuple):
    """One comparison of a column with a value. N/A never passes."""

    text: str
    column: Column
    operator: str
    value: str
    bound: float
    """The number that `value` is; NaN where values are compared as texts alone."""

    @classmethod
    def parse(cls, text: str, kind: RowKind) -> Condition:
        """The condition that `text` is, about rows of that kind.

        Raises `QueryError` that says at which character of `text` the mistake is.
        """
        # a key may have operators in its pattern: then it is written as it was given
        names = "|".join([*map(re.escape, kind.keys or ()), _NAME])
        match = re.fullmatch(rf"\s*({names})\s*([=!<>~]+)\s*(.*)", text.rstrip(), re.DOTALL)
        if match is None:
            raise QueryError(
                f"'{text}' is no condition; write COLUMN OPERATOR VALUE, such as 'time > 1ms'"
            )
        name, operator, value = match.groups()
        places = {"column": match.start(1), "operator": match.start(2), "value": match.start(3)}
        try:
            column = find_column(name)
            _check_column(column, kind)
        except ProfileAnalyzeError as error:
            raise _wrong(text, places["column"], error) from None
        try:
            _check_operator(column, operator)
        except QueryError as error:
            raise _wrong(text, places["operator"], error) from None
        try:
            value = _unquoted(value)
            bound = _bound(column, operator, value)
        except QueryError as error:
            raise _wrong(text, places["value"], error) from None
        return cls(text.strip(), column, operator, value, bound)

    def holds(self, rows: Rows) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Shape (rows,) each: where it is true, and where it cannot be judged."""
        import numpy as np

        from profile_analyze.model.categorical import Categorical

        values = rows[self.column.name]
        if isinstance(values, Categorical):
            unknown = values.codes < 0
            if self._wants_numbers:
                unknown |= values.where(isinstance(word, str) for word in values.categories)
            return values.where(self.holds_for(values.categories)), unknown
        unknown = np.isnan(values)
        if self.operator in _FOR_PATTERNS:
            holds = np.fromiter(self.holds_for(values.tolist()), np.bool_, len(values))
        else:
            holds = self._compared(values)
        return holds & ~unknown, unknown

    @property
    def _wants_numbers(self) -> bool:
        return self.operator not in _FOR_TEXT

    @property
    def not_comparable(self) -> str:
        """How notes call a value that cannot be judged."""
        mixed = self.column.kind == "mixed" and self._wants_numbers
        return "N/A or a text" if mixed else "N/A"

    def excludes(self, other: Condition) -> bool:
        """Whether no value passes both. They are about the same column."""
        if isnan(self.bound) or isnan(other.bound):  # one of them is compared as a text
            texts = {one.value.replace(" ", "") for one in (self, other)}
            return len(texts) == 2 and self.operator == other.operator == "=="
        (low, is_low_in), (high, is_high_in) = _limits(self, other)
        return low > high or (low == high and not (is_low_in and is_high_in))

    def holds_for(self, words: Iterable[Any]) -> Iterable[bool]:
        """Whether it is true of each of `words`, categories of the column."""
        if self.operator == "~":
            return finds(self.value, map(self.column.as_text, words))
        if self.operator == "!~":
            return (not found for found in finds(self.value, map(self.column.as_text, words)))
        if self.operator in ("==", "!="):
            return (self._is(word) == (self.operator == "==") for word in words)
        return (not isinstance(word, str) and bool(self._compared(word)) for word in words)

    def _is(self, word: Any) -> bool:
        """Whether `word` is the value, as text or as number; blanks in shapes do not matter."""
        if isinstance(word, str):
            return word == self.value
        if isinstance(word, (int, float)):
            return word == self.bound
        return self.column.as_text(word).replace(" ", "") == self.value.replace(" ", "")

    def _compared(self, numbers: Any) -> Any:
        """Whether it is true of a number, or of each of an array."""
        return _COMPARISONS[self.operator](numbers, self.bound, _tolerance(self.column))


def _tolerance(column: Column) -> float:
    return TIME_TOLERANCE_S if column.measured else 0.0


def _bound(column: Column, operator: str, value: str) -> float:
    """See `Condition.bound`. Raises `QueryError` if nothing can be compared with `value` so."""
    if operator in _FOR_PATTERNS:
        compile_pattern(value)
        return nan
    if column.kind == "text":
        return nan
    try:
        bound = parse_quantity(value, "" if column.shown_as == "count" else column.unit)
    except QuantityError:
        if column.kind == "mixed" and operator in _FOR_TEXT:
            return nan
        raise
    if column.name == _SHARE and bound > 1 and not value.endswith("%"):
        raise QueryError(f"{value} is {percent(bound)}, and no share is above 100%: write {value}%")
    return bound


def _limits(one: Condition, other: Condition) -> tuple[_Limit, _Limit]:
    """The largest lower and the smallest upper limit that two conditions set on a number."""
    lower: list[_Limit] = [(-inf, True)]
    upper: list[_Limit] = [(inf, True)]
    tolerance = _tolerance(one.column)
    for condition in (one, other):
        bound, operator = condition.bound, condition.operator
        if operator in (">", ">=", "=="):
            is_in = operator != ">"
            lower.append((bound + (-tolerance if is_in else tolerance), is_in))
        if operator in ("<", "<=", "=="):
            is_in = operator != "<"
            upper.append((bound + (tolerance if is_in else -tolerance), is_in))
    return max(lower, key=lambda limit: (limit[0], not limit[1])), min(upper)


def check_together(conditions: Sequence[Condition]) -> None:
    """Raise `QueryError` if two of `conditions` leave nothing, whatever the profile."""
    for one, other in combinations(conditions, 2):
        if one.column.name == other.column.name and one.excludes(other):
            raise QueryError(
                f"'{one.text}' and '{other.text}' contradict each other, and all must hold"
            )


def _check_column(column: Column, kind: RowKind) -> None:
    check_needs(column, kind)
    if not kind.has(column):
        advice = "; groups have: --having" if kind.keys is None else ""
        raise QueryError(f"{kind.noun} have no {column.name}{advice}")
    if column.running:
        raise QueryError(f"{column.name} depends on the rows shown, and cannot filter them")


def _check_operator(column: Column, operator: str) -> None:
    if operator not in {*_COMPARISONS, *_FOR_TEXT}:
        known = " ".join(dict.fromkeys((*_COMPARISONS, *_FOR_TEXT)))
        advice = "write ==; " if operator == "=" else ""
        raise QueryError(f"there is no operator {operator!r}; {advice}there are {known}")
    if column.kind == "number" and operator not in _COMPARISONS:
        raise QueryError(f"{operator} is for texts; {column.name} is a number")
    if column.kind == "text" and operator not in _FOR_TEXT:
        raise QueryError(f"{operator} is for numbers; {column.name} is a text")


def _wrong(text: str, place: int, error: ProfileAnalyzeError) -> QueryError:
    return QueryError(f"'{text}', at character {place + 1}: {error}")


def _unquoted(value: str) -> str:
    """`value` without the quotes around it, which keep blanks. Raises `QueryError`."""
    if value[:1] not in ("'", '"'):
        return value
    if len(value) < 2 or value[-1] != value[0]:
        raise QueryError(
            f"the quote {value[0]} has no end; write a literal quote in quotes of the other kind"
        )
    return value[1:-1]

"""The conditions `COLUMN OPERATOR VALUE`, which users write to keep only some rows.

This module parses a condition and compares single values with it, without importing NumPy.
`filters.py` applies it to whole columns.
"""

from __future__ import annotations

import re
from contextlib import contextmanager, suppress
from itertools import combinations
from math import inf, isnan, nan
from operator import ge, gt, le, lt
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from profile_analyze.advice.conditions import (
    PATTERN_OF,
    REPEAT,
    advice_on_condition,
    advice_on_factor,
    advice_on_missing,
    advice_on_operator,
    advice_on_or,
)
from profile_analyze.advice.names import LONGEST_ADVISED
from profile_analyze.columns.patterns import compile_pattern, finds
from profile_analyze.errors import PatternError, QuantityError, QueryError
from profile_analyze.model.natural_order import natural_sort_key
from profile_analyze.units import EXAMPLES, SCALED, parse_quantity, percent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import TypeAlias

    from profile_analyze.columns.column import Column, Kind

    # One end of a range: a number, and whether the range includes it.
    _Limit: TypeAlias = tuple[float, bool]

TIME_TOLERANCE_S: Final = 0.5e-9
"""Measured times are equal if they differ by at most this. A measured time is the difference of two
clock readings, with a rounding error: 3 us may come out as 2.99999999997e-06 s. The tolerance hides
no real difference, because no clock resolves less than 1 ns."""

_COMPARISONS: Final[Mapping[str, Callable[[Any, float, float], Any]]] = {
    "==": lambda values, bound, tolerance: abs(values - bound) <= tolerance,
    "!=": lambda values, bound, tolerance: abs(values - bound) > tolerance,
    "<": lambda values, bound, tolerance: values < bound - tolerance,
    "<=": lambda values, bound, tolerance: values <= bound + tolerance,
    ">": lambda values, bound, tolerance: values > bound + tolerance,
    ">=": lambda values, bound, tolerance: values >= bound - tolerance,
}
_ORDERS: Final[Mapping[str, Callable[[Any, Any], bool]]] = {"<": lt, "<=": le, ">": gt, ">=": ge}
_SHARE: Final = "share"
PATTERN_OPERATORS: Final = ("~", "!~")
_TEXT_OPERATORS: Final = ("==", "!=", *PATTERN_OPERATORS)
_OPPOSITES: Final = {"==": "!=", "!=": "==", "~": "!~", "!~": "~"}
_POSITIVE: Final = {"!=": "==", "!~": "~"}
"""For each operator with a negation, the operator without it."""
_NAME: Final = r"param\.[^\s=!<>~]+|scope/\w+|[A-Za-z_][\w.]*"
_SYMBOLS: Final = "=!<>~\N{LESS-THAN OR EQUAL TO}\N{GREATER-THAN OR EQUAL TO}\N{NOT EQUAL TO}"
_FURTHER_CONDITION: Final = (
    rf"(?P<separator>\s(?:and|or)\s|&&?|\|\|?|[,;])\s*(?P<name>{_NAME})\s*"
    rf"(?P<operator>[{_SYMBOLS}]+)\s*(?P<value>.*)"
)


class Condition(NamedTuple):
    """A condition that compares a column with a value. N/A never meets a condition."""

    text: str
    column: Column
    operator: str
    value: str
    bound: float
    """`value` as a number; NaN if the condition compares only texts."""

    @classmethod
    def parse(cls, text: str, kind: Kind) -> Condition:
        """Parse a condition on rows of this kind.

        Raises `QueryError`, which names the character of `text` where the mistake is.
        """
        # A key such as name~a>b may contain operators, so the keys are tried before other names.
        names = "|".join([*map(re.escape, kind.keys or ()), _NAME])
        # Any sequence of operator characters matches, so that a message can name a wrong operator.
        match = re.fullmatch(rf"\s*({names})\s*([{_SYMBOLS}]+)\s*(.*)", text.rstrip(), re.DOTALL)
        if match is None:
            numbers = {name for name, one in kind.catalog.items() if one.kind == "number"}
            raise QueryError(f"'{text}' is not a condition; {advice_on_condition(text, numbers)}")
        name, operator, value = match.groups()
        with _error_position(match.start(1), text):
            column = kind.find(name)
            _check_column(column, kind)
        with _error_position(match.start(3), text):
            if column.kind == "number" and (advice := advice_on_missing(name, value)):
                raise QueryError(advice)
            _check_single_condition(column, operator, value, kind.catalog)
        with _error_position(match.start(2), text):
            _check_operator(column, operator, value)
        with _error_position(match.start(3), text):
            if not value:
                raise QueryError(_missing_value(column, operator))
            value = _unquoted(value)
            bound = _parse_bound(column, operator, value)
        return cls(text.strip(), column, operator, value, bound)

    @property
    def compares_numbers(self) -> bool:
        """Whether the operator compares only numbers."""
        return self.operator not in _TEXT_OPERATORS and not self.compares_order_of_texts

    @property
    def compares_order_of_texts(self) -> bool:
        """Whether the operator compares texts in natural order."""
        return self.operator in _ORDERS and _has_ordered_texts(self.column)

    @property
    def assumed_unit(self) -> str:
        """The base unit that is assumed if `value` has no unit; empty if it has one.

        A share without a unit is a fraction, so its assumed unit is `1`. The result is also empty
        for columns without units.
        """
        is_share = self.column.unit == "1" and self.column.shown_as == "percent"
        has_units = is_share or self.column.unit == "s" or self.column.unit in SCALED
        return self.column.unit if has_units and self.value[-1:].isdecimal() else ""

    @property
    def leaves_out_texts(self) -> bool:
        """Whether texts, not only values that are N/A, cannot meet the condition."""
        return self.column.kind == "mixed" and self.compares_numbers

    def excludes(self, other: Condition) -> bool:
        """Whether no value can meet both conditions. `other` must be on the same column.

        Not all contradictions are found. `!=`, `~` and `!~` are compared only with their opposites.
        `<` and the like are compared only for numbers, not for texts.
        """
        if _OPPOSITES.get(self.operator) == other.operator:
            is_number = self.column.kind == "number"
            return self.value == other.value or (is_number and self.bound == other.bound)
        if isnan(self.bound) or isnan(other.bound):
            # Values that differ only in blanks may be the same shapes: see `_equals`.
            texts = {one.value.replace(" ", "") for one in (self, other)}
            return len(texts) == 2 and self.operator == other.operator == "=="
        (low, is_low_in), (high, is_high_in) = _range_of_both(self, other)
        return low > high or (low == high and not (is_low_in and is_high_in))

    def holds_for(self, categories: Iterable[Any]) -> Iterable[bool]:
        """Yield for each category of the column whether the condition holds."""
        if self.operator == "~":
            return finds(self.value, map(self.column.as_text, categories))
        if self.operator == "!~":
            return (not found for found in finds(self.value, map(self.column.as_text, categories)))
        if self.operator in ("==", "!="):
            return (self._equals(one) == (self.operator == "==") for one in categories)
        if self.compares_order_of_texts:
            bound = natural_sort_key(self.value)
            compared = _ORDERS[self.operator]
            return (
                compared(natural_sort_key(self.column.as_text(one)), bound) for one in categories
            )
        # A mixed column may have texts, such as "ADD", among its numbers. A text is neither below
        # nor above a number.
        return (
            not isinstance(one, str) and bool(self.holds_for_numbers(_rounded(one)))
            for one in categories
        )

    def matches_none(self, categories: Iterable[Any]) -> bool:
        """Return whether no category matches the text or pattern, ignoring a negation."""
        positive = self._replace(operator=_POSITIVE.get(self.operator, self.operator))
        with suppress(PatternError):  # the pattern may be too slow, and then there is no message
            return not any(positive.holds_for(categories))
        return False

    def _equals(self, category: Any) -> bool:
        """Whether a category equals `value`, as a text or number. Blanks in shapes are ignored."""
        if isinstance(category, str):
            return category == self.value
        if isinstance(category, (int, float)) and not isinstance(category, bool):
            return _rounded(category) == self.bound
        return self.column.as_text(category).replace(" ", "") == self.value.replace(" ", "")

    def holds_for_numbers(self, numbers: Any) -> Any:
        """Return whether the condition holds for a number, or for each number of an array."""
        return _COMPARISONS[self.operator](numbers, self.bound, _tolerance(self.column))


def _rounded(number: float) -> float:
    """Return a number as a float, because `Condition.bound` is also rounded to a float.

    2^63 - 1, the usual end of slices, would otherwise be below a bound with the same digits.
    """
    try:
        return float(number)
    except OverflowError:
        return inf if number > 0 else -inf


@contextmanager
def _error_position(index: int, text: str) -> Iterator[None]:
    """Add the condition's text and the position `index` to errors of the `with` block."""
    try:
        yield
    except QueryError as error:
        raise QueryError(f"'{text}', at character {index + 1}: {error}") from None


def _tolerance(column: Column) -> float:
    return TIME_TOLERANCE_S if column.measured else 0.0


def _parse_bound(column: Column, operator: str, value: str) -> float:
    """Return `Condition.bound`. Raises `QueryError` if `value` does not fit the column."""
    if operator in PATTERN_OPERATORS:
        compile_pattern(value)
        return nan
    if column.kind in ("text", "truth"):
        return nan
    try:
        bound = parse_quantity(value, "" if column.shown_as == "count" else column.unit)
    except QuantityError:
        if column.kind == "mixed" and operator in _TEXT_OPERATORS:
            return nan
        raise
    # A user who writes `share > 5` almost certainly means 5 %. As 500 %, it would match nothing.
    if column.name == _SHARE and bound > 1 and not value.endswith("%"):
        raise QueryError(f"{value} is {percent(bound)}, and no share is above 100%: write {value}%")
    if column.unit == "1" and column.shown_as in ("digits", "decimals") and value.endswith("%"):
        raise QueryError(advice_on_factor(column.name, operator, bound))
    return bound


def _range_of_both(one: Condition, other: Condition) -> tuple[_Limit, _Limit]:
    """Return the lower and the upper limit of the numbers that meet both conditions.

    `!=` does not limit the range.
    """
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
    # Of two limits with the same number, the exclusive limit (False) is stricter. `min` prefers it,
    # because False sorts before True. `max` needs a key to prefer it.
    return max(lower, key=lambda limit: (limit[0], not limit[1])), min(upper)


def parse_conditions(field: str, texts: Iterable[str], kind: Kind) -> tuple[Condition, ...]:
    """Parse conditions that must all hold for rows of this kind.

    Raises `QueryError`, which begins with the name of `field`, the parameter with the conditions.
    """
    try:
        conditions = tuple(Condition.parse(text, kind) for text in texts)
        check_contradictions(conditions)
    except QueryError as error:
        raise QueryError(f"{field}: {error}") from None
    return conditions


def check_contradictions(conditions: Sequence[Condition]) -> None:
    """Raise `QueryError` if two of the conditions can never hold together."""
    for one, other in combinations(conditions, 2):
        if one.column.name == other.column.name and one.excludes(other):
            raise QueryError(
                f"'{one.text}' and '{other.text}' contradict each other, but all conditions "
                "must hold"
            )


def _check_column(column: Column, kind: Kind) -> None:
    kind.check_needs(column)
    if not kind.has(column):
        advice = "; filter groups with --having" if kind.keys is None else ""
        raise QueryError(f"{kind.noun} have no {column.name}{advice}")
    if column.running:
        raise QueryError(f"{column.name} depends on the rows shown, and cannot filter them")


def _has_ordered_texts(column: Column) -> bool:
    return column.kind == "text" and column.has_natural_order


def _operators_of(column: Column) -> tuple[str, ...]:
    if column.kind == "number":
        return tuple(_COMPARISONS)
    if column.kind != "mixed" and not _has_ordered_texts(column):
        return _TEXT_OPERATORS
    return tuple(dict.fromkeys((*_COMPARISONS, *_TEXT_OPERATORS)))


def _check_operator(column: Column, operator: str, value: str) -> None:
    operators = _operators_of(column)
    if operator in operators:
        return
    if operator in _COMPARISONS:
        raise QueryError(f"{operator} is for numbers; {column.name} is a text")
    if operator in _TEXT_OPERATORS:
        raise QueryError(f"{operator} is for texts; {column.name} is a number")
    advice = advice_on_operator(column.name, operator, value, operators)
    known = f"{column.name} has {' '.join(operators)}"
    raise QueryError(f"there is no operator {operator!r}; {advice or known}")


def _missing_value(column: Column, operator: str) -> str:
    """Return the message about a condition that ends after its operator."""
    name = column.export_name if column.is_label else column.name
    text = "v2" if column.is_label else "conv"
    example = EXAMPLES[column.unit] if column.kind == "number" else text
    is_whole_text = column.kind != "number" and operator in PATTERN_OF
    empty = '; "" is an empty text' if is_whole_text else ""
    return f"a value is missing after {operator}, such as '{name} {operator} {example}'{empty}"


def _check_single_condition(
    column: Column, operator: str, value: str, catalog: Mapping[str, Column]
) -> None:
    """Raise `QueryError` if `value` contains a second condition, as in `1ms and share > 5%`."""
    may_be_any_text = operator in PATTERN_OPERATORS or value[:1] in ("'", '"')
    if may_be_any_text or len(value) > LONGEST_ADVISED:
        return
    match = re.search(_FURTHER_CONDITION, value, re.IGNORECASE | re.DOTALL)
    if match is None or match["name"] not in catalog:
        return
    if match["separator"].strip().lower() in ("or", "||", "|"):
        raise QueryError(advice_on_or(column.name, is_text=column.kind != "number"))
    raise QueryError(f"there is another condition; {REPEAT}: all must hold")


def _unquoted(value: str) -> str:
    """Return `value` without quotes around it. Users write quotes to keep blanks at its ends."""
    if value[:1] not in ("'", '"'):
        return value
    if len(value) < 2 or value[-1] != value[0]:
        raise QueryError(
            f"the quote {value[0]} has no end; write a literal quote in quotes of the other kind"
        )
    return value[1:-1]

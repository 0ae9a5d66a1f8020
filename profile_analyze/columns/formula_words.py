"""The formulas of columns in words: `{time} / {total_time}` becomes `time / total time`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from profile_analyze.columns.aggregates import COUNT, DEFAULT_AGGREGATE, find_aggregate
from profile_analyze.columns.catalog import find_column
from profile_analyze.columns.column import FORMULA, SAME, AggregateOf, RatioOfSums, RunningSum
from profile_analyze.errors import UnknownColumnError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from profile_analyze.columns.column import Column

_PLACEHOLDER: Final = r"\{([a-z][\w.]*)\}"


class Formula(NamedTuple):
    """How the values of a column are computed, or where they are from."""

    template: str
    """A formula with placeholders, such as `{time} / {calls}`, or words without placeholders."""
    remarks: tuple[str, ...] = ()
    """Remarks to print after the formula, which may have placeholders, too."""

    @classmethod
    def of(cls, column: Column, keys: tuple[str, ...] | None, aggregate: str) -> Formula:
        """Return the formula of a column for operators (`keys` is None) or for groups."""
        rule = column.of_groups
        if keys is None or (rule == SAME and column.name not in keys):
            return cls._parse(column.worked)
        if column.name in keys or rule is None:
            return cls("the value that all operators of the group share")
        if rule == FORMULA:
            return cls._parse(column.worked_of_groups)
        found = find_aggregate(aggregate)
        if isinstance(rule, RatioOfSums) and found is not None and found.adds_up:
            above, below = rule
            return cls(
                f"{{{above}.sum}} / {{{below}.sum}}",
                (f"over the operators that have both ({{{column.name}.count}})",),
            )
        of, how = rule if isinstance(rule, AggregateOf) else (column.name, aggregate)
        return cls(f"{how} of {of} in the group")

    @classmethod
    def _parse(cls, worked: str) -> Formula:
        template, *remarks = worked.split("; ")
        return cls(template, tuple(remarks))

    @property
    def names(self) -> list[str]:
        """The names of columns and figures in the formula, each once. Remarks are ignored."""
        return names_in(self.template)

    @property
    def columns(self) -> list[Column]:
        """The columns that the formula and its remarks name, each once."""
        names = names_in("".join((self.template, *self.remarks)))
        return [find_column(name) for name in names if is_column(name)]


def names_in(template: str) -> list[str]:
    """Return the names of columns and figures in a formula or a remark, each once."""
    return list(dict.fromkeys(re.findall(_PLACEHOLDER, template)))


def in_words(template: str) -> str:
    """Return the template in words: `{time.sum} / {total_time}` is `sum of time / total time`."""
    return filled(template, _words)


def filled(template: str, text_of: Callable[[str], str]) -> str:
    """Return the template with each placeholder `{name}` replaced by `text_of(name)`."""
    return re.sub(_PLACEHOLDER, lambda match: text_of(match[1]), template)


def is_column(name: str) -> bool:
    """Whether a name in a formula belongs to a column, not to a figure."""
    try:
        find_column(name)
    except UnknownColumnError:
        return False
    return True


def _words(name: str) -> str:
    if not is_column(name):  # a figure
        return name.replace("_", " ")
    column, _, aggregate = name.partition(".")
    return f"{aggregate} of {column}" if aggregate else column


def ingredients(
    column: Column, keys: tuple[str, ...] | None = None, aggregate: str = DEFAULT_AGGREGATE
) -> Iterator[Column]:
    """Yield `column` and all columns that its formula depends on, directly or indirectly.

    Each column comes once.
    """
    waiting, seen = [column], set()
    while waiting:
        one = waiting.pop(0)
        if one.name not in seen:
            seen.add(one.name)
            yield one
            formula = Formula.of(one, keys, aggregate)
            named = [find_column(name) for name in formula.names if is_column(name)]
            waiting = named + waiting


def needs_times(column: Column) -> bool:
    """Return whether all values of a column are N/A without times.

    The result is false for a count of values, which is 0 without times. It is also false for a text
    that may be known without times, such as the verdict `added`, although its explanation has
    numbers that are N/A.
    """
    rule = column.running or column.of_groups
    if isinstance(rule, (AggregateOf, RunningSum)):
        is_count = isinstance(rule, AggregateOf) and rule.aggregate == COUNT
        return not is_count and needs_times(find_column(rule.column))
    used = ingredients(column) if column.kind == "number" else [column]
    return any(one.measured or one.needs_times for one in used)

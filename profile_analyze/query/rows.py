"""The rows of a question while it is answered: all operators, then groups, then what is shown.

Each is a view that works a column out when it is first asked for, by the register's formula.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np

from profile_analyze.model.coded import Coded
from profile_analyze.model.columns import AGGREGATED, AggregateOf, RatioOfSums
from profile_analyze.model.numbers import ratio
from profile_analyze.query.aggregates import COUNT, aggregated, find_aggregate
from profile_analyze.query.catalog import find_column

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from profile_analyze.analysis.peaks import Peaks
    from profile_analyze.model.columns import Column, Values
    from profile_analyze.model.profile import EndKey, Profile, Side
    from profile_analyze.query.aggregates import Aggregate
    from profile_analyze.query.grouping import Grouping
    from profile_analyze.query.question import Query


class _View(ABC):
    """Rows whose columns are worked out when they are first asked for."""

    def __init__(
        self, profile: Profile, side: Side, end_key: EndKey, peaks: Peaks | None, total_s: float
    ) -> None:
        self.profile = profile
        self.side = side
        self.end_key = end_key
        self.peaks = peaks
        self.total_s = total_s
        self._columns: dict[str, Values] = {}

    @property
    def asked(self) -> tuple[Profile, Side, EndKey, Peaks | None, float]:
        """What all views of one question have in common."""
        return self.profile, self.side, self.end_key, self.peaks, self.total_s

    def __getitem__(self, column: str) -> Any:
        if column not in self._columns:
            self._columns[column] = self._worked_out(find_column(column))
        return self._columns[column]

    @abstractmethod
    def _worked_out(self, column: Column) -> Values:
        """The values of a column that these rows have."""


class OperatorRows(_View):
    """All operators of a profile, seen with one side's times."""

    def __init__(self, profile: Profile, query: Query) -> None:
        total_s = profile.total_s(query.side, query.end_key)
        super().__init__(profile, query.side, query.end_key, query.peaks, total_s)
        self.sizes = np.ones(len(profile), np.int64)

    def _worked_out(self, column: Column) -> Values:
        assert column.of_operators is not None, f"operators have no {column.name}"
        return column.of_operators(self)


class GroupRows(_View):
    """Groups of operators, each a row."""

    def __init__(self, operators: OperatorRows, grouping: Grouping, query: Query) -> None:
        super().__init__(*operators.asked)
        self.sizes = grouping.sizes
        self._operators = operators
        self._grouping = grouping
        self._keys = query.by
        self._aggregate = query.aggregate

    def _worked_out(self, column: Column) -> Values:
        if column.name in self._keys:
            return self._grouping.label(self._operators[column.name])
        if isinstance(column.of_groups, AggregateOf):
            base, aggregate = column.of_groups
            values = self._aggregated(find_column(base), aggregate)
            return np.asarray(values, np.int64) if aggregate == COUNT else values
        return self._aggregated(column, self._aggregate)

    def _aggregated(self, column: Column, aggregate: str) -> Values:
        """The value of `column` when its operators' values become one by `aggregate`."""
        rule = column.of_groups
        if rule == AGGREGATED:
            return self._over_operators(aggregate, self._operators[column.name])
        if isinstance(rule, RatioOfSums):
            return self._ratio(column.name, rule, aggregate)
        assert callable(rule), f"groups have no {column.name}"
        return rule(self)

    def _over_operators(self, aggregate: str, values: NDArray[np.float64]) -> NDArray[np.float64]:
        return aggregated(_known_aggregate(aggregate), self._grouping.members(values))

    def _ratio(self, column: str, rule: RatioOfSums, aggregate: str) -> NDArray[np.float64]:
        """See `RatioOfSums`; N/A where no operator of the group has a ratio of its own."""
        own = self._operators[column]
        if not _known_aggregate(aggregate).adds_up:
            return self._over_operators(aggregate, own)
        numerator, denominator = self._operators[rule.numerator], self._operators[rule.denominator]
        both = ~np.isnan(numerator + denominator)
        sums = [
            self._over_operators("sum", np.where(both, values, np.nan))
            for values in (numerator, denominator)
        ]
        has_own = self._over_operators("max", np.where(np.isnan(own), np.nan, 1.0))
        return ratio(sums[0], sums[1]) * has_own


def _known_aggregate(name: str) -> Aggregate:
    how = find_aggregate(name)
    assert how is not None, f"there is no aggregate {name}"
    return how


class ShownRows(_View):
    """The rows that are left at the end, in their order."""

    def __init__(self, rows: OperatorRows | GroupRows, chosen: NDArray[np.int64]) -> None:
        super().__init__(*rows.asked)
        self.sizes = rows.sizes[chosen]
        self._rows = rows
        self._chosen = chosen

    def _worked_out(self, column: Column) -> Values:
        if column.ranked:
            assert column.of_operators is not None, f"{column.name} has no formula"
            return column.of_operators(self)
        values = self._rows[column.name]
        return values.take(self._chosen) if isinstance(values, Coded) else values[self._chosen]

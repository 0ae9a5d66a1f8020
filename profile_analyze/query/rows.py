"""The rows of a question while it is answered: all operators, then groups, then what is shown.

Each is a view that works a column out when it is first asked for, by the register's formula.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from profile_analyze.model.coded import Coded
from profile_analyze.model.columns import AGGREGATED, GROUP_KEY, RatioOfSums, find_column
from profile_analyze.model.numbers import ratio
from profile_analyze.query.aggregates import AGGREGATES, aggregated

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from profile_analyze.model.columns import Column, Values
    from profile_analyze.model.profile import EndKey, Profile, Side
    from profile_analyze.query.aggregates import Aggregate
    from profile_analyze.query.grouping import Grouping


class OperatorRows:
    """All operators of a profile, seen with one side's times."""

    def __init__(self, profile: Profile, side: Side, end_key: EndKey) -> None:
        self.profile = profile
        self.side = side
        self.end_key = end_key
        self.total_s = profile.total_s(side, end_key)
        self._columns: dict[str, Values] = {}

    @property
    def sizes(self) -> NDArray[np.int64]:
        """One operator a row."""
        return np.ones(len(self.profile), np.int64)

    def __getitem__(self, column: str) -> Any:
        if column not in self._columns:
            formula = find_column(column).of_operators
            assert formula is not None, f"operators have no {column}"
            self._columns[column] = formula(self)
        return self._columns[column]


class GroupRows:
    """Groups of operators, each a row."""

    def __init__(self, operators: OperatorRows, grouping: Grouping, aggregate: str) -> None:
        self.profile = operators.profile
        self.side = operators.side
        self.end_key = operators.end_key
        self.total_s = operators.total_s
        self.sizes = grouping.sizes
        self._operators = operators
        self._grouping = grouping
        self._aggregate = AGGREGATES[aggregate]
        self._columns: dict[str, Values] = {}

    def __getitem__(self, column: str) -> Any:
        if column not in self._columns:
            self._columns[column] = self._worked_out(find_column(column))
        return self._columns[column]

    def _worked_out(self, column: Column) -> Values:
        rule = column.of_groups
        assert rule is not None, f"groups have no {column.name}"
        if rule == GROUP_KEY:
            return self._grouping.label(column.name, self._operators[column.name])
        if rule == AGGREGATED:
            return self._over_operators(self._aggregate, self._operators[column.name])
        if isinstance(rule, RatioOfSums):
            return self._ratio(column.name, rule)
        return rule(self)

    def _over_operators(
        self, aggregate: Aggregate, values: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        return aggregated(aggregate, self._grouping.members(values))

    def _ratio(self, column: str, rule: RatioOfSums) -> NDArray[np.float64]:
        """See `RatioOfSums`; N/A where no operator of the group has a ratio of its own."""
        own = self._operators[column]
        if not self._aggregate.adds_up:
            return self._over_operators(self._aggregate, own)
        numerator, denominator = self._operators[rule.numerator], self._operators[rule.denominator]
        both = ~np.isnan(numerator + denominator)
        sums = [
            self._over_operators(AGGREGATES["sum"], np.where(both, values, np.nan))
            for values in (numerator, denominator)
        ]
        has_own = self._over_operators(AGGREGATES["max"], np.where(np.isnan(own), np.nan, 1.0))
        return ratio(sums[0], sums[1]) * has_own


class ShownRows:
    """The rows that are left at the end, in their order."""

    def __init__(self, rows: OperatorRows | GroupRows, chosen: NDArray[np.int64]) -> None:
        self.profile = rows.profile
        self.side = rows.side
        self.end_key = rows.end_key
        self.total_s = rows.total_s
        self.sizes = rows.sizes[chosen]
        self._rows = rows
        self._chosen = chosen
        self._columns: dict[str, Values] = {}

    def __getitem__(self, column: str) -> Any:
        if column not in self._columns:
            self._columns[column] = self._worked_out(find_column(column))
        return self._columns[column]

    def _worked_out(self, column: Column) -> Values:
        if column.ranked:
            assert column.of_operators is not None, f"{column.name} has no formula"
            return column.of_operators(self)
        values = self._rows[column.name]
        return values.take(self._chosen) if isinstance(values, Coded) else values[self._chosen]

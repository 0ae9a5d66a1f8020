"""The rows of a question while it is answered: all operators, then groups, then what is shown.

Each is a view that computes a column on first use, by the register's formula.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

import numpy as np

from profile_analyze.model.categorical import Categorical
from profile_analyze.model.columns import (
    AGGREGATED,
    FORMULA,
    SAME,
    AggregateOf,
    Parameter,
    PartOf,
    RatioOfSums,
)
from profile_analyze.model.iterations import by_unit
from profile_analyze.model.measures import MEASURES
from profile_analyze.model.measuring import side_of
from profile_analyze.model.numbers import over_runs, ratio, running_total
from profile_analyze.model.profile import Profile
from profile_analyze.query.aggregates import COUNT, find_aggregate
from profile_analyze.query.catalog import find_column
from profile_analyze.query.formulas import formulas_of
from profile_analyze.query.group_values import aggregated
from profile_analyze.query.patterns import parts

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    from numpy.typing import NDArray

    from profile_analyze.analysis.peaks import Peaks
    from profile_analyze.model.columns import Column, RunningSum
    from profile_analyze.model.comparison import Comparison
    from profile_analyze.model.rows import Values
    from profile_analyze.query.aggregates import Aggregate
    from profile_analyze.query.grouping import Grouping
    from profile_analyze.query.question import Query

    Sides: TypeAlias = tuple[NDArray[np.bool_], NDArray[np.bool_]]

T = TypeVar("T")


class Asked(NamedTuple):
    """What all views of one question have in common: see `model.rows.Rows`."""

    profile: Profile
    comparison: Comparison | None
    query: Query
    totals_s: NDArray[np.float64]


class _View(ABC):
    """Rows whose columns are computed on first use."""

    def __init__(self, asked: Asked, sizes: NDArray[np.int64]) -> None:
        self.asked = asked
        self.profile = asked.profile
        self.comparison = asked.comparison
        self.measure = MEASURES[asked.query.measure]
        self.peaks: Peaks | None = asked.query.peaks
        self.threshold = asked.query.threshold
        self.totals_s = asked.totals_s
        self.total_s = self.over_runs(asked.totals_s)
        self.sizes = sizes
        self._columns: dict[str, Values] = {}
        self._per_run: dict[str, NDArray[np.float64]] = {}
        self._once: dict[Any, Any] = {}

    def over_runs(self, values: NDArray[np.float64]) -> float:
        """The statistic that is asked for, of `values` of shape (runs,)."""
        return float(over_runs(values[np.newaxis], self.asked.query.run_statistic)[0])

    def __getitem__(self, column: str) -> Any:
        if column not in self._columns:
            found = find_column(column)
            self._columns[column] = (
                over_runs(self._to_show(column), self.asked.query.run_statistic)
                if found.has_runs
                else self._worked_out(found)
            )
        return self._columns[column]

    def _to_show(self, column: str) -> NDArray[np.float64]:
        """The values that the statistic is of: in a comparison, those that its verdicts count."""
        return self.per_run(column) if self.comparison is None else self.per_unit(column)

    def per_run(self, column: str) -> NDArray[np.float64]:
        """See `Rows.per_run`."""
        if column not in self._per_run:
            self._per_run[column] = self._worked_out(find_column(column))
        return self._per_run[column]

    def per_unit(self, column: str) -> NDArray[np.float64]:
        """See `Rows.per_unit`."""
        of_base = find_column(column).needs_base
        asked = self.comparison.base if of_base and self.comparison else self.profile
        return by_unit(self.per_run(column), asked.runs, self.asked.query.unit)

    def once(self, work: Callable[[Any], T]) -> T:
        """See `Rows.once`."""
        if work not in self._once:
            self._once[work] = work(self)
        return cast("T", self._once[work])

    @property
    @abstractmethod
    def on_sides(self) -> Sides:
        """See `Rows.on_sides`."""

    @abstractmethod
    def _worked_out(self, column: Column) -> Any:
        """The values of a column that these rows have; in each run if it `has_runs`."""


class OperatorRows(_View):
    """All operators of a profile or of a comparison, seen with one side's times."""

    def __init__(self, source: Profile | Comparison, query: Query) -> None:
        comparison = None if isinstance(source, Profile) else source
        profile = source if isinstance(source, Profile) else source.profile
        totals_s = profile.totals_s(query.measure)
        super().__init__(
            Asked(profile, comparison, query, totals_s), np.ones(len(profile), np.int64)
        )

    @property
    def on_sides(self) -> Sides:
        """See `Rows.on_sides`."""
        assert self.comparison is not None, "there is no other side"
        return self.comparison.on_sides()

    @property
    def recorded(self) -> NDArray[np.bool_]:
        """Shape (operators,): whether there is an entry on the side that is asked about."""
        recorded = self.profile.recorded(side_of(self.profile, self.measure))
        if self.comparison is None:
            return recorded
        base = self.comparison.base
        either: NDArray[np.bool_] = recorded | base.recorded(side_of(base, self.measure))
        return either

    def _worked_out(self, column: Column) -> Any:
        rule = column.of_operators
        if isinstance(rule, Parameter):
            return self.profile.operators.categorical("parameters").mapped(
                lambda parameters: dict(parameters).get(rule.name)
            )
        if isinstance(rule, PartOf):
            return self._parts(rule)
        assert rule == FORMULA, f"operators have no {column.name}"
        formulas = formulas_of(column)
        if column.of_groups == SAME:
            return formulas.of_rows[column.name](self)
        return formulas.of_operators[column.name](self)

    def ratio(self, numerator: str, denominator: str) -> NDArray[np.float64]:
        """See `model.rows.OperatorRows.ratio`."""
        above, below = self.per_run(numerator), self.per_run(denominator)
        is_known = ~np.isnan(above + below)
        statistic = self.asked.query.run_statistic
        sums = (over_runs(np.where(is_known, one, np.nan), statistic) for one in (above, below))
        return ratio(*sums)

    def _parts(self, rule: PartOf) -> Categorical[str]:
        values: Categorical[Any] = self[rule.column]
        as_text = find_column(rule.column).as_text
        found = parts(rule.pattern, map(as_text, values.categories))
        return values.mapped(lambda _: next(found))


class GroupRows(_View):
    """Groups of operators, each a row."""

    def __init__(self, operators: OperatorRows, grouping: Grouping, query: Query) -> None:
        super().__init__(operators.asked, grouping.sizes)
        self._operators = operators
        self._grouping = grouping
        self._keys = query.by
        self._aggregate = query.aggregate

    @property
    def on_sides(self) -> Sides:
        """See `Rows.on_sides`. A side has a group if it has one of its operators."""
        ours, theirs = (
            self._over_operators("max", on_side.astype(np.float64)) > 0
            for on_side in self._operators.on_sides
        )
        return ours, theirs

    def _worked_out(self, column: Column) -> Any:
        if column.name in self._keys:
            return self._grouping.label(self._operators[column.name])
        if isinstance(column.of_groups, AggregateOf):
            base, aggregate = column.of_groups
            values = self._aggregated(find_column(base), aggregate)
            return np.asarray(values, np.int64) if aggregate == COUNT else values
        return self._aggregated(column, self._aggregate)

    def _aggregated(self, column: Column, aggregate: str) -> Any:
        """The value of `column` when its operators' values become one by `aggregate`."""
        rule = column.of_groups
        if rule == AGGREGATED:
            if column.timed and aggregate != COUNT:
                return self._in_each_run(aggregate, self._operators.per_run(column.name))
            return self._over_operators(aggregate, self._operators[column.name])
        if isinstance(rule, RatioOfSums):
            return self._ratio(column.name, rule, aggregate)
        formulas = formulas_of(column)
        if rule == SAME:
            return formulas.of_rows[column.name](self)
        assert rule == FORMULA, f"groups have no {column.name}"
        return formulas.of_groups[column.name](self)

    def _in_each_run(self, aggregate: str, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Shape (groups, runs), of `values` of shape (operators, runs)."""
        members = self._grouping.members_in_each_run(values)
        found = aggregated(_known_aggregate(aggregate), members)
        return found.reshape(values.shape[1], len(self.sizes)).T

    def _over_operators(self, aggregate: str, values: NDArray[np.float64]) -> NDArray[np.float64]:
        return aggregated(_known_aggregate(aggregate), self._grouping.members(values))

    def _ratio(self, column: str, rule: RatioOfSums, aggregate: str) -> NDArray[np.float64]:
        """See `RatioOfSums`; N/A where no operator of the group has a ratio of its own."""
        own = self._operators[column]
        if not _known_aggregate(aggregate).adds_up:
            return self._over_operators(aggregate, own)
        above, below = (self._values_in_each_run(name) for name in rule)
        both = ~np.isnan(above + below)  # of operators with both values in a run
        sums = (
            self._in_each_run("sum", np.where(both, values, np.nan)) for values in (above, below)
        )
        statistic = self.asked.query.run_statistic
        numerator, denominator = (over_runs(values, statistic) for values in sums)
        has_own = self._over_operators("max", np.where(np.isnan(own), np.nan, 1.0))
        return ratio(numerator, denominator) * has_own

    def _values_in_each_run(self, column: str) -> NDArray[np.float64]:
        """Shape (operators, runs), or (operators, 1) of what is the same in each run."""
        if find_column(column).timed:
            return self._operators.per_run(column)
        values: NDArray[np.float64] = self._operators[column][:, np.newaxis]
        return values


def _known_aggregate(name: str) -> Aggregate:
    how = find_aggregate(name)
    assert how is not None, f"there is no aggregate {name}"
    return how


class ShownRows(_View):
    """The rows that are shown, in their order."""

    def __init__(self, rows: OperatorRows | GroupRows, chosen: NDArray[np.int64]) -> None:
        super().__init__(rows.asked, rows.sizes[chosen])
        self._rows = rows
        self._chosen = chosen

    @property
    def on_sides(self) -> Sides:
        """See `Rows.on_sides`."""
        ours, theirs = self._rows.on_sides
        return ours[self._chosen], theirs[self._chosen]

    def _worked_out(self, column: Column) -> Any:
        if column.running:
            return self._running(column.running)
        if column.timed:
            return self._rows.per_run(column.name)[self._chosen]
        values = self._rows[column.name]
        return (
            values.take(self._chosen) if isinstance(values, Categorical) else values[self._chosen]
        )

    def _running(self, rule: RunningSum) -> NDArray[np.float64]:
        """See `RunningSum`: shape (rows, runs)."""
        sums = running_total(self.per_run(rule.column))
        return ratio(sums, self.totals_s) if rule.is_share else sums

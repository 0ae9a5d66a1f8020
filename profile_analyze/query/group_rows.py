"""Groups of operators as the rows of a question. `Rows` is `columns.rows.Rows`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from profile_analyze.columns.aggregates import COUNT, known_aggregate
from profile_analyze.columns.column import AGGREGATED, FORMULA, SAME, AggregateOf, RatioOfSums
from profile_analyze.large_arrays import run_by_run
from profile_analyze.model.numbers import over_runs, ratio, totals
from profile_analyze.query.group_values import aggregated, aggregated_in_each_run
from profile_analyze.query.rows import MOST_UNKNOWN, OperatorRows, RowView, formulas_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from profile_analyze.columns.column import Column
    from profile_analyze.query.grouping import Grouping
    from profile_analyze.query.rows import Sides


class GroupRows(RowView):
    """Groups of operators."""

    def __init__(self, operators: OperatorRows, grouping: Grouping) -> None:
        # All members of a group have the same labels, so the first member stands for the group.
        super().__init__(operators.shared, grouping.sizes, grouping.of_first(operators.part))
        self.operators = operators
        self._grouping = grouping

    @property
    def on_sides(self) -> Sides[np.bool_]:
        """See `Rows.on_sides`. A side has a group if it has any operator of the group."""
        ours, theirs = (
            self._over_operators("max", on_side.astype(np.float64)) > 0
            for on_side in self.operators.on_sides
        )
        return ours, theirs

    @property
    def row_of_operator(self) -> NDArray[np.int64]:
        """See `Rows.row_of_operator`."""
        rows = np.full(len(self.operators.sizes), -1)
        rows[self._grouping.operators] = np.repeat(np.arange(len(self.sizes)), self.sizes)
        return rows

    def work_on_sides(self, name: str) -> Sides[np.float64]:
        """See `Rows.work_on_sides`."""
        unknown = self.operators.unknown_work(name)
        of_both_sides_s = totals(np.stack([self.operators["time"], self.operators["base"]]))
        whole_s, left_out_s = (
            self._over_operators("sum", times_s)
            for times_s in (of_both_sides_s, np.where(unknown, of_both_sides_s, 0.0))
        )
        # A model has no times, so one operator of unknown work makes the work of its group N/A.
        any_unknown = self._over_operators("max", unknown.astype(np.float64)) > 0
        is_known = ~any_unknown | (left_out_s <= MOST_UNKNOWN * whole_s)
        ours, base = (self._known_work(one, unknown) for one in (name, f"base_{name}"))
        return np.where(is_known, ours, np.nan), np.where(is_known, base, np.nan)

    def _known_work(self, column: str, unknown: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Return the work of each group without the `unknown` operators, shape (groups,)."""
        values = np.where(unknown[:, np.newaxis], np.nan, self.operators.per_run(column))
        in_runs = self._aggregated_per_run(self.query.aggregate, values)
        return over_runs(self._by_unit(column, in_runs), self.query.run_statistic)

    @property
    def as_measured(self) -> GroupRows:
        """See `Rows.as_measured`."""
        measured = self.operators.as_measured
        return self if measured is self.operators else GroupRows(measured, self._grouping)

    def of_base(self) -> GroupRows:
        """Return the same groups with the times of the baseline."""
        return GroupRows(self.operators.of_base(), self._grouping)

    def _compute(self, column: Column) -> Any:
        if column.name in self.query.by:
            return self._grouping.label(self.operators[column.name])
        if isinstance(column.of_groups, AggregateOf):
            base, aggregate = column.of_groups
            values = self._aggregated(self.kind.find(base), aggregate)
            # Aggregates are floats, but every output format shows a count as an integer.
            return np.asarray(values, np.int64) if aggregate == COUNT else values
        return self._aggregated(column, self.query.aggregate)

    def _aggregated(self, column: Column, aggregate: str) -> Any:
        """Return the groups' values of `column`. Columns with a formula ignore `aggregate`."""
        rule = column.of_groups
        if rule == AGGREGATED:
            if column.timed and aggregate != COUNT:
                return self._aggregated_per_run(aggregate, self.operators.per_run(column.name))
            return self._over_operators(aggregate, self.operators[column.name])
        if isinstance(rule, RatioOfSums):
            return self._ratio(column.name, rule, aggregate)
        formulas = formulas_of(column)
        if rule == SAME:
            return formulas.of_rows[column.name](self)
        assert rule == FORMULA, f"groups have no {column.name}"
        return formulas.of_groups[column.name](self)

    def _aggregated_per_run(
        self,
        aggregate: str,
        values: NDArray[np.float64],
        *only_with: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        """Aggregate `values`, shape (operators, runs), to shape (groups, runs).

        `only_with` are arrays of the same shape. Values for which one of them is N/A are left out.
        """
        how = known_aggregate(aggregate)

        def of_groups(
            values: NDArray[np.float64], *only_with: NDArray[np.float64]
        ) -> NDArray[np.float64]:
            for other in only_with:
                values = np.where(np.isnan(other), np.nan, values)
            by_group = values[self._grouping.operators]
            sizes = self._grouping.sizes
            return aggregated_in_each_run(how, by_group, sizes, is_exact=self._is_joined)

        return run_by_run(of_groups, values, *only_with)

    def _over_operators(self, aggregate: str, values: NDArray[np.float64]) -> NDArray[np.float64]:
        members = self._grouping.members(values)
        return aggregated(known_aggregate(aggregate), members, is_exact=self._is_joined)

    @property
    def _is_joined(self) -> bool:
        """Whether the order of the operators may depend on the order of files."""
        return len(self.profile.processes) > 1

    def _ratio(self, column: str, rule: RatioOfSums, aggregate: str) -> NDArray[np.float64]:
        """Return the ratios of groups; N/A if no operator of the group has a ratio."""
        own_ratios = self.operators[column]
        if not known_aggregate(aggregate).adds_up:
            return self._over_operators(aggregate, own_ratios)
        numerators, denominators = self.sums_of_ratio(rule)
        one_or_nan = self._over_operators("max", np.where(np.isnan(own_ratios), np.nan, 1.0))
        return ratio(numerators, denominators) * one_or_nan

    def sums_of_ratio(self, rule: RatioOfSums) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return each group's sum of numerators and sum of denominators, shape (groups,) each."""
        above, below = np.broadcast_arrays(*map(self.operators.values_in_runs, rule))
        # An operator with only one of the two values would distort the ratio of the group.
        numerators, denominators = (
            over_runs(self._aggregated_per_run("sum", values, other), self.query.run_statistic)
            for values, other in ((above, below), (below, above))
        )
        return numerators, denominators

    def total_of(self, column: str) -> NDArray[np.float64]:
        """See `Rows.total_of`."""
        return self.operators.total_of(column)

"""The rows of a question before its filters: all operators, or all groups.

Each class computes a column on first use, by the rule in the column's declaration. In docstrings,
`Rows` is `columns.rows.Rows`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar, cast

import numpy as np

from profile_analyze.columns import formulas as column_formulas
from profile_analyze.columns.column import (
    FORMULA,
    SAME,
    FirstOf,
    LabelOf,
    Parameter,
    PartOf,
)
from profile_analyze.columns.derived_columns import derived_values
from profile_analyze.large_arrays import blocks_of_rows
from profile_analyze.model.joining.iterations import by_unit
from profile_analyze.model.joining.labels import Totals
from profile_analyze.model.measures import MEASURES
from profile_analyze.model.measuring import side_of
from profile_analyze.model.numbers import exact_total, over_runs, ratio, totals
from profile_analyze.model.profile import Profile
from profile_analyze.model.terms import HOST

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    from numpy.typing import NDArray

    from profile_analyze.columns.column import Column
    from profile_analyze.columns.rows import Formulas, Values
    from profile_analyze.comparison.comparison import Comparison
    from profile_analyze.query.question import Query
    from profile_analyze.roofline.peaks import Peaks

    Value = TypeVar("Value", bound=np.generic)
    Sides: TypeAlias = tuple[NDArray[Value], NDArray[Value]]

T = TypeVar("T")

MOST_UNKNOWN: Final = 0.05
"""The work of a group is compared if operators whose work is unknown take at most this share of the
time."""


class _Shared(NamedTuple):
    """The data that all `RowView`s of one question share."""

    profile: Profile
    comparison: Comparison | None
    query: Query
    totals: Totals


class RowView(ABC):
    """Rows with columns that are computed on first use."""

    def __init__(self, shared: _Shared, sizes: NDArray[np.int64], part: NDArray[np.int64]) -> None:
        self.shared = shared
        self.profile, self.comparison, self.query, self._totals = shared
        self.totals_s = self._totals.seconds
        self.part = part
        """Shape (rows,): see `Totals.part`."""
        self.measure = MEASURES[self.query.measure]
        self.peaks: Peaks | None = self.query.peaks
        self.threshold = self.query.threshold
        self.kind = self.query.kind
        of_parts = over_runs(
            self._in_units(self._totals.seconds_of_parts), self.query.run_statistic
        )
        self.total_s = exact_total(of_parts)
        self.sizes = sizes
        self._columns: dict[str, Values] = {}
        self._per_run: dict[str, NDArray[np.float64]] = {}
        self._once: dict[Any, Any] = {}

    def over_runs(self, values: NDArray[np.float64]) -> float:
        """Return the run statistic of `values`, shape (runs,)."""
        return float(over_runs(self._in_units(values[np.newaxis]), self.query.run_statistic)[0])

    def _in_units(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the values that run statistics combine, shape (rows, units).

        `values` has shape (rows, runs). As in verdicts, each process or iteration of a comparison
        counts as one value. Without a comparison, each run does.
        """
        if not self.query.compared:
            return values
        return by_unit(values, self.profile.runs, self.query.unit)

    def __getitem__(self, name: str) -> Any:
        if name not in self._columns:
            column = self.kind.find(name)
            if column.timed:
                # As in verdicts, each process or iteration of a comparison counts as one value.
                values = self.per_unit(name) if self.query.compared else self.per_run(name)
                self._columns[name] = over_runs(values, self.query.run_statistic)
            else:
                self._columns[name] = self._compute(column)
        return self._columns[name]

    def per_run(self, column: str) -> NDArray[np.float64]:
        """See `Rows.per_run`."""
        if column not in self._per_run:
            self._per_run[column] = self._compute(self.kind.find(column))
        return self._per_run[column]

    def per_unit(self, column: str) -> NDArray[np.float64]:
        """See `Rows.per_unit`."""
        return self._by_unit(column, self.per_run(column))

    def _by_unit(self, column: str, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return one value of a column for each process or iteration, shape (rows, units).

        `values` has the values of the column in each run, shape (rows, runs).
        """
        is_of_base = self.kind.find(column).needs_base
        profile = self.comparison.base if is_of_base and self.comparison else self.profile
        return by_unit(values, profile.runs, self.query.unit)

    def own_totals_s(self, column: str = "time") -> NDArray[np.float64]:
        """See `Rows.own_totals_s`."""
        blocks = blocks_of_rows(self.per_run(column), self.part[:, np.newaxis])
        return np.concatenate([self._own_totals_s(values, part[:, 0]) for values, part in blocks])

    def _own_totals_s(
        self, values: NDArray[np.float64], part: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        totals_s = np.where(np.isnan(values), np.nan, self._totals.seconds_of_parts[part])
        return over_runs(self._in_units(totals_s), self.query.run_statistic)

    @property
    def totals_in_runs(self) -> NDArray[np.float64]:
        """For each row, the total over operators with the same labels, shape (rows, runs)."""
        return self._totals.seconds_of_parts[self.part]

    def once(self, work: Callable[[Any], T]) -> T:
        """See `Rows.once`."""
        if work not in self._once:
            self._once[work] = work(self)
        return cast("T", self._once[work])

    @abstractmethod
    def total_of(self, column: str) -> NDArray[np.float64]:
        """See `Rows.total_of`."""

    @property
    @abstractmethod
    def on_sides(self) -> Sides[np.bool_]:
        """See `Rows.on_sides`."""

    @abstractmethod
    def _compute(self, column: Column) -> Any:
        """Return a column's values, shape (rows,), or (rows, runs) if the column is `timed`."""


def formulas_of(column: Column) -> Formulas:
    """Return the `Formulas` that contain the formula of `column`."""
    if not (column.needs_peaks or column.needs_base):
        return column_formulas.FORMULAS
    # Imported late: most questions have neither peak rates nor a baseline.
    module = "roofline" if column.needs_peaks else "comparison"
    formulas: Formulas = import_module(f"profile_analyze.{module}.formulas").FORMULAS
    return formulas


class OperatorRows(RowView):
    """All operators of a profile or of a comparison."""

    def __init__(self, source: Profile | Comparison, query: Query) -> None:
        comparison = None if isinstance(source, Profile) else source
        profile = source if isinstance(source, Profile) else source.profile
        totals = Totals.of(profile, query.measure)
        sizes = np.ones(len(profile), np.int64)
        super().__init__(_Shared(profile, comparison, query, totals), sizes, totals.part)

    @property
    def on_sides(self) -> Sides[np.bool_]:
        """See `Rows.on_sides`."""
        assert self.comparison is not None, "only a comparison has two sides"
        return self.comparison.on_sides()

    @property
    def operators(self) -> OperatorRows:
        """See `Rows.operators`."""
        return self

    @property
    def as_measured(self) -> OperatorRows:
        """See `Rows.as_measured`."""
        assert self.comparison is not None, "only a comparison is corrected for drift"
        if self.comparison.uncorrected is None:
            return self
        return OperatorRows(self.comparison.as_measured, self.query)

    @property
    def has_rates(self) -> bool:
        """See `columns.rows.OperatorRows.has_rates`."""
        is_on_host = side_of(self.profile, self.measure) == HOST
        return self.measure.is_run_time and (self.query.host_rates or not is_on_host)

    @property
    def row_of_operator(self) -> NDArray[np.int64]:
        """See `Rows.row_of_operator`."""
        return np.arange(len(self.sizes))

    def of_base(self) -> OperatorRows:
        """Return the same rows with the times of the baseline."""
        assert self.comparison is not None, "only a comparison has a baseline"
        return OperatorRows(self.comparison.base, self.query)

    def total_of(self, column: str) -> NDArray[np.float64]:
        """See `Rows.total_of`."""
        values = self.values_in_runs(column)
        if self.profile.model is not None:
            rows = slice(None) if self.comparison is None else self.on_sides[0]
            if np.isnan(values[rows]).any():  # shares of an incomplete total would be too large
                return np.full(values.shape[1], np.nan)
        return totals(values, is_joined=len(self.profile.processes) > 1)

    def values_in_runs(self, column: str) -> NDArray[np.float64]:
        """Return a column's values, shape (operators, runs), or (operators, 1) if not `timed`."""
        if self.kind.find(column).timed:
            return self.per_run(column)
        values: NDArray[np.float64] = self[column][:, np.newaxis]
        return values

    def unknown_work(self, name: str) -> NDArray[np.bool_]:
        """Return whether the work of each operator is unknown on a side that has the operator."""
        ours, base = (
            on_side & np.isnan(self[column])
            for on_side, column in zip(self.on_sides, (name, f"base_{name}"), strict=True)
        )
        either: NDArray[np.bool_] = ours | base
        return either

    def work_on_sides(self, name: str) -> Sides[np.float64]:
        """See `Rows.work_on_sides`."""
        unknown = self.unknown_work(name)
        ours, base = (np.where(unknown, np.nan, self[one]) for one in (name, f"base_{name}"))
        return ours, base

    @property
    def recorded(self) -> NDArray[np.bool_]:
        """Whether each operator has executions on the measure's side (host or device).

        In a comparison, executions in the profile or in the baseline count. Shape (operators,).
        """
        recorded = self.profile.recorded(side_of(self.profile, self.measure))
        if self.comparison is None:
            return recorded
        base = self.comparison.base
        either: NDArray[np.bool_] = recorded | base.recorded(side_of(base, self.measure))
        return either

    def _compute(self, column: Column) -> Any:
        rule = column.of_operators
        if isinstance(rule, (Parameter, PartOf, FirstOf, LabelOf)):
            return derived_values(rule, self)
        assert rule == FORMULA, f"operators have no {column.name}"
        formulas = formulas_of(column)
        if column.of_groups == SAME:
            return formulas.of_rows[column.name](self)
        return formulas.of_operators[column.name](self)

    def ratio(self, numerator: str, denominator: str) -> NDArray[np.float64]:
        """See `columns.rows.OperatorRows.ratio`."""
        both = blocks_of_rows(self.per_run(numerator), self.per_run(denominator))
        return np.concatenate([self._ratio(above, below) for above, below in both])

    def _ratio(self, above: NDArray[np.float64], below: NDArray[np.float64]) -> NDArray[np.float64]:
        # Both statistics must use the same runs, so a run that lacks one of the values is left out.
        both_known = ~np.isnan(above + below)
        numerators, denominators = (
            over_runs(np.where(both_known, values, np.nan), self.query.run_statistic)
            for values in (above, below)
        )
        return ratio(numerators, denominators)

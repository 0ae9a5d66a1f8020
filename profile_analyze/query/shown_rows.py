"""The rows of an answer: after filters, order and limit. `Rows` is `columns.rows.Rows`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from profile_analyze.model.categorical import taken
from profile_analyze.model.numbers import running_total
from profile_analyze.query.group_rows import GroupRows
from profile_analyze.query.rows import OperatorRows, RowView

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    from profile_analyze.columns.column import Column, RatioOfSums

T = TypeVar("T")


class ShownRows(RowView):
    """The rows of the answer, after filters, order and limit."""

    def __init__(self, rows: OperatorRows | GroupRows, chosen: NDArray[np.int64]) -> None:
        super().__init__(rows.shared, rows.sizes[chosen], rows.part[chosen])
        self._rows, self.chosen = rows, chosen
        """`chosen` has the index of each row among all operators, or among all groups."""

    @property
    def on_sides(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """See `Rows.on_sides`."""
        ours, theirs = self._rows.on_sides
        return ours[self.chosen], theirs[self.chosen]

    def of_base(self) -> ShownRows:
        """Return the same rows with the times of the baseline. Only for comparisons."""
        return ShownRows(self._rows.of_base(), self.chosen)

    def work_on_sides(self, name: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """See `Rows.work_on_sides`."""
        ours, base = self._rows.work_on_sides(name)
        return ours[self.chosen], base[self.chosen]

    def sums_of_ratio(self, rule: RatioOfSums) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return `GroupRows.sums_of_ratio` for the groups shown."""
        assert isinstance(self._rows, GroupRows), "operators have no sums"
        above, below = self._rows.sums_of_ratio(rule)
        return above[self.chosen], below[self.chosen]

    def of_all_rows(self, work: Callable[[Any], T]) -> T:
        """Return `work(rows)` for all operators or groups, shown or not. The result is kept."""
        return self._rows.once(work)

    def of_operators(
        self, formula: Callable[[OperatorRows], NDArray[np.float64]]
    ) -> NDArray[np.float64]:
        """Return the values of `formula` for the operators shown, shape (rows,)."""
        assert isinstance(self._rows, OperatorRows), "groups have no values of operators"
        return formula(self._rows)[self.chosen]

    def _compute(self, column: Column) -> Any:
        if column.running:
            return running_total(self[column.running.column], self.part)
        if column.timed:
            return self._rows.per_run(column.name)[self.chosen]
        return taken(self._rows[column.name], self.chosen)

    def of_all_operators(self, column: str) -> NDArray[np.float64]:
        """Return the values of a column of numbers for all operators, shown or not."""
        values: NDArray[np.float64] = self._rows.operators[column]
        return values

    def total_of(self, column: str) -> NDArray[np.float64]:
        """See `Rows.total_of`."""
        return self._rows.total_of(column)

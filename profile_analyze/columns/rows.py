"""The arguments of column formulas: the rows of one question, with the values of their columns.

- A formula for operators takes `OperatorRows`, which give access to the profile.
- A formula for groups takes `GroupRows`, which have no profile: the arrays of a profile have a row
  for each operator, not for each group.
- A formula for operators and groups takes `Rows`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy as np
    from numpy.typing import NDArray

    from profile_analyze.model.categorical import Categorical
    from profile_analyze.model.measures import Measure
    from profile_analyze.model.profile import Profile

T = TypeVar("T")

Values: TypeAlias = "NDArray[np.float64] | NDArray[np.int64] | Categorical[Any]"


class ColumnValues(Protocol):
    """Rows of any kind, by column. Filters and orders need no more."""

    def __getitem__(self, column: str) -> Any:
        """Return the values of a column, shape (rows,): see `Values`."""


class Rows(ColumnValues, Protocol):
    """Operators or groups."""

    @property
    def threshold(self) -> float:
        """The smallest change of a time that counts, as a fraction of the baseline's time."""

    @property
    def total_s(self) -> float:
        """The total seconds of all operators: the denominator of shares; NaN if unknown."""

    def own_totals_s(self, column: str = "time") -> NDArray[np.float64]:
        """Return, for each row, the total seconds of all operators in the runs of this row.

        These are the runs in which the row has a value of `column`. Shape (rows,).
        """

    @property
    def totals_s(self) -> NDArray[np.float64]:
        """The total seconds of all operators in each run, shape (runs,)."""

    @property
    def on_sides(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Two arrays: whether the profile has each row, and whether the baseline has each row.

        Both have shape (rows,).
        """

    def per_run(self, column: str) -> NDArray[np.float64]:
        """Return the values of a column in each run, shape (rows, runs)."""

    def per_unit(self, column: str) -> NDArray[np.float64]:
        """Return one value for each process or iteration, shape (rows, units).

        See `iterations.by_unit`.
        """

    def total_of(self, column: str) -> NDArray[np.float64]:
        """Return the total of a column over all operators, shape (runs,).

        A column with the same value in all runs has a total of shape (1,). For a model that has not
        run, a single unknown value makes the total NaN.
        """

    @property
    def operators(self) -> OperatorRows:
        """The rows of all operators. If these rows are operators, the rows themselves."""

    @property
    def row_of_operator(self) -> NDArray[np.int64]:
        """The row that each operator belongs to, shape (operators,); -1 if it is in no row."""

    def work_on_sides(self, name: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the work of each row in the profile and in the baseline, shape (rows,) each.

        `name` is a column of work, such as `computation`. An operator counts only if its work is
        known on each side that has the operator. The work of a group is N/A if its operators
        that do not count take over 5 % of its time.
        """

    @property
    def as_measured(self) -> Rows:
        """The same rows, in the comparison without drift correction."""

    def once(self, work: Callable[[Any], T]) -> T:
        """Return `work(self)`. It is computed on first use and then kept."""


class OperatorRows(Rows, Protocol):
    """All operators of a profile, or of both sides of a comparison."""

    @property
    def profile(self) -> Profile:
        """The profile that has these operators."""

    @property
    def comparison(self) -> Any:
        """The `Comparison` that has these operators; None if there is no baseline."""

    @property
    def measure(self) -> Measure:
        """The kind of time that the question asks for."""

    @property
    def has_rates(self) -> bool:
        """Whether work / time is a rate: operators work during the time that the question asks for.

        They do not work during waits. During host times, the host only launches the work.
        """

    def ratio(self, numerator: str, denominator: str) -> NDArray[np.float64]:
        """Return the ratio of two columns, shape (rows,). Only runs with both values count."""

    @property
    def peaks(self) -> Any:
        """The peak rates of the device; None if the question has no peak rates."""


class GroupRows(Rows, Protocol):
    """Groups of operators."""

    @property
    def sizes(self) -> NDArray[np.int64]:
        """The number of operators in each group, shape (groups,)."""


class Formulas(NamedTuple):
    """The formulas of columns, by the name of the column.

    The rules of a `Column` decide which field has the formula of the column. A formula returns
    shape (rows,), or (rows, runs) for a column with a value in each run.
    """

    of_rows: Mapping[str, Callable[[Rows], Values]]
    """The formulas that hold for operators and for groups."""
    of_operators: Mapping[str, Callable[[OperatorRows], Values]]
    of_groups: Mapping[str, Callable[[GroupRows], Values]]

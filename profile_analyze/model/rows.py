"""The arguments of column formulas: the rows of one question, by column.

A formula for operators takes `OperatorRows`, which include the profile. A formula for groups takes
`GroupRows`. These have no profile, because its arrays have a row for each operator, not for each
group. A formula for both takes `Rows`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy as np
    from numpy.typing import NDArray

    from profile_analyze.model.categorical import Categorical
    from profile_analyze.model.comparison import Comparison
    from profile_analyze.model.measures import Measure
    from profile_analyze.model.profile import Profile

T = TypeVar("T")

Values: TypeAlias = "NDArray[np.float64] | NDArray[np.int64] | Categorical[Any]"


class Rows(Protocol):
    """Operators or groups."""

    @property
    def threshold(self) -> float:
        """The smallest change of a time that counts, as a fraction of the baseline."""

    @property
    def total_s(self) -> float:
        """The seconds of all operators, which is the denominator of shares; NaN if unknown."""

    @property
    def totals_s(self) -> NDArray[np.float64]:
        """The seconds of all operators in each run, shape (runs,)."""

    @property
    def on_sides(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Whether the profile has each row, and whether the baseline has it, shape (rows,) each."""

    def __getitem__(self, column: str) -> Any:
        """Return the values of another column, shape (rows,)."""

    def per_run(self, column: str) -> NDArray[np.float64]:
        """Return the values of a column in each run, shape (rows, runs)."""

    def per_unit(self, column: str) -> NDArray[np.float64]:
        """Return one value for each process or iteration, shape (rows, units): see `by_unit`."""

    def total_of(self, column: str) -> NDArray[np.float64]:
        """Return the total of a column over all operators, shape (runs,).

        It is NaN for a model that has not run if a value is unknown. The shape is (1,) for a column
        that has the same value in all runs.
        """

    def once(self, work: Callable[[Any], T]) -> T:
        """Return the result of `work` for these rows, computed on first use."""


class OperatorRows(Rows, Protocol):
    """All operators of a profile, or of both sides of a comparison."""

    @property
    def profile(self) -> Profile:
        """The profile. Its arrays of operators have these rows."""

    @property
    def comparison(self) -> Comparison | None:
        """The comparison, with these rows; None if there is no baseline."""

    @property
    def measure(self) -> Measure:
        """The kind of time that the question asks for."""

    def ratio(self, numerator: str, denominator: str) -> NDArray[np.float64]:
        """Return the ratio of two columns, over the runs that know both, shape (rows,)."""

    @property
    def peaks(self) -> Any:
        """The peak rates of the device; None if none were given."""


class GroupRows(Rows, Protocol):
    """Groups of operators."""

    @property
    def sizes(self) -> NDArray[np.int64]:
        """The number of operators in each group, shape (groups,)."""


class Formulas(NamedTuple):
    """Formulas by the name of their column. The rules of a `Column` decide in which field they are.

    A formula returns shape (rows,), or (rows, runs) for a column with a value in each run.
    """

    of_rows: Mapping[str, Callable[[Rows], Values]]
    """The formulas for both operators and groups."""
    of_operators: Mapping[str, Callable[[OperatorRows], Values]]
    of_groups: Mapping[str, Callable[[GroupRows], Values]]

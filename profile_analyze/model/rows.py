"""What the formulas of columns see: the rows of one question, by column.

There are two kinds. A formula for operators can reach the profile, whose arrays have a row for each
operator. A formula for groups cannot, so it never mixes the two. A formula that holds for both
takes `Rows`.
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
        """Seconds of all operators of the profile: the denominator of shares. NaN if unknown."""

    @property
    def totals_s(self) -> NDArray[np.float64]:
        """Shape (runs,): the same in each run."""

    @property
    def on_sides(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Shape (rows,) each: whether the profile has the row, whether the baseline has it."""

    def __getitem__(self, column: str) -> Any:
        """The values of another column, shape (rows,)."""

    def per_run(self, column: str) -> NDArray[np.float64]:
        """The values of a column in each run, shape (rows, runs)."""

    def per_unit(self, column: str) -> NDArray[np.float64]:
        """The values that statistics count, shape (rows, units): see `iterations.by_unit`."""

    def once(self, work: Callable[[Any], T]) -> T:
        """The result of `work` for these rows, computed on first use."""


class OperatorRows(Rows, Protocol):
    """All operators of a profile, or of both sides of a comparison."""

    @property
    def profile(self) -> Profile:
        """The profile that is asked; its arrays are aligned with these rows."""

    @property
    def comparison(self) -> Comparison | None:
        """The comparison, also aligned with these rows; None if nothing is compared."""

    @property
    def measure(self) -> Measure:
        """Which time is asked for."""

    def ratio(self, numerator: str, denominator: str) -> NDArray[np.float64]:
        """Shape (rows,): one column over another, of the runs in which both are known."""

    @property
    def peaks(self) -> Any:
        """The peak rates that operators are compared with, None if none were given."""


class GroupRows(Rows, Protocol):
    """Groups of operators."""

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Shape (groups,): how many operators are in each."""


class Formulas(NamedTuple):
    """Formulas by the name of the column. The declaration (`Column`) says which of them exist.

    Each gives shape (rows,), or (rows, runs) for a column with a value in each run.
    """

    of_rows: Mapping[str, Callable[[Rows], Values]]
    """Of operators and of groups alike."""
    of_operators: Mapping[str, Callable[[OperatorRows], Values]]
    of_groups: Mapping[str, Callable[[GroupRows], Values]]

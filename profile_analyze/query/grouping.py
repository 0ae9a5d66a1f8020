"""Groups of operators with the same keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from profile_analyze.model.numbers import numbered
from profile_analyze.query.group_values import Members

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from profile_analyze.model.categorical import Categorical


class Grouping(NamedTuple):
    """Some operators in groups; the groups in order of first appearance."""

    sizes: NDArray[np.int64]
    """Shape (groups,): how many operators are in each; never 0."""
    operators: NDArray[np.int64]
    """Shape (operators,): rows of the profile, group after group, in the file's order in each."""

    @classmethod
    def of(cls, operators: NDArray[np.int64], keys: Iterable[Categorical[Any]]) -> Grouping:
        """Group `operators` (rows of the profile, ascending) whose `keys` are all equal.

        Without keys all are one group; without operators there is no group.
        """
        group = np.zeros(len(operators), np.int64)
        for column in keys:
            combined = group * (len(column.categories) + 1) + column.codes[operators]
            group, _ = numbered(combined)
        by_group = np.argsort(group, kind="stable")
        return cls(np.bincount(group), operators[by_group])

    def members(self, values: NDArray[np.float64]) -> Members:
        """Each group's known values among `values` (shape: all operators)."""
        return Members.of(values[self.operators], self.sizes)

    def members_in_each_run(self, values: NDArray[np.float64]) -> Members:
        """The same for `values` of shape (operators, runs); the first run comes first."""
        by_run = values[self.operators].T.ravel()
        return Members.of(by_run, np.tile(self.sizes, values.shape[1]))

    def label(self, column: Categorical[Any]) -> Categorical[Any]:
        """Shape (groups,): what the operators of each group share in `column`, one of the keys."""
        return column.take(self.operators[np.cumsum(self.sizes) - self.sizes])

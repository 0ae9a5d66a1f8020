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
    """Operators divided into groups, which are in order of first appearance."""

    sizes: NDArray[np.int64]
    """Shape (groups,): the number of operators in each group, never 0."""
    operators: NDArray[np.int64]
    """Shape (operators,): rows of the profile, group by group, in file order within a group."""

    @classmethod
    def of(cls, operators: NDArray[np.int64], keys: Iterable[Categorical[Any]]) -> Grouping:
        """Group the `operators` (rows of the profile, ascending) that agree in all `keys`.

        Without keys, all operators form one group. Without operators, there is no group.
        """
        group = np.zeros(len(operators), np.int64)
        for column in keys:
            # Codes are -1 (N/A) to len - 1, so this factor gives each pair a number of its own.
            # Renumbering after each key keeps the combined numbers small enough for an int64.
            combined = group * (len(column.categories) + 1) + column.codes[operators]
            group, _ = numbered(combined)
        by_group = np.argsort(group, kind="stable")
        return cls(np.bincount(group), operators[by_group])

    def members(self, values: NDArray[np.float64]) -> Members:
        """Return the known values of each group, from `values` of shape (all operators,)."""
        return Members.of(values[self.operators], self.sizes)

    def members_in_each_run(self, values: NDArray[np.float64]) -> Members:
        """Return the known values of each group in each run, from shape (all operators, runs).

        All groups in the first run come first, then all groups in the second run, and so on.
        """
        by_run = values[self.operators].T.ravel()
        return Members.of(by_run, np.tile(self.sizes, values.shape[1]))

    def label(self, column: Categorical[Any]) -> Categorical[Any]:
        """Shape (groups,): the value that all operators of a group have in the key `column`."""
        first_members = self.operators[np.cumsum(self.sizes) - self.sizes]
        return column.take(first_members)

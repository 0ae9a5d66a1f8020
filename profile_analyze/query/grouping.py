"""Groups of operators that have the same values in the group keys."""

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
    """Operators divided into groups. The groups are in order of first appearance."""

    sizes: NDArray[np.int64]
    """Shape (groups,): the number of operators in each group, never 0."""
    operators: NDArray[np.int64]
    """Shape (operators,): rows of the profile, sorted by group and, within a group, in file
    order."""

    @classmethod
    def of(cls, operators: NDArray[np.int64], keys: Iterable[Categorical[Any]]) -> Grouping:
        """Put operators with equal values in all `keys` into one group.

        `operators` are rows of the profile in ascending order. Without keys, all operators form one
        group. Without operators, there is no group.
        """
        group = np.zeros(len(operators), np.int64)
        for column in keys:
            # Codes range from -1 (N/A) to len - 1. With this factor, each pair of group and code
            # gets its own number. Renumbering keeps the numbers small enough for an int64.
            combined = group * (len(column.categories) + 1) + column.codes[operators]
            group, _ = numbered(combined)
        by_group = np.argsort(group, kind="stable")
        return cls(np.bincount(group), operators[by_group])

    def members(self, values: NDArray[np.float64]) -> Members:
        """Return the known values of each group. `values` has shape (operators of the profile,)."""
        return Members.of(values[self.operators], self.sizes)

    def label(self, column: Categorical[Any]) -> Categorical[Any]:
        """Return each group's value in the key column `column`, shape (groups,)."""
        return column.take(self._first_members)

    def of_first(self, values: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the entry of `values` for the first operator of each group, shape (groups,)."""
        of_first: NDArray[np.int64] = values[self._first_members]
        return of_first

    @property
    def _first_members(self) -> NDArray[np.int64]:
        first: NDArray[np.int64] = self.operators[np.cumsum(self.sizes) - self.sizes]
        return first

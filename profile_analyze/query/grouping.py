"""Which operators belong together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from profile_analyze.model.coded import MISSING_CODE, Coded
from profile_analyze.model.numbers import numbered

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


class Grouping(NamedTuple):
    """Some operators in groups; the groups in order of first appearance."""

    keys: tuple[str, ...]
    """The columns whose values the operators of a group share."""
    sizes: NDArray[np.int64]
    """Shape (groups,): how many operators are in each; never 0."""
    operators: NDArray[np.int64]
    """Shape (operators,): rows of the profile, group after group, in the file's order in each."""

    @classmethod
    def of(cls, operators: NDArray[np.int64], keys: dict[str, Coded[Any]]) -> Grouping:
        """`operators` (rows of the profile, ascending), together where all `keys` are equal.

        Without keys all are one group; without operators there is no group.
        """
        group = np.zeros(len(operators), np.int64)
        for column in keys.values():
            combined = group * (len(column.vocabulary) + 1) + column.codes[operators]
            group, _ = numbered(combined)
        by_group = np.argsort(group, kind="stable")
        return cls(tuple(keys), np.bincount(group), operators[by_group])

    def members(self, values: NDArray[np.float64]) -> Sequence[NDArray[np.float64]]:
        """For each group, its operators' entries of `values` (shape: all operators)."""
        if not len(self.sizes):
            return []
        return np.split(values[self.operators], self._ends[:-1])

    def label(self, key: str, column: Coded[Any]) -> Coded[Any]:
        """Shape (groups,): what the operators of each group share in the key `column`.

        N/A if the groups were not formed by it.
        """
        if key in self.keys:
            return column.take(self.operators[self._ends - self.sizes])
        return Coded(np.full(len(self.sizes), MISSING_CODE), column.vocabulary)

    @property
    def _ends(self) -> NDArray[np.int64]:
        return np.cumsum(self.sizes)

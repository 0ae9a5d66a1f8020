"""What profiles say of operators apart from their times, put together from several."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from profile_analyze.model.categorical import Categorical
from profile_analyze.model.profile import DETAILS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from profile_analyze.model.profile import Profile

Facts: TypeAlias = dict[str, Any]
"""Columns of a `Profile` by the name of its field; a detail that was not loaded is None."""

_NUMBERS = ("id", "computation", "memory")


def facts_of(profile: Profile) -> Facts:
    """The facts of all operators of `profile`."""
    return {name: getattr(profile, name) for name in (*_NUMBERS, "name", "type", *DETAILS)}


def taken(facts: Facts, rows: NDArray[np.int64]) -> Facts:
    """The facts of the operators `rows`."""
    return {name: _taken(column, rows) for name, column in facts.items()}


def _taken(column: Any, rows: NDArray[np.int64]) -> Any:
    if column is None:
        return None
    return column.take(rows) if isinstance(column, Categorical) else column[rows]


def concatenated(parts: Sequence[Facts]) -> Facts:
    """The facts of all `parts`, one after the other; a detail that one part lacks is None."""
    return {name: _together([part[name] for part in parts]) for name in parts[0]}


def _together(columns: Sequence[Any]) -> Any:
    if any(column is None for column in columns):
        return None
    if isinstance(columns[0], Categorical):
        return Categorical.concatenated(columns)
    return np.concatenate(columns)

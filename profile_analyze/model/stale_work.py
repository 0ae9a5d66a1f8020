"""Marks work that was recorded in a different run than the times, with different shapes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from profile_analyze.model.operators import Operators

STALE_WORK: Final = "stale_work"
"""The optional column that is 1 if the work of an operator was recorded in a different run than its
times, with different shapes. It is NaN for all other operators."""


def has_stale_work(operators: Operators) -> NDArray[np.bool_]:
    """Return whether the work of each operator is stale, shape (operators,): see `STALE_WORK`."""
    return ~np.isnan(operators.numbers(STALE_WORK))


def with_stale_work(operators: Operators, is_stale: NDArray[np.bool_]) -> Operators:
    """Return `operators`. If any are stale, the column `STALE_WORK` marks them."""
    if not is_stale.any():
        return operators
    column = np.where(is_stale, 1.0, np.nan)
    return replace(operators, optional={**operators.optional, STALE_WORK: column})

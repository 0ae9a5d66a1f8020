"""Work that was recorded in another run than the times, after the shapes had changed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from profile_analyze.model.operators import Operators

STALE_WORK: Final = "stale_work"
"""The optional column that is 1 if the work of an operator was recorded in another run than its
times, with other shapes. It is NaN for all other operators."""


def has_stale_work(operators: Operators) -> NDArray[np.bool_]:
    """Return whether the work of each operator does not belong to its times, shape (operators,)."""
    return ~np.isnan(operators.numbers(STALE_WORK))


def with_stale_work(operators: Operators, is_stale: NDArray[np.bool_]) -> Operators:
    """Return `operators`. If any are stale, the column `STALE_WORK` marks them."""
    if not is_stale.any():
        return operators
    column = np.where(is_stale, 1.0, np.nan)
    return replace(operators, optional={**operators.optional, STALE_WORK: column})

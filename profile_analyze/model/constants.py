"""The bytes of constants, such as weights. A program stores these bytes, but does not move them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from profile_analyze.model.categorical import Categorical
from profile_analyze.model.terms import DERIVED, MEASURED

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from profile_analyze.model.operators import Operators

CONSTANT_BYTES: Final = "constant_bytes"
"""The optional column with the size of each operator that is a constant: `UNKNOWN_SIZE` if the file
lacks it, and NaN for operators that are not constants."""
UNKNOWN_SIZE: Final = -1.0


def memory_without_constants(
    memory: NDArray[np.float64], is_constant: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], Categorical[str], NDArray[np.float64]]:
    """Return the columns `memory`, `memory_source` and `CONSTANT_BYTES` of `Operators`.

    A reader calls this function if its format reports the size of a constant as its memory. A
    constant moves no bytes when the network runs, so its memory becomes 0, with the source
    `derived`. All arrays have shape (operators,).
    """
    sizes = np.where(np.isnan(memory), UNKNOWN_SIZE, memory)
    return (
        np.where(is_constant, 0.0, memory),
        Categorical(is_constant.astype(np.int32), (MEASURED, DERIVED)),
        np.where(is_constant, sizes, np.nan),
    )


def holds_constant(operators: Operators) -> NDArray[np.bool_]:
    """Return whether each operator only holds a constant, shape (operators,)."""
    return ~np.isnan(operators.numbers(CONSTANT_BYTES))


def operators_counting_constants(operators: Operators) -> Operators:
    """Return a copy in which the memory of a constant is its size; N/A if the file lacks it."""
    sizes = operators.numbers(CONSTANT_BYTES)
    # In a comparison, an operator may be missing on this side. Its memory stays N/A.
    changes = holds_constant(operators) & ~np.isnan(operators.memory)
    source = operators.memory_source
    source = Categorical(
        np.where(changes, len(source.categories), source.codes), (*source.categories, MEASURED)
    )
    return replace(
        operators,
        memory=np.where(changes, np.where(sizes < 0, np.nan, sizes), operators.memory),
        memory_source=Categorical.concatenated([source]),  # removes duplicate categories
    )

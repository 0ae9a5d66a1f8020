"""The optional tables of a profile. Few questions need them, and only some formats have them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from profile_analyze.model.frozen import freeze_arrays

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from profile_analyze.model.categorical import Categorical
    from profile_analyze.model.operators import Shape


@dataclass(frozen=True, eq=False)
class Tensors:
    """The values that flow between operators. All columns have shape (tensors,)."""

    key: Categorical[str]
    """The identifier of each tensor in the file."""
    shape: Categorical[Shape]
    dtype: Categorical[str]
    """One of `terms.DTYPES`, or the name in the file for any other dtype."""
    size: NDArray[np.float64]
    """Bytes; NaN is N/A."""
    role: Categorical[str] | None = None
    """One of `terms.TENSOR_ROLES`; None if the format does not say."""
    elements: NDArray[np.float64] | None = None
    """The number of elements, NaN for N/A; None if the format does not say."""
    is_result: NDArray[np.bool_] | None = None
    """Whether the tensor is an output of the whole model; None if the format does not say."""

    def __post_init__(self) -> None:
        freeze_arrays(self)

    def __len__(self) -> int:
        return len(self.key)


@dataclass(frozen=True, eq=False)
class Uses:
    """The edges of the graph: which operator reads or writes which tensor.

    All columns have shape (uses,). `operator` and `tensor` are row numbers in `Operators` and
    `Tensors`.
    """

    operator: NDArray[np.int32]
    tensor: NDArray[np.int32]
    is_output: NDArray[np.bool_]

    def __post_init__(self) -> None:
        freeze_arrays(self)

    def __len__(self) -> int:
        return len(self.operator)


@dataclass(frozen=True, eq=False)
class Dependencies:
    """Pairs of executions: `after` waits for `before`. All columns have shape (dependencies,)."""

    before: NDArray[np.int32]
    """The row of the execution that had to end first."""
    after: NDArray[np.int32]
    """The row of the execution that waited."""
    kind: Categorical[str]

    def __post_init__(self) -> None:
        freeze_arrays(self)

    def __len__(self) -> int:
        return len(self.before)


@dataclass(frozen=True, eq=False)
class Allocations:
    """Events that allocate or free memory. All columns have shape (allocations,)."""

    device: Categorical[str]
    time_s: NDArray[np.float64]
    size: NDArray[np.float64]
    """Bytes; negative if memory was freed."""
    execution: NDArray[np.int32]
    """The row of the execution that allocated or freed the memory, or -1."""

    def __post_init__(self) -> None:
        freeze_arrays(self)

    def __len__(self) -> int:
        return len(self.time_s)

"""`Tables`: the tables of a profile. Few questions need the optional ones."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from profile_analyze.errors import QueryError
from profile_analyze.model.frozen import freeze_arrays
from profile_analyze.model.terms import TABLES

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    import numpy as np
    from numpy.typing import NDArray

    from profile_analyze.model.categorical import Categorical
    from profile_analyze.model.executions import Executions, Run, Track
    from profile_analyze.model.operators import Operators, Shape
    from profile_analyze.model.origin import Origin
    from profile_analyze.model.stored_times import StoredTimes


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


# `eq=False`: comparing two arrays gives an array, so a generated `__eq__` would fail.
@dataclass(frozen=True, eq=False, repr=False)
class Tables:
    """The tables of a profile, from which measures and levels are computed.

    Operators, executions, tracks and runs refer to each other by index. Numbers are in base units
    (seconds, bytes, floating-point operations).
    """

    file: str
    """The name of the file, or `standard input`; for joined files, their number: `5 files`."""
    origin: Origin
    operators: Operators
    executions: Executions
    tracks: tuple[Track, ...]
    runs: tuple[Run, ...]
    processes: tuple[str, ...]
    """The name of each process: the name of the file that it wrote."""
    tensors: Tensors | None = None
    uses: Uses | None = None
    dependencies: Dependencies | None = None
    allocations: Allocations | None = None
    not_loaded: frozenset[str] = frozenset()
    """The optional tables that the file may have, but that were not loaded or were dropped.
    Joining runs, splitting rows, selecting a level or cutting to a window drops all of them.
    Leaving out runs drops the tables that refer to executions."""
    split_by: Mapping[str, Categorical[Any]] = field(default_factory=dict)
    """The values of the keys that split the rows (`model.levels.splitting`), shape
    (operators,) each."""
    labels: Mapping[str, Categorical[str]] = field(default_factory=dict)
    """The labels of the processes (`model.joining.labels`), shape (processes,) each."""
    stored_times: StoredTimes | None = None
    """The times of the operators, if they are stored beside the executions."""

    def __len__(self) -> int:
        return len(self.operators)

    @property
    def run_files(self) -> tuple[str, ...]:
        """The file of each run."""
        return tuple(self.processes[run.process] for run in self.runs)

    def without_tables(self, *, keep: Collection[str] = ()) -> dict[str, Any]:
        """Return arguments for `changed` that drop all optional tables except `keep`.

        Tables that refer to rows of other tables become wrong when these rows change. The table of
        tensors has no such references. Uses refer to operators and tensors, and the other tables to
        executions.
        """
        others = [name for name in TABLES if name not in keep]
        dropped = {name for name in others if getattr(self, name) is not None}
        return {**dict.fromkeys(others), "not_loaded": self.not_loaded | dropped}

    def table(self, name: Literal["tensors", "uses", "dependencies", "allocations"]) -> Any:
        """Return an optional table; None if the format lacks it.

        Raises `QueryError` if the table was not loaded, or was dropped later.
        """
        if name in self.not_loaded:
            raise QueryError(
                f"{name}: the profile was loaded without this table, or lost it when runs were "
                "joined or left out, rows split, a level selected or the profile cut to a window"
            )
        return getattr(self, name)

"""When operators ran: executions on tracks, in runs that belong to processes."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias

import numpy as np

from profile_analyze.model.categorical import Categorical
from profile_analyze.model.frozen import (
    constant,
    freeze_arrays,
    is_constant,
    packed,
    unpacked,
)
from profile_analyze.model.terms import DEVICE, Side
from profile_analyze.units import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    Floats: TypeAlias = NDArray[np.float64]
    Rows: TypeAlias = NDArray[np.int32]


class Track(NamedTuple):
    """Where executions happen one after another, or nested: a thread, a stream."""

    name: str
    side: Side = DEVICE
    """In a profile without any device event the CPU's threads are device tracks."""
    device: str | None = None
    """The device that the track belongs to."""
    kind: str = "track"
    """What such tracks are called, in the singular: `thread`, `stream`."""
    process: str | None = None
    """The process that the file says the track belongs to."""
    rank: int | None = None
    """The rank of that process in a distributed job."""
    clock: str = ""
    """Start times can only be compared between tracks with the same clock."""
    resolution_s: float = 0.0
    """The resolution of the clock: shorter times are meaningless. 0 if it is not known."""
    together: Literal["sum", "max"] = "sum"
    """How the times of an operator on several such tracks become one: added, or the largest,
    because the tracks worked on it at the same time."""


class Run(NamedTuple):
    """One iteration of the network."""

    process: int = 0
    """Index of the process in `Profile.processes`. Statistics count processes."""
    step: int | None = None
    """The number that the file gives the iteration."""
    label: str | None = None
    wall_s: float = float("nan")
    """From its start to its end, where the file says so."""


_INTEGERS: Final[Mapping[str, int]] = {
    "run": 0,
    "track": 0,
    "calls": 1,
    "parent": -1,
    "launched_by": -1,
}
"""The columns of integers that may be left out, with their defaults."""


def _type_of(name: str) -> type[np.int64 | np.int32]:
    """Counts may be large; rows of tables are not."""
    return np.int64 if name == "calls" else np.int32


_TIMES: Final = ("start_s", "self_s", "first_kernel_s", "submitted_s")
"""The columns of times that may be left out. They are then N/A."""

PARENTS: Final = ("parent", "launched_by")
"""The columns that refer to other rows of this table."""


@dataclass(frozen=True, eq=False, repr=False)
class Executions:
    """One row for each time that an operator ran on a track, or for a reported average of many.

    All columns have shape (executions,); times are in seconds, NaN is N/A. A column that is the
    same in all rows is stored once.
    """

    operator: Rows
    """The operator's row in `Profile.operators`."""
    duration_s: Floats
    """The time of all its calls, including the executions nested inside."""
    run: Rows
    """Index in `Profile.runs`."""
    track: Rows
    """Index in `Profile.tracks`."""
    start_s: Floats
    """When it began, on the track's clock; N/A in a format without positions in time."""
    self_s: Floats
    """The duration without the executions nested inside on the same track, if the file has it.
    Otherwise `model.levels` computes it from `parent`."""
    first_kernel_s: Floats
    """The time from the start to the first kernel."""
    submitted_s: Floats
    """When the host call that launched it ended, on the clock of `start_s`."""
    calls: NDArray[np.int64]
    """How many calls the row stands for; `duration_s` covers all of them."""
    parent: Rows
    """The row of the execution that this one ran inside, or -1."""
    launched_by: Rows
    """The row of the execution that launched this one, or -1."""
    phase: Categorical[str]
    """The part of a training step: forward, backward, optimizer."""

    def __post_init__(self) -> None:
        freeze_arrays(self)

    @classmethod
    def of(
        cls,
        operator: ArrayLike,
        duration_s: ArrayLike,
        *,
        phase: Categorical[str] | None = None,
        **columns: ArrayLike,
    ) -> Executions:
        """Make executions from some columns.

        By default all executions are one call each, in the first run, on the first track, without
        start times, and not nested.
        """
        operators = np.asarray(operator, np.int32)
        rows = len(operators)
        found: dict[str, Any] = {
            name: np.asarray(columns.pop(name), _type_of(name))
            if name in columns
            else constant(_type_of(name)(default), rows)
            for name, default in _INTEGERS.items()
        }
        for name in _TIMES:
            found[name] = (
                np.asarray(columns.pop(name), np.float64)
                if name in columns
                else constant(np.float64(np.nan), rows)
            )
        if columns:
            raise TypeError(f"executions have no columns {', '.join(columns)}")
        return cls(
            operator=operators,
            duration_s=np.asarray(duration_s, np.float64),
            phase=Categorical.missing(rows) if phase is None else phase,
            **found,
        )

    def __reduce__(self) -> tuple[Callable[..., Executions], tuple[Any, ...]]:
        arrays = {name: packed(getattr(self, name)) for name in _NAMES if name != "phase"}
        return _unpickled, (arrays, self.phase)

    def __len__(self) -> int:
        return len(self.operator)

    def __repr__(self) -> str:
        return f"Executions({counted(len(self), 'execution')})"

    @property
    def nest(self) -> bool:
        """Whether some execution ran inside another, or was launched by one."""
        return bool((self.parent >= 0).any() or (self.launched_by >= 0).any())

    def changed(self, **columns: Any) -> Executions:
        """A copy with some columns replaced."""
        return replace(self, **columns)

    def take(self, rows: NDArray[np.int64]) -> Executions:
        """The executions `rows`, in that order. References to any others become -1."""
        columns = {name: _taken(getattr(self, name), rows) for name in _NAMES}
        if self.nest:
            new_row = np.full(len(self) + 1, -1, np.int32)  # -1 finds the last entry, -1
            new_row[rows] = np.arange(len(rows))
            for name in PARENTS:
                columns[name] = new_row[columns[name]]
        return Executions(**columns)

    @classmethod
    def concatenated(cls, parts: Sequence[Executions]) -> Executions:
        """The executions of all `parts`, one after the other."""
        columns = {name: _joined([getattr(part, name) for part in parts]) for name in _NAMES}
        before = np.cumsum([0, *map(len, parts)])
        for name in PARENTS:
            if any((getattr(part, name) >= 0).any() for part in parts):
                columns[name] = np.concatenate(
                    [
                        np.where(rows >= 0, rows + first, -1)
                        for part, first in zip(parts, before[:-1].tolist(), strict=True)
                        for rows in [getattr(part, name)]
                    ]
                ).astype(np.int32)
        return cls(**columns)


_NAMES: Final = tuple(one.name for one in fields(Executions))


def _unpickled(arrays: Mapping[str, Any], phase: Categorical[str]) -> Executions:
    columns: dict[str, Any] = {name: unpacked(*array) for name, array in arrays.items()}
    return Executions(**columns, phase=phase)


def _taken(values: Any, rows: NDArray[np.int64]) -> Any:
    if isinstance(values, Categorical):
        return values.take(rows) if values.categories else Categorical.missing(len(rows))
    if is_constant(values):
        return constant(values[0], len(rows))
    return values[rows]


def _joined(columns: Sequence[Any]) -> Any:
    if isinstance(columns[0], Categorical):
        rows = sum(map(len, columns))
        is_known = any(column.categories for column in columns)
        return Categorical.concatenated(columns) if is_known else Categorical.missing(rows)
    filled = [column for column in columns if len(column)]
    if filled and all(is_constant(column) and _same(column[0], filled[0][0]) for column in filled):
        return constant(filled[0][0], sum(map(len, filled)))
    return np.concatenate(columns)


def _same(one: Any, other: Any) -> bool:
    return bool(one == other or (one != one and other != other))  # noqa: PLR0124  # NaN

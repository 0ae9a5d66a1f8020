"""The table of executions, and the tracks and runs that it refers to."""

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
from profile_analyze.model.terms import DEVICE, DeviceKind, Side
from profile_analyze.units import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    Floats: TypeAlias = NDArray[np.float64]
    Rows: TypeAlias = NDArray[np.int32]


class Track(NamedTuple):
    """A thread, stream or the like. Its executions run one after another, or inside each other."""

    name: str
    side: Side = DEVICE
    """`device` or `host`. If a profile of a CPU has no device events, its threads are device
    tracks."""
    device: str | None = None
    """The device that the track belongs to."""
    kind: str = "track"
    """The singular noun for such tracks, such as `thread` or `stream`."""
    process: str | None = None
    """The name of the track's process in the file."""
    rank: int | None = None
    """The rank of the process in a distributed job."""
    clock: str = ""
    """Start times can only be compared between tracks with the same clock."""
    resolution_s: float = 0.0
    """The resolution of the clock; 0 if it is unknown. Shorter times are meaningless."""
    together: Literal["sum", "max"] = "sum"
    """How the times of an operator on several tracks are combined: `sum` adds them. `max` takes the
    largest, for tracks that work on the operator at the same time."""
    device_kind: DeviceKind | None = None
    """`cpu` or `gpu`; None if the format does not say, or for another kind of device."""
    threads: int | None = None
    """The number of CPU threads that work on an operator together; None if it is unknown."""

    @property
    def line(self) -> Track:
        """The line of the track. Executions on one line run one after another, or nested.

        A thread that works for several devices has a track for each device. All tracks of a thread
        share one line: the track without its device. Any other track is its own line.
        """
        if self.kind != "thread":
            return self
        return self._replace(device=None, device_kind=None, threads=None)


def distinct_names(tracks: Sequence[Track]) -> list[str]:
    """Return the names of tracks. If any two are equal, add the rank or the device to each name."""
    # Two devices may each have a `stream 7`.
    if len({track.name for track in tracks}) == len(tracks):
        return [track.name for track in tracks]
    owners = (track.device if track.rank is None else f"rank {track.rank}" for track in tracks)
    return [
        f"{track.name} of {owner}" if owner else track.name
        for track, owner in zip(tracks, owners, strict=True)
    ]


class Run(NamedTuple):
    """One iteration of the network."""

    process: int = 0
    """The index in `Profile.processes`. Statistics use one value for each process."""
    step: int | None = None
    """The number of the iteration in the file."""
    label: str | None = None
    """The name of the run in the file. It has nothing to do with `Profile.labels`."""
    wall_s: float = float("nan")
    """The seconds from start to end; NaN if the file does not say."""
    busy_s: float = float("nan")
    """The seconds in which the busiest device worked, on any stream; NaN if the file does not
    say."""
    is_copy: bool = False
    """Whether the process is a copy of an earlier process. Statistics leave copies out."""


_INTEGERS: Final[Mapping[str, int]] = {
    "run": 0,
    "track": 0,
    "calls": 1,
    "untimed_calls": 0,
    "parent": -1,
    "launched_by": -1,
}
"""The optional columns of integers, with their defaults."""


def _type_of(name: str) -> type[np.int64 | np.int32]:
    # All other columns are indices, for which 32 bits are enough.
    return np.int64 if name.endswith("calls") else np.int32


_TIMES: Final = ("start_s", "self_s", "median_s", "first_kernel_s", "submitted_s", "thread_wait_s")
"""The optional columns of times. A column that is left out is N/A."""

AMOUNTS: Final = ("allocated_bytes", "device_allocated_bytes")
"""The optional columns of amounts."""

OWNED: Final = ("thread_wait_s", *AMOUNTS)
"""The optional columns of which, when a level is selected, each row gets the sum over the
executions that belong to it: `model.levels` says which."""

TEXTS: Final = ("phase", "kernel")
"""The columns of texts."""

PARENTS: Final = ("parent", "launched_by")
"""The columns that refer to other rows of the table."""


@dataclass(frozen=True, eq=False, repr=False)
class Executions:
    """The table of executions: a row for one call or several calls of an operator on a track.

    If a row stands for several `calls`, its duration is the sum over these calls. If
    `Origin.times` is `mean`, durations are means over inferences. All columns have shape
    (executions,). Times are in seconds, and NaN is N/A. A column with the same value in all rows is
    stored once.
    """

    operator: Rows
    """The operator's row in `Profile.operators`."""
    duration_s: Floats
    """The time of all calls of the row, including the executions nested inside."""
    run: Rows
    """The index in `Profile.runs`."""
    track: Rows
    """The index in `Profile.tracks`."""
    start_s: Floats
    """The start on the track's clock; N/A if the format has no start times."""
    self_s: Floats
    """The duration without the executions nested inside on the same track, if the file has it.
    Otherwise `model.levels` computes it from `parent`."""
    median_s: Floats
    """The median over inferences, if the file has medians as well as the means in `duration_s`."""
    first_kernel_s: Floats
    """The time from the start to the first kernel."""
    submitted_s: Floats
    """The end of the host call that launched the execution, on the clock of `start_s`."""
    thread_wait_s: Floats
    """How long the thread only waited: for other threads that worked on the same execution, or for
    the device."""
    allocated_bytes: Floats
    """The memory of the host that the execution allocated minus what it freed, without the
    executions nested inside."""
    device_allocated_bytes: Floats
    """The same as `allocated_bytes`, for the memory of devices."""
    calls: NDArray[np.int64]
    """The number of calls in the row."""
    untimed_calls: NDArray[np.int64]
    """How many of the `calls` have no device time: they launched no work, or the file lacks their
    kernels. It is 0 before a level is selected (`model.levels`)."""
    parent: Rows
    """The row of the execution around this execution, or -1."""
    launched_by: Rows
    """The row of the execution that launched this execution, or -1."""
    phase: Categorical[str]
    """The part of a training step: forward, backward, optimizer."""
    kernel: Categorical[str]
    """The name of the kernel; N/A for other executions, and before a level is selected
    (`model.levels`)."""

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
        """Return executions with the given columns, and defaults for all other columns.

        By default, each row is one call in the first run, on the first track, without a start time
        and not nested.
        """
        operators = np.asarray(operator, np.int32)
        rows = len(operators)
        defaults: dict[str, Any] = {
            **{name: _type_of(name)(default) for name, default in _INTEGERS.items()},
            **dict.fromkeys((*_TIMES, *AMOUNTS), np.float64(np.nan)),
        }
        filled = {
            name: np.asarray(columns.pop(name), default.dtype)
            if name in columns
            else constant(default, rows)
            for name, default in defaults.items()
        }
        if columns:
            raise TypeError(f"executions have no columns {', '.join(columns)}")
        return cls(
            operator=operators,
            duration_s=np.asarray(duration_s, np.float64),
            phase=Categorical.missing(rows) if phase is None else phase,
            kernel=Categorical.missing(rows),
            **filled,
        )

    def __reduce__(self) -> tuple[Callable[..., Executions], tuple[Any, ...]]:
        # Worker processes send many rows by pickle, which would write constant columns in full.
        arrays = {name: packed(getattr(self, name)) for name in COLUMNS if name not in TEXTS}
        return _unpickled, (arrays, {name: getattr(self, name) for name in TEXTS})

    def __len__(self) -> int:
        return len(self.operator)

    def __repr__(self) -> str:
        return f"Executions({counted(len(self), 'execution')})"

    @property
    def have_ancestors(self) -> bool:
        """Whether any execution has a parent, or was launched by another execution."""
        return any((_stored(getattr(self, name)) >= 0).any() for name in PARENTS)

    @property
    def are_flat(self) -> bool:
        """Whether no execution has a parent, was launched by another execution, or has `self_s`."""
        return not self.have_ancestors and bool(np.isnan(self.self_s).all())

    @property
    def above(self) -> Rows:
        """For each execution, its parent, or else the execution that launched it, or else -1.

        Shape (executions,).
        """
        return np.where(self.parent >= 0, self.parent, self.launched_by)

    @property
    def own_s(self) -> Floats:
        """The durations without the executions nested inside on the same track; 0 for N/A."""
        durations = np.nan_to_num(self.duration_s)
        inner = np.flatnonzero(self.parent >= 0)
        outer = self.parent[inner]
        is_same = self.track[inner] == self.track[outer]
        inside = np.bincount(outer[is_same], durations[inner[is_same]], minlength=len(self))
        return np.asarray(np.maximum(durations - inside, 0.0))

    def changed(self, **columns: Any) -> Executions:
        """Return a copy with some columns replaced."""
        return replace(self, **columns)

    def renumbered(
        self, *, operators: Rows | None = None, tracks: Rows | None = None, first_run: int = 0
    ) -> Executions:
        """Return a copy with new indices of operators, tracks and runs.

        `operators` and `tracks` have the new index of each operator and track. `first_run` is the
        new index of run 0.
        """
        return self.changed(
            operator=self.operator if operators is None else operators[self.operator],
            track=self.track if tracks is None else tracks[self.track],
            run=self.run + np.int32(first_run) if first_run else self.run,
        )

    def take(self, rows: NDArray[np.int64] | Rows) -> Executions:
        """Return only `rows`, in that order. References to rows that are left out become -1."""
        columns = {name: _taken(getattr(self, name), rows) for name in COLUMNS}
        if self.have_ancestors:  # otherwise there are no references to renumber
            # NumPy's index -1 selects the last entry. The last entry is an extra -1, so references
            # of -1 (no row) stay -1.
            new_row = np.full(len(self) + 1, -1, np.int32)
            new_row[rows] = np.arange(len(rows))
            for name in PARENTS:
                columns[name] = new_row[columns[name]]
        return Executions(**columns)


COLUMNS: Final = tuple(one.name for one in fields(Executions))
"""The names of all columns."""


def devices_first(
    executions: Executions, tracks: tuple[Track, ...]
) -> tuple[Executions, tuple[Track, ...]]:
    """Put device tracks first. The order then does not depend on which files were read together."""
    # Sorting is stable, so the tracks of one side keep their order.
    order = sorted(range(len(tracks)), key=lambda index: tracks[index].side != DEVICE)
    if order == [*range(len(tracks))]:
        return executions, tracks
    new_index = np.empty(len(tracks), np.int32)
    new_index[order] = np.arange(len(tracks))
    return executions.renumbered(tracks=new_index), tuple(tracks[index] for index in order)


def _unpickled(arrays: Mapping[str, Any], texts: Mapping[str, Any]) -> Executions:
    columns: dict[str, Any] = {name: unpacked(*array) for name, array in arrays.items()}
    return Executions(**columns, **texts)


def _stored(values: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return `values`, or only the first if the column stores one value for all rows."""
    return values[:1] if is_constant(values) else values


def _taken(values: Any, rows: NDArray[np.int64] | Rows) -> Any:
    # Indexing would turn a column that is stored once into an array with a value for each row.
    if isinstance(values, Categorical):
        return values.take(rows) if values.categories else Categorical.missing(len(rows))
    if is_constant(values):
        return constant(values[0], len(rows))
    return values[rows]

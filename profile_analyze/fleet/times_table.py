"""The table of stored times: a row for each operator and run in which it ran.

Most questions need nothing else from the executions, which take many times the memory. Only parts
whose executions are flat have this table: no execution ran inside another or was launched by
another. In other parts, times depend on the selected level.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final, TypeAlias

import msgspec
import numpy as np

from profile_analyze.fleet.arrow import (
    NUMBER,
    ROW,
    Field,
    number_column,
    numbers_of,
    row_column,
    rows_of,
    table_of,
)
from profile_analyze.model.frozen import constant
from profile_analyze.model.measures import HOST_TIME, TIME
from profile_analyze.model.stored_times import CALLS, STORED
from profile_analyze.model.terms import DEVICE, HOST

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from profile_analyze.model.profile import Profile
    from profile_analyze.model.terms import Side

    Flags: TypeAlias = NDArray[np.bool_]
    Floats: TypeAlias = NDArray[np.float64]
    Indices: TypeAlias = NDArray[np.int64]

_Number: TypeAlias = Annotated[int, msgspec.Meta(ge=1)]
"""The number of a row, from 1."""

TIMES_TABLE: Final = "times"
TIMES: Final = (
    Field("operator", ROW, "the number of the operator"),
    Field("run", ROW, "the number of the run"),
    Field("device_time_s", NUMBER, "the time of all calls in the run on the device", "s"),
    Field("host_time_s", NUMBER, "the time of all calls in the run on the host", "s"),
    Field(
        "calls", NUMBER, "calls in the run; calls on the host if there are none on the device", "1"
    ),
)
_COLUMN_OF: Final = {TIME.name: "device_time_s", HOST_TIME.name: "host_time_s", CALLS: "calls"}
"""The column of each result in `model.stored_times.RESULTS`."""


class FlatExecutions(msgspec.Struct, frozen=True):
    """What ran where, in a part with stored times. Most questions then need no executions."""

    executions: Annotated[int, msgspec.Meta(ge=0, lt=1 << 31)]
    """The number of executions."""
    is_complete: bool
    """Whether each operator that ran at all ran in each run. The table of times then has a row
    for each of these operators and each run, so its columns of row numbers need not be read."""
    each_calls: Annotated[float, msgspec.Meta(gt=0)] | None
    """How many calls each operator has in each run, if `is_complete` and the number is the same in
    all cases; otherwise None."""
    tracks: list[_Number]
    """The numbers of the tracks that have executions."""
    device_operators: list[_Number]
    """The numbers of the operators that have executions on the device."""
    host_operators: list[_Number]
    """The numbers of the operators that have executions on the host."""

    def executed(self, operators: int) -> dict[Side, Flags]:
        """Return whether each operator has executions on each side, shape (operators,).

        Raises `IndexError` for the number of an operator that does not exist.
        """
        flags: dict[Side, Flags] = {}
        flags[DEVICE], flags[HOST] = np.zeros((2, operators), np.bool_)
        flags[DEVICE][np.array(self.device_operators, np.int64) - 1] = True
        flags[HOST][np.array(self.host_operators, np.int64) - 1] = True
        return flags


def times_of(profile: Profile) -> tuple[pa.Table, FlatExecutions]:
    """Return the table of the profile's times, and what ran where."""
    operator, run, in_cells = _cells(profile)
    calls = in_cells.calls()[:, 0]
    columns = {"operator": row_column(operator), "run": row_column(run)}
    for measure in STORED:
        columns[_COLUMN_OF[measure.name]] = number_column(in_cells.measured(measure.name)[:, 0])
    columns[_COLUMN_OF[CALLS]] = number_column(calls)
    on_device, on_host = (np.flatnonzero(profile.recorded(side)) + 1 for side in (DEVICE, HOST))
    ran = len({*on_device.tolist(), *on_host.tolist()})
    is_complete = len(calls) == ran * len(profile.runs)
    are_equal = is_complete and len(calls) > 0 and bool((calls == calls[0]).all())
    return table_of(TIMES, columns), FlatExecutions(
        executions=len(profile.executions),
        is_complete=is_complete,
        each_calls=float(calls[0]) if are_equal else None,
        tracks=[index + 1 for side in (DEVICE, HOST) for index in profile.executed_tracks(side)],
        device_operators=on_device.tolist(),
        host_operators=on_host.tolist(),
    )


def _cells(profile: Profile) -> tuple[Indices, Indices, Profile]:
    """Find the cells: the pairs of an operator and a run in which it ran.

    Return the operator and the run of each cell, in ascending order, and a profile of a single run
    whose operators are the cells. In a data set of many models, most operators ran in few of the
    runs, so an array of operators and runs would be many times as large.
    """
    executions, runs = profile.executions, max(len(profile.runs), 1)
    cells, cell = np.unique(
        executions.operator.astype(np.int64) * runs + executions.run, return_inverse=True
    )
    operator, run = np.divmod(cells, runs)
    in_cells = profile.changed(
        operators=profile.operators.take(operator),
        executions=executions.changed(
            operator=cell.astype(np.int32), run=constant(np.int32(0), len(executions))
        ),
        runs=profile.runs[:1],
    )
    return operator, run, in_cells


def columns_for(name: str, flat: FlatExecutions) -> tuple[str, ...]:
    """Return the columns that `result_of` needs for a result."""
    return (_COLUMN_OF[name],) if flat.is_complete else ("operator", "run", _COLUMN_OF[name])


def result_of(
    table: pa.Table, name: str, flat: FlatExecutions, operators: int, runs: int
) -> Floats:
    """Return one of `model.stored_times.RESULTS`, shape (operators, runs).

    Raises `ValueError` if the table does not fit the other arguments, or has impossible values.
    """
    known = numbers_of(table, _COLUMN_OF[name])
    if len(known) and (np.fmin.reduce(known) < 0 or np.fmax.reduce(known) == np.inf):
        raise ValueError(f"{TIMES_TABLE}: {_COLUMN_OF[name]} is negative or infinite")
    if flat.is_complete:
        on_sides = flat.executed(operators)
        return _with_all_rows(known, on_sides[DEVICE] | on_sides[HOST], runs)
    values = np.full((operators, runs), np.nan)
    operator, run = _indices(table, "operator", operators), _indices(table, "run", runs)
    if (np.diff(operator.astype(np.int64) * runs + run) <= 0).any():
        raise ValueError(f"{TIMES_TABLE}: the rows are not in the order of operators and runs")
    values[operator, run] = known
    return values


def _with_all_rows(known: Floats, ran: Flags, runs: int) -> Floats:
    """Return the `known` values of the operators that `ran`, with N/A for all other operators."""
    in_runs = known.reshape(np.count_nonzero(ran), runs)
    if ran.all():
        return in_runs
    values = np.full((len(ran), runs), np.nan)
    values[ran] = in_runs
    return values


def _indices(table: pa.Table, name: str, rows: int) -> NDArray[np.int32]:
    """Return a column of references to a table with `rows` rows. Raises `ValueError`."""
    indices = rows_of(table, name)
    if len(indices) and not 0 <= indices.min() <= indices.max() < rows:
        raise ValueError(f"{TIMES_TABLE} refers to {name}s that do not exist")
    return indices

"""The table of stored times: a row for each operator and run in which it ran.

Most questions need nothing else from the executions, which take many times the memory. Only parts
whose executions are flat have this table: in others, times depend on the level that is selected.
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
from profile_analyze.model.measures import HOST_TIME, TIME
from profile_analyze.model.stored_times import CALLS, STORED
from profile_analyze.model.terms import DEVICE, HOST

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from profile_analyze.model.profile import Profile
    from profile_analyze.model.terms import Side

_Number: TypeAlias = Annotated[int, msgspec.Meta(ge=1)]
"""The number of a row, from 1."""

TIMES_TABLE: Final = "times"
TIMES: Final = (
    Field("operator", ROW, "the number of the operator"),
    Field("run", ROW, "the number of the run"),
    Field("device_time_s", NUMBER, "the time of all calls in the run on the device", "s"),
    Field("host_time_s", NUMBER, "the time of all calls in the run on the host", "s"),
    Field("calls", NUMBER, "how many calls the run has; on the host if none on the device", "1"),
)
_COLUMN_OF: Final = {TIME.name: "device_time_s", HOST_TIME.name: "host_time_s", CALLS: "calls"}
"""The column of each result in `model.stored_times.RESULTS`."""


class FlatExecutions(msgspec.Struct, frozen=True):
    """What ran where. A part with stored times has it, so that its executions need not be read."""

    executions: Annotated[int, msgspec.Meta(ge=0)]
    """The number of executions."""
    is_complete: bool
    """Whether each operator ran in each run. The table of times then has all of these rows in the
    order of operators and runs, so that the columns of operators and runs need not be read."""
    each_calls: float | None
    """How many calls each operator has in each run, if `is_complete` and the number is the same in
    all cases; otherwise None."""
    tracks: list[_Number]
    """The numbers of the tracks that have executions."""
    device_operators: list[_Number]
    """The numbers of the operators that have executions on the device."""
    host_operators: list[_Number]
    """The numbers of the operators that have executions on the host."""

    def executed(self, operators: int) -> dict[Side, NDArray[np.bool_]]:
        """Return whether each operator has executions on each side, shape (operators,).

        Raises `IndexError` for the number of an operator that does not exist.
        """
        flags: dict[Side, NDArray[np.bool_]] = {}
        flags[DEVICE], flags[HOST] = np.zeros((2, operators), np.bool_)
        flags[DEVICE][np.array(self.device_operators, np.int64) - 1] = True
        flags[HOST][np.array(self.host_operators, np.int64) - 1] = True
        return flags


def flat_executions(profile: Profile) -> FlatExecutions:
    """Return what ran where in a profile whose executions are flat."""
    tracks = sorted(profile.executed_tracks(DEVICE) + profile.executed_tracks(HOST))
    is_complete = bool(_ran(profile).all())
    calls = profile.calls()
    are_equal = is_complete and calls.size > 0 and bool((calls == calls.flat[0]).all())
    return FlatExecutions(
        executions=len(profile.executions),
        is_complete=is_complete,
        each_calls=float(calls.flat[0]) if are_equal else None,
        tracks=[index + 1 for index in tracks],
        device_operators=(np.flatnonzero(profile.recorded(DEVICE)) + 1).tolist(),
        host_operators=(np.flatnonzero(profile.recorded(HOST)) + 1).tolist(),
    )


def times_table(profile: Profile) -> pa.Table:
    """Return the table of the profile's times."""
    operator, run = np.nonzero(_ran(profile))
    columns = {"operator": row_column(operator), "run": row_column(run)}
    for measure in STORED:
        values = profile.measured(measure.name)[operator, run]
        columns[_COLUMN_OF[measure.name]] = number_column(values)
    columns[_COLUMN_OF[CALLS]] = number_column(profile.calls()[operator, run])
    return table_of(TIMES, columns)


def _ran(profile: Profile) -> NDArray[np.bool_]:
    """Return whether each operator ran in each run, shape (operators, runs)."""
    ran = np.zeros((len(profile), len(profile.runs)), np.bool_)
    ran[profile.executions.operator, profile.executions.run] = True
    return ran


def columns_for(name: str, *, is_complete: bool) -> tuple[str, ...]:
    """Return the columns that `result_of` needs for a result."""
    return (_COLUMN_OF[name],) if is_complete else ("operator", "run", _COLUMN_OF[name])


def result_of(
    table: pa.Table, name: str, operators: int, runs: int, *, is_complete: bool
) -> NDArray[np.float64]:
    """Return one of `model.stored_times.RESULTS`, shape (operators, runs).

    Raises `ValueError` if the table does not fit to these numbers of operators and runs.
    """
    known = numbers_of(table, _COLUMN_OF[name])
    if is_complete:
        return known.reshape(operators, runs)
    values = np.full((operators, runs), np.nan)
    values[_indices(table, "operator", operators), _indices(table, "run", runs)] = known
    return values


def _indices(table: pa.Table, name: str, rows: int) -> NDArray[np.int32]:
    """Return a column of references to a table with `rows` rows. Raises `ValueError`."""
    indices = rows_of(table, name)
    if len(indices) and not 0 <= indices.min() <= indices.max() < rows:
        raise ValueError(f"{TIMES_TABLE} refers to {name}s that do not exist")
    return indices

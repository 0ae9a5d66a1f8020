"""The Arrow tables of executions, tracks, runs and origins, with the meaning of each column.

SQL and data sets have the same tables. References to rows of other tables are numbers from 1.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import msgspec
import numpy as np
import pyarrow as pa

from profile_analyze.fleet.arrow import (
    CATEGORIES,
    COUNT,
    FLAG,
    NUMBER,
    ROW,
    TEXT,
    Field,
    counts_of,
    number_column,
    numbers_of,
    row_column,
    rows_of,
    table_of,
    text_array,
    text_column,
    texts_of,
)
from profile_analyze.model.categorical import Categorical
from profile_analyze.model.executions import Executions, Run, Track
from profile_analyze.model.frozen import constant
from profile_analyze.model.origin import Origin, RecordedFact
from profile_analyze.model.terms import LABEL

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

EXECUTIONS: Final = (
    Field("operator", ROW, "the number of the operator"),
    Field("run", ROW, "the number of the run"),
    Field("track", ROW, "the number of the track"),
    Field("start_s", NUMBER, "the start on the clock of the track", "s"),
    Field("duration_s", NUMBER, "the time of all calls, with the executions that ran inside", "s"),
    Field("self_s", NUMBER, "the duration without the executions that ran inside", "s"),
    Field("median_s", NUMBER, "the median over inferences, if the duration is a mean", "s"),
    Field("first_kernel_s", NUMBER, "the time from the start to the first kernel", "s"),
    Field("submitted_s", NUMBER, "the end of the host call that launched the execution", "s"),
    Field("thread_wait_s", NUMBER, "how long the thread waited for others or the device", "s"),
    Field("allocated_bytes", NUMBER, "memory of the host: allocated minus freed", "byte"),
    Field("device_allocated_bytes", NUMBER, "memory of devices: allocated minus freed", "byte"),
    Field("calls", COUNT, "how many calls the row stands for", "1"),
    Field("parent", ROW, "the number of the execution around this one"),
    Field("launched_by", ROW, "the number of the execution that launched this one"),
    Field("phase", CATEGORIES, "the part of a training step: forward, backward or optimizer"),
    Field(
        "kernel",
        CATEGORIES,
        "the name of the kernel; null for other executions, and in all files of data sets",
    ),
)
TRACKS: Final = (
    Field("track", ROW, "the number of the track"),
    Field("name", TEXT, "the name of the thread, stream or the like"),
    Field("side", TEXT, "device or host"),
    Field("device", TEXT, "the device that the track belongs to"),
    Field("kind", TEXT, "what the track is, such as thread or stream"),
    Field("process", TEXT, "the name of the process in the file"),
    Field("rank", COUNT, "the rank of the process in a distributed job"),
    Field("clock", TEXT, "start times can be compared between tracks with the same clock"),
    Field("resolution_s", NUMBER, "the resolution of the clock; 0 if it is unknown", "s"),
    Field("together", TEXT, "how the times of an operator on several tracks combine: sum or max"),
    Field("device_kind", TEXT, "cpu or gpu"),
    Field("threads", COUNT, "how many CPU threads work on an operator together", "1"),
)
RUNS: Final = (
    Field("run", ROW, "the number of the run, in the order of the files"),
    Field("process", ROW, "the number of the process; statistics count processes"),
    Field("file", CATEGORIES, "the file that the process wrote"),
    Field("step", COUNT, "the number that the file gives the run, such as the training step"),
    Field("label", TEXT, "the name that the file gives the run"),
    Field("wall_s", NUMBER, "the time from the start to the end of the run", "s"),
    Field("busy_s", NUMBER, "how long the busiest device worked in the run", "s"),
    Field(
        "is_copy",
        FLAG,
        "whether the process has exactly the times of an earlier process; false in all files of "
        "data sets",
    ),
)
ADDED: Final = frozenset({"busy_s"})
"""The columns that data sets of earlier versions lack. Their values are then N/A."""
ORIGIN: Final = (
    Field("format", TEXT, "the format of the files"),
    Field("version", TEXT, "the version of the format or of the runtime"),
    Field("times", TEXT, "what the times are: of each execution, mean, or absent"),
    Field("averaged_over", COUNT, "the number of inferences over which each time is averaged", "1"),
    Field("hardware", TEXT, "the hardware, as the file describes it"),
    Field("synchronised", FLAG, "whether the runtime waited for each operator"),
    Field("renaming", TEXT, "why operators have other names than in the program; may be empty"),
    Field("recorded", TEXT, "numbers about the whole program, such as its latencies, as JSON"),
)
COMMON_TABLES: Final[Mapping[str, tuple[Field, ...]]] = {
    "executions": EXECUTIONS,
    "tracks": TRACKS,
    "runs": RUNS,
    "origin": ORIGIN,
}
"""The columns of each table that SQL and data sets both have."""


def executions_table(executions: Executions, errors: str = "strict") -> pa.Table:
    """Return the table of executions. `errors` is the argument of `text_array`."""
    columns = {}
    for field in EXECUTIONS:
        values = getattr(executions, field.name)
        if field.type == ROW:
            columns[field.name] = row_column(values)
        elif field.type == CATEGORIES:
            columns[field.name] = text_column(values, errors)
        elif field.type == COUNT:
            columns[field.name] = pa.array(np.ascontiguousarray(values))
        else:
            columns[field.name] = number_column(values)
    return table_of(EXECUTIONS, columns)


def executions_of(table: pa.Table) -> Executions:
    """Return the executions in a table. A column that the table lacks is N/A."""
    rows = len(table)
    columns: dict[str, Any] = {}
    for field in EXECUTIONS:
        name, is_known = field.name, field.name in table.column_names
        if field.type == ROW:
            columns[name] = rows_of(table, name) if is_known else constant(np.int32(-1), rows)
        elif field.type == CATEGORIES:
            columns[name] = texts_of(table, name) if is_known else Categorical.missing(rows)
        elif field.type == COUNT:
            columns[name] = _stored_once(counts_of(table, name))
        else:
            unknown = constant(np.float64(np.nan), rows)
            columns[name] = numbers_of(table, name) if is_known else unknown
    # A profile is stored before a level is selected.
    return Executions(**columns, untimed_calls=constant(np.int64(0), rows))


def _stored_once(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the values, stored once if all are equal. Numbers of calls are often equal."""
    are_equal = len(values) > 0 and bool((values == values[0]).all())
    return constant(values[0], len(values)) if are_equal else values


def tracks_table(tracks: Iterable[Track], errors: str = "strict") -> pa.Table:
    """Return the table of tracks. `errors` is the argument of `text_array`."""
    return _numbered(TRACKS, [track._asdict() for track in tracks], errors)


def tracks_of(table: pa.Table) -> tuple[Track, ...]:
    """Return the tracks in a table. Raises `msgspec.ValidationError` for a wrong value."""
    rows = [[row[name] for name in Track._fields] for row in table.to_pylist()]
    return tuple(msgspec.convert(rows, list[Track]))


def runs_table(
    runs: Iterable[Run],
    processes: Sequence[str],
    labels: Mapping[str, Sequence[str | None]],
    errors: str = "strict",
) -> pa.Table:
    """Return the table of runs, with a column for each of `labels`.

    `labels` has the value of each process. `errors` is the argument of `text_array`.
    """
    rows = [
        {
            **run._asdict(),
            "process": run.process + 1,
            "file": processes[run.process],
            **{name: values[run.process] for name, values in labels.items()},
        }
        for run in runs
    ]
    return _numbered((*RUNS, *map(label_field, labels)), rows, errors)


def label_field(name: str) -> Field:
    """Return the declaration of a label's column, which is called `name`."""
    return Field(name, CATEGORIES, f"the label {name.removeprefix(LABEL)} of the file")


def runs_of(table: pa.Table) -> tuple[Run, ...]:
    """Return the runs in a table. Raises `msgspec.ValidationError` for a wrong value."""
    columns = {
        "process": rows_of(table, "process").tolist(),
        "step": _values(table, "step"),
        "label": _values(table, "label"),
        "wall_s": numbers_of(table, "wall_s").tolist(),
        "busy_s": [float("nan")] * len(table),
        "is_copy": _values(table, "is_copy"),
    }
    if "busy_s" in table.column_names:
        columns["busy_s"] = numbers_of(table, "busy_s").tolist()
    rows = [*zip(*(columns[name] for name in Run._fields), strict=True)]
    return tuple(msgspec.convert(rows, list[Run]))


def _values(table: pa.Table, name: str) -> list[Any]:
    """Return the values of a column, with None for null."""
    column = table.column(name)
    # `to_pylist` takes long for each value, even for a null.
    return [None] * len(column) if column.null_count == len(column) else column.to_pylist()


def origins_table(origins: Iterable[Origin], errors: str = "strict") -> pa.Table:
    """Return the table of origins, with a row for each distinct origin of the files.

    `errors` is the argument of `text_array`.
    """
    rows = [{**one._asdict(), "recorded": json.dumps(one.recorded)} for one in origins]
    return _table(ORIGIN, rows, errors)


def origins_of(table: pa.Table) -> tuple[Origin, ...]:
    """Return the origins in a table. Raises `ValueError` or `msgspec.ValidationError`."""
    for name in ("format", "times", "synchronised", "renaming", "recorded"):
        if table.column(name).null_count:
            raise ValueError(f"{name} has nulls")
    rows = table.select([field.name for field in ORIGIN]).to_pylist()
    for row in rows:
        facts = json.loads(row["recorded"])
        row["recorded"] = tuple(msgspec.convert(facts, list[RecordedFact]))
    return tuple(Origin(**row) for row in rows)


def _numbered(declared: Sequence[Field], rows: list[dict[str, Any]], errors: str) -> pa.Table:
    """Return a table whose first column counts the rows from 1."""
    numbered = [{declared[0].name: n, **row} for n, row in enumerate(rows, start=1)]
    return _table(declared, numbered, errors)


def _table(declared: Sequence[Field], rows: list[dict[str, Any]], errors: str) -> pa.Table:
    columns = {}
    for field in declared:
        values = [row[field.name] for row in rows]
        if field.type in (TEXT, CATEGORIES):
            column = text_array(values, errors)
        else:
            column = pa.array(values, field.type, from_pandas=True)  # makes NaN null
        # `dictionary_encode` keeps the order of first appearance.
        columns[field.name] = column.dictionary_encode() if field.type == CATEGORIES else column
    return table_of(declared, columns)

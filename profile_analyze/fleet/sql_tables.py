"""The tables of a profile for SQL. `operators` has a row for each operator and run.

The columns of `operators` come from the catalog, and have the same names as in CSV and JSON.
Columns that compare rows or runs, such as `share` and `spread`, are left out: a query can compute
them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import pyarrow as pa

from profile_analyze.columns.catalog import CATALOG
from profile_analyze.columns.column import FORMULA, SAME, RatioOfSums
from profile_analyze.columns.wording import machine_name
from profile_analyze.fleet.arrow import (
    CATEGORIES,
    COUNT,
    NUMBER,
    ROW,
    Field,
    number_column,
    row_column,
    table_of,
    text_column,
)
from profile_analyze.fleet.profile_tables import (
    COMMON_TABLES,
    RUNS,
    executions_table,
    label_field,
    origins_table,
    runs_table,
    tracks_table,
)
from profile_analyze.model.categorical import Categorical
from profile_analyze.model.numbers import ratio
from profile_analyze.model.terms import ABSENT, HOST
from profile_analyze.query.question import Query
from profile_analyze.query.rows import OperatorRows

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from profile_analyze.columns.column import Column
    from profile_analyze.model.profile import Profile

_LEFT_OUT: Final = ("time", "rank_spread")
"""`time` has the values of another column, such as `device_time`. `rank_spread` compares ranks."""
_ERRORS: Final = "backslashreplace"
"""Names of files need not be valid Unicode, but texts of DuckDB must be."""

COLUMNS: Final[tuple[Column, ...]] = tuple(
    column
    for column in CATALOG
    if column.of_operators == FORMULA
    and column.of_groups != SAME
    and column.name not in _LEFT_OUT
    and not (column.needs_peaks or column.needs_base or column.needs_split_rows)
)
"""The columns of the catalog that `operators` has. Columns whose groups have the rule `SAME`
compare rows or runs."""

_RUN_FIELDS: Final = (
    Field("operator", ROW, "the number of the operator in the table executions"),
    Field("run", ROW, "the number of the run in the table runs; null for a model that has not run"),
    Field("file", CATEGORIES, "the file that the run was read from"),
    Field("step", COUNT, "the number that the file gives the run, such as the training step"),
)


def _type_of(column: Column) -> pa.DataType:
    if column.kind == "number":
        return NUMBER
    return COUNT if column.has_whole_numbers else CATEGORIES


OPERATORS: Final = (
    *_RUN_FIELDS,
    *(Field(machine_name(one), _type_of(one), one.meaning, one.unit) for one in COLUMNS),
)
DECLARED: Final[Mapping[str, tuple[Field, ...]]] = {
    "operators": OPERATORS,
    **COMMON_TABLES,
}
"""The columns of each table."""
MEANINGS: Final = {
    "operators": "a row for each operator and run in which it ran",
    "executions": "a row for one call or several calls of an operator on a track",
    "tracks": "a row for each thread, stream or the like",
    "runs": "a row for each iteration of the network",
    "origin": "one row: the format of the files, and whether times are single, means or absent",
}
"""What the rows of each table are."""


class _OperatorRuns(NamedTuple):
    """The operator and the run of each row of the table `operators`."""

    operator: NDArray[np.int64]
    """The index of the operator of each row."""
    run: NDArray[np.int64]
    """The index of the run of each row."""


def tables_of(profile: Profile) -> dict[str, pa.Table]:
    """Return the tables by name. Columns of `operators` without any value are left out."""
    labels = _labels(profile)
    of_processes = {name: column.values().tolist() for name, column in labels.items()}
    return {
        "operators": _operators_table(profile, labels),
        "executions": executions_table(profile.executions, _ERRORS),
        "tracks": tracks_table(profile.tracks, _ERRORS),
        "runs": runs_table(profile.runs, profile.processes, of_processes, _ERRORS),
        "origin": origins_table([profile.origin], _ERRORS),
    }


def _labels(profile: Profile) -> dict[str, Categorical[str]]:
    """Return the labels of the processes, by the names of their columns.

    If another column has the name of a label, the column of the label gets a longer name. SQL
    ignores case in names.
    """
    taken = {field.name for field in (*OPERATORS, *RUNS)}
    labels = {}
    for label, column in profile.labels.items():
        name = label
        while name.lower() in taken:
            name = f"label_{name}"
        taken.add(name.lower())
        labels[name] = column
    return labels


def _operators_table(profile: Profile, labels: Mapping[str, Categorical[str]]) -> pa.Table:
    rows = OperatorRows(profile, Query())
    if profile.origin.times == ABSENT:  # a model that has not run
        cells = _OperatorRuns(np.arange(len(profile)), np.zeros(len(profile), np.int64))
        run = np.full(len(profile), -1)
    else:
        cells = _OperatorRuns(*np.nonzero(~np.isnan(profile.calls(HOST))))
        run = cells.run
    files = Categorical.of(profile.run_files)
    columns = {
        "operator": row_column(cells.operator),
        "run": row_column(run),
        "file": text_column(files.take(cells.run), _ERRORS),
        "step": pa.array([one.step for one in profile.runs], COUNT).take(pa.array(cells.run)),
    }
    for column in COLUMNS:
        values = _values(rows, column, cells)
        if values is not None:
            columns[machine_name(column)] = values
    process = np.array([run.process for run in profile.runs], np.int64)[cells.run]
    for name, label in labels.items():
        columns[name] = text_column(label.take(process), _ERRORS)
    fields = (*OPERATORS, *map(label_field, labels))
    return table_of([field for field in fields if field.name in columns], columns)


def _values(rows: OperatorRows, column: Column, cells: _OperatorRuns) -> pa.Array | None:
    """Return the values of a column; None if all are N/A."""
    values: Any = rows.per_run(column.name) if column.timed else _of_each_run(rows, column)
    if isinstance(values, Categorical):
        return _categories(values, column, cells.operator) if values.categories else None
    if values.dtype.kind == "i":
        return pa.array(values[cells.operator])
    # Arrays of values that do not depend on the run have one column, or a single dimension.
    table = values.reshape(len(values), -1)
    chosen = table[cells.operator, cells.run if table.shape[1] > 1 else 0]
    return None if np.isnan(chosen).all() else number_column(chosen)


def _of_each_run(rows: OperatorRows, column: Column) -> Any:
    """Return the values of a column that is not timed. Ratios are computed in each run."""
    if not isinstance(column.of_groups, RatioOfSums):
        return rows[column.name]
    above, below = (rows.values_in_runs(name) for name in column.of_groups)
    return ratio(above, below)


def _categories(values: Categorical[Any], column: Column, rows: NDArray[np.int64]) -> pa.Array:
    """Return the values in `rows`, with the type of the column."""
    if _type_of(column) == COUNT:
        return pa.array(values.values()[rows].tolist(), COUNT)
    return text_column(values.mapped(column.as_text).take(rows), _ERRORS)

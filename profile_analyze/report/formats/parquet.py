"""Parquet files: a table with raw numbers. The schema has units and meanings of columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from profile_analyze.errors import OutputError, QueryError
from profile_analyze.report.facts.facts import fact_group
from profile_analyze.report.formats.programs import (
    ProgramRenderer,
    as_utf8,
    machine_names,
    shown_columns,
)
from profile_analyze.report.sections import Facts, TableSection

try:
    import pyarrow as pa
    from pyarrow import parquet as pq
except ModuleNotFoundError as error:
    raise OutputError(
        f"parquet needs {error.name}; install the extra fleet: pip install 'profile_analyze[fleet]'"
    ) from None

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from profile_analyze.columns.column import Column
    from profile_analyze.report.base import Display, Report

    _Column: TypeAlias = tuple[str, Sequence[Any] | NDArray[Any], pa.DataType, Mapping[str, str]]
    """The name of a column, its values, its type, and its metadata."""

_TYPES: Final = {
    "integer": pa.int64(),
    "number": pa.float64(),
    "truth": pa.bool_(),
    "text": pa.string(),
}


class ParquetRenderer(ProgramRenderer):
    """Renderer of a Parquet file; see `Renderer`."""

    name = "parquet"
    suffixes = (".parquet",)

    def pieces(self, report: Report, display: Display) -> Iterator[bytes]:  # noqa: ARG002  # part of `Renderer`
        """Yield the file. Raises `QueryError` if there are several tables."""
        sink = pa.BufferOutputStream()
        pq.write_table(_table_of(report), sink, compression="zstd")
        yield sink.getvalue().to_pybytes()


def _table_of(report: Report) -> pa.Table:
    sections = report.tables
    if len(sections) > 1:
        raise QueryError(
            "a Parquet file has one table; write one table at a time: --print-only device or host"
        )
    return _arrow_table(_columns(sections[0]) if sections else _facts(report))


def _columns(section: TableSection) -> Iterator[_Column]:
    table, names = section.table, shown_columns(section)
    for name, heading in zip(names, machine_names(table, names), strict=True):
        column = table.column(name)
        values: Sequence[Any] | NDArray[Any] = table[name]
        metadata = {"unit": column.unit}
        if column.meaning:
            metadata["meaning"] = column.meaning
        type_ = _type(column, table[name])
        if type_ == "text":
            values = [None if one is None else as_utf8(column.as_text(one)) for one in values]
        elif type_ == "number":  # DuckDB's integers may not fit 64 bits
            values = np.asarray(values, np.float64)
        yield heading, values, _TYPES[type_], metadata


def _type(column: Column, values: NDArray[Any]) -> str:
    """Return the type of a column in `_TYPES`."""
    if column.has_whole_numbers or values.dtype.kind == "i":  # ids are numbers in some formats
        return "integer"
    if column.kind == "number" or values.dtype.kind == "f":
        return "number"
    return "truth" if column.kind == "truth" else "text"


def _facts(report: Report) -> Iterator[_Column]:
    for group in report.all_of(Facts):
        values = group.values
        for fact in fact_group(group.name).facts:
            if fact.type != "nested":
                yield fact.name, [values[fact.name]], _TYPES[fact.type], {"meaning": fact.meaning}


def _arrow_table(columns: Iterable[_Column]) -> pa.Table:
    """Return a table. The types do not depend on the values: a column may be N/A in all rows."""
    arrays, fields = [], []
    for name, values, type_, metadata in columns:
        # None and NaN become null.
        arrays.append(pa.array(values, type_, from_pandas=True))
        fields.append(pa.field(name, type_, metadata=metadata))
    return pa.table(arrays, schema=pa.schema(fields))

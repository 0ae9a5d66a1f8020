"""Parquet files: a table with raw numbers. The schema has units and meanings of columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeAlias

from profile_analyze.errors import OutputError, QueryError
from profile_analyze.report.facts.facts import fact_group
from profile_analyze.report.formats.programs import (
    ProgramRenderer,
    as_utf8,
    machine_names,
    relation_values,
    shown_columns,
)
from profile_analyze.report.sections import Facts, RelationSection, TableSection

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

    from profile_analyze.query.relation import RelationColumn
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
    sections = report.all_of(TableSection)
    if len(sections) > 1:
        raise QueryError(
            "a Parquet file has one table; write one table at a time: --print-only device or host"
        )
    relations = report.all_of(RelationSection)
    if relations:
        return _arrow_table(map(_of_relation, relations[0].relation.columns))
    return _arrow_table(_columns(sections[0]) if sections else _facts(report))


def _of_relation(column: RelationColumn) -> _Column:
    values = relation_values(column)
    if column.type == "number":  # includes DuckDB's integers that may not fit int64
        values = [None if one is None else float(one) for one in values]
    return as_utf8(column.name), values, _TYPES[column.type], {"unit": column.unit}


def _columns(section: TableSection) -> Iterator[_Column]:
    table, names = section.table, shown_columns(section)
    for name, heading in zip(names, machine_names(table, names), strict=True):
        column, values = table.column(name), table[name]
        meaning = {"unit": column.unit, "meaning": column.meaning}
        if table.has_numbers(name):  # ids are numbers in some formats
            type_ = "integer" if values.dtype.kind == "i" else "number"
            yield heading, values, _TYPES[type_], meaning
        elif column.has_whole_numbers:
            yield heading, values, _TYPES["integer"], meaning
        else:
            texts = [None if one is None else as_utf8(column.as_text(one)) for one in values]
            yield heading, texts, _TYPES["text"], meaning


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

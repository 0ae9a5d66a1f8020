"""Parquet files: a table with raw numbers. The schema has the unit and meaning of each column."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from profile_analyze.errors import OutputError, QueryError
from profile_analyze.report.programs import (
    ProgramRenderer,
    as_utf8,
    facts_alone,
    machine_names,
    program_values,
    relation_values,
    shown_columns,
)
from profile_analyze.report.sections import RelationSection, TableSection

try:
    import pyarrow as pa
    from pyarrow import parquet as pq
except ModuleNotFoundError as error:
    raise OutputError(
        f"parquet needs {error.name}; install the extra fleet: pip install 'profile_analyze[fleet]'"
    ) from None

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from profile_analyze.report.base import Display, Report

    _Column: TypeAlias = tuple[str, Sequence[Any], bool, Mapping[str, str]]
    """The name of a column, its values, whether they are numbers, and its metadata."""


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
        raise QueryError("parquet has one table; write one at a time: --print-only device or host")
    relations = report.all_of(RelationSection)
    if relations:
        return _arrow_table(
            (as_utf8(one.name), relation_values(one), one.is_number, {"unit": one.unit})
            for one in relations[0].relation.columns
        )
    if sections:
        return _arrow_table(_columns(sections[0]))
    facts = facts_alone(report) or {}
    return _arrow_table(
        (name, [value], not isinstance(value, str), {}) for name, value in facts.items()
    )


def _columns(section: TableSection) -> Iterator[_Column]:
    table, names = section.table, shown_columns(section)
    for name, heading in zip(names, machine_names(table, names), strict=True):
        column = table.column(name)
        values = program_values(table, name)
        is_number = column.kind == "number"
        if not is_number:
            # Ids may be numbers or texts, but all values of a Parquet column have one type.
            is_number = name == "id" and all(isinstance(one, int | None) for one in values)
        if not is_number:
            values = [None if one is None else as_utf8(column.as_text(one)) for one in values]
        meaning = {"unit": column.unit, "meaning": column.meaning}
        yield heading, values, is_number, meaning


def _arrow_table(columns: Iterable[_Column]) -> pa.Table:
    arrays, fields = [], []
    for name, values, is_number, metadata in columns:
        array = _array(values, is_number=is_number)
        arrays.append(array)
        fields.append(pa.field(name, array.type, metadata=metadata))
    return pa.table(arrays, schema=pa.schema(fields))


def _array(values: Sequence[Any], *, is_number: bool) -> pa.Array:
    """Return values as an array; None and NaN become null."""
    if not is_number:
        is_truth = any(isinstance(one, bool) for one in values)
        return pa.array(values, pa.bool_() if is_truth else pa.string())
    known = [one for one in values if one is not None]
    are_whole = bool(known) and all(isinstance(one, int) for one in known)
    return pa.array(values, pa.int64() if are_whole else pa.float64(), from_pandas=True)

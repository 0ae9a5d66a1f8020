"""The bases of output formats for programs: raw numbers in base units, with full precision."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import orjson

from profile_analyze.columns.wording import machine_name
from profile_analyze.model.terms import KERNEL
from profile_analyze.model.visible import escaped_in_json
from profile_analyze.report.layout.default_columns import (
    WORK_COMPARED,
    calls_column,
    columns_beside_time,
    every_column,
    group_columns,
    model_columns,
)
from profile_analyze.report.sections import ALL_COLUMNS, Facts, TableSection

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from profile_analyze.model.notes import Note
    from profile_analyze.query.question import Query
    from profile_analyze.query.table import Table
    from profile_analyze.report.base import Need, Report
    from profile_analyze.roofline.peaks import Peaks

_LARGEST_INTEGER: Final = 1 << 63
_BITS_OF_FLOATS: Final = 1024
"""Integers of fewer bits can be converted to floats."""


class ProgramRenderer:
    """Base of formats that have tables for programs; see `Renderer`."""

    for_programs = True
    suffixes: tuple[str, ...] = ()
    has_tables = True
    follows_original = False
    has_stacks = False
    has_summary_beside_tables = False
    needs: Need = ""

    def columns(self, query: Query, *, several_runs: bool = False) -> tuple[str, ...]:
        """Return the default columns; see `Renderer.columns`."""
        return program_columns(query, several_runs=several_runs)

    def notes(self, table: Table) -> Iterable[Note]:
        """Return the notes on a table; see `Renderer.notes`."""
        return table.notes


class TablelessRenderer:
    """Base of formats without tables, such as annotations and pictures; see `Renderer`."""

    for_programs = True
    suffixes: tuple[str, ...] = ()
    has_tables = False
    follows_original = False
    has_stacks = False
    has_summary_beside_tables = True

    def columns(self, query: Query, *, several_runs: bool = False) -> tuple[str, ...]:  # noqa: ARG002  # part of `Renderer`
        """Return no columns; see `Renderer.columns`."""
        return ()

    def notes(self, table: Table) -> Iterable[Note]:
        """Return the notes on a table; see `Renderer.notes`."""
        return table.notes


def facts_alone(report: Report) -> dict[str, Any] | None:
    """Return the values of the facts by name; None if the report has a table or no facts."""
    groups = report.all_of(Facts)
    if not groups or report.tables:
        return None
    return {name: value for group in groups for name, value in group.flat_values.items()}


def program_columns(query: Query, *, several_runs: bool) -> tuple[str, ...]:
    """Return the default columns of formats for programs."""
    beside_time = columns_beside_time(query, several_runs=several_runs)
    of_kernels = ("full_name", "launched_by") if query.level == KERNEL else ()
    shapes = ("in_shapes", "in_strides", "out_shapes")
    columns = (
        ("id", "name", "type", *of_kernels, "time", *beside_time, *shapes)
        if query.keys is None
        else group_columns(query, several_runs=several_runs)
    )
    if not query.compared:
        return columns
    # Programs also get the columns that verdicts are based on. A terminal is too narrow for them,
    # so formats for people leave them out. A group key, such as `match`, already has a column.
    basis = {
        "ratio": ("ratio_low", "ratio_high"),
        "relative_ratio": ("relative_low", "relative_high", "p_value", *WORK_COMPARED, "match"),
        "verdict": ("runs_needed",),
    }
    return tuple(
        name
        for column in columns
        for name in (column, *basis.get(column, ()))
        if name == column or name not in query.by
    )


def shown_columns(section: TableSection) -> list[str]:
    """Return the names of the columns to show: the chosen ones, or else the default ones."""
    table = section.table
    chosen = every_column(table) if section.columns == ALL_COLUMNS else section.columns
    names = chosen or _default_columns(table)
    return [table.column(name).name for name in names]  # resolves aliases


def _default_columns(table: Table) -> tuple[str, ...]:
    """Return the default columns. `calls` and `key` are last, so that they move no other column."""
    if table.asked is None:
        return table.columns
    key = ("key",) if table.query.keys is None else ()
    if table.is_of_model:
        return (*model_columns(table), *key)
    columns = program_columns(table.query, several_runs=table.several_runs)
    return (*dict.fromkeys((*columns, *calls_column(table))), *key)


def machine_names(table: Table, names: Sequence[str]) -> list[str]:
    """Return the names that columns have for programs. These names end with the unit."""
    return [as_utf8(machine_name(table.shown_column(name))) for name in names]


def peaks_record(peaks: Peaks) -> dict[str, Any]:
    """Return the peaks of a device for JSON."""
    return {
        "name": peaks.name,
        "flops": dict(peaks.flops),
        "bandwidth_bytes_per_s": peaks.bandwidth,
        "dtype": peaks.dtype,
        "source": peaks.source,
        "device_kind": peaks.device_kind,
        "threads": peaks.threads,
        "doubt": peaks.doubt,
    }


def as_utf8(text: str) -> str:
    """Return `text` with escapes for lone surrogates, which UTF-8 cannot encode.

    Lone surrogates come from file names and arguments that are not valid text.
    """
    return text.encode("utf-8", "backslashreplace").decode()


def json_ready(value: Any) -> Any:
    """Return `value` with `as_utf8` applied to all texts, and with tuples as lists.

    Integers over 64 bits become floats, which orjson can write.
    """
    if isinstance(value, str):
        return as_utf8(value)
    if isinstance(value, int) and abs(value) >= _LARGEST_INTEGER:
        return float(value) if value.bit_length() < _BITS_OF_FLOATS else None
    if isinstance(value, dict):
        return {json_ready(name): json_ready(one) for name, one in value.items()}
    return list(map(json_ready, value)) if isinstance(value, list | tuple) else value


def program_values(table: Table, name: str) -> list[Any]:
    """Return one column as Python values. N/A is None, or NaN in a column of numbers.

    In a column of counts, whole numbers of at most 64 bits become integers, and N/A is None.
    """
    values: list[Any] = table[name].tolist()
    if table.column(name).unit != "count":
        return values
    return [
        None if value != value else int(value) if _is_whole(value) else value  # noqa: PLR0124  # NaN
        for value in values
    ]


def _is_whole(value: float) -> bool:
    # The package orjson writes no larger integers.
    return abs(value) < _LARGEST_INTEGER and value == int(value)


def json_values(table: Table, name: str) -> list[Any]:
    """Return one column for `to_json`, which writes NaN as null. Parameters become objects."""
    values = program_values(table, name)
    if name == "file" or table.column(name).is_label:  # from names of files: see `as_utf8`
        return list(map(json_ready, values))
    if name == "parameters" and table.asked is not None:
        return [None if value is None else dict(value) for value in values]
    return values


def to_json(value: Any) -> str:
    """Return `value` as JSON: NaN as null, control characters escaped, large integers as floats."""
    try:
        content = orjson.dumps(value)
    except TypeError:  # an integer over 64 bits, or a text that is not UTF-8
        content = orjson.dumps(json_ready(value))
    return escaped_in_json(content.decode())


def number_texts(values: list[Any], *, missing: str) -> list[str]:
    """Return each number in the shortest form that keeps its value; `missing` for None and NaN.

    The numbers are written as JSON, which takes a fifth of the time of `repr`.
    """
    # The text of a number contains no comma, and orjson writes no blanks.
    texts = to_json(values)[1:-1].split(",") if values else []
    return [missing if text == "null" else text for text in texts]

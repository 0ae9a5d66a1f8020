"""Reads and writes the Parquet files of data sets. A file that takes too much memory is refused."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from profile_analyze.fleet.arrow import CATEGORIES, FLAG, NUMBER, TEXT, indices_of
from profile_analyze.fleet.profile_tables import ADDED
from profile_analyze.fleet.stored_profiles import DECLARED
from profile_analyze.fleet.times_table import TIMES_TABLE
from profile_analyze.readers.regular_files import check_regular

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from numpy.typing import NDArray

    from profile_analyze.fleet.arrow import Field
    from profile_analyze.readers.input.remote import RemotePath

_SUFFIX: Final = ".parquet"
_LARGEST_DICTIONARY: Final = 1 << 30
"""Bytes. Parquet keeps the order of categories only if all of them fit into one dictionary."""
_BYTES_PER_VALUE: Final = 8
"""The most memory that a value takes, apart from texts: a column stores each text once."""
_TEXTS: Final = {
    name: [field.name for field in DECLARED[name] if field.type == TEXT]
    for name in ("tracks", "runs", "origin")
}
"""The columns of texts, in the tables whose rows become Python objects.

They are read as dictionaries, because texts that many rows repeat then take little memory.
"""


class TooLargeError(Exception):
    """A file takes more memory than the limit. The message is the name of the file."""


def write_table(folder: Path, name: str, table: pa.Table) -> int:
    """Write a table, and return the size of its file. Raises `OSError`."""
    file = folder / f"{name}{_SUFFIX}"
    pq.write_table(
        table,
        file,
        # Nearly every question reads the times. LZ4 is read twice as fast. Files are 13 % larger.
        compression="lz4" if name == TIMES_TABLE else "zstd",
        row_group_size=max(len(table), 1),
        dictionary_pagesize_limit=_LARGEST_DICTIONARY,
        write_page_checksum=True,
    )
    return file.stat().st_size


def read_table(
    file: Path | RemotePath, size: int, max_size: int, columns: Collection[str] | None = None
) -> pa.Table:
    """Return the table in a file of `size` bytes, or only some of its `columns`.

    Raises `TooLargeError`. For damage, raises `OSError`, `ValueError`, `KeyError` or
    `pa.ArrowException`.
    """
    if size > max_size:
        raise TooLargeError(file.name)
    # Each request to a store takes long, so a single request gets the whole file.
    content = None if isinstance(file, Path) else file.read_bytes(size + 1)
    if isinstance(file, Path):
        check_regular(file)
    found = file.stat().st_size if isinstance(file, Path) else len(content or b"")
    if found != size:
        amount = f"{found} bytes instead of" if found < size else "more bytes than"
        raise ValueError(f"{file.name} has {amount} {size}")
    name = file.name.removesuffix(_SUFFIX)
    with pq.ParquetFile(
        file if content is None else pa.BufferReader(content),
        page_checksum_verification=True,
        read_dictionary=_TEXTS.get(name),
    ) as parquet:
        _check_types(name, parquet.schema_arrow)
        # Most columns of executions are N/A in most formats. They are not read, which saves memory.
        if name == "executions":
            columns = _columns_with_values(parquet)
        if _most_bytes(parquet.metadata) > max_size:
            raise TooLargeError(file.name)
        table = parquet.read(None if columns is None else [*columns])
    if name in _TEXTS and _bytes_of_texts(table) > max_size:
        raise TooLargeError(file.name)
    return table


def _check_types(name: str, schema: pa.Schema) -> None:
    """Raise `ValueError` if a column is missing or has another type than declared.

    Optional columns and labels are not declared. They can have any of the types in `_KINDS`.
    """
    declared = {field.name: field for field in DECLARED[name]}
    missing = declared.keys() - {*schema.names} - ADDED
    if missing:
        raise ValueError(f"{name}.parquet has no column {min(missing)}")
    for field in schema:
        kinds = _kinds_of(declared[field.name]) if field.name in declared else (*_KINDS,)
        if not any(_KINDS[kind](field.type) for kind in kinds):
            raise ValueError(f"the column {field.name} has the type {field.type}")


def _kinds_of(field: Field) -> tuple[str, ...]:
    if field.name == "key":  # numbers, if the keys of all operators are numbers
        return ("integer", "text")
    if field.type in (TEXT, CATEGORIES):
        return ("text",)
    return ({NUMBER: "number", FLAG: "flag"}.get(field.type, "integer"),)


def _is_text(type_: pa.DataType) -> bool:
    return bool(pa.types.is_dictionary(type_) and pa.types.is_string(type_.value_type))


_KINDS: Final[Mapping[str, Callable[[pa.DataType], bool]]] = {
    "text": _is_text,
    "number": pa.types.is_float64,
    "integer": pa.types.is_integer,
    "flag": pa.types.is_boolean,
}
"""The kinds of columns. Other types might take more memory than `_BYTES_PER_VALUE`."""


def _most_bytes(metadata: pq.FileMetaData) -> int:
    """Return the most memory that a table takes if each dictionary has each text once.

    The texts then take no more bytes than all data of the file before compression.
    """
    most_texts = sum(metadata.row_group(n).total_byte_size for n in range(metadata.num_row_groups))
    return int(_BYTES_PER_VALUE * metadata.num_rows * metadata.num_columns + most_texts)


def _bytes_of_texts(table: pa.Table) -> int:
    """Return how much memory the texts of all rows take if each row has a text of its own."""
    return sum(
        int(_lengths(chunk.dictionary)[indices_of(chunk)].sum())
        for column in table.columns
        if pa.types.is_dictionary(column.type)
        for chunk in column.chunks
    )


def _lengths(texts: pa.Array) -> NDArray[np.int64]:
    """Return the bytes of each text, and a 0 for the index -1, which stands for N/A."""
    return np.array([*(len((text or "").encode()) for text in texts.to_pylist()), 0], np.int64)


def _columns_with_values(parquet: pq.ParquetFile) -> list[str]:
    """Return the names of the columns that have a value in some row."""
    groups = [parquet.metadata.row_group(n) for n in range(parquet.metadata.num_row_groups)]
    return [
        name
        for index, name in enumerate(parquet.schema_arrow.names)
        if not all(_is_empty(group.column(index)) for group in groups)
    ]


def _is_empty(column: pq.ColumnChunkMetaData) -> bool:
    statistics = column.statistics
    return bool(
        statistics is not None
        and statistics.has_null_count
        and statistics.null_count == column.num_values
    )

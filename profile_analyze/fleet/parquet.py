"""Reads and writes the Parquet files of data sets. A file that takes too much memory is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from profile_analyze.fleet.arrow import TEXT
from profile_analyze.fleet.profile_tables import ORIGIN, RUNS, TRACKS

if TYPE_CHECKING:
    from pathlib import Path

_LARGEST_DICTIONARY: Final = 1 << 30
"""Bytes. Parquet keeps the order of categories only if all of them fit into one dictionary."""
_BYTES_PER_VALUE: Final = 8
"""The most memory that a value takes, besides the texts of a column, which are stored once."""
_TEXTS: Final = {
    name: [field.name for field in fields if field.type == TEXT]
    for name, fields in (("tracks", TRACKS), ("runs", RUNS), ("origin", ORIGIN))
}
"""The columns of texts, in the tables whose rows become Python objects.

As dictionaries, texts that are repeated in many rows take little memory.
"""
_NUMBERS: Final = (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean, pa.types.is_null)


class TooLargeError(Exception):
    """A file takes more memory than the limit. The text is the name of the file."""


def write_table(folder: Path, name: str, table: pa.Table) -> int:
    """Write a table, and return the size of its file. Raises `OSError`."""
    file = folder / f"{name}.parquet"
    pq.write_table(
        table,
        file,
        compression="zstd",
        row_group_size=max(len(table), 1),
        dictionary_pagesize_limit=_LARGEST_DICTIONARY,
        write_page_checksum=True,
    )
    return file.stat().st_size


def read_table(file: Path, size: int, max_size: int) -> pa.Table:
    """Return the table in a file of `size` bytes.

    Raises `TooLargeError`. For damage, raises `OSError`, `ValueError` or `pa.ArrowException`.
    """
    found = file.stat().st_size
    if found != size:
        raise ValueError(f"{file.name} has {found} bytes instead of {size}")
    with pq.ParquetFile(
        file, page_checksum_verification=True, read_dictionary=_TEXTS.get(file.stem)
    ) as parquet:
        _check_types(parquet.schema_arrow)
        # Most columns of executions are N/A in most formats. They are not read, which saves memory.
        columns = _columns_with_values(parquet) if file.stem == "executions" else None
        if _most_bytes(parquet.metadata) > max_size:
            raise TooLargeError(file.name)
        table = parquet.read(columns)
    if file.stem in _TEXTS and _bytes_of_texts(table) > max_size:
        raise TooLargeError(file.name)
    return table


def _check_types(schema: pa.Schema) -> None:
    """Raise `ValueError` if a value of a column may take more memory than a number."""
    for field in schema:
        kind = field.type.value_type if pa.types.is_dictionary(field.type) else None
        is_text = kind is not None and pa.types.is_string(kind)
        if not (is_text or any(is_type(field.type) for is_type in _NUMBERS)):
            raise ValueError(f"the column {field.name} has the type {field.type}")


def _most_bytes(metadata: pq.FileMetaData) -> int:
    """Return the most memory that a table takes. Each text of a dictionary is there once."""
    texts = sum(metadata.row_group(n).total_byte_size for n in range(metadata.num_row_groups))
    return _BYTES_PER_VALUE * metadata.num_rows * metadata.num_columns + int(texts)


def _bytes_of_texts(table: pa.Table) -> int:
    """Return how much memory the texts of all rows take if each row has a text of its own."""
    lengths = (
        pc.sum(pc.binary_length(chunk.dictionary).take(chunk.indices)).as_py()
        for column in table.columns
        if pa.types.is_dictionary(column.type)
        for chunk in column.chunks
    )
    total: int = sum(length or 0 for length in lengths)
    return total


def _columns_with_values(parquet: pq.ParquetFile) -> list[str]:
    """Return the names of the columns that are not N/A in all rows."""
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

"""Turns columns of a profile into Arrow columns and back. Each field states its unit and meaning.

An Arrow column has a null where a column of a profile has N/A. References to rows of other tables
are row numbers from 1; a null means "no row".
"""

from __future__ import annotations

import json
from math import nan
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

import numpy as np
import pyarrow as pa

from profile_analyze.model.categorical import MISSING_CODE, Categorical

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

S = TypeVar("S", bound=np.generic)

NUMBER: Final = pa.float64()
COUNT: Final = pa.int64()
ROW: Final = pa.int32()
FLAG: Final = pa.bool_()
TEXT: Final = pa.string()
CATEGORIES: Final = pa.dictionary(pa.int32(), pa.string())

_ENCODING: Final = "encoding"
_JSON: Final = "json"


class Field(NamedTuple):
    """The declaration of a column: its name, its type, its unit and its meaning."""

    name: str
    type: pa.DataType
    meaning: str
    unit: str = ""
    """The unit as in `columns.column.Column.unit`; empty for texts and for row numbers."""


def table_of(
    fields: Sequence[Field], columns: Mapping[str, pa.Array], encoded: frozenset[str] = frozenset()
) -> pa.Table:
    """Return a table with `fields`. The metadata of a field has its unit and meaning.

    `encoded` names the columns whose texts are JSON.
    """
    schema = pa.schema(
        pa.field(
            field.name,
            columns[field.name].type,
            metadata=_metadata(field, is_json=field.name in encoded),
        )
        for field in fields
    )
    return pa.table([columns[field.name] for field in fields], schema=schema)


def _metadata(field: Field, *, is_json: bool) -> dict[str, str]:
    metadata = {"unit": field.unit, "meaning": field.meaning}
    return metadata | {_ENCODING: _JSON} if is_json else metadata


def number_column(values: NDArray[np.float64]) -> pa.Array:
    """Return numbers; NaN becomes null."""
    return pa.array(np.ascontiguousarray(values), from_pandas=True)


def row_column(rows: NDArray[Any]) -> pa.Array:
    """Return the row numbers, from 1, of the indices in `rows`; -1 becomes null."""
    numbers = np.ascontiguousarray(rows, np.int32) + np.int32(1)
    return pa.array(numbers, mask=numbers == 0)


def text_array(values: Iterable[str | None], errors: str = "strict") -> pa.Array:
    """Return texts. `errors` says how texts that are not valid Unicode are encoded.

    Raises `UnicodeEncodeError` for such a text if `errors` is `strict`.
    """
    if errors != "strict":
        values = (one and one.encode(errors=errors).decode() for one in values)
    return pa.array(values, TEXT)


def text_column(column: Categorical[Any], errors: str = "strict") -> pa.Array:
    """Return a categorical column.

    If any category is not a text, all categories are written as JSON. `errors` is the
    argument of `text_array`.
    """
    codes = np.ascontiguousarray(column.codes, np.int32)
    categories = column.categories
    if not are_texts(column):
        categories = tuple(json.dumps(one, ensure_ascii=False) for one in categories)
    # A dictionary keeps the order of the categories, which may decide the order of rows.
    return pa.DictionaryArray.from_arrays(
        pa.array(codes, mask=codes == MISSING_CODE), text_array(categories, errors)
    )


def are_texts(column: Categorical[Any]) -> bool:
    """Return whether all categories are texts, so that they need no JSON."""
    return all(type(category) is str for category in column.categories)


def is_json(table: pa.Table, name: str) -> bool:
    """Return whether the texts of a column are JSON."""
    metadata = table.schema.field(name).metadata or {}
    return bool(metadata.get(_ENCODING.encode()) == _JSON.encode())


def numbers_of(table: pa.Table, name: str) -> NDArray[np.float64]:
    """Return a column of numbers, with NaN for null."""
    return _filled(_array(table, name), NUMBER, np.float64(nan))


def rows_of(table: pa.Table, name: str) -> NDArray[np.int32]:
    """Return a column of row numbers as indices from 0, with -1 for null."""
    return _filled(_array(table, name), ROW, np.int32(0)) - np.int32(1)


def counts_of(table: pa.Table, name: str) -> NDArray[np.int64]:
    """Return a column of whole numbers without N/A. Raises `ValueError` for a null."""
    column = _array(table, name)
    if column.null_count:
        raise ValueError(f"{name} has nulls")
    return _filled(column, COUNT, np.int64(0))


def texts_of(table: pa.Table, name: str) -> Categorical[Any]:
    """Return a categorical column. Raises `ValueError` if the column is damaged."""
    column = _array(table, name)
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    codes = indices_of(column)
    categories = column.dictionary.to_pylist()
    if len(codes) and not MISSING_CODE <= codes.min() <= codes.max() < len(categories):
        raise ValueError(f"{name} has a code without a category")
    if is_json(table, name):
        categories = [_as_tuples(json.loads(text)) for text in categories]
    return Categorical(codes, tuple(categories))


def indices_of(column: pa.DictionaryArray) -> NDArray[np.int64]:
    """Return the index of each row's value in the dictionary; `MISSING_CODE` for null."""
    return _filled(column.indices, ROW, np.int32(MISSING_CODE)).astype(np.int64)


def _filled(array: pa.Array, type_: pa.DataType, null: S) -> NDArray[S]:
    """Return the values of an array as numbers of `type_`, with `null` for nulls."""
    array = array if array.type == type_ else array.cast(type_)
    if not len(array):
        return np.empty(0, null.dtype)
    # `to_numpy` would import pandas, where it is installed, and `fill_null` would import
    # `pyarrow.compute`. Each import takes longer than reading a part of a data set.
    validity, data = array.buffers()
    offset = array.offset
    values = np.frombuffer(data, null.dtype, len(array), offset * null.itemsize).copy()
    if array.null_count:
        bits = np.unpackbits(np.frombuffer(validity, np.uint8), bitorder="little")
        values[bits[offset : offset + len(array)] == 0] = null
    return values


def _array(table: pa.Table, name: str) -> pa.Array:
    """Return a column as one array."""
    column = table.column(name).unify_dictionaries()
    chunks = column.chunks or [pa.array([], column.type)]
    return chunks[0] if len(chunks) == 1 else pa.concat_arrays(chunks)


def _as_tuples(value: Any) -> Any:
    """Return `value` with each list as a tuple, as in the columns of a profile."""
    return tuple(map(_as_tuples, value)) if isinstance(value, list) else value

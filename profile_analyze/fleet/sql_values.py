"""The values of SQL answers: DuckDB turns all values except numbers and truth values into texts.

Python cannot represent all values of DuckDB: dates in Python end in 9999 and are never infinite.
"""

from __future__ import annotations

from decimal import Decimal
from math import isfinite
from typing import TYPE_CHECKING, Any, Final, Literal

import duckdb

from profile_analyze.columns.column import Column
from profile_analyze.columns.wording import truth_text, unit_of_machine_name

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeAlias

    _Type: TypeAlias = Literal["integer", "number", "truth", "text"]

_NUMBERS: Final = ("INT", "INTEGER", "FLOAT", "DOUBLE", "DECIMAL", "NUMBER")
"""The names of DuckDB's types of numbers end with one of these."""
_INTEGERS: Final = (
    *("TINYINT", "SMALLINT", "INTEGER", "BIGINT"),
    *("UTINYINT", "USMALLINT", "UINTEGER"),
)
"""DuckDB's types of integers whose values all fit into 64 bits with a sign."""
_NESTED: Final = ("STRUCT", "TUPLE", "MAP", "UNION", "VARIANT")
_ANSWER: Final = "values_of_answer"


def with_texts(
    connection: duckdb.DuckDBPyConnection, statement: duckdb.Statement
) -> duckdb.Statement | str:
    """Return a statement with the same answer, but with texts for dates, lists and the like.

    Raises `duckdb.Error`.
    """
    try:
        columns = connection.execute(f"DESCRIBE {statement.query}").fetchall()
    except duckdb.ParserException:  # EXPLAIN has no columns of its own
        return statement
    names, types = ([column[index] for column in columns] for index in (0, 1))
    texts = [_as_text(position, type_) for position, type_ in enumerate(types, start=1)]
    if len({*names}) < len(names) or not any(texts):
        return statement
    # Use a view, not a subquery in brackets: a final `;` or a final `--` comment in the query would
    # break the brackets.
    connection.execute(f"CREATE TEMP VIEW {_ANSWER} AS {statement.query}")
    shown = (f"{text or f'#{n}'} AS {_quoted(names[n - 1])}" for n, text in enumerate(texts, 1))
    return f"SELECT {', '.join(shown)} FROM {_ANSWER}"


def _as_text(position: int, type_: str) -> str:
    """Return an expression for the text of a column; empty if the column needs none."""
    if type_ == "VARCHAR" or _type_of_values(type_) != "text":
        return ""
    is_nested = type_.endswith("]") or type_.startswith(_NESTED)
    value = f"to_json(#{position})" if is_nested else f"#{position}"
    return f"CAST({value} AS VARCHAR)"


def _quoted(name: str) -> str:
    escaped = name.replace('"', '""')
    return f'"{escaped}"'


def answer_column(name: str, type_: str) -> Column:
    """Return the column of an answer for a type of DuckDB. The name decides the unit: `total_s`."""
    of_values = _type_of_values(type_)
    if of_values == "truth":
        return Column(name, "", "", kind="truth", as_text=truth_text)
    if of_values == "text":
        return Column(name, "", "", kind="text")
    unit = unit_of_machine_name(name) or "1"
    is_time = unit == "s"
    heading = f"{name.removesuffix('_s').replace('_', ' ')} (s)" if is_time else name
    is_whole = of_values == "integer"
    return Column(
        name, unit, "", has_whole_numbers=is_whole, shown_as="six digits", heading=heading
    )


def _type_of_values(type_: str) -> _Type:
    """Return the type of the values that `plain_values` returns for a type of DuckDB."""
    if type_ == "BOOLEAN":
        return "truth"
    if type_ in _INTEGERS:
        return "integer"
    is_number = not type_.endswith("]") and type_.partition("(")[0].endswith(_NUMBERS)
    return "number" if is_number else "text"


def plain_values(row: Sequence[Any]) -> tuple[Any, ...]:
    """Return each value of a row as an integer, float, truth value or text; None for N/A."""
    return tuple(map(_plain, row))


def _plain(value: Any) -> Any:
    if isinstance(value, Decimal):
        value = int(value) if value == value.to_integral_value() else float(value)
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int):
        return value if -(2**63) <= value < 2**63 else float(value)
    if isinstance(value, float):
        return value if isfinite(value) else None
    return str(value)

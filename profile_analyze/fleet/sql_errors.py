"""Makes messages of one line from errors of DuckDB, with suggestions from the tables for SQL."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from profile_analyze.advice.names import plain_name, suggestion
from profile_analyze.advice.words import meant_column
from profile_analyze.columns.wording import machine_name
from profile_analyze.fleet.sql_tables import COLUMNS, DECLARED

if TYPE_CHECKING:
    import duckdb

_LONGEST: Final = 400
"""A message shows at most this many characters of an error of DuckDB."""
_LONGEST_KIND: Final = 29
"""Characters. The kind of error, such as `Binder`, is the short text before the first `Error: `."""
_NO_TABLE: Final = re.compile(r"Table with name (.+?) does not exist")
_NO_FILE: Final = re.compile(r"Cannot access file .*")
_NO_COLUMN: Final = re.compile(
    r'(?:Referenced column "([^"]+)" not found|does not have a column named "([^"]+)")[^;]*'
)
_SQL_NAMES: Final = {
    **{column.name: machine_name(column) for column in COLUMNS},
    "time": "device_time_s",  # the table has no column `time`: its values would be the same
}
"""Maps the names of columns in `--columns` to their names in the table `operators`."""


def reason_of(error: duckdb.Error, query: str) -> str:
    """Return the message of DuckDB in one line, without the kind of error and the query.

    For an unknown table or column, the message suggests one of ours, because DuckDB also suggests
    internal tables. The list of candidate functions, which can take 2 KB, is left out, and so are
    the ends of long texts.
    """
    text = re.split(r"\nLINE |\s*Candidate functions:", str(error), maxsplit=1)[0]
    kind, colon, message = text.partition("Error: ")
    lines = (message if colon and len(kind) <= _LONGEST_KIND else text).split("\n")
    joined = "; ".join(line.strip().rstrip("!.") for line in lines if line.strip())
    joined = _with_suggestion(joined, query)
    return joined if len(joined) <= _LONGEST else f"{joined[:_LONGEST]}..."


def _with_suggestion(message: str, query: str) -> str:
    """Return the message. A suggestion of ours replaces the suggestion of DuckDB."""
    if match := _NO_TABLE.search(message):
        tables = f"the tables are {', '.join(DECLARED)}"
        return f"{match[0]}; {suggestion(match[1], DECLARED, {}) or tables}"
    if match := _NO_COLUMN.search(message):
        name = match[1] or match[2]
        # Only tables that the query names can have the column.
        named = [table for table in DECLARED if re.search(rf"\b{table}\b", query, re.IGNORECASE)]
        known = dict.fromkeys(one for table in named for one in _names_in(table))
        words = {plain_name(name): _SQL_NAMES.get(meant_column(name) or name, "")}
        elsewhere = [table for table in DECLARED if name in _names_in(table)]
        advice = suggestion(name, known, words)
        if elsewhere:
            advice = f"it is a column of {elsewhere[0]}; join that table"
        if advice:
            return f"{message[: match.end()]}; {advice}"
    if _NO_FILE.search(message):
        tables = ", ".join(DECLARED)
        return f"a query cannot open files; the profiles are in the tables {tables}"
    return message


def _names_in(table: str) -> list[str]:
    """Return the names of the columns of a table."""
    return [field.name for field in DECLARED[table]]

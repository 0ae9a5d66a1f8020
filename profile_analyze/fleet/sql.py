"""Answers an SQL query about a profile with DuckDB, which sees only the tables of the profile.

The query can read no files, load no extensions, reach no network and change no settings. It has
limits on its memory, its time and the size of its answer.
"""

from __future__ import annotations

import os
import re
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, Final

import duckdb

from profile_analyze.columns.kinds import SQL
from profile_analyze.errors import QueryError
from profile_analyze.fleet.arrow import COUNT, FLAG, NUMBER, ROW
from profile_analyze.fleet.sql_errors import reason_of
from profile_analyze.fleet.sql_tables import DECLARED, MEANINGS, tables_of
from profile_analyze.fleet.sql_values import answer_column, plain_values, with_texts
from profile_analyze.query.table import Table
from profile_analyze.units import scaled_text, short_time

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pyarrow as pa

    from profile_analyze.fleet.arrow import Field
    from profile_analyze.model.profile import Profile

_MEMORY: Final = "2GB"
_MOST_VALUES: Final = 10_000_000
"""The most values that an answer may have."""
_MOST_CHARACTERS: Final = 500_000_000
"""The most characters that all texts of an answer may have."""
_ROWS_AT_ONCE: Final = 100
_MOST_MEMORY: Final = 4 << 30
"""Bytes. DuckDB does not count lists and answers, so the memory of the process is limited, too."""
_DATA: Final = 5
"""The index of the memory that a process has written to, or may write to, in /proc/self/statm."""
_OWN_LIMIT: Final = " used)"
"""A part of messages of DuckDB about its own limit, which end with `(1.8 GiB/1.8 GiB used)`."""
_GRACE_S: Final = 5.0
"""How long DuckDB may take to notice that it is interrupted."""
_INTERVAL_S: Final = 0.1
_SETTINGS: Final = (
    "SET python_enable_replacements = false",
    "SET autoinstall_known_extensions = false",
    "SET autoload_known_extensions = false",
    "SET allow_community_extensions = false",
    f"SET memory_limit = '{_MEMORY}'",
    "SET temp_directory = ''",
    # With several threads, the order in which a sum adds its values would depend on chance, and
    # so would its last digits.
    "SET threads = 1",
)
_LOCKS: Final = ("SET enable_external_access = false", "SET lock_configuration = true")
"""The last settings: afterwards, no file can be opened, and no setting can be changed."""
_SQL_TYPES: Final = {NUMBER: "DOUBLE", COUNT: "BIGINT", ROW: "INTEGER", FLAG: "BOOLEAN"}
"""The types of DuckDB for types of Arrow; all other types are texts."""
_NEEDS_VALUES: Final = (
    "argument --sql: PIVOT has no list of values; write one, such as ON type IN ('Conv', 'Relu')"
)
_BLANKS: Final = r"(?:\s|--[^\n]*(?:\n|\Z)|/\*.*?\*/)*"
_EXPLAIN: Final = re.compile(
    rf"{_BLANKS}EXPLAIN{_BLANKS}(?:\([^()]*\)|(?:ANALYZE\b)?){_BLANKS}", re.IGNORECASE | re.DOTALL
)
"""Matches EXPLAIN and its options at the start of a query."""
_HELP: Final = "--sql help lists tables and columns"


def answer_sql(
    profile: Profile,
    query: str,
    *,
    timeout_s: float,
    give_up: Callable[[QueryError], None] | None = None,
) -> Table:
    """Return the answer to a query. `profile` must be at one level.

    A query that takes longer than `timeout_s` is interrupted. A few functions of DuckDB do not
    notice an interruption. In this case, `give_up` is called in another thread with the error, and
    can end the process.

    Raises `QueryError` if the query is wrong, is not allowed, or exceeds a limit.
    """
    with duckdb.connect(":memory:") as connection:
        for setting in _SETTINGS:
            connection.execute(setting)
        for name, table in tables_of(profile).items():
            _register(connection, name, table)
        for setting in _LOCKS:
            connection.execute(setting)
        try:
            statement = _only_statement(connection, query)
            with _limited_time(connection, timeout_s, give_up), _limited_memory():
                return _fetched(connection.execute(with_texts(connection, statement)))
        except (duckdb.Error, RuntimeError, MemoryError) as error:
            raise _raised_for(error, query, timeout_s) from None


def _raised_for(
    error: duckdb.Error | RuntimeError | MemoryError, query: str, timeout_s: float
) -> BaseException:
    """Return the error to raise in place of an error of DuckDB."""
    if isinstance(error, RuntimeError):
        # On Ctrl-C during a query, DuckDB raises this error instead of `KeyboardInterrupt`.
        return KeyboardInterrupt() if str(error) == "Query interrupted" else error
    if isinstance(error, duckdb.OutOfMemoryException) and _OWN_LIMIT in str(error):
        return _memory_error(f"{_MEMORY} of memory in DuckDB")
    if isinstance(error, duckdb.OutOfMemoryException | MemoryError):
        return _memory_error(f"{scaled_text(_MOST_MEMORY, 'byte')} of memory")
    if isinstance(error, duckdb.InterruptException):
        return _time_error(timeout_s)
    return QueryError(f"argument --sql: {reason_of(error, query)}; {_HELP}")


def _memory_error(limit: str) -> QueryError:
    return QueryError(f"argument --sql: needs more than {limit}; filter or aggregate earlier")


def _time_error(timeout_s: float) -> QueryError:
    limit = short_time(timeout_s)
    return QueryError(f"argument --sql: took longer than {limit}; --sql-timeout raises the limit")


def sql_help() -> str:
    """Return a list of all tables and columns, as Markdown."""
    sections = (
        f"## {name}: {MEANINGS[name]}\n\n" + "".join(map(_entry, fields))
        for name, fields in DECLARED.items()
    )
    return "\n".join(["# Tables for SQL\n", *sections])


def _entry(field: Field) -> str:
    unit = "" if field.unit in ("", "1", "count") else f" ({field.unit})"
    return f"- `{field.name}`{unit}: {field.meaning}.\n"


def _register(connection: duckdb.DuckDBPyConnection, name: str, table: pa.Table) -> None:
    """Make a view of a table, with null in the columns that the table lacks."""
    hidden = f"values_of_{name}"
    connection.register(hidden, table)
    declared = [
        f'"{field.name}"'
        if field.name in table.column_names
        else f'NULL::{_SQL_TYPES.get(field.type, "VARCHAR")} AS "{field.name}"'
        for field in DECLARED[name]
    ]
    known = {field.name for field in DECLARED[name]}
    labels = [f'"{column}"' for column in table.column_names if column not in known]
    columns = ", ".join([*declared, *labels])
    connection.execute(f"CREATE VIEW {name} AS SELECT {columns} FROM {hidden}")


def _only_statement(connection: duckdb.DuckDBPyConnection, query: str) -> duckdb.Statement:
    """Return the only statement of a query, which must be a SELECT or EXPLAIN.

    Raises `QueryError` for any other query.
    """
    try:
        query.encode()
    except UnicodeEncodeError:
        raise QueryError("argument --sql: is not valid Unicode; write it as UTF-8") from None
    statements = connection.extract_statements(query)
    if not statements:
        raise QueryError("argument --sql: is empty; write a SELECT, such as 'from operators'")
    # Older versions of DuckDB divide a PIVOT without values into two statements. Newer versions
    # return one statement of the type MULTI.
    if query.lstrip().lower().startswith("pivot") and len(statements) > 1:
        raise QueryError(_NEEDS_VALUES)
    if len(statements) > 1:
        raise QueryError(f"argument --sql: has {len(statements)} statements; write one")
    (statement,) = statements
    if statement.type.name == "MULTI":
        raise QueryError(_NEEDS_VALUES)
    name = statement.type.name
    if statement.type == duckdb.StatementType.EXPLAIN:
        name = _explained(connection, query)
    if name != duckdb.StatementType.SELECT.name:
        raise QueryError(f"argument --sql: {name} is not allowed; SQL only reads: write a SELECT")
    return statement


def _explained(connection: duckdb.DuckDBPyConnection, query: str) -> str:
    """Return the type of the statement that a query explains. ANALYZE also executes it."""
    rest = _EXPLAIN.sub("", query, count=1)
    try:
        types = [one.type.name for one in connection.extract_statements(rest)]
    except duckdb.Error:
        types = []
    return types[0] if len(types) == 1 else duckdb.StatementType.EXPLAIN.name


@contextmanager
def _limited_time(
    connection: duckdb.DuckDBPyConnection,
    timeout_s: float,
    give_up: Callable[[QueryError], None] | None,
) -> Iterator[None]:
    """Interrupt the connection if the block takes too long. Call `give_up` if this fails."""
    is_done = Event()

    def watch() -> None:
        if is_done.wait(timeout_s):
            return
        # An interruption between two steps of DuckDB has no effect, so it is repeated.
        for _ in range(round(_GRACE_S / _INTERVAL_S)):
            connection.interrupt()
            if is_done.wait(_INTERVAL_S):
                return
        if give_up is not None:
            give_up(_time_error(timeout_s))

    watcher = Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        is_done.set()
        watcher.join()


@contextmanager
def _limited_memory() -> Iterator[None]:
    """Let the process grow by `_MOST_MEMORY` at most, if the system states how large it is."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[_DATA])
    except OSError:
        yield
        return
    # Only here, because Windows has no such module.
    resource = import_module("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    limits = [pages * os.sysconf("SC_PAGE_SIZE") + _MOST_MEMORY, soft, hard]
    least = min(one for one in limits if one != resource.RLIM_INFINITY)
    resource.setrlimit(resource.RLIMIT_DATA, (least, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def _fetched(result: duckdb.DuckDBPyConnection) -> Table:
    """Return the answer. Raises `QueryError` if it is too large or repeats a column name."""
    description = result.description or []
    names = [name for name, *_ in description]
    for name in names:
        if names.count(name) > 1:
            raise QueryError(
                f"argument --sql: two columns are called {name!r}; rename one: {name} AS other"
            )
    rows: list[tuple[Any, ...]] = []
    characters = 0
    while more := result.fetchmany(_ROWS_AT_ONCE):
        rows += more
        characters += sum(len(one) for row in more for one in row if isinstance(one, str))
        for found, limit, what in (
            (len(rows) * len(names), _MOST_VALUES, "values"),
            (characters, _MOST_CHARACTERS, "characters"),
        ):
            if found > limit:
                raise QueryError(
                    f"argument --sql: the answer has more than {limit:,} {what}; aggregate them, "
                    "or add LIMIT"
                )
    columns = (answer_column(name, str(type_)) for name, type_, *_ in description)
    return Table.of(SQL, columns, list(map(plain_values, rows)))

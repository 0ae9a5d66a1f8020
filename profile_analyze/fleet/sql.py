"""Answers an SQL query about a profile with DuckDB, which sees only the tables of the profile.

The query can read no files, load no extensions, reach no network and change no settings. It has
limits on its memory, its time and the size of its answer.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

import duckdb

from profile_analyze.errors import QueryError
from profile_analyze.fleet.arrow import COUNT, FLAG, NUMBER, ROW
from profile_analyze.fleet.sql_errors import reason_of
from profile_analyze.fleet.sql_tables import DECLARED, MEANINGS, tables_of
from profile_analyze.fleet.sql_values import plain_values, value_type, with_texts
from profile_analyze.query.relation import Relation, RelationColumn
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
"""Bytes. DuckDB does not count the memory of answers, so the process is watched, too."""
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
_HELP: Final = "--sql help lists tables and columns"


def answer_sql(
    profile: Profile,
    query: str,
    *,
    timeout_s: float,
    give_up: Callable[[QueryError], None] | None = None,
) -> Relation:
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
        is_too_large = Event()
        try:
            statement = _only_statement(connection, query)
            with _limits(connection, timeout_s, give_up, is_too_large):
                return _fetched(connection.execute(with_texts(connection, statement)))
        except (duckdb.Error, RuntimeError) as error:
            is_large = is_too_large.is_set()
            raise _raised_for(error, query, timeout_s, is_too_large=is_large) from None


def _raised_for(
    error: duckdb.Error | RuntimeError, query: str, timeout_s: float, *, is_too_large: bool
) -> BaseException:
    """Return the error to raise in place of an error of DuckDB."""
    if isinstance(error, RuntimeError):
        # On Ctrl-C during a query, DuckDB raises this error instead of `KeyboardInterrupt`.
        return KeyboardInterrupt() if str(error) == "Query interrupted" else error
    if isinstance(error, duckdb.OutOfMemoryException):
        return _memory_error(f"{_MEMORY} of memory in DuckDB")
    if is_too_large or isinstance(error, duckdb.InterruptException):
        return _limit_error(timeout_s, is_too_large=is_too_large)
    return QueryError(f"argument --sql: {reason_of(error, query)}; {_HELP}")


def _memory_error(limit: str) -> QueryError:
    return QueryError(f"argument --sql: needs more than {limit}; filter or aggregate earlier")


def _limit_error(timeout_s: float, *, is_too_large: bool) -> QueryError:
    """Return the error about the limit on memory if `is_too_large`, or else on time."""
    if is_too_large:
        return _memory_error(f"{scaled_text(_MOST_MEMORY, 'byte')} of memory for its answer")
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
    if statement.type not in (duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN):
        name = statement.type.name
        raise QueryError(f"argument --sql: {name} is not allowed; SQL only reads: write a SELECT")
    return statement


@contextmanager
def _limits(
    connection: duckdb.DuckDBPyConnection,
    timeout_s: float,
    give_up: Callable[[QueryError], None] | None,
    is_too_large: Event,
) -> Iterator[None]:
    """Interrupt the connection if the block takes too long or needs too much memory.

    Set `is_too_large` if memory is the reason. Call `give_up` if the interruption fails.
    """
    is_done = Event()
    most, end = _resident_bytes() + _MOST_MEMORY, monotonic() + timeout_s

    def watch() -> None:
        while (left := end - monotonic()) > 0 and not is_too_large.is_set():
            if is_done.wait(min(left, _INTERVAL_S)):
                return
            if _resident_bytes() > most:
                is_too_large.set()
        # An interruption between two steps of DuckDB has no effect, so it is repeated.
        for _ in range(round(_GRACE_S / _INTERVAL_S)):
            connection.interrupt()
            if is_done.wait(_INTERVAL_S):
                return
        if give_up is not None:
            give_up(_limit_error(timeout_s, is_too_large=is_too_large.is_set()))

    watcher = Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        is_done.set()
        watcher.join()


def _resident_bytes() -> int:
    """Return the memory that this process uses; 0 if the system does not state it."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except OSError:
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")


def _fetched(result: duckdb.DuckDBPyConnection) -> Relation:
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
    values = list(zip(*rows, strict=True)) if rows else [()] * len(names)
    types = (str(type_) for _, type_, *_ in description)
    return Relation(
        tuple(
            RelationColumn(name, value_type(type_), plain_values(column))
            for name, type_, column in zip(names, types, values, strict=True)
        )
    )

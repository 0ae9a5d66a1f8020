"""The functions of this package that the command calls: `entry.export` and the like.

These functions need optional packages: pyarrow, duckdb or Dask. Few calls use the functions, so the
module of a function is imported when the function is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from profile_analyze.errors import OutputError

if TYPE_CHECKING:
    from profile_analyze.fleet.dask_engine import DaskEngine
    from profile_analyze.fleet.exporting import export
    from profile_analyze.fleet.loading import labelled_files, load_with_data_sets
    from profile_analyze.fleet.sql import answer_sql, sql_help

_NEEDS = {
    "DaskEngine": ("dask_engine", "--engine dask"),
    "export": ("exporting", "--export"),
    "labelled_files": ("loading", "reading a data set"),
    "load_with_data_sets": ("loading", "reading a data set"),
    "answer_sql": ("sql", "--sql"),
    "sql_help": ("sql", "--sql help"),
}
"""For each function, its module, and what the user asked for."""
_EXTRAS = {"pyarrow": "fleet", "dask": "fleet", "distributed": "fleet", "duckdb": "sql"}

__all__ = [
    "DaskEngine",
    "answer_sql",
    "export",
    "labelled_files",
    "load_with_data_sets",
    "sql_help",
]


def __getattr__(name: str) -> Any:
    if name not in _NEEDS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, purpose = _NEEDS[name]
    try:
        return getattr(import_module(f"{__package__}.{module}"), name)
    except ModuleNotFoundError as error:
        if error.name not in _EXTRAS:
            raise
        extra = "sql" if module == "sql" else _EXTRAS[error.name]
        raise OutputError(
            f"{purpose} needs {error.name}; install the extra {extra}: "
            f"pip install 'profile_analyze[{extra}]'"
        ) from None

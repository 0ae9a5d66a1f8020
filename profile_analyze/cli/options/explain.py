"""Checks the option `--explain`: its column, and the options that it excludes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from profile_analyze.cli.options.summary_words import find_explained
from profile_analyze.columns.catalog import check_columns
from profile_analyze.errors import QueryError
from profile_analyze.report.formats.output_formats import PLAIN, TABLE

if TYPE_CHECKING:
    import argparse

    from profile_analyze.query.question import Query


def column_to_explain(arguments: argparse.Namespace, query: Query) -> str | None:
    """Return the column to explain; None without `--explain`.

    Raises `QueryError` if the answer lacks this column, or if another option excludes `--explain`.
    """
    if arguments.explain is None:
        return None
    for option, given in (
        # An explanation is plain text, so these two formats are accepted.
        ("--format", arguments.format not in (None, PLAIN, TABLE)),
        ("--confluence (or --wiki)", arguments.confluence),
        ("--dump-only-opr", arguments.dump_only_opr),
        ("--columns", arguments.columns),
        ("--plot", arguments.plot),
        ("--print-only summary", arguments.print_only == "summary"),
    ):
        if given:
            raise QueryError(f"--explain shows no table, so {option} has no effect; leave one out")
    column = find_explained(arguments.explain, query.labels)
    check_columns([arguments.explain], query.kind)
    return column.name

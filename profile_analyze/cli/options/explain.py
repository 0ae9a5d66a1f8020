"""The option `--explain`: finds its column, and checks the options that it excludes.

A word of the summary gets the page that explains it. Other calls do not import this module.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from profile_analyze.advice.names import LONGEST_ADVISED
from profile_analyze.advice.words import meant_column
from profile_analyze.columns.catalog import check_columns, column_of_heading, find_column
from profile_analyze.errors import QueryError, UnknownColumnError
from profile_analyze.findings.register import find_rule
from profile_analyze.report.facts.facts import GROUP_NAMES, fact_group
from profile_analyze.report.formats.output_formats import PLAIN, TABLE

if TYPE_CHECKING:
    import argparse
    from collections.abc import Collection, Iterator

    from profile_analyze.columns.column import Column
    from profile_analyze.query.question import Query

_SHORTEST: Final = 4
"""Shorter words of labels, such as `of`, are no words of the summary."""


def column_to_explain(arguments: argparse.Namespace, query: Query) -> str:
    """Return the column or the code of the finding that `--explain` names.

    Raises `QueryError` if the answer lacks this column, or if another option excludes `--explain`.
    """
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
    if find_rule(arguments.explain) is not None:
        return str(arguments.explain)
    column = find_explained(arguments.explain, query.labels)
    check_columns([arguments.explain], query.kind)
    return column.name


def find_explained(text: str, labels: Collection[str] = ()) -> Column:
    """Return the column that `text` names; see `find_column`.

    Raises `UnknownColumnError`, which names a page if `text` is a word of summaries and notes.
    """
    try:
        return find_column(text, labels)
    except UnknownColumnError:
        if page := _page_on(text):
            raise UnknownColumnError(
                f"{text!r} is a word of summaries and notes, not a column; {page} explains it"
            ) from None
        raise


def _page_on(text: str) -> str:
    """Return the page that explains a word of the summary; empty for other texts."""
    words = text.strip().lower().replace("_", " ")
    is_column = column_of_heading(text) or (" " not in words and meant_column(text))
    if is_column or not _SHORTEST <= len(words) <= LONGEST_ADVISED:
        return ""
    whole = rf"\b{re.escape(words)}\b"
    return next((page for label, page in _labels() if re.search(whole, label.lower())), "")


def _labels() -> Iterator[tuple[str, str]]:
    """Yield the labels and further words of the summary, each with the page that explains it."""
    for group in map(fact_group, GROUP_NAMES):
        yield from group.pages.items()
        yield from ((fact.label, group.page) for fact in group.facts)

"""The option `--explain`: finds the column or the finding that it names.

A word of the summary gets the page that explains it. Other calls do not import this module.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from profile_analyze.advice.names import LONGEST_ADVISED
from profile_analyze.advice.words import meant_column
from profile_analyze.columns.catalog import column_of, column_of_heading, find_column
from profile_analyze.errors import UnknownColumnError
from profile_analyze.findings.register import find_rule
from profile_analyze.report.facts.facts import GROUP_NAMES, fact_group

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from profile_analyze.columns.column import Column
    from profile_analyze.query.question import Query

_SHORTEST: Final = 4
"""Shorter words of labels, such as `of`, are no words of the summary."""


def name_to_explain(text: str, query: Query) -> str:
    """Return the column or the code of the finding that `--explain` names.

    Raises `QueryError` if the answer lacks this column.
    """
    if find_rule(text) is not None:
        return text
    find_explained(text, query.labels)  # its error names the page on a word of the summary
    return column_of(query.kind, text).name


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

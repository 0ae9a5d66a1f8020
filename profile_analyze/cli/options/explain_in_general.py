"""The answer to `--explain COLUMN` without a file. Other calls do not import this module."""

from __future__ import annotations

from profile_analyze.cli.options.summary_words import find_explained
from profile_analyze.report.pages.column_explanation import general_explanation


def explanation_in_general(text: str) -> str:
    """Return what a column means and how it is computed. Raises `UnknownColumnError`."""
    return general_explanation(find_explained(text).name)

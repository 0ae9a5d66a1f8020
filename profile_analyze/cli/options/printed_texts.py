"""Makes the texts that some options print instead of an answer.

Only calls with such an option import this module.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from profile_analyze.cli.inputs.clear_cache import clear_cache
from profile_analyze.cli.options.completion import completion_script
from profile_analyze.cli.options.explain import find_explained
from profile_analyze.cli.output.terminal import terminal_width
from profile_analyze.fleet import entry
from profile_analyze.report.layout.paragraphs import as_plain_text, with_own_indent
from profile_analyze.report.pages.column_explanation import general_explanation
from profile_analyze.report.pages.column_list import column_list
from profile_analyze.report.pages.device_list import device_list

if TYPE_CHECKING:
    import argparse

_LINE_WIDTH: Final = 100
"""The list of columns is wrapped to at most this width, because longer lines are hard to read."""


def printed_text(option: str, value: str, arguments: argparse.Namespace) -> str:
    """Return the text that an option prints: `--peaks list`, `--sql help`, and the like.

    `value` is the value of the option. Raises the errors of `clear_cache` and of
    `find_explained`.
    """
    if option == "--columns":
        return _column_list(terminal_width(sys.stdout))
    if option == "--peaks":
        return device_list(terminal_width(sys.stdout))
    if option == "--sql":
        return with_own_indent(entry.sql_help(), terminal_width(sys.stdout))
    if option == "--explain":
        explanation = general_explanation(find_explained(value).name)
        return with_own_indent(explanation, terminal_width(sys.stdout)) + "\n"
    if option == "--print-completion":
        return completion_script(value)
    assert option == "--clear-cache", f"{option} prints no text"
    return clear_cache(arguments)


def _column_list(width: int | None) -> str:
    """Return the list of columns for a terminal of this width, or unwrapped Markdown for None."""
    if width is None:
        return column_list()
    return as_plain_text(column_list(), min(width, _LINE_WIDTH))

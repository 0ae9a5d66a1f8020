"""The texts that options print instead of an answer.

Only calls with such an option import this module, and with it the modules that make the texts.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from profile_analyze.cli.clear_cache import clear_cache
from profile_analyze.cli.terminal import terminal_width
from profile_analyze.report.column_explanation import general_explanation
from profile_analyze.report.device_list import device_list
from profile_analyze.report.paragraphs import with_own_indent

if TYPE_CHECKING:
    import argparse


def printed_text(option: str, arguments: argparse.Namespace) -> str:
    """Return the text that an option prints: `--peaks list`, `--clear-cache` or `--explain`.

    Raises `QueryError` and `OutputError`; see `clear_cache`.
    """
    if option == "--peaks":
        return device_list(terminal_width(sys.stdout))
    if option == "--clear-cache":
        return clear_cache(arguments)
    explanation = general_explanation(arguments.explain)
    return with_own_indent(explanation, terminal_width(sys.stdout)) + "\n"

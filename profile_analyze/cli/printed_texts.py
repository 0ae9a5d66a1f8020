"""Texts that options print instead of an answer.

Only calls with such an option import this module, and with it the modules that make the texts.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from profile_analyze.cli.clear_cache import clear_cache
from profile_analyze.cli.completion import completion_script
from profile_analyze.cli.terminal import terminal_width
from profile_analyze.report.device_list import device_list

if TYPE_CHECKING:
    import argparse


def printed_text(option: str, value: str, arguments: argparse.Namespace) -> str:
    """Return the text of `--peaks list`, `--print-completion SHELL` or `--clear-cache`.

    Raises `QueryError` and `OutputError`; see `clear_cache`.
    """
    if option == "--peaks":
        return device_list(terminal_width(sys.stdout))
    if option == "--print-completion":
        return completion_script(value)
    return clear_cache(arguments)

"""Makes the texts that some options print instead of an answer.

Only calls with such an option import this module.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from profile_analyze.cli.inputs.clear_cache import clear_cache
from profile_analyze.cli.options.explain import find_explained
from profile_analyze.cli.output.terminal import terminal_width
from profile_analyze.findings.register import find_rule
from profile_analyze.fleet import entry
from profile_analyze.report.layout.paragraphs import as_plain_text, with_own_indent
from profile_analyze.report.pages.column_explanation import general_explanation
from profile_analyze.report.pages.column_list import column_list
from profile_analyze.report.pages.finding_list import finding_list, rule_page

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

_LINE_WIDTH: Final = 100
"""Lists are wrapped to at most this width, because longer lines are hard to read."""


def printed_text(option: str, value: str, arguments: argparse.Namespace) -> str:
    """Return the text that an option prints: `--peaks list`, `--sql help`, and the like.

    `value` is the value of the option. Raises the errors of `clear_cache` and of
    `find_explained`.
    """
    width = terminal_width(sys.stdout)
    texts: dict[str, Callable[[], str]] = {
        "--columns": lambda: _page(column_list(), width),
        "--findings": lambda: _page(finding_list(), width),
        "--peaks": lambda: _module("report.pages.device_list").device_list(width),
        "--sql": lambda: with_own_indent(entry.sql_help(), width),
        "--explain": lambda: with_own_indent(_explanation(value), width) + "\n",
        "--print-completion": lambda: _module("cli.options.completion").completion_script(value),
        "--clear-cache": lambda: clear_cache(arguments),
    }
    return texts[option]()


def _module(name: str) -> Any:
    """Return a module that imports tables, and so takes longer than most of these texts."""
    return import_module(f"profile_analyze.{name}")


def _explanation(name: str) -> str:
    """Return what is known of a finding or a column without a profile."""
    if (rule := find_rule(name)) is not None:
        return "\n".join(rule_page(rule))
    return general_explanation(find_explained(name).name)


def _page(markdown: str, width: int | None) -> str:
    """Return a list for a terminal of this width, or as it is, unwrapped Markdown, for None."""
    return markdown if width is None else as_plain_text(markdown, min(width, _LINE_WIDTH))

"""Reads a user's own defaults of options from the environment variable PROFILE_ANALYZE_OPTIONS."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING, Any, Final

from profile_analyze.cli.options.parser import PROGRAM, Parser, color_choice, parse
from profile_analyze.cli.options.table import OPTIONS
from profile_analyze.cli.output.requested_format import has_stacks, requested_renderer
from profile_analyze.errors import QueryError
from profile_analyze.report.formats.output_formats import find_renderer

if TYPE_CHECKING:
    from collections.abc import Sequence

VARIABLE: Final = "PROFILE_ANALYZE_OPTIONS"

_ALLOWED: Final = [option for option in OPTIONS if option.may_be_default]


def default_words() -> list[str]:
    """Return the words in the variable, split at blanks. No allowed value contains a blank."""
    return os.environ.get(VARIABLE, "").split()


def parse_with_defaults(argv: Sequence[str]) -> argparse.Namespace:
    """Parse a command line with `parser.parse`, using the defaults in the variable.

    Raises `QueryError`. If the content of the variable is wrong, the message names the variable.
    """
    arguments = parse(argv)
    words = default_words()
    return parse(argv, _usable(_defaults(words), arguments)) if words else arguments


def color_with_defaults(argv: Sequence[str]) -> str:
    """Return the value of the last `--color` in a command line, or else in the variable."""
    flags = [flag for option in _ALLOWED for flag in option.flags]
    return color_choice(argv, default=color_choice(default_words(), flags=flags))


def _defaults(words: Sequence[str]) -> dict[str, Any]:
    """Return the value of each option in the variable, by its name in argparse's namespace."""
    parser = Parser(prog=PROGRAM, add_help=False)
    for option in _ALLOWED:
        settings = {**option.settings, "default": argparse.SUPPRESS}
        parser.add_argument(*option.flags, **settings)
    try:
        values, others = parser.parse_known_args(words)
    except QueryError as error:
        raise QueryError(f"{VARIABLE}: {error}") from None
    if others:
        known = ", ".join(option.flags[-1] for option in _ALLOWED)
        raise QueryError(
            f"{VARIABLE}: {others[0]} cannot be a default, only {known} can; write {others[0]} in "
            "the call"
        )
    defaults = vars(values)
    output_format = defaults.get("format")
    if output_format is not None and find_renderer(output_format).for_programs:
        raise QueryError(
            f"{VARIABLE}: --format {output_format} is for programs; write it in the call"
        )
    return defaults


def _usable(defaults: dict[str, Any], arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the defaults that do not contradict the arguments of the call."""
    requested = requested_renderer(arguments)
    unusable = set()
    if requested is not None or arguments.explain is not None:
        unusable.add("format")
    if requested is not None and requested.for_programs:
        unusable.add("time_unit")
    if has_stacks(requested) or arguments.sql is not None:
        # A default of --top is meant for tables: it must not cut stacks, and --sql rejects --top.
        unusable.add("top")
    if arguments.export is not None:
        unusable |= {"format", "top", "time_unit"}
    return {name: value for name, value in defaults.items() if name not in unusable}

"""Defaults of options for all calls of a user: the environment variable PROFILE_ANALYZE_OPTIONS."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING, Any, Final

from profile_analyze.cli.option_checks import requested_output_format
from profile_analyze.cli.options import OPTIONS
from profile_analyze.cli.parser import PROGRAM, Parser, parse
from profile_analyze.errors import QueryError
from profile_analyze.report.output_formats import find_renderer

if TYPE_CHECKING:
    from collections.abc import Sequence

VARIABLE: Final = "PROFILE_ANALYZE_OPTIONS"

_ALLOWED: Final = [option for option in OPTIONS if option.may_be_default]


def default_words() -> list[str]:
    """Return the words of the variable, split at blanks: no allowed value contains a blank."""
    return os.environ.get(VARIABLE, "").split()


def parse_with_defaults(argv: Sequence[str]) -> argparse.Namespace:
    """Return the arguments, with the defaults of the variable: see `parser.parse`.

    Raises `QueryError`, which names the variable if its content is wrong.
    """
    arguments = parse(argv)
    words = default_words()
    return parse(argv, _usable(_defaults(words), arguments)) if words else arguments


def _defaults(words: Sequence[str]) -> dict[str, Any]:
    """Return the values of the options in the variable by their names as arguments."""
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
        raise QueryError(f"{VARIABLE}: {others[0]} is none of {known}; write it in the call")
    defaults = vars(values)
    output_format = defaults.get("format")
    if output_format is not None and find_renderer(output_format).for_programs:
        raise QueryError(
            f"{VARIABLE}: --format {output_format} is for programs; write it in the call"
        )
    return defaults


def _usable(defaults: dict[str, Any], arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the defaults without those that contradict the arguments of the call."""
    requested = requested_output_format(arguments)
    unusable = set()
    if requested is not None or arguments.explain is not None:
        unusable.add("format")
    if requested is not None and find_renderer(requested).for_programs:
        unusable.add("time_unit")
    return {name: value for name, value in defaults.items() if name not in unusable}

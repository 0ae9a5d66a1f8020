"""The output format that the options ask for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from profile_analyze.errors import QueryError
from profile_analyze.report.formats.output_formats import (
    OPERATORS,
    TABLE,
    WIKI,
    find_renderer,
    output_format_of,
)

if TYPE_CHECKING:
    import argparse

    from profile_analyze.report.base import Renderer


def has_stacks(renderer: Renderer | None) -> bool:
    """Return whether the requested output format shows stacks."""
    return renderer is not None and renderer.has_stacks


def requested_renderer(arguments: argparse.Namespace) -> Renderer | None:
    """Return the renderer that the options ask for; None if they do not choose a format.

    Raises `QueryError` if options ask for two formats.
    """
    name = WIKI if arguments.confluence else arguments.format
    name = name or output_format_of(arguments.output or "")
    if arguments.dump_only_opr:
        _check_that_names_are_shown(arguments, name)
        name = OPERATORS
    elif arguments.confluence and arguments.format not in (None, WIKI):
        raise QueryError(
            f"--confluence (or --wiki) and --format {arguments.format} ask for two formats; "
            "leave one out"
        )
    return None if name is None or arguments.explain is not None else find_renderer(name)


def _check_that_names_are_shown(arguments: argparse.Namespace, by_suffix: str | None) -> None:
    """Raise `QueryError` if another option asks for more than `--dump-only-opr` shows.

    `by_suffix` is the format for the suffix of the output file.
    """
    for option, given in (
        ("--confluence (or --wiki)", arguments.confluence),
        (f"--format {arguments.format}", arguments.format),
        ("--columns", arguments.columns),
    ):
        if given:
            raise QueryError(
                f"--dump-only-opr prints no table, so {option} has no effect; leave one out; "
                "a table of the names: --print-only device --columns name"
            )
    if by_suffix not in (None, TABLE):
        raise QueryError(
            f"argument -o/--output: {arguments.output} asks for {by_suffix}, which "
            "--dump-only-opr does not have; use another suffix"
        )

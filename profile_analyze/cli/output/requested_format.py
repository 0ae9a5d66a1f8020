"""The output format that the options ask for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from profile_analyze.report.formats.output_formats import OPERATORS, WIKI, output_format_of

if TYPE_CHECKING:
    import argparse


def requested_output_format(arguments: argparse.Namespace) -> str | None:
    """Return the output format that the options ask for; None if they do not choose a format."""
    if arguments.explain is not None:
        return None
    if arguments.dump_only_opr:
        return OPERATORS
    if arguments.confluence:
        return WIKI
    return arguments.format or output_format_of(arguments.output or "")

"""Reports unknown options and choices, and missing files, with what the user probably meant."""

from __future__ import annotations

import os
import shlex
import stat
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Final, NoReturn

from profile_analyze.advice.options import advice_on_choice, advice_on_option
from profile_analyze.cli.inputs.files import real_path
from profile_analyze.cli.options.table import OPTION_OF
from profile_analyze.columns.catalog import CATALOG
from profile_analyze.errors import QueryError
from profile_analyze.readers.input.suffixes import SUFFIXES

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

__all__ = ["advice_on_choice", "check_unknown", "report_missing_file"]

_COLUMNS: Final = frozenset(column.name for column in CATALOG)


def check_unknown(unknown: Sequence[str], arguments: Sequence[str]) -> None:
    """Raise `QueryError` with advice on an unknown argument; return if there is no advice."""
    for argument in unknown:
        # argparse may have split an argument such as `-xt5`.
        start = arguments.index(argument) + 1 if argument in arguments else len(arguments)
        following = arguments[start:]
        advice = argument.startswith("-") and advice_on_option(
            argument, following, OPTION_OF, _COLUMNS, SUFFIXES
        )
        if advice:
            raise QueryError(f"there is no option {argument.partition('=')[0]}; {advice}")


def report_missing_file(arguments: argparse.Namespace, command: str) -> NoReturn:
    """Raise `QueryError` for a call of `command` that names no profile."""
    if arguments.compare:
        raise QueryError(
            "--compare took all files that are named; name the profile before it; write "
            f"{_with_profile_first(arguments.compare)}"
        )
    if arguments.input_dtype and arguments.input_dtype.endswith(SUFFIXES):
        raise QueryError(
            "the following arguments are required: FILE; --input-dtype, or --input, selects a "
            "dtype; name the file without an option"
        )
    advice = "- reads standard input; " if _has_standard_input() else ""
    raise QueryError(f"the following arguments are required: FILE; {advice}see {command} --help")


def _with_profile_first(files: Sequence[str]) -> str:
    """Return the arguments that were probably meant by `--compare` and `files`.

    `--compare` takes all names after it, even if one of them was meant as the profile.
    """
    if len(set(files)) > 2:
        return "NEW --compare OLD, each with all files of its side"
    new = files[-1]
    base = [one for one in files if real_path(one) != real_path(new)]
    if base:
        return shlex.join([new, "--compare", *base])
    return f"FILE --compare {shlex.quote(new)}, with another profile as FILE"


def _has_standard_input() -> bool:
    """Return whether standard input is a pipe or a file, which the user probably meant to read."""
    with suppress(AttributeError, ValueError, OSError):  # there may be no standard input
        mode = os.fstat(sys.stdin.fileno()).st_mode
        return stat.S_ISFIFO(mode) or stat.S_ISREG(mode)
    return False

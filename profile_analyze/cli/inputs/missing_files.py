"""Checks that named files exist, before anything is read."""

from __future__ import annotations

import os
import shlex
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from profile_analyze.advice.files import COMPARING, advice_on_file
from profile_analyze.advice.names import did_you_mean
from profile_analyze.columns.aggregates import find_aggregate
from profile_analyze.columns.catalog import CATALOG, group_keys
from profile_analyze.errors import InputError, QueryError
from profile_analyze.readers.input.content import remote_path
from profile_analyze.readers.input.paths import LIST
from profile_analyze.readers.input.suffixes import SUFFIXES
from profile_analyze.readers.input.urls import is_pattern, is_url

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable, Mapping, Sequence

_COLUMN_NAMES: Final = frozenset(column.name for column in CATALOG)
_IS_IN_LIST: Final[Mapping[str, Callable[[str], bool]]] = {
    "--aggregate-by": frozenset(group_keys()).__contains__,
    "--aggregate": lambda word: find_aggregate(word) is not None,
    "--order-by": lambda word: word.removeprefix("+") in _COLUMN_NAMES,
    "--columns": _COLUMN_NAMES.__contains__,
}
"""For each option that takes a list, a function that says whether the list may have a word."""


def check_that_lists_are_not_split(arguments: argparse.Namespace) -> None:
    """Raise `QueryError` if the user wrote `--columns name time` instead of `--columns name,time`.

    argparse then takes `time` for the name of a file.
    """
    words = {word.strip(","): word for word in arguments.files}
    meant: dict[str, str] = {}
    for option, is_in_list in _IS_IN_LIST.items():
        value = getattr(arguments, option.removeprefix("--").replace("-", "_"))
        names = [name for name in words if is_in_list(name) and not _exists(words[name])]
        if value and names:
            whole = shlex.quote(",".join((value.rstrip(","), *names)))
            meant[option] = f"{option} {whole}"
    if meant:
        advice = did_you_mean([*meant.values()])
        raise QueryError(f"argument {next(iter(meant))}: takes one value; {advice}")


def check_that_files_exist(names: Sequence[str]) -> None:
    """Raise `InputError` with advice if a named file does not exist."""
    missing = [
        name for name in names if name != "-" and not name.startswith(LIST) and not _exists(name)
    ]
    # If several names are missing, report a word such as `vs` first: it explains the call best.
    for name in sorted(missing, key=lambda name: name.lower() not in COMPARING):
        if os.path.islink(name):
            target = os.readlink(name)
            raise InputError(name, f"is a link to {target}, which does not exist")
        if not name.strip():
            raise InputError(
                f"'{name}'", "the file name is empty; is a variable of the shell unset?"
            )
        advice = advice_on_file(name, names, _exists, SUFFIXES)
        raise InputError(name, f"no such file; {advice}" if advice else "no such file")


def check_that_listed_files_exist(listed: Iterable[tuple[str, str]]) -> None:
    """Raise `InputError` if a file does not exist. Each name comes with the list that has it."""
    for name, of_list in listed:
        if name != "-" and not _exists(name):
            has_folder = "://" in name or os.path.isabs(name)
            folder = "" if has_folder else "; its names are relative to the current folder"
            raise InputError(name, f"no such file; the list {of_list} names it{folder}")


def _exists(name: str) -> bool:
    """Return whether the file exists.

    Also return True for a URL that is not a pattern, or if an error such as a missing permission
    hides the answer. In both cases, reading the file gives a better message.
    """
    if is_url(name):
        return not is_pattern(name) or remote_path(name).exists()
    with suppress(ValueError, OSError):
        try:
            os.stat(name)
        except FileNotFoundError:
            return False
    return True

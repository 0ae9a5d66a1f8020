"""`--clear-cache`: removes the decoded profiles that earlier calls kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

from profile_analyze.cli.inputs.cache_folder import cache_folder
from profile_analyze.errors import OutputError, QueryError, system_reason
from profile_analyze.readers.cache.files import cache_files, remove
from profile_analyze.units import counted, scaled

if TYPE_CHECKING:
    import argparse


def clear_cache(arguments: argparse.Namespace) -> str:
    """Remove all decoded profiles, and return a line for the user that says what was removed.

    Raises `QueryError` if other options contradict `--clear-cache`, and `OutputError` if a file
    cannot be removed.
    """
    if arguments.files or arguments.compare:
        raise QueryError(
            "--clear-cache only removes decoded profiles; leave it out, or leave out the files"
        )
    if arguments.no_cache:
        raise QueryError("--no-cache uses no folder, so --clear-cache has nothing to clear")
    folder = cache_folder(arguments)
    if folder is None:
        return "there is no cache: the user has no home folder\n"
    try:
        files = cache_files(folder)
        remove(files)
    except OSError as error:
        reason = system_reason(error)
        raise OutputError(f"{folder}: the cache cannot be cleared: {reason}") from None
    if not files:
        return f"there are no decoded profiles in {folder}\n"
    size = " ".join(scaled(sum(file.size for file in files), "byte"))
    return f"removed {counted(len(files), 'decoded profile')} ({size}) from {folder}\n"

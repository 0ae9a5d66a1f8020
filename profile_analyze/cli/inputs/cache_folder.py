"""Finds the folder for decoded profiles, which is in the user's cache folder by default."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from profile_analyze.errors import QueryError
from profile_analyze.readers.input.urls import is_url

if TYPE_CHECKING:
    import argparse


def user_cache_folder() -> Path | None:
    """Return this program's folder in the user's cache folder; None without a home folder."""
    with suppress(RuntimeError):  # the user has no home folder
        return _folder_of_caches() / "profile_analyze"
    return None


def _folder_of_caches() -> Path:
    folder = Path(os.environ.get("XDG_CACHE_HOME", ""))
    if folder.is_absolute():  # the specification says to ignore a relative path
        return folder
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA")
        return Path(local) if local else Path.home() / "AppData" / "Local"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    return Path.home() / ".cache"


def cache_folder(arguments: argparse.Namespace) -> str | None:
    """Return the folder for decoded profiles; None if profiles are not kept.

    Raises `QueryError` if the options contradict each other.
    """
    if arguments.cache is not None:
        if arguments.no_cache:
            raise QueryError("--cache names a folder, and --no-cache keeps nothing; leave one out")
        if not arguments.cache:
            raise QueryError("--cache: the name of the folder is empty; is a variable unset?")
        if is_url(arguments.cache):
            raise QueryError(f"--cache: {arguments.cache} is a URL; name a local folder")
        folder: str = arguments.cache
        return folder
    user = None if arguments.no_cache else user_cache_folder()
    return None if user is None else str(user / "profiles")

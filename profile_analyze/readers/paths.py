"""Names of inputs: expands folders and lists into their files, and makes paths absolute."""

from __future__ import annotations

import os
from contextlib import suppress
from glob import glob, has_magic
from typing import TYPE_CHECKING, Final

from profile_analyze.errors import InputError
from profile_analyze.readers.companions import companions_of
from profile_analyze.readers.content import MAX_SIZE
from profile_analyze.readers.source import Source

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from os import PathLike

SUFFIXES: Final = (".json", ".json.gz", ".json.zst")
"""The suffixes of the files in a folder that count as profiles."""

_MODEL: Final = ".onnx"
_TEXTS: Final = (".txt", ".csv", ".xml", ".log")
"""Suffixes that some profiles have. A folder may have other files with them, such as notes, so only
an error message suggests them."""
_MOST_FOLDERS: Final = 2
"""The most subfolders that an error message names."""

DATA_SET_MANIFEST: Final = "_profile_analyze.json"
"""The file that marks a folder as a data set, which `fleet` reads."""

LIST: Final = "@"
"""The prefix that marks a list, which is a file with the names of other files."""


def files_in(names: Iterable[str], *, max_size: int = MAX_SIZE) -> list[str]:
    """Return the files that `names` stand for.

    - A folder stands for its files with one of `SUFFIXES`, sorted by name. Files that only describe
      a profile in the folder are left out. A folder that is a data set stands for itself.
    - `@FILE` stands for the names in FILE, one in each line. Blank lines and lines that begin with
      `#` are skipped.
    - Any other name is a file, or `-`.

    Raises `InputError` for an empty folder or list, and for a list of more than `max_size` bytes.
    """
    return [file for name in names for file in _expand(name, max_size)]


def matching_names(names: Iterable[str]) -> Iterator[str]:
    """Yield `names`, with the names of files in place of patterns such as `runs/**/*.json`."""
    for name in names:
        is_pattern = has_magic(name) and not name.startswith(LIST) and not os.path.lexists(name)
        found = glob(name, recursive=True) if is_pattern else []
        found.sort()
        # `**` also matches folders. They count only if nothing but folders matches.
        yield from [one for one in found if not os.path.isdir(one)] or found or [name]


def data_sets_in(names: Iterable[str], *, max_size: int = MAX_SIZE) -> list[str]:
    """Return the data sets that are named, are in a list, or match a pattern.

    A list that is no regular file, such as a pipe, is left out, because it can be read only once.
    A list that cannot be read is left out, too: `files_in` reports the error.
    """
    data_sets = []
    for name in matching_names(names):
        if not name.startswith(LIST):
            data_sets += [name] if is_data_set(name) else []
        elif os.path.isfile(name.removeprefix(LIST)):
            with suppress(InputError):
                data_sets += filter(is_data_set, files_in([name], max_size=max_size))
    return data_sets


def is_data_set(name: str) -> bool:
    """Return whether `name` is a folder that is a data set."""
    return os.path.isfile(os.path.join(name, DATA_SET_MANIFEST))


def absolute_path(file: str | PathLike[str]) -> str:
    """Return the absolute path of a file. Links in it are not followed."""
    return os.path.abspath(file)  # `Path.resolve` follows links


def _expand(name: str, max_size: int) -> Iterator[str]:
    if not name.startswith(LIST):
        yield from _expand_folder(name)
        return
    try:
        content = Source(name.removeprefix(LIST), max_size=max_size).content()
    except InputError as error:
        raise InputError(name, f"the list cannot be read: {error.reason}") from None
    # Decoded as the system decodes arguments, so that names need not be UTF-8.
    lines = [line.strip() for line in os.fsdecode(content).splitlines()]
    listed_names = [line for line in lines if line and not line.startswith("#")]
    if not listed_names:
        raise InputError(name, "is a list without names; write one in each line")
    if listed_names[0].startswith("{"):
        raise InputError(name, "looks like JSON, not like a list; name a profile without the @")
    for listed_name in listed_names:
        # Lists do not nest: otherwise two lists could include each other.
        if listed_name.startswith(LIST):
            reason = f"has the list {listed_name} in it; write the names themselves"
            raise InputError(name, reason)
        yield from _expand_folder(listed_name)


def _expand_folder(name: str) -> Iterator[str]:
    try:
        entries = sorted(os.listdir(name)) if os.path.isdir(name) else None
    except OSError as error:
        raise InputError(name, (error.strerror or str(error)).lower()) from None
    if entries is None or DATA_SET_MANIFEST in entries:
        yield name
        return
    files = _profiles_among(name, entries)
    if not files:
        patterns = ", ".join(f"*{suffix}" for suffix in SUFFIXES)
        reason = f"is a directory without profiles ({patterns})"
        raise InputError(name, reason + _advice_on_folder(name, entries))
    yield from files


def _profiles_among(folder: str, entries: Iterable[str]) -> list[str]:
    names = [entry for entry in entries if entry.endswith(SUFFIXES)]
    companions = {companion for name in names for companion in companions_of(name)}
    paths = (os.path.join(folder, name) for name in names if name not in companions)
    return [path for path in paths if _is_file_or_broken_link(path)]


def _advice_on_folder(folder: str, entries: Iterable[str]) -> str:
    """Return advice on what to name instead of a folder without profiles; may be empty."""
    paths = [os.path.join(folder, entry) for entry in entries]
    models = [path for path in paths if path.endswith(_MODEL)]
    if models:
        return f"; models are named one by one: {models[0]}"
    texts = sorted({os.path.splitext(path)[1] for path in paths if path.endswith(_TEXTS)})
    if texts:
        patterns = " ".join(os.path.join(folder, f"*{suffix}") for suffix in texts)
        return f"; name files with other suffixes: {patterns}"
    with_profiles = [path for path in paths if _has_profiles(path)][:_MOST_FOLDERS]
    return (
        f"; subfolders are not searched: name one, such as {' or '.join(with_profiles)}"
        if with_profiles
        else ""
    )


def _has_profiles(path: str) -> bool:
    with suppress(OSError):  # not a folder, or no permission to read it
        return bool(_profiles_among(path, os.listdir(path)))
    return False


def _is_file_or_broken_link(path: str) -> bool:
    # A broken link counts as a file, because opening it later reports the error.
    return os.path.isfile(path) or not os.path.exists(path)

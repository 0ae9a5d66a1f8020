"""From what is named to the files that are meant: folders and lists stand for what is in them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from profile_analyze.errors import InputError
from profile_analyze.readers.content import MAX_SIZE
from profile_analyze.readers.source import Source

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

SUFFIXES: Final = (".json", ".json.gz", ".json.zst")
"""Of the files in a folder that are taken for profiles."""

LIST: Final = "@"
"""What stands before the name of a file that has names in it."""


def files_in(names: Iterable[str], *, max_size: int = MAX_SIZE) -> list[str]:
    """The files that `names` stand for.

    A folder stands for the files in it (and links to such) with one of `SUFFIXES`, by name;
    `@FILE` for what the lines of that file name, blank ones and those that begin with `#` left out.
    Anything else is a file, or `-`. Raises `InputError` for a folder or list with nothing in it,
    and for a list of more than `max_size` bytes.
    """
    return [file for name in names for file in _files(name, max_size)]


def _files(name: str, max_size: int) -> Iterator[str]:
    if not name.startswith(LIST):
        yield from _in_folder(name)
        return
    listed = name.removeprefix(LIST)
    try:
        text = os.fsdecode(Source(listed, max_size=max_size).content())
    except InputError as error:
        raise InputError(name, f"the list cannot be read: {error.reason}") from None
    lines = [line.strip() for line in text.splitlines()]
    found = [line for line in lines if line and not line.startswith("#")]
    if not found:
        raise InputError(name, "is a list without names; write one in each line")
    if found[0].startswith("{"):
        raise InputError(name, "looks like JSON, not like a list; name a profile without the @")
    for line in found:
        if line.startswith(LIST):
            raise InputError(name, f"has the list {line} in it; write the names themselves")
        yield from _in_folder(line)


def _in_folder(name: str) -> Iterator[str]:
    try:
        entries = sorted(os.listdir(name)) if os.path.isdir(name) else None  # noqa: PTH112, PTH208  # any text
    except OSError as error:
        raise InputError(name, (error.strerror or str(error)).lower()) from None
    if entries is None:
        yield name
        return
    named = (os.path.join(name, entry) for entry in entries if entry.endswith(SUFFIXES))  # noqa: PTH118  # same
    found = [file for file in named if _is_meant(file)]
    if not found:
        known = ", ".join(f"*{suffix}" for suffix in SUFFIXES)
        raise InputError(name, f"is a directory without profiles ({known})")
    yield from found


def _is_meant(file: str) -> bool:
    """Whether what a folder has is a file, or a link that should lead to one and does not."""
    return os.path.isfile(file) or not os.path.exists(file)  # noqa: PTH110, PTH113  # any text

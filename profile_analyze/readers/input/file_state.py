"""The state of a file: what is different after a change."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from os import PathLike


class FileState(NamedTuple):
    """What the system knows of a file. If the content changes, some value changes."""

    size: int
    """In bytes."""
    modified_ns: int
    changed_ns: int
    """When the content or the properties changed. Unlike `modified_ns`, no program can set it."""
    inode: int
    """The number of the file, which another file with this name does not have."""


def state_of_file(path: str | PathLike[str]) -> FileState | None:
    """Return the state of a regular file; None if there is no such file."""
    try:
        status = os.stat(path)  # noqa: PTH116  # `Path` changes some names
    except (OSError, ValueError):  # `ValueError`: the name has a NUL character
        return None
    if not stat.S_ISREG(status.st_mode):
        return None
    return FileState(status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)

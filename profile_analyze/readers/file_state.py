"""The state of a file: its size and the time of its last change."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from os import PathLike


class FileState(NamedTuple):
    """The size of a file in bytes, and the time of its last change."""

    size: int
    changed_ns: int


def state_of_file(path: str | PathLike[str]) -> FileState | None:
    """Return the state of a regular file; None if there is no such file."""
    try:
        status = os.stat(path)  # noqa: PTH116  # `Path` changes some names
    except (OSError, ValueError):  # `ValueError`: the name has a NUL character
        return None
    return FileState(status.st_size, status.st_mtime_ns) if stat.S_ISREG(status.st_mode) else None

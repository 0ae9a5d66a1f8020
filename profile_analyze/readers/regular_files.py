"""Opens regular files only: no pipe that waits for a writer, no endless device, and no link."""

from __future__ import annotations

import errno
import os
import stat
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from io import BufferedRandom, BufferedReader
    from os import PathLike

# Without O_NONBLOCK, opening a named pipe would wait for a writer.
_FLAGS: Final = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_NOT_REGULAR: Final = "is not a regular file"


def open_regular(path: str | PathLike[str]) -> BufferedReader:
    """Open a regular file for reading. Raises `OSError`, also for links and for anything else.

    Folders on the way may be links.
    """
    return os.fdopen(_opened(path, os.O_RDONLY), "rb")


def open_or_create_regular(path: str | PathLike[str]) -> BufferedRandom:
    """Open a regular file for reading and writing; see `open_regular`. A missing one is created."""
    return os.fdopen(_opened(path, os.O_RDWR | os.O_CREAT), "r+b")


def _opened(path: str | PathLike[str], flags: int) -> int:
    try:
        handle = os.open(path, flags | _FLAGS, 0o666)
    except OSError as error:
        if error.errno != errno.ELOOP:
            raise
        raise OSError(errno.EINVAL, "is a link, not a regular file", path) from None
    if stat.S_ISREG(os.fstat(handle).st_mode):
        return handle
    os.close(handle)
    raise OSError(errno.EINVAL, _NOT_REGULAR, path)


def check_regular(path: str | PathLike[str]) -> None:
    """Raise `OSError` if `path` is not a regular file, for a library that opens it by its name."""
    if not stat.S_ISREG(os.lstat(path).st_mode):
        raise OSError(errno.EINVAL, _NOT_REGULAR, path)

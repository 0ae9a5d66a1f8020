"""Opens regular files only: no pipe that waits for a writer, no endless device, and no link."""

from __future__ import annotations

import errno
import os
import stat
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from io import BufferedReader
    from os import PathLike

# Without O_NONBLOCK, opening a named pipe would wait for a writer.
_FLAGS: Final = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


def open_regular(path: str | PathLike[str]) -> BufferedReader:
    """Open a regular file for reading. Raises `OSError`, also for anything else than such a file.

    Folders on the way may be links.
    """
    try:
        handle = os.open(path, _FLAGS)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise OSError(errno.ELOOP, "is a link, not a regular file") from None
        raise
    if stat.S_ISREG(os.fstat(handle).st_mode):
        return os.fdopen(handle, "rb")
    os.close(handle)
    raise OSError(errno.EINVAL, "is not a regular file")


def read_small(path: str | PathLike[str], most: int) -> bytes:
    """Return the content of a regular file of at most `most` bytes; see `open_regular`."""
    with open_regular(path) as stream:
        data = stream.read(most + 1)
    if len(data) > most:
        raise OSError(errno.EFBIG, f"is larger than {most} bytes")
    return data

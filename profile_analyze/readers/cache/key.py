"""The secret key of a cache folder. It tells files that the user's calls kept from all others.

Without it, whoever can write into the folder, or damages a file there, could decide the answer.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path
from tempfile import mkstemp
from typing import Final

from profile_analyze.readers.regular_files import open_regular

_SIZE: Final = 32  # bytes


def cache_key(folder: str) -> bytes | None:
    """Return the user's key for the files in `folder`; None if there is no valid key.

    A key is valid only if nobody but the user can have read or written it.
    """
    with suppress(OSError), open_regular(_path(folder)) as stream:
        status = os.fstat(stream.fileno())
        is_private = status.st_uid == _user() and not stat.S_IMODE(status.st_mode) & 0o077
        key = stream.read(_SIZE + 1)
        if len(key) == _SIZE and (is_private or os.name == "nt"):
            return key
    return None


def new_cache_key(folder: str) -> bytes:
    """Return the user's key for the files in `folder`, and create it first if there is none.

    The folder is created, too. Raises `OSError`.
    """
    known = cache_key(folder)
    if known is not None:
        return known
    Path(folder).mkdir(mode=0o700, parents=True, exist_ok=True)
    key = os.urandom(_SIZE)
    handle, temporary = mkstemp(prefix=".key.", dir=folder)  # a file that only its owner can read
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(key)
        Path(temporary).replace(_path(folder))
    except BaseException:
        with suppress(OSError):
            Path(temporary).unlink()
        raise
    return cache_key(folder) or key  # another process may have replaced it just now


def _path(folder: str) -> Path:
    return Path(folder) / f"key-{_user()}"


def _user() -> int:
    """Return the number of the user; 0 on systems without such numbers."""
    return getattr(os, "geteuid", lambda: 0)()

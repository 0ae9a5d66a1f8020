"""The files in a cache folder: they appear whole or not at all, and have a total size.

Only regular files with the names that this module gives count. All other entries of the folder
stay.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path
from tempfile import mkstemp
from time import time_ns
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

SUFFIX: Final = ".profile"
_UNFINISHED: Final = ".unfinished"
_LONGEST_WRITING_NS: Final = 3600 * 10**9
"""An unfinished file that is older belongs to a process that died."""
_NAME: Final = re.compile(rf"([0-9a-f]{{16}}-){{3}}[0-9a-f]{{16}}({SUFFIX}|\.\w+{_UNFINISHED})")


class CacheFile(NamedTuple):
    """One file in a cache folder."""

    path: str
    size: int
    used_ns: int
    """When the file was last used, or written."""


def cache_files(folder: str, start: str = "") -> list[CacheFile]:
    """Return the files in a folder whose names begin with `start`, the least recently used first.

    A file that another process is writing does not count. Without a folder, there are no files.
    """
    found = []
    with suppress(FileNotFoundError), os.scandir(folder) as entries:
        for entry in entries:
            is_named = entry.name.startswith(start) and _NAME.fullmatch(entry.name)
            # Opening a pipe would wait for a writer.
            if is_named and entry.is_file(follow_symlinks=False):
                with suppress(FileNotFoundError):  # another process removed it just now
                    status = entry.stat()
                    found.append(CacheFile(entry.path, status.st_size, status.st_mtime_ns))
    files = (file for file in found if not _is_being_written(file))
    return sorted(files, key=lambda file: (file.used_ns, file.path))


def _is_being_written(file: CacheFile) -> bool:
    is_recent = time_ns() - file.used_ns < _LONGEST_WRITING_NS
    return is_recent and file.path.endswith(_UNFINISHED)


def remove(files: Iterable[CacheFile]) -> None:
    """Remove files, if another process has not removed them. Raises `OSError`."""
    for file in files:
        Path(file.path).unlink(missing_ok=True)


def write(folder: str, name: str, pieces: Sequence[bytes | memoryview], most: int) -> None:
    """Write a file under a temporary name, and rename it. Raises `OSError`.

    The least recently used files are removed first, so that the folder has at most `most` bytes. A
    file of more bytes is not written.
    """
    size = sum(map(len, pieces))
    if size > most:
        return
    Path(folder).mkdir(mode=0o700, parents=True, exist_ok=True)
    _make_room(folder, most - size)
    # The content needs no fsync: after a power cut, its checksum shows that it is damaged.
    handle, temporary = mkstemp(prefix=f"{name}.", suffix=_UNFINISHED, dir=folder)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.writelines(pieces)
        Path(temporary).replace(Path(folder) / f"{name}{SUFFIX}")
    except BaseException:
        with suppress(OSError):
            Path(temporary).unlink()
        raise


def mark_used(path: str) -> None:
    """Set the time of a file to now, so that it is removed late."""
    with suppress(OSError):  # the folder may be read-only, or the file removed just now
        os.utime(path)


def _make_room(folder: str, most: int) -> None:
    """Remove the least recently used files until the rest has at most `most` bytes."""
    files = cache_files(folder)
    total = sum(file.size for file in files)
    for file in files:
        if total <= most:
            return
        remove([file])
        total -= file.size

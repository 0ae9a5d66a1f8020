"""Lists, writes and removes the files in a cache folder.

A file gets its final name only once it is complete. Before a new file is written, the least
recently used files are removed, so that the folder stays within its size limit.

This module handles only regular files that it named itself. It leaves all other entries of the
folder alone.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path
from tempfile import mkstemp
from time import time_ns
from typing import TYPE_CHECKING, Final, NamedTuple

from profile_analyze.termination import CleanEnd

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

SUFFIX: Final = ".profile"
_UNFINISHED: Final = ".unfinished"
_LONGEST_WRITING_NS: Final = 3600 * 10**9
"""If an unfinished file is older than this, the process that wrote it must have died."""
_NAME: Final = re.compile(rf"([0-9a-f]{{16}}-){{3}}[0-9a-f]{{16}}({SUFFIX}|\.\w+{_UNFINISHED})")


class CacheFile(NamedTuple):
    """One file in a cache folder."""

    path: str
    size: int
    used_ns: int
    """When the file was last used or written, in nanoseconds since 1970."""


def cache_files(folder: str, start: str = "") -> list[CacheFile]:
    """Return the files in `folder` whose names begin with `start`, least recently used first.

    Files that another process is still writing are left out. A missing folder has no files.
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
    """Remove files. Files that are already gone are ignored. Raises `OSError`."""
    for file in files:
        Path(file.path).unlink(missing_ok=True)


def write(folder: str, name: str, pieces: Sequence[bytes | memoryview], most: int) -> None:
    """Write a file under a temporary name, then give it its final name. Raises `OSError`.

    First, remove the least recently used files, so that all files together have at most `most`
    bytes. If the new file alone has more than `most` bytes, write and remove nothing. The folder
    must exist.
    """
    size = sum(map(len, pieces))
    if size > most:
        return
    _make_room(folder, most - size)
    # No fsync is needed: if a power cut damages the file, its checksum shows the damage.
    with CleanEnd() as end:
        end.delay()
        handle, temporary = mkstemp(prefix=f"{name}.", suffix=_UNFINISHED, dir=folder)
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.writelines(pieces)
            Path(temporary).replace(Path(folder) / f"{name}{SUFFIX}")
        except BaseException:  # Ctrl-C must not leave half a file either
            with suppress(OSError):
                Path(temporary).unlink()
            raise


def mark_used(path: str) -> None:
    """Set the times of a file to now, so that `write` removes other files first."""
    with suppress(OSError):  # the folder may be read-only, or the file removed just now
        os.utime(path)


def _make_room(folder: str, most: int) -> None:
    """Remove the least recently used files until the remaining files have at most `most` bytes."""
    files = cache_files(folder)
    total = sum(file.size for file in files)
    for file in files:
        if total <= most:
            return
        remove([file])
        total -= file.size

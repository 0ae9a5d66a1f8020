"""A lock on a data set: only one process at a time publishes or removes parts."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Final

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]  # a module on other systems

from profile_analyze.readers.regular_files import open_or_create_regular

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LOCK: Final = ".lock"
"""The name of the file that is locked. It is never removed: another process may wait for it."""


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the lock on a data set. Wait while another process holds it. Raises `OSError`.

    The system releases the lock if the process dies. On Windows, and on drives without locks, the
    `with` block runs at once.
    """
    with open_or_create_regular(folder / LOCK) as file:
        if fcntl is not None:
            with suppress(OSError):  # some network drives have no locks
                fcntl.flock(file, fcntl.LOCK_EX)
        yield

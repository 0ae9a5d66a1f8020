"""Files at URLs, for tests: in the memory of this process, and with a driver that fails."""

from __future__ import annotations

from contextlib import contextmanager
from io import BytesIO
from typing import TYPE_CHECKING, Any

import fsspec
from fsspec.implementations.memory import MemoryFileSystem

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


@contextmanager
def in_memory(files: Mapping[str, bytes]) -> Iterator[None]:
    """Have the files at `memory://NAME` inside the block, and no others."""
    system = MemoryFileSystem()
    system.store.clear()
    system.pseudo_dirs[:] = [""]
    for name, content in files.items():
        system.pipe(f"/{name}", content)
    try:
        yield
    finally:
        system.store.clear()
        system.pseudo_dirs[:] = [""]


class FaultyFiles(MemoryFileSystem):  # type: ignore[misc]  # fsspec has no types
    """The files of `memory://`, but each method raises `error`, unless it is None."""

    protocol = "faulty"
    cachable = False
    error: Exception | None = None
    content: bytes | None = None
    """What a file has when it is read, whatever its size; None for its own content."""
    opened = 0
    """How many files are open."""

    @classmethod
    def _strip_protocol(cls, path: str) -> str:
        rest = path.removeprefix("faulty://")
        return "/" + rest.rpartition("@")[2].lstrip("/")

    def _open(self, path: str, *arguments: Any, **options: Any) -> Any:
        if self.error is not None:
            raise self.error
        original = super()._open(path, *arguments, **options)
        return _Counted(original.getvalue() if self.content is None else self.content, original)

    def isdir(self, path: str) -> bool:
        if self.error is not None:
            raise self.error
        return bool(super().isdir(path))

    exists = isdir
    glob = ls = isdir


class _Counted(BytesIO):
    """The content of an open file, which counts as open until it is closed."""

    def __init__(self, content: bytes, original: Any) -> None:
        super().__init__(content)
        self.size = original.size
        FaultyFiles.opened += 1

    def close(self) -> None:
        if not self.closed:
            FaultyFiles.opened -= 1
        super().close()


@contextmanager
def faulty(error: Exception | None = None, content: bytes | None = None) -> Iterator[None]:
    """Have `faulty://` fail with `error`, or read `content`, inside the block."""
    fsspec.register_implementation("faulty", FaultyFiles, clobber=True)
    FaultyFiles.error, FaultyFiles.content = error, content
    try:
        yield
    finally:
        FaultyFiles.error, FaultyFiles.content = None, None

"""Files at URLs, for tests: in the memory of this process, and with a driver that fails."""

from __future__ import annotations

from collections import Counter
from contextlib import contextmanager
from io import BytesIO
from typing import TYPE_CHECKING, Any, ClassVar

import fsspec
from fsspec.implementations.memory import MemoryFileSystem

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


@contextmanager
def in_memory(files: Mapping[str, bytes]) -> Iterator[None]:
    """Make `files` the only files at `memory://` inside the block."""
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
    """What every file returns when it is read, whatever its size; None for its own content."""
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

    # Tests call these only with an error, so they need no results of their own.
    exists = glob = ls = isdir


class _Counted(BytesIO):
    """An open file, which `FaultyFiles.opened` counts until the file is closed."""

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
    """Inside the block, let files at `faulty://` fail with `error`, or return `content`."""
    fsspec.register_implementation("faulty", FaultyFiles, clobber=True)
    FaultyFiles.error, FaultyFiles.content = error, content
    try:
        yield
    finally:
        FaultyFiles.error, FaultyFiles.content = None, None


class CountingFiles(MemoryFileSystem):  # type: ignore[misc]  # fsspec has no types
    """The files of `memory://` at `counting://`, with a count of the requests."""

    protocol = "counting"
    cachable = False
    requests: ClassVar[Counter[str]] = Counter()
    """How often each method was called with each path, such as `ls /runs`."""
    is_inside: ClassVar[bool] = False
    """Whether another method is running. The calls that this method makes are not counted."""

    @classmethod
    def _strip_protocol(cls, path: str) -> str:
        rest = path.removeprefix("counting://").strip("/")
        return f"/{rest}" if rest else ""

    def __getattribute__(self, name: str) -> Any:
        method = super().__getattribute__(name)
        if name not in ("glob", "ls", "isdir", "exists", "cat_file", "open"):
            return method

        def counted(path: str, *arguments: Any, **options: Any) -> Any:
            if CountingFiles.is_inside:
                return method(path, *arguments, **options)
            CountingFiles.requests[f"{name} {self._strip_protocol(path)}"] += 1
            CountingFiles.is_inside = True
            try:
                return method(path, *arguments, **options)
            finally:
                CountingFiles.is_inside = False

        return counted


@contextmanager
def counting(files: Mapping[str, bytes]) -> Iterator[Counter[str]]:
    """Make `files` available at `counting://` inside the block. Yield the requests for them."""
    fsspec.register_implementation("counting", CountingFiles, clobber=True)
    CountingFiles.requests.clear()
    with in_memory(files):
        yield CountingFiles.requests

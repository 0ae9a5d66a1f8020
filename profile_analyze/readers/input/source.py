"""`Source`: the input of a reader. It provides the first bytes, all bytes, or chunks of bytes."""

from __future__ import annotations

import os
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from profile_analyze.readers.input.content import (
    BYTE_ORDER_MARK,
    MAX_SIZE,
    SMALL_SIZE,
    ByteStream,
    display_name,
    input_errors,
    remote_path,
)
from profile_analyze.readers.input.file_state import state_of_file
from profile_analyze.readers.input.urls import folder_of, is_url, url_in
from profile_analyze.readers.model_inputs import NO_INPUTS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from os import PathLike
    from types import TracebackType

    from profile_analyze.readers.input.file_state import FileState
    from profile_analyze.readers.model_inputs import ModelInputs

HEAD_SIZE: Final = 1 << 16
"""The number of bytes that readers get to recognise their format."""
CHUNK_SIZE: Final = 16 << 20
_ALL: Final = 1 << 62  # bytes, more than any input has


class Cache(NamedTuple):
    """A folder that keeps the decoded profiles of large files: see `readers.cache`."""

    folder: str
    smallest: int = 100_000_000
    """An uncompressed file of this size in bytes, or larger, is a large file."""
    most: int = 5_000_000_000
    """The largest total size of the folder's profiles, in bytes."""

    @property
    def smallest_compressed(self) -> int:
        """A compressed file of this size in bytes, or larger, is a large file."""
        # Compressed profiles have between a twentieth and a tenth of their original size.
        return self.smallest // 20


class Source:
    """One input, decompressed and without a byte order mark.

    A reader calls `content` for all bytes at once, or `chunks` to use bounded memory. The first
    call opens the input. Nothing is read twice, so standard input works like a file.

    All methods that read raise `InputError` if the input cannot be read.
    """

    def __init__(  # noqa: PLR0913  # options, each by its name
        self,
        path: str | PathLike[str],
        *,
        within: str = "",
        max_size: int = MAX_SIZE,
        parts: Iterable[Source] = (),
        progress: Callable[[int, int], None] | None = None,
        inputs: ModelInputs = NO_INPUTS,
        beside: bool = True,
        cache: Cache | None = None,
    ) -> None:
        """Make the source of the file `path`, which may be a URL; `-` is standard input.

        A relative `path` is in the folder `within`, or else in the current folder. For `max_size`,
        `progress`, `inputs`, `beside` and `cache` see `load`.
        """
        self.path = _path_within(within, path)
        self.inputs = inputs
        """The sizes that the caller gives to the inputs, if the file is a model."""
        self.name = display_name(path)
        """The name of the input in messages. It does not contain `within`."""
        self.beside = beside and path != "-"
        """Whether readers look in the folder of the file for descriptions of its operators."""
        self.cache = cache
        """Where the profile of the input may be kept; None to keep nothing."""
        self.files_beside: dict[str, FileState | None] = {}
        """The state of each file beside the input that a reader has asked for; None if it is
        missing."""
        self.packages: set[str] = set()
        """Packages that a reader used. With another version, the profile may be different."""
        self.parts = tuple(parts)
        """Other inputs that belong to this input, for formats that use several files."""
        self.max_size = max_size
        self._progress = progress
        self._stream: ByteStream | None = None
        self._buffered = _Buffer()
        self._is_complete = False  # whether the end of the input was reached
        self._is_spent = False  # whether the bytes were handed out as chunks
        self._error: Exception | None = None  # raised by all later calls

    @classmethod
    def of_bytes(cls, name: str, data: bytes, *, parts: Iterable[Source] = ()) -> Source:
        """Make the source of uncompressed `data`, with `name` as its name in messages."""
        source = cls("-", parts=parts)  # like standard input, bytes have no folder
        source.name = name
        source._buffered = _Buffer(data.removeprefix(BYTE_ORDER_MARK))
        source._is_complete = True
        return source

    def __enter__(self) -> Source:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def folder(self) -> Path | None:
        """The local folder of the file, if `beside` is set; None for a URL."""
        return Path(self.path).parent if self.beside and not is_url(self.path) else None

    def head(self, size: int = HEAD_SIZE) -> bytes:
        """Return the first `size` bytes after leading white space, or all if there are fewer."""
        wanted = size
        while True:
            # `in_place` would reserve memory for the whole file, even if the reader will call
            # `chunks` to use less memory.
            self._buffer_up_to(wanted, in_place=False)
            head = self._buffered.first(wanted).lstrip()
            if len(head) >= size or self._buffered.size < wanted:
                return head[:size]
            wanted *= 2  # so much was white space that the head is too short

    def size_up_to(self, limit: int) -> int:
        """Read up to `limit` bytes. Return the size of the input, or `limit` if it is larger."""
        self._buffer_up_to(limit, in_place=True)
        return min(self._buffered.size, limit)

    def content(self) -> bytes:
        """Return all bytes. They stay in memory until `close`."""
        self._buffer_up_to(_ALL, in_place=True)
        return self._buffered.all()

    def chunks(self, size: int = CHUNK_SIZE) -> Iterator[bytes]:
        """Yield all bytes in order, in chunks of `size` bytes. The last chunk may be shorter.

        The bytes do not stay in memory, so no other method can return them afterwards.
        """
        self._buffer_up_to(1, in_place=False)
        rest = bytearray(self._buffered.all())
        self._buffered, self._is_spent = _Buffer(), True
        while True:
            while len(rest) < size and (part := self._next_part(size - len(rest))):
                rest += part
            if not rest:
                return
            with memoryview(rest) as view:  # `bytes(rest[:size])` would copy twice
                chunk = bytes(view[:size])
            del rest[:size]
            yield chunk

    def has_neighbour(self, name: str) -> bool:
        """Return whether the folder of the input has a file `name`.

        Standard input has no folder, so the result is False.
        """
        if self.path == "-" or "\0" in name:
            return False
        # A hostile local model may give a URL as the name of a file beside it. No request must go
        # to that URL, so only the path of the input decides whether a request is sent.
        if is_url(self.path):  # not added to `files_beside`: profiles at URLs are not cached
            return remote_path(_path_beside(self.path, name)).exists()
        self.files_beside[name] = self.state_of_neighbour(name)
        return self.files_beside[name] is not None

    def state_of_neighbour(self, name: str) -> FileState | None:
        """Return the size and time of a file in the folder of the input; None if it is missing."""
        return state_of_file(_path_beside(self.path, name))

    def neighbour(self, name: str) -> Source | None:
        """Return the source of a file beside the input; None if there is no such file."""
        if not self.has_neighbour(name):
            return None
        source = Source(_path_beside(self.path, name), max_size=self.max_size)
        source.name = _path_beside(self.name, name)
        return source

    def file_size(self) -> int:
        """Return the size of the file in bytes, before decompression.

        Return 0 if it is not a regular file. A URL is not a regular file.
        """
        state = None if self.path == "-" else state_of_file(self.path)
        return 0 if state is None else state.size

    def close(self) -> None:
        """Close the input and its parts, and free their bytes."""
        self._release(ValueError(f"the source of {self.name} is closed"))
        for part in self.parts:
            part.close()

    def _release(self, error: Exception) -> None:
        """Close the input, free its bytes, and have all later calls raise `error`."""
        if self._stream is not None:
            self._stream.close()
        self._buffered = _Buffer()
        self._error = error

    def _buffer_up_to(self, wanted: int, *, in_place: bool) -> None:
        """Read until the first `wanted` bytes, or all bytes, are in memory.

        With `in_place`, a large uncompressed file is read straight into one buffer of its size.
        """
        assert not self._is_spent, "the bytes were handed out as chunks"
        with self._remembering_errors():
            if self._is_complete:
                return
            stream = self._open()
            if in_place and stream.plain_size > SMALL_SIZE:
                self._buffered.reserve(stream.plain_size)
            while not self._is_complete and self._buffered.size < wanted:
                self._is_complete = not self._buffered.add_from(stream, wanted)
            if self._is_complete:
                stream.close()

    def _next_part(self, most: int) -> bytes:
        """Return the next bytes that are not buffered, as `ByteStream.read_some` does."""
        with self._remembering_errors():
            part = b"" if self._is_complete else self._open().read_some(most)
            self._is_complete = not part
            if self._is_complete and self._stream is not None:
                self._stream.close()
            return part

    def _open(self) -> ByteStream:
        if self._stream is None:
            self._stream = ByteStream(self.path, self.max_size, self._progress)
            self._buffered.add(self._stream.first)
        return self._stream

    @contextmanager
    def _remembering_errors(self) -> Iterator[None]:
        """If the block raises an error, raise the same error in later blocks, too."""
        # Reading on after an error could return bytes with a gap.
        if self._error is not None:
            raise self._error
        try:
            with input_errors(self.name, self.max_size):
                yield
        except Exception as error:
            self._release(error)
            raise


def _path_beside(path: str | PathLike[str], name: str) -> str:
    """Return the path or the URL of the file `name` in the folder of `path`."""
    path = os.fspath(path)
    if is_url(path):
        return url_in(folder_of(path), name)
    return os.path.join(os.path.dirname(path), name)  # noqa: PTH118, PTH120  # `Path` changes some names


def _path_within(folder: str, path: str | PathLike[str]) -> str | PathLike[str]:
    """Return the path of a file. If `path` is relative, it is in `folder`."""
    name = os.fspath(path)
    has_no_folder = name in ("", "-") or is_url(name)
    return path if not folder or has_no_folder else os.path.join(folder, name)  # noqa: PTH118  # `Path` changes some names


class _Buffer:
    """Collects bytes that arrive in parts, without a second copy in memory."""

    # BytesIO shares a single bytes object with its user: `BytesIO(data)` and `getvalue()` copy
    # nothing. Joining a list of parts would need twice the memory of the file.

    def __init__(self, data: bytes = b"") -> None:
        self._buffer = BytesIO(data)
        self._reserved = 0
        self.size = len(data)

    def reserve(self, size: int) -> None:
        """Reserve space for `size` bytes in total. Space that is never filled takes no memory."""
        if size > max(self.size, self._reserved):
            first = self.first(self.size)
            # `bytes(size)` gets zeroed pages, which the system provides on the first write.
            self._buffer = BytesIO(bytes(size))
            self._buffer.write(first)
            self._reserved = size

    def add(self, part: bytes) -> None:
        """Append `part`. The first part is not copied."""
        if self.size or self._reserved:
            self._buffer.seek(self.size)
            self._buffer.write(part)
        else:
            self._buffer = BytesIO(part)
        self.size += len(part)

    def add_from(self, stream: ByteStream, wanted: int) -> int:
        """Append the next bytes of `stream`, up to about `wanted` bytes in total.

        Return the number of bytes that were appended.
        """
        before = self.size
        # If the file has grown since space was reserved, the additional bytes are appended.
        end = min(self._reserved, wanted)
        if self.size < end:
            with self._buffer.getbuffer() as whole, whole[self.size : end] as space:
                self.size += stream.read_into(space)
        elif part := stream.read_some(wanted - self.size):
            self.add(part)
        return self.size - before

    def first(self, size: int) -> bytes:
        """Return the first `size` bytes, or all bytes if there are fewer."""
        self._buffer.seek(0)
        return self._buffer.read(min(size, self.size))

    def all(self) -> bytes:
        """Return all bytes: the buffer itself, not a copy."""
        # The file may have shrunk since its size was reserved.
        self._buffer.truncate(self.size)
        self._reserved = 0
        return self._buffer.getvalue()

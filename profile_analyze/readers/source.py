"""The input of readers: its first bytes, all bytes at once, or chunks."""

from __future__ import annotations

from contextlib import contextmanager
from io import BytesIO
from typing import TYPE_CHECKING, Final

from profile_analyze.readers.content import (
    BYTE_ORDER_MARK,
    MAX_SIZE,
    SMALL_SIZE,
    ByteStream,
    input_errors,
    name_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from os import PathLike
    from types import TracebackType

HEAD_SIZE: Final = 1 << 16
"""How many bytes are nearly always enough to recognise a format."""
CHUNK_SIZE: Final = 16 << 20
_ALL: Final = 1 << 62  # bytes


class Source:
    """One input, decompressed and without a byte order mark.

    A reader asks for `content`, which is all bytes at once, or for `chunks`, which take bounded
    memory. The input is opened when it is first asked for something. Nothing is read twice, so
    standard input works like a file.

    Every method but `close` raises `InputError` if the input cannot be read.
    """

    def __init__(
        self,
        path: str | PathLike[str],
        *,
        max_size: int = MAX_SIZE,
        parts: Iterable[Source] = (),
    ) -> None:
        """Make the source of the file `path`, where `-` is standard input.

        `max_size` is the most bytes that it may hold, decompressed.
        """
        self.name = name_of(path)
        """The name of the input in messages."""
        self.parts = tuple(parts)
        """Further inputs that belong to this one, for formats of several files."""
        self._path = path
        self._max_size = max_size
        self._stream: ByteStream | None = None
        self._gathered = _Gathered()
        self._is_complete = False  # whether no more bytes will come
        self._is_spent = False  # whether the bytes were handed out as chunks
        self._error: Exception | None = None  # what went wrong, for all later calls

    @classmethod
    def of_bytes(cls, name: str, data: bytes, *, parts: Iterable[Source] = ()) -> Source:
        """Make the source of `data`, which is not compressed, with `name` for messages."""
        source = cls(name, parts=parts)
        source.name = name
        source._gathered = _Gathered(data.removeprefix(BYTE_ORDER_MARK))
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

    def head(self, size: int = HEAD_SIZE) -> bytes:
        """Return the first `size` bytes after leading blanks, fewer if there are no more."""
        wanted = size
        while True:
            self._gather(wanted, in_place=False)
            head = self._gathered.first(wanted).lstrip()
            if len(head) >= size or self._gathered.size < wanted:
                return head[:size]
            wanted *= 2

    def size_up_to(self, limit: int) -> int:
        """Return how many bytes there are, or `limit` if there are more. Reads that many."""
        self._gather(limit, in_place=True)
        return min(self._gathered.size, limit)

    def content(self) -> bytes:
        """Return all bytes. They are kept until `close`."""
        self._gather(_ALL, in_place=True)
        return self._gathered.all()

    def chunks(self, size: int = CHUNK_SIZE) -> Iterator[bytes]:
        """Yield all bytes in order, `size` at once. The last chunk may be shorter.

        The bytes are not kept: nothing else can be asked for afterwards.
        """
        self._gather(1, in_place=False)
        gathered, self._gathered, self._is_spent = self._gathered, _Gathered(), True
        buffer = bytearray()
        for chunk in gathered.slices(size):
            if len(chunk) == size:
                yield chunk
            else:
                buffer += chunk
        del gathered
        while part := self._next_part(size - len(buffer)):
            if not buffer and len(part) == size:
                yield part
                continue
            buffer += part
            while len(buffer) >= size:
                with memoryview(buffer) as view:
                    chunk = bytes(view[:size])
                del buffer[:size]
                yield chunk
        if buffer:
            yield bytes(buffer)

    def close(self) -> None:
        """Close the input and its parts, and free the bytes that were kept."""
        self._release(ValueError(f"the source of {self.name} is closed"))
        for part in self.parts:
            part.close()

    def _release(self, error: Exception) -> None:
        """Free what is held, and raise `error` when something is asked for."""
        if self._stream is not None:
            self._stream.close()
        self._gathered = _Gathered()
        self._error = error

    def _gather(self, wanted: int, *, in_place: bool) -> None:
        """Have `wanted` bytes in memory, or all. With `in_place` there is room for a plain file."""
        assert not self._is_spent, "the bytes were handed out as chunks"
        if self._error is not None or not self._is_complete:
            self._read_on(wanted, in_place=in_place)

    def _read_on(self, wanted: int, *, in_place: bool) -> None:
        with self._errors_kept():
            if self._is_complete:
                return
            stream = self._opened()
            if in_place and stream.expected > SMALL_SIZE:
                self._gathered.reserve(stream.expected)
            while not self._is_complete and self._gathered.size < wanted:
                self._is_complete = not self._gathered.add_from(stream, wanted)
            if self._is_complete:
                stream.close()

    def _next_part(self, most: int) -> bytes:
        """Return the next bytes after those that were gathered; none if there are no more."""
        with self._errors_kept():
            part = b"" if self._is_complete else self._opened().read_some(most)
            self._is_complete = not part
            if self._is_complete and self._stream is not None:
                self._stream.close()
            return part

    def _opened(self) -> ByteStream:
        if self._stream is None:
            self._stream = ByteStream(self._path, self._max_size)
            self._gathered.add(self._stream.first)
        return self._stream

    @contextmanager
    def _errors_kept(self) -> Iterator[None]:
        """Raise what goes wrong in the block now and in each later call."""
        if self._error is not None:
            raise self._error
        try:
            with input_errors(self.name, self._max_size):
                yield
        except Exception as error:
            self._release(error)
            raise


class _Gathered:
    """Bytes that come one part after another and are in memory once."""

    def __init__(self, data: bytes = b"") -> None:
        self._buffer = BytesIO(data)
        self._reserved = 0
        self.size = len(data)

    def reserve(self, size: int) -> None:
        """Make room for `size` bytes in all. Room that is not filled takes no memory."""
        if size > max(self.size, self._reserved):
            begun = self.first(self.size)
            self._buffer = BytesIO(bytes(size))
            self._buffer.write(begun)
            self._reserved = size

    def add(self, part: bytes) -> None:
        """Append `part`. The first one is not copied."""
        if self.size or self._reserved:
            self._buffer.seek(self.size)
            self._buffer.write(part)
        else:
            self._buffer = BytesIO(part)
        self.size += len(part)

    def add_from(self, stream: ByteStream, wanted: int) -> int:
        """Append the next bytes of `stream`, up to about `wanted` in all; return how many."""
        before = self.size
        end = min(self._reserved, wanted)
        if self.size < end:
            with self._buffer.getbuffer() as whole, whole[self.size : end] as space:
                self.size += stream.read_into(space)
        elif part := stream.read_some(wanted - self.size):
            self.add(part)
        return self.size - before

    def first(self, size: int) -> bytes:
        """Return the first `size` bytes, or all."""
        self._buffer.seek(0)
        return self._buffer.read(min(size, self.size))

    def slices(self, size: int) -> Iterator[bytes]:
        """Yield all bytes, `size` at once."""
        for start in range(0, self.size, size):
            self._buffer.seek(start)
            yield self._buffer.read(min(size, self.size - start))

    def all(self) -> bytes:
        """Return all bytes: the buffer itself, no copy of it."""
        self._buffer.truncate(self.size)
        self._reserved = 0
        return self._buffer.getvalue()

"""The bytes of a file or of standard input, decompressed if they are gzip or zstd."""

from __future__ import annotations

import errno
import os
import stat
import sys
import zlib
from contextlib import contextmanager, suppress
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any, BinaryIO, Final, NamedTuple

from profile_analyze.errors import InputError, MalformedProfileError
from profile_analyze.units import scaled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from os import PathLike

MAX_SIZE: Final = 8 << 30
"""How many bytes an input may hold, decompressed, unless the caller sets another limit."""

BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
_GZIP = b"\x1f\x8b"
_ZSTD = b"\x28\xb5\x2f\xfd"
_LONGEST_MAGIC: Final = 4  # bytes
_STANDARD_INPUT = "standard input"
SMALL_SIZE: Final = 1 << 20
"""The size in bytes up to which a file is read at once."""
_STEP: Final = 1 << 16  # bytes of a stream that are read at once, as many as a pipe holds
_LARGE_STEP: Final = 16 << 20  # bytes of a plain file that are read at once, at most


def name_of(path: str | PathLike[str]) -> str:
    """Return the name of the input `path` in messages."""
    name = os.fspath(path)
    return _STANDARD_INPUT if name == "-" else name or repr(name)


@contextmanager
def input_errors(file: str, max_size: int) -> Iterator[None]:
    """Raise `InputError` about `file` for what can go wrong in the block while it is read."""
    try:
        yield
    except _TooLargeError:
        amount, unit = scaled(max_size, "byte")
        reason = f"holds more than {amount} {unit}, decompressed; --max-size raises the limit"
        raise InputError(file, reason) from None
    except OSError as error:
        raise InputError(file, _reason(error)) from None
    except MemoryError:
        raise InputError(file, "does not fit into memory") from None


class ByteStream:
    """The bytes of one input from front to back, decompressed, without a byte order mark.

    Its methods raise what `input_errors` handles.
    """

    def __init__(self, path: str | PathLike[str], max_size: int) -> None:
        """Open `path`, where `-` is standard input."""
        name = os.fspath(path)
        self._file = name_of(path)
        self._max_size = max_size
        self.expected = 0
        """How many bytes a plain file has, with its byte order mark. 0 for anything else."""
        self._size = 0  # of what has been read from a plain file
        self._is_standard_input = name == "-"
        self._stream = _standard_input() if self._is_standard_input else _opened(name)
        try:
            self.first = self._start()
            """The bytes that it begins with; those that are read are the next ones."""
        except BaseException:
            self.close()
            raise

    def _start(self) -> bytes:
        """Read the first bytes and return them decompressed."""
        file_size = 0 if self._is_standard_input else _regular_file_size(self._stream)
        if file_size > self._max_size:
            raise _TooLargeError
        step = file_size if 0 < file_size <= SMALL_SIZE else _STEP
        raw = _limited(_parts(self._file, self._stream, step), self._max_size)
        first = _joined(raw, _LONGEST_MAGIC)
        compression = _compression_of(self._file, first)
        if compression is not None:
            parts = _decompressed(self._file, chain([first], raw), compression)
            raw = _limited(parts, self._max_size)
            first = _joined(raw, len(BYTE_ORDER_MARK))
        elif file_size:
            self.expected, self._size = file_size, len(first)
        self._parts = raw
        return first.removeprefix(BYTE_ORDER_MARK)

    def read_some(self, most: int) -> bytes:
        """Return the next bytes, none if there are no more.

        Of a plain file these are `most` bytes where that is possible. Otherwise they are as many
        as come at once, which may be fewer or more.
        """
        if not self.expected:
            return next(self._parts, b"")
        left = max(self.expected - self._size, _STEP)  # no more memory than it takes
        part = self._stream.read(min(most, left, _LARGE_STEP))
        self._count(len(part))
        return part

    def read_into(self, space: memoryview) -> int:
        """Fill `space` with the next bytes of a plain file and return how many there were."""
        count: int = self._stream.readinto(space)  # type: ignore[attr-defined]  # buffered files have it
        self._count(count)
        return count

    def _count(self, more: int) -> None:
        self._size += more
        if self._size > self._max_size:  # the file has grown since it was opened
            raise _TooLargeError

    def close(self) -> None:
        """Close the file. Standard input stays open."""
        if not self._is_standard_input:
            self._stream.close()


class _TooLargeError(Exception):
    """The input holds more than the limit."""


def _standard_input() -> BinaryIO:
    if sys.stdin is None:
        raise InputError(_STANDARD_INPUT, "is closed")
    return sys.stdin.buffer


def _opened(name: str) -> BinaryIO:
    # not mapped into memory: a mapped file that somebody truncates kills the process
    try:
        return open(name, "rb")  # noqa: PTH123  # any name; closed by `ByteStream`
    except ValueError:  # `open` raises it for this reason only
        raise InputError(name, "no such file: the name has a NUL character") from None


def _regular_file_size(stream: BinaryIO) -> int:
    """Return the size in bytes, 0 for what is not a regular file."""
    status = os.fstat(stream.fileno())
    return status.st_size if stat.S_ISREG(status.st_mode) else 0


def _parts(file: str, stream: BinaryIO, step: int) -> Iterator[bytes]:
    """Yield all bytes of `stream`, as they come, at most `step` at once.

    Raises `InputError` for a device.
    """
    while part := stream.read1(step):  # type: ignore[attr-defined]  # buffered streams have it
        if _is_device(stream):
            raise InputError(file, "is a device, not a file")
        yield part


def _is_device(stream: BinaryIO) -> bool:
    """Return whether `stream` may never end. What is typed at a terminal does end."""
    with suppress(OSError):
        mode = os.fstat(stream.fileno()).st_mode
        return stat.S_ISBLK(mode) or (stat.S_ISCHR(mode) and not stream.isatty())
    return False


def _limited(parts: Iterator[bytes], max_size: int) -> Iterator[bytes]:
    """Yield `parts`. Raises `_TooLargeError` if they are more than `max_size` bytes in all."""
    size = 0
    for part in parts:
        size += len(part)
        if size > max_size:
            raise _TooLargeError
        yield part


def _joined(parts: Iterator[bytes], size: int) -> bytes:
    """Return the first of `parts`, joined until they are `size` bytes or more."""
    joined = next(parts, b"")
    while len(joined) < size and (part := next(parts, b"")):
        joined += part
    return joined


def _reason(error: OSError) -> str:
    if isinstance(error, IsADirectoryError):
        return "is a directory; name a file in it"
    if isinstance(error, FileNotFoundError):
        return "no such file"
    if error.errno == errno.ENXIO:
        return "is a socket, not a file"
    return (error.strerror or str(error)).lower()


class _Compression(NamedTuple):
    """One kind of compression. A compressed file is one or more members, one after another."""

    name: str
    new_decompressor: Callable[[], Any]
    """Returns an object that decompresses one member."""
    failure: type[Exception]
    step: int
    """How many compressed bytes are decompressed at once: they become 64 MiB at most."""
    padding: bytes
    """The byte that may follow a member any number of times; empty if there is none."""


def _compression_of(file: str, first: bytes) -> _Compression | None:
    """Return how a file that begins with `first` is compressed, whatever its name says."""
    if first.startswith(_GZIP):
        return _gzip()
    if first.startswith(_ZSTD):
        return _zstd(file)
    return None


def _decompressed(file: str, raw: Iterator[bytes], compression: _Compression) -> Iterator[bytes]:
    """Yield what is compressed in `raw`, in parts that are not empty.

    Raises `MalformedProfileError`.
    """
    pieces = _pieces(raw, compression.step)
    piece = next(pieces, b"")
    try:
        while piece:  # a member begins with it
            decompressor = compression.new_decompressor()
            while not decompressor.eof:
                if not piece:
                    reason = f"truncated: the {compression.name} stream has no end"
                    raise MalformedProfileError(file, reason)
                if part := decompressor.decompress(piece):
                    yield part
                piece = decompressor.unused_data or next(pieces, b"")
            piece = _after_padding(compression.padding, piece, pieces)
    except compression.failure as error:
        raise MalformedProfileError(file, f"damaged {compression.name}: {error}") from None


def _pieces(raw: Iterator[bytes], step: int) -> Iterator[bytes]:
    """Yield the same bytes, at most `step` at once."""
    for part in raw:
        for start in range(0, len(part), step):
            yield part[start : start + step]


def _after_padding(padding: bytes, piece: bytes, pieces: Iterator[bytes]) -> bytes:
    """Return the first of `piece` and `pieces` that is more than `padding`, without that."""
    while piece and not (piece := piece.lstrip(padding)):
        piece = next(pieces, b"")
    return piece


def _gzip() -> _Compression:
    with_header = 16 + zlib.MAX_WBITS
    step = 1 << 12  # of which each byte may become a thousand; more at once is no faster
    return _Compression("gzip", lambda: zlib.decompressobj(with_header), zlib.error, step, b"\0")


def _zstd(file: str) -> _Compression:
    """Return what decompresses zstd. Raises `InputError` if no package for it is installed."""
    step = 1 << 11  # of which each four bytes may become a block of 128 KiB
    if sys.version_info >= (3, 14):
        from compression import zstd

        return _Compression("zstd", zstd.ZstdDecompressor, zstd.ZstdError, step, b"")
    try:
        import zstandard
    except ImportError:
        raise InputError(
            file,
            "is compressed by zstd, which needs the package zstandard before Python 3.14: "
            "pip install zstandard",
        ) from None
    # a smaller buffer than the package's own comes from memory that is used again
    new_decompressor = partial(zstandard.ZstdDecompressor().decompressobj, write_size=1 << 16)
    return _Compression("zstd", new_decompressor, zstandard.ZstdError, step, b"")

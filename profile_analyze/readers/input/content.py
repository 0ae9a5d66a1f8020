"""Reads the bytes of a file or of standard input, and decompresses gzip and zstd."""

from __future__ import annotations

import errno
import os
import stat
import sys
import zlib
from contextlib import contextmanager, suppress
from functools import partial
from importlib import import_module
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from profile_analyze.errors import (
    InputError,
    MalformedProfileError,
    reading_reason,
    without_secrets,
)
from profile_analyze.readers.input.urls import is_url
from profile_analyze.units import scaled_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from io import BufferedIOBase
    from os import PathLike

    from profile_analyze.readers.input.remote import RemotePath

MAX_SIZE: Final = 8 << 30
"""The default limit on the decompressed size of an input, in bytes."""

BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
# The first bytes of compressed files, as RFC 1952 (gzip) and RFC 8878 (zstd) define them.
_GZIP = b"\x1f\x8b"
# A zstd file may begin with a skippable frame, as pzstd writes it.
_SKIPPABLE = tuple(bytes([first]) + b"\x2a\x4d\x18" for first in range(0x50, 0x60))
_ZSTD = (b"\x28\xb5\x2f\xfd", *_SKIPPABLE)
_LONGEST_MAGIC: Final = 4  # bytes
_STANDARD_INPUT = "standard input"
SMALL_SIZE: Final = 1 << 20
"""Files of up to this size in bytes are read in one call."""
_STEP: Final = 1 << 16  # bytes to read from a stream in one call: the capacity of a pipe on Linux
_LARGE_STEP: Final = 16 << 20  # the most bytes to read from a plain file in one call


def display_name(path: str | PathLike[str]) -> str:
    """Return the name that messages and profiles use for the input `path`, without secrets."""
    name = without_secrets(os.fspath(path))
    # An empty name becomes '' with quotes, so that it can be seen.
    return _STANDARD_INPUT if name == "-" else name or repr(name)


def remote_path(url: str) -> RemotePath:
    """Return the file or folder at a URL. Raises `InputError` without a recent fsspec."""
    try:
        # The module imports a function that fsspec has since 2025.5. Older versions hang after a
        # fork, so they count as missing.
        remote = import_module("profile_analyze.readers.input.remote")
    except ImportError as error:
        if (error.name or "").partition(".")[0] != "fsspec":
            raise
        raise InputError(
            url,
            "is a URL, which needs fsspec 2025.5 or later; install the extra fleet: "
            "pip install 'profile_analyze[fleet]'",
        ) from None
    path: RemotePath = remote.RemotePath(url)
    return path


@contextmanager
def input_errors(file: str, max_size: int) -> Iterator[None]:
    """Raise `InputError` about `file` if reading it fails in the block."""
    try:
        yield
    except _TooLargeError:
        raise InputError(file, too_large(max_size)) from None
    except OSError as error:
        raise InputError(file, _reason(error)) from None
    except MemoryError:
        raise InputError(file, "does not fit into memory") from None


def too_large(max_size: int) -> str:
    """Return the reason why an input with more than `max_size` bytes is refused."""
    limit = scaled_text(max_size, "byte")
    return f"holds more than {limit}, decompressed; --max-size raises the limit"


class ByteStream:
    """The bytes of one input in order, decompressed and without a byte order mark.

    Call its methods inside `input_errors`, which turns their errors into messages.
    """

    def __init__(
        self,
        path: str | PathLike[str],
        max_size: int,
        progress: Callable[[int, int], None] | None = None,
    ) -> None:
        """Open `path`, a file or a URL; `-` is standard input. For `progress` see `load`."""
        name = os.fspath(path)
        self._file = display_name(path)
        self._max_size = max_size
        self.plain_size = 0
        """The size in bytes of an uncompressed file, with its byte order mark. 0 if the input is
        compressed, or if its size is unknown, as for a pipe."""
        self._plain_bytes_read = 0
        self._progress = progress
        self._is_standard_input = name == "-"
        self._stream, file_size = (
            (_standard_input(), 0) if self._is_standard_input else _opened(name)
        )
        try:
            self.first = self._start(file_size)
            """The first bytes of the input. The methods below return the bytes that follow."""
        except BaseException:
            self.close()
            raise

    def _start(self, file_size: int) -> bytes:
        """Read the first bytes and return them decompressed. `file_size` is 0 if unknown."""
        if file_size > self._max_size:
            raise _TooLargeError
        # Most profiles are small enough to be read in one call.
        step = file_size if 0 < file_size <= SMALL_SIZE else _STEP
        parts = _raw_parts(self._file, self._stream, step)
        if self._progress is not None:
            parts = _counted(parts, file_size, self._progress)
        raw = _limited(parts, self._max_size)
        first = _at_least(_LONGEST_MAGIC, raw)
        compression = _compression_of(self._file, first)
        if compression is not None:
            # The decompressed bytes are limited, too: a small file may expand to a huge size.
            parts = _decompressed(self._file, chain([first], raw), compression)
            raw = _limited(parts, self._max_size)
            first = _at_least(len(BYTE_ORDER_MARK), raw)
        elif file_size:
            self.plain_size, self._plain_bytes_read = file_size, len(first)
        self._parts = raw
        return first.removeprefix(BYTE_ORDER_MARK)

    def read_some(self, most: int) -> bytes:
        """Return the next bytes; empty at the end.

        If `plain_size` is set, the result has at most `most` bytes. Otherwise `most` has no effect:
        the result may be longer.
        """
        if not self.plain_size:
            return next(self._parts, b"")
        # A request for more bytes than the file still has would allocate useless memory. If the
        # file has grown since it was opened, the added bytes are read in small steps.
        left = max(self.plain_size - self._plain_bytes_read, _STEP)
        part = self._stream.read(min(most, left, _LARGE_STEP))
        self._count(len(part))
        return part

    def read_into(self, space: memoryview) -> int:
        """Read the next bytes of an uncompressed file into `space`. Return their number."""
        # Read in steps, so that `progress` is called after each step.
        count = self._stream.readinto(space[:_LARGE_STEP])
        self._count(count)
        return count

    def _count(self, more: int) -> None:
        self._plain_bytes_read += more
        if self._plain_bytes_read > self._max_size:  # the file grew after it was opened
            raise _TooLargeError
        if more and self._progress is not None:
            self._progress(self._plain_bytes_read, self.plain_size)

    def close(self) -> None:
        """Close the file. Standard input stays open."""
        if not self._is_standard_input:
            self._stream.close()


class _TooLargeError(Exception):
    """The input is larger than the limit."""


def _standard_input() -> BufferedIOBase:
    if sys.stdin is None:
        raise InputError(_STANDARD_INPUT, "is closed")
    # `sys.stdin.buffer` has `read1` and `readinto`, but its declared type lacks them.
    return cast("BufferedIOBase", sys.stdin.buffer)


def _opened(name: str) -> tuple[BufferedIOBase, int]:
    """Return a file that is open for reading, and its size in bytes; 0 if it is unknown."""
    # The file is not mapped into memory: if it were truncated, the process would be killed.
    try:
        if is_url(name):
            return remote_path(name).open()
        stream = open(name, "rb")  # noqa: PTH123, SIM115  # `Path` changes some names; closed later
    except ValueError:  # `open` has no other reason to raise it
        raise InputError(name, "no such file: the name has a NUL character") from None
    return stream, _regular_file_size(stream)


def _regular_file_size(stream: BufferedIOBase) -> int:
    """Return the size in bytes, or 0 if the stream is not a regular file."""
    status = os.fstat(stream.fileno())
    return status.st_size if stat.S_ISREG(status.st_mode) else 0


def _raw_parts(file: str, stream: BufferedIOBase, step: int) -> Iterator[bytes]:
    """Yield all bytes of `stream` as they arrive, at most `step` at once.

    Raises `InputError` for a device.
    """
    # `read1` returns the bytes that a pipe has now. `read` would wait for `step` bytes.
    while part := stream.read1(step):
        # A device without bytes, such as /dev/null, counts as an empty file and is not rejected.
        if _is_device(stream):
            raise InputError(file, "is a device, not a file")
        yield part


def _is_device(stream: BufferedIOBase) -> bool:
    """Return whether `stream` is a device that may never end; False for a terminal."""
    with suppress(OSError):  # raised by streams without a file number, in memory or at a URL
        mode = os.fstat(stream.fileno()).st_mode
        return stat.S_ISBLK(mode) or (stat.S_ISCHR(mode) and not stream.isatty())
    return False


def _counted(
    parts: Iterator[bytes], size: int, progress: Callable[[int, int], None]
) -> Iterator[bytes]:
    """Yield `parts`. Before each, call `progress` with the number of bytes so far, and `size`."""
    read = 0
    for part in parts:
        read += len(part)
        progress(read, size)
        yield part


def _limited(parts: Iterator[bytes], max_size: int) -> Iterator[bytes]:
    """Yield `parts`. Raises `_TooLargeError` after more than `max_size` bytes."""
    size = 0
    for part in parts:
        size += len(part)
        if size > max_size:
            raise _TooLargeError
        yield part


def _at_least(size: int, parts: Iterator[bytes]) -> bytes:
    """Return the next parts joined: at least `size` bytes, or all bytes if there are fewer."""
    joined = next(parts, b"")
    while len(joined) < size and (part := next(parts, b"")):
        joined += part
    return joined


def _reason(error: OSError) -> str:
    if isinstance(error, IsADirectoryError):
        return "is a directory; name a file in it"
    if isinstance(error, FileNotFoundError):
        return "no such file"
    if error.errno == errno.ENXIO:  # on Linux, from `open` for a socket
        return "is a socket, not a file"
    return reading_reason(error)


class _Compression(NamedTuple):
    """One kind of compression. A compressed file consists of one or more members.

    A member of zstd is a frame. Skippable frames decompress to nothing.
    """

    name: str
    new_decompressor: Callable[[], Any]
    """Returns an object that decompresses one member."""
    failure: type[Exception]
    step: int
    """The number of compressed bytes to decompress in one call. They expand to 64 MiB at most."""
    padding: bytes
    """The byte that may follow a member any number of times; empty if the format has no padding."""


def _compression_of(file: str, first: bytes) -> _Compression | None:
    """Return the compression of a file that begins with `first`; None for an uncompressed file.

    The suffix of the file name does not matter.
    """
    if first.startswith(_GZIP):
        return _gzip()
    if first.startswith(_ZSTD):
        return _zstd(file)
    return None


def is_compressed(first: bytes) -> bool:
    """Return whether a file that begins with `first` is compressed."""
    return first.startswith((_GZIP, *_ZSTD))


def _decompressed(file: str, raw: Iterator[bytes], compression: _Compression) -> Iterator[bytes]:
    """Yield the decompressed bytes of `raw`, in parts that are not empty.

    Raises `MalformedProfileError`.
    """
    pieces = _pieces(raw, compression.step)
    piece = next(pieces, b"")
    try:
        while piece:  # each round decompresses one member
            decompressor = compression.new_decompressor()
            while not decompressor.eof:
                if not piece:
                    reason = f"truncated: the {compression.name} stream has no end; copy it again"
                    raise MalformedProfileError(file, reason)
                if part := decompressor.decompress(piece):
                    yield part
                piece = decompressor.unused_data or next(pieces, b"")
            piece = _after_padding(compression.padding, piece, pieces)
    except compression.failure as error:
        raise MalformedProfileError(file, f"damaged {compression.name}: {error}") from None


def _pieces(raw: Iterator[bytes], step: int) -> Iterator[bytes]:
    """Yield the bytes of `raw`, at most `step` at once."""
    for part in raw:
        for start in range(0, len(part), step):
            yield part[start : start + step]


def _after_padding(padding: bytes, piece: bytes, pieces: Iterator[bytes]) -> bytes:
    """Return `piece` without the padding at its start.

    If `piece` has only padding, continue with the next of `pieces`. The result is empty at the end
    of the file.
    """
    while piece and not (piece := piece.lstrip(padding)):
        piece = next(pieces, b"")
    return piece


def _gzip() -> _Compression:
    with_header = 16 + zlib.MAX_WBITS  # zlib's way to ask for the gzip format
    step = 1 << 12  # a byte expands to at most 1,032 bytes; larger steps are no faster
    # Tapes and block devices pad files with zero bytes, which gunzip ignores.
    return _Compression("gzip", lambda: zlib.decompressobj(with_header), zlib.error, step, b"\0")


def _zstd(file: str) -> _Compression:
    """Return the compression zstd. Raises `InputError` if no installed package supports it."""
    step = 1 << 11  # four bytes expand to at most 128 KiB: a block that repeats one byte
    # Modules for zstd are imported here, because few files need them.
    if sys.version_info >= (3, 14):
        from compression import zstd

        return _Compression("zstd", zstd.ZstdDecompressor, zstd.ZstdError, step, b"")
    try:
        import zstandard
    except ImportError:
        raise InputError(
            file,
            "is compressed by zstd; to read it, install the extra zstd: "
            "pip install 'profile_analyze[zstd]'",
        ) from None
    # The default `write_size` is so large that every call gets new memory from the system.
    new_decompressor = partial(zstandard.ZstdDecompressor().decompressobj, write_size=1 << 16)
    return _Compression("zstd", new_decompressor, zstandard.ZstdError, step, b"")

"""From a path to bytes: standard input, gzip and zstd included."""

from __future__ import annotations

import errno
import os
import stat
import sys
import zlib
from contextlib import suppress
from functools import partial
from io import BytesIO
from typing import TYPE_CHECKING, Any, BinaryIO, Final, NamedTuple

from profile_analyze.errors import InputError, MalformedProfileError
from profile_analyze.readers.base import Content
from profile_analyze.units import scaled

if TYPE_CHECKING:
    from collections.abc import Callable
    from os import PathLike
    from threading import Thread

MAX_SIZE: Final = 8 << 30
"""How many bytes a file may hold, decompressed, unless somebody says otherwise."""

_GZIP = b"\x1f\x8b"
_ZSTD = b"\x28\xb5\x2f\xfd"
_STANDARD_INPUT = "standard input"
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_LARGE: Final = 1 << 20  # bytes; less is read in the time that a thread takes to start
_STEP: Final = 1 << 16  # bytes of a stream that are read at once, as many as a pipe holds


def read_content(path: str | PathLike[str], *, max_size: int = MAX_SIZE) -> Content:
    """What the file `path` holds, decompressed; `-` is standard input.

    Raises `InputError`, also for a file that holds more than `max_size` bytes: it is read and
    decompressed in steps, and not to its end.
    """
    name = os.fspath(path)
    file = _STANDARD_INPUT if name == "-" else name or repr(name)
    try:
        data = _read_standard_input(max_size) if name == "-" else _read_file(name, max_size)
        data = _decompressed(file, data, max_size)
    except _TooLargeError:
        amount, unit = scaled(max_size, "byte")
        reason = f"holds more than {amount} {unit}, decompressed; --max-size raises the limit"
        raise InputError(file, reason) from None
    except OSError as error:
        raise InputError(file, _reason(error)) from None
    except ValueError:  # all that `open` says it of
        raise InputError(file, "no such file: the name has a NUL character") from None
    except MemoryError:
        raise InputError(file, "does not fit into memory") from None
    return Content(file, data.removeprefix(_BYTE_ORDER_MARK))


class ReadAhead:
    """The content of a file that is read while something else is done.

    A large one is read in a thread of its own: reading needs no interpreter, so that imports,
    which do, take their time beside it.
    """

    def __init__(self, path: str | PathLike[str], *, max_size: int = MAX_SIZE) -> None:
        """Begin to read the file `path`, if that is large; errors wait for `content`."""
        self._path = path
        self._max_size = max_size
        self._content: Content | None = None
        self._error: Exception | None = None
        self._thread: Thread | None = None
        if _is_large(path):
            from threading import Thread

            thread = Thread(target=self._read, daemon=True)  # nobody waits for it at Ctrl-C
            with suppress(RuntimeError):  # no thread can be had: then it is read when asked for
                thread.start()
                self._thread = thread

    def _read(self) -> None:
        try:
            self._content = read_content(self._path, max_size=self._max_size)
        except Exception as error:  # raised where the content is asked for
            self._error = error

    def content(self) -> Content:
        """What the file holds; to be asked once, for it is not kept. Raises `InputError`."""
        if self._thread is None:
            return read_content(self._path, max_size=self._max_size)
        self._thread.join()
        if self._error is not None:
            raise self._error
        content, self._content = self._content, None
        assert content is not None, "the content was asked for twice"
        return content


def _is_large(path: str | PathLike[str]) -> bool:
    try:
        status = os.stat(path)  # noqa: PTH116  # `path` may be any text
    except (OSError, ValueError):
        return False
    return stat.S_ISREG(status.st_mode) and status.st_size > _LARGE


class _TooLargeError(Exception):
    """There is more than may be read."""


def _read_standard_input(max_size: int) -> bytes:
    if sys.stdin is None:
        raise InputError(_STANDARD_INPUT, "is closed")
    return _read_stream(_STANDARD_INPUT, sys.stdin.buffer, max_size)


def _read_file(file: str, max_size: int) -> bytes:
    # not mapped into memory: a mapped file that somebody truncates kills the process
    with open(file, "rb") as stream:  # noqa: PTH123  # `file` may be any name
        status = os.fstat(stream.fileno())
        if not (stat.S_ISREG(status.st_mode) and status.st_size):  # as files that are no files
            return _read_stream(file, stream, max_size)
        if status.st_size > max_size:
            raise _TooLargeError
        return stream.read()


def _read_stream(file: str, stream: BinaryIO, max_size: int) -> bytes:
    """All that comes, in steps: how much it is going to be is not known."""
    found = _Gathered(max_size)
    while part := stream.read1(_STEP):  # type: ignore[attr-defined]  # all that are buffered have it
        found.add(part)
        if len(part) == found.size and _is_device(stream):
            raise InputError(file, "is a device, not a file")
    return found.all()


def _is_device(stream: BinaryIO) -> bool:
    """Whether what comes may never end; what somebody types at a terminal does."""
    with suppress(OSError):
        mode = os.fstat(stream.fileno()).st_mode
        return stat.S_ISBLK(mode) or (stat.S_ISCHR(mode) and not stream.isatty())
    return False


class _Gathered:
    """Bytes that come in parts, up to a limit, and are in memory once."""

    def __init__(self, max_size: int) -> None:
        self._buffer = BytesIO()
        self._max_size = max_size
        self.size = 0

    def add(self, part: bytes) -> None:
        """Put `part` at the end. Raises `_TooLargeError`."""
        self.size += len(part)
        if self.size > self._max_size:
            raise _TooLargeError
        self._buffer.write(part)

    def all(self) -> bytes:
        """All that was added: the buffer itself, no copy of it."""
        return self._buffer.getvalue()


def _reason(error: OSError) -> str:
    if isinstance(error, IsADirectoryError):
        return "is a directory; name a file in it"
    if isinstance(error, FileNotFoundError):
        return "no such file"
    if error.errno == errno.ENXIO:
        return "is a socket, not a file"
    return (error.strerror or str(error)).lower()


class _Compression(NamedTuple):
    """One way to compress. What is compressed is members, one after another."""

    name: str
    new_decompressor: Callable[[], Any]
    """Makes what decompresses one member."""
    failure: type[Exception]
    step: int
    """Compressed bytes that are decompressed at once: what comes of them is 64 MiB at most."""
    padding: bytes
    """What may stand after a member, any number of times."""


def _decompressed(file: str, data: bytes, max_size: int) -> bytes:
    """`data` itself unless its first bytes say that it is compressed, by whatever name it goes."""
    if data.startswith(_GZIP):
        return _inflated(file, data, _gzip(), max_size)
    if data.startswith(_ZSTD):
        return _inflated(file, data, _zstd(file), max_size)
    return data


def _inflated(file: str, data: bytes, compression: _Compression, max_size: int) -> bytes:
    name, new_decompressor, failure, step, padding = compression
    found = _Gathered(max_size)
    place = 0
    try:
        while place < len(data):  # member after member
            decompressor = new_decompressor()
            while not decompressor.eof:
                part = data[place : place + step]
                if not part:
                    reason = f"truncated: the {name} stream has no end"
                    raise MalformedProfileError(file, reason)
                found.add(decompressor.decompress(part))
                place += len(part) - len(decompressor.unused_data)
            place = _after(padding, data, place)
    except failure as error:
        raise MalformedProfileError(file, f"damaged {name}: {error}") from None
    return found.all()


def _after(padding: bytes, data: bytes, place: int) -> int:
    """Where in `data`, from `place` on, something else than `padding` stands; in large steps."""
    for step in (padding * _STEP, padding):
        while step and data.startswith(step, place):
            place += len(step)
    return place


def _gzip() -> _Compression:
    with_header = 16 + zlib.MAX_WBITS
    step = 1 << 12  # of which each byte may become a thousand; more at once is no faster
    return _Compression("gzip", lambda: zlib.decompressobj(with_header), zlib.error, step, b"\0")


def _zstd(file: str) -> _Compression:
    """Of zstd. Raises `InputError` where nothing reads it."""
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

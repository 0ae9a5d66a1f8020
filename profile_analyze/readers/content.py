"""From a path to bytes: standard input, gzip and zstd included."""

from __future__ import annotations

import os
import stat
import sys
import zlib
from typing import TYPE_CHECKING, Any, Final

from profile_analyze.errors import InputError, MalformedProfileError
from profile_analyze.readers.base import Content

if TYPE_CHECKING:
    from collections.abc import Callable
    from os import PathLike
    from threading import Thread

_GZIP = b"\x1f\x8b"
_ZSTD = b"\x28\xb5\x2f\xfd"
_STANDARD_INPUT = "standard input"
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_LARGE: Final = 1 << 20  # bytes; less is read in the time that a thread takes to start


def read_content(path: str | PathLike[str]) -> Content:
    """What the file `path` holds, decompressed; `-` is standard input.

    Raises `InputError`.
    """
    name = os.fspath(path)
    file = _STANDARD_INPUT if name == "-" else name or repr(name)
    try:
        data = _read_standard_input() if name == "-" else _read_file(name)
        data = _decompressed(file, data)
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

    def __init__(self, path: str | PathLike[str]) -> None:
        """Begin to read the file `path`, if that is large; errors wait for `content`."""
        self._path = path
        self._content: Content | None = None
        self._error: Exception | None = None
        self._thread: Thread | None = None
        if _is_large(path):
            from threading import Thread

            self._thread = Thread(target=self._read, daemon=True)  # nobody waits for it at Ctrl-C
            self._thread.start()

    def _read(self) -> None:
        try:
            self._content = read_content(self._path)
        except Exception as error:  # raised where the content is asked for
            self._error = error

    def content(self) -> Content:
        """What the file holds; to be asked once, for it is not kept. Raises `InputError`."""
        if self._thread is None:
            return read_content(self._path)
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


def _read_standard_input() -> bytes:
    if sys.stdin is None:
        raise InputError(_STANDARD_INPUT, "is closed")
    return sys.stdin.buffer.read()


def _read_file(file: str) -> bytes:
    # not mapped into memory: a mapped file that somebody truncates kills the process
    with open(file, "rb", buffering=0) as stream:  # noqa: PTH123  # `file` may be any name
        return stream.readall()


def _reason(error: OSError) -> str:
    if isinstance(error, IsADirectoryError):
        return "is a directory; name a profile in it"
    if isinstance(error, FileNotFoundError):
        return "no such file"
    return (error.strerror or str(error)).lower()


def _decompressed(file: str, data: bytes) -> bytes:
    """`data` itself unless its first bytes say that it is compressed, by whatever name it goes."""
    if data.startswith(_GZIP):
        return _gunzip(file, data)
    if data.startswith(_ZSTD):
        return _unzstd(file, data)
    return data


def _gunzip(file: str, data: bytes) -> bytes:
    import gzip

    try:
        return gzip.decompress(data)
    except EOFError:
        raise MalformedProfileError(file, "truncated: the gzip stream has no end") from None
    except (OSError, zlib.error) as error:
        raise MalformedProfileError(file, f"damaged gzip: {error}") from None


def _unzstd(file: str, data: bytes) -> bytes:
    new_decompressor, failure = _zstd(file)
    parts = []
    try:
        while data:  # frame after frame
            decompressor = new_decompressor()
            parts.append(decompressor.decompress(data))
            if not decompressor.eof:
                raise MalformedProfileError(file, "truncated: the zstd stream has no end")
            data = decompressor.unused_data
    except failure as error:
        raise MalformedProfileError(file, f"damaged zstd: {error}") from None
    return b"".join(parts)


def _zstd(file: str) -> tuple[Callable[[], Any], type[Exception]]:
    """What makes a decompressor of one zstd frame, and what that raises."""
    if sys.version_info >= (3, 14):
        from compression import zstd

        return zstd.ZstdDecompressor, zstd.ZstdError
    try:
        import zstandard
    except ImportError:
        raise InputError(
            file,
            "is compressed by zstd, which needs the package zstandard before Python 3.14: "
            "pip install 'profile_analyze[zstd]'",
        ) from None
    return zstandard.ZstdDecompressor().decompressobj, zstandard.ZstdError

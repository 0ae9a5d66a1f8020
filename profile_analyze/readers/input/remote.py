"""Files and folders at URLs. fsspec reads them with the driver of the URL's scheme, such as s3fs.

Drivers have threads, which do not exist in a forked process. Each method therefore asks fsspec for
the driver. In a new process, fsspec makes a new driver. A `RemotePath` never keeps a driver.
"""

from __future__ import annotations

import errno
import logging
import re
from contextlib import contextmanager, suppress
from io import BufferedIOBase, BufferedReader, RawIOBase
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import unquote

from fsspec.asyn import reset_after_fork  # noqa: F401  # older versions lack it: see `remote_path`
from fsspec.core import url_to_fs
from fsspec.implementations.local import LocalFileSystem
from fsspec.registry import known_implementations

from profile_analyze.errors import InputError, without_secrets
from profile_analyze.readers.input.urls import is_http, url_in

if TYPE_CHECKING:
    from collections.abc import Iterator

_BLOCK_SIZE: Final = 8 << 20
"""The number of bytes per request to a store. A driver keeps about two such blocks of a file in
memory."""
_SHORTEST_PASSWORD: Final = 3
"""A shorter text is hidden only beside its user name, because it may occur in any word."""
_LONGEST_REASON: Final = 200
"""A message shows at most this many characters of a driver's error."""

_LOCAL_SCHEMES: Final = frozenset(
    (
        *("file", "local", "asynclocal", "async_wrapper", "asyncwrapper", "generic", "dir"),
        *("reference", "zip", "tar", "libarchive", "git", "dvc", "dask"),
        *("cached", "blockcache", "filecache", "simplecache"),
    )
)
"""The schemes of drivers that open local files, or that pass requests on to another driver."""

_LOGGERS: Final = (
    *("asyncio", "fsspec", "aiohttp", "s3fs", "aiobotocore", "botocore", "gcsfs", "google"),
    *("adlfs", "azure", "paramiko", "urllib3"),
)
for _name in _LOGGERS:
    # Without any handler, Python prints warnings of drivers on standard error. Programs that
    # configure logging still get them.
    logging.getLogger(_name).addHandler(logging.NullHandler())


class OpenedFile(NamedTuple):
    """A file that is open for reading."""

    stream: BufferedIOBase
    size: int
    """The size in bytes; 0 if the driver does not report it."""


class Entry(NamedTuple):
    """A file or folder in a folder."""

    name: str
    is_folder: bool


class RemotePath:
    """A file or folder at a URL. Where `pathlib.Path` has a similar method, the name is the same.

    Methods that read or list raise `FileNotFoundError` for a missing file or folder. All methods
    that ask the driver raise `InputError` for any other failure.
    """

    def __init__(self, url: str) -> None:
        self.url = url

    def __truediv__(self, name: str) -> RemotePath:
        return RemotePath(url_in(self.url, name))

    @property
    def name(self) -> str:
        """The last part of the URL. Web servers list names with escapes, such as `%20`."""
        name = self.url.rstrip("/").rpartition("/")[2]
        return unquote(name) if is_http(self.url) else name

    def open(self) -> OpenedFile:
        """Open the file for reading from its start to its end."""
        with _driver_errors(self.url):
            fs, path = _driver_of(self.url)
            # A web server may refuse requests for parts of a file, so one request gets the whole
            # file as a stream. Without a `size`, fsspec would first ask the server for it. The
            # value does not matter.
            is_stream = is_http(self.url)
            options = {"block_size": 0, "size": 1} if is_stream else {"block_size": _BLOCK_SIZE}
            file = fs.open(path, "rb", **options)
        size = getattr(file, "size", None)
        stream: BufferedIOBase = BufferedReader(_RemoteStream(self.url, file))
        return OpenedFile(stream, size if isinstance(size, int) and not is_stream else 0)

    def read_bytes(self, most: int) -> bytes:
        """Return the first `most` bytes of the file, or all bytes if there are fewer.

        A single request gets them if possible. A web server may send bytes without end, so no more
        than `most` bytes are read from it.
        """
        if is_http(self.url):
            with self.open().stream as stream:
                return stream.read(most)
        with _driver_errors(self.url):
            fs, path = _driver_of(self.url)
            return bytes(fs.cat_file(path, start=0, end=most))

    def exists(self) -> bool:
        """Return whether there is such a file or folder."""
        with suppress(FileNotFoundError), _driver_errors(self.url):
            fs, path = _driver_of(self.url)
            return bool(fs.exists(path))
        return False

    def is_dir(self) -> bool:
        """Return whether this is a folder. A URL with a slash at its end counts as a folder."""
        if self.url.endswith("/"):
            return True
        with suppress(FileNotFoundError), _driver_errors(self.url):
            fs, path = _driver_of(self.url)
            return bool(fs.isdir(path))
        return False

    def entries(self) -> list[Entry]:
        """Return the files and folders in the folder, sorted by name."""
        with _driver_errors(self.url):
            fs, path = _driver_of(self.url)
            found = fs.ls(path, detail=True)
        return sorted(
            Entry(one["name"].rstrip("/").rpartition("/")[2], one["type"] == "directory")
            for one in found
        )

    def iterdir(self) -> Iterator[RemotePath]:
        """Yield the files and folders in the folder, sorted by name."""
        return (self / entry.name for entry in self.entries())

    def matching(self) -> list[str]:
        """Return the URLs of the files that match this URL, which is a pattern."""
        folder = re.split(r"[*?\[]", self.url, maxsplit=1)[0].rpartition("/")[0] + "/"
        found: dict[str, Any] = {}
        with suppress(FileNotFoundError), _driver_errors(self.url):
            fs, path = _driver_of(self.url)
            found = fs.glob(path, detail=True)
        # The driver returns paths without the scheme, user or host. The folder's URL has these.
        start = len(_driver_of(folder)[1].rstrip("/")) if found else 0
        files = [one for one, facts in found.items() if facts["type"] != "directory"]
        return sorted(url_in(folder, one[start:].lstrip("/")) for one in files)


class _RemoteStream(RawIOBase):
    """The bytes of a file that a driver has opened. Raises the errors of `RemotePath`."""

    def __init__(self, url: str, file: Any) -> None:
        self._url = url
        self._file = file

    def readable(self) -> bool:
        return True

    def readinto(self, space: Any) -> int:
        with _driver_errors(self._url), memoryview(space) as view:
            part = self._file.read(len(view))
            view[: len(part)] = part
            return len(part)

    def close(self) -> None:
        if not self.closed:
            super().close()
            with suppress(Exception):  # no more bytes are needed
                self._file.close()


def _driver_of(url: str) -> tuple[Any, str]:
    """Return the driver of a URL, and the path that the driver takes.

    Raises `InputError` if the URL would open local files.
    """
    scheme = url.partition("://")[0].lower()
    if "::" in url:
        raise InputError(url, "URLs with :: are not read, because fsspec takes :: for a chain")
    if scheme in _LOCAL_SCHEMES:
        raise InputError(url, f"{scheme}:// opens files of this machine; name the file itself")
    fs, path = url_to_fs(url)
    if isinstance(fs, LocalFileSystem):
        raise InputError(url, f"{scheme}:// opens files of this machine; name the file itself")
    return fs, path


@contextmanager
def _driver_errors(url: str) -> Iterator[None]:
    """If a driver fails in the block, raise one of the two errors that `RemotePath` names."""
    try:
        yield
    except (MemoryError, InputError):  # they have messages of their own
        raise
    except Exception as error:  # drivers raise errors of their own packages
        # For some other failures, the driver of web servers also reports a missing file. The real
        # failure is then the cause of its error.
        is_missing = isinstance(error, FileNotFoundError)
        cause = error.__cause__ if is_missing and is_http(url) else None
        if is_missing and (cause is None or getattr(cause, "status", None) == 404):
            raise FileNotFoundError(errno.ENOENT, "no such file", url) from None
        raise InputError(url, _reason(cause or error, url)) from None


def _reason(error: BaseException, url: str) -> str:
    """Return why a driver failed, and what to do, without the secrets of the URL."""
    text = _short(_without_secrets_of(url, str(error)) or type(error).__name__)
    scheme = url.partition("://")[0]
    status = getattr(error, "status", None)
    if isinstance(status, int):  # the answer of a web server
        text = f"the server answered {status} ({getattr(error, 'message', '')})"
    if isinstance(error, ImportError):
        return f"the driver of {scheme}:// cannot be loaded: {_import_reason(error, url)}"
    if isinstance(error, ValueError) and "rotocol not known" in text:
        return f"fsspec knows no driver of {scheme}://; check the scheme, or install its package"
    is_denied = isinstance(error, PermissionError) or status in (401, 403)
    if is_denied or "Credential" in type(error).__name__:
        return f"permission denied: {text}; give the driver credentials that may read the file"
    if isinstance(error, TimeoutError) or "imeout" in type(error).__name__:
        return "the server did not answer in time; try again later"
    advice = "; check the URL and the network" if isinstance(error, OSError) else ""
    return f"cannot be read: {text}{advice}"


def _import_reason(error: ImportError, url: str) -> str:
    """Return why the module of a driver cannot be imported, and which package to install."""
    cause = error.__cause__ if isinstance(error.__cause__, ImportError) else error
    reason = _short(_without_secrets_of(url, str(cause)) or type(cause).__name__)
    # The name of a package may differ from the name of its module. fsspec knows the package.
    advice = known_implementations.get(url.partition("://")[0], {}).get("err")
    if not advice and isinstance(cause, ModuleNotFoundError) and cause.name:
        advice = f"pip install {cause.name.partition('.')[0]}"
    return f"{reason}; {advice}" if advice else reason


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST_REASON else f"{line[:_LONGEST_REASON]}..."


def _without_secrets_of(url: str, text: str) -> str:
    """Return `text` without the login and the query of `url`, which a driver may repeat."""
    shown = without_secrets(url)
    if shown == url:
        return text
    rest = url.partition("://")[2]
    # user:password ends at an `@`, but a password, a path and a query may have `@`, too.
    logins = [rest[: found.start()] for found in re.finditer("@", rest)]
    passwords = [login.partition(":")[2] for login in logins]
    long_enough = [one for one in passwords if len(one) >= _SHORTEST_PASSWORD]
    for secret in sorted((*logins, *long_enough, rest.partition("?")[2]), key=len, reverse=True):
        text = text.replace(secret, "***") if secret else text
    return without_secrets(text)

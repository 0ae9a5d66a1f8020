"""Writes to standard output or to files. A file appears complete or not at all."""

from __future__ import annotations

import os
import stat
import sys
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, NamedTuple

from profile_analyze.cli.output.terminal import is_terminal, terminal_size
from profile_analyze.errors import OutputError, reason_not_written
from profile_analyze.model.visible import escaped_lines
from profile_analyze.readers.input.urls import is_url
from profile_analyze.termination import CleanEnd

if TYPE_CHECKING:
    from collections.abc import Iterable


def check_destination(file: str, sources: Iterable[str], *, force: bool) -> None:
    """Raise `OutputError` if a problem with the output `file` can be found before writing.

    `file` must not be one of `sources`, the files to read.
    """
    _check_name(file)
    mode = _mode_of(file)
    if mode is None:
        return
    if stat.S_ISDIR(mode):
        raise OutputError(f"{file}: is a directory; name a file in it")
    for source in sources:
        if os.path.exists(source) and os.path.samefile(file, source):
            raise OutputError(f"{file}: is one of the input files; write to another file")
    if not force and stat.S_ISREG(mode) and not _is_special(file):
        raise OutputError(f"{file}: exists already; --force replaces it")


def _check_name(file: str) -> None:
    """Raise `OutputError` if no local file can have this name."""
    if not file:
        raise OutputError("'': the file name is empty")
    if "\0" in file:
        raise OutputError(f"{file}: the file name has a NUL character")
    if is_url(file):
        raise OutputError(f"{file}: is a URL; write to a local file, and copy it there")


def _mode_of(file: str) -> int | None:
    """Return `st_mode` of `file`, which includes the file type; None if there is no such file."""
    try:
        return os.stat(file).st_mode
    except (FileNotFoundError, NotADirectoryError):
        folder = os.path.dirname(file) or "."
        if not os.path.isdir(folder):
            raise OutputError(f"{file}: {_reason_without_folder(file, folder)}") from None
        return None
    except (OSError, ValueError) as error:
        raise _output_error(file, error) from None


def _reason_without_folder(file: str, folder: str) -> str:
    """Return why the output `file` cannot be in `folder`, which is not a folder, and what to do."""
    if os.path.exists(folder):
        return f"{folder} is not a folder; name a file in a folder"
    if file.startswith("~"):
        return f"there is no folder {folder}; did you mean {os.path.expanduser(file)}?"
    return f"there is no folder {folder}; create it first, or write to another one"


def write_file(file: str, pieces: Iterable[bytes], *, force: bool) -> None:
    """Write `file`, completely or not at all. Raises `OutputError`."""
    with NewFiles(force=force) as files:
        files.write(file, pieces)


class NewFiles:
    """Files that appear together at the end of a `with` block. If the block fails, none appears.

    An existing file is replaced only with `force`. With `force`, files may get their final names
    before a later file fails; they then stay. Devices and named pipes, such as /dev/stdout, are
    written to at once.
    """

    def __init__(self, *, force: bool) -> None:
        self.force = force
        self._staged: list[_Staged] = []
        self._ending = ExitStack()  # ends the process only after the temporary files are removed
        self._end: CleanEnd | None = None

    def __enter__(self) -> NewFiles:
        """Begin. Nothing is written yet."""
        return self

    def write(self, file: str, pieces: Iterable[bytes]) -> None:
        """Write to a temporary file in the folder of `file`. Raises `OutputError`."""
        try:
            if _is_special(file):
                with open(file, "ab") as stream:  # appends, because /dev/stdout may be a log file
                    stream.writelines(pieces)
            else:
                self._stage(file, pieces)
        except OSError as error:
            raise _output_error(file, error) from None

    def _stage(self, file: str, pieces: Iterable[bytes]) -> None:
        # Imported here, because the import takes half as long as the import of this package.
        from tempfile import mkstemp

        # The temporary file is in the folder of the target, because a rename works only within one
        # file system.
        target = os.path.realpath(file)
        if self._end is None:
            self._end = self._ending.enter_context(CleanEnd())
        with self._end.delayed():
            handle, temporary = mkstemp(prefix=".profile_analyze.", dir=os.path.dirname(target))
            # Added before writing, so that `__exit__` removes the file even if writing fails.
            self._staged.append(_Staged(file, target, temporary))
        with open(handle, "wb") as stream:
            stream.writelines(pieces)
            stream.flush()
            os.fsync(handle)  # otherwise, the final file could be empty after a power cut
        os.chmod(temporary, _mode_for(target))

    def __exit__(self, kind: object, *_: object) -> None:
        """Give all files their final names, unless the block failed. Raises `OutputError`."""
        if self._end is not None:
            self._end.delay()
        with self._ending:
            self._publish_all(is_complete=kind is None)

    def _publish_all(self, *, is_complete: bool) -> None:
        created: list[str] = []
        try:
            if is_complete:
                for staged in self._staged:
                    self._publish(staged, created)
        except BaseException:
            for target in created:
                with suppress(OSError):
                    os.unlink(target)
            raise
        finally:
            for staged in self._staged:
                with suppress(FileNotFoundError):
                    os.unlink(staged.temporary)

    def _publish(self, staged: _Staged, created: list[str]) -> None:
        """Give one file its final name. Without `force`, add the new path to `created`."""
        try:
            if self.force:
                os.replace(staged.temporary, staged.target)
            else:
                _link(staged)
                created.append(staged.target)
        except OSError as error:
            raise _output_error(staged.file, error) from None


class _Staged(NamedTuple):
    """A file that is written under a temporary name."""

    file: str
    """The name that the user gave."""
    target: str
    """The final path, without symbolic links."""
    temporary: str
    """The path of the temporary file."""


def _is_special(file: str) -> bool:
    """Return whether `file` is a device, a pipe, or a link to a device such as /dev/stdout."""
    # /dev/shm has ordinary files.
    if file.startswith("/dev/") and not file.startswith("/dev/shm/"):
        return True
    return os.path.exists(file) and not os.path.isfile(file)


def _link(staged: _Staged) -> None:
    """Give the temporary file its final name. Raises `OutputError` if that name exists already."""
    # Unlike a rename, a link never replaces a file.
    try:
        os.link(staged.temporary, staged.target)
    except FileExistsError:
        raise OutputError(f"{staged.file}: exists already; --force replaces it") from None
    except OSError:  # a file system without links
        os.replace(staged.temporary, staged.target)


def _mode_for(file: str) -> int:
    """Return the permissions of the existing `file`, or the usual permissions of a new file."""
    with suppress(OSError):
        return stat.S_IMODE(os.stat(file).st_mode)
    # `mkstemp` makes a file that only its owner can read, so the usual mode is computed here. The
    # umask can only be read by setting it.
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def encoding_of_standard_output() -> str:
    """Return the encoding of standard output for text."""
    if not hasattr(sys.stdout, "buffer"):  # a stream that only takes text, as in notebooks
        return "utf-8"
    return sys.stdout.encoding or "utf-8"


def show(pieces: Iterable[bytes], *, paged: bool) -> None:
    """Write to standard output. With `paged`, a long text on a terminal is shown in a pager.

    Raises `OutputError`.
    """
    size = terminal_size(sys.stdout) if paged else None
    # A pager needs the keyboard, but standard input may be a profile.
    if size is None or not is_terminal(sys.stdin):
        write_standard_output(pieces)
        return
    # Imported here, because only output to a terminal needs a pager.
    from profile_analyze.cli.output.pager import show_in_pager_if_long

    show_in_pager_if_long(pieces, size.lines, write_standard_output)


def print_text(text: str, *, paged: bool = False) -> None:
    """Write text to standard output, or show it in a pager if it is long. Raises `OutputError`."""
    shown = escaped_lines(text, "\n")
    show([shown.encode(encoding_of_standard_output(), "backslashreplace")], paged=paged)


def write_standard_output(pieces: Iterable[bytes]) -> None:
    """Write to standard output. Raises `OutputError`.

    It is not an error if the reader closes standard output early, as `head` does.
    """
    if sys.stdout is None:
        raise OutputError("standard output: is closed")
    try:
        sys.stdout.flush()
        if hasattr(sys.stdout, "buffer"):
            sys.stdout.buffer.writelines(pieces)
        else:
            sys.stdout.write(b"".join(pieces).decode())
        sys.stdout.flush()
    except BrokenPipeError:
        _discard_standard_output()
    except OSError as error:
        _discard_standard_output()
        raise _output_error("standard output", error) from None


def _output_error(file: str, error: Exception) -> OutputError:
    return OutputError(f"{file}: {reason_not_written(error)}")


def _discard_standard_output() -> None:
    """Discard the buffered text. Otherwise, Python would try to write it at exit, and fail."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

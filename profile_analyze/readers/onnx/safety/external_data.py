"""Opens the files with external data of a model, but no other files of the machine."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from profile_analyze.readers.input.file_state import state_of_file

if TYPE_CHECKING:
    from typing import BinaryIO

    from profile_analyze.readers.input.source import Source

_FLAGS: Final = (
    os.O_RDONLY
    | getattr(os, "O_BINARY", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)
)


class ModelFolder(NamedTuple):
    """The folder of a model, which also has the files with its external data."""

    path: Path
    file: Path | None = None
    """The model. If it is a link, the data may be beside the file that it leads to, as in the cache
    of Hugging Face."""

    @classmethod
    def of(cls, source: Source) -> ModelFolder | None:
        """Return the folder of an input; None if the input has none, or if it must not be used."""
        return None if source.folder is None else cls(source.folder, Path(source.path))

    def open(self, location: str) -> BinaryIO | None:
        """Open a file of the folder.

        Return None if there is no such file, if it is not a regular file, or if it is outside of
        the folder, also through links.
        """
        path = self._path_of_file(location)
        if path is None:
            return None
        try:
            file = os.open(path, _FLAGS)
        except OSError:
            return None
        # Another process may have replaced the file.
        if not stat.S_ISREG(os.fstat(file).st_mode):
            os.close(file)
            return None
        return os.fdopen(file, "rb")

    def has(self, location: str) -> bool:
        """Return whether `open` can open a file, without opening it."""
        return self._path_of_file(location) is not None

    def exists(self, location: str) -> bool:
        """Return whether anything has this name, in the folder or outside."""
        return self._real_path(location) is not None

    def is_outside(self, location: str) -> bool:
        """Return whether a name, or the link that it names, leads out of the folder."""
        if Path(location).is_absolute() or ".." in Path(location).parts:
            return True
        path = self._real_path(location)
        return path is not None and not any(map(path.is_relative_to, self._real_folders()))

    def _path_of_file(self, location: str) -> Path | None:
        path = self._real_path(location)
        if path is None or self.is_outside(location) or state_of_file(path) is None:
            return None
        return path

    def _real_folders(self) -> list[Path]:
        folders = [os.path.realpath(self.path)]
        if self.file is not None:
            folders.append(os.path.dirname(os.path.realpath(self.file)))  # noqa: PTH120
        return list(map(Path, folders))

    def _real_path(self, location: str) -> Path | None:
        """Return the path behind all links; None if nothing has this name."""
        try:
            return Path(os.path.realpath(self.path / location, strict=True))
        except (OSError, ValueError):  # `ValueError`: the name has a NUL character
            return None

"""Writes new parts of a data set. The structure of a data set is described in `fleet.parts`.

The parts of an export are written into a temporary folder, and get their final names once all of
them are complete. The parts stay hidden until the temporary folder gets another name.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from time import time
from typing import TYPE_CHECKING, Final

import msgspec

from profile_analyze.errors import InputError, OutputError, reason_not_written
from profile_analyze.fleet.locking import locked
from profile_analyze.fleet.parquet import write_table
from profile_analyze.fleet.parts import (
    PART_MANIFEST,
    VERSION,
    Manifest,
    PartManifest,
    hidden_parts_of,
    number_of,
    part_folders,
    parts_of,
)
from profile_analyze.readers.input.paths import DATA_SET_MANIFEST
from profile_analyze.readers.input.pool import interrupts_delayed
from profile_analyze.readers.input.urls import is_url

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from profile_analyze.fleet.parts import Folder, SourceFile
    from profile_analyze.fleet.stored_profiles import Stored
    from profile_analyze.termination import CleanEnd

_UNFINISHED: Final = ".unfinished-"
_LONGEST_WRITING_S: Final = 24 * 3600
"""If an unfinished folder is older than this, the process that wrote it must have died."""


def start_data_set(folder: str) -> None:
    """Make the folder and the manifest of a data set, unless they exist. Raises `OutputError`."""
    if is_url(folder):
        raise OutputError(
            f"{folder}: is a URL, and data sets are written to local folders; name a local folder, "
            "and copy it there afterwards"
        )
    path = Path(folder)
    manifest = path / DATA_SET_MANIFEST
    try:
        path.mkdir(parents=True, exist_ok=True)
        has_others = any(not entry.name.startswith(_UNFINISHED) for entry in path.iterdir())
        # Checked last, because another export may start the same data set at the same time.
        if manifest.exists():
            return
        if has_others:
            raise OutputError(
                f"{folder}: is a folder with other files; --export needs a new or an empty folder, "
                "or a data set"
            )
        staged = Path(mkdtemp(prefix=_UNFINISHED, dir=folder))
        (staged / DATA_SET_MANIFEST).write_bytes(msgspec.json.encode(Manifest(VERSION)) + b"\n")
        (staged / DATA_SET_MANIFEST).replace(manifest)
        staged.rmdir()
    except OSError as error:
        raise _output_error(folder, error) from None


class NewParts:
    """Parts that are added to a data set all together, or not at all.

    The end of the `with` block removes parts that were not published.
    """

    def __init__(self, data_set: str, max_size: int, end: CleanEnd) -> None:
        """Read which files the data set has. Raises the errors of `parts_of`.

        `end` is of a block around the `with` block.
        """
        self._end = end
        self._data_set, self._max_size = Path(data_set), max_size
        self._folder: Path  # `__enter__` makes it, and `__exit__` removes it
        self._written = 0
        self._hides_parts = False
        self._seen: set[Folder] = set()
        self.known: list[SourceFile] = []
        """The files in the data set, as last read, without those in the new parts."""
        self._read_new_sources()

    def __enter__(self) -> NewParts:
        """Make the temporary folder. Raises `OutputError`."""
        try:
            _remove_unfinished(self._data_set)
            self._folder = Path(mkdtemp(prefix=_UNFINISHED, dir=self._data_set))
        except OSError as error:
            raise _output_error(str(self._data_set), error) from None
        return self

    def __exit__(self, *_: object) -> None:
        """Remove the temporary folder, and the parts that it still hides."""
        self._end.delay()
        if self._hides_parts:
            _remove_export(self._folder)
        else:
            rmtree(self._folder, ignore_errors=True)

    def write(self, part: Stored, sources: Sequence[SourceFile]) -> Path:
        """Write a part into a temporary folder, and return the folder. Raises `OutputError`."""
        folder = self._folder / str(self._written)
        self._written += 1
        try:
            folder.mkdir()
            sizes = {name: write_table(folder, name, table) for name, table in part.tables.items()}
            manifest = PartManifest([*sources], sizes, part.facts, hidden_by=self._folder.name)
            (folder / PART_MANIFEST).write_bytes(msgspec.json.encode(manifest))
            for file in folder.iterdir():
                _flush(file)
        except OSError as error:
            raise _output_error(str(self._data_set), error) from None
        return folder

    def publish(self, folders: Sequence[Path], digests: Collection[str]) -> frozenset[str]:
        """Give the parts in `folders` their final names, and make them visible.

        `digests` has the digests of the files in these parts. If another export has added some of
        the files since the data set was last read, return their digests, and publish nothing.

        Raises `OutputError`, and the errors of `parts_of`.
        """
        try:
            with locked(self._data_set):
                repeated = self._read_new_sources().intersection(digests)
                with interrupts_delayed():  # Ctrl-C would leave the parts hidden
                    if not repeated:
                        self._hides_parts = True
                        for folder in folders:
                            _publish(folder, self._data_set)
                        # This makes all parts visible at once.
                        published = self._folder.rename(f"{self._folder}-published")
                        self._hides_parts = False
                        rmtree(published, ignore_errors=True)
        except OSError as error:
            raise _output_error(str(self._data_set), error) from None
        return repeated

    def _read_new_sources(self) -> frozenset[str]:
        """Read the parts that were not read before, and add their files to `known`.

        Return the digests of these files.
        """
        parts = parts_of(str(self._data_set), self._seen, max_size=self._max_size)
        self._seen.update(part.folder for part in parts)
        sources = [source for part in parts for source in part.manifest.sources]
        self.known += sources
        # A file of unknown digest never counts as repeated.
        return frozenset(source.digest for source in sources if source.digest)


def _publish(folder: Path, data_set: Path) -> None:
    """Give a part the next free number. Without locks, another process may take a number first."""
    number = max(map(number_of, part_folders(data_set.iterdir())), default=0) + 1
    while True:
        with suppress(FileExistsError):
            target = data_set / f"part={number:06}"
            # A rename onto an empty folder would succeed, but a part is never empty.
            _rename_new(folder, target)
            return
        number += 1


def _rename_new(folder: Path, target: Path) -> None:
    """Rename a folder. Raises `FileExistsError` if the new name exists."""
    try:
        folder.rename(target)
    except OSError:
        if target.exists():
            raise FileExistsError from None
        raise


def _flush(file: Path) -> None:
    """Wait until a file is on the disk. Otherwise, it could be empty after a power cut."""
    with file.open("r+b") as opened:  # Windows flushes only files that are open for writing
        os.fsync(opened.fileno())


def _remove_unfinished(data_set: Path) -> None:
    """Remove the unfinished exports of processes that died while they wrote."""
    for folder in data_set.glob(f"{_UNFINISHED}*"):
        with suppress(FileNotFoundError):  # another export has just ended
            status = folder.lstat()  # parts must not be moved to where a link leads
            if stat.S_ISDIR(status.st_mode) and time() - status.st_mtime > _LONGEST_WRITING_S:
                _remove_export(folder)


def _remove_export(folder: Path) -> None:
    """Remove the temporary folder of an export, and the parts that it hides.

    If a part cannot be removed, the folder stays, because the part would become visible without it.
    """
    # Without the lock, another export could reuse the number of a removed part, and the new part
    # would be removed here.
    with suppress(OSError, InputError), locked(folder.parent):
        for part in hidden_parts_of(str(folder.parent)):
            if part.manifest.hidden_by == folder.name:
                (folder.parent / part.folder.name).rename(folder / part.folder.name)
        rmtree(folder, ignore_errors=True)


def _output_error(data_set: str, error: OSError) -> OutputError:
    return OutputError(f"{data_set}: {reason_not_written(error)}")

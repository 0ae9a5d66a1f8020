"""Reads and writes the parts of a data set. A part holds the tables of some files.

A data set is a folder with a manifest, which names the format and its version, and with a folder
for each part:

    DATA_SET/_profile_analyze.json
    DATA_SET/part=000001/_part.json
    DATA_SET/part=000001/operators.parquet, executions.parquet, tracks.parquet, ...

A part is written under a temporary name, and gets its final name once it is complete. No file is
ever changed afterwards, so a data set can grow while others read it. Data sets are written to local
folders, and read from local folders and from URLs.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from time import time
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from profile_analyze.errors import InputError, MalformedProfileError, OutputError
from profile_analyze.fleet.stored_profiles import TABLES, Facts, Stored, restored
from profile_analyze.readers.paths import DATA_SET_MANIFEST
from profile_analyze.readers.urls import is_url, remote_path

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeAlias

    from profile_analyze.model.runs import Partial
    from profile_analyze.readers.remote import RemotePath

    Folder: TypeAlias = Path | RemotePath

VERSION: Final = 1
"""The version of the structure of data sets. Increase it with every change that older versions of
this package cannot read."""

_PART_MANIFEST: Final = "_part.json"
_PART_NAME: Final = re.compile(r"part=[0-9]{6,}")
_UNFINISHED: Final = ".unfinished-"
_LONGEST_WRITING_S: Final = 24 * 3600
"""If an unfinished folder is older than this, the process that wrote it must have died."""
_LARGEST_DICTIONARY: Final = 1 << 30
"""Bytes. Parquet keeps the order of categories only if all of them fit into one dictionary."""
_DAMAGE: Final = (pa.ArrowException, KeyError, ValueError, TypeError, IndexError, OverflowError)
"""The errors of tables that are damaged, or that do not belong together."""


class Manifest(msgspec.Struct, frozen=True):
    """The content of the manifest of a data set."""

    version: int
    format: str = "profile_analyze data set"


class SourceFile(msgspec.Struct, frozen=True):
    """A file whose profile is in a part."""

    name: str
    digest: str
    """A digest of its decompressed bytes."""


class PartManifest(msgspec.Struct, frozen=True):
    """The content of the manifest of a part."""

    sources: list[SourceFile]
    sizes: dict[str, int]
    """The number of bytes of each table's file."""
    facts: Facts


class Part(NamedTuple):
    """A part of a data set, of which only the manifest has been read."""

    data_set: str
    folder: Folder
    manifest: PartManifest


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
        if manifest.exists():
            return
        if any(not entry.name.startswith(_UNFINISHED) for entry in path.iterdir()):
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


def parts_of(data_set: str) -> list[Part]:
    """Return the parts of a data set in the order in which they were added.

    Raises `InputError` if this version cannot read the data set, and `MalformedProfileError` if it
    is damaged.
    """
    try:
        folder_of_parts: Folder = remote_path(data_set) if is_url(data_set) else Path(data_set)
        content = (folder_of_parts / DATA_SET_MANIFEST).read_bytes()
        folders = sorted(_part_folders(folder_of_parts), key=_number)
        version = _decoded(content, Manifest, data_set, DATA_SET_MANIFEST).version
        if version != VERSION:
            raise InputError(
                data_set,
                f"is a data set of version {version}, and this version of profile_analyze reads "
                f"version {VERSION}; install the version that wrote it, or export the files again",
            )
        return [
            Part(
                data_set,
                folder,
                _decoded(
                    (folder / _PART_MANIFEST).read_bytes(), PartManifest, data_set, folder.name
                ),
            )
            for folder in folders
        ]
    except OSError as error:
        raise _unreadable(data_set, error) from None


def partial_of(part: Part) -> Partial:
    """Return the content of a part. Raises `MalformedProfileError` if it is damaged."""
    try:
        tables = {name: _table(part, name) for name in TABLES}
        return restored(tables, part.manifest.facts)
    except (OSError, *_DAMAGE) as error:
        # An error of pyarrow about the content of a file has no name of a file.
        if isinstance(error, OSError) and error.filename is not None:
            raise _unreadable(part.data_set, error) from None
        reason = " ".join(str(error).split()) or type(error).__name__
        raise _damaged_part(part.data_set, part.folder.name, reason) from None


class NewParts:
    """Parts that join a data set together at the end of a `with` block, or not at all."""

    def __init__(self, data_set: str) -> None:
        self._data_set = Path(data_set)
        self._staged: list[Path] = []
        self._folder = self._data_set

    def __enter__(self) -> NewParts:
        """Make the temporary folder. Raises `OutputError`."""
        try:
            _remove_unfinished(self._data_set)
            self._folder = Path(mkdtemp(prefix=_UNFINISHED, dir=self._data_set))
        except OSError as error:
            raise _output_error(str(self._data_set), error) from None
        return self

    def write(self, part: Stored, sources: Sequence[SourceFile]) -> None:
        """Write a part into the temporary folder. Raises `OutputError`."""
        folder = self._folder / str(len(self._staged))
        try:
            folder.mkdir()
            sizes = {name: _write_table(folder, name, part.tables[name]) for name in TABLES}
            manifest = msgspec.json.encode(PartManifest([*sources], sizes, part.facts))
            (folder / _PART_MANIFEST).write_bytes(manifest)
            for file in folder.iterdir():
                _flush(file)
        except OSError as error:
            raise _output_error(str(self._data_set), error) from None
        self._staged.append(folder)

    def __exit__(self, kind: object, *_: object) -> None:
        """Give all parts their final names, unless the block failed. Raises `OutputError`."""
        try:
            if kind is None:
                for folder in self._staged:
                    _publish(folder, self._data_set)
        except OSError as error:
            raise _output_error(str(self._data_set), error) from None
        finally:
            rmtree(self._folder, ignore_errors=True)


def _publish(folder: Path, data_set: Path) -> None:
    """Give a part the next free number. Another process may add parts at the same time."""
    number = max(map(_number, _part_folders(data_set)), default=0) + 1
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


def _part_folders(data_set: Folder) -> list[Folder]:
    return [path for path in data_set.iterdir() if _PART_NAME.fullmatch(path.name)]


def _number(folder: Folder) -> int:
    return int(folder.name.partition("=")[2])


def _write_table(folder: Path, name: str, table: pa.Table) -> int:
    """Write a table, and return the size of its file."""
    file = folder / f"{name}.parquet"
    pq.write_table(
        table,
        file,
        compression="zstd",
        row_group_size=max(len(table), 1),
        dictionary_pagesize_limit=_LARGEST_DICTIONARY,
        write_page_checksum=True,
    )
    return file.stat().st_size


def _table(part: Part, name: str) -> pa.Table:
    """Read a table. Raises `OSError` or one of `_DAMAGE`."""
    file = part.folder / f"{name}.parquet"
    # A request to a store takes longer than its answer, so one request gets the whole file.
    content = None if isinstance(file, Path) else file.read_bytes()
    size = file.stat().st_size if isinstance(file, Path) else len(content or b"")
    expected = part.manifest.sizes[name]
    if size != expected:
        raise ValueError(f"{name}.parquet has {size} bytes instead of {expected}")
    readable = file if content is None else pa.BufferReader(content)
    with pq.ParquetFile(readable, page_checksum_verification=True) as parquet:
        # Most columns of executions are N/A in most formats. They are not read, which saves memory.
        return parquet.read(
            _columns_with_values(parquet) if name == "executions" else None, use_threads=False
        )


def _columns_with_values(parquet: pq.ParquetFile) -> list[str]:
    """Return the names of the columns that are not N/A in all rows."""
    groups = [parquet.metadata.row_group(n) for n in range(parquet.metadata.num_row_groups)]
    return [
        name
        for index, name in enumerate(parquet.schema_arrow.names)
        if not all(_is_empty(group.column(index)) for group in groups)
    ]


def _is_empty(column: pq.ColumnChunkMetaData) -> bool:
    statistics = column.statistics
    return bool(
        statistics is not None
        and statistics.has_null_count
        and statistics.null_count == column.num_values
    )


def _flush(file: Path) -> None:
    """Wait until a file is on the disk. Otherwise, it could be empty after a power cut."""
    handle = os.open(file, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _remove_unfinished(data_set: Path) -> None:
    """Remove the unfinished folders of processes that died while they wrote."""
    for folder in data_set.glob(f"{_UNFINISHED}*"):
        with suppress(FileNotFoundError):  # another export has just ended
            if time() - folder.stat().st_mtime > _LONGEST_WRITING_S:
                rmtree(folder, ignore_errors=True)


def _decoded(content: bytes, kind: type[Any], data_set: str, what: str) -> Any:
    try:
        return msgspec.json.decode(content, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise _damaged_part(data_set, what, str(error)) from None


def _unreadable(data_set: str, error: OSError) -> InputError:
    """Return the error about a file that is missing or cannot be opened."""
    where = os.path.relpath(error.filename or data_set, data_set)
    reason = (error.strerror or str(error)).lower()
    if isinstance(error, FileNotFoundError):
        return _damaged_part(data_set, where, reason)
    return InputError(data_set, f"{where}: {reason}")


def _damaged_part(data_set: str, what: str, reason: str) -> MalformedProfileError:
    return MalformedProfileError(
        data_set, f"the data set is damaged: {what}: {reason}; export its files to a new folder"
    )


def _output_error(data_set: str, error: OSError) -> OutputError:
    return OutputError(f"{data_set}: {(error.strerror or str(error)).lower()}")

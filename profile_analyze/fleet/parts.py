"""Reads the parts of a data set. A part holds the tables of some files.

A data set is a folder with a manifest, which names the format and its version, and with a folder
for each part:

    DATA_SET/_profile_analyze.json
    DATA_SET/part=000001/_part.json
    DATA_SET/part=000001/operators.parquet, executions.parquet, tracks.parquet, ...

`fleet.new_parts` writes parts. A part gets its final name once it is complete. No file is ever
changed afterwards, so a data set can grow while other processes read it. Data sets are written to
local folders, and read from local folders and from URLs.

All parts of an export become visible at once. The manifest of a part names the temporary folder of
its export. The part is hidden as long as the data set has this folder.
"""

from __future__ import annotations

import os
import re
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import unquote

import msgspec
import numpy as np
import pyarrow as pa

from profile_analyze.errors import InputError, MalformedProfileError, system_reason
from profile_analyze.fleet.parquet import TooLargeError, read_table
from profile_analyze.fleet.profile_tables import executions_of
from profile_analyze.fleet.stored_profiles import TABLES, Facts, restored
from profile_analyze.fleet.times_table import TIMES_TABLE, columns_for, result_of
from profile_analyze.model.deferred_executions import DeferredExecutions
from profile_analyze.model.executions import Run
from profile_analyze.model.stored_times import CALLS, StoredTimes
from profile_analyze.model.terms import DEVICE, HOST
from profile_analyze.readers.input.content import MAX_SIZE, remote_path, too_large
from profile_analyze.readers.input.paths import DATA_SET_MANIFEST
from profile_analyze.readers.input.urls import is_http, is_url
from profile_analyze.readers.regular_files import open_regular
from profile_analyze.units import scaled

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator
    from typing import TypeAlias

    from numpy.typing import NDArray

    from profile_analyze.fleet.times_table import FlatExecutions
    from profile_analyze.model.executions import Executions
    from profile_analyze.model.joining.runs import Partial
    from profile_analyze.readers.input.remote import RemotePath

    Folder: TypeAlias = Path | RemotePath

VERSION: Final = 1
"""The version of the structure of data sets. Increase it with every change that older versions of
this package cannot read."""

PART_MANIFEST: Final = "_part.json"
_USUAL_SIZE: Final = 1 << 20
"""Bytes. Hardly any manifest is larger."""
_LARGEST_SIZE: Final = 1 << 26
"""Bytes. No manifest is larger: a part has at most a thousand files."""
_PART_NAME: Final = re.compile(r"part=[0-9]{6,}")
_DAMAGE: Final = (
    *(pa.ArrowException, KeyError, ValueError, TypeError, IndexError, OverflowError),
    *(RecursionError, msgspec.ValidationError),
)
"""The errors of tables that are damaged, or that do not belong together."""


class Manifest(msgspec.Struct, frozen=True):
    """The content of the manifest of a data set."""

    version: int
    format: str = "profile_analyze data set"


class SourceFile(msgspec.Struct, frozen=True):
    """A file whose profile is in a part."""

    name: str
    digest: str
    """A digest of its decompressed bytes; empty if it is unknown."""


class PartManifest(msgspec.Struct, frozen=True):
    """The content of the manifest of a part."""

    sources: list[SourceFile]
    sizes: dict[str, int]
    """The number of bytes of each table's file."""
    facts: Facts
    hidden_by: str = ""
    """The folder in the data set that hides this part while it exists; empty for none."""


class Part(NamedTuple):
    """A part of a data set, of which only the manifest has been read."""

    data_set: str
    folder: Folder
    manifest: PartManifest


def parts_of(
    data_set: str, excluded: Collection[Folder] = (), *, max_size: int = MAX_SIZE
) -> list[Part]:
    """Return the visible parts of a data set in the order in which they were added.

    The folders in `excluded` are left out.

    Raises `InputError` if this version cannot read the data set, or if a manifest has more than
    `max_size` bytes or `_LARGEST_SIZE`. Raises `MalformedProfileError` if the data set is damaged.
    """
    return [part for part, is_hidden in _all_parts(data_set, excluded, max_size) if not is_hidden]


def hidden_parts_of(data_set: str) -> list[Part]:
    """Return the hidden parts of a data set. Raises the errors of `parts_of`."""
    return [part for part, is_hidden in _all_parts(data_set) if is_hidden]


def _all_parts(
    data_set: str, excluded: Collection[Folder] = (), max_size: int = MAX_SIZE
) -> list[tuple[Part, bool]]:
    """Return visible and hidden parts, in the order of `parts_of`, and whether each is hidden."""
    try:
        # Absolute, because parts may be read after the current folder has changed.
        root: Folder = remote_path(data_set) if is_url(data_set) else Path(data_set).absolute()
        content = _manifest(root, DATA_SET_MANIFEST, max_size)
        entries = [*root.iterdir()]
        names = {entry.name for entry in entries}
        version = _decoded(content, Manifest, data_set, DATA_SET_MANIFEST).version
        if version != VERSION:
            raise InputError(
                data_set,
                f"is a data set of version {version}, and this version of profile_analyze reads "
                f"version {VERSION}; install the version that wrote it, or export the files again",
            )
        folders = sorted(part_folders(entries), key=number_of)
        contents = (
            (folder, _content_of_part(root, folder, max_size))
            for folder in folders
            if folder not in excluded
        )
        parts = [
            Part(data_set, folder, _decoded(content, PartManifest, data_set, folder.name))
            for folder, content in contents
            if content is not None
        ]
    except TooLargeError as error:
        raise _too_large_manifest(data_set, str(error), max_size) from None
    except OSError as error:
        raise _unreadable(data_set, error) from None
    return [(part, part.manifest.hidden_by in names) for part in parts]


def _content_of_part(data_set: Folder, folder: Folder, max_size: int) -> bytes | None:
    """Return the content of a part's manifest; None if the part has been removed meanwhile.

    An export that fails removes its hidden parts, even while another process lists the data set.

    Raises `TooLargeError` and `OSError`, and `MalformedProfileError` for a link.
    """
    try:
        if isinstance(folder, Path) and folder.is_symlink():
            raise damaged_part(str(data_set), folder.name, "is a link, not a folder")
        return _manifest(data_set, f"{folder.name}/{PART_MANIFEST}", max_size)
    except FileNotFoundError:
        if isinstance(folder, Path) and not os.path.lexists(folder):
            return None
        raise


def _manifest(data_set: Folder, name: str, max_size: int) -> bytes:
    """Return the content of a manifest. Raises `TooLargeError` and `OSError`."""
    file = data_set / name
    # Some fsspec drivers reserve memory for all requested bytes, so the first request is small.
    largest = min(_LARGEST_SIZE, max_size)
    most = min(_USUAL_SIZE, largest)
    while True:
        if isinstance(file, Path):
            with open_regular(file) as stream:
                content = stream.read(most + 1)
        else:
            content = file.read_bytes(most + 1)
        if len(content) <= most:
            return content
        if most == largest:
            raise TooLargeError(name)
        most = min(4 * most, largest)


def _too_large_manifest(data_set: str, name: str, max_size: int) -> InputError:
    if max_size <= _LARGEST_SIZE:
        return InputError(data_set, f"{name} {too_large(max_size)}")
    return damaged_part(data_set, name, f"has more than {' '.join(scaled(_LARGEST_SIZE, 'byte'))}")


def partial_of(part: Part, max_size: int = MAX_SIZE) -> Partial:
    """Return the content of a part. If the part has a table of times, its executions are deferred.

    Raises `MalformedProfileError` if the part is damaged, and `InputError` if one of its tables
    takes more than `max_size` bytes in memory. Reading deferred executions or times raises the same
    errors.
    """
    flat = part.manifest.facts.flat
    names = [name for name in TABLES if name != "executions" or flat is None]
    with _errors_about(part, max_size):
        tables = {
            # The table `runs` also has the names of files and the labels, for other programs. They
            # are not read from it, because the manifest has them, too.
            name: _table_of(part, name, max_size, Run._fields if name == "runs" else None)
            for name in names
        }
        content = restored(tables, part.manifest.facts)
        if flat is None:
            return content
        read_executions = partial(_executions_of, part, content, flat, max_size)
        times = StoredTimes(
            len(content.runs),
            _TimesOfPart(part, flat, content, max_size),
            flat.executed(len(content.operators)),
            frozenset(content.tracks[number - 1] for number in flat.tracks),
        )
    executions = DeferredExecutions(read_executions, flat.executions)
    return content._replace(executions=executions, times=times)


def _executions_of(part: Part, content: Partial, flat: FlatExecutions, max_size: int) -> Executions:
    """Return the executions of a part with a table of times. `content` has its other tables."""
    with _errors_about(part, max_size):
        executions = executions_of(_table_of(part, "executions", max_size))
        findings = content._replace(executions=executions).as_profile().check()
        if findings:
            raise ValueError(findings[0])
        if len(executions) != flat.executions or not executions.are_flat:
            raise ValueError("the manifest describes other executions")
    return executions


class _TimesOfPart:
    """Reads the times of a part. This is a class, because functions in functions cannot be pickled.

    From a local file, only the columns of a result are read. From a store, each request takes long,
    so a single request gets the whole file.
    """

    def __init__(self, part: Part, flat: FlatExecutions, content: Partial, max_size: int) -> None:
        self._part, self._flat, self._max_size = part, flat, max_size
        self._shape = len(content.operators), len(content.runs)
        self._whole: pa.Table | None = None

    def __call__(self, name: str) -> NDArray[np.float64]:
        """Return one of `model.stored_times.RESULTS`. Raises the errors of `partial_of`."""
        flat = self._flat
        if name == CALLS and flat.is_complete and flat.each_calls is not None:
            # All operators that ran have this number of calls in each run: no table is needed.
            on_sides = flat.executed(self._shape[0])
            ran = on_sides[DEVICE] | on_sides[HOST]
            calls = np.where(ran, flat.each_calls, np.nan)
            return np.broadcast_to(calls[:, np.newaxis], self._shape)
        with _errors_about(self._part, self._max_size):
            return result_of(self._table(columns_for(name, flat)), name, flat, *self._shape)

    def _table(self, columns: Collection[str]) -> pa.Table:
        if isinstance(self._part.folder, Path):
            return _table_of(self._part, TIMES_TABLE, self._max_size, columns)
        if self._whole is None:
            self._whole = _table_of(self._part, TIMES_TABLE, self._max_size)
        return self._whole


def _table_of(
    part: Part, name: str, max_size: int, columns: Collection[str] | None = None
) -> pa.Table:
    """Return a table of a part, or some of its columns."""
    size = part.manifest.sizes[name]
    return read_table(part.folder / f"{name}.parquet", size, max_size, columns)


@contextmanager
def _errors_about(part: Part, max_size: int) -> Iterator[None]:
    """Turn errors of a damaged or too large part into errors that name the part."""
    try:
        yield
    except TooLargeError as error:
        where = f"{part.folder.name}/{error}"
        raise InputError(part.data_set, f"{where} {too_large(max_size)}") from None
    except (OSError, *_DAMAGE) as error:
        # pyarrow's errors about the content of a file do not have the name of the file.
        if isinstance(error, OSError) and error.filename is not None:
            raise _unreadable(part.data_set, error) from None
        raise damaged_part(part.data_set, part.folder.name, _reason(error)) from None


def _reason(error: Exception) -> str:
    """Return what is wrong with a part, in one line."""
    if isinstance(error, KeyError):  # pyarrow names a column in bytes
        return f"{os.fsdecode(error.args[0])} is missing"
    return " ".join(str(error).split()) or type(error).__name__


def part_folders(entries: Iterable[Folder]) -> list[Folder]:
    """Return the folders of parts among the entries of a data set."""
    return [entry for entry in entries if _PART_NAME.fullmatch(entry.name)]


def number_of(folder: Folder) -> int:
    """Return the number of a part."""
    return int(folder.name.partition("=")[2])


def _decoded(content: bytes, kind: type[Any], data_set: str, what: str) -> Any:
    try:
        return msgspec.json.decode(content, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise damaged_part(data_set, what, str(error)) from None


def _unreadable(data_set: str, error: OSError) -> InputError:
    """Return the error about a file that is missing or cannot be opened."""
    where = os.path.relpath(error.filename or data_set, data_set)
    if is_http(data_set):
        where = unquote(where)
    reason = system_reason(error)
    if isinstance(error, FileNotFoundError):
        return damaged_part(data_set, where, reason)
    return InputError(data_set, f"{where}: {reason}")


def damaged_part(data_set: str, what: str, reason: str) -> MalformedProfileError:
    """Return the error about damage in `what`: a part of a data set, or a file of the data set."""
    return MalformedProfileError(
        data_set, f"the data set is damaged: {what}: {reason}; export its files to a new folder"
    )

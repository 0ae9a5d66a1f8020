"""Finds the files that folders, lists and patterns stand for, and makes paths absolute.

The name of an input may also be a URL: see `urls`.
"""

from __future__ import annotations

import os
import shlex
import stat
from contextlib import suppress
from glob import escape, glob, has_magic
from itertools import chain, islice
from typing import TYPE_CHECKING, Final, NamedTuple

from profile_analyze.errors import InputError, reading_reason
from profile_analyze.readers.input.companions import companions_of
from profile_analyze.readers.input.content import MAX_SIZE, remote_path
from profile_analyze.readers.input.source import Source
from profile_analyze.readers.input.suffixes import MODEL_SUFFIX, SUFFIXES
from profile_analyze.readers.input.urls import is_http, is_pattern, is_url, url_in

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Sequence
    from os import PathLike

_TEXTS: Final = (".txt", ".csv", ".xml", ".log")
"""Suffixes of some profiles, but also of other files, such as notes. A folder therefore does not
stand for files with these suffixes, but an error message suggests naming them."""
_ALL_TEXTS: Final = tuple(text + packed for text in _TEXTS for packed in ("", ".gz", ".zst"))
_MOST_FOLDERS: Final = 2
"""The most subfolders that an error message names."""
_MOST_SEARCHED: Final = 200
"""The most folders in which an error message looks for profiles, because a tree may be huge."""

DATA_SET_MANIFEST: Final = "_profile_analyze.json"
"""The file that marks a folder as a data set, which `fleet` reads."""

_NO_PROFILES: Final = (
    f"is a directory without profiles ({', '.join(f'*{suffix}' for suffix in SUFFIXES)})"
)

_ANY_FOLDERS: Final = "**"
"""The part of a pattern that stands for any folders, one inside the other, or none."""

LIST: Final = "@"
"""The prefix that marks a list, which is a file with the names of other files."""


class Inputs(NamedTuple):
    """What the names of inputs stand for."""

    names: list[str]
    """The names themselves. Only a pattern, such as `runs/**/*.json`, is replaced by the files that
    match it."""
    files: list[str]
    """The files and the data sets that `names` stand for."""
    data_sets: list[str]
    """The data sets among `files`."""
    left_out: list[str]
    """Files in local folders that may be profiles, but are not in `files` because of their suffix,
    such as `.csv`."""
    listed: list[tuple[str, str]]
    """Each name in a list, with the name of the list: `("a.json", "@list.txt")`."""

    @classmethod
    def joined(cls, parts: Iterable[Inputs]) -> Inputs:
        """Return the inputs of all `parts`, in their order."""
        parts = [*parts]
        return cls(
            names=[name for part in parts for name in part.names],
            files=[file for part in parts for file in part.files],
            data_sets=[data_set for part in parts for data_set in part.data_sets],
            left_out=[file for part in parts for file in part.left_out],
            listed=[pair for part in parts for pair in part.listed],
        )


class _Input(NamedTuple):
    """A file, or a data set."""

    name: str
    is_data_set: bool = False
    is_left_out: bool = False
    """Whether the file is in a folder and has one of the suffixes `_ALL_TEXTS`. A folder does not
    stand for such files."""


def inputs_in(names: Iterable[str], *, max_size: int = MAX_SIZE) -> Inputs:
    """Return the files and the data sets that `names` stand for.

    - A pattern stands for the files that match it. If no file matches, it stands for itself.
    - A folder stands for its files with one of `SUFFIXES`, sorted by name. Companion files
      of these profiles, such as descriptions, are left out. A folder that is a data set stands
      for itself.
    - `@FILE` stands for the names in FILE, one in each line. Blank lines and lines that begin with
      `#` are skipped.
    - Any other name is a file, or `-`. A URL is a file or a folder.

    Raises `InputError` for a folder without profiles, and for a list that is wrong or has more than
    `max_size` bytes. Raises it also if the driver of a URL cannot list the files.
    """
    return Inputs.joined(_inputs_of(name, max_size) for name in names)


def _inputs_of(name: str, max_size: int) -> Inputs:
    """Return what one name stands for: see `inputs_in`."""
    if name.startswith(LIST):
        names, in_list = [name], _names_in_list(name, max_size)
        found = [*chain.from_iterable(map(_expand_folder, in_list))]
        listed = [(one, name) for one in in_list]
    elif is_url(name) and is_pattern(name):
        names = remote_path(name).matching() or [name]
        found, listed = [*map(_Input, names)], []
    else:
        names = _files_matching(name) or [name]
        found, listed = [*chain.from_iterable(map(_expand_folder, names))], []
    return Inputs(
        names,
        [one.name for one in found if not one.is_left_out],
        [one.name for one in found if one.is_data_set],
        [one.name for one in found if one.is_left_out],
        listed,
    )


def _files_matching(name: str) -> list[str]:
    """Return the local files that match the pattern `name`; empty if it is not a pattern."""
    if is_url(name) or not has_magic(name) or os.path.lexists(name):
        return []
    found = sorted({*_matching(name)})
    # `**` also matches folders. Return folders only if no file matches.
    return [one for one in found if not os.path.isdir(one)] or found


def _matching(pattern: str) -> Iterator[str]:
    """Yield what `glob` yields, but go into each real folder once: links may go in circles."""
    parts = pattern.split("/")
    if _ANY_FOLDERS not in parts:
        yield from glob(pattern)
        return
    index = parts.index(_ANY_FOLDERS)
    outer, inner = "/".join(parts[:index]), "/".join(parts[index + 1 :] or ["*"])
    starts = glob(outer) if outer else ["/" if index else ""]
    for start in starts:
        for folder in _subfolders(start):
            yield from _matching(os.path.join(escape(folder), inner))


def is_pipe(name: str) -> bool:
    """Return whether `name` is standard input, or a pipe such as a shell makes for `<(...)`."""
    with suppress(OSError, ValueError):  # reading the file reports this error later
        return name == "-" or stat.S_ISFIFO(os.stat(name).st_mode)
    return False


def absolute_path(file: str | PathLike[str]) -> str:
    """Return the absolute path of a file, or its URL. Symbolic links are not followed."""
    if is_url(file):
        return os.fspath(file)
    return os.path.abspath(file)  # `Path.resolve` follows links


def _names_in_list(name: str, max_size: int) -> list[str]:
    """Return the names in a list. `name` begins with `LIST`."""
    try:
        content = Source(name.removeprefix(LIST), max_size=max_size).content()
    except InputError as error:
        raise InputError(name, f"the list cannot be read: {error.reason}") from None
    # Decoded as the system decodes arguments, so that names need not be UTF-8.
    # `splitlines` would also split at other characters, such as U+2028, which names may have.
    lines = [line.strip() for line in os.fsdecode(content).split("\n")]
    listed_names = [line for line in lines if line and not line.startswith("#")]
    if not listed_names:
        raise InputError(name, "is a list without names; write one in each line")
    if listed_names[0].startswith("{"):
        raise InputError(name, "looks like JSON, not like a list; name a profile without the @")
    for listed_name in listed_names:
        # Lists do not nest: otherwise two lists could include each other.
        if listed_name.startswith(LIST):
            reason = f"contains the list {listed_name}; write the names in that list instead"
            raise InputError(name, reason)
    return listed_names


def _expand_folder(name: str) -> Iterator[_Input]:
    """Yield what a name stands for: the files in a folder, or the file or data set itself."""
    if is_url(name):
        yield from _expand_url(name)
        return
    try:
        entries = sorted(os.listdir(name)) if os.path.isdir(name) else None
    except OSError as error:
        raise InputError(name, reading_reason(error)) from None
    if entries is None or DATA_SET_MANIFEST in entries:
        yield _Input(name, is_data_set=entries is not None)
        return
    files = _profiles_among(name, entries)
    if not files:
        raise InputError(name, _NO_PROFILES + _advice_on_folder(name, entries))
    yield from map(_Input, files)
    texts = (os.path.join(name, entry) for entry in entries if entry.endswith(_ALL_TEXTS))
    yield from (_Input(text, is_left_out=True) for text in texts if os.path.isfile(text))


def _expand_url(url: str) -> Iterator[_Input]:
    """Yield the profiles in the folder at a URL; the URL itself if it is a file or a data set."""
    path = remote_path(url)
    if not (_may_be_folder(url) and path.is_dir()):
        yield _Input(url)
        return
    try:
        entries = path.entries()
    except FileNotFoundError:
        raise InputError(url, "no such file") from None
    if any(entry.name == DATA_SET_MANIFEST for entry in entries):
        yield _Input(url, is_data_set=True)
        return
    files = _profile_names([entry.name for entry in entries if not entry.is_folder])
    if not files:
        has_folders = any(entry.is_folder for entry in entries)
        pattern = url_in(url, f"**/*{SUFFIXES[0]}")
        advice = f"; subfolders are not searched: name '{pattern}'" if has_folders else ""
        raise InputError(url, _NO_PROFILES + advice)
    yield from (_Input(url_in(url, file)) for file in files)


def _may_be_folder(url: str) -> bool:
    """Return whether a URL may name a folder, by its name alone: a request would take time."""
    if url.endswith("/"):
        return True
    # Asked whether a URL is a folder, the driver of web servers would download the whole file.
    is_file = is_http(url) or url.endswith((*SUFFIXES, *_ALL_TEXTS, MODEL_SUFFIX))
    return not (is_file or is_pattern(url))


def _profile_names(names: Iterable[str]) -> list[str]:
    """Return the names of profiles in a folder."""
    profiles = [name for name in names if name.endswith(SUFFIXES)]
    companions = {companion for name in profiles for companion in companions_of(name)}
    return [name for name in profiles if name not in companions]


def _profiles_among(folder: str, entries: Iterable[str]) -> list[str]:
    paths = (os.path.join(folder, name) for name in _profile_names(entries))
    return [path for path in paths if _is_file_or_broken_link(path)]


def _advice_on_folder(folder: str, entries: Iterable[str]) -> str:
    """Return advice on what to name instead of a folder without profiles; may be empty."""
    paths = [os.path.join(folder, entry) for entry in entries]
    models = [path for path in paths if path.endswith(MODEL_SUFFIX)]
    texts = [one for one in sorted(_ALL_TEXTS) if any(path.endswith(one) for path in paths)]
    patterns = " ".join(os.path.join(folder, f"*{suffix}") for suffix in texts)
    advice = [
        _advice_on_subfolders(folder),
        f"name files with other suffixes: {patterns}" if texts else "",
        f"models in a folder are not read: name one, such as {models[0]}" if models else "",
    ]
    return "".join(f"; {one}" for one in advice if one)


def _advice_on_subfolders(folder: str) -> str:
    """Return advice to name subfolders with profiles, or a pattern; empty if there are none."""
    found = [*islice(_folders_with_profiles(folder), _MOST_FOLDERS)]
    if not found:
        return ""
    names = " or ".join(path for path, _ in found)
    pattern = shlex.quote(os.path.join(folder, "**", f"*{found[0][1]}"))
    return f"subfolders are not searched: name one, such as {names}, or several: {pattern}"


def _folders_with_profiles(folder: str) -> Iterator[tuple[str, str]]:
    """Yield each folder inside of `folder` that has profiles, and the suffix of its profiles."""
    for path, folders, files in islice(os.walk(folder), _MOST_SEARCHED):
        folders.sort()
        profiles = _profiles_among(path, sorted(files))
        if path != folder and profiles:
            yield path, next(one for one in SUFFIXES if profiles[0].endswith(one))


def _is_file_or_broken_link(path: str) -> bool:
    # A broken link counts as a file, because opening it later reports the error.
    return os.path.isfile(path) or not os.path.exists(path)


def without_repeats(files: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """Return each real file once, in order, and the names left out with the names that stay.

    A file may have several names through links. A name without links is preferred, then the first.
    """
    if len(files) < 2:
        return [*files], {}
    same: dict[Hashable, list[int]] = {}
    for index, file in enumerate(files):
        same.setdefault(_identity(file, index), []).append(index)
    chosen = {}
    for indices in same.values():
        direct = indices if len(indices) == 1 else _without_links(files, indices)
        chosen.update(dict.fromkeys(indices, next(iter(direct), indices[0])))
    left_out = {files[index]: files[stays] for index, stays in chosen.items() if index != stays}
    return [files[index] for index in sorted({*chosen.values()})], left_out


def _identity(file: str, index: int) -> Hashable:
    """Return what is equal for all names of a file. A pipe, for example, has only one name."""
    try:
        status = os.stat(file)
    except (OSError, ValueError):  # a URL, standard input, or no file
        return index if file == "-" else file
    is_stored = stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)
    return (status.st_dev, status.st_ino) if is_stored and status.st_ino else index


def _without_links(files: Sequence[str], indices: Iterable[int]) -> list[int]:
    return [one for one in indices if _has_no_links(files[one])]


def _has_no_links(file: str) -> bool:
    try:
        return os.path.realpath(file) == os.path.abspath(file)
    except ValueError:  # no file can have this name
        return True


def _subfolders(folder: str) -> Iterator[str]:
    """Yield `folder` and all folders in it, each real folder once, also if links go in circles.

    As in a shell, hidden folders are left out. Folders that only links lead to are last.
    """
    seen: set[tuple[int, int]] = set()
    waiting, links = [folder], list[str]()
    while waiting or links:
        path = waiting.pop() if waiting else links.pop(0)
        try:
            status = os.stat(path or os.curdir)
            with os.scandir(path or os.curdir) as found:
                entries = sorted(found, key=lambda entry: entry.name, reverse=True)
        except OSError:  # a shell skips it, too
            continue
        if (status.st_dev, status.st_ino) in seen:
            continue
        seen.add((status.st_dev, status.st_ino))
        yield path
        folders = [one for one in entries if not one.name.startswith(".") and one.is_dir()]
        for entry in folders:
            inner = os.path.join(path, entry.name)
            (links if entry.is_symlink() else waiting).append(inner)

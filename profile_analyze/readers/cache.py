"""Keeps the decoded profiles of large files in a folder, so that the next question is fast.

The name of a kept file has four digests, joined by hyphens:

- the path of the profile
- the state of the profile and of this package: if it changes, the kept file is stale
- the arguments of the call that decide what is read, such as the sizes of a model's inputs
- the conditions: what the reader looked at besides the file

Readers are watched for the conditions: the wanted columns and the files beside the profile that
they ask for, and the packages that they use. If a reader never looks at the wanted columns, the
kept profile answers every question.
"""

from __future__ import annotations

import os
from collections.abc import Collection
from contextlib import suppress
from hashlib import blake2b
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from profile_analyze.model.notes import Importance, Note
from profile_analyze.readers.cache_files import cache_files, mark_used, remove, write
from profile_analyze.readers.content import is_compressed, state_of_file
from profile_analyze.readers.profile_arrays import (
    UNWRITABLE,
    pieces_of,
    read_document,
    read_profile,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import BinaryIO, TypeAlias

    from profile_analyze.model.profile import Profile
    from profile_analyze.readers.source import Cache, Source

    Read: TypeAlias = Callable[[Source, Collection[str]], Profile]

_SAMPLES: Final = 16
_SAMPLE_SIZE: Final = 1 << 14  # bytes


def through_cache(source: Source, wanted: Collection[str], read: Read) -> Profile:
    """Return the kept profile of `source`; if there is none, `read` it and keep it.

    If it cannot be kept, the profile has a note that says why.
    """
    cache = source.cache
    before = None if cache is None else _identity_of(source, cache)
    if cache is None or before is None:
        return read(source, wanted)
    kept = _kept(cache.folder, before, source, wanted)
    if kept is not None:
        return kept
    asked = _WatchedNames(wanted)
    profile = read(source, asked)
    # If the file changed meanwhile, it is unclear what was read.
    if source.cache is None or _identity_of(source, cache) != before:
        return profile
    try:
        _keep(cache, before, profile, _conditions(source, asked))
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        note = Note(
            f"{cache.folder}: the decoded profile cannot be kept for the next question: {reason}; "
            "--cache names another folder, and --no-cache keeps nothing",
            Importance.CONTEXT,
        )
        return profile.changed(notes=(*profile.notes, note))
    return profile


class _Identity(NamedTuple):
    """The first three digests in the name of a kept file: see the module."""

    path: str
    state: str
    arguments: str


def _identity_of(source: Source, cache: Cache) -> _Identity | None:
    """Return the identity of a large file; None for any other input."""
    state = state_of_file(source.path)
    if state is None:
        return None
    try:
        with open(source.path, "rb") as stream:  # noqa: PTH123  # `Path` changes some names
            samples = _samples(stream, state.size)
    except OSError:  # reading the profile reports the error
        return None
    smallest = cache.smallest_compressed if is_compressed(samples) else cache.smallest
    if state.size < smallest:
        return None
    beside = source.folder is not None
    return _Identity(
        _digest(os.path.abspath(source.path)),  # noqa: PTH100  # links stay
        _digest(state, blake2b(samples).digest(), _state_of_this_package()),
        # The name is in the profile, as the caller wrote it.
        _digest(os.fspath(source.path), source.max_size, source.inputs, beside),
    )


def _samples(stream: BinaryIO, size: int) -> bytes:
    """Return some bytes from the start of a file to its end."""
    last = max(0, size - _SAMPLE_SIZE)
    samples = []
    for number in range(_SAMPLES):
        stream.seek(last * number // (_SAMPLES - 1))
        samples.append(stream.read(_SAMPLE_SIZE))
    return b"".join(samples)


def _state_of_this_package() -> list[Any]:
    """Return the states of all modules of this package: another version may read otherwise."""
    files = sorted(Path(__file__).parents[1].rglob("*.py"))
    return [(file.name, state_of_file(file)) for file in files]


def _digest(*values: Any) -> str:
    return blake2b(repr(values).encode("utf-8", "backslashreplace"), digest_size=8).hexdigest()


class _WatchedNames(Collection[str]):
    """Names of columns that remember what a reader asked about them."""

    def __init__(self, names: Collection[str]) -> None:
        self._names = frozenset(names)
        self.answers: dict[str, bool] = {}
        """For each name that the reader asked about, whether it is among the names."""
        self.are_all_known = False
        """Whether the reader looked at all names."""

    def __contains__(self, name: object) -> bool:
        self.answers[str(name)] = name in self._names
        return self.answers[str(name)]

    def __iter__(self) -> Iterator[str]:
        self.are_all_known = True
        return iter(self._names)

    def __len__(self) -> int:
        self.are_all_known = True
        return len(self._names)

    def conditions(self) -> list[Any]:
        """Return the names if the reader saw them all, and its questions with their answers."""
        names = sorted(self._names) if self.are_all_known else None
        return [names, sorted(self.answers.items())]


def _conditions(source: Source, asked: _WatchedNames) -> dict[str, Any]:
    """Return what the reader looked at, besides the file."""
    return {
        "wanted": asked.conditions(),
        "files": sorted(source.files_beside.items()),
        "packages": [(name, _state_of_package(name)) for name in sorted(source.packages)],
    }


def _state_of_package(name: str) -> Any:
    """Return the state of a package, which changes when another version is installed."""
    spec = find_spec(name)
    return None if spec is None or spec.origin is None else state_of_file(spec.origin)


def _hold(conditions: Any, source: Source, wanted: Collection[str]) -> bool:
    """Return whether a reader would see the same again."""
    names, answers = conditions["wanted"]
    return bool(
        (names is None or names == sorted(set(wanted)))
        and all((name in wanted) == answer for name, answer in answers)
        and all(_same(source.state_of_neighbour(name), one) for name, one in conditions["files"])
        and all(_same(_state_of_package(name), one) for name, one in conditions["packages"])
    )


def _same(state: Any, kept: Any) -> bool:
    """Compare two states. A kept state is a list, because the file has no tuples."""
    return bool((None if state is None else list(state)) == kept)


def _kept(
    folder: str, identity: _Identity, source: Source, wanted: Collection[str]
) -> Profile | None:
    """Return the kept profile; None if there is none, or if its file is damaged."""
    with suppress(OSError):
        for file in cache_files(folder, "-".join(identity)):
            # Whatever is wrong with a kept file, the profile is read again and replaces it.
            with suppress(Exception), open(file.path, "rb") as stream:  # noqa: PTH123
                document = read_document(stream)
                if _hold(document["conditions"], source, wanted):
                    profile = read_profile(stream, document)
                    mark_used(file.path)
                    return profile
    return None


def _keep(cache: Cache, identity: _Identity, profile: Profile, conditions: Any) -> None:
    """Write the profile, and remove the stale profiles of its path. Raises `OSError`."""
    # A few profiles cannot be written, such as those with a name that is not valid Unicode.
    with suppress(*UNWRITABLE):
        pieces = pieces_of(profile, conditions)
        name = "-".join((*identity, _digest(conditions)))
        write(cache.folder, name, pieces, cache.most)
        of_path = cache_files(cache.folder, f"{identity.path}-")
        stale = f"{identity.path}-{identity.state}-"
        remove(file for file in of_path if not Path(file.path).name.startswith(stale))

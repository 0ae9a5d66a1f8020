"""Keeps the decoded profiles of large files in a folder, so that later questions are fast.

The name of a kept file consists of four digests, joined by hyphens:

- the path of the profile
- the states of the profile and of this package: if one of them changes, the kept file is stale
- the arguments of `load` that can change the profile, such as the sizes of a model's inputs
- the conditions: everything that the reader looked at besides the profile

While a reader works, this module records its conditions:

- the columns that the reader asked about, and whether the question wants them
- the files beside the profile that the reader looked for
- the packages that the reader used

A kept profile answers a question only if all conditions still hold. If the reader never asked
which columns are wanted, the kept profile answers questions about any columns.

Kept files are signed with a key of the user and with their names. A file that is damaged, renamed
or from someone else is as good as none.
"""

from __future__ import annotations

import os
from collections.abc import Collection
from contextlib import suppress
from functools import cache
from hashlib import blake2b
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from profile_analyze.errors import system_reason
from profile_analyze.model.findings import Finding, Kind
from profile_analyze.readers.cache.arrays import (
    SIGNATURE_SIZE,
    UNWRITABLE,
    pieces_of,
    read_document,
    read_profile,
    signed,
)
from profile_analyze.readers.cache.files import SUFFIX, cache_files, mark_used, remove, write
from profile_analyze.readers.cache.key import cache_key, new_cache_key
from profile_analyze.readers.input.content import is_compressed
from profile_analyze.readers.input.file_state import state_of_file
from profile_analyze.readers.input.paths import absolute_path
from profile_analyze.readers.regular_files import open_regular

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import BinaryIO, TypeAlias

    from profile_analyze.model.profile import Profile
    from profile_analyze.readers.input.source import Cache, Source

    Read: TypeAlias = Callable[[Source, Collection[str]], Profile]

_SAMPLES: Final = 16
_SAMPLE_SIZE: Final = 1 << 14  # bytes


def through_cache(source: Source, wanted: Collection[str], read: Read) -> Profile:
    """Return the kept profile of `source`. If no profile is kept, call `read`, and keep its result.

    Only profiles of large files are kept. If the system cannot write the kept file, the returned
    profile has a finding that says why.
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
    # `source.cache` is now None if a reader of another package read the file. If the file changed
    # during reading, the profile may mix old and new content.
    if source.cache is None or _identity_of(source, cache) != before:
        return profile
    try:
        _keep(cache, before, profile, _conditions(source, asked))
    except OSError as error:
        note = Finding.of(
            "unkept-profile", Kind.CONTEXT, folder=cache.folder, reason=system_reason(error)
        )
        return profile.changed(notes=(*profile.notes, note))
    return profile


class _Identity(NamedTuple):
    """The first three digests in the name of a kept file: see the module's docstring."""

    path: str
    state: str
    arguments: str


def _identity_of(source: Source, cache: Cache) -> _Identity | None:
    """Return the identity of the file of `source`; None if the input is not a large file."""
    state = state_of_file(source.path)
    if state is None:
        return None
    try:
        with open(source.path, "rb") as stream:  # noqa: PTH123  # `Path` changes some names
            samples = _samples(stream, state.size)
    except OSError:  # the reader of the profile reports the error
        return None
    smallest = cache.smallest_compressed if is_compressed(samples) else cache.smallest
    if state.size < smallest:
        return None
    return _Identity(
        _digest(absolute_path(source.path)),
        _digest(state, blake2b(samples).digest(), _state_of_this_package()),
        # The profile contains the path as the caller wrote it. Each spelling has its own kept file.
        _digest(os.fspath(source.path), source.max_size, source.inputs, source.beside),
    )


def _samples(stream: BinaryIO, size: int) -> bytes:
    """Return 16 samples of a file, joined: the first is at its start, the last at its end."""
    last = max(0, size - _SAMPLE_SIZE)
    samples = []
    for number in range(_SAMPLES):
        stream.seek(last * number // (_SAMPLES - 1))
        samples.append(stream.read(_SAMPLE_SIZE))
    return b"".join(samples)


@cache
def _state_of_this_package() -> list[Any]:
    """Return the name and the state of each module of this package.

    Another version of the package may read a profile differently.
    """
    files = sorted(Path(__file__).parents[2].rglob("*.py"))
    return [(file.name, state_of_file(file)) for file in files]


def _digest(*values: Any) -> str:
    return blake2b(repr(values).encode("utf-8", "backslashreplace"), digest_size=8).hexdigest()


class _WatchedNames(Collection[str]):
    """The names of the wanted columns, with a record of what a reader asked about them."""

    def __init__(self, names: Collection[str]) -> None:
        self._names = frozenset(names)
        self.answers: dict[str, bool] = {}
        """For each name that the reader asked about: whether it is wanted."""
        self.depends_on_all = False
        """Whether the reader listed or counted the names."""

    def __contains__(self, name: object) -> bool:
        self.answers[str(name)] = name in self._names
        return self.answers[str(name)]

    def __iter__(self) -> Iterator[str]:
        self.depends_on_all = True
        return iter(self._names)

    def __len__(self) -> int:
        self.depends_on_all = True
        return len(self._names)

    def conditions(self) -> list[Any]:
        """Return the names (None if the reader never listed or counted them), and the answers."""
        names = sorted(self._names) if self.depends_on_all else None
        return [names, sorted(self.answers.items())]


def _conditions(source: Source, asked: _WatchedNames) -> dict[str, Any]:
    """Return, as plain values, everything that the reader looked at besides the profile."""
    return {
        "wanted": asked.conditions(),
        "files": sorted(source.files_beside.items()),
        "packages": [(name, _state_of_package(name)) for name in sorted(source.packages)],
    }


def _state_of_package(name: str) -> Any:
    """Return the state of the file that Python imports for a package; None without a file.

    The state changes when another version is installed.
    """
    spec = find_spec(name)
    return None if spec is None or spec.origin is None else state_of_file(spec.origin)


def _hold(conditions: Any, source: Source, wanted: Collection[str]) -> bool:
    """Return whether the conditions still hold, so that a reader would return the same profile."""
    names, answers = conditions["wanted"]
    return bool(
        (names is None or names == sorted(set(wanted)))
        and all((name in wanted) == answer for name, answer in answers)
        and all(_same(source.state_of_neighbour(name), kept) for name, kept in conditions["files"])
        and all(_same(_state_of_package(name), kept) for name, kept in conditions["packages"])
    )


def _same(state: Any, kept: Any) -> bool:
    """Return whether two states are equal. `kept` is a list or None: MessagePack has no tuples."""
    return bool((None if state is None else list(state)) == kept)


def _kept(
    folder: str, identity: _Identity, source: Source, wanted: Collection[str]
) -> Profile | None:
    """Return the kept profile whose conditions hold; None if no intact file has such a profile."""
    key = cache_key(folder)
    if key is None:
        return None
    with suppress(OSError):
        for file in cache_files(folder, "-".join(identity)):
            # A damaged file may raise any error. The profile is then read again and kept anew.
            with suppress(Exception), open_regular(file.path) as stream:
                name = Path(file.path).name.removesuffix(SUFFIX)
                document = read_document(stream, _key_of_file(key, name))
                if _hold(document["conditions"], source, wanted):
                    profile = read_profile(stream, document)
                    mark_used(file.path)
                    return profile
    return None


def _key_of_file(key: bytes, name: str) -> bytes:
    """Return the key that signs the kept file `name`, so that no other file can take its name."""
    return blake2b(name.encode(), key=key, digest_size=len(key)).digest()


def _keep(cache: Cache, identity: _Identity, profile: Profile, conditions: Any) -> None:
    """Write the profile, and remove the stale files of its path. Raises `OSError`."""
    # A few profiles cannot be kept: for example, if a name in them is not valid Unicode.
    with suppress(*UNWRITABLE):
        pieces = pieces_of(profile, conditions)
        name = "-".join((*identity, _digest(conditions)))
        if sum(map(len, pieces)) + SIGNATURE_SIZE > cache.most:
            return
        key = _key_of_file(new_cache_key(cache.folder), name)
        write(cache.folder, name, signed(pieces, key), cache.most)
        of_path = cache_files(cache.folder, f"{identity.path}-")
        current = f"{identity.path}-{identity.state}-"
        remove(file for file in of_path if not Path(file.path).name.startswith(current))

"""Turns a profile into bytes and back: a MessagePack document, followed by the arrays.

The bytes hold only numbers and texts. Unlike a pickle, they cannot run code when they are read.
They are signed with a key: a size, a type or a value that is read was written by `pieces_of`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from hashlib import blake2b, sha256
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from msgspec import msgpack

from profile_analyze.model.categorical import Categorical
from profile_analyze.model.executions import Executions, Run, Track
from profile_analyze.model.findings import Finding, Kind, Size, Subject
from profile_analyze.model.frozen import packed, unpacked
from profile_analyze.model.notes import Importance, TextNote
from profile_analyze.model.operators import Operators
from profile_analyze.model.origin import Origin, RecordedFact
from profile_analyze.model.profile import Profile
from profile_analyze.model.static import BodyWork, Port, StaticModel, Stored
from profile_analyze.model.tables import Allocations, Dependencies, Tensors, Uses

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from io import BufferedIOBase
    from typing import TypeAlias

    from numpy.typing import NDArray

    from profile_analyze.model.findings import Beside

    Array: TypeAlias = NDArray[Any]

_MAGIC: Final = b"profile\n"
_DIGEST_SIZE: Final = 32
_HEADER_SIZE: Final = len(_MAGIC) + 8 + _DIGEST_SIZE
"""The number of bytes of the header: 8 magic bytes, 8 bytes for the size of the document, and its
digest. A signature of the header follows. The document has the size and the digest of the arrays.
"""
SIGNATURE_SIZE: Final = 32
_ALIGNMENT: Final = 64
"""Each array starts at a multiple of this number of bytes, counted from the first array."""
UNWRITABLE: Final = (TypeError, UnicodeEncodeError, OverflowError)
"""The errors of `pieces_of` for values that cannot be written: types that no reader of this package
uses, texts that are not valid Unicode, and integers of more than 64 bits."""

_SCALARS: Final = frozenset((bool, int, float, str, type(None)))
_NARROW: Final = (np.int8, np.int16, np.int32)

_RECORDS: Final[Mapping[str, Any]] = {
    record.__name__: record
    for record in (
        *(Profile, Categorical, Operators, Executions, Tensors, Uses, Dependencies, Allocations),
        *(Origin, RecordedFact, Track, Run, StaticModel, Port, Stored, BodyWork),
        *(Finding, Subject, Size),
    )
}
"""The classes of `model` that a file may contain, by name."""


def pieces_of(profile: Profile, conditions: Any) -> list[bytes | memoryview]:
    """Return the bytes of a profile and of `conditions`: plain values that say when it is valid.

    `signed` must sign the bytes before they are written.

    Raises one of `UNWRITABLE` if the profile has a value that the bytes cannot hold.
    """
    writer = _Writer()
    tree = writer.tree(profile)
    body = list(_aligned(writer.arrays))
    digest = sha256()
    for piece in body:
        digest.update(piece)
    data = {"size": sum(map(len, body)), "digest": digest.digest(), "arrays": writer.descriptions}
    document = msgpack.encode({"conditions": conditions, "data": data, "profile": tree})
    header = _MAGIC + len(document).to_bytes(8, "little") + sha256(document).digest()
    return [header, document, *body]


def signed(pieces: Sequence[bytes | memoryview], key: bytes) -> list[bytes | memoryview]:
    """Return the pieces with their signature."""
    header, *rest = pieces
    return [header, _signature(header, key), *rest]


def _signature(header: bytes | memoryview, key: bytes) -> bytes:
    return blake2b(header, key=key, digest_size=SIGNATURE_SIZE).digest()


def read_document(stream: BufferedIOBase, key: bytes) -> Any:
    """Return the document at the start of `stream`: a dict with the item `conditions`.

    Raises `ValueError` if the bytes are damaged, or not signed with `key`.
    """
    header = stream.read(_HEADER_SIZE)
    if stream.read(SIGNATURE_SIZE) != _signature(header, key):
        raise ValueError("no profile")
    start = len(_MAGIC) + 8
    document = stream.read(int.from_bytes(header[len(_MAGIC) : start], "little"))
    if sha256(document).digest() != header[start:]:
        raise ValueError("the document is damaged")
    return msgpack.decode(document)


def read_profile(stream: BufferedIOBase, document: Any) -> Profile:
    """Return the profile in `stream`, after `read_document` has read `document` from it.

    Raises `ValueError` if the bytes are damaged.
    """
    # The arrays are read, not mapped into memory: if a mapped file vanished from a network drive,
    # the system would kill this process.
    size = document["data"]["size"]
    start = stream.tell()
    # Check the size before reserving memory: the file may be cut.
    if size != stream.seek(0, os.SEEK_END) - start:
        raise ValueError("the arrays are damaged")
    stream.seek(start)
    data = np.empty(size, np.uint8)
    read = stream.readinto(data.data)
    if read != len(data) or sha256(data.data).digest() != document["data"]["digest"]:
        raise ValueError("the arrays are damaged")
    arrays, start = [], 0
    for stored, dtype, count, length in document["data"]["arrays"]:
        end = start + count * np.dtype(stored).itemsize
        values = data[start:end].view(stored).astype(dtype, copy=False)
        arrays.append(unpacked(values, length))
        start = _next_aligned(end)
    profile = _value(document["profile"], arrays)
    assert isinstance(profile, Profile)
    return profile


class _Writer:
    """Turns values into trees of plain values, and collects their arrays.

    A tree is a scalar or a list. A list begins with the kind of the value, and its parts follow.
    For example, `["array", 3]` stands for the array with the number 3.
    """

    def __init__(self) -> None:
        self.arrays: list[Array] = []
        self.descriptions: list[tuple[str, str, int, int | None]] = []
        """For each array: its dtypes in the file and in memory, the number of stored elements, and
        the length of an array that stores one constant (otherwise None)."""

    def tree(self, value: Any) -> Any:
        if type(value) in _SCALARS:
            return value
        if type(value) is np.ndarray:
            return ["array", self._add(value)]
        if isinstance(value, Mapping):
            return ["map", {str(name): self.tree(one) for name, one in value.items()}]
        if type(value) is tuple and _SCALARS.issuperset(map(type, value)):
            return ["scalars", value]  # such as the names of all operators
        kind, parts = _parts(value)
        return [kind, *map(self.tree, parts)]

    def _add(self, array: Array) -> int:
        """Add `array` to the arrays, and return its number."""
        if array.ndim != 1 or array.dtype.kind not in "bif":
            raise TypeError(f"a profile cannot be written with an array of {array.dtype}")
        values, size = packed(array)
        stored = np.ascontiguousarray(_narrowed(values))
        self.descriptions.append((stored.dtype.str, values.dtype.str, len(stored), size))
        self.arrays.append(stored)
        return len(self.arrays) - 1


def _parts(value: Any) -> tuple[str, Iterable[Any]]:
    """Return the kind of a value and its parts: elements, fields, or arguments of `_note`."""
    kind = type(value)
    if kind is tuple:
        return "tuple", value
    if kind is frozenset:
        return "set", sorted(value)
    if kind is TextNote:
        beside = value.dropped_beside
        return "note", (value.pattern, int(value.importance), value.size, beside)
    if kind is Kind:
        return "finding kind", (int(value),)
    if _RECORDS.get(kind.__name__) is not kind:
        raise TypeError(f"a profile cannot be written with a {kind.__name__}")
    names = [one.name for one in fields(kind) if one.init] if is_dataclass(kind) else kind._fields
    return kind.__name__, [getattr(value, name) for name in names]


def _narrowed(values: Array) -> Array:
    """Return integers in the narrowest dtype that holds them all, because most codes are small.

    Return any other array unchanged.
    """
    if values.dtype.kind != "i" or not len(values):
        return values
    lowest, highest = int(values.min()), int(values.max())
    for narrow in _NARROW:
        if np.iinfo(narrow).min <= lowest and highest <= np.iinfo(narrow).max:
            return values.astype(narrow, copy=False)
    return values


def _aligned(arrays: Sequence[Array]) -> Iterator[bytes | memoryview]:
    """Yield the bytes of the arrays, with padding after each."""
    for array in arrays:
        piece = array.view(np.uint8).data
        yield piece
        yield bytes(_next_aligned(len(piece)) - len(piece))


def _next_aligned(size: int) -> int:
    return -(-size // _ALIGNMENT) * _ALIGNMENT


def _value(tree: Any, arrays: Sequence[Array]) -> Any:
    """Return the value that `_Writer.tree` turned into `tree`."""
    if type(tree) is not list:
        return tree
    kind, *parts = tree
    if kind == "array":
        return arrays[parts[0]]
    if kind == "map":
        return {name: _value(one, arrays) for name, one in parts[0].items()}
    if kind == "scalars":
        return tuple(parts[0])
    return _MAKERS[kind](*(_value(one, arrays) for one in parts))


def _note(pattern: str, importance: int, share: float, beside: Beside) -> TextNote:
    return TextNote(pattern, Importance(importance), share, dropped_beside=beside)


_MAKERS: Final[Mapping[str, Callable[..., Any]]] = {
    **_RECORDS,
    "tuple": lambda *values: values,
    "set": lambda *values: frozenset(values),
    "note": _note,
    "finding kind": Kind,
}
"""For each kind of value: the function that makes a value from its parts."""

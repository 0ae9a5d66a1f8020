"""Mutations that make valid profiles wrong: in their values, or in their bytes."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any, Final

from fuzz.documents import HOSTILE_TEXTS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from random import Random

_RAW_JSON: Final = {
    "@1e400@": "1e400",
    "@-1e400@": "-1e400",
    "@NaN@": "NaN",
    "@Infinity@": "Infinity",
    "@-0@": "-0",
    "@01@": "01",
    "@1.@": "1.",
    "@digits@": "9" * 5000,
    "@deep@": "[" * 3000 + "]" * 3000,
    "@deeper@": '{"a":' * 100_000,
    "@escape@": '"\\ud83d\\u0000\\x"',
    "@control@": '"\x01\x1b"',
}
"""Marks in a document, and the text that replaces each mark in the JSON. `json.dumps` cannot write
most of these texts."""

_MOST_CHARACTERS: Final = 2_000_000

VALUES: Final[tuple[Any, ...]] = (
    *(None, True, False, 0, 1, -1, 2**31, 2**53 + 1, 2**63 - 1, 2**63, 2**64, -(2**63) - 1, 10**30),
    *(0.5, -0.5, 1e-320, 5e-324, 1e308, -1e308, 1.7976931348623157e308, 1e15),
    *("inf", "-inf", "nan", "NaN", "Infinity", "12", "1.5"),
    *([], {}, [None], [[]], [[1, None]], [[2**63]], {"": None}, {"start": 0}, [{}], ["1000"]),
    *_RAW_JSON,
    *HOSTILE_TEXTS,
)
_IDS: Final = (
    *("", "-1", "+5", " 7", "007", "1.5", "0x1", "1_000", "\uff11\uff12", "9" * 18, "9" * 19),
    *("9" * 30, "9" * 5000, "id", "1000", "0", "NaN"),
)
_SECTIONS: Final = (
    *(("profiler",), ("graph_exec",), ("profiler", "device"), ("profiler", "host")),
    *(("profiler", "opr_footprint"), ("graph_exec", "operator"), ("graph_exec", "var")),
)


class _RepeatedKey(str):
    """A key that a dictionary accepts beside an equal key, so that the JSON has it twice."""

    __slots__ = ()
    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        return self is other


def with_wrong_values(random: Random, document: Any) -> Any:
    """Return a copy of `document` with one to four wrong values, keys or sections."""
    document = json.loads(json.dumps(document))
    for _ in range(random.choice((1, 1, 2, 4))):
        random.choice(_VALUE_MUTATIONS)(random, document)
    return document


def to_json(random: Random, document: Any) -> bytes:
    """Return `document` as JSON, in a random style."""
    text = json.dumps(
        document,
        ensure_ascii=random.random() < 0.5,
        indent=random.choice((None, None, None, 1)),
        separators=random.choice(((",", ":"), None)),
    )
    for mark, value in _RAW_JSON.items():
        if mark in text:
            # A long text for all of a thousand fields would make a huge file.
            text = text.replace(f'"{mark}"', value, max(1, _MOST_CHARACTERS // len(value)))
    return text.encode("utf-8", random.choice(("surrogatepass", "backslashreplace", "replace")))


def with_wrong_bytes(random: Random, data: bytes) -> bytes:
    """Return `data` with one to three errors of transfer, storage or encoding."""
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        data = random.choice(_BYTE_MUTATIONS)(random, data)
    return data


def _positions(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every container in `value` with each of its keys or indices."""
    if isinstance(value, dict):
        for key, child in value.items():
            yield value, key
            yield from _positions(child)
    elif isinstance(value, list):
        for index, child in enumerate(value):
            yield value, index
            yield from _positions(child)


def _position(random: Random, document: Any, kind: type = object) -> tuple[Any, Any]:
    """Return a random container of type `kind` in `document`, and one of its keys or indices.

    If `document` has no such container, return a position in a new dictionary.
    """
    positions = [one for one in _positions(document) if isinstance(one[0], kind)]
    return random.choice(positions) if positions else ({"": None}, "")


def _value(random: Random) -> Any:
    return json.loads(json.dumps(random.choice(VALUES)))


def _replace(random: Random, document: Any) -> None:
    container, key = _position(random, document)
    container[key] = _value(random)


def _remove(random: Random, document: Any) -> None:
    container, key = _position(random, document)
    del container[key]


def _repeat_key(random: Random, document: Any) -> None:
    container, key = _position(random, document, dict)
    container[_RepeatedKey(key)] = random.choice((container[key], _value(random)))


def _rename(random: Random, document: Any) -> None:
    container, key = _position(random, document, dict)
    container[random.choice((*_IDS, *HOSTILE_TEXTS))] = container.pop(key)


def _replace_by_copy(random: Random, document: Any) -> None:
    """Replace a random value by a copy of another value of the document."""
    (source, at), (container, key) = _position(random, document), _position(random, document)
    container[key] = json.loads(json.dumps(source[at]))


def _empty_section(random: Random, document: Any) -> None:
    *path, last = random.choice(_SECTIONS)
    if not isinstance(document, dict):  # the profile of another runtime
        return
    for name in path:
        document = document.get(name)
        if not isinstance(document, dict):
            return
    document[last] = _value(random) if random.random() < 0.3 else {}


def _set_all_of_one_name(random: Random, document: Any) -> None:
    """Set all fields of one name, such as every `type` or `start`, to the same value."""
    _, name = _position(random, document, dict)
    value = random.choice((_value(random), random.choice(HOSTILE_TEXTS)))
    for container, key in list(_positions(document)):
        if key == name and isinstance(container, dict):
            container[key] = value


def _wrong_time(random: Random, document: Any) -> None:
    """Make one interval wrong: reversed, endless, negative or huge."""
    intervals = [
        one for one, key in _positions(document) if key == "start" and isinstance(one, dict)
    ]
    if intervals:
        interval = random.choice(intervals)
        interval[random.choice(("start", "kern", "end"))] = random.choice(
            (-1, -1e308, 1e308, 1e300, 5e-324, "nan", "-inf", "inf", None, "@1e400@", 2**70)
        )


_VALUE_MUTATIONS: Final[tuple[Callable[[Random, Any], None], ...]] = (
    *(_replace, _replace, _replace, _remove, _remove, _repeat_key, _rename, _rename),
    *(_replace_by_copy, _empty_section, _set_all_of_one_name, _wrong_time, _wrong_time),
)


def _cut(random: Random, data: bytes) -> bytes:
    return data[: random.randrange(len(data) + 1)]


def _flipped(random: Random, data: bytes) -> bytes:
    changed = bytearray(data)
    for _ in range(random.choice((1, 1, 2, 8)) if data else 0):
        changed[random.randrange(len(data))] ^= 1 << random.randrange(8)
    return bytes(changed)


def _overwritten(random: Random, data: bytes) -> bytes:
    start = random.randrange(len(data) + 1)
    noise = random.randbytes(random.choice((1, 2, 8, 64)))
    return data[:start] + noise + data[start + len(noise) :]


def _inserted(random: Random, data: bytes) -> bytes:
    start = random.randrange(len(data) + 1)
    noise = random.choice(
        (random.randbytes(3), b"\x00", b"\x1b[2J", b"\xff", b'"', b"{", b"]", b",", b"1e999", b"\\")
    )
    return data[:start] + noise + data[start:]


def _without_a_part(random: Random, data: bytes) -> bytes:
    start, end = sorted(random.randrange(len(data) + 1) for _ in range(2))
    return data[:start] + data[end:]


def _with_a_part_twice(random: Random, data: bytes) -> bytes:
    start, end = sorted(random.randrange(len(data) + 1) for _ in range(2))
    return data[:end] + data[start:end] + data[end:]


def _encoded(random: Random, data: bytes) -> bytes:
    text = data.decode("utf-8", "replace")
    encoding = random.choice(("utf-16", "utf-16-le", "utf-16-be", "utf-8-sig", "utf-32", "latin-1"))
    return text.encode(encoding, "replace")


def _twice(random: Random, data: bytes) -> bytes:
    return data + random.choice((b"", b"\n", b",", b"\x1e")) + data


def _with_suffix(random: Random, data: bytes) -> bytes:
    return data + random.choice((b"\n\n", b" ", b"x", b"\x00", b"}", b"\x1a", b"\xef\xbb\xbf"))


def _with_prefix(random: Random, data: bytes) -> bytes:
    return random.choice((b"\n\n", b" \t", b"x", b"\x00", b"[", b"\xef\xbb\xbf" * 2)) + data


def _tiny(random: Random, data: bytes) -> bytes:  # noqa: ARG001  # one signature for all
    return random.choice((b"", b" \n", b"null", b"[]", b"{}", b"0", b'""', random.randbytes(40)))


def _gzip(random: Random, data: bytes) -> bytes:
    packed = gzip.compress(data, compresslevel=random.choice((0, 1, 9)), mtime=0)
    return packed + random.choice((b"", b"", b"\x00" * 8, packed, b"rest"))


def _zstd(random: Random, data: bytes) -> bytes:
    import zstandard  # optional: only this mutation needs it

    packed = zstandard.ZstdCompressor(level=1).compress(data)
    return packed + random.choice((b"", b"", b"\x00" * 8, packed, b"rest"))


def _with_magic_bytes(random: Random, data: bytes) -> bytes:
    return random.choice((b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"PK\x03\x04", b"\x1f\x8b\x08")) + data


_BYTE_MUTATIONS: Final[tuple[Callable[[Random, bytes], bytes], ...]] = (
    *(_cut, _flipped, _flipped, _overwritten, _inserted, _inserted, _without_a_part),
    *(_with_a_part_twice, _encoded, _twice, _with_suffix, _with_prefix, _tiny, _gzip, _gzip, _zstd),
    _with_magic_bytes,
)

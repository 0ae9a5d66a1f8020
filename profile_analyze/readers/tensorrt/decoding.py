"""Decodes the JSON of trtexec, which writes names without escapes, and unknown numbers as `nan`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, TypeVar

import msgspec

from profile_analyze.errors import MalformedProfileError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from profile_analyze.readers.source import Source

T = TypeVar("T")

_NAME_START: Final = re.compile(r'"(?:name|Name|Metadata|TacticName)"\s*:\s*"')
_NAME_END: Final = re.compile(r'"\s*(?:,\s*"[A-Za-z/]+"\s*:|\})')
"""What follows a name that may contain quotes: the next key, or the end of the object."""
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")
"""Control characters that JSON allows nowhere. Line breaks and tabs may be between values."""
_NO_NUMBER: Final = re.compile(
    r'("(?:timeMs|averageMs|medianMs|percentage)"\s*:\s*)-?(?:nan(?:\([a-z]*\))?|inf)'
)
"""On Windows, `nan` has its kind behind it: `-nan(ind)`."""
_FAILURES: Final = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)


def decoded(source: Source) -> Any:
    """Return the content of `source`, repaired if it is not JSON.

    Raises `MalformedProfileError`.
    """
    data = source.content()
    try:
        return msgspec.json.decode(data)
    except _FAILURES as error:
        failure = error
    try:
        return msgspec.json.decode(_repaired(data.decode("utf-8", "replace")))
    except _FAILURES:
        raise MalformedProfileError(source.name, _reason(failure, data)) from None


def converted(value: Any, type_: type[T], file: str, place: str = "$") -> T:
    """Return decoded JSON as `type_`. Raises `MalformedProfileError` with the path in `file`."""
    try:
        return msgspec.convert(value, type_)
    except msgspec.ValidationError as error:
        problem, _, inner = str(error).partition(" - at `$")
        problem = f"{problem[:1].lower()}{problem[1:]}"
        raise MalformedProfileError(file, f"at {place}{inner.rstrip('`')}: {problem}") from None


def _reason(error: Exception, data: bytes) -> str:
    if isinstance(error, RecursionError):
        return "is nested too deeply for a profile"
    if "truncated" in str(error):
        return (
            f"truncated: the JSON ends in the middle, at byte {len(data)}; copy it again, or run "
            "trtexec again"
        )
    return f"is not valid JSON: {str(error).removeprefix('JSON is malformed: ')}"


def _repaired(text: str) -> str:
    """Return the JSON with escapes in names, and with null for numbers that are unknown."""
    with_names = "".join(_with_escaped_names(text))
    without_control = _CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", with_names)
    return _NO_NUMBER.sub(r"\1null", without_control)


def _with_escaped_names(text: str) -> Iterator[str]:
    """Yield the text in parts, with the names escaped."""
    position = 0
    while start := _NAME_START.search(text, position):
        end = _NAME_END.search(text, start.end())
        if end is None:
            break
        yield text[position : start.end()]
        yield msgspec.json.encode(text[start.end() : end.start()]).decode()[1:-1]
        position = end.start()
    yield text[position:]

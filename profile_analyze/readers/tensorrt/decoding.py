"""Decodes the JSON of trtexec, which does not escape names and writes unknown numbers as `nan`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, TypeVar

import msgspec

from profile_analyze.errors import MalformedProfileError
from profile_analyze.readers.input.second_document import (
    advice_to_split,
    second_document_before_repair,
)
from profile_analyze.readers.json_errors import (
    DECODING_ERRORS,
    TOO_DEEP,
    detail_of,
    problem_and_path,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from profile_analyze.readers.input.source import Source

T = TypeVar("T")

_NAME_START: Final = re.compile(r'"(?:name|Name|Metadata|TacticName)"\s*:\s*"')
_NAME_END: Final = re.compile(r'"\s*(?:,\s*"[A-Za-z/]+"\s*:|\})')
"""What follows a name that may contain quotes: the next key, or the end of the object."""
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")
"""Control characters that JSON allows nowhere. Line breaks and tabs may be between values."""
_NO_NUMBER: Final = re.compile(
    r'("(?:timeMs|averageMs|medianMs|percentage)"\s*:\s*)-?(?:nan(?:\([a-z]*\))?|inf)'
)
"""A number that is not finite. On Windows, a kind in brackets may follow: `-nan(ind)`."""


def decoded(source: Source) -> Any:
    """Return the decoded JSON in `source`. If the JSON is not valid, repair it first.

    Raises `MalformedProfileError`.
    """
    data = source.content()
    try:
        return msgspec.json.decode(data)
    except DECODING_ERRORS as error:
        failure = error
    repaired = _repaired(data.decode("utf-8", "replace"))
    try:
        return msgspec.json.decode(repaired)
    except DECODING_ERRORS:
        second = second_document_before_repair(data, repaired.encode())
        reason = _reason(failure, data) if second is None else advice_to_split(second)
        raise MalformedProfileError(source.name, reason) from None


def converted(value: Any, type_: type[T], file: str, place: str = "$") -> T:
    """Return decoded JSON as `type_`. `place` is the path of `value` in the file.

    Raises `MalformedProfileError`, which names the path of the wrong value.
    """
    try:
        return msgspec.convert(value, type_)
    except msgspec.ValidationError as error:
        problem, inner = problem_and_path(error)
        raise MalformedProfileError(file, f"at {place}{inner}: {problem}") from None


def _reason(error: Exception, data: bytes) -> str:
    if isinstance(error, RecursionError):
        return TOO_DEEP
    if "truncated" in str(error):
        return (
            f"truncated: the JSON ends in the middle, at byte {len(data)}; copy it again, or run "
            "trtexec again"
        )
    return f"is not valid JSON: {detail_of(error)}"


def _repaired(text: str) -> str:
    """Return the JSON with names escaped, and with null instead of `nan` and `inf`."""
    with_names = "".join(_with_escaped_names(text))
    without_control = _CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", with_names)
    return _NO_NUMBER.sub(r"\1null", without_control)


def _with_escaped_names(text: str) -> Iterator[str]:
    """Yield the parts of the text, with names escaped."""
    position = 0
    while start := _NAME_START.search(text, position):
        end = _NAME_END.search(text, start.end())
        if end is None:
            break
        yield text[position : start.end()]
        yield msgspec.json.encode(text[start.end() : end.start()]).decode()[1:-1]
        position = end.start()
    yield text[position:]

"""Reads an event that is not valid JSON, or that has fields of a wrong type."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple, get_args

import msgspec

from profile_analyze.readers.json_errors import DECODING_ERRORS
from profile_analyze.readers.pytorch.events import EVENT_TYPES

if TYPE_CHECKING:
    from profile_analyze.readers.pytorch.events import Event

_WRONG_BACKSLASH: Final = re.compile(r'\\(?!["\\/bfnrt]|u[0-9a-fA-F]{4})')
_BACKSLASHES: Final = re.compile(r'\\["\\]?')
_NAME: Final = re.compile(r'("name"\s*:\s*")(.*?)("\s*,\s*"(?:ph|cat|pid|tid|ts|dur|args)")', re.S)
_LARGEST: Final = 1 << 63
_QUOTE: Final = re.compile(r'(?<!\\)"')


class Repaired(NamedTuple):
    """An event that could not be decoded at first."""

    event: Event | None
    """None if the reader does not need events with this value of `ph`."""
    is_valid_json: bool
    """Whether the event is valid JSON. If it is, only the types of some fields were wrong."""


def repaired(event: bytes) -> Repaired | None:
    """Return the repaired event; None if it cannot be repaired.

    Some versions of torch do not escape quotes, backslashes and control characters in names.
    Fields of a wrong type are left out.
    """
    text = event.decode("utf-8", "replace")
    # One invalid escape sequence shows that torch escaped no backslash of this event. The `\n` in
    # `C:\new` is then not a newline.
    escaped = _BACKSLASHES.sub(_escaped, text) if _WRONG_BACKSLASH.search(text) else text
    for candidate in (text, escaped, _NAME.sub(_with_escaped_quotes, escaped, count=1)):
        try:
            content = json.loads(candidate, strict=False)
        except (ValueError, RecursionError):
            continue
        return _event_of(content, is_valid_json=candidate is text and _is_valid(event))
    return None


def _escaped(found: re.Match[str]) -> str:
    return found[0] if len(found[0]) > 1 else r"\\"


def _with_escaped_quotes(found: re.Match[str]) -> str:
    return found[1] + _QUOTE.sub(r'\\"', found[2]) + found[3]


def _is_valid(event: bytes) -> bool:
    try:
        json.loads(event)
    except (ValueError, RecursionError):
        return False
    return True


def _event_of(content: Any, *, is_valid_json: bool) -> Repaired | None:
    """Return the event that a JSON value describes; None for a value that is not an event."""
    phase = content.get("ph") if isinstance(content, dict) else None
    if not isinstance(phase, str):
        return None
    type_ = EVENT_TYPES.get(phase)
    return Repaired(None if type_ is None else _structure(content, type_), is_valid_json)


def _structure(content: dict[str, Any], type_: type[Any]) -> Any:
    """Return a structure of `type_`. Fields of a wrong type get their defaults."""
    values = {}
    for field in msgspec.structs.fields(type_):
        value = content.get(field.encode_name)
        if value is None:
            continue
        try:
            values[field.name] = _value(value, field.type)
        except (*DECODING_ERRORS, ValueError):
            continue
    return type_(**values)


def _value(value: Any, type_: Any) -> Any:
    """Convert `value` to `type_`. Raises `ValueError` if the value has a wrong type."""
    if type_ is msgspec.Raw:
        return msgspec.Raw(json.dumps(value).encode())
    structure = next(
        (one for one in get_args(type_) if isinstance(one, type(msgspec.Struct))), None
    )
    if structure is not None and isinstance(value, dict):  # the arguments of the event
        return _structure(value, structure)
    if isinstance(value, int) and not -_LARGEST <= value < _LARGEST:
        raise ValueError("the number has more than 64 bits")
    if isinstance(value, str):  # half of a surrogate pair cannot be printed
        value = value.encode("utf-8", "replace").decode()
    return msgspec.convert(value, type_, strict=False)

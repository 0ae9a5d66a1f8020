"""Decodes a profile part by part, and repairs the lines that are not JSON."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import msgspec

from profile_analyze.errors import MalformedProfileError
from profile_analyze.readers.input.second_document import (
    NEXT_DOCUMENT,
    advice_to_split,
    second_document,
)
from profile_analyze.readers.json_errors import (
    DECODING_ERRORS,
    TOO_DEEP,
    detail_of,
    problem_and_path,
)
from profile_analyze.readers.onnxruntime.events import Events, decode_event, decode_events

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from profile_analyze.readers.input.source import Source
    from profile_analyze.readers.onnxruntime.events import Event

_EVENT_START: Final = b'\n{"cat"'
"""How an event begins. The runtime writes each event on a line of its own."""
_EVENT: Final = re.compile(r'\{\s*"cat"\s*:')
_NAME: Final = re.compile(r'("name"\s*:\s*")(.*)("\s*,\s*"args"\s*:)')
_LAST_NAME: Final = re.compile(r'("name"\s*:\s*")(.*)("\s*\}$)')
"""The name in an event without arguments."""
_CONTROL: Final = re.compile(r"[\x00-\x1f]")
_AROUND_EVENTS: Final = b" \t\r,"
# The bracket that ends the list of events follows two braces, or starts a line. The bracket that
# ends a list of shapes does neither.
_END: Final = re.compile(rb"(?:^|\n|\}\s*\})\s*\]$")
_SECOND: Final = re.compile(rb"\]" + NEXT_DOCUMENT)
_LONGEST_END: Final = 64
"""How many bytes before a bracket show whether it ends the list of events."""


def read_events(source: Source) -> Events:
    """Return the events in `source`.

    Raises `MalformedProfileError` if none can be decoded, or if the file has a second document.
    """
    events = Events()
    failure: Exception | None = None
    line = 1
    position = 1  # the bracket before the first part is left out
    for part in _parts(source, events):
        decoded = None
        try:
            decoded = decode_events(b"[%b]" % part.strip(b" \t\r\n,"))
        except DECODING_ERRORS as error:
            failure = failure or error
            _check_single(source.name, part, position)
        if decoded is None or _is_doubtful(part, decoded):
            decoded = _decoded_lines(part, line, events)
        events.add(decoded)
        line += part.count(b"\n")
        position += len(part)
    if events.repaired_lines and events.doubtful_lines:
        # A repaired line shows that the writer does not escape names. In `C:\new`, `\n` is then no
        # line break.
        events.rename(_as_written)
        events.repaired_lines = sorted((*events.repaired_lines, *events.doubtful_lines))
    if not events.has_end and events.broken_lines[-1:] == [line]:
        # The last line is broken because the file ends in the middle of it. Another note says so.
        events.broken_lines.pop()
    if events.broken_lines and not events.count:
        raise MalformedProfileError(source.name, _reason(failure))
    return events


def _check_single(file: str, part: bytes, position: int) -> None:
    """Raise `MalformedProfileError` if a second document begins in a part that is not valid JSON.

    The part begins at byte `position` of the file.
    """
    second = second_document(part, opened=b"[")
    if second is None:  # a name in the part may not be valid JSON
        second = _second_start(part)
    if second is not None:
        raise MalformedProfileError(file, advice_to_split(position + second))


def _second_start(part: bytes) -> int | None:
    """Return where a document begins after a bracket that ends the list of events, or None."""
    for found in _SECOND.finditer(part):
        bracket = found.start() + 1
        if _END.search(part[max(0, bracket - _LONGEST_END) : bracket]):
            return found.end()
    return None


def _is_doubtful(part: bytes, decoded: Sequence[Event]) -> bool:
    r"""Return whether a text such as `\n` in a name may be two characters, not an escape.

    ONNX Runtime before 1.31 does not escape names. It writes each event on a line of its own. If a
    file has another layout, another program wrote the file, and escaped the names.
    """
    if b"\\" not in part or not any(_CONTROL.search(event.name) for event in decoded):
        return False
    return sum(bool(line.strip(_AROUND_EVENTS)) for line in part.split(b"\n")) == len(decoded)


def _as_written(name: str) -> str:
    """Return a name with JSON escapes instead of control characters, as in the file."""
    return _CONTROL.sub(lambda found: msgspec.json.encode(found[0]).decode()[1:-1], name)


def _reason(failure: Exception | None) -> str:
    if isinstance(failure, RecursionError):
        return TOO_DEEP
    if isinstance(failure, msgspec.ValidationError):
        problem, path = problem_and_path(failure)
        return f"at ${path}: {problem}; profile again"
    detail = detail_of(failure) if isinstance(failure, msgspec.DecodeError) else ""
    return f"has no event that is valid JSON{detail and f': {detail}'}; profile again"


def _parts(source: Source, events: Events) -> Iterator[bytes]:
    """Yield the file in parts of whole events, without the brackets around the whole list.

    A file in which events do not begin on a new line is one part.
    """
    rest = bytearray()
    is_first = True
    for chunk in source.chunks():
        searched = max(0, len(rest) - len(_EVENT_START))
        rest += chunk
        if is_first:
            # Only the bracket is removed. White space stays, so that line numbers are right.
            rest[:] = rest.replace(b"[", b"", 1)
            is_first = False
        end = rest.rfind(_EVENT_START, searched)
        if end > 0:
            yield bytes(memoryview(rest)[:end])
            del rest[:end]
    last = bytes(rest).rstrip()
    events.has_end = _has_end(last)
    yield last[:-1] if events.has_end else last


def _has_end(last: bytes) -> bool:
    """Return whether the last part of the file ends with the bracket after all events."""
    if _END.search(last[-_LONGEST_END:]) is not None:
        return True
    if not last.endswith(b"]"):
        return False
    # The last event may have no arguments, or arguments that are not its last value. If the end of
    # its shapes ends the file, the event is not whole.
    event = last[last.rfind(_EVENT_START) + 1 : -1].strip(_AROUND_EVENTS)
    try:
        decode_events(b"[%b]" % event)
    except DECODING_ERRORS:
        return _repaired(event) is not None
    return True


def _decoded_lines(part: bytes, first_line: int, events: Events) -> list[Event]:
    """Return the events of a part, decoded line by line.

    Lines that are not JSON are repaired or left out. The numbers of broken, repaired and doubtful
    lines are added to `events`.
    """
    decoded: list[Event] = []
    for number, line in enumerate(part.split(b"\n"), first_line):
        text = line.strip(_AROUND_EVENTS)
        if not text:
            continue
        event = _decoded(text)
        if event is None:
            event = _repaired(text)
            (events.broken_lines if event is None else events.repaired_lines).append(number)
        elif _CONTROL.search(event.name):
            events.doubtful_lines.append(number)
        if event is not None:
            decoded.append(event)
    return decoded


def _decoded(line: bytes) -> Event | None:
    try:
        return decode_event(line)
    except DECODING_ERRORS:
        return None


def _repaired(line: bytes) -> Event | None:
    """Return the event in a line whose name is not escaped or not UTF-8.

    Return None if the line is not an event. ONNX Runtime before 1.31 does not escape names.
    """
    text = line.decode("utf-8", "replace")
    found = _NAME.search(text) or _LAST_NAME.search(text)
    if found is None or len(_EVENT.findall(text)) != 1:
        return None
    name = msgspec.json.encode(found[2]).decode()[1:-1]
    whole = f"{text[: found.start(2)]}{name}{text[found.end(2) :]}"
    return _decoded(whole.encode())

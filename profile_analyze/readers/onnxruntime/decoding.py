"""Decodes a profile part by part, and repairs the lines that are not JSON."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import msgspec

from profile_analyze.errors import MalformedProfileError
from profile_analyze.readers.onnxruntime.events import Events, decode_event, decode_events

if TYPE_CHECKING:
    from collections.abc import Iterator

    from profile_analyze.readers.onnxruntime.events import Event
    from profile_analyze.readers.source import Source

_EVENT_START: Final = b'\n{"cat"'
"""How an event begins: the runtime writes each one on a line of its own."""
_NAME: Final = re.compile(r'("name"\s*:\s*")(.*)("\s*,\s*"args"\s*:)')
_CONTROL: Final = re.compile(r"[\x00-\x1f]")
# Lists of shapes end with a bracket, too, but an event ends with two braces.
_END: Final = re.compile(rb"(?:^|\n|\}\s*\})\s*\]$")

_FAILURES: Final = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)


def read_events(source: Source) -> Events:
    """Return the events in `source`. Raises `MalformedProfileError` if none can be decoded."""
    events = Events()
    failure: Exception | None = None
    line = 1
    for part in _parts(source, events):
        decoded = None
        try:
            if b"\\" not in part:  # a backslash may be part of a name that is not escaped
                decoded = decode_events(b"[%b]" % part.strip(b" \t\r\n,"))
        except _FAILURES as error:
            failure = failure or error
        if decoded is None:
            decoded = _decoded_lines(part, line, events)
        events.add(decoded)
        line += part.count(b"\n")
    if events.broken_lines and not events.count:
        raise MalformedProfileError(source.name, _reason(failure))
    if not events.has_end and events.broken_lines[-1:] == [line]:
        events.broken_lines.pop()  # the event at which the file ends in the middle
    return events


def _reason(failure: Exception | None) -> str:
    if isinstance(failure, RecursionError):
        return "is nested too deeply for a profile"
    text = str(failure) if isinstance(failure, msgspec.DecodeError) else ""
    detail = text.removeprefix("JSON is malformed: ")
    return f"has no event that is valid JSON{detail and f': {detail}'}; profile again"


def _parts(source: Source, events: Events) -> Iterator[bytes]:
    """Yield the file in parts of whole events, without the brackets around all of them.

    A file with other line breaks than the runtime writes is one part.
    """
    rest = bytearray()
    is_first = True
    for chunk in source.chunks():
        searched = max(0, len(rest) - len(_EVENT_START))
        rest += chunk
        if is_first:
            # White space stays, because lines are counted.
            rest[:] = rest.replace(b"[", b"", 1)
            is_first = False
        end = rest.rfind(_EVENT_START, searched)
        if end > 0:
            yield bytes(memoryview(rest)[:end])
            del rest[:end]
    last = bytes(rest).rstrip()
    events.has_end = _END.search(last[-64:]) is not None
    yield last[:-1] if events.has_end else last


def _decoded_lines(part: bytes, first_line: int, events: Events) -> list[Event]:
    """Return the events of a part, decoded line by line. Lines that are not JSON are left out."""
    decoded: list[Event] = []
    for number, line in enumerate(part.split(b"\n"), first_line):
        text = line.strip(b" \t\r,")
        if not text:
            continue
        event = _decoded(text)
        # Before 1.31, names were not escaped: the `\n` in `C:\new` is not a line break.
        if event is None or _CONTROL.search(event.name):
            repaired = _repaired(text)
            if repaired is not None:
                event = repaired
                events.repaired_lines.append(number)
        if event is None:
            events.broken_lines.append(number)
        else:
            decoded.append(event)
    return decoded


def _decoded(line: bytes) -> Event | None:
    try:
        return decode_event(line)
    except _FAILURES:
        return None


def _repaired(line: bytes) -> Event | None:
    """Return the event in a line whose name is not escaped or not UTF-8; None if it is no event.

    ONNX Runtime before 1.31 writes names as they are.
    """
    text = line.decode("utf-8", "replace")
    found = _NAME.search(text)
    if found is None:
        return None
    name = msgspec.json.encode(found[2]).decode()[1:-1]
    whole = f"{text[: found.start(2)]}{name}{text[found.end(2) :]}"
    return _decoded(whole.encode())

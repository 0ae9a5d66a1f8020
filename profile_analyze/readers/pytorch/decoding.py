"""Decodes the events of a trace, also those that are not valid JSON."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final

import msgspec

from profile_analyze.errors import MalformedProfileError
from profile_analyze.readers.json_errors import DECODING_ERRORS, TOO_DEEP, detail_of
from profile_analyze.readers.pytorch.blocks import BETWEEN_EVENTS, Blocks
from profile_analyze.readers.pytorch.columns import Events
from profile_analyze.readers.pytorch.events import Event, decode_event, decode_events

if TYPE_CHECKING:
    from collections.abc import Iterator

    from profile_analyze.readers.source import Source

_WRONG_BACKSLASH: Final = re.compile(r'\\(?!["\\/bfnrt]|u[0-9a-fA-F]{4})')
_NAME: Final = re.compile(r'("name"\s*:\s*")(.*?)("\s*,\s*"(?:ph|cat|pid|tid|ts|dur|args)")', re.S)
_QUOTE: Final = re.compile(r'(?<!\\)"')


class Trace:
    """A decoded trace."""

    def __init__(self, events: Events, blocks: Blocks) -> None:
        self.events = events
        self.has_end = blocks.has_end
        """Whether the list of events is closed."""
        self.before = blocks.before
        """The JSON before the list of events."""
        self.after = blocks.after
        """The JSON after the list of events."""


def read_trace(source: Source, *, with_functions: bool = False) -> Trace:
    """Return the trace in `source`, with functions of Python if they are wanted.

    Raises `MalformedProfileError` if no event can be decoded.
    """
    events, blocks = Events(with_functions=with_functions), Blocks(source)
    failure: Exception | None = None
    for block in blocks:
        try:
            decoded = decode_events(block)
        except DECODING_ERRORS as error:
            failure = failure or error
            decoded = list(_decoded_one_by_one(block, events))
        events.add(decoded)
    if not blocks.has_end and events.broken:
        events.broken -= 1  # the event in which the file ends
    if failure is not None and not events.count:
        raise MalformedProfileError(source.name, _reason(failure))
    return Trace(events, blocks)


def _reason(failure: Exception) -> str:
    if isinstance(failure, RecursionError):
        return TOO_DEEP
    return f"has no event that is valid JSON: {detail_of(failure)}; export the trace again"


def _decoded_one_by_one(block: bytes, events: Events) -> Iterator[Event]:
    """Yield the events of a block, without those that cannot be read."""
    for text in BETWEEN_EVENTS.sub(b"}\0", block[1:-1]).split(b"\0"):
        event = text.strip(b" \t\r\n,")
        if not event or event == b"{}":
            continue
        decoded = _decoded(event)
        if decoded is None and _is_other_event(event):
            continue
        if decoded is None:
            decoded = _repaired(event)
            if decoded is None:
                events.broken += 1
                continue
            events.repaired += 1
        yield decoded


def _decoded(event: bytes) -> Event | None:
    try:
        decoded: Event = decode_event(event)
    except DECODING_ERRORS:
        return None
    return decoded


class _AnyEvent(msgspec.Struct):
    ph: str = ""


_KNOWN_SORTS: Final = frozenset("XiMsfC")


def _is_other_event(event: bytes) -> bool:
    """Return whether an event is of a sort that is not needed."""
    try:
        return msgspec.json.decode(event, type=_AnyEvent).ph not in _KNOWN_SORTS
    except DECODING_ERRORS:
        return False


def _repaired(event: bytes) -> Event | None:
    """Return an event that is not valid JSON as torch may write it; None if it cannot be read.

    Some versions write names with quotes, backslashes and control characters that are not escaped.
    """
    text = event.decode("utf-8", "replace")
    escaped = _WRONG_BACKSLASH.sub(r"\\\\", text)
    for candidate in (text, escaped, _NAME.sub(_with_escaped_quotes, escaped, count=1)):
        try:
            content = json.loads(candidate, strict=False)
        except (ValueError, RecursionError):
            continue
        return _decoded(msgspec.json.encode(content))
    return None


def _with_escaped_quotes(found: re.Match[str]) -> str:
    return f"{found[1]}{_QUOTE.sub(chr(92) * 2 + chr(34), found[2])}{found[3]}"

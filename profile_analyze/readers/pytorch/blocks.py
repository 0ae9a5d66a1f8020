"""Cuts a trace into blocks of whole events, so that a large file is never in memory as a whole."""

from __future__ import annotations

import json
import re
from itertools import chain
from typing import TYPE_CHECKING, Final

from profile_analyze.errors import MalformedProfileError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from profile_analyze.readers.source import Source

_LIST_START: Final = re.compile(rb'"traceEvents"\s*:\s*\[')
# In JSON, a quote inside of a text is escaped, so this pattern cannot match inside of a text.
BETWEEN_EVENTS: Final = re.compile(
    rb'\}\s*,\s*(?=\{\s*(?:"(?:ph|name|cat|pid|tid|ts|dur|args)"\s*:|\}))'
)
"""Matches from the end of an event to the start of the next one, which may be empty."""
_LIST_END: Final = re.compile(rb"\s*,?\s*(\]|$)")
_CLOSING: Final = re.compile(rb"(?<=\})\s*(\])")
_TRIED: Final = 100
"""How many brackets at the end of a file may be the end of the list of events."""
_SEARCHED: Final = 1 << 16
"""How many bytes at the end of a block are searched first for the end of an event."""
_OVERLAP: Final = 1 << 10
"""What separates two events is usually shorter than this number of bytes."""
_BETWEEN: Final = b", \t\r\n"
"""The bytes between two events."""
BLOCK_SIZE: Final = 1 << 20
"""Blocks of this size are decoded fastest: their events stay in the caches of the processor."""
_JSON: Final = json.JSONDecoder(strict=False)


class Blocks:
    """The events of a trace, as blocks of JSON, and the rest of the file."""

    def __init__(self, source: Source) -> None:
        """Make the blocks of `source`, which is read once they are iterated over."""
        self._source = source
        self.before = b""
        """The JSON before the list of events, known after the first block."""
        self.after = b""
        """The JSON after the list of events, known after the last block."""
        self.has_end = False
        """Whether the list of events is closed, known after the last block."""

    def __iter__(self) -> Iterator[bytes]:
        """Yield the events in blocks of about 1 MiB, each of them a JSON list of whole events."""
        chunks = self._source.chunks(BLOCK_SIZE)
        rest = _Rest()
        for chunk in chain([self._start_of_list(chunks)], chunks):
            end = _last_end(chunk)
            if end:
                yield b"".join((b"[", rest.whole(), memoryview(chunk)[:end], b"]"))
                rest = _Rest(chunk[end:].lstrip(_BETWEEN))
                continue
            # Two events may meet where two chunks meet.
            overlap = rest.end()
            rest.add(chunk)
            if _last_end(overlap + chunk[:_OVERLAP]):
                whole = rest.whole()
                end = _last_end(whole)
                yield b"[%b]" % whole[:end]
                rest = _Rest(whole[end:].lstrip(_BETWEEN))
        yield b"[%b]" % self._last_block(rest.whole())

    def _start_of_list(self, chunks: Iterator[bytes]) -> bytes:
        """Return what follows the start of the list of events, and store what precedes it."""
        before = _Rest()
        for chunk in chunks:
            overlap = before.end()
            before.add(chunk)
            found = _LIST_START.search(overlap + chunk)
            if found is not None:
                whole = before.whole()
                start = len(whole) - (len(found.string) - found.end())
                self.before = whole[:start]
                return whole[start:]
        raise MalformedProfileError(
            self._source.name, 'has no "traceEvents"; export the trace again'
        )

    def _last_block(self, rest: bytes) -> bytes:
        """Return the last event, and store what follows it."""
        start = len(rest) - len(rest.lstrip(_BETWEEN))
        size = object_size(rest[start:])
        closing = _LIST_END.match(rest, start + size)
        if closing is None:  # the last event is not valid JSON, or its end is missing
            closing = _closing_of_list(rest)
        if closing is None:
            return rest
        self.has_end = bool(closing[1])
        self.after = rest[closing.end() :]
        return rest[: closing.start()]


class _Rest:
    """Bytes that are collected without copying them for each part that is added."""

    def __init__(self, first: bytes = b"") -> None:
        self._parts = [first]

    def add(self, part: bytes) -> None:
        """Add the next bytes."""
        self._parts.append(part)

    def end(self) -> bytes:
        """Return the last bytes."""
        return self._parts[-1][-_OVERLAP:]

    def whole(self) -> bytes:
        """Return all bytes."""
        return b"".join(self._parts)


def _last_end(data: bytes) -> int:
    """Return the position after the last event that another event follows; 0 if there is none."""
    for searched in (_SEARCHED, len(data)):
        ends = [*BETWEEN_EVENTS.finditer(data, max(0, len(data) - searched))]
        if ends:
            return ends[-1].start() + 1
    return 0


def _closing_of_list(data: bytes) -> re.Match[bytes] | None:
    """Return the end of the list of events, from what follows it: the rest of a JSON object."""
    for closing in reversed([*_CLOSING.finditer(data)][-_TRIED:]):
        try:
            _JSON.decode('{"":[]' + data[closing.end() :].decode())
        except (ValueError, RecursionError):
            continue
        return closing
    return None


def object_size(data: bytes) -> int:
    """Return the number of bytes of the JSON object that `data` starts with; 0 without one."""
    text = data.decode("utf-8", "surrogateescape")
    try:
        _, end = _JSON.raw_decode(text)
    except (ValueError, RecursionError):
        return 0
    return len(text[:end].encode("utf-8", "surrogateescape"))

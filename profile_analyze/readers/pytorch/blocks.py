"""Cuts a trace into blocks of whole events, so that a large file is never in memory as a whole."""

from __future__ import annotations

import json
import re
from itertools import chain
from typing import TYPE_CHECKING, Final

from profile_analyze.errors import MalformedProfileError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from profile_analyze.readers.input.source import Source

_LIST_START: Final = re.compile(rb'"traceEvents"\s*:\s*\[')
BETWEEN_EVENTS: Final = re.compile(rb'\}\s*,\s*(?=\{\s*"(?:ph|name|cat|pid|tid|ts|dur|args)"\s*:)')
"""Matches the last brace of an event and the comma after it, if another event follows.

JSON escapes quotes inside a text, so the pattern cannot match inside a text. Empty events, `{}`,
have no quotes. They stay with the event before them.
"""
_LIST_END: Final = re.compile(rb"\s*,?\s*(\]|$)")
_CLOSING: Final = re.compile(rb"(?<=\})\s*(\])")
_TRIED: Final = 100
"""In a damaged file, how many of the last `}]` are tried as the end of the list of events."""
_SEARCHED: Final = 1 << 16
"""How many bytes at the end are searched first for the last border between two events."""
_MOST_AFTER: Final = 1 << 24
"""If the list of events is closed before the last block, about this many bytes after the list are
read at most."""
_OVERLAP: Final = 1 << 10
"""How many bytes before and after the border of two chunks are searched for the end of an event.
The comma and the white space between two events are usually shorter."""
_BETWEEN: Final = b", \t\r\n"
"""The bytes between two events."""
BLOCK_SIZE: Final = 1 << 20
"""Decoding is fastest with blocks of this size: their events stay in the processor's caches."""
_JSON: Final = json.JSONDecoder(strict=False)


class Blocks:
    """Yields the events of a trace in blocks of JSON, and stores the JSON before and after them."""

    def __init__(self, source: Source) -> None:
        """Store `source`. Iterating over the blocks reads it."""
        self._source = source
        self.before = b""
        """The JSON before the list of events; empty until the first block was yielded."""
        self.after = b""
        """The JSON after the list of events: see `_MOST_AFTER`. Empty until the last block was
        yielded."""
        self.after_start = 0
        """The byte of the file at which `after` begins."""
        self.has_end = False
        """Whether the list of events is closed; false until the last block was yielded."""
        self._read_size = 0  # bytes of the file that were read
        self._unread: Iterator[bytes] = iter(())  # chunks
        self._kept = b""  # bytes that were read, and belong to later blocks

    def __iter__(self) -> Iterator[bytes]:
        """Yield blocks of about 1 MiB. Each block is a JSON list of whole events."""
        chunks = self._unread = self._counted(self._source.chunks(BLOCK_SIZE))
        rest = _Rest()
        for chunk in chain([self._start_of_list(chunks)], chunks):
            end = _last_end(chunk)
            if end:
                self._kept = chunk[end:]
                yield b"".join((b"[", rest.whole(), memoryview(chunk)[:end], b"]"))
                rest = _Rest(chunk[end:].lstrip(_BETWEEN))
                continue
            # The comma between two events may be at the border between two chunks.
            overlap = rest.end()
            rest.add(chunk)
            if _last_end(overlap + chunk[:_OVERLAP]):
                whole = rest.whole()
                end = _last_end(whole)
                self._kept = whole[end:]
                yield b"[%b]" % whole[:end]
                rest = _Rest(whole[end:].lstrip(_BETWEEN))
        self._kept = b""
        yield b"[%b]" % self._last_block(rest.whole())

    def close_inside(self, block_end: bytes) -> None:
        """Store that the list of events was closed inside the block that was yielded last.

        `block_end` has the bytes of the block after the list.
        """
        self.has_end = True
        self._set_after(block_end + self._kept)
        while len(self.after) < _MOST_AFTER and (chunk := next(self._unread, b"")):
            self.after += chunk

    def _set_after(self, after: bytes) -> None:
        """Store the JSON after the list of events, which ends with the last byte that was read."""
        self.after = after
        self.after_start = self._read_size - len(after)

    def _counted(self, chunks: Iterator[bytes]) -> Iterator[bytes]:
        for chunk in chunks:
            self._read_size += len(chunk)
            yield chunk

    def _start_of_list(self, chunks: Iterator[bytes]) -> bytes:
        """Store the JSON before the list of events. Return the bytes of the list that were read.

        Raises `MalformedProfileError` if there is no such list.
        """
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
        """Return the last event. `rest` has this event and all bytes after it.

        Also store the JSON after the list of events, and whether the list is closed.
        """
        start = len(rest) - len(rest.lstrip(_BETWEEN))
        size = object_size(rest[start:])
        closing = _LIST_END.match(rest, start + size)
        if closing is None:  # the last event is not valid JSON, or its end is missing
            closing = _closing_of_list(rest)
        if closing is None:
            return rest
        self._kept = rest[closing.start() :]
        self.has_end = bool(closing[1])
        self._set_after(rest[closing.end() :])
        return rest[: closing.start()]


class _Rest:
    """Collects bytes, and copies them only when they are needed as a whole."""

    def __init__(self, first: bytes = b"") -> None:
        self._parts = [first]

    def add(self, part: bytes) -> None:
        """Add the next bytes."""
        self._parts.append(part)

    def end(self) -> bytes:
        """Return up to `_OVERLAP` bytes from the end of the last part."""
        return self._parts[-1][-_OVERLAP:]

    def whole(self) -> bytes:
        """Return all bytes."""
        return b"".join(self._parts)


def _last_end(data: bytes) -> int:
    """Return the end of the last event with another event after it; 0 without such an event."""
    for searched in (_SEARCHED, len(data)):
        ends = [*BETWEEN_EVENTS.finditer(data, max(0, len(data) - searched))]
        if ends:
            return ends[-1].start() + 1
    return 0


def _closing_of_list(data: bytes) -> re.Match[bytes] | None:
    """Return the match of the `]` that ends the list of events; None if it is missing.

    The bytes after this bracket must be the rest of a valid JSON object.
    """
    for closing in reversed([*_CLOSING.finditer(data)][-_TRIED:]):
        try:
            _JSON.decode('{"":[]' + data[closing.end() :].decode())
        except (ValueError, RecursionError):
            continue
        return closing
    return None


def object_size(data: bytes) -> int:
    """Return the size in bytes of the JSON object that `data` starts with; 0 without an object."""
    text = data.decode("utf-8", "surrogateescape")
    try:
        _, end = _JSON.raw_decode(text)
    except (ValueError, RecursionError):
        return 0
    return len(text[:end].encode("utf-8", "surrogateescape"))

"""Cuts a trace into blocks of whole events, so that a large file is never in memory as a whole."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final

from profile_analyze.errors import MalformedProfileError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from profile_analyze.readers.source import Source

_LIST_START: Final = re.compile(rb'"traceEvents"\s*:\s*\[')
# In JSON, a quote inside of a text is escaped, so this pattern cannot match inside of a text.
BETWEEN_EVENTS: Final = re.compile(rb'\}\s*,\s*(?=\{\s*"(?:ph|name|cat|pid|tid|ts|dur|args)"\s*:)')
"""Matches from the end of an event to the start of the next one."""
_LIST_END: Final = re.compile(rb"\s*,?\s*(\]|$)")
_SEARCHED: Final = 1 << 16
"""How many bytes at the end of a block are searched first for the end of an event."""
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
        rest = b""
        is_in_list = False
        for chunk in self._source.chunks(BLOCK_SIZE):
            if not is_in_list:
                rest += chunk
                start = _LIST_START.search(rest)
                if start is None:
                    continue
                self.before, chunk, rest = rest[: start.end()], rest[start.end() :], b""  # noqa: PLW2901  # the part of the chunk in the list
                is_in_list = True
            end = _last_end(chunk)
            if end:
                yield b"".join((b"[", rest, memoryview(chunk)[:end], b"]"))
                rest = chunk[end:].lstrip(b", \t\r\n")
            else:  # the chunk may end between two events
                rest += chunk
                end = _last_end(rest)
                if end:
                    yield b"[%b]" % rest[:end]
                    rest = rest[end:].lstrip(b", \t\r\n")
        if not is_in_list:
            raise MalformedProfileError(
                self._source.name, 'has no "traceEvents"; export the trace again'
            )
        yield b"[%b]" % self._last_block(rest)

    def _last_block(self, rest: bytes) -> bytes:
        """Return the last event, and store what follows it."""
        start = len(rest) - len(rest.lstrip(b", \t\r\n"))
        end = start + _object_size(rest[start:])
        closing = _LIST_END.match(rest, end)
        if closing is None:
            return rest
        self.has_end = bool(closing[1])
        self.after = rest[closing.end() :]
        return rest[:end]


def _last_end(data: bytes) -> int:
    """Return the position after the last event that another event follows; 0 if there is none."""
    for searched in (_SEARCHED, len(data)):
        ends = [*BETWEEN_EVENTS.finditer(data, max(0, len(data) - searched))]
        if ends:
            return ends[-1].start() + 1
    return 0


def _object_size(data: bytes) -> int:
    """Return the number of bytes of the JSON object that `data` starts with; 0 without one."""
    text = data.decode("utf-8", "surrogateescape")
    try:
        _, end = _JSON.raw_decode(text)
    except (ValueError, RecursionError):
        return 0
    return len(text[:end].encode("utf-8", "surrogateescape"))

"""Decodes the events of a trace, and repairs events that are not valid JSON."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from profile_analyze.errors import MalformedProfileError
from profile_analyze.readers.input.second_document import advice_to_split, second_document
from profile_analyze.readers.json_errors import DECODING_ERRORS, TOO_DEEP, detail_of
from profile_analyze.readers.pytorch.blocks import BETWEEN_EVENTS, Blocks, object_size
from profile_analyze.readers.pytorch.columns import Events
from profile_analyze.readers.pytorch.events import decode_event, decode_events
from profile_analyze.readers.pytorch.repairs import repaired
from profile_analyze.readers.pytorch.wrong_times import leave_out_wrong_times

if TYPE_CHECKING:
    from collections.abc import Iterator

    from profile_analyze.readers.input.source import Source
    from profile_analyze.readers.pytorch.events import Event


_TRUNCATED: Final = "truncated: ends before the end of the first event; copy or export it again"
_EMPTY: Final = re.compile(rb"\A(?:[ \t\r\n,]|\{[ \t\r\n]*\})*")
"""Matches white space, commas and empty events at the start."""
_REVERSED_EMPTY: Final = re.compile(rb"\A(?:[ \t\r\n,]|\}[ \t\r\n]*\{)*")
"""Matches white space, commas and empty events at the start of reversed bytes."""


class Trace:
    """The events of a trace, and the JSON around them, which is not decoded yet."""

    def __init__(self, events: Events, blocks: Blocks) -> None:
        self.events = events
        self.has_end = blocks.has_end
        """Whether the list of events is closed."""
        self.before = blocks.before
        """The JSON before the list of events."""
        self.after = blocks.after
        """The JSON after the list of events."""


def read_trace(source: Source, *, with_functions: bool = False) -> Trace:
    """Return the trace in `source`. It has functions of Python if `with_functions` is true.

    Raises `MalformedProfileError` if no event can be decoded, or if the file has a second document.
    """
    events, blocks = Events(with_functions=with_functions), Blocks(source)
    failure: Exception | None = None
    for block in blocks:
        try:
            decoded = decode_events(block)
        except DECODING_ERRORS as error:
            failure = failure or error
            decoded = list(_decoded_one_by_one(block, events, blocks))
        events.add(decoded)
        if blocks.has_end:
            break
    _check_single(source.name, blocks)
    if not blocks.has_end and events.broken:
        events.broken -= 1  # the file ends inside this event
    leave_out_wrong_times(events)
    if failure is not None and not events.count and (events.broken or not blocks.has_end):
        is_cut = not blocks.has_end and not events.broken
        raise MalformedProfileError(source.name, _TRUNCATED if is_cut else _reason(failure))
    return Trace(events, blocks)


def _check_single(file: str, blocks: Blocks) -> None:
    """Raise `MalformedProfileError` if another document precedes or follows the trace."""
    second = second_document(blocks.before)
    if second is None and blocks.has_end:
        after = second_document(blocks.after, opened=b'{"":[]')
        second = None if after is None else blocks.after_start + after
    if second is not None:
        raise MalformedProfileError(file, advice_to_split(second))


def _reason(failure: Exception) -> str:
    if isinstance(failure, RecursionError):
        return TOO_DEEP
    return f"has no event that is valid JSON: {detail_of(failure)}; export the trace again"


def _decoded_one_by_one(block: bytes, events: Events, blocks: Blocks) -> Iterator[Event]:
    """Yield the events of a block that can be read. Count broken and repaired events.

    Close the list of events in `blocks` if it ends inside the block.
    """
    for start, end in _pieces(block):
        event = _without_empty_events(block[start:end])
        if not event:
            continue
        if event.startswith(b"]"):  # the list has no events
            _close(blocks, block[start:])
            return
        try:
            yield decode_event(event)
            continue
        except DECODING_ERRORS:
            pass
        # The file may have other fields after the list of events. `BETWEEN_EVENTS` matches only
        # between two objects, so the piece of the last event also has the `]` and these fields.
        size = object_size(event)
        following = _without_empty_events(event[size:]) if size else b""
        found = repaired(event[: size or None])
        if found is None:
            events.broken += 1
        elif found.event is not None:
            events.repaired += not found.is_valid_json
            # If bytes follow a valid event, they are the reason why decoding it failed.
            events.mistyped += found.is_valid_json and not following
            yield found.event
        if following.startswith(b"]"):
            _close(blocks, _without_empty_start(block[start:])[size:])
            return
        events.broken += bool(following)


def _close(blocks: Blocks, block_end: bytes) -> None:
    """Close the list of events. `block_end` is the rest of the block after the last event."""
    after = _without_empty_start(block_end)
    blocks.close_inside(after.removeprefix(b"]")[: -len("]")])  # the block has a bracket of its own


def _pieces(block: bytes) -> Iterator[tuple[int, int]]:
    """Yield where each event of a block begins and ends, without the brackets of the block."""
    start = 1
    for border in BETWEEN_EVENTS.finditer(block):
        yield start, border.start() + 1
        start = border.end()
    yield start, len(block) - 1


def _without_empty_events(data: bytes) -> bytes:
    """Return `data` without white space, commas and empty events at both ends."""
    return _REVERSED_EMPTY.sub(b"", _without_empty_start(data)[::-1])[::-1]


def _without_empty_start(data: bytes) -> bytes:
    return _EMPTY.sub(b"", data)

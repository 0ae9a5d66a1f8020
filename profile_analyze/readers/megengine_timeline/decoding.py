"""Decodes a timeline part by part, so that memory holds few events at once."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Final

import msgspec

from profile_analyze.errors import MalformedProfileError
from profile_analyze.readers.input.second_document import advice_to_split, second_document
from profile_analyze.readers.json_errors import DECODING_ERRORS, TOO_DEEP, detail_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from profile_analyze.readers.input.source import Source

_BETWEEN: Final = b'},{"args":'
"""The text between two events, if the second event has arguments. It cannot be part of a string,
because quotes in strings are escaped."""
_START: Final = re.compile(rb'\s*\{\s*"traceEvents"\s*:\s*\[|\s*\[')
_END: Final = re.compile(
    rb'\s*\](\s*,\s*"metadata"\s*:\s*\{[^{}]*\})?\s*\}?\s*$'  # a bare list has no brace
)
_LONGEST_END: Final = 4096
_MOST_CUTS: Final = 8
"""The most events that are cut off the end of a truncated file, to make the rest valid JSON."""


class Event(msgspec.Struct, gc=False):
    """One event in the file. Times are in microseconds."""

    ph: str
    name: str = ""
    ts: float = 0.0
    tid: int = 0
    pid: Annotated[int, msgspec.Meta(ge=0, le=(1 << 63) - 1)] = 0
    cat: str = ""
    id: int | str = 0
    args: msgspec.Raw = msgspec.Raw()


class _Document(msgspec.Struct, gc=False):
    events: list[Event] = msgspec.field(name="traceEvents")


class _Rest(msgspec.Struct, gc=False):
    events: list[Event] = msgspec.field(name="")


_decode_events: Final = msgspec.json.Decoder(list[Event]).decode
_decode_document: Final = msgspec.json.Decoder(_Document).decode
_decode_rest: Final = msgspec.json.Decoder(_Rest).decode
"""Decodes the rest of a document, after the text of `Timeline._opened`."""


class Timeline:
    """The events of a file, which `parts` yields in the order of the file."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._opened = b""  # JSON that opens the list of events, for `second_document`
        self._position = 0  # of the bytes in the file that are decoded next
        self.is_complete = True
        """Whether the list of events has an end. Valid only after `parts` has yielded all parts."""

    def parts(self) -> Iterator[Sequence[Event]]:
        """Yield all events. Raises `MalformedProfileError`."""
        start = _START.match(self._source.head())
        try:
            if start is None:
                yield self._decoded_document()
            else:
                yield from self._streamed()
        except DECODING_ERRORS as error:
            raise MalformedProfileError(self._source.name, _reason(error)) from None

    def _decoded_document(self) -> Sequence[Event]:
        data = self._source.content()
        try:
            return _decode_document(data).events
        except DECODING_ERRORS:
            self._check_single(data)
            raise

    def _streamed(self) -> Iterator[Sequence[Event]]:
        rest = bytearray()
        is_first = True
        for chunk in self._source.chunks():
            searched = max(0, len(rest) - len(_BETWEEN))
            rest += chunk
            if is_first:
                found = _START.match(rest)
                self._position = found.end() if found else 0
                self._opened = b"[" if rest.lstrip().startswith(b"[") else b'{"":['
                del rest[: self._position]
                is_first = False
            end = rest.rfind(_BETWEEN, searched)
            if end > 0:
                yield self._decoded(rest[: end + 1])
                del rest[: end + len("},")]
                self._position += end + len("},")
        yield self._last(bytes(rest))

    def _last(self, rest: bytes) -> Sequence[Event]:
        """Return the last events. If the file is truncated, leave out an incomplete event."""
        end = _END.search(rest, max(0, len(rest) - _LONGEST_END))
        if end is not None:
            return self._decoded(rest[: end.start()])
        with suppress(*DECODING_ERRORS):  # other keys may follow the list of events
            return _decode_rest(self._opened + rest).events
        self._check_single(rest)
        self.is_complete = False
        for _ in range(_MOST_CUTS):
            if (events := _decoded_or_none(rest)) is not None:
                return events
            rest = rest[: max(0, rest.rfind(b"},{") + 1)]
        return _decoded(rest)

    def _decoded(self, events: bytes | bytearray) -> Sequence[Event]:
        try:
            return _decoded(events)
        except DECODING_ERRORS:
            self._check_single(events)
            raise

    def _check_single(self, data: bytes | bytearray) -> None:
        """Raise `MalformedProfileError` if a second document begins in `data`."""
        second = second_document(bytes(data), opened=self._opened)
        if second is not None:
            reason = advice_to_split(self._position + second)
            raise MalformedProfileError(self._source.name, reason)


def _decoded_or_none(events: bytes) -> Sequence[Event] | None:
    try:
        return _decoded(events)
    except DECODING_ERRORS:
        return None


def _decoded(events: bytes | bytearray) -> Sequence[Event]:
    return _decode_events(b"[" + events + b"]")


def _reason(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return TOO_DEEP
    if isinstance(error, UnicodeDecodeError):
        return "has an event with text that is not UTF-8; profile again"
    # The position is not shown: it counts from the start of a part, not of the file.
    detail = re.sub(r" \(byte \d+\)$", "", detail_of(error))
    return f"has an event that cannot be read: {detail}; profile again"

"""Finds a second JSON document in a file, such as `cat a.json b.json` writes."""

from __future__ import annotations

import re
from typing import Final

import msgspec

from profile_analyze.readers.json_errors import DECODING_ERRORS

# These patterns are compiled when they are first needed, because few files need them.
_TRAILING: Final = r"trailing characters \(byte (\d+)\)"
_START: Final = rb'(?:\{\s*(?:["}]|\Z)|\[\s*(?:["{\[\]]|\Z))'
_LONGEST_START: Final = 1 << 10  # bytes
NEXT_DOCUMENT: Final = rb'\s*(?=\{\s*"[^"\\]*"\s*:|\[\s*(?:\{\s*"|\Z))'
"""A pattern for the bytes between two documents, if an object or a list of objects follows. After a
closing bracket, valid JSON never has these bytes."""
_BORDER: Final = rb"[\]}]" + NEXT_DOCUMENT

# A decoder for `Raw` checks the JSON, and makes no objects.
_skip: Final = msgspec.json.Decoder(msgspec.Raw).decode


def second_document(data: bytes, *, opened: bytes = b"") -> int | None:
    """Return the index in `data` at which a second JSON document begins.

    Return None if no object and no list follows the first document, or if the first document is not
    valid JSON. If `data` starts inside of the first document, `opened` has the brackets before it,
    such as `[`.
    """
    start = _second_start(opened + data)
    return None if start is None else start - len(opened)


def second_document_before_repair(data: bytes, repaired: bytes) -> int | None:
    """Return the index in `data` at which a second JSON document begins, as `second_document` does.

    A reader repairs `data` that the decoder rejects. `repaired` is the result. It has the same
    documents, but a document may begin at another byte. If the decoder finds a second document only
    in `repaired`, return the first place in `data` that looks like a border of documents.
    """
    start = second_document(data)
    if start is not None or _second_start(repaired) is None:
        return start
    border = re.search(_BORDER, data)
    return None if border is None else border.end()


def advice_to_split(start: int) -> str:
    """Return the message on a second document that begins at byte `start` of the file."""
    return f"a second JSON document begins at byte {start}; split the file, and name both files"


def _second_start(data: bytes) -> int | None:
    try:
        _skip(data)
    except DECODING_ERRORS as error:
        found = re.search(_TRAILING, str(error))
        if found is None:
            return None
        start = int(found[1]) - 1  # msgspec counts the byte itself, too
        return start if re.match(_START, data[start : start + _LONGEST_START]) else None
    return None

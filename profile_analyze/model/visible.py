"""Text from a profile, made fit to be seen: nothing in it acts on a terminal or reorders a line."""

from __future__ import annotations

import re
from typing import Final

# What a terminal or an editor would act on instead of showing it: control characters (C0, DEL,
# C1), marks that reorder text, line and paragraph separators, halves of characters.
_ACTING: Final = (
    r"\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff"
)
_SHORT_ESCAPES: Final = {"\n": r"\n", "\r": r"\r", "\t": r"\t"}


def visible(text: str, encoding: str) -> str:
    """`text` on one line, with escapes for what would not be seen or cannot be encoded."""
    return encodable(escaped(text), encoding)


def escaped(text: str, but: str = "") -> str:
    """`text` with escapes for the characters that act, except those in `but`."""
    if text.isprintable():  # so no regular expression is compiled for most profiles
        return text
    return re.sub(f"[{_ACTING}]", lambda match: _escape(match[0], but), text)


def escaped_in_json(text: str) -> str:
    """The JSON `text` with escapes for the characters that act: it still means the same."""
    if text.isascii() and "\x7f" not in text:  # JSON has escapes for all others of these
        return text
    return re.sub(f"[{_ACTING}]", lambda match: f"\\u{ord(match[0]):04x}", text)


def _escape(character: str, but: str) -> str:
    if character in but:
        return character
    code = ord(character)
    return _SHORT_ESCAPES.get(character) or (f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}")


def encodable(text: str, encoding: str) -> str:
    """`text` with escapes for what `encoding` does not have."""
    return text if text.isascii() else text.encode(encoding, "backslashreplace").decode(encoding)

"""Text from a profile, made fit to be seen: nothing in it acts on a terminal or reorders a line."""

from __future__ import annotations

import re
from typing import Final

# What a terminal or an editor would act on instead of showing it: control characters (C0, DEL,
# C1), marks that reorder text, line and paragraph separators, halves of characters, what is no
# character; and what has no shape at all, so that two names would look the same (Unicode's default
# ignorable characters, but for the selectors of a variant, which emoji have).
_ACTING: Final = (
    r"\x00-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    r"\u2028-\u202e\u2060-\u206f\u3164\ud800-\udfff\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff"
    r"\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_SHORT_ESCAPES: Final = {"\n": r"\n", "\r": r"\r", "\t": r"\t"}


def visible(text: str, encoding: str) -> str:
    """`text` on one line, with escapes for what would not be seen or cannot be encoded."""
    return encodable(escaped(text), encoding)


def escaped(text: str, but: str = "") -> str:
    """`text` with escapes for the characters that act, except those in `but`."""
    if text.isascii() and text.isprintable():  # no regular expression for most profiles
        return text
    return re.sub(f"[{_ACTING}]", lambda match: _escape(match[0], but), text)


def escaped_in_json(text: str) -> str:
    """The JSON `text` with escapes for the characters that act: it still means the same."""
    if text.isascii() and "\x7f" not in text:  # JSON has escapes for all others of these
        return text
    return re.sub(f"[{_ACTING}]", lambda match: _escape_in_json(match[0]), text)


def _escape_in_json(character: str) -> str:
    """JSON counts in units of UTF-16: two for a character beyond the first 65,536."""
    units = character.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[place : place + 4]}" for place in range(0, len(units), 4))


def _escape(character: str, but: str) -> str:
    if character in but:
        return character
    code = ord(character)
    if code > 0xFFFF:
        return f"\\U{code:08x}"
    return _SHORT_ESCAPES.get(character) or (f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}")


def encodable(text: str, encoding: str) -> str:
    """`text` with escapes for what `encoding` does not have."""
    return text if text.isascii() else text.encode(encoding, "backslashreplace").decode(encoding)

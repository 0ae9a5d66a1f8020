"""Escapes text from a profile, so that it cannot control a terminal or hide characters."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Collection

# There are two kinds of unsafe characters:
# - Characters that a terminal or an editor acts on: control characters (C0, DEL, C1), marks that
#   reorder text, line and paragraph separators, surrogates, U+FFFE and U+FFFF.
# - Invisible characters (Unicode's default ignorable characters), because with them two different
#   names could look the same. U+FE00 to U+FE0F are allowed, because emoji need these selectors.
_UNSAFE: Final = (
    r"\x00-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    r"\u2028-\u202e\u2060-\u206f\u3164\ud800-\udfff\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff"
    r"\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_ESCAPED: Final = rf"\x1b\[\d+m|[{_UNSAFE}]"
"""Matches a whole colour sequence of a terminal, or an unsafe character."""
_SAFE_ASCII: Final = bytes(range(0x20, 0x7F))
_SHORT_ESCAPES: Final = {"\n": r"\n", "\r": r"\r", "\t": r"\t"}


def visible(text: str, encoding: str) -> str:
    """Return `text` on one line.

    Escapes replace unsafe characters, and characters that are not in `encoding`.
    """
    return encodable(escaped(text), encoding)


def escaped(text: str, but: Collection[str] = "") -> str:
    """Return `text` with escapes for unsafe characters, except those in `but`.

    `but` may also have colour sequences of a terminal.
    """
    if text.isascii() and text.isprintable():  # a quick test, true for most texts
        return text
    return re.sub(_ESCAPED, lambda match: _escape(match[0], but), text)


def escaped_lines(text: str, but: Collection[str]) -> str:
    """Return what `escaped` returns. For long texts that need no escape, this is much faster."""
    rest = text.encode("utf-8", "surrogatepass").translate(None, _SAFE_ASCII)
    found = set(re.findall(f"[{_UNSAFE}]", rest.decode("utf-8", "surrogatepass")))
    return text if found <= set(but) else escaped(text, but)


def escaped_in_json(text: str) -> str:
    """Return JSON `text` with unsafe characters as JSON escapes. Its value stays the same."""
    if text.isascii() and "\x7f" not in text:  # JSON already escapes all other unsafe ASCII
        return text
    return re.sub(f"[{_UNSAFE}]", lambda match: _escape_in_json(match[0]), text)


def _escape_in_json(character: str) -> str:
    # JSON escapes UTF-16 code units. A character above U+FFFF has two code units.
    units = character.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[start : start + 4]}" for start in range(0, len(units), 4))


def _escape(found: str, but: Collection[str]) -> str:
    return found if found in but else f"{_escape_of(found[0])}{found[1:]}"


def _escape_of(character: str) -> str:
    code = ord(character)
    if code > 0xFFFF:
        return f"\\U{code:08x}"
    return _SHORT_ESCAPES.get(character) or (f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}")


def encodable(text: str, encoding: str) -> str:
    """Return `text` with escapes for characters that are not in `encoding`."""
    return text if text.isascii() else text.encode(encoding, "backslashreplace").decode(encoding)

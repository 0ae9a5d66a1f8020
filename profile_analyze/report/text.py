"""Text from a profile, made fit to be seen."""

from __future__ import annotations

import re
import textwrap
from functools import cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

# What a terminal or an editor would act on instead of showing it: control characters (C0, DEL,
# C1), marks that reorder text, line and paragraph separators, halves of characters.
_ACTING: Final = (
    r"\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff"
)
_SHORT_ESCAPES: Final = {"\n": r"\n", "\r": r"\r", "\t": r"\t"}


def visible(text: str, encoding: str) -> str:
    """`text` on one line, with escapes for what would not be seen or cannot be encoded."""
    return _encodable(_escaped(text), encoding)


def wrapped(text: str, width: int, encoding: str) -> list[str]:
    """`text` in lines of at most `width` columns, broken at blanks and hyphens.

    Line breaks and tabs count as blanks. Empty text has no lines.
    """
    if text.isascii() and text.isprintable() and " " not in text and "-" not in text:
        return [text[start : start + width] for start in range(0, len(text), width)]
    shown = _encodable(_escaped(text, but="\t\n\v\f\r"), encoding)
    if shown.isascii():
        lines = _wrapper(width).wrap(shown)
    else:
        import wcwidth

        lines = wcwidth.wrap(shown, width)
    return [line.strip() for line in lines]


@cache
def _wrapper(width: int) -> textwrap.TextWrapper:
    return textwrap.TextWrapper(width)


def text_width(text: str) -> int:
    """How many columns the widest line of `text` takes on a terminal."""
    lines = text.split("\n")
    if text.isascii():
        return max(map(len, lines))
    import wcwidth

    return max(map(wcwidth.wcswidth, lines))


def has_wide_text(cells: Sequence[Sequence[str]]) -> bool:
    """Whether some character may take another room than one column."""
    return not all("".join(row).isascii() for row in cells)


def _escaped(text: str, but: str = "") -> str:
    """`text` with escapes for the characters that act, except those in `but`."""
    if text.isprintable():  # so no regular expression is compiled for most profiles
        return text
    return re.sub(f"[{_ACTING}]", lambda match: _escape(match[0], but), text)


def _escape(character: str, but: str) -> str:
    if character in but:
        return character
    code = ord(character)
    return _SHORT_ESCAPES.get(character) or (f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}")


def _encodable(text: str, encoding: str) -> str:
    return text if text.isascii() else text.encode(encoding, "backslashreplace").decode(encoding)

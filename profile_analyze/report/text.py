"""Text from a profile, made fit to be seen."""

from __future__ import annotations

import textwrap
from functools import cache
from typing import TYPE_CHECKING, Final

from profile_analyze.model.visible import encodable, escaped
from profile_analyze.report.colors import without_colors

if TYPE_CHECKING:
    from collections.abc import Sequence

_WRAPPED_AT_ONCE: Final = 256  # characters


def wrapped(text: str, width: int, encoding: str) -> list[str]:
    """`text` in lines of at most `width` columns, broken at blanks and hyphens.

    Line breaks and tabs count as blanks. Empty text has no lines.
    """
    if text.isascii() and text.isprintable() and " " not in text and "-" not in text:
        return [text[start : start + width] for start in range(0, len(text), width)]
    shown = encodable(escaped(text, but="\t\n\v\f\r"), encoding)
    lines = _wrapper(width).wrap(shown) if shown.isascii() else _wide_wrapped(shown, width)
    return [line.strip() for line in lines]


def _wide_wrapped(text: str, width: int) -> list[str]:
    """The same by the width of characters.

    Bit by bit, as what wcwidth takes grows with the square of the length: the last line goes on in
    the next bit. At a seam a line may end a hyphen earlier.
    """
    import wcwidth

    lines = [""]
    for start in range(0, len(text), _WRAPPED_AT_ONCE):
        bit = lines.pop() + text[start : start + _WRAPPED_AT_ONCE]
        lines += wcwidth.wrap(bit, width) or [""]
        lines[-1] += bit[len(bit.rstrip()) :]
    return lines if lines[-1].strip() else lines[:-1]


@cache
def _wrapper(width: int) -> textwrap.TextWrapper:
    return textwrap.TextWrapper(width)


def text_width(text: str) -> int:
    """How many columns the widest line of `text` takes on a terminal."""
    lines = without_colors(text).split("\n")
    if text.isascii():
        return max(map(len, lines))
    import wcwidth

    return max(map(wcwidth.wcswidth, lines))


def has_wide_text(cells: Sequence[Sequence[str]]) -> bool:
    """Whether some character may take another room than one column."""
    return not all("".join(row).isascii() for row in cells)


def shortened(text: str, width: int, mark: str) -> str:
    """`text` in at most `width` columns, with `mark` at its end if something is missing."""
    if text_width(text) <= width:
        return text
    room = width - len(mark)
    if text.isascii():
        return text[:room] + mark
    import wcwidth

    taken = 0
    for end, character in enumerate(text):
        taken += max(wcwidth.wcwidth(character), 0)
        if taken > room:
            return text[:end] + mark
    return text

"""Measures the width of text on a terminal, and wraps or shortens text to a width."""

from __future__ import annotations

import textwrap
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from profile_analyze.model.visible import encodable, escaped
from profile_analyze.report.layout.colors import without_colors

if TYPE_CHECKING:
    from collections.abc import Sequence

COLUMN_GAP: Final = 2
"""The blanks between columns in tabulate's styles `plain` and `simple`."""
_WRAPPED_AT_ONCE: Final = 256  # characters


def wrapped(text: str, width: int, encoding: str) -> list[str]:
    """Return `text` in lines of at most `width` columns, broken at blanks and hyphens.

    Line breaks and tabs count as blanks. Empty text has no lines.
    """
    # Most names need no wrapper. A wrapper would take most of the time of drawing a long table.
    if text.isascii() and text.isprintable() and " " not in text and "-" not in text:
        return [text[start : start + width] for start in range(0, len(text), width)]
    shown = encodable(escaped(text, but="\t\n\v\f\r"), encoding)
    lines = _wrapper(width).wrap(shown) if shown.isascii() else _wrapped_wide(shown, width)
    return [line.strip() for line in lines]


def _wrapped_wide(text: str, width: int) -> list[str]:
    """Return the lines of wrapped text, which may have characters wider than one column.

    The text is wrapped in parts, because the time of wcwidth grows with the square of the length.
    The last line of a part continues in the next part. Where two parts meet, a line may break at an
    earlier hyphen than necessary.
    """
    wcwidth = _wcwidth()
    # The last of `lines` is always unfinished.
    lines = [""]
    for start in range(0, len(text), _WRAPPED_AT_ONCE):
        part = lines.pop() + text[start : start + _WRAPPED_AT_ONCE]
        lines += wcwidth.wrap(part, width) or [""]
        # `wrap` drops the blanks at the end, which the next part needs if it continues the line.
        lines[-1] += part[len(part.rstrip()) :]
    return lines if lines[-1].strip() else lines[:-1]


@cache
def _wrapper(width: int) -> textwrap.TextWrapper:
    return textwrap.TextWrapper(width)


def _wcwidth() -> Any:
    """Return the module wcwidth. Only text outside ASCII needs it, so it is imported here."""
    import wcwidth

    return wcwidth


def text_width(text: str) -> int:
    """Return the width of the widest line of `text` on a terminal."""
    lines = without_colors(text).split("\n")
    width: int = max(map(len if text.isascii() else _wcwidth().wcswidth, lines))
    return width


def has_wide_text(cells: Sequence[Sequence[str]]) -> bool:
    """Return whether some text is not ASCII: its characters may not be one column wide."""
    return not all("".join(row).isascii() for row in cells)


def shortened(text: str, width: int, mark: str) -> str:
    """Return `text` in at most `width` columns. If it is cut, it ends with `mark`."""
    if text_width(text) <= width:
        return text
    available = width - len(mark)
    if text.isascii():
        return text[:available] + mark
    character_width = _wcwidth().wcwidth
    taken = 0
    for end, character in enumerate(text):
        taken += max(character_width(character), 0)  # -1 for control characters
        if taken > available:
            return text[:end] + mark
    return text


def broken_word(word: str, width: int) -> list[str]:
    """Return a word in parts of at most `width` columns, each as wide as possible."""
    if text_width(word) <= width:
        return [word]
    if word.isascii():
        return [word[start : start + width] for start in range(0, len(word), width)]
    character_width = _wcwidth().wcwidth
    parts, start, taken = [], 0, 0
    for end, character in enumerate(word):
        own = max(character_width(character), 0)  # -1 for control characters
        if taken + own > width and end > start:  # a part has at least one character
            parts.append(word[start:end])
            start, taken = end, 0
        taken += own
    return [*parts, word[start:]]


def shortened_in_middle(text: str, width: int, mark: str) -> str:
    """Return `text` in at most `width` columns. If it is cut, `mark` replaces its middle."""
    if text_width(text) <= width:
        return text
    tail_width = (width - len(mark)) // 2
    head = shortened(text, width - tail_width, mark)
    return head + shortened(text[::-1], tail_width, "")[::-1]

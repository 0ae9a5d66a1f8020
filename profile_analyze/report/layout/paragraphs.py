"""Wrapping of sentences, notes and errors to the width of a terminal."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from profile_analyze.report.layout.colors import colored_before_bracket, colored_sentence
from profile_analyze.report.layout.text_layout import COLUMN_GAP, broken_word, text_width

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from profile_analyze.report.base import Display
    from profile_analyze.report.sections import Line

_UNIT: Final = r"(?:s|ms|us|ns|%|GB/s|[KMGTPEZY]iB|byte|[KMGTPEZY]?FLO(?:PS)?)"
# Matches a word, a number with its unit, or a command in backticks. Lines break only between these.
_UNBROKEN: Final = rf"(?:`[^`]*`|\S)+(?:(?<=\d) {_UNIT}(?=\W|$)\S*)?"
_INDENT: Final = "  "
_LEAST_WIDTH: Final = 12
"""Narrower paragraphs would have one word per line."""


def paragraph(
    text: str, width: int | None, *, indent: str = _INDENT, breaks_words: bool = False
) -> str:
    """Return `text` in lines of at most `width` columns. `indent` precedes all but the first line.

    Lines break at blanks, but not before a unit. A word that is longer than a line, such as a path,
    stays whole, so that it can be copied. With `breaks_words`, such a word is broken.
    """
    if width is None or text_width(text) <= width:
        return text
    width = max(width, _LEAST_WIDTH)
    words = text.lstrip(" ")
    found = re.findall(_UNBROKEN, words)
    if breaks_words:
        found = [part for word in found for part in broken_word(word, width)]
    first, *rest = found or [""]
    lines = [" " * (len(text) - len(words)) + first]
    for word in rest:
        longer = f"{lines[-1]} {word}"
        if text_width(longer) <= width:
            lines[-1] = longer
        else:
            lines.append(indent + word)
    return "\n".join(lines)


def paragraphs(texts: Iterable[str], display: Display) -> str:
    """Return each text as a paragraph as wide as the display, with a colour for its label."""
    shown = (colored_sentence(text) if display.color else text for text in texts)
    return "\n".join(paragraph(text, display.width) for text in shown)


def labelled_lines(lines: Sequence[Line], display: Display) -> list[Line]:
    """Return lines whose texts are wrapped, so that they fit next to the longest label.

    Words that do not fit are broken: a wider line would break the columns on the terminal.
    On a colour display, a verdict at the start of a text gets its colour.
    """
    if display.color:
        lines = [(label, colored_before_bracket(text)) for label, text in lines]
    if display.width is None:
        return list(lines)
    longest = max(text_width(label) for label, _ in lines)
    width = display.width - longest - COLUMN_GAP
    return [(label, paragraph(text, width, indent="", breaks_words=True)) for label, text in lines]


def wrapped_headers(headers: Sequence[str], width: int) -> list[str]:
    """Return the headers in lines of about `width` columns. All headers end on the same line."""
    wrapped = [paragraph(header, width, indent="") for header in headers]
    most = max(header.count("\n") for header in wrapped)
    return ["\n" * (most - header.count("\n")) + header for header in wrapped]


def reflowed(markdown: str, width: int | None) -> str:
    """Return Markdown with its paragraphs and list items in lines of at most `width` columns."""
    if width is None:
        return markdown
    blocks: list[str] = []
    continues = False
    for line in markdown.split("\n"):
        is_start = not line or line.startswith(("- ", "#", "|"))
        if continues and not is_start:
            blocks[-1] += " " + line.strip()
        else:
            blocks.append(line)
        continues = bool(line) and not line.startswith(("#", "|"))
    return "\n".join(
        paragraph(block, width, indent=_INDENT if block.startswith("- ") else "")
        for block in blocks
    )


def as_plain_text(markdown: str, width: int) -> str:
    """Return Markdown as plain text in lines of at most `width` columns, for a terminal."""
    lines = reflowed(markdown.replace("`", ""), width).split("\n")
    return "\n".join(line.lstrip("# ") if line.startswith("#") else line for line in lines)


def with_own_indent(text: str, width: int | None) -> str:
    """Wrap each line of `text`.

    A continuation line is indented by two blanks more than the line that it continues.
    """
    return "\n".join(
        paragraph(line, width, indent=" " * (len(line) - len(line.lstrip())) + _INDENT)
        for line in text.split("\n")
    )

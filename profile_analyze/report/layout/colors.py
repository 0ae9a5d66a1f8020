"""Colours for a terminal. They repeat what the text says, so nothing is lost without them."""

from __future__ import annotations

import re
from math import isnan
from typing import Final

from profile_analyze.units import NOT_AVAILABLE

_DIM: Final = "\x1b[2m"
_RED: Final = "\x1b[31m"
_GREEN: Final = "\x1b[32m"
_YELLOW: Final = "\x1b[33m"
_CYAN: Final = "\x1b[36m"
_BLUE_BACKGROUND: Final = "\x1b[44m"
_RESET: Final = "\x1b[0m"
_BAR_WIDTH: Final = 10

SEQUENCES: Final = (_DIM, _RED, _GREEN, _YELLOW, _CYAN, _BLUE_BACKGROUND, _RESET)
"""All control sequences that the package writes in texts."""

_WORD_COLORS: Final = {
    "slower": _RED,
    "faster": _GREEN,
    "more work": _YELLOW,
    "less work": _YELLOW,
    "uncertain": _DIM,
    NOT_AVAILABLE: _DIM,
    # at the start of messages
    "error": _RED,
    "note": _CYAN,
}
"""The colours of verdicts and labels."""

_START_COLORS: Final = {
    **_WORD_COLORS,
    "slower than the baseline": _RED,
    "faster than the baseline": _GREEN,
    "slower than the baseline, with more work": _YELLOW,
    "faster than the baseline, with less work": _YELLOW,
    "cannot tell whether the model is slower, faster or the same": _DIM,
    "FAILED": _RED,
    "uncertain": _YELLOW,  # an outcome of `--fail-if`, which nobody should overlook
    "passed": _GREEN,
    "cannot be judged": _YELLOW,
}
"""The colours of the words before the first colon of a sentence."""


def dim(text: str) -> str:
    """Return `text` in a fainter colour."""
    return f"{_DIM}{text}{_RESET}"


def colored_word(word: str) -> str:
    """Return a verdict or a label in its colour, and any other text as it is."""
    color = _WORD_COLORS.get(word)
    return f"{color}{word}{_RESET}" if color else word


def colored_before_bracket(text: str) -> str:
    """Return `text` with the words before its first bracket in colour, if they have a colour."""
    words, bracket, rest = text.partition(" (")
    return f"{colored_word(words)}{bracket}{rest}"


def colored_sentence(text: str) -> str:
    """Return `text` with the words before its first colon in colour, if they have a colour."""
    start, colon, rest = text.partition(": ")
    color = _START_COLORS.get(start)
    return f"{color}{start}{_RESET}{colon}{rest}" if color else text


def bar(share: float) -> str:
    """Return a bar for a share, padded with blanks to ten columns."""
    # A share outside 0 to 1 must not change the width.
    length = 0 if isnan(share) else max(0, min(_BAR_WIDTH, round(share * _BAR_WIDTH)))
    filled = f"{_BLUE_BACKGROUND}{' ' * length}{_RESET}" if length else ""
    return filled + " " * (_BAR_WIDTH - length)


def without_colors(text: str) -> str:
    """Return `text` without colour sequences, which take no width on a terminal."""
    return re.sub(r"\x1b\[\d+m", "", text) if "\x1b" in text else text

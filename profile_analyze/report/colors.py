"""Colours for a terminal. They stand beside what the text says already, never instead of it."""

from __future__ import annotations

import re
from math import isnan
from typing import Final

_DIM: Final = "\x1b[2m"
_BLUE_GROUND: Final = "\x1b[44m"
_END: Final = "\x1b[0m"
_BAR_WIDTH: Final = 10


def dim(text: str) -> str:
    """`text` in a fainter colour."""
    return f"{_DIM}{text}{_END}"


def bar(share: float) -> str:
    """A bar as long as `share` is of a whole, and blanks behind it: ten columns together."""
    length = 0 if isnan(share) else max(0, min(_BAR_WIDTH, round(share * _BAR_WIDTH)))
    filled = f"{_BLUE_GROUND}{' ' * length}{_END}" if length else ""
    return filled + " " * (_BAR_WIDTH - length)


def without_colors(text: str) -> str:
    """`text` as it takes room. Text from a profile has no such sequences left."""
    return re.sub(r"\x1b\[\d+m", "", text) if "\x1b" in text else text

"""Colours for a terminal. They repeat what the text says, so nothing is lost without them."""

from __future__ import annotations

import re
from math import isnan
from typing import Final

_DIM: Final = "\x1b[2m"
_BLUE_BACKGROUND: Final = "\x1b[44m"
_RESET: Final = "\x1b[0m"
_BAR_WIDTH: Final = 10


def dim(text: str) -> str:
    """Return `text` in a fainter colour."""
    return f"{_DIM}{text}{_RESET}"


def bar(share: float) -> str:
    """Return a bar for a share, padded with blanks to ten columns."""
    # A share outside 0 to 1 must not change the width.
    length = 0 if isnan(share) else max(0, min(_BAR_WIDTH, round(share * _BAR_WIDTH)))
    filled = f"{_BLUE_BACKGROUND}{' ' * length}{_RESET}" if length else ""
    return filled + " " * (_BAR_WIDTH - length)


def without_colors(text: str) -> str:
    """Return `text` without colour sequences, which take no width on a terminal."""
    return re.sub(r"\x1b\[\d+m", "", text) if "\x1b" in text else text

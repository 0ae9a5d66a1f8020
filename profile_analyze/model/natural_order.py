"""The natural order of texts, in which digits are ordered as numbers: conv2 before conv10."""

from __future__ import annotations

import re
from typing import Any


def natural_sort_key(value: Any) -> Any:
    """Return a key that sorts numbers before texts, and digits in texts as numbers."""
    if not isinstance(value, str):
        return False, value
    # Texts and digits alternate, so that texts are compared with texts, and digits with digits.
    parts = re.split(r"([0-9]+)", value)
    keys = [_digits_sort_key(part) if n % 2 else (0, part) for n, part in enumerate(parts)]
    return True, keys, value


def _digits_sort_key(text: str) -> tuple[int, str]:
    """Return a key that sorts digits as numbers, even if there are too many digits for `int`."""
    significant = text.lstrip("0")
    return len(significant), significant

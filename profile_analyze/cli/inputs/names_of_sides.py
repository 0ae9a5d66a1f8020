"""Tells the baseline from the candidate by the names of their files."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

_OLD: Final = frozenset(("base", "baseline", "before", "old", "ref", "reference"))
_NEW: Final = frozenset(("new", "changed", "after", "candidate"))
"""Words in file names that mark a profile as the baseline or the candidate."""


def sides_of(one: str, other: str) -> tuple[str, str] | None:
    """Return the names of the baseline and of the candidate; None if the names do not tell."""
    for old, new in ((one, other), (other, one)):
        old_words, new_words = _words(old), _words(new)
        only_old, only_new = old_words - new_words, new_words - old_words
        # `bert-base` is not a baseline of `bert-large`. So if `base` is only a part of one name,
        # the words that only the other name has must be in `_NEW`.
        is_baseline = Path(old).name.lower().partition(".")[0] in _OLD  # `base` or `base.json.gz`
        if (only_old or only_new) and only_old <= _OLD and (is_baseline or only_new <= _NEW):
            return old, new
    return None


def _words(name: str) -> set[str]:
    return set(re.findall(r"[a-z]+", name.lower()))

"""Shortens names to a width so that different names stay different."""

from __future__ import annotations

import re
from collections import defaultdict
from functools import lru_cache
from itertools import permutations, takewhile, zip_longest
from typing import TYPE_CHECKING, Final, TypeAlias

from profile_analyze.report.layout.text_layout import broken_word, shortened_in_middle, text_width

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_Part: TypeAlias = tuple[int, int]
"""The start and the end of a part of a text."""

ELLIPSIS: Final = "\N{HORIZONTAL ELLIPSIS}"
_WORD: Final = re.compile(r"[^\W_]+|[\W_]")
"""A word, or one character between two words."""
_UNBROKEN: Final = re.compile(r"[(\[{]*[^\W_]+[)\]},]*|[\W_]")
"""A word with the brackets around it and the comma after it, or one character between words."""
_LONGEST_WORD: Final = 16
"""Of a longer word, only the first different character must be kept."""


def short_names(names: Sequence[str], widths: Sequence[int]) -> list[str]:
    """Return each name in at most its width, as columns of a terminal.

    Usually, the middle of a long name is left out. If this makes different names equal, their first
    different words are kept instead, with as much text around them as fits:
    `…features.12/block/block.0…`. The names stay equal only if these words do not fit.
    """
    kept: list[set[_Part]] = [set() for _ in names]
    while True:
        short = [
            _shortened(name, width, parts)
            for name, width, parts in zip(names, widths, kept, strict=True)
        ]
        before = sum(map(len, kept))
        for alike in alike_names(names, short):
            for one, other in permutations(alike, 2):
                if names[one] != names[other]:
                    kept[one].add(_first_difference(names[one], names[other]))
        if sum(map(len, kept)) == before:
            return short


def alike_names(names: Sequence[str], short: Sequence[str]) -> list[list[int]]:
    """Return groups of indices: different names that are equal in `short`."""
    indices: dict[str, list[int]] = defaultdict(list)
    for index, text in enumerate(short):
        indices[text].append(index)
    return [alike for alike in indices.values() if len({names[index] for index in alike}) > 1]


def in_lines(name: str, width: int) -> list[str]:
    """Return the lines of a name, broken between matches of `_UNBROKEN`."""
    lines: list[str] = []
    for word in _UNBROKEN.findall(name):
        for part in broken_word(word, width):
            if lines and text_width(lines[-1] + part) <= width:
                lines[-1] += part
            else:
                lines.append(part)
    return [*filter(None, map(str.strip, lines))]


def _shortened(name: str, width: int, parts: Iterable[_Part]) -> str:
    """Return the name in at most `width` columns, with all of `parts` if they fit."""
    short = shortened_in_middle(name, width, ELLIPSIS)
    if parts and short != name:
        for context in range(len(name)):
            wider = _with_context(name, parts, context)
            if text_width(wider) > width:
                break
            short = wider
    return short


def _with_context(name: str, parts: Iterable[_Part], context: int) -> str:
    """Return `parts` with this many characters around each of them, and marks for what is cut."""
    text, end = "", 0
    for part_start, part_end in sorted(parts):
        # The mark would not be shorter than a single character.
        start = max(part_start - context, 0)
        text += name[end:start] if start - end <= 1 else ELLIPSIS
        start, end = max(start, end), max(end, min(part_end + context, len(name)))
        text += name[start:end]
    return text + (name[end:] if len(name) - end <= 1 else ELLIPSIS)


@lru_cache(maxsize=256)  # each name is compared with many others
def _words(name: str) -> list[str]:
    return _WORD.findall(name)


def _first_difference(name: str, other: str) -> _Part:
    """Return the part with the first word of `name` that `other` does not have in its place.

    If all words of `name` are the first words of `other`, the part is the end of `name`.
    """
    start = 0
    for word, of_other in zip_longest(_words(name), _words(other), fillvalue=""):
        if word != of_other:
            if len(word) <= _LONGEST_WORD:
                return start, start + len(word)
            start += _shared_start(word, of_other)
            return start, start + 1
        start += len(word)
    return start, start


def _shared_start(word: str, other: str) -> int:
    """Return how many characters at their start both words share."""
    pairs = zip(word, other, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))

"""Finds the known names that a wrong name may stand for, and writes `did you mean X?`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

MOST_SIMILAR_TEXTS: Final = 3
"""The largest number of texts that a message lists. If more texts contain the wrong text, the
message suggests a pattern instead."""

LONGEST_ADVISED: Final = 200
"""A wrong text with more characters gets no suggestion. Nobody types a name that long, and the
search for similar names could be slow."""


def similar_names(
    name: str, known: Iterable[str], *, limit: int = 3, cutoff: float = 0.6
) -> list[str]:
    """Return up to `limit` known names with a similar spelling, the closest first."""
    # Imported here because it takes milliseconds and only a misspelt name needs it.
    from difflib import get_close_matches

    return get_close_matches(name, known, n=limit, cutoff=cutoff)


def similar_texts(text: str, known: Iterable[str]) -> list[str]:
    """Return up to `MOST_SIMILAR_TEXTS` known texts that `text` may stand for.

    Case, hyphens, underscores and brackets are ignored: `Conv2D` stands for `CONV_2D`, `(1, 64)`
    for `{1,64}`. The first rule that finds a text decides: texts that are equal to `text`, that
    contain it, that are spelt similarly. Of the texts that contain it, those come first that begin
    with it, or that end with it after `::`, as `aten::mm` ends with `mm`.
    """
    wanted = _letters(text)
    if not wanted:
        return []
    # Two texts may have the same letters.
    texts_of: dict[str, list[str]] = {}
    for one in known:
        texts_of.setdefault(_letters(one), []).append(one)
    if wanted in texts_of:
        letters = [wanted]
    else:
        containing = [one for one in texts_of if wanted in one]
        containing.sort(
            key=lambda one: not one.startswith(wanted) and not one.endswith(f"::{wanted}")
        )
        letters = containing[:MOST_SIMILAR_TEXTS] or similar_names(wanted, texts_of)
    return [meant for one in letters for meant in texts_of[one]][:MOST_SIMILAR_TEXTS]


def _letters(text: str) -> str:
    """Return `text` in lower case, without hyphens, underscores, brackets, blanks after commas."""
    return re.sub(r"[-_()\[\]{}]|(?<=,)\s+", "", text.lower())


def likely_names(
    name: str, known: Collection[str], words: Mapping[str, str], *, cutoff: float = 0.6
) -> list[str]:
    """Return the names that `name` may stand for, the likeliest first; empty if no name fits.

    The first rule that finds a name decides:

    1. a known name that differs from `name` only in case, hyphens or blanks
    2. the entry for `name` in `words`, a table of words of other tools. An entry begins with a
       known name, and more text may follow: `--format json` begins with the option `--format`.
    3. known names with a similar spelling
    4. known names that begin with `name`
    """
    if len(name) > LONGEST_ADVISED:
        return []
    plain_names = {plain_name(one): one for one in known}
    plain = plain_name(name)
    if plain in plain_names:
        return [plain_names[plain]]
    meant = words.get(plain, "")
    if meant.partition(" ")[0] in known:
        return [meant]
    near = similar_names(plain, plain_names, cutoff=cutoff)
    starting = [one for one in plain_names if plain and one.startswith(plain)]
    return [plain_names[one] for one in near or starting[:3]]


def suggestion(
    name: str, known: Collection[str], words: Mapping[str, str], *, cutoff: float = 0.6
) -> str:
    """Return `did you mean X?` for a wrong name; an empty text if no name is similar."""
    return did_you_mean(likely_names(name, known, words, cutoff=cutoff))


def did_you_mean(names: Sequence[str]) -> str:
    """Return `did you mean X, Y or Z?`; an empty text if `names` is empty."""
    *first, last = names or ("",)
    return f"did you mean {' or '.join(filter(None, (', '.join(first), last)))}?" if last else ""


def plain_name(name: str) -> str:
    """Return `name` in lower case, without leading hyphens, with _ for blanks and hyphens."""
    return name.strip().lower().lstrip("-").replace("-", "_").replace(" ", "_")

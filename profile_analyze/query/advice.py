"""What a person should be told beside the numbers of an answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from profile_analyze.units import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from profile_analyze.model.profile import Profile
    from profile_analyze.query.filters import Selection
    from profile_analyze.query.question import Query


def notes_on(query: Query, profile: Profile, selection: Selection) -> tuple[str, ...]:
    """The notes on the answer to `query`, a sentence each."""
    return tuple(_notes(query, profile, selection))


def _notes(query: Query, profile: Profile, selection: Selection) -> Iterator[str]:
    if selection.undecided:
        yield (
            f"input dtype {query.input_dtype}: left out {counted(selection.undecided, 'operator')} "
            "with inputs whose dtype the profile does not say"
        )
    for name in query.types:
        if name not in profile.type.vocabulary:
            yield f"type {name}: the profile has no such operator; {_hint(name, profile)}"
    if not selection.looked_at:
        yield f"no operator has a {query.side} time"
    elif not len(selection.operators):
        yield f"no operator matches, of {selection.looked_at} that have a {query.side} time"
        if query.name and not query.name.startswith(".*"):
            yield (
                f"the pattern {query.name} is matched from the start of a name on; "
                f".*{query.name} finds it anywhere"
            )


def _hint(name: str, profile: Profile) -> str:
    near = _near(name, profile.type.vocabulary)
    if near:
        return f"near: {', '.join(near)}"
    codes, counts = np.unique(profile.type.codes, return_counts=True)
    common = [profile.type.vocabulary[code] for code in codes[np.argsort(-counts)][:8]]
    return f"the most frequent are {', '.join(common)}" if common else "it has no operators"


def _near(name: str, words: Sequence[str]) -> list[str]:
    """The words that contain `name` whatever its case, or else those spelt nearly like it."""
    from difflib import get_close_matches

    inside = [word for word in words if name.lower() in word.lower()] if name else []
    return inside[:8] or get_close_matches(name, words, n=3)

"""Rules on files: what is damaged, missing or left out before anything is analysed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from profile_analyze.findings.rule import Rule

if TYPE_CHECKING:
    from profile_analyze.findings.rule import Words

SIZE_PLACEHOLDER: Final = "\N{OBJECT REPLACEMENT CHARACTER}"
"""Where the size belongs in a sentence of an older data set."""


def _stored_note(words: Words, *, text: str) -> str:
    return text.replace(SIZE_PLACEHOLDER, words.sized)


RULES: Final = (
    Rule(
        "stored-note",
        "an older version wrote this sentence into the data set",
        _stored_note,
    ),
)

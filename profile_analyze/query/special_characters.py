"""Advice on patterns whose special characters are meant as they are, as in the name `A + B`."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING, Final, NamedTuple

from profile_analyze.advice.names import LONGEST_ADVISED, did_you_mean
from profile_analyze.errors import PatternError
from profile_analyze.query.catalog import split_names
from profile_analyze.query.patterns import ANY_CASE, SUGGESTION_LIMIT_S, finds

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_BRACKETS: Final = "()[]{}"
_SPECIAL: Final = _BRACKETS + "+*?|^$"
"""Special characters, without the dot, which also matches itself, and without the backslash, which
escapes the next character."""
_TOKEN: Final = re.compile(rf"\\.|\.[*+?]|\A\^|\$\Z|(?P<special>[{re.escape(_SPECIAL)}])")
"""Matches a special character that may be meant as it is. The other alternatives skip characters
that are escaped, wildcards such as `.*`, and anchors at both ends."""


class Meant(NamedTuple):
    """What the user probably meant by a pattern that finds nothing."""

    pattern: str
    """The pattern with special characters escaped."""
    reason: str
    """Which characters are special, for a message."""


def advice_on_special(pattern: str, texts: Sequence[str], before: str, whole: str = "") -> str:
    """Return advice if `pattern` finds one of `texts` only if characters are escaped; else empty.

    Names such as `conv[2241]` and `Conv_5 + Relu_6` are often pasted as patterns. `before` comes
    before the pattern in the suggestion. For a condition, `whole` comes before a whole text
    instead. Without `whole`, the pattern is of a group key.
    """
    meant = meant_literally(pattern, texts)
    if meant is None:
        return ""
    better = before + meant.pattern
    if whole and pattern in texts:
        better = whole + pattern
    elif not whole and len(split_names(better)) > 1:  # commas outside of brackets separate keys
        better = re.sub(r"(?<!\\),", r"\\,", better)
    suggested = did_you_mean([f"'{better}'"])
    return f"{meant.reason}; {suggested}"


def meant_literally(pattern: str, texts: Sequence[str]) -> Meant | None:
    """Return what `pattern` means if its special characters stand for themselves.

    None if the escaped pattern finds none of `texts`.
    """
    literal = as_pattern(pattern)
    if literal == pattern or len(pattern) > LONGEST_ADVISED:
        return None
    if any(pattern in text for text in texts):
        return Meant(literal, f"{_in_words(pattern)} special in a pattern")
    # If case or the place in the name is the reason, special characters are not.
    with suppress(PatternError):
        anywhere = ANY_CASE + pattern.removeprefix(ANY_CASE)
        if any(finds(anywhere, texts, limit_s=SUGGESTION_LIMIT_S)):
            return None
    # An escaped pattern may be too slow or invalid. Then the next one is tried.
    for meant in _escaped_patterns(pattern):
        with suppress(PatternError):
            if any(finds(meant.pattern, texts, limit_s=SUGGESTION_LIMIT_S)):
                return meant
    return None


def as_pattern(text: str) -> str:
    """Return a pattern that finds `text`. Blanks and dots stay, so that people can read it."""
    return re.sub(rf"[\\{re.escape(_SPECIAL)}]", r"\\\g<0>", text)


def _escaped_patterns(pattern: str) -> Iterator[Meant]:
    """Yield `pattern` with all special characters escaped, then with only one kind escaped.

    Each of these follows once more, with case ignored.
    """
    body = pattern.removeprefix(ANY_CASE)
    flag = pattern.removesuffix(body)  # `(?i)` or empty
    found = "".join(match["special"] or "" for match in _TOKEN.finditer(body))
    kinds = dict.fromkeys((found, *map(_kind, found))) if found else {}
    if "|" in found:
        kinds.pop(_BRACKETS, None)  # without its brackets, a choice would have other branches
    for new_flag in dict.fromkeys((flag, ANY_CASE)):
        case = "" if new_flag == flag else ", and case matters"
        for kind in kinds:
            yield Meant(
                new_flag + _escaped(body, kind), f"{_in_words(kind)} special in a pattern{case}"
            )


def _kind(character: str) -> str:
    return _BRACKETS if character in _BRACKETS else character


def _escaped(body: str, characters: str) -> str:
    """Return `body` with those special characters escaped that are in `characters`."""

    def escape(match: re.Match[str]) -> str:
        is_meant = match["special"] is not None and match["special"] in characters
        return f"\\{match[0]}" if is_meant else match[0]

    return _TOKEN.sub(escape, body)


def _in_words(text: str) -> str:
    """Return the special characters in `text`, with a verb: `brackets and + are`."""
    special = (one for one in text if one in _SPECIAL or one == "\\")
    words = [*dict.fromkeys("brackets" if one in _BRACKETS else one for one in special)]
    return f"{' and '.join(words)} {'is' if len(words) == 1 and words != ['brackets'] else 'are'}"

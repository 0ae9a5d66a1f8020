"""What a user probably meant by a text or pattern that matches nothing."""

from __future__ import annotations

import re
from contextlib import suppress
from itertools import product
from typing import TYPE_CHECKING, Final, NamedTuple

from profile_analyze.advice.conditions import as_pattern
from profile_analyze.advice.names import LONGEST_ADVISED, MOST_SIMILAR_TEXTS, similar_texts
from profile_analyze.columns.patterns import (
    ANY_CASE,
    SUGGESTION_LIMIT_S,
    finds,
    matches,
    meant_by_wildcards,
)
from profile_analyze.errors import PatternError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_MOST_EXAMPLES: Final = 3


class Meant(NamedTuple):
    """What to write instead of a text or pattern that matches nothing."""

    reasons: tuple[str, ...] = ()
    """Why it matches nothing: `wildcards`, `literal` (special characters), `anywhere` (it must
    match from the start), `case`, `whole` (the whole text is compared)."""
    meant: tuple[str, ...] = ()
    """What to write instead; empty if nothing is similar."""
    examples: tuple[str, ...] = ()
    """The first of the known texts, if nothing is similar."""
    known: int = 0
    """How many texts are known, if nothing is similar."""

    @classmethod
    def similar(cls, texts: Sequence[str], similar: Sequence[str]) -> Meant:
        """Return the similar texts, or examples of all texts if there are none."""
        if similar:
            return cls(meant=tuple(similar))
        return cls(examples=tuple(texts[:_MOST_EXAMPLES]), known=len(texts))

    @classmethod
    def by_pattern(
        cls, pattern: str, texts: Sequence[str], before: str = "", *, from_start: bool = False
    ) -> Meant:
        """Return what is meant by a pattern that matches none of `texts`.

        `before` comes before the pattern in a suggestion: a column and an operator, or a column and
        ~ for a group key. `from_start` says that the pattern must match from the start of a text.
        """
        search = matches if from_start else finds
        for meant, reasons in _meanings(pattern, from_start=from_start):
            # It may be slow, or the change may make it invalid. Then it is not suggested.
            with suppress(PatternError):
                if any(search(meant, texts, limit_s=SUGGESTION_LIMIT_S)):
                    return cls(reasons, (f"'{before}{meant}'",))  # `repr` doubles backslashes
        similar = [f"'{before}{as_pattern(one)}'" for one in similar_texts(pattern, texts)]
        return cls.similar(texts, similar)


def _meanings(pattern: str, *, from_start: bool) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield what a pattern may mean, and `Meant.reasons`: the fewest changes first."""
    if len(pattern) > LONGEST_ADVISED:
        return
    if wildcards := meant_by_wildcards(pattern):
        yield wildcards, ("wildcards",)
    body = pattern.removeprefix(ANY_CASE)
    for any_case, anywhere, literal in sorted(product((False, True), repeat=3), key=sum):
        text = as_pattern(body) if literal else body
        if anywhere:
            # `.*a|b` would match b only at the start of a name.
            text = f".*(?:{text})" if "|" in body else f".*{text}"
        flag = ANY_CASE if any_case else pattern.removesuffix(body)
        changes = {"literal": literal, "anywhere": anywhere, "case": any_case}
        reasons = tuple(name for name, is_change in changes.items() if is_change)
        if reasons and (from_start or not anywhere) and not (literal and as_pattern(body) == body):
            yield flag + text, reasons


def meant_pattern(text: str, known: Sequence[str]) -> str:
    """Return the pattern that is meant by `text`, which is no known text; empty if none is likely.

    If `text` looks like a pattern, it must find a known text. Otherwise, it must find more than
    `MOST_SIMILAR_TEXTS`: fewer texts can be suggested by name.
    """
    if not text or len(text) > LONGEST_ADVISED or "'" in text:
        return ""
    is_pattern = re.search(r"[*?+|^$]", text)
    least = 1 if is_pattern else MOST_SIMILAR_TEXTS + 1
    literal = as_pattern(text)
    of_shell = "^" + literal.replace(r"\*", ".*") + "$"
    of_shell = of_shell.removeprefix("^.*").removesuffix(".*$")
    patterns = (of_shell, text, literal) if is_pattern else (literal,)
    for flag, pattern in product(("", ANY_CASE), patterns):
        with suppress(PatternError):
            if pattern and sum(finds(flag + pattern, known, limit_s=SUGGESTION_LIMIT_S)) >= least:
                return flag + pattern
    return ""

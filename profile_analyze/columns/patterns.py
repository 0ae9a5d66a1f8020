"""Regular expressions that users type: checked before use, and stopped if they take too long."""

from __future__ import annotations

import re
import warnings
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

from profile_analyze.advice.names import LONGEST_ADVISED, did_you_mean
from profile_analyze.errors import PatternError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    import regex

TIME_LIMIT_S: Final = 10.0
"""How long one pattern may take for all the names of a profile."""
ANY_CASE: Final = "(?i)"
"""At the start of a pattern, it ignores upper and lower case."""
SUGGESTION_LIMIT_S: Final = 1.0
"""How long a pattern may take if it is tried only to make a suggestion."""


def compile_pattern(text: str) -> regex.Pattern[str]:
    """Return the compiled pattern. Raises `PatternError`, which says where the mistake is."""
    # Imported here because it takes tens of milliseconds, and most calls have no pattern.
    import regex

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # some syntax warns that its meaning may change
            return regex.compile(text)
    except RecursionError:
        raise PatternError(f"pattern '{text[:40]}'... is nested too deeply") from None
    except ValueError:  # from `int`
        raise PatternError(f"pattern '{text[:40]}'... has a number of too many digits") from None
    except regex.error as error:
        reason: Any = error  # the package's type stubs lack the attributes `pos` and `msg`
        position = "" if reason.pos is None else f", at character {reason.pos + 1}"
        meant = meant_by_wildcards(text)
        advice = f"; {did_you_mean([meant])}" if meant else _escaping(reason)
        # Not `repr`, which doubles backslashes, so that the position would be wrong.
        raise PatternError(f"pattern '{text}'{position}: {reason.msg}{advice}") from None


def meant_by_wildcards(text: str) -> str:
    """Return the pattern for `text` if it looks like a name with wildcards of a shell: `conv*`.

    Empty for other texts. In a regular expression, `conv*` also matches `con` and `convv`.
    """
    if len(text) > LONGEST_ADVISED or not re.fullmatch(r"[\w./:*-]+", text):
        return ""
    meant = re.sub(r"(?<![.*])\*+", ".*", text)
    # A pattern matches parts of names, so it needs no wildcard at its end.
    return "" if meant == text else meant.removesuffix(".*") or ".*"


def _escaping(reason: Any) -> str:
    """Return how to write the bracket that makes a pattern invalid; empty for other mistakes."""
    character = {"missing )": "(", "unbalanced parenthesis": ")"}.get(reason.msg, "")
    if "set" in reason.msg or reason.msg == "missing ]":
        character = "["
    return f"; write \\{character} for the character {character}" if character else ""


def matches(text: str, names: Iterable[str], *, limit_s: float = TIME_LIMIT_S) -> Iterator[bool]:
    """Yield for each of `names` whether the pattern `text` matches from the start of the name.

    Raises `PatternError` for an invalid pattern, or after `limit_s` seconds.
    """
    results = _results(compile_pattern(text).match, text, names, limit_s)
    return (match is not None for match in results)


def finds(text: str, names: Iterable[str], *, limit_s: float | None = None) -> Iterator[bool]:
    """Yield for each of `names` whether the pattern `text` matches anywhere in the name.

    Raises the same errors as `matches`.
    """
    # Not a default argument: tests replace `TIME_LIMIT_S`.
    results = _results(compile_pattern(text).search, text, names, limit_s or TIME_LIMIT_S)
    return (match is not None for match in results)


def parts(text: str, names: Iterable[str]) -> Iterator[str | None]:
    """Yield for each of `names` the part that the pattern `text` matches.

    If the pattern has groups, yields the part that the first group matches. Yields None if the
    pattern does not match, or if its first group took no part in the match. Raises the same errors
    as `matches`.
    """
    pattern = compile_pattern(text)
    group = 1 if pattern.groups else 0
    results = _results(pattern.search, text, names, TIME_LIMIT_S)
    return (match[group] if match else None for match in results)


def _results(
    function: Callable[..., regex.Match[str] | None],
    text: str,
    names: Iterable[str],
    limit_s: float,
) -> Iterator[regex.Match[str] | None]:
    """Yield the result of `function` for each of `names`, with one deadline for all of them."""
    # A limit for each name would not be enough: 94,000 names that take 0.1 s each take hours.
    deadline = monotonic() + limit_s
    for name in names:
        remaining_s = deadline - monotonic()
        if remaining_s <= 0:
            raise _too_slow(text, limit_s)
        try:
            result = function(name, timeout=remaining_s)
        except TimeoutError:
            raise _too_slow(text, limit_s) from None
        yield result


def _too_slow(text: str, limit_s: float) -> PatternError:
    return PatternError(
        f"pattern '{text}' took more than {limit_s:g} s; repetitions inside repetitions, as in "
        "(a+)+, make it slow"
    )

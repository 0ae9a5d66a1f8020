"""Regular expressions that users type: checked before use and stopped when they take too long."""

from __future__ import annotations

import warnings
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

from profile_analyze.errors import PatternError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    import regex

TIME_LIMIT_S: Final = 10.0
"""How long one pattern may take over all the names of a profile."""


def compile_pattern(text: str) -> regex.Pattern[str]:
    """The compiled form of `text`. Raises `PatternError` with the place of the mistake."""
    import regex

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about syntax that may mean something else one day
            return regex.compile(text)
    except RecursionError:
        raise PatternError(f"pattern {text[:40]!r}... is nested too deeply") from None
    except regex.error as error:
        reason: Any = error  # has a message and a place, which the package's types do not tell
        place = "" if reason.pos is None else f", at character {reason.pos + 1}"
        raise PatternError(f"pattern {text!r}{place}: {reason.msg}") from None


def matches(text: str, names: Iterable[str], *, limit_s: float = TIME_LIMIT_S) -> Iterator[bool]:
    """Whether the pattern `text` matches each of `names` from its start on.

    Raises `PatternError` for a wrong pattern, or when `limit_s` seconds are over.
    """
    found = _results(compile_pattern(text).match, text, names, limit_s)
    return (match is not None for match in found)


def finds(text: str, names: Iterable[str]) -> Iterator[bool]:
    """Whether the pattern `text` is found anywhere in each of `names`. Raises as `matches`."""
    found = _results(compile_pattern(text).search, text, names, TIME_LIMIT_S)
    return (match is not None for match in found)


def parts(text: str, names: Iterable[str]) -> Iterator[str | None]:
    """The first group, or else all, of what the pattern `text` finds in each of `names`.

    None where it finds nothing, or the group did not participate in the match. Raises as `matches`.
    """
    pattern = compile_pattern(text)
    group = 1 if pattern.groups else 0
    found = _results(pattern.search, text, names, TIME_LIMIT_S)
    return (match[group] if match else None for match in found)


def _results(
    function: Callable[..., regex.Match[str] | None],
    text: str,
    names: Iterable[str],
    limit_s: float,
) -> Iterator[regex.Match[str] | None]:
    """`function` of each of `names`, until the time is over."""
    deadline = monotonic() + limit_s
    for name in names:
        left = deadline - monotonic()
        if left <= 0:
            raise _too_slow(text, limit_s)
        try:
            found = function(name, timeout=left)
        except TimeoutError:
            raise _too_slow(text, limit_s) from None
        yield found


def _too_slow(text: str, limit_s: float) -> PatternError:
    return PatternError(
        f"pattern {text!r} took more than {limit_s:g} s; repetitions inside repetitions, as in "
        "(a+)+, make it slow"
    )

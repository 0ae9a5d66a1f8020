"""Keeps results that many files share, such as the work of a node with certain shapes."""

from __future__ import annotations

from functools import lru_cache, wraps
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

if TYPE_CHECKING:
    from collections.abc import Callable

F = TypeVar("F", bound="Callable[..., Any]")

MOST_RESULTS: Final = 4096
"""How many results are kept for each function."""
LONGEST_TEXTS: Final = 2048
"""Results are kept only for arguments with at most this many characters and bytes together."""


def computed_once(function: F) -> F:
    """Return `function`, which then computes its result only once for equal arguments.

    Each argument of `function` is positional, and a text, bytes or None. `function` must be pure,
    and its results immutable, because all callers share them. The two limits bound the memory that
    the results take, even if a damaged file has many long texts.
    """
    kept = lru_cache(MOST_RESULTS)(function)

    @wraps(function)
    def result(*texts: str | bytes | None) -> Any:
        is_short = sum(map(len, filter(None, texts))) <= LONGEST_TEXTS
        return (kept if is_short else function)(*texts)

    return cast("F", result)

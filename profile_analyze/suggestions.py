"""Suggestions for a misspelt name, shown in error messages and notes."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def similar_names(
    name: str, known: Iterable[str], *, limit: int = 3, cutoff: float = 0.6
) -> list[str]:
    """Return up to `limit` of the `known` names that are spelt like `name`, the closest first."""
    # Imported here because it takes milliseconds and only a misspelt name needs it.
    from difflib import get_close_matches

    return get_close_matches(name, known, n=limit, cutoff=cutoff)

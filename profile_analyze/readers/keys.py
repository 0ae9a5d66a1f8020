"""Makes keys of operators from their paths, of which several may be equal."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def distinct_keys(paths: Iterable[str]) -> list[str]:
    """Return a key for each path. If a path occurs again, its key has a number: `conv #2`."""
    counts: dict[str, int] = {}
    keys: dict[str, None] = {}
    for path in paths:
        key = path
        while key in keys:
            counts[path] = counts.get(path, 1) + 1
            key = f"{path} #{counts[path]}"
        keys[key] = None
    return [*keys]

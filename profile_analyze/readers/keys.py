"""Makes distinct keys of operators from their paths, even if paths repeat."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def distinct_keys(paths: Iterable[str]) -> list[str]:
    """Return a distinct key for each path. The second `conv` gets the key `conv #2`."""
    counts: dict[str, int] = {}
    keys: dict[str, None] = {}
    for path in paths:
        key = path
        while key in keys:
            counts[path] = counts.get(path, 1) + 1
            key = f"{path} #{counts[path]}"
        keys[key] = None
    return [*keys]

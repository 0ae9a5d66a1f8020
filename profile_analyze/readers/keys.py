"""Makes keys that identify operators whose paths may be the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def distinct_keys(paths: Iterable[str]) -> list[str]:
    """Return each path, with a number after the second one of the same path: `conv #2`."""
    counts: dict[str, int] = {}
    keys: dict[str, None] = {}
    for path in paths:
        key = path
        while key in keys:
            counts[path] = counts.get(path, 1) + 1
            key = f"{path} #{counts[path]}"
        keys[key] = None
    return [*keys]

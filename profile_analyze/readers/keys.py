"""Makes distinct keys of operators from their paths, even if paths repeat."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from profile_analyze.model.operators import Dtypes, Shapes


def distinct_keys(paths: Iterable[str], *details: Sequence[str]) -> list[str]:
    """Return a distinct key for each path. The second `conv` gets the key `conv #2`.

    Each of `details` has a text for each path, which is appended to paths that repeat. Details do
    not depend on the order of the file, so other files give the same operator the same key.
    """
    for texts in details:
        paths = list(paths)
        occurrences = Counter(paths)
        paths = [
            path + text if occurrences[path] > 1 else path
            for path, text in zip(paths, texts, strict=True)
        ]
    counts: dict[str, int] = {}
    keys: dict[str, None] = {}
    for path in paths:
        key = path
        while key in keys:
            counts[path] = counts.get(path, 1) + 1
            key = f"{path} #{counts[path]}"
        keys[key] = None
    return [*keys]


def shapes_key(shapes: Shapes | None) -> str:
    """Return shapes as a part of a key, `(8x8, 8)`; empty if they are unknown."""
    return "" if shapes is None else f"({_shapes_text(shapes)})"


def dtypes_key(dtypes: Dtypes | None, out_shapes: Shapes | None) -> str:
    """Return dtypes of inputs, and shapes of outputs, as a part of a key: ` [float, int -> 8x8]`.

    It is empty if both are unknown.
    """
    inputs = ", ".join(one or "N/A" for one in dtypes or ())
    outputs = "" if out_shapes is None else f"-> {_shapes_text(out_shapes)}"
    text = f"{inputs} {outputs}".strip()
    return f" [{text}]" if text else ""


def _shapes_text(shapes: Shapes) -> str:
    return ", ".join("x".join(map(str, one)) for one in shapes)

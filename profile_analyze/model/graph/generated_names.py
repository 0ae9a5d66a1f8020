"""Recognises the names that ONNX Runtime gives to nodes that it adds to a graph."""

from __future__ import annotations

import re
from typing import Final

_COUNTER: Final = re.compile(r"_token_[0-9]+$")
"""The end of a generated name that would otherwise repeat, such as `ReorderOutput_token_189`."""


def without_counter(name: str, type_: str | None) -> str:
    """Return a generated name without its counter; any other name as it is.

    A generated name is the type of the node, followed by a counter. One node may have different
    counters in two sessions of the same model.
    """
    base = _COUNTER.sub("", name)
    return base if base == type_ else name

"""Counts the seconds of each type of layer, with `json` alone."""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path


def content(path: Path) -> Any:
    """Return the decoded content of a file, which may be compressed by gzip."""
    data = path.read_bytes()
    return json.loads(gzip.decompress(data) if path.suffix == ".gz" else data, strict=False)


def types(path: Path) -> dict[str, str]:
    """Return the type of each layer, by its name, from the description of the engine."""
    layers = content(path)["Layers"]
    return {one["Name"]: one.get("ParameterType") or one["LayerType"] for one in layers}


def expected(path: Path) -> dict[str, float]:
    """Return the seconds of each type of layer in one inference.

    The types are in the description beside the profile. Without a description, the total has the
    key "None".
    """
    description = path.with_name(path.name.replace("profile.json", "graph.json"))
    type_of = types(description) if description.exists() else {}
    seconds: dict[str, float] = defaultdict(float)
    for layer in content(path)[1:]:
        seconds[type_of.get(layer["name"], "None")] += layer["averageMs"] / 1000
    return dict(seconds)

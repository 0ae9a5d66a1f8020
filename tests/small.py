"""Small MegEngine profiles, made from a few operators that a test lists."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import profile_analyze as pa
from profile_analyze.model.joining.runs import RunJoiner
from profile_analyze.model.operators import OPTIONAL_COLUMNS
from profile_analyze.readers.input.source import Source
from profile_analyze.readers.megengine import MegEngineReader

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

COMP_NODE = "gpu0:0"


@dataclass
class Operator:
    """An operator of a small profile."""

    name: str
    type: str
    time_us: float | None
    """Microseconds on the device; None for an operator that did not run."""
    start: float = 0.0
    shape: list[int] = field(default_factory=list)
    parameters: dict[str, Any] = field(default_factory=dict)
    work: tuple[int, int] | None = None
    """Computation and memory of one call."""


def document(operators: Sequence[Operator]) -> dict[str, Any]:
    """Return a decoded GraphProfiler document."""
    device = {
        str(id_): {COMP_NODE: {"start": one.start, "end": one.start + one.time_us * 1e-6}}
        for id_, one in enumerate(operators)
        if one.time_us is not None
    }
    footprints = {
        str(id_): {"in_shapes": [one.shape], "out_shapes": [one.shape], "param": one.parameters}
        | dict(zip(("computation", "memory"), one.work or (), strict=False))
        for id_, one in enumerate(operators)
    }
    graph = {str(id_): {"name": one.name, "type": one.type} for id_, one in enumerate(operators)}
    return {
        "profiler": {"device": device, "opr_footprint": footprints},
        "graph_exec": {"operator": graph},
    }


def profile_of(operators: Sequence[Operator], file: str = "small.json") -> pa.Profile:
    """Return the profile of a document with these operators."""
    return profile_of_document(document(operators), file)


def profile_of_document(document: dict[str, Any], file: str = "generated.json") -> pa.Profile:
    """Return the profile of a decoded document, with all optional columns."""
    return MegEngineReader().read(
        Source.of_bytes(file, json.dumps(document).encode()), OPTIONAL_COLUMNS
    )


def joined_at_once(documents: Sequence[dict[str, Any]]) -> pa.Profile:
    """Read decoded documents in one batch, and return one profile of all their runs."""
    sources = [
        Source.of_bytes(f"{index}.json", json.dumps(content).encode())
        for index, content in enumerate(documents)
    ]
    together = MegEngineReader().read_together(sources, OPTIONAL_COLUMNS)
    assert together is not None
    joiner = RunJoiner()
    joiner.add(together.profile, together.file_of, together.notes)
    return joiner.joined()


def runs_of(name: str, times_us: Sequence[float], folder: str = "") -> pa.Profile:
    """Return a profile of one operator, with a run for each time.

    The names of the files begin with `folder`, such as `a/`.
    """
    return pa.join_runs(
        profile_of([Operator(name, "Conv", time_us)], f"{folder}{index}.json")
        for index, time_us in enumerate(times_us)
    )


def written(path: Path, operators: Sequence[Operator]) -> str:
    """Write a document with these operators to `path`, and return the name of the file."""
    path.write_text(json.dumps(document(operators)))
    return str(path)

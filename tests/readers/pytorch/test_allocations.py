"""The memory that operators allocate and free."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import numpy as np
import pytest

import profile_analyze as pa
from profile_analyze.model.levels.levels import at_level
from profile_analyze.model.measuring import amounts
from profile_analyze.readers.input.source import Source
from profile_analyze.readers.loading import read_profile
from tests.conftest import PROFILES

FOLDER = PROFILES.parent / "pytorch"


@pytest.mark.parametrize("name", ["cnn-shapes", "cnn-train", "train"])
def test_allocations_of_operators_equal_those_of_torch(name: str) -> None:
    expected: Counter[str] = Counter()
    for row in json.loads((FOLDER / f"{name}.averages.json").read_text()):
        expected[row["name"]] += row["self_memory"]
    profile = at_level(pa.load(FOLDER / f"{name}.json.gz"))
    sizes = np.nansum(amounts(profile, "allocated_bytes"), axis=1).tolist()  # of all steps
    found: Counter[str] = Counter()
    for operator, size in zip(profile.operators.name.values().tolist(), sizes, strict=True):
        found[operator] += size
    assert len(found) > 20
    assert {operator: expected[operator] for operator in found} == found


def _event(name: str, start: float, duration: float, category: str = "cpu_op") -> dict[str, Any]:
    event = {"ph": "X", "cat": category, "name": name, "pid": 1, "tid": 1}
    return event | {"ts": start, "dur": duration}


def _memory(start: float, size: int, *, on_device: bool = False, thread: int = 1) -> dict[str, Any]:
    arguments = {"Bytes": size, "Device Type": int(on_device), "Device Id": 0 if on_device else -1}
    event = {"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "s": "t"}
    return event | {"ts": start, "pid": 1, "tid": thread, "args": arguments}


def allocated(events: list[dict[str, Any]], level: str = "operator") -> dict[str, tuple[Any, ...]]:
    """Return the bytes that each row allocated on the host and on devices. None is N/A."""
    content = json.dumps({"schemaVersion": 1, "traceEvents": events}).encode()
    profile = at_level(read_profile(Source.of_bytes("trace.json", content), ()), level)
    on_host = not profile.recorded("device").any()
    table = pa.run(pa.Query(measure="host_time" if on_host else "time"), profile)
    columns = (table["allocated"].tolist(), table["device_allocated"].tolist())
    rows = zip(table["name"].tolist(), *columns, strict=True)
    return {name: tuple(None if np.isnan(one) else one for one in sizes) for name, *sizes in rows}


NESTED = [
    _event("region", 0, 100, "user_annotation"),
    _event("outer", 10, 50),
    _event("inner", 20, 10),
    _event("view", 70, 5),
    _memory(12, 1000),
    _memory(25, 64),
    _memory(29, -24),
    _memory(30, -100),  # `inner` ends here
    _memory(90, 7),
    _memory(200, 1),  # outside of all operators
    _memory(25, 2, thread=2),  # on another thread
]


def test_an_allocation_belongs_to_the_innermost_operator() -> None:
    assert allocated(NESTED) == {"outer": (900, None), "inner": (40, None), "view": (0, None)}
    assert allocated(NESTED, "top") == {"outer": (940, None), "view": (0, None)}
    assert allocated(NESTED, "module") == {"region": (947, None)}


def test_memory_of_devices_has_a_column_of_its_own() -> None:
    events = [_event("outer", 10, 50), _event("inner", 20, 10), _memory(25, 512, on_device=True)]
    assert allocated(events) == {"outer": (None, 0), "inner": (None, 512)}
    assert allocated([*events, _memory(11, 8)]) == {"outer": (8, 0), "inner": (0, 512)}


def test_allocations_are_unknown_if_the_trace_has_none() -> None:
    assert allocated([_event("outer", 10, 50)]) == {"outer": (None, None)}

"""Two traces of one program give the same key to the same operator."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tests.conftest import run_command

if TYPE_CHECKING:
    from pathlib import Path


def trace(path: Path, process: int, step: int, start_us: float, scale: float) -> str:
    """Write a trace of one step: two calls of one operator, in a region and outside of it."""
    rows = [
        ("user_annotation", f"ProfilerStep#{step}", 0, 90),
        ("user_annotation", "forward", 10, 40),
        ("cpu_op", "aten::mm", 20, 10),
        ("cpu_op", "aten::mm", 60, 10),
    ]
    events = [
        {"ph": "X", "cat": cat, "name": name, "pid": process, "tid": process,
         "ts": start_us + start * scale, "dur": duration * scale, "args": {}}
        for cat, name, start, duration in rows
    ]  # fmt: skip
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
    return str(path)


def ids(file: str) -> list[str]:
    outcome = run_command(file, "--format", "json", "--order-by", "+id")
    (table,) = json.loads(outcome.out)["tables"]
    position = [column["name"] for column in table["columns"]].index("id")
    return [row[position] for row in table["rows"]]


def test_rows_of_two_traces_can_be_joined(tmp_path: Path) -> None:
    first = ids(trace(tmp_path / "a.json", 11, 3, 1e6, 1.0))
    assert first == ["aten::mm", "forward/aten::mm"]
    assert ids(trace(tmp_path / "b.json", 12, 8, 5e9, 2.5)) == first

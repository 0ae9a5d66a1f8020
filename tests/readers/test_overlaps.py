"""Events that partly overlap on one thread, and files without any possible time."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import profile_analyze as pa
from profile_analyze.model.findings import Finding, Kind
from profile_analyze.readers.overlaps import of_neighbours, of_nested
from tests.conftest import FIXTURES, run_command
from tests.findings.found import with_code

if TYPE_CHECKING:
    from pathlib import Path

    from profile_analyze.model.notes import Note

LATE = 9_300_000_000_000_000_000
"""More than a whole number of 64 bits can hold, in microseconds."""


def torch_event(name: str, start_us: float, duration_us: float, thread: int = 1) -> dict[str, Any]:
    times = {"ts": start_us, "dur": duration_us, "pid": 1, "tid": thread}
    return {"ph": "X", "cat": "cpu_op", "name": f"aten::{name}", **times}


def node(name: str, start_us: float, duration_us: float, thread: int = 1) -> dict[str, Any]:
    return {
        "ph": "X",
        "cat": "Node",
        "name": f"{name}_kernel_time",
        "ts": start_us,
        "dur": duration_us,
        "pid": 1,
        "tid": thread,
        "args": {"op_name": "Relu", "provider": "CPUExecutionProvider", "node_index": name},
    }


def torch_trace(*events: dict[str, Any]) -> Any:
    return {"schemaVersion": 1, "traceEvents": events}


def session(*events: dict[str, Any]) -> Any:
    run = {"cat": "Session", "pid": 1, "tid": 1, "dur": 1000, "ts": 0, "ph": "X"}
    return [{**run, "name": "model_run", "args": {}}, *events]


def written(folder: Path, document: Any) -> Path:
    (folder / "run.json").write_text(json.dumps(document))
    return folder / "run.json"


def overlaps(file: Path) -> list[Note]:
    """Return the findings on overlaps."""
    return with_code(pa.load(file).notes, "overlapping-events")


def overlapping(events: int, excess_s: float) -> Finding:
    return Finding.of("overlapping-events", Kind.WRONG, events=events, excess_s=excess_s)


@pytest.mark.parametrize(("document", "event"), [(torch_trace, torch_event), (session, node)])
def test_partial_overlaps_of_a_thread_have_a_note(
    tmp_path: Path, document: Any, event: Any
) -> None:
    part, inside = event("0", 100, 100), event("1", 150, 100)
    one = written(tmp_path, document(part, inside, event("2", 300, 10)))
    assert overlaps(one) == [overlapping(1, 50e-6)]
    several = (part, inside, event("3", 400, 100), event("4", 450, 100))
    assert overlaps(written(tmp_path, document(*several))) == [overlapping(2, 100e-6)]
    for fine in (
        (part, event("1", 200, 50)),
        (part, event("1", 150, 51) if event is torch_event else event("1", 199, 50)),  # rounded
        (part, event("1", 150, 100, thread=2)),
    ):
        assert overlaps(written(tmp_path, document(*fine))) == []


def test_nested_events_do_not_overlap(tmp_path: Path) -> None:
    events = (torch_event("0", 100, 100), torch_event("1", 150, 50), torch_event("2", 160, 41))
    assert overlaps(written(tmp_path, torch_trace(*events))) == []


def test_how_far_events_overlap() -> None:
    start, end = np.array([0, 5, 8, 20, 3]), np.array([10, 12, 9, 30, 4])
    parent = np.array([-1, 0, 1, -1, -1])
    assert of_nested(end, parent).tolist() == [0, 2, 0, 0, 0]
    thread = np.array([1, 1, 1, 1, 1])
    assert of_neighbours(thread, start, end, parent).tolist() == [0, 0, 0, 0, 1]
    none = np.full(5, -1)
    assert of_neighbours(thread, start, end, none).tolist() == [0, 0, 1, 0, 1]
    assert of_neighbours(np.arange(5), start, end, none).tolist() == [0, 0, 0, 0, 0]


def test_a_trace_whose_times_are_all_impossible(tmp_path: Path) -> None:
    events = (torch_event("mm", LATE, 5), torch_event("add", LATE + 10, 7))
    outcome = run_command(str(written(tmp_path, torch_trace(*events))))
    assert (outcome.code, outcome.err) == (
        1,
        f"profile_analyze: error: {tmp_path}/run.json: has no event with a valid time: the times "
        "of 2 events are missing or impossible\n",
    )
    file = written(tmp_path, torch_trace(*events, torch_event("mul", 1, 2)))
    untimed = Finding.of("untimed-events", Kind.INCOMPLETE, events=2)
    assert untimed in pa.load(file).notes


def test_a_timeline_whose_times_cannot_be_told_apart(tmp_path: Path) -> None:
    """Floats as large as these are multiples of 2048 us."""
    path = FIXTURES / "megengine-timeline" / "plain.json.gz"
    document = json.loads(gzip.decompress(path.read_bytes()))
    for event in document["traceEvents"]:
        if "ts" in event:
            event["ts"] += LATE
    (tmp_path / "run.json").write_text(json.dumps(document))
    outcome = run_command(str(tmp_path / "run.json"), "--notes", "all", "--format", "plain")
    executions = len(pa.load(tmp_path / "run.json").executions)
    assert (
        f"note: left out the times of {executions} executions: they are impossible\n" in outcome.err
    )
    assert outcome.out.splitlines()[0].split() == ["total", "device", "time", "N/A"]

"""Generates PyTorch traces with any number of events by repeating a real one.

Each copy starts after the end of the copy before it. The real trace was recorded on a CPU. To make
it resemble a trace of a GPU, this module lets every innermost operator launch a kernel. A launch
adds four events, as torch writes them: a driver call, a kernel, and the start and the end of the
arrow between them. The durations of the kernels vary slightly, with a fixed seed.
"""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from benchmarks.generate import JITTER, SEED, write_once

if TYPE_CHECKING:
    from collections.abc import Iterator

SOURCE: Final = (
    Path(__file__).parent.parent / "tests" / "fixtures" / "pytorch" / "cnn-train.json.gz"
)
_LAUNCH: Final = """\
  {{
    "ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": {pid}, "tid": {tid},
    "ts": {start:.3f}, "dur": {duration:.3f},
    "args": {{
      "External id": {external}, "cbid": 211, "correlation": {id}
    }}
  }},
  {{
    "ph": "s", "id": {id}, "pid": {pid}, "tid": {tid}, "ts": {start:.3f},
    "cat": "ac2g", "name": "ac2g"
  }},
  {{
    "ph": "X", "cat": "kernel", "name": "void at::native::{kernel}_kernel<float, 4>(int, float*)",
    "pid": 0, "tid": 7,
    "ts": {kernel_start:.3f}, "dur": {kernel_duration:.3f},
    "args": {{
      "External id": {external}, "queued": 0, "device": 0, "context": 1, "stream": 7,
      "correlation": {id}, "registers per thread": 32, "shared memory": 0,
      "blocks per SM": 1.5, "warps per SM": 12, "grid": [160, 1, 1], "block": [256, 1, 1],
      "est. achieved occupancy %": 19
    }}
  }},
  {{
    "ph": "f", "id": {id}, "pid": 0, "tid": 7, "ts": {kernel_start:.3f},
    "cat": "ac2g", "name": "ac2g", "bp": "e"
  }}"""
_DEVICE: Final = '{"id": 0, "name": "NVIDIA A100-SXM4-40GB", "numSms": 108}'
_GAP_US: Final = 100.0
_STEP: Final = "ProfilerStep#"


def events(count: int, source: Path = SOURCE, seed: int = SEED) -> Iterator[str]:
    """Yield events as JSON, in whole copies of `source`, until there are at least `count`.

    Each text is one event, or the four events of a launch.
    """
    with gzip.open(source, "rt", encoding="utf-8") as stream:
        real = [event for event in json.load(stream)["traceEvents"] if event["ph"] in "Xsf"]
    first_us = min(event["ts"] for event in real)
    span_us = max(event["ts"] + event.get("dur", 0) for event in real) - first_us + _GAP_US
    innermost = _innermost(real)
    generator = random.Random(seed)
    made, copy = 0, 0
    while made < count:
        device_us = 0.0  # the stream is free from this time on
        for number, event in enumerate(real):
            moved = _moved(event, copy, copy * span_us - first_us)
            yield json.dumps(moved)
            made += 1
            if number in innermost:
                # Kernels are short, so that the stream is free before the next copy starts.
                duration_us = min(moved["dur"], 2.0) * (1 - JITTER * generator.random())
                launch = _launch(
                    moved, made, max(device_us, moved["ts"] + moved["dur"]), duration_us
                )
                device_us = launch["kernel_start"] + duration_us
                yield _LAUNCH.format(**launch)
                made += 4
        copy += 1


def _innermost(real: list[dict[str, Any]]) -> set[int]:
    """Return the indices of the operators that contain no operator or region."""
    # In this order, each event is followed by the first event that it contains, if there is one.
    ordered = sorted(
        (event["pid"], event["tid"], event["ts"], -event["dur"], number)
        for number, event in enumerate(real)
        if event.get("cat") in {"cpu_op", "user_annotation"}
    )
    indices = [number for *_, number in ordered]
    return {
        index
        for index, following in zip(indices, [*indices[1:], None], strict=True)
        if real[index]["cat"] == "cpu_op"
        and (following is None or not _contains(real[index], real[following]))
    }


def _contains(event: dict[str, Any], later: dict[str, Any]) -> bool:
    """Return whether `event` contains `later`. The start of `later` must not be earlier."""
    is_same_thread = (event["pid"], event["tid"]) == (later["pid"], later["tid"])
    return is_same_thread and bool(later["ts"] < event["ts"] + event["dur"])


def _moved(event: dict[str, Any], copy: int, shift_us: float) -> dict[str, Any]:
    """Return `event` as it appears in copy number `copy`, without its shapes.

    Its start moves by `shift_us`. Its ids and its step number become unique in the trace.
    """
    moved = {**event, "ts": round(event["ts"] + shift_us, 3)}
    if "id" in event:
        moved["id"] += copy << 20
    if "args" in event:
        kept = ("External id", "Sequence number", "Fwd thread id", "Ev Idx")
        moved["args"] = {name: event["args"][name] for name in kept if name in event["args"]}
        for name in ("External id", "Sequence number"):
            if name in moved["args"]:
                moved["args"][name] += copy << 20
    if event["name"].startswith(_STEP):
        number = int(event["name"].removeprefix(_STEP))
        moved["name"] = f"{_STEP}{number + 3 * copy}"  # the real trace has three steps
    return moved


def _launch(
    operator: dict[str, Any], number: int, start_us: float, duration_us: float
) -> dict[str, Any]:
    """Return the values for the template `_LAUNCH`.

    The driver call takes the middle half of the time of `operator`. The kernel starts at `start_us`
    and takes `duration_us`.
    """
    return {
        "pid": operator["pid"],
        "tid": operator["tid"],
        "start": operator["ts"] + operator["dur"] * 0.25,
        "duration": operator["dur"] * 0.5,
        "external": operator["args"].get("External id", 0),
        "id": number,
        "kernel": operator["name"].rpartition(":")[2],
        "kernel_start": start_us,
        "kernel_duration": duration_us,
    }


def write(path: Path, count: int) -> None:
    """Write a trace with at least `count` events to `path`. If the file exists, keep it."""
    write_once(path, _document(count))


def _document(count: int) -> Iterator[str]:
    yield f'{{\n  "schemaVersion": 1,\n  "deviceProperties": [{_DEVICE}],\n  "traceEvents": [\n'
    for number, event in enumerate(events(count)):
        yield f",\n{event}" if number else event
    yield '\n  ],\n  "traceName": "generated.json"\n}\n'

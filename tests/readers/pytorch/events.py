"""Writes tiny traces as torch does."""

from __future__ import annotations

import json
from typing import Any

from profile_analyze.model.findings import Finding, Kind

PROCESS = 100
Event = dict[str, Any]


def event(
    category: str, name: Any, start: Any = 0, length: Any = 5, *, tid: Any = PROCESS, **args: Any
) -> Event:
    """Return an event of the host. Times are in microseconds."""
    return {
        "ph": "X",
        "cat": category,
        "name": name,
        "pid": PROCESS,
        "tid": tid,
        "ts": start,
        "dur": length,
        "args": args,
    }


def op(name: Any, start: Any = 0, length: Any = 5, **args: Any) -> Event:
    """Return an operator."""
    return event("cpu_op", name, start, length, **args)


def call(start: int, correlation: Any, **args: Any) -> Event:
    """Return a call of the CUDA runtime that launches a kernel. It takes one microsecond."""
    return event("cuda_runtime", "cudaLaunchKernel", start, 1, correlation=correlation, **args)


def kernel(name: str, start: int, length: int, correlation: Any, **args: Any) -> Event:
    """Return a kernel on stream 7 of device 0."""
    args = {"device": 0, "stream": 7, "correlation": correlation, **args}
    return {**event("kernel", name, start, length, tid=7, **args), "pid": 0}


def document(*events: Any, head: str = '"schemaVersion": 1', tail: str = "") -> bytes:
    """Return a file with these events. An event that is a text is written unchanged."""
    parts = [one if isinstance(one, str) else json.dumps(one) for one in events]
    text = f'{{{head}, "traceEvents": [{", ".join(parts)}]{tail}}}'
    return text.encode("utf-8", "surrogatepass")


def no_shapes(operators: int, share: float) -> Finding:
    """Return the finding that these operators lack shapes."""
    return Finding.of(
        *("no-shapes", Kind.INCOMPLETE),
        share=share, dropped_beside="model", operators=operators, file_format="PyTorch trace",
    )  # fmt: skip


def no_steps(iterations: int) -> Finding:
    """Return the finding that a trace without steps seems to have several iterations."""
    return Finding.of("no-steps", Kind.CONTEXT, iterations=iterations)

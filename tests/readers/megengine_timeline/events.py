"""Writes tiny timelines as MegEngine does."""

from __future__ import annotations

import json
from typing import Any

WORKER, DISPATCHER, DEVICE = 0, 1, 2
Event = dict[str, Any]
SHAPE = "{2,3}"


def event(phase: str, name: str, at: float, tid: int = WORKER, **more: Any) -> Event:
    """Return an event at a time in microseconds."""
    return {**more, "name": name, "ph": phase, "pid": more.get("pid", 7), "tid": tid, "ts": at}


def scope(name: str, start: float, end: float, *inner: Event, **more: Any) -> list[Event]:
    """Return the events of a scope, with the events inside it."""
    return [event("B", name, start, **more), *inner, event("E", name, end, **more)]


def tensor(
    kind: str, at: float, shape: str = SHAPE, dtype: str = "Float32", **more: Any
) -> list[Event]:
    """Return the events of an input or output of the operator around them."""
    device = 'CompNode("cpu0:0" from "xpux:0")'
    args = {"device": device, "dtype": dtype, "id": 5, "name": "", "shape": shape}
    return [event("B", f"{kind} 5", at, **more), event("E", f"{kind} 5", at, args=args, **more)]


def op(
    name: str,
    id_: int,
    start: float,
    end: float,
    kernel: tuple[float, float] | None = None,
    *,
    ins: tuple[str, ...] = (SHAPE,),
    outs: tuple[str, ...] = (SHAPE,),
    params: dict[str, str] | None = None,
    pid: int = 7,
) -> list[Event]:
    """Return the events of an operator, and of its kernel."""
    args = {"__device__": "invalid", "__id__": id_, "__name__": name, **(params or {})}
    events = [event("B", name, start, pid=pid)]
    for shape in ins:
        events += tensor("Input", start, shape, pid=pid)
    if kernel is not None:
        flow: Event = {"cat": "KernelLaunch", "id": id_ + 1000, "pid": pid}
        events += [
            event("s", "7", start + 1, **flow),
            event("B", name, kernel[0], DEVICE, cat="Kernel", pid=pid),
            event("f", "7", kernel[0], DEVICE, **flow),
            event("E", name, kernel[1], DEVICE, cat="Kernel", args=args, pid=pid),
        ]
    for shape in outs:
        events += tensor("Output", end, shape, pid=pid)
    return [*events, event("E", name, end, args=args, pid=pid)]


def counter(at: float) -> Event:
    """Return the counter event at the beginning of each file."""
    return event("C", "train_time_ratio", at, args={"value": 0.0})


def names(pid: int = 7) -> list[Event]:
    """Return the events that name the threads, which are at the end of each file."""
    known = {DISPATCHER: "interpreter", WORKER: "worker", DEVICE: "xpux:0"}
    return [
        {"args": {"name": name}, "name": "thread_name", "ph": "M", "pid": pid, "tid": tid}
        for tid, name in known.items()
    ]


def document(
    *events: Event, end: str = '],"metadata":{"localTime":"1795171129614631123"}}'
) -> bytes:
    """Return a file with these events."""
    parts = [
        json.dumps(one, separators=(",", ":"), sort_keys=True) for one in (counter(0), *events)
    ]
    return ('{"traceEvents":[' + ",".join(parts) + end).encode()

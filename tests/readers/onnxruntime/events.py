"""Writes tiny profiles as ONNX Runtime does."""

from __future__ import annotations

import json
from typing import Any

STATISTICS = {
    "main_thread": {"thread_pool_name": "intra-op", "core": 0, "Run": 2, "Wait": 3},
    "sub_threads": {"140420610774720": {"num_run": 1, "core": 1}},
}


def event(name: str, start: int, duration: int, cat: str = "Session", **more: Any) -> str:
    """Return the line of an event. `more` may have `args` and `tid`."""
    args = json.dumps(more.get("args", {}))
    return (
        f'{{"cat" : "{cat}","pid" :7,"tid" :{more.get("tid", 7)},"dur" :{duration},"ts" :{start},'
        f'"ph" : "X","name" :"{name}","args" : {args}}}'
    )


def run(start: int, duration: int, **more: Any) -> str:
    """Return the line of a run."""
    return event("model_run", start, duration, **more)


def node(name: str, type_: str, start: int, duration: int, **more: Any) -> str:
    """Return the line of a node, with its shapes: `ins` and `outs`, such as `[(1, 3)]`."""
    args: dict[str, Any] = {"op_name": type_, "provider": "CPUExecutionProvider"}
    for key, shapes in (("input", more.pop("ins", None)), ("output", more.pop("outs", None))):
        if shapes is not None:
            args[f"{key}_type_shape"] = [{"float": list(shape)} for shape in shapes]
    sizes = more.pop("sizes", None)
    if sizes is not None:
        names = ("activation_size", "parameter_size", "output_size")
        args |= dict(zip(names, map(str, sizes), strict=True))
    args |= more.pop("args", {})
    return event(f"{name}_kernel_time", start, duration, "Node", args=args, **more)


def kernel(name: str, start: int, duration: int, **args: Any) -> str:
    """Return the line of a kernel on a GPU."""
    return event(name, start, duration, "Kernel", tid=-1, args=args)


def document(*lines: str) -> bytes:
    """Return a file with these lines."""
    return ("[\n" + ",\n".join(lines) + "\n]\n").encode()

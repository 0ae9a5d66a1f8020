"""Adds up the seconds of each operator in a trace, without the code of this package."""

from __future__ import annotations

import gzip
import json
import re
from collections import defaultdict
from decimal import Decimal
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

COMMUNICATION = re.compile(r"(nccl|rccl|gloo|mpi|ucc|xccl|hccl|c10d):")
CALLS = ("cuda_runtime", "cuda_driver", "Runtime")
WORK = ("kernel", "gpu_memcpy", "gpu_memset", "Kernel", "Memcpy", "Memset")

Event = dict[str, Any]


def events_in(path: Path) -> list[Event]:
    """Return the events with a duration in a file, which may be compressed."""
    data = path.read_bytes()
    text = gzip.decompress(data) if path.suffix == ".gz" else data
    whole = json.loads(text, parse_float=Decimal)
    return [one for one in whole["traceEvents"] if one.get("ph") == "X" and "dur" in one]


def is_operator(event: Event) -> bool:
    """Return whether an event is an operator."""
    return event["cat"] in ("cpu_op", "Operator") or (
        event["cat"] == "user_annotation" and COMMUNICATION.match(event["name"]) is not None
    )


def with_launchers(operators: list[Event], calls: list[Event]) -> list[tuple[Event, Event | None]]:
    """Return each operator and each call, with the innermost operator around it."""
    threads: dict[tuple[Any, Any], list[tuple[Any, Any, int, Event]]] = defaultdict(list)
    for number, one in enumerate([*operators, *calls]):
        length = one["dur"] if number < len(operators) else 0
        threads[one["pid"], one["tid"]].append((one["ts"], -length, number, one))
    found: list[tuple[Event, Event | None]] = []
    for entries in threads.values():
        open_: list[Event] = []
        for start, _, number, one in sorted(entries, key=lambda entry: entry[:3]):
            while open_ and open_[-1]["ts"] + open_[-1]["dur"] <= start:
                open_.pop()
            found.append((one, open_[-1] if open_ else None))
            if number < len(operators):
                open_.append(one)
    return found


def expected(path: Path) -> dict[str, float]:
    """Return the device time of each operator, or its self time on the host if no device ran."""
    events = events_in(path)
    operators = [one for one in events if is_operator(one)]
    work = [one for one in events if one["cat"] in WORK]
    calls = [one for one in events if one["cat"] in CALLS]
    found: dict[str, float] = defaultdict(float)
    outer_of = with_launchers(operators, calls)
    if not work:
        for one, outer in outer_of:
            found[one["name"]] += float(one["dur"]) / 1e6
            if outer is not None:
                found[outer["name"]] -= float(one["dur"]) / 1e6
        return found
    launching = {
        one["args"]["correlation"]: outer or one
        for one, outer in outer_of
        if one["args"].get("correlation", 0) > 0
    }
    by_id = {one["args"].get("External id"): one for one in operators}
    for one in work:
        launcher = launching.get(one["args"].get("correlation"))
        if launcher is None:
            launcher = by_id.get(one["args"].get("External id"))
        if launcher is not None:
            found[launcher["name"]] += float(one["dur"]) / 1e6
    return found

"""Counts the seconds of each type in a timeline, with `json` alone."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path


def events_in(path: Path) -> list[dict[str, Any]]:
    """Return the events of a file, which may be compressed."""
    data = path.read_bytes()
    whole = json.loads(gzip.decompress(data) if path.suffix == ".gz" else data)
    events: list[dict[str, Any]] = whole["traceEvents"]
    return events


def expected(path: Path) -> dict[str, float]:
    """Return the seconds of each type on the devices: the sum of ends minus the sum of starts."""
    found: dict[str, float] = {}
    for event in events_in(path):
        if event["ph"] in "BE" and (
            event.get("cat") == "Kernel" or event["name"] == "HostToDevice"
        ):
            sign = 1 if event["ph"] == "E" else -1
            found[event["name"]] = found.get(event["name"], 0.0) + sign * event["ts"] / 1e6
    return found


def expected_on_host(path: Path) -> dict[str, float]:
    """Return the seconds of each type on the threads of workers, where operators are not nested."""
    found: dict[str, float] = {}
    last_start: dict[tuple[int, str], float] = {}
    for event in events_in(path):
        name, key = event["name"], (event["tid"], event["name"])
        if event["ph"] == "B" and event.get("cat") != "Kernel":
            last_start[key] = event["ts"]
        elif (
            event["ph"] == "E"
            and event.get("cat") != "Kernel"
            and "__id__" in event.get("args", {})
            and name != "OpDispatch"  # says when an operator was dispatched, not when it ran
        ):
            found[name] = found.get(name, 0.0) + (event["ts"] - last_start[key]) / 1e6
    return found

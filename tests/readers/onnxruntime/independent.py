"""Sums of ONNX Runtime profiles, counted with `json` alone."""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path


def expected(path: Path) -> dict[str, float]:
    """Return the seconds of each operator type in all runs, added up from `own_times_us`."""
    events = events_in(path)
    runs = runs_in(events)
    sums_s: dict[str, float] = defaultdict(float)
    for node, own_us in own_times_us(events):
        if any(is_inside(node, run) for run in runs):
            sums_s[node["args"]["op_name"]] += own_us / 1e6
    return sums_s


def events_in(path: Path) -> list[dict[str, Any]]:
    """Return all events of a file."""
    data = path.read_bytes()
    events: list[dict[str, Any]] = json.loads(
        gzip.decompress(data) if path.suffix == ".gz" else data
    )
    return events


def runs_in(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the events of runs, in the order of their starts."""
    return sorted((one for one in events if one["name"] == "model_run"), key=lambda run: run["ts"])


def is_inside(node: dict[str, Any], run: dict[str, Any]) -> bool:
    """Return whether a node ran in a run."""
    return bool(run["ts"] <= node["ts"] <= run["ts"] + run["dur"])


def own_times_us(events: list[dict[str, Any]]) -> list[tuple[dict[str, Any], int]]:
    """Return each node with its own microseconds, which exclude the nodes inside it."""
    nodes = [one for one in events if one["name"].endswith("_kernel_time")]
    own_us = [node["dur"] for node in nodes]
    for index, node in enumerate(nodes):
        # Events are written when they end. The next event that started earlier contains this node.
        for outer, later in enumerate(nodes[index + 1 :], index + 1):
            if later["tid"] == node["tid"] and later["ts"] <= node["ts"]:
                own_us[outer] -= node["dur"]
                break
    return list(zip(nodes, own_us, strict=True))

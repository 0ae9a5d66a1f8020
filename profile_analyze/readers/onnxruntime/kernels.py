"""The executions of kernels on a GPU, and the nodes that launched the kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from profile_analyze.model.executions import Track
from profile_analyze.model.terms import DEVICE, GPU, KERNEL
from profile_analyze.readers.onnxruntime.events import node_name
from profile_analyze.readers.onnxruntime.nodes import RESOLUTION_S, new_indices
from profile_analyze.readers.onnxruntime.operators import Operator
from profile_analyze.readers.onnxruntime.timeline import column, runs_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from profile_analyze.model.categorical import Categorical
    from profile_analyze.readers.onnxruntime.events import Events
    from profile_analyze.readers.onnxruntime.nodes import Nodes

    Indices = NDArray[np.int64]


class Kernels(NamedTuple):
    """The executions of kernels that are in a run."""

    rows: Indices
    """For each execution, the index in `Events.kernels`. The other columns have the same order."""
    operator: Indices
    run: Indices
    launched_by: Indices
    """The index in `Nodes` of the node that launched the kernel, or -1."""


def kernels_of(events: Events, nodes: Nodes, operators: list[Operator]) -> Kernels:
    """Return the executions of kernels that are in a run. Append their operators to `operators`."""
    launching = _launching(events)
    launched_by = new_indices(nodes.rows, len(events.nodes.start_us))[launching]
    # A kernel may start after the end of its run, so it gets the run of the node that launched it.
    # If this node is in no run, neither is the kernel.
    run_at_start = runs_of(events.kernels, events.runs)
    run = np.where(launching >= 0, np.append(nodes.run, -1)[launched_by], run_at_start)
    rows = np.flatnonzero(run >= 0)
    row_of: dict[str, int] = {}
    operator = []
    for row in rows.tolist():
        name = events.facts_of_kernels[row].name
        if name not in row_of:
            row_of[name] = len(operators)
            operators.append(Operator(name or "unnamed", None, level=KERNEL))
        operator.append(row_of[name])
    return Kernels(rows, np.array(operator, np.int64), run[rows], launched_by[rows])


def _launching(events: Events) -> Indices:
    """Return, for each kernel, the row in `Events.nodes` of the node that launched it, or -1.

    Nodes that are in no run count, too. Otherwise, their kernels would go to nodes of earlier runs.
    """
    if not events.facts_of_kernels:
        return np.empty(0, np.int64)
    facts = [*events.facts]
    facts_of_nodes = column(events.facts_of_nodes)
    start_us = column(events.nodes.start_us)
    kernel_start_us = column(events.kernels.start_us)
    by_start = np.argsort(start_us, kind="stable")
    by_name: dict[str, list[int]] = {}
    for index in by_start.tolist():
        by_name.setdefault(node_name(facts[facts_of_nodes[index]].name), []).append(index)
    # For each kernel, the last node before it in the file, or -1.
    before = column(events.nodes_before_kernels) - 1
    result = np.full(len(kernel_start_us), -1)
    rows_of_parent: dict[str, list[int]] = {}
    for row, kernel in enumerate(events.facts_of_kernels):
        if kernel.parent is not None:
            rows_of_parent.setdefault(kernel.parent, []).append(row)
        elif before[row] >= 0 and facts[facts_of_nodes[before[row]]].type == kernel.type:
            # Older versions do not name the node, but write a kernel directly after it.
            result[row] = before[row]
    for name, rows in rows_of_parent.items():
        named = np.array(by_name.get(name, []), np.int64)
        latest = np.searchsorted(start_us[named], kernel_start_us[rows], side="right") - 1
        # If no node started earlier, `latest` is -1, the index of the appended -1.
        result[rows] = np.append(named, -1)[latest]
    return result


def tracks_of_kernels(
    events: Events,
    nodes: Nodes,
    kernels: Kernels,
    devices: Categorical[str],
    tracks: dict[Track, int],
) -> Indices:
    """Return the index of the track of each execution of a kernel.

    Each stream of a device has a track. New tracks are added to `tracks`.
    """
    result = []
    for row, node in zip(kernels.rows.tolist(), kernels.launched_by.tolist(), strict=True):
        code = devices.codes[nodes.facts[node]] if node >= 0 else -1
        stream = events.facts_of_kernels[row].stream
        track = Track(
            "stream" if stream is None else f"stream {stream}",
            DEVICE,
            devices.categories[code] if code >= 0 else None,
            "stream",
            resolution_s=RESOLUTION_S,
            device_kind=GPU,
        )
        result.append(tracks.setdefault(track, len(tracks)))
    return np.array(result, np.int64)

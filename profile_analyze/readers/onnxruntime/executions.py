"""The tables of executions and tracks: nodes on threads, and kernels on streams."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, NamedTuple

import numpy as np

from profile_analyze.model.executions import Executions, Track
from profile_analyze.model.terms import DEVICE, HOST
from profile_analyze.readers.onnxruntime.kernels import kernels_of, tracks_of_kernels
from profile_analyze.readers.onnxruntime.nodes import devices_of, nodes_of, tracks_of_nodes
from profile_analyze.readers.onnxruntime.timeline import ROUNDING_US, column
from profile_analyze.readers.overlaps import Overlaps, of_neighbours, of_nested
from profile_analyze.units import US_PER_S

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from profile_analyze.model.terms import Side
    from profile_analyze.readers.onnxruntime.events import Events
    from profile_analyze.readers.onnxruntime.nodes import Nodes
    from profile_analyze.readers.onnxruntime.operators import Operator

    Indices = NDArray[np.int64]

_LAUNCHING: Final = frozenset(
    ("CUDA", "ROCM", "Tensorrt", "NvTensorRTRTX", "MIGraphX", "Dml", "WebGpu", "Js", "CANN")
)
"""On these devices, a node only launches work and may end before the work ends. The times of such
nodes are therefore host times."""


class Recorded(NamedTuple):
    """The operators, executions and tracks in a file."""

    operators: list[Operator]
    executions: Executions
    tracks: tuple[Track, ...]
    left_out_nodes: int
    """How many executions of nodes were outside of complete runs, and are left out."""
    left_out_kernels: int
    """The same for executions of kernels."""
    is_launch: NDArray[np.bool_]
    """Shape (operators,): whether an operator only launches work on a device."""
    overlaps: Overlaps


def recorded(events: Events) -> Recorded:
    """Return the operators, executions and tracks of all complete runs."""
    operators: list[Operator] = []
    nodes = nodes_of(events, operators)
    kernels = kernels_of(events, nodes, operators)
    devices = devices_of(events)
    launches = devices.where(device in _LAUNCHING for device in devices.categories)[nodes.facts]
    side: Side = HOST if len(kernels.rows) or launches.any() else DEVICE
    tracks: dict[Track, int] = {}
    track = (
        tracks_of_nodes(events, nodes, devices, side, tracks),
        tracks_of_kernels(events, nodes, kernels, devices, tracks),
    )
    rows = (nodes.rows, kernels.rows)
    executions = Executions.of(
        np.concatenate([nodes.operator, kernels.operator]),
        _seconds(events, "duration_us", *rows),
        run=np.concatenate([nodes.run, kernels.run]),
        track=np.concatenate(track),
        start_s=_seconds(events, "start_us", *rows),
        thread_wait_s=np.append(
            column(events.wait_us)[nodes.rows] / US_PER_S, np.full(len(kernels.rows), np.nan)
        ),
        parent=np.append(nodes.parent, np.full(len(kernels.rows), -1)),
        launched_by=np.append(np.full(len(nodes.rows), -1), kernels.launched_by),
    )
    is_launch = np.zeros(len(operators), np.bool_)
    is_launch[nodes.operator[launches]] = True
    return Recorded(
        operators,
        executions,
        tuple(tracks),
        len(events.nodes.start_us) - len(nodes.rows),
        len(events.kernels.start_us) - len(kernels.rows),
        is_launch,
        _overlaps(events, nodes),
    )


def _overlaps(events: Events, nodes: Nodes) -> Overlaps:
    """Return how far nodes of one thread overlap without being nested."""
    thread, start_us, duration_us = (
        column(values)[nodes.rows]
        for values in (events.nodes.thread, events.nodes.start_us, events.nodes.duration_us)
    )
    with np.errstate(all="ignore"):  # a time may be near the largest float
        end_us = start_us + duration_us
        excess_us = np.maximum(
            of_nested(end_us, nodes.parent), of_neighbours(thread, start_us, end_us, nodes.parent)
        )
        wrong_us = excess_us[excess_us > ROUNDING_US]
        return Overlaps(len(wrong_us), float(wrong_us.sum()) / US_PER_S)


def _seconds(
    events: Events,
    name: Literal["start_us", "duration_us"],
    node_rows: Indices,
    kernel_rows: Indices,
) -> NDArray[np.float64]:
    """Return the times of nodes, followed by the times of kernels, in seconds."""
    of_nodes, of_kernels = (column(getattr(one, name)) for one in (events.nodes, events.kernels))
    return np.append(of_nodes[node_rows], of_kernels[kernel_rows]) / US_PER_S

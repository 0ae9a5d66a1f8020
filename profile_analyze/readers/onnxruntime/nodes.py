"""The executions of nodes: their operators, runs, enclosing nodes and tracks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from profile_analyze.model.categorical import Categorical
from profile_analyze.model.executions import Track
from profile_analyze.model.terms import CPU
from profile_analyze.readers.onnxruntime.events import device_of
from profile_analyze.readers.onnxruntime.operators import operator_of
from profile_analyze.readers.onnxruntime.timeline import column, enclosing, runs_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from profile_analyze.model.terms import Side
    from profile_analyze.readers.onnxruntime.events import Events
    from profile_analyze.readers.onnxruntime.operators import Operator

    Indices = NDArray[np.int64]

RESOLUTION_S: Final = 1e-6
_CPU_PROVIDER: Final = "CPU"
_WITH_BODY: Final = (
    *("If", "Loop", "Scan"),
    *("BeamSearch", "GreedySearch", "Sampling", "WhisperBeamSearch"),
)
"""The types whose nodes run other nodes: those of ONNX, then those of ONNX Runtime."""


class Nodes(NamedTuple):
    """The executions of nodes that are in a run."""

    rows: Indices
    """For each execution, the index in `Events.nodes`. The other columns have the same order."""
    facts: Indices
    """The index in `Events.facts`."""
    operator: Indices
    run: Indices
    parent: Indices
    """The index in `Nodes` of the execution that this execution ran inside, or -1."""


def nodes_of(events: Events, operators: list[Operator]) -> Nodes:
    """Return the executions of nodes that are in a run. Append their operators to `operators`."""
    run = runs_of(events.nodes, events.runs)
    rows = np.flatnonzero(run >= 0)
    new_index = new_indices(rows, len(run))
    facts_of_all = column(events.facts_of_nodes)
    has_body = np.array([facts.type in _WITH_BODY for facts in events.facts], np.bool_)
    parent = new_index[enclosing(events.nodes, has_body[facts_of_all])[rows]]
    facts = facts_of_all[rows]
    return Nodes(rows, facts, _operators(events, facts, parent, operators), run[rows], parent)


def new_indices(rows: Indices, count: int) -> Indices:
    """Return, for each of `count` rows, its index in `rows`, or -1 if `rows` lacks it.

    The result has an extra last entry, so that the row -1 gets -1, too.
    """
    result = np.full(count + 1, -1)
    result[rows] = np.arange(len(rows))
    return result


def _operators(
    events: Events, facts: Indices, parent: Indices, operators: list[Operator]
) -> Indices:
    """Return, for each execution, the row of its operator. Append the operators to `operators`."""
    all_facts = [*events.facts]
    row_of: dict[tuple[int, tuple[str, ...]], int] = {}

    def row(index: int, scope: tuple[str, ...]) -> int:
        key = (index, scope)
        if key not in row_of:
            row_of[key] = len(operators)
            operators.append(operator_of(all_facts[index], scope))
        return row_of[key]

    is_outermost = parent < 0
    used = np.bincount(facts[is_outermost], minlength=len(all_facts)).tolist()
    row_of_facts = np.array([row(n, ()) if uses else -1 for n, uses in enumerate(used)], np.int64)
    result = np.full(len(facts), -1)
    result[is_outermost] = row_of_facts[facts[is_outermost]]
    for inner in np.flatnonzero(~is_outermost).tolist():
        path = [inner]  # outwards, until the row of the enclosing execution is known
        while result[parent[path[-1]]] < 0:
            path.append(int(parent[path[-1]]))
        for one in reversed(path):
            outer = operators[result[parent[one]]]
            result[one] = row(int(facts[one]), (*outer.scope, outer.name))
    return result


def devices_of(events: Events) -> Categorical[str]:
    """Return the device of each entry of `Events.facts`."""
    return Categorical.of([device_of(facts.provider) for facts in events.facts])


def tracks_of_nodes(
    events: Events, nodes: Nodes, devices: Categorical[str], side: Side, tracks: dict[Track, int]
) -> Indices:
    """Return the index of the track of each execution of a node. Add new tracks to `tracks`.

    A thread has a track for each device. Names of tracks have a running number, because the ids of
    threads differ from process to process.
    """
    threads = column(events.nodes.thread)[nodes.rows]
    device = devices.codes[nodes.facts]
    result = np.full(len(threads), -1)
    for number, thread in enumerate(dict.fromkeys(threads.tolist()), start=1):
        is_on_thread = threads == thread
        for code in dict.fromkeys(device[is_on_thread].tolist()):
            name = devices.categories[code] if code >= 0 else None
            is_cpu = name == _CPU_PROVIDER
            track = Track(
                f"thread {number}",
                side,
                name,
                "thread",
                resolution_s=RESOLUTION_S,
                device_kind=CPU if is_cpu else None,
                threads=events.threads if is_cpu else None,
            )
            index = tracks.setdefault(track, len(tracks))
            result[is_on_thread & (device == code)] = index
    return result

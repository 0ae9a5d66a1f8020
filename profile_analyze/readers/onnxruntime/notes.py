"""Findings on a profile: what is missing, what was repaired, and what the numbers include."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from profile_analyze.model.findings import Finding, Kind, on_operators
from profile_analyze.model.terms import KERNEL
from profile_analyze.readers.counted_times import CountedTimes
from profile_analyze.readers.onnxruntime.events import MOST_EVENTS
from profile_analyze.readers.overlaps import on_overlaps

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import TypeAlias

    from numpy.typing import NDArray

    from profile_analyze.readers.onnxruntime.events import Events
    from profile_analyze.readers.onnxruntime.executions import Recorded

    Flags: TypeAlias = NDArray[np.bool_]

_RENAMING: Final = (
    "the optimiser of ONNX Runtime named nodes after tensors; --model "
    "model.onnx --columns time,name,param.nodes shows the nodes of the model, --columns "
    "name,type,in_shapes,out_shapes tells them apart, and a profile with ORT_DISABLE_ALL has the "
    "names of the model"
)


def notes_on_file(events: Events, found: Recorded) -> Iterator[Finding]:
    """Yield findings on the events, and on the executions outside of complete runs."""
    left_out: dict[str, Any] = {"nodes": found.left_out_nodes, "kernels": found.left_out_kernels}
    if not events.has_end:
        runs = len(events.runs.start_us)
        yield Finding.of("cut-session", Kind.DAMAGED, **left_out, runs=runs)
    if events.count >= MOST_EVENTS:
        yield Finding.of("event-limit", Kind.INCOMPLETE, events=events.count, most=MOST_EVENTS)
    if any(left_out.values()) and events.has_end:
        yield Finding.of("incomplete-runs", Kind.INCOMPLETE, **left_out)
    yield from on_overlaps(found.overlaps)
    if lines := events.broken_lines:
        yield Finding.of(
            "unread-lines", Kind.WRONG, lines=len(lines), first=lines[0], lacking="json"
        )
    if lines := events.repaired_lines:
        yield Finding.of("repaired-names", Kind.CONTEXT, names=len(lines), first=lines[0])


def renaming(found: Recorded) -> str:
    """Return the text of `Origin.renaming`; empty if no node has a blocked layout.

    Nodes with blocked layouts show that the optimiser renamed nodes.
    """
    return _RENAMING if any(row.is_blocked for row in found.operators) else ""


def notes_on_operators(found: Recorded) -> Iterator[Finding]:
    """Yield findings on some of the operators, with the share of the time that these take."""
    times, rows = _counted_times(found), found.operators

    def on(code: str, kind: Kind, is_affected: Flags, **values: Any) -> Iterator[Finding]:
        share = times.share_of(is_affected)
        return on_operators(code, kind, int(is_affected.sum()), share, **values)

    is_node = np.array([row.level != KERNEL for row in rows], np.bool_)
    if is_node.all():
        yield from on("unrecorded-kernels", Kind.WRONG, found.is_launch)
    graph_of = [row.graph_of for row in rows]
    for provider in dict.fromkeys(filter(None, graph_of)):
        is_graph = np.array([one == provider for one in graph_of], np.bool_)
        yield from on("whole-graphs", Kind.INCOMPLETE, is_graph, provider=provider)
    is_blocked = np.array([row.is_blocked for row in rows], np.bool_)
    yield from on("padded-channels", Kind.WRONG, is_blocked, dropped_beside="model")
    has_shapes = np.array([row.call.in_shapes is not None for row in rows], np.bool_)
    is_unknown = is_node & np.array(
        [np.isnan(row.call.cost.work.computation) and row.graph_of is None for row in rows],
        np.bool_,
    )
    # If the file has the shapes of some nodes, ONNX Runtime records them, and others are damaged.
    file_format = None if has_shapes.any() else "ONNX Runtime profile"
    yield from on(
        *("no-shapes", Kind.INCOMPLETE, is_unknown & ~has_shapes),
        dropped_beside="model", file_format=file_format,
    )  # fmt: skip
    yield from on(
        *("underivable-work", Kind.INCOMPLETE, is_unknown & has_shapes),
        dropped_beside="model", facts=("type", "shapes"),
    )  # fmt: skip
    is_packed = np.array([bool(row.call.cost.packed_bytes) for row in rows], np.bool_)
    yield from on("packed-weights", Kind.CONTEXT, is_packed)
    nodes = Counter((row.scope, row.node, row.type) for row in rows)
    varies = np.array([nodes[row.scope, row.node, row.type] > 1 for row in rows], np.bool_)
    yield from on("several-shapes", Kind.CONTEXT, is_node & varies)


def _counted_times(found: Recorded) -> CountedTimes:
    """Return the times that add up to the total.

    If operators launched kernels, these are the times of the kernels, counted for the operators.
    Otherwise these are the times of operators, without the operators that ran inside them.
    """
    executions = found.executions
    launched = np.flatnonzero(executions.launched_by >= 0)
    if len(launched):
        operator = executions.operator[executions.launched_by[launched]]
        return CountedTimes(operator, executions.run[launched], executions.duration_s[launched])
    nested = np.flatnonzero(executions.parent >= 0)
    outer = executions.parent[nested]
    inside_s = np.bincount(outer, executions.duration_s[nested], len(executions))
    own_s = np.maximum(executions.duration_s - inside_s, 0.0)
    return CountedTimes(executions.operator, executions.run, own_s)

"""Notes on a profile: what is missing, what was repaired, and what the numbers include."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

import numpy as np

from profile_analyze.model.notes import Importance, Note, TextNote, notes_with_share, unknown_work
from profile_analyze.model.terms import KERNEL
from profile_analyze.readers.counted_times import CountedTimes
from profile_analyze.readers.onnxruntime.events import MOST_EVENTS
from profile_analyze.readers.overlaps import on_overlaps
from profile_analyze.units import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from profile_analyze.readers.onnxruntime.events import Events
    from profile_analyze.readers.onnxruntime.executions import Recorded

_RENAMING: Final = (
    "the optimiser of ONNX Runtime named nodes after tensors; --model "
    "model.onnx --columns time,name,param.nodes shows the nodes of the model, --columns "
    "name,type,in_shapes,out_shapes tells them apart, and a profile with ORT_DISABLE_ALL has the "
    "names of the model"
)

_LAUNCHES: Final = (
    "{} launching work on a device: host times only; builds of ONNX Runtime that profile the GPU "
    "record its kernels"
)
_GRAPHS: Final = "{{}} running a whole graph: the profiler of {} shows what is inside"
_PADDED: Final = (
    "{} have channels in blocks of 8 or 16 (NCHWc): computation and memory include channels that "
    "only pad a block, and the names are those of tensors; --model model.onnx --columns "
    "time,name,param.nodes shows the nodes of the model"
)
_DAMAGED_SHAPES: Final = "the computation of {} is unknown without shapes"
_NO_SHAPES: Final = (
    f"{_DAMAGED_SHAPES}; add --model model.onnx, or record with ONNX Runtime 1.14 or later"
)
_UNKNOWN: Final = unknown_work()
_WITHOUT_MODEL: Final = (_PADDED, _DAMAGED_SHAPES, _NO_SHAPES, _UNKNOWN)
_PACKED: Final = (
    "weights of {} were packed in advance: their shapes are derived; the session option "
    "session.disable_prepacking=1 records these shapes"
)
_SEVERAL_SHAPES: Final = (
    "{} belong to nodes with several shapes, which have a row for each shape; the column in_shapes "
    "tells the rows apart"
)


def notes_on_file(events: Events, found: Recorded) -> Iterator[Note]:
    """Yield notes on the events, and on the executions outside of complete runs."""
    left_out = _left_out(found)
    if not events.has_end:
        yield _note_on_end(events, left_out)
    if events.count >= MOST_EVENTS:
        yield TextNote(
            f"the file has {events.count} events, and ONNX Runtime records no more than "
            f"{MOST_EVENTS}: runs may be missing; profile fewer runs",
            Importance.INCOMPLETE,
        )
    if left_out and events.has_end:
        yield TextNote(
            f"left out {left_out} outside of complete runs (events model_run)",
            Importance.INCOMPLETE,
        )
    yield from on_overlaps(found.overlaps)
    if lines := events.broken_lines:
        yield TextNote(
            f"left out {counted(len(lines), 'line')} without valid JSON; the first is line "
            f"{lines[0]}",
            Importance.WRONG,
        )
    if lines := events.repaired_lines:
        yield TextNote(
            f"read {counted(len(lines), 'name')} with quotes, backslashes or bytes that JSON "
            f"forbids, the first in line {lines[0]}; ONNX Runtime 1.31 and later write valid names",
            Importance.CONTEXT,
        )


def _note_on_end(events: Events, left_out: str) -> Note:
    """Return the note that the file ends in the middle. `left_out` is a result of `_left_out`."""
    lost = f": left out {left_out} in an incomplete run" if left_out else ", so runs may be missing"
    # Profiling begins with the session, so the first run in the file warms the session up.
    warm_up = (
        "; the only complete run is the first, and first runs are usually slower"
        if len(events.runs.start_us) == 1
        else ""
    )
    return TextNote(
        f"the file ends in the middle{lost}; copy it again, or end the session's profiling before "
        f"the program ends{warm_up}",
        Importance.DAMAGED,
    )


def _left_out(found: Recorded) -> str:
    """Return how many executions of nodes and kernels were left out; empty if none was."""
    counts = {"nodes": found.left_out_nodes, "kernels": found.left_out_kernels}
    return " and ".join(
        f"{counted(count, 'execution')} of {what}" for what, count in counts.items() if count
    )


def renaming(found: Recorded) -> str:
    """Return the text of `Origin.renaming`; empty if no node has a blocked layout.

    Nodes with blocked layouts show that the optimiser renamed nodes.
    """
    return _RENAMING if any(row.is_blocked for row in found.operators) else ""


def notes_on_operators(found: Recorded) -> Iterator[Note]:
    """Yield notes on some of the operators, with the share of the time that these take."""
    times = _counted_times(found)
    for is_affected, text, importance in _affected(found):
        yield from notes_with_share(
            text, importance, int(is_affected.sum()), times.share_of(is_affected),
            dropped_beside="model" if text in _WITHOUT_MODEL else "",
        )  # fmt: skip


def _affected(found: Recorded) -> Iterator[tuple[NDArray[np.bool_], str, Importance]]:
    """Yield, for each note, which operators it is about, its text and its importance."""
    rows = found.operators
    is_node = np.array([row.level != KERNEL for row in rows], np.bool_)
    if is_node.all():
        yield found.is_launch, _LAUNCHES, Importance.WRONG
    graph_of = [row.graph_of for row in rows]
    for provider in dict.fromkeys(filter(None, graph_of)):
        is_graph = np.array([one == provider for one in graph_of], np.bool_)
        yield is_graph, _GRAPHS.format(provider), Importance.INCOMPLETE
    is_blocked = np.array([row.is_blocked for row in rows], np.bool_)
    yield is_blocked, _PADDED, Importance.WRONG
    has_shapes = np.array([row.call.in_shapes is not None for row in rows], np.bool_)
    is_unknown = np.array(
        [np.isnan(row.call.cost.work.computation) and row.graph_of is None for row in rows],
        np.bool_,
    )
    # If the file has the shapes of some nodes, ONNX Runtime records them, and others are damaged.
    without_shapes = _DAMAGED_SHAPES if has_shapes.any() else _NO_SHAPES
    yield is_node & is_unknown & ~has_shapes, without_shapes, Importance.INCOMPLETE
    yield is_node & is_unknown & has_shapes, _UNKNOWN, Importance.INCOMPLETE
    is_packed = np.array([bool(row.call.cost.packed_bytes) for row in rows], np.bool_)
    yield is_packed, _PACKED, Importance.CONTEXT
    nodes = Counter((row.scope, row.node, row.type) for row in rows)
    varies = np.array([nodes[row.scope, row.node, row.type] > 1 for row in rows], np.bool_)
    yield is_node & varies, _SEVERAL_SHAPES, Importance.CONTEXT


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

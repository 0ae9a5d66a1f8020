"""Notes on profiles of OpenVINO: what is missing, and how to read the numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from profile_analyze.model.notes import (
    Importance,
    Note,
    TextNote,
    counted_and_time,
    notes_with_share,
    unknown_work,
)
from profile_analyze.model.terms import CONTROL
from profile_analyze.readers.counted_times import share_of_total
from profile_analyze.readers.openvino.terms import CONSTANTS, FUSED_TYPE, INPUTS, dtype_of
from profile_analyze.units import US_PER_S

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from profile_analyze.readers.openvino.layers import Layer
    from profile_analyze.readers.openvino.work import Row

_REDUCED: Final = ("bf16", "fp16")
_KEEPS_FP32: Final = (
    "-infer_precision f32 of benchmark_app, or the property INFERENCE_PRECISION_HINT, keeps fp32"
)
_STORED_TEXT: Final = "the compute dtype of {} is {}, the dtype of inputs or constants of the model"
_CHOSEN_TEXT: Final = (
    "the compute dtype of {} is {}, which OpenVINO chooses by itself on devices that support it; "
    + _KEEPS_FP32
)
_UNCLEAR_TEXT: Final = "the compute dtype of {} is {}; if the model is in fp32, " + _KEEPS_FP32
_FUSED_TEXT: Final = (
    "the computation of {} is unknown: a Subgraph runs several operators in one, and the file does "
    "not say which"
)
_UNKNOWN_TEXT: Final = f"{unknown_work()}; the ONNX model that ran may give it: --model model.onnx"
NO_TIMES: Final = (
    "the graph has no times, because profiling was off: -pc of benchmark_app, or the property "
    "PERF_COUNT, switches it on"
)
NO_INFERENCE: Final = (
    "the graph has no times of an inference, because it was written before the first one"
)
NO_SHAPES: Final = (
    "counters have no shapes: computation and memory need --model graph.xml, the execution graph "
    "that -exec_graph_path of benchmark_app writes"
)


def notes_on_graph(
    rows: Sequence[Row], layers: Iterable[Layer], run_once: Sequence[Layer]
) -> Iterator[Note]:
    """Yield notes on an execution graph. `run_once` has the layers that ran at compilation."""
    if all(row.layer.time_us is None for row in rows):
        text = NO_INFERENCE if run_once else NO_TIMES
        yield TextNote(text, Importance.ANSWER, dropped_beside="profile")
    if run_once:
        time_s = sum(layer.time_us or 0.0 for layer in run_once) / US_PER_S
        yield TextNote(
            f"left out {counted_and_time(len(run_once), 'layer')} with only constant inputs, which "
            "ran once, when OpenVINO compiled the model",
            Importance.INCOMPLETE,
            time_s,
            dropped_beside="profile",
        )
    ran = [row for row in rows if row.layer.time_us is not None] or [*rows]
    times = [row.layer.time_us or 0.0 for row in ran]
    stored = {
        dtype_of(port.precision)
        for layer in layers
        if layer.type.lower() in INPUTS | CONSTANTS
        for port in layer.outputs
    }
    yield from reduced_precision([row.dtype for row in ran], times, stored=stored)
    unknown = [
        row.cost.work.computation != row.cost.work.computation  # NaN is unknown
        and row.cost.category != CONTROL
        for row in ran
    ]
    is_fused = [row.layer.type.lower() == FUSED_TYPE for row in ran]
    for text, is_affected in (
        (_FUSED_TEXT, [one and fused for one, fused in zip(unknown, is_fused, strict=True)]),
        (_UNKNOWN_TEXT, [one and not fused for one, fused in zip(unknown, is_fused, strict=True)]),
    ):
        yield from _affected(text, is_affected, times, Importance.INCOMPLETE)


def reduced_precision(
    dtypes: Iterable[str | None], times: Sequence[float], *, stored: Collection[str | None] | None
) -> Iterator[Note]:
    """Yield a note for each 16-bit dtype in which operators compute.

    `stored` has the dtypes of the model's inputs and constants; None if they are unknown.
    """
    dtypes = [*dtypes]
    for dtype in _REDUCED:
        text, importance = _UNCLEAR_TEXT, Importance.WRONG
        if stored is not None and dtype in stored:
            text, importance = _STORED_TEXT, Importance.CONTEXT
        elif stored is not None and "fp32" in stored:
            text = _CHOSEN_TEXT
        is_affected = [one == dtype for one in dtypes]
        # The first {} stays: `_affected` fills it.
        yield from _affected(text.format("{}", dtype), is_affected, times, importance)


def _affected(
    text: str, is_affected: Sequence[bool], times: Sequence[float], importance: Importance
) -> Iterator[Note]:
    """Yield a note on the affected operators, with their share of the time."""
    affected = sum(time for time, is_one in zip(times, is_affected, strict=True) if is_one)
    share = share_of_total(affected, sum(times))
    yield from notes_with_share(
        text, importance, sum(is_affected), share,
        dropped_beside="model" if text in (_FUSED_TEXT, _UNKNOWN_TEXT) else "",
    )  # fmt: skip

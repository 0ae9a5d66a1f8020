"""Notes on profiles of OpenVINO: what is missing, and what the numbers are not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from profile_analyze.model.notes import Importance, Note, operators_and_share
from profile_analyze.model.terms import CONTROL
from profile_analyze.readers.openvino.terms import FUSED_TYPE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from profile_analyze.readers.openvino.graph import Row

_REDUCED: Final = ("bf16", "fp16")
_REDUCED_TEXT: Final = (
    "{} compute in {}, which OpenVINO chooses by itself on devices that support it; "
    "-infer_precision f32 of benchmark_app, or the property INFERENCE_PRECISION_HINT, keeps fp32"
)
_FUSED_TEXT: Final = (
    "the computation of {} is unknown: a Subgraph runs several operators in one, and the file does "
    "not say which"
)
_UNKNOWN_TEXT: Final = "the computation of {} does not follow from their types and shapes"
NO_TIMES: Final = (
    "the graph has no times, because profiling was off: -pc of benchmark_app, or the property "
    "PERF_COUNT, switches it on"
)
NO_SHAPES: Final = (
    "counters have no shapes: computation and memory need --model graph.xml, the execution graph "
    "that -exec_graph_path of benchmark_app writes"
)


def notes_on_graph(rows: Sequence[Row]) -> Iterator[Note]:
    """Yield notes on an execution graph."""
    if all(row.layer.time_us is None for row in rows):
        yield Note(NO_TIMES, Importance.INCOMPLETE)
    ran = [row for row in rows if row.layer.time_us is not None] or [*rows]
    times = [row.layer.time_us or 0.0 for row in ran]
    yield from reduced_precision([row.dtype for row in ran], times)
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


def reduced_precision(dtypes: Iterable[str | None], times: Sequence[float]) -> Iterator[Note]:
    """Yield a note for each dtype of less than 32 bits that operators compute in."""
    dtypes = [*dtypes]
    for dtype in _REDUCED:
        text = _REDUCED_TEXT.format("{}", dtype)
        yield from _affected(text, [one == dtype for one in dtypes], times, Importance.WRONG)


def _affected(
    text: str, is_affected: Sequence[bool], times: Sequence[float], importance: Importance
) -> Iterator[Note]:
    """Yield a note on some operators, with their share of the time."""
    if not any(is_affected):
        return
    total = sum(times)
    affected = sum(time for time, is_one in zip(times, is_affected, strict=True) if is_one)
    share = affected / total if total else float("nan")
    is_without_model = text in (_FUSED_TEXT, _UNKNOWN_TEXT)
    text = text.format(operators_and_share(sum(is_affected)))
    yield Note(text, importance, share, is_without_model=is_without_model)

"""Notes on profiles of OpenVINO: what is missing, and how to read the numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from profile_analyze.model.findings import Finding, Kind, on_operators
from profile_analyze.model.terms import CONTROL
from profile_analyze.readers.counted_times import share_of_total
from profile_analyze.readers.openvino.terms import CONSTANTS, FUSED_TYPE, INPUTS, dtype_of
from profile_analyze.units import US_PER_S

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from profile_analyze.readers.openvino.layers import Layer
    from profile_analyze.readers.openvino.work import Row

_REDUCED: Final = ("bf16", "fp16")


def notes_on_graph(
    rows: Sequence[Row], layers: Iterable[Layer], run_once: Sequence[Layer]
) -> Iterator[Finding]:
    """Yield notes on an execution graph. `run_once` has the layers that ran at compilation."""
    if all(row.layer.time_us is None for row in rows):
        code = "written-before-inference" if run_once else "profiling-off"
        yield Finding.of(code, Kind.ANSWER, dropped_beside="profile")
    if run_once:
        time_s = sum(layer.time_us or 0.0 for layer in run_once) / US_PER_S
        yield Finding.of(
            *("constant-layers", Kind.INCOMPLETE),
            time_s=time_s, dropped_beside="profile", layers=len(run_once),
        )  # fmt: skip
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
    in_subgraphs = [a and b for a, b in zip(unknown, is_fused, strict=True)]
    others = [a and not b for a, b in zip(unknown, is_fused, strict=True)]
    yield from _affected(
        "unknown-subgraph", Kind.INCOMPLETE, in_subgraphs, times, dropped_beside="model"
    )
    yield from _affected(
        *("underivable-work", Kind.INCOMPLETE, others, times),
        dropped_beside="model", facts=("type", "shapes"), is_in_model=True,
    )  # fmt: skip


def reduced_precision(
    dtypes: Iterable[str | None], times: Sequence[float], *, stored: Collection[str | None] | None
) -> Iterator[Finding]:
    """Yield a note for each 16-bit dtype in which operators compute.

    `stored` has the dtypes of the model's inputs and constants; None if they are unknown.
    """
    dtypes = [*dtypes]
    for dtype in _REDUCED:
        origin, kind = "unclear", Kind.WRONG
        if stored is not None and dtype in stored:
            origin, kind = "stored", Kind.CONTEXT
        elif stored is not None and "fp32" in stored:
            origin = "chosen"
        is_affected = [one == dtype for one in dtypes]
        yield from _affected(
            "reduced-precision", kind, is_affected, times, dtype=dtype, origin=origin
        )


def _affected(
    code: str, kind: Kind, is_affected: Sequence[bool], times: Sequence[float], **values: Any
) -> Iterator[Finding]:
    """Yield a finding on the affected operators, with their share of the time."""
    affected = sum(time for time, is_one in zip(times, is_affected, strict=True) if is_one)
    share = share_of_total(affected, sum(times))
    yield from on_operators(code, kind, sum(is_affected), share, **values)

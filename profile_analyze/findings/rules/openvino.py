"""Rules on execution graphs and counters of OpenVINO."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from profile_analyze.findings.rule import Rule
from profile_analyze.units import MS_PER_S, counted

if TYPE_CHECKING:
    from profile_analyze.findings.rule import Words

_KEEPS_FP32: Final = (
    "-infer_precision f32 of benchmark_app, or the property INFERENCE_PRECISION_HINT, keeps fp32"
)
_WHY: Final = {
    "stored": ", the dtype of inputs or constants of the model",
    "chosen": (", which OpenVINO chooses by itself on devices that support it; " + _KEEPS_FP32),
    "unclear": "; if the model is in fp32, " + _KEEPS_FP32,
}


def _reduced_precision(
    words: Words, *, operators: int, dtype: str, origin: Literal["stored", "chosen", "unclear"]
) -> str:
    some = f"{counted(operators, 'operator')}{words.sized}"
    return f"the compute dtype of {some} is {dtype}{_WHY[origin]}"


def _other_total(_: Words, *, found_s: float, stated_s: float) -> str:
    # The file has milliseconds with three decimals, so the two sums can be compared with it.
    return (
        f"the layers add up to {found_s * MS_PER_S:.3f} ms, but the file states a total of "
        f"{stated_s * MS_PER_S:.3f} ms: layers are missing or were changed"
    )


RULES: Final = (
    Rule(
        "profiling-off",
        "the graph has no times, because profiling was off",
        "the graph has no times, because profiling was off: -pc of benchmark_app, or the property "
        "PERF_COUNT, switches it on",
    ),
    Rule(
        "written-before-inference",
        "the graph was written before the first inference",
        "the graph has no times of an inference, because it was written before the first one",
    ),
    Rule(
        "constant-layers",
        "layers with only constant inputs ran once, at compilation",
        "left out {layers:layer}{size} with only constant inputs, which ran once, when OpenVINO "
        "compiled the model",
    ),
    Rule(
        "reduced-precision",
        "operators compute in a 16-bit dtype",
        _reduced_precision,
        limits="the dtype of the model, if only counters are given",
    ),
    Rule(
        "unknown-subgraph",
        "the file does not say which operators a Subgraph runs",
        "the computation of {operators:operator}{size} is unknown: a Subgraph runs several "
        "operators in one, and the file does not say which",
    ),
    Rule(
        "counters-without-shapes",
        "counters have no shapes, so computation and memory are unknown",
        "counters have no shapes: computation and memory need --model graph.xml, the execution "
        "graph that -exec_graph_path of benchmark_app writes",
    ),
    Rule(
        "unknown-order",
        "the layers are sorted by their time",
        "the layers are sorted by their time, so the order of execution is not known; a report of "
        "type detailed_counters has this order",
    ),
    Rule(
        "one-layer-of-average-counters",
        "benchmark_app wrote only the first layer",
        "the file has one layer, because benchmark_app writes only the first layer of average "
        "counters as JSON; use detailed_counters, or CSV (without -json_stats)",
    ),
    Rule(
        "cut-counters",
        "the file ends before the total",
        "the file ends before the total, so layers may be missing; copy it again",
    ),
    Rule(
        "other-total",
        "the layers do not add up to the stated total",
        _other_total,
        threshold="half a unit of the last digit for each number",
    ),
)

"""The sentences of the rules on execution graphs and counters of OpenVINO."""

from __future__ import annotations

import pytest

from profile_analyze.findings.sentences import sentence
from profile_analyze.model.findings import Finding, Kind
from tests.findings.rules import codes_of, untested

SENTENCES = (
    (
        Finding.of("profiling-off", Kind.ANSWER),
        "the graph has no times, because profiling was off: -pc of benchmark_app, or the "
        "property PERF_COUNT, switches it on",
    ),
    (
        Finding.of("written-before-inference", Kind.ANSWER),
        "the graph has no times of an inference, because it was written before the first one",
    ),
    (
        Finding.of("constant-layers", Kind.INCOMPLETE, time_s=0.0116, layers=2),
        "left out 2 layers (11.6 ms) with only constant inputs, which ran once, when "
        "OpenVINO compiled the model",
    ),
    (
        Finding.of(
            "reduced-precision", Kind.WRONG, share=0.5, operators=2, dtype="bf16", origin="stored"
        ),
        "the compute dtype of 2 operators (50.0% of the time) is bf16, the dtype of inputs "
        "or constants of the model",
    ),
    (
        Finding.of(
            "reduced-precision", Kind.WRONG, share=0.5, operators=2, dtype="bf16", origin="chosen"
        ),
        "the compute dtype of 2 operators (50.0% of the time) is bf16, which OpenVINO "
        "chooses by itself on devices that support it; -infer_precision f32 of "
        "benchmark_app, or the property INFERENCE_PRECISION_HINT, keeps fp32",
    ),
    (
        Finding.of(
            "reduced-precision", Kind.WRONG, share=0.5, operators=2, dtype="bf16", origin="unclear"
        ),
        "the compute dtype of 2 operators (50.0% of the time) is bf16; if the model is in "
        "fp32, -infer_precision f32 of benchmark_app, or the property "
        "INFERENCE_PRECISION_HINT, keeps fp32",
    ),
    (
        Finding.of("unknown-subgraph", Kind.INCOMPLETE, share=0.5, operators=1),
        "the computation of 1 operator (50.0% of the time) is unknown: a Subgraph runs "
        "several operators in one, and the file does not say which",
    ),
    (
        Finding.of("counters-without-shapes", Kind.INCOMPLETE),
        "counters have no shapes: computation and memory need --model graph.xml, the "
        "execution graph that -exec_graph_path of benchmark_app writes",
    ),
    (
        Finding.of("unknown-order", Kind.INCOMPLETE),
        "the layers are sorted by their time, so the order of execution is not known; a "
        "report of type detailed_counters has this order",
    ),
    (
        Finding.of("one-layer-of-average-counters", Kind.DAMAGED),
        "the file has one layer, because benchmark_app writes only the first layer of "
        "average counters as JSON; use detailed_counters, or CSV (without -json_stats)",
    ),
    (
        Finding.of("cut-counters", Kind.DAMAGED),
        "the file ends before the total, so layers may be missing; copy it again",
    ),
    (
        Finding.of("other-total", Kind.DAMAGED, found_s=0.0012345, stated_s=0.002),
        "the layers add up to 1.234 ms, but the file states a total of 2.000 ms: layers are "
        "missing or were changed",
    ),
)


@pytest.mark.parametrize(("finding", "text"), SENTENCES)
def test_sentences(finding: Finding, text: str) -> None:
    assert sentence(finding) == text


def test_each_rule_has_a_sentence_here() -> None:
    assert untested(codes_of("openvino"), SENTENCES) == []

"""The sentences of the rules on profiles of ONNX Runtime."""

from __future__ import annotations

import pytest

from profile_analyze.findings.sentences import sentence
from profile_analyze.model.findings import Finding, Kind
from tests.findings.rules import codes_of, untested


def cut(nodes: int = 0, kernels: int = 0, runs: int = 2) -> Finding:
    return Finding.of("cut-session", Kind.DAMAGED, nodes=nodes, kernels=kernels, runs=runs)


SENTENCES = (
    (
        cut(),
        "the file ends in the middle, so runs may be missing; copy it again, or end the session's "
        "profiling before the program ends",
    ),
    (
        cut(nodes=19, runs=1),
        "the file ends in the middle: left out 19 executions of nodes in an incomplete run; copy "
        "it again, or end the session's profiling before the program ends; the only complete run "
        "is the first, and first runs are usually slower",
    ),
    (
        cut(kernels=1),
        "the file ends in the middle: left out 1 execution of kernels in an incomplete run; copy "
        "it again, or end the session's profiling before the program ends",
    ),
    (
        Finding.of("event-limit", Kind.INCOMPLETE, events=1000000, most=1000000),
        "the file has 1000000 events, and ONNX Runtime records no more than 1000000: runs may be "
        "missing; profile fewer runs",
    ),
    (
        Finding.of("incomplete-runs", Kind.INCOMPLETE, nodes=1, kernels=2),
        "left out 1 execution of nodes and 2 executions of kernels outside of complete runs "
        "(events model_run)",
    ),
    (
        Finding.of("repaired-names", Kind.CONTEXT, names=1, first=2),
        "read 1 name with quotes, backslashes or bytes that JSON forbids, the first in line 2; "
        "ONNX Runtime 1.31 and later write valid names",
    ),
    (
        Finding.of("unrecorded-kernels", Kind.WRONG, share=0.8, operators=1),
        "1 operator (80.0% of the time) launching work on a device: host times only; builds of "
        "ONNX Runtime that profile the GPU record its kernels",
    ),
    (
        Finding.of("whole-graphs", Kind.INCOMPLETE, share=1.0, operators=2, provider="Dml"),
        "2 operators (100.0% of the time) running a whole graph: the profiler of Dml shows what is "
        "inside",
    ),
    (
        Finding.of("padded-channels", Kind.WRONG, share=0.9, operators=29),
        "29 operators (90.0% of the time) have channels in blocks of 8 or 16 (NCHWc): computation "
        "and memory include channels that only pad a block, and the names are those of tensors; "
        "--model model.onnx --columns time,name,param.nodes shows the nodes of the model",
    ),
    (
        Finding.of("packed-weights", Kind.CONTEXT, share=0.5, operators=2),
        "weights of 2 operators (50.0% of the time) were packed in advance: their shapes are "
        "derived; the session option session.disable_prepacking=1 records these shapes",
    ),
    (
        Finding.of("several-shapes", Kind.CONTEXT, share=1.0, operators=2),
        "2 operators (100.0% of the time) belong to nodes with several shapes, which have a row "
        "for each shape; the column in_shapes tells the rows apart",
    ),
)


@pytest.mark.parametrize(("finding", "text"), SENTENCES)
def test_sentences(finding: Finding, text: str) -> None:
    assert sentence(finding) == text


def test_each_rule_has_a_sentence_here() -> None:
    assert untested(codes_of("onnxruntime"), SENTENCES) == []

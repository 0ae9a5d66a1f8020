"""The sentences of the rules on files."""

from __future__ import annotations

import pytest

from profile_analyze.findings.sentences import sentence
from profile_analyze.model.findings import Finding, Kind
from tests.findings.rules import codes_of, untested

SENTENCES = (
    (
        Finding.of("unread-files", Kind.INCOMPLETE, files=1, first="a.json", reason="is empty"),
        "left out 1 file that cannot be read: a.json: is empty",
    ),
    (
        Finding.of("unread-files", Kind.INCOMPLETE, files=3, first="a.json", reason="is empty"),
        "left out 3 files that cannot be read: a.json: is empty; and 2 more",
    ),
    (
        Finding.of("unkept-profile", Kind.CONTEXT, folder="/cache", reason="not a directory"),
        "/cache: the decoded profile cannot be kept for the next question: not a directory; "
        "--cache names another folder, and --no-cache keeps nothing",
    ),
    (
        Finding.of(
            "underivable-work", Kind.INCOMPLETE, share=0.5, operators=1, facts=["type", "shapes"]
        ),
        "the computation of 1 operator (50.0% of the time) cannot be derived from type and shapes",
    ),
    (
        Finding.of(
            *("underivable-work", Kind.INCOMPLETE),
            operators=2,
            facts=["type", "shapes", "parameters"],
            is_in_model=True,
        ),
        "the computation of 2 operators cannot be derived from type, shapes and parameters; the "
        "ONNX model that ran may give it: --model model.onnx",
    ),
    (
        Finding.of(
            "stored-note",
            Kind.WRONG,
            share=0.5,
            text="2 operators\N{OBJECT REPLACEMENT CHARACTER} x",
        ),
        "2 operators (50.0% of the time) x",
    ),
    (
        Finding.of(
            "no-shapes", Kind.INCOMPLETE, share=0.75, operators=1, file_format="PyTorch trace"
        ),
        "the computation of 1 operator (75.0% of the time) is unknown without shapes; record with "
        "record_shapes=True",
    ),
    (
        Finding.of("no-shapes", Kind.INCOMPLETE, operators=2, file_format="ONNX Runtime profile"),
        "the computation of 2 operators is unknown without shapes; add --model model.onnx, or "
        "record with ONNX Runtime 1.14 or later",
    ),
    (
        Finding.of("no-shapes", Kind.INCOMPLETE, operators=5, file_format="MIGraphX report"),
        "the computation of 5 operators is unknown without shapes; keep the lines of instructions, "
        "or record with migraphx-driver perf --detailed",
    ),
    (
        Finding.of(
            *("no-shapes", Kind.CONTEXT),
            share=1.0,
            operators=7,
            file_format="TensorFlow Lite benchmark",
        ),
        "the computation of 7 operators (100.0% of the time) is unknown: tables of TensorFlow Lite "
        "have no shapes, and --model cannot read .tflite files",
    ),
    (
        Finding.of("no-shapes", Kind.INCOMPLETE, operators=2, file_format=None),
        "the computation of 2 operators is unknown without shapes",
    ),
    (
        Finding.of("unread-lines", Kind.WRONG, lines=1, first=3, lacking="json"),
        "left out 1 line without valid JSON; the first is line 3",
    ),
    (
        Finding.of("unread-lines", Kind.WRONG, lines=1, first=7, lacking="layer"),
        "left out 1 line without a layer; the first is line 7",
    ),
    (
        Finding.of("unread-lines", Kind.INCOMPLETE, lines=2, first=3, lacking="node"),
        "left out 2 table lines without a node; the first is line 3",
    ),
    (
        Finding.of("overlapping-events", Kind.WRONG, events=1, excess_s=50e-6),
        "1 event partly overlaps another event of the same thread, by 50.0 us in total: no thread "
        "can run both, so sums may be wrong",
    ),
    (
        Finding.of("overlapping-events", Kind.WRONG, events=2, excess_s=100e-6),
        "2 events partly overlap another event of the same thread, by 100 us in total: no thread "
        "can run both, so sums may be wrong",
    ),
)


@pytest.mark.parametrize(("finding", "text"), SENTENCES)
def test_sentences(finding: Finding, text: str) -> None:
    assert sentence(finding) == text


def test_each_rule_has_a_sentence_here() -> None:
    assert untested(codes_of("files"), SENTENCES) == []

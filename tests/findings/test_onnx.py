"""The sentences of the rules on ONNX models."""

from __future__ import annotations

import pytest

from profile_analyze.findings.sentences import sentence
from profile_analyze.model.findings import Finding, Kind
from tests.findings.rules import codes_of, untested

SENTENCES = (
    (
        Finding.of("unknown-types", Kind.INCOMPLETE, operators=3, types=["a.B", "C"], more=1),
        "work, and output shapes that the file does not store, are N/A for 3 operators of "
        "unknown type: a.B, C and 1 more",
    ),
    (
        Finding.of("unknown-types", Kind.INCOMPLETE, operators=1, types=["C"], more=0),
        "work, and output shapes that the file does not store, are N/A for 1 operator of "
        "unknown type: C",
    ),
    (
        Finding.of(
            "dynamic-inputs",
            Kind.INCOMPLETE,
            inputs=2,
            names="x, y",
            options="--dim n=SIZE",
            replacements=["a", "b"],
        ),
        "shapes that depend on 2 dynamic inputs are N/A: x, y; give all sizes, with a and b: "
        "--dim n=SIZE",
    ),
    (
        Finding.of("changed-sizes", Kind.INCOMPLETE, changes="x (axis 0: 2 to 8)"),
        "sizes differ from the model's: x (axis 0: 2 to 8); values of operators that cannot "
        "run with these sizes are N/A",
    ),
    (
        Finding.of("several-sizes", Kind.INCOMPLETE, symbols=1, names="n (2, 5)"),
        "1 symbol with several sizes: n (2, 5); each axis has the size that its own "
        "--input-shape gives",
    ),
    (
        Finding.of("empty-inputs", Kind.INCOMPLETE, inputs=1, names="x"),
        "1 input of size 0: x; operators do no work on tensors without elements",
    ),
    (
        Finding.of("contradicting-sizes", Kind.INCOMPLETE, operators=1, names="fc (MatMul)"),
        "1 operator cannot run with these sizes: fc (MatMul); this work, and all work that "
        "depends on it, is N/A",
    ),
    (
        Finding.of(
            "weights-in-other-files",
            Kind.INCOMPLETE,
            tensors=3,
            first="w.bin",
            files=1,
            where="missing",
        ),
        "the values of 3 tensors are in w.bin, not found beside the model; to get the "
        "sparsity of these values, copy the file there",
    ),
    (
        Finding.of(
            "weights-in-other-files",
            Kind.INCOMPLETE,
            tensors=1,
            first="w.bin",
            files=2,
            where="elsewhere",
        ),
        "the values of 1 tensor are in w.bin and 1 other file, not a regular file in the "
        "folder of the model; to get the sparsity of these values, copy the files there",
    ),
    (
        Finding.of(
            "weights-in-other-files",
            Kind.INCOMPLETE,
            tensors=1,
            first="w.bin",
            files=1,
            where="url",
        ),
        "the values of 1 tensor are in w.bin, not read from a URL; to get the sparsity of "
        "these values, copy the model and the file to a local folder",
    ),
    (
        Finding.of("unknown-sparsity", Kind.INCOMPLETE, weights=1, reason="computed"),
        "the sparsity of 1 weight is N/A: nodes compute the values",
    ),
    (
        Finding.of("unknown-sparsity", Kind.INCOMPLETE, weights=2, reason="unreadable"),
        "the sparsity of 2 weights is N/A: the values cannot be read",
    ),
    (
        Finding.of(
            "convolutions-without-tiles",
            Kind.CONTEXT,
            convolutions=2,
            option="--split-matmul 1,2,3,conv",
        ),
        "the columns on tiles leave out 2 convolutions; --split-matmul 1,2,3,conv counts "
        "convolutions as the products that im2col makes",
    ),
)


@pytest.mark.parametrize(("finding", "text"), SENTENCES)
def test_sentences(finding: Finding, text: str) -> None:
    assert sentence(finding) == text


def test_each_rule_has_a_sentence_here() -> None:
    assert untested(codes_of("onnx"), SENTENCES) == []

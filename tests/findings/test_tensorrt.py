"""The sentences of the rules on profiles and engines of TensorRT."""

from __future__ import annotations

import pytest

from profile_analyze.findings.sentences import sentence
from profile_analyze.model.findings import Finding, Kind
from tests.findings.rules import codes_of, untested

UNREAD = {"file": "net.json", "reason": "is empty"}


def of_other_profiles(operators: int, *, shown: bool, share: float) -> Finding:
    return Finding.of(
        *("other-optimization-profiles", Kind.CONTEXT),
        share=share, operators=operators, shown=shown,
    )  # fmt: skip


def undescribed(operators: int, types: str) -> Finding:
    return Finding.of(
        "undescribed-work", Kind.INCOMPLETE, operators=operators, types=types.split(" ")
    )


SENTENCES = (
    (
        Finding.of("engine-without-times", Kind.ANSWER, beside="net.profile.json"),
        "a description of an engine has no times; net.profile.json beside it has them; name that "
        "file",
    ),
    (
        Finding.of("engine-without-times", Kind.ANSWER, beside=None),
        "a description of an engine has no times; name the file that trtexec --exportProfile=FILE "
        "writes, and this one after --model",
    ),
    (
        of_other_profiles(1, shown=True, share=float("nan")),
        "totals leave out 1 operator of other optimization profiles; the column scope names the "
        "profile",
    ),
    (
        of_other_profiles(2, shown=False, share=0.4),
        "left out 2 operators (40.0% of the time) of other optimization profiles: an inference "
        "uses only one profile",
    ),
    (
        undescribed(1, "kg\ten"),
        "the description does not say what 1 operator computes, so the computation is N/A: kg\\ten",
    ),
    (
        undescribed(9, "a b c d e f"),
        "the description does not say what 9 operators compute, so the computation is N/A: a, b, "
        "c, d and 2 more",
    ),
    (
        Finding.of("no-description", Kind.INCOMPLETE, file=None, reason=None),
        "no types, shapes or work: pass --model graph.json, which trtexec "
        "--exportLayerInfo=graph.json --profilingVerbosity=detailed writes",
    ),
    (
        Finding.of("no-description", Kind.INCOMPLETE, **UNREAD),
        "no types, shapes or work, because the description cannot be read: net.json: is empty",
    ),
    (
        Finding.of("unread-metadata", Kind.CONTEXT, **UNREAD),
        "no device or latencies from a file beside the profile: net.json: is empty",
    ),
    (
        Finding.of("unread-inferences", Kind.CONTEXT, **UNREAD),
        "no times of whole inferences, because they cannot be read: net.json: is empty",
    ),
    (
        Finding.of("inferences-beside", Kind.CONTEXT, file="net.times.json", inferences=4),
        "the wall time and the latency are from net.times.json: 4 inferences, perhaps with the "
        "warm-up of trtexec",
    ),
)


@pytest.mark.parametrize(("finding", "text"), SENTENCES)
def test_sentences(finding: Finding, text: str) -> None:
    assert sentence(finding) == text


def test_each_rule_has_a_sentence_here() -> None:
    assert untested(codes_of("tensorrt"), SENTENCES) == []

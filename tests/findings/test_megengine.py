"""The sentences of the rules on profiles and timelines of MegEngine."""

from __future__ import annotations

import pytest

from profile_analyze.findings.sentences import sentence
from profile_analyze.model.findings import Finding, Kind
from tests.findings.rules import codes_of, untested

SENTENCES = (
    (
        Finding.of("unmatched-entries", Kind.INCOMPLETE, entries=1, section="host"),
        "left out 1 entry of the section host with an id that no operator has",
    ),
    (
        Finding.of("entries-without-track", Kind.INCOMPLETE, entries=2, section="device"),
        "left out 2 entries of the section device without a thread or comp node",
    ),
    (
        Finding.of("stale-shapes", Kind.WRONG, share=0.5, operators=10),
        "the shapes of 10 operators (50.0% of the time) changed between runs: computation, "
        "memory and shapes are from the first run, but times are from the last, so their "
        "FLOPS and bandwidth are wrong; profile with one input shape",
    ),
    (
        Finding.of("unknown-stale-shapes", Kind.CONTEXT),
        "the shapes of the runs cannot be compared: static_infer_tags are null",
    ),
    (
        Finding.of("negative-work", Kind.INCOMPLETE, share=0.5, operators=1, amount="memory"),
        "the memory of 1 operator (50.0% of the time) is N/A: in the file it is negative",
    ),
    (
        Finding.of("raw-control-characters", Kind.CONTEXT, characters=2),
        "read 2 raw control characters in strings, which JSON forbids",
    ),
    (
        Finding.of("untimed-executions", Kind.INCOMPLETE, operators=1, side="host"),
        "the host time of 1 operator is N/A: in the file, it is missing or not finite, or "
        "its end is before its start",
    ),
    (
        Finding.of("late-kernels", Kind.INCOMPLETE, operators=1, side="host"),
        "the host wait time of 1 operator leaves out executions that end before their first "
        "kernel starts",
    ),
    (
        Finding.of("opencl-times-off", Kind.WRONG),
        "all device times of OpenCL are 0, because OpenCL measures only after "
        "CompNode::enable_opencl_profile(true)",
    ),
    (
        Finding.of("cut-timeline", Kind.DAMAGED, left_out=1),
        "the file ends in the middle: left out 1 execution of operators in an incomplete "
        "iteration; copy the file again",
    ),
    (
        Finding.of("cut-timeline", Kind.DAMAGED, left_out=0),
        "the file ends in the middle, so events may be missing; copy it again",
    ),
    (
        Finding.of("open-iteration", Kind.INCOMPLETE, executions=2),
        "left out 2 executions of operators in an iteration that did not end",
    ),
    (
        Finding.of("unmatched-events", Kind.INCOMPLETE, events=1),
        "left out 1 event without a matching begin or end",
    ),
    (
        Finding.of("impossible-times", Kind.INCOMPLETE, executions=1),
        "left out the times of 1 execution: they are impossible",
    ),
    (
        Finding.of("no-device-times", Kind.INCOMPLETE),
        "the file has no device times; profile with profile_device=1, which is the default "
        "of Profiler",
    ),
)


@pytest.mark.parametrize(("finding", "text"), SENTENCES)
def test_sentences(finding: Finding, text: str) -> None:
    assert sentence(finding) == text


def test_each_rule_has_a_sentence_here() -> None:
    assert untested(codes_of("megengine"), SENTENCES) == []

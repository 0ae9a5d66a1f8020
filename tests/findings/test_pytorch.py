"""The sentences of the rules on PyTorch traces."""

from __future__ import annotations

from typing import Any

import pytest

from profile_analyze.findings.sentences import sentence
from profile_analyze.model.findings import Finding, Kind
from tests.findings.rules import codes_of, untested


def cut(*, has_kernels: bool, uses_device: bool) -> Finding:
    return Finding.of("cut-trace", Kind.DAMAGED, has_kernels=has_kernels, uses_device=uses_device)


def no_kernels(shown_by: str, **values: Any) -> Finding:
    values = {"untimed": 0, "name": None, "events": None, **values}
    return Finding.of("no-kernels", Kind.INCOMPLETE, shown_by=shown_by, **values)


NO_KERNEL = (
    "but the trace has no kernel; record with the activity of the device, such as "
    "ProfilerActivity.CUDA"
)


SENTENCES = (
    (
        cut(has_kernels=False, uses_device=False),
        "the file ends in the middle, so events are missing; copy or export it again",
    ),
    (
        cut(has_kernels=False, uses_device=True),
        "the file ends in the middle, before any kernel (torch writes kernels last), so device "
        "times are N/A; copy or export it again",
    ),
    (
        cut(has_kernels=True, uses_device=True),
        "the file ends in the middle, so events are missing and device times may be too short "
        "(torch writes kernels last); copy or export it again",
    ),
    (
        no_kernels("launches", events=1),
        f"device times are N/A: 1 driver call launched work on a device, {NO_KERNEL}",
    ),
    (
        no_kernels("operator", name="nccl:all_reduce", events=2),
        f"device times are N/A: nccl:all_reduce runs on a device (2 such calls), {NO_KERNEL}",
    ),
    (
        no_kernels("memory"),
        f"device times are N/A: operators allocated memory of a device, {NO_KERNEL}",
    ),
    (
        no_kernels("backend", name="nccl"),
        f"device times are N/A: the ranks communicated by nccl, {NO_KERNEL}",
    ),
    (
        no_kernels("device", name="NVIDIA H200"),
        f"device times are N/A: the operators may have run on NVIDIA H200, {NO_KERNEL}",
    ),
    (
        no_kernels("device", untimed=1),
        "device times are N/A: the operators may have run on a device, but the trace has no "
        "kernel with a valid time",
    ),
    (
        Finding.of("lost-kernels", Kind.INCOMPLETE, lost=1, launches=2),
        "1 of 2 launches has no kernel in the file; FLOPS and bandwidth leave out calls "
        "without a kernel",
    ),
    (
        Finding.of("lost-kernels", Kind.INCOMPLETE, lost=2, launches=3),
        "2 of 3 launches have no kernel in the file; FLOPS and bandwidth leave out calls "
        "without a kernel",
    ),
    (
        Finding.of("damaged-events", Kind.WRONG, parts=2),
        "left out 2 parts of the events: damaged or incomplete",
    ),
    (
        Finding.of("untimed-events", Kind.INCOMPLETE, events=1),
        "left out 1 event without a valid time or duration",
    ),
    (
        Finding.of("repaired-events", Kind.CONTEXT, events=2),
        "read 2 events whose texts are not valid JSON, because torch did not escape them",
    ),
    (
        Finding.of("mistyped-fields", Kind.INCOMPLETE, events=1),
        "left out fields that have a wrong type in 1 event",
    ),
    (
        Finding.of("earlier-kernels", Kind.INCOMPLETE, share=0.737, kernels=2, earlier_s=70e-6),
        "left out 2 kernels, 70.0 us (73.7% of the time), that ran before the first kernel "
        "whose launch is in the file: they were probably launched before the recording",
    ),
    (
        Finding.of("shortened-kernels", Kind.WRONG, kernels=1, excess_s=1.6),
        "shortened 1 kernel by 1.60 s in total: a kernel cannot overlap the next kernel of its "
        "stream",
    ),
    (
        Finding.of("driver-call-dominates", Kind.WRONG, part=0.978, call="hipFree", calls=1),
        "97.8% of the host time of operators is in hipFree (1 call)",
    ),
    (
        Finding.of("outside-steps", Kind.CONTEXT, executions=3),
        "3 executions of operators outside of all steps: each counts in the step before it, or "
        "else in the first step",
    ),
    (
        Finding.of("no-steps", Kind.CONTEXT, iterations=2),
        "the trace has no steps, so it is one run, but it may have 2 iterations: each "
        "outermost operator ran 2 times or a multiple of 2; --step-region NAME turns each "
        "execution of a region into a step, and profiler.step() records steps",
    ),
)


@pytest.mark.parametrize(("finding", "text"), SENTENCES)
def test_sentences(finding: Finding, text: str) -> None:
    assert sentence(finding) == text


def test_each_rule_has_a_sentence_here() -> None:
    assert untested(codes_of("pytorch"), SENTENCES) == []

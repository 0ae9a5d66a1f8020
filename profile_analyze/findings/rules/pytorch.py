"""Rules on PyTorch traces."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from profile_analyze.findings.rule import Rule
from profile_analyze.units import counted

if TYPE_CHECKING:
    from profile_analyze.findings.rule import Words


def _cut_trace(_: Words, *, has_kernels: bool, uses_device: bool) -> str:
    where = ", so events are missing"
    if has_kernels:
        where += " and device times may be too short (torch writes kernels last)"
    elif uses_device:
        where = ", before any kernel (torch writes kernels last), so device times are N/A"
    return f"the file ends in the middle{where}; copy or export it again"


def _no_kernels(
    _: Words, *, untimed: int, shown_by: str, name: str | None, events: int | None
) -> str:
    use = {
        "launches": f"{counted(events or 0, 'driver call')} launched work on a device",
        "operator": f"{name} runs on a device ({counted(events or 0, 'such call')})",
        "memory": "operators allocated memory of a device",
        "backend": f"the ranks communicated by {name}",
        "device": f"the operators may have run on {name or 'a device'}",
    }[shown_by]
    # An event without a valid time may have been the kernel.
    advice = (
        " with a valid time"
        if untimed
        else "; record with the activity of the device, such as ProfilerActivity.CUDA"
    )
    return f"device times are N/A: {use}, but the trace has no kernel{advice}"


RULES: Final = (
    Rule("cut-trace", "the trace ends in the middle", _cut_trace),
    Rule("no-kernels", "the program used a device, but the trace has no kernel", _no_kernels),
    Rule(
        "lost-kernels",
        "launches have no kernel in the file",
        "{lost} of {launches:launch|launches} {lost:has/have} no kernel in the file; FLOPS and "
        "bandwidth leave out calls without a kernel",
    ),
    Rule(
        "damaged-events",
        "parts of the events are not valid JSON, or are not events",
        "left out {parts:part} of the events: damaged or incomplete",
    ),
    Rule(
        "untimed-events",
        "events lack a valid time or duration",
        "left out {events:event} without a valid time or duration",
    ),
    Rule(
        "repaired-events",
        "texts in events are not valid JSON, but can be read",
        "read {events:event} whose texts are not valid JSON, because torch did not escape them",
    ),
    Rule(
        "mistyped-fields",
        "fields of events have a wrong type",
        "left out fields that have a wrong type in {events:event}",
    ),
    Rule(
        "earlier-kernels",
        "kernels without a launch ran before the first kernel with a launch",
        "left out {kernels:kernel}, {earlier_s:time}{size}, that ran before the first kernel whose "
        "launch is in the file: they were probably launched before the recording",
    ),
    Rule(
        "shortened-kernels",
        "kernels overlap the next kernel of their stream",
        "shortened {kernels:kernel} by {excess_s:time} in total: a kernel cannot overlap the next "
        "kernel of its stream",
        threshold="an overlap of over 30 us, or of over 10 % of the shorter kernel",
    ),
    Rule(
        "driver-call-dominates",
        "one kind of driver call, other than waits, takes most of the host time",
        "{part:percent} of the host time of operators is in {call} ({calls:call})",
        threshold="half of the host time of operators",
    ),
    Rule(
        "outside-steps",
        "operators ran outside of all steps",
        "{executions:execution} of operators outside of all steps: each counts in the step before "
        "it, or else in the first step",
    ),
    Rule(
        "no-steps",
        "the trace has no steps, but each outermost operator ran several times",
        "the trace has no steps, so it is one run, but it may have {iterations} iterations: each "
        "outermost operator ran {iterations} times or a multiple of {iterations}; --step-region "
        "NAME turns each execution of a region into a step, and profiler.step() records steps",
    ),
)

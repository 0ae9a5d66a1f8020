"""Rules on profiles and timelines of MegEngine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from profile_analyze.findings.rule import Rule
from profile_analyze.units import counted

if TYPE_CHECKING:
    from profile_analyze.findings.rule import Words


def _cut_timeline(_: Words, *, left_out: int) -> str:
    if left_out:
        executions = counted(left_out, "execution")
        return (
            f"the file ends in the middle: left out {executions} of operators in an incomplete "
            "iteration; copy the file again"
        )
    return "the file ends in the middle, so events may be missing; copy it again"


RULES: Final = (
    Rule(
        "unmatched-entries",
        "a section has entries with an id that no operator has",
        "left out {entries:entry|entries} of the section {section} with an id that no operator has",
    ),
    Rule(
        "entries-without-track",
        "entries have no thread and no comp node",
        "left out {entries:entry|entries} of the section {section} without a thread or comp node",
    ),
    Rule(
        "stale-shapes",
        "shapes changed between runs, so work and times are from different runs",
        "the shapes of {operators:operator}{size} changed between runs: computation, memory and "
        "shapes are from the first run, but times are from the last, so their FLOPS and bandwidth "
        "are wrong; profile with one input shape",
    ),
    Rule(
        "unknown-stale-shapes",
        "the file does not say whether shapes changed between runs",
        "the shapes of the runs cannot be compared: static_infer_tags are null",
    ),
    Rule(
        "negative-work",
        "computation or memory is negative in the file",
        "the {amount} of {operators:operator}{size} is N/A: in the file it is negative",
    ),
    Rule(
        "raw-control-characters",
        "strings have control characters, which JSON forbids",
        "read {characters:raw control character} in strings, which JSON forbids",
    ),
    Rule(
        "untimed-executions",
        "times of executions are missing, not finite or negative",
        "the {side} time of {operators:operator}{size} is N/A: in the file, it is missing or not "
        "finite, or its end is before its start",
    ),
    Rule(
        "late-kernels",
        "executions end before their first kernel starts",
        "the {side} wait time of {operators:operator}{size} leaves out executions that end before "
        "their first kernel starts",
    ),
    Rule(
        "opencl-times-off",
        "all device times of OpenCL are 0",
        "all device times of OpenCL are 0, because OpenCL measures only after "
        "CompNode::enable_opencl_profile(true)",
    ),
    Rule("cut-timeline", "the timeline ends in the middle", _cut_timeline),
    Rule(
        "open-iteration",
        "an iteration did not end",
        "left out {executions:execution} of operators in an iteration that did not end",
    ),
    Rule(
        "unmatched-events",
        "events lack their begin or end",
        "left out {events:event} without a matching begin or end",
    ),
    Rule(
        "impossible-times",
        "times of executions are impossible",
        "left out the times of {executions:execution}: they are impossible",
    ),
    Rule(
        "no-device-times",
        "the timeline has no device times",
        "the file has no device times; profile with profile_device=1, which is the default of "
        "Profiler",
    ),
)

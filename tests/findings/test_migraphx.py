"""The sentences of the rules on reports of MIGraphX."""

from __future__ import annotations

import pytest

from profile_analyze.findings.sentences import sentence
from profile_analyze.model.findings import Finding, Kind
from tests.findings.rules import codes_of, untested

SENTENCES = (
    (
        Finding.of("several-reports", Kind.WRONG, reports=2),
        "the file has 2 reports, and only the last one is shown; write each to its own file",
    ),
    (
        Finding.of("totals-only", Kind.INCOMPLETE),
        "the file has only totals, so all instructions are one row; keep the whole output of "
        "migraphx-driver perf",
    ),
    (
        Finding.of("rows-from-summary", Kind.INCOMPLETE, has_some=True),
        "the rows are the groups of the report's summary, because the file lacks some lines "
        "of instructions; keep the whole output of migraphx-driver perf",
    ),
    (
        Finding.of("rows-from-summary", Kind.INCOMPLETE, has_some=False),
        "the rows are the groups of the report's summary, because the file has no lines of "
        "instructions; keep the whole output of migraphx-driver perf",
    ),
    (
        Finding.of("groups-without-calls", Kind.INCOMPLETE),
        "each group counts as one call, because versions of MIGraphX before 2022 do not "
        "print the number of calls",
    ),
    (
        Finding.of("cut-report", Kind.DAMAGED),
        "the file ends before the time of a whole run (Total time), so instructions may be "
        "missing; keep the whole output of migraphx-driver perf",
    ),
    (
        Finding.of("missing-instructions", Kind.DAMAGED, found_s=1e-6, stated_s=4e-6),
        "the rows add up to 1.00 us, but the report states a Total instructions time of 4.00 "
        "us: the lines of other instructions are missing; keep the whole output of "
        "migraphx-driver perf",
    ),
    (
        Finding.of("untimed-instructions", Kind.INCOMPLETE, share=0.0, operators=1),
        "no time for 1 operator (0.0% of the time): MIGraphX prints no number for "
        "instructions that it did not run",
    ),
    (
        Finding.of("unknown-calls", Kind.INCOMPLETE, share=0.4, operators=1),
        "the number of calls of 1 operator (40.0% of the time) is unknown, because the file "
        "says 0; each counts as one call",
    ),
    (
        Finding.of("inputs-left-out", Kind.INCOMPLETE, share=1.0, operators=1),
        "the input shapes of 1 operator (100.0% of the time) are unknown, because the file "
        "lacks the lines of the inputs; keep the whole output of migraphx-driver perf",
    ),
    (
        Finding.of("nested-instructions", Kind.CONTEXT, share=0.3, operators=3),
        "3 operators (30.0% of the time) ran inside others (if, loop): their times count "
        "once here, but twice in the report's Total instructions time; times inside a loop "
        "are means over its iterations",
    ),
)


@pytest.mark.parametrize(("finding", "text"), SENTENCES)
def test_sentences(finding: Finding, text: str) -> None:
    assert sentence(finding) == text


def test_each_rule_has_a_sentence_here() -> None:
    assert untested(codes_of("migraphx"), SENTENCES) == []

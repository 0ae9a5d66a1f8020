"""The sentences of the rules on the two sides of a comparison."""

from __future__ import annotations

from typing import Any

import pytest

from profile_analyze.findings.sentences import sentence
from profile_analyze.model.findings import Finding, Kind
from tests.findings.rules import codes_of, untested

FEW: dict[str, Any] = {
    "code": "few-matches",
    "kind": Kind.ANSWER,
    "counted_operators": 6,
    "only_names": 0,
    "timed": False,
    "parts": [],
}
SENTENCES = (
    (
        Finding.of("same-runs", Kind.ANSWER, named=["a", "b"], copies=[], processes=2),
        "2 files on both sides, such as a: the same runs are compared with themselves",
    ),
    (
        Finding.of("same-runs", Kind.ANSWER, named=[], copies=[["a", "b"]], processes=1),
        "a has exactly the times of b of the baseline: probably copies, so the same runs are "
        "compared with themselves",
    ),
    (
        Finding.of("same-runs", Kind.ANSWER, named=["c"], copies=[["a", "b"]], processes=3),
        "1 file on both sides, such as c, and 1 of 3 files with exactly the times of a file "
        "of the baseline, such as a and b: probably copies, so the same runs are compared "
        "with themselves",
    ),
    (
        Finding.of("unlike-runs", Kind.ANSWER, side="baseline", kinds="different models"),
        "the runs of the baseline have few operators in common: these look like different models",
    ),
    (
        Finding.of("other-iterations", Kind.ANSWER, part=1.0, factor=2.0),
        "operators with 100.0% of the time were called 2 times as often in a run as in the "
        "baseline: the sides probably have different numbers of iterations in a run; record "
        "equally many iterations on both sides; if both sides have a module or region for "
        "each iteration, --step-region NAME makes each execution of it a run",
    ),
    (
        Finding.of("other-iterations", Kind.ANSWER, part=1.0, factor=0.5),
        "operators with 100.0% of the time were called 0.500 times as often in a run as in "
        "the baseline: the sides probably have different numbers of iterations in a run; "
        "record equally many iterations on both sides; if both sides have a module or region "
        "for each iteration, --step-region NAME makes each execution of it a run",
    ),
    (
        Finding.of(**FEW, matched=None, factor=None, several_formats=False),
        "no operator of the baseline was matched, so all are added or removed: these are "
        "different models; --aggregate-by type compares them by kind",
    ),
    (
        Finding.of(**FEW, matched=None, factor=None, several_formats=True),
        "no operator matches between the two formats: these may be different models; check "
        "that both sides are of one model; --aggregate-by category compares them by kind",
    ),
    (
        Finding.of(
            **{**FEW, "timed": True, "only_names": 1, "parts": [0.25, 0.5]},
            matched=1,
            factor=None,
            several_formats=False,
        ),
        "only 1 of 6 operators with a device time matched with the baseline, with 25.0% of "
        "the time and 50.0% of the time of the baseline, not counting constants and other "
        "bookkeeping, nor 1 operator with the same name but other shapes: these look like "
        "different models; --aggregate-by type compares them by kind",
    ),
    (
        Finding.of(**FEW, matched=0, factor=0.2, several_formats=True),
        "none of 6 operators matched with the baseline, not counting constants and other "
        "bookkeeping, and a run of the baseline computes 5.00 times as much as a run of the "
        "profile: these are different models, or their inputs or iterations differ; name "
        "profiles of one model, with equal inputs and equally many iterations in a run; "
        "--aggregate-by category compares them by kind",
    ),
    (
        Finding.of("different-formats", Kind.ANSWER, ours=["A"], base=["A", "B", "C"]),
        "the two sides are of different formats: A in the profile, A, B and C in the "
        "baseline; their times may differ in kind",
    ),
    (
        Finding.of(
            "unmatched-operators",
            Kind.ANSWER,
            matched=1,
            added=(2, 0.25, 1),
            removed=(0, None, 0),
            holds_graphs=False,
        ),
        "1 operator matched with the baseline, 2 added (25.0% of the time, 1 without a "
        "device time), 0 removed; the column match says how",
    ),
    (
        Finding.of(
            "unmatched-operators",
            Kind.ANSWER,
            matched=2,
            added=(0, 0.0, 0),
            removed=(1, 0.5, 0),
            holds_graphs=True,
        ),
        "2 operators matched with the baseline, 0 added, 1 removed (50.0% of the time of the "
        "baseline); operators inside of a graph that runs as one node cannot match",
    ),
    (
        Finding.of("parts-of-fused-layers", Kind.CONTEXT, share=0.5, operators=2),
        "the times of 2 operators (50.0% of the time) are added to other operators, because "
        "the other side runs them in fused layers",
    ),
    (
        Finding.of("corrected-drift", Kind.CONTEXT, least=0.9, most=1.1, change=None),
        "times are corrected for drift: the times of each run are divided by its drift "
        "factor, 0.9 to 1.1 (1 is the median run)",
    ),
    (
        Finding.of("corrected-drift", Kind.CONTEXT, least=0.9, most=1.1, change=()),
        "times are corrected for drift: the times of each run are divided by its drift "
        "factor, 0.9 to 1.1 (1 is the median run); a change that all operators share is "
        "removed; the summary and all verdicts are as measured",
    ),
    (
        Finding.of(
            "corrected-drift",
            Kind.WRONG,
            least=0.9,
            most=1.1,
            change=(9, 8, 1.1, 1.0, 1.2, 0.01, True),
        ),
        "times are corrected for drift: the times of each run are divided by its drift "
        "factor, 0.9 to 1.1 (1 is the median run); by the level of 9 operators, the runs of "
        "the profile took 1.10 times as long as the runs of the baseline (95 %: 1.00 to "
        "1.20, p 0.0100; 8 of these operators changed alike); the corrected times hide this "
        "difference; the summary and all verdicts are as measured",
    ),
    (
        Finding.of("no-drift-factors", Kind.ANSWER, one_run=True),
        "drift was not corrected: there is only one run",
    ),
    (
        Finding.of("no-drift-factors", Kind.ANSWER, one_run=False),
        "drift was not corrected: no operator has a long enough time in every run",
    ),
    (
        Finding.of("unlike-drift", Kind.ANSWER, agreeing=2, operators=9),
        "drift was not corrected: only 2 of 9 operators changed alike between the two sides, "
        "so the times do not show how slow each run was",
    ),
)


@pytest.mark.parametrize(("finding", "text"), SENTENCES)
def test_sentences(finding: Finding, text: str) -> None:
    assert sentence(finding) == text


def test_each_rule_has_a_sentence_here() -> None:
    assert untested(codes_of("comparison"), SENTENCES) == []

"""The sentences of the rules on the times of a comparison."""

from __future__ import annotations

from typing import Any

import pytest

from profile_analyze.findings.sentences import sentence
from profile_analyze.model.findings import Finding, Kind
from tests.findings.rules import codes_of, untested


def few_runs(rows: int, **found: Any) -> Finding:
    runs = {"runs": 8, "base_runs": 4, "units": "runs", "enough": 9}
    values = {**runs, "rows": rows, "noun": "operator", "are_all": False, **found}
    return Finding.of("few-runs-for-one-row", Kind.INCOMPLETE, **values)


def alike(ratio: float, *dtypes: tuple[str, int, bool]) -> Finding:
    values = {"operators": 12, "ratio": ratio, "dtypes": dtypes[0] if dtypes else ()}
    return Finding.of("shared-change", Kind.WRONG, share=1.0, **values)


def drifting(*, by_dtype: bool) -> Finding:
    values = {"sum_s": 0.0122, "difference_s": -0.00208, "least": 0.837, "most": 1.57}
    return Finding.of("drifting-runs", Kind.CONTEXT, **values, by_dtype=by_dtype)


def odd(runs: int, *first: tuple[str, float]) -> Finding:
    return Finding.of("odd-runs", Kind.CONTEXT, first=first, runs=runs)


LOOK = {"look": "overlap", "explained_on": None, "times_s": (), "parts": ()}


def runs_changed(code: str = "runs-unlike-operators", **found: Any) -> Finding:
    values = {
        "operators": -0.2,
        "operators_s": -0.2,
        "runs": -0.001,
        "runs_s": -0.002,
        "opposite": False,
        "doubt": "",
        **LOOK,
        **found,
    }
    return Finding.of(code, Kind.ANSWER, **values)


def only_runs(**found: Any) -> Finding:
    return runs_changed("only-runs-changed", **{"operators": 0.01, "runs": 0.15, **found})


MACHINE = (
    "or all operators changed; profile both sides in turns to find out; --correct-drift removes "
    "the change that all operators share"
)
SLOWER = "12 operators (100.0% of the time) are slower by similar ratios, with a median of 1.20"
DRIFTING = (
    "the differences of the operators add up to +12.2 ms, but the total differs by -2.08 ms: some "
    "runs were slower or faster as a whole (0.837 to 1.57 times as long as the median run), so "
    "differences of medians do not add up"
)
OVERLAP = (
    "find out how far operators overlap, and what happens between them; verdicts are on operators "
    "only"
)
LESS = "operators take 200 ms less than in the baseline, but a whole run takes"
THERE = "find out what happens there; verdicts are on operators only"
FEW = "8 runs and 4 of the baseline are too few to show a change of"
ENOUGH = "however large; 9 on each side are enough"
SENTENCES = (
    (
        Finding.of(
            "few-runs", Kind.INCOMPLETE, least=4, units="different runs", runs=3, base_runs=8
        ),
        "verdicts are N/A: they need 4 different runs or more on each side; the profile has 3, the "
        "baseline 8; with so few, large differences often occur by chance",
    ),
    (few_runs(1), f"{FEW} the operator that takes the least time, {ENOUGH}"),
    (few_runs(7), f"{FEW} just one of the 7 operators that take the least time, {ENOUGH}"),
    (few_runs(7, are_all=True, noun="group"), f"{FEW} just one of the 7 groups, {ENOUGH}"),
    (
        Finding.of(
            "rows-without-verdict",
            Kind.INCOMPLETE,
            share=0.25,
            rows=2,
            noun="operator",
            least=4,
            units="runs",
        ),
        "2 operators (25.0% of the time) without a verdict: a side has fewer than 4 runs with a "
        "time",
    ),
    (alike(1.2), f"{SLOWER}: either the machine was slower, {MACHINE}"),
    (
        alike(0.8),
        "12 operators (100.0% of the time) are faster by similar ratios, with a median of 0.800: "
        f"either the machine was faster, {MACHINE}",
    ),
    (
        alike(1.2, ("fp32 to fp16", 12, True)),
        f"{SLOWER}: probably because their dtype changed (fp32 to fp16)",
    ),
    (
        alike(1.2, ("fp32 to fp16", 10, False)),
        f"{SLOWER}: probably because the dtype of 10 of them changed (mostly fp32 to fp16)",
    ),
    (
        drifting(by_dtype=False),
        f"{DRIFTING}; --correct-drift removes such differences between runs from the rows of "
        "tables, but not from the summary",
    ),
    (drifting(by_dtype=True), DRIFTING),
    (
        odd(1, ("new5.json", 2.0)),
        "new5.json took 2.00 times the median of its side: find out why, or leave it out",
    ),
    (
        odd(3, ("a", 2.0), ("b", 0.493)),
        "a took 2.00, b took 0.493 times the median of their sides, and 1 more is odd: find out "
        "why, or leave them out",
    ),
    (
        odd(4, ("a", 2.0), ("b", 0.493)),
        "a took 2.00, b took 0.493 times the median of their sides, and 2 more are odd: find out "
        "why, or leave them out",
    ),
    (runs_changed(), f"{LESS} only 2.00 ms less: {OVERLAP}"),
    (runs_changed(runs=0.0, runs_s=0.0), f"{LESS} as long: {OVERLAP}"),
    (
        runs_changed(
            runs=0.001, runs_s=0.002, look="outside", explained_on="device", times_s=(4.0, 1.0)
        ),
        f"{LESS} 2.00 ms more: 4.00 s of a run is without work of the device, instead of 1.00 s; "
        f"{THERE}",
    ),
    (
        runs_changed(doubt="noise", look="rest", parts=(0.166, 0.268)),
        f"{LESS} only 2.00 ms less (wall times vary more than that, so noise may be the reason): "
        "operators take only 16.6% of a run (26.8% in the baseline); find out what takes the rest; "
        "verdicts are on operators only",
    ),
    (
        runs_changed(look="rest", explained_on="device", parts=(0.166, 0.268)),
        f"{LESS} only 2.00 ms less: operators take only 16.6% of a run on the device (26.8% in the "
        "baseline); find out what takes the rest; verdicts are on operators only",
    ),
    (
        runs_changed(
            operators=0.25,
            runs=-0.083,
            opposite=True,
            doubt="few runs",
            look="outside",
            times_s=(0.1, 0.4),
        ),
        "operators take 25.0% more time than in the baseline, but a whole run takes 8.3% less "
        "(there are few runs, so noise may be the reason): 100 ms of a run is outside of "
        f"operators, instead of 400 ms; {THERE}",
    ),
    (
        only_runs(look="host", explained_on="host", times_s=(14.3, 7.5)),
        "operators take about as long as in the baseline (+1.0%), but a whole run takes 15.0% "
        "more: operators take 14.3 s of a run on the host, instead of 7.50 s; --show-host shows "
        "host times; verdicts are on operators only",
    ),
    (
        only_runs(operators=-0.01, runs=-0.15),
        "operators take about as long as in the baseline (-1.0%), but a whole run takes 15.0% "
        f"less: {OVERLAP}",
    ),
)


@pytest.mark.parametrize(("finding", "text"), SENTENCES)
def test_sentences(finding: Finding, text: str) -> None:
    assert sentence(finding) == text


def test_each_rule_has_a_sentence_here() -> None:
    assert untested(codes_of("comparison_times"), SENTENCES) == []

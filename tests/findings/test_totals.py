"""The sentences of the rules on the totals."""

from __future__ import annotations

from typing import Any

import pytest

from profile_analyze.findings.sentences import sentence
from profile_analyze.model.findings import Finding, Kind
from tests.findings.rules import codes_of, untested


def means(inferences: int | None, *, has_spread: bool) -> Finding:
    values = {"inferences": inferences, "has_spread": has_spread}
    return Finding.of("times-are-means", Kind.CONTEXT, **values)


def among(code: str, chosen: int, process: str | None = None) -> Finding:
    values = {"chosen": chosen, "runs": 5, "run": 3, "process": process}
    return Finding.of(code, Kind.WRONG, **values)


def warm_up(runs: int, **found: Any) -> Finding:
    counts = {"slow_processes": 1, "processes": 1, "multiple": 8.571}
    values = {"time": "wall", "skipped": 0, "runs": runs, **counts, **found}
    return Finding.of("warm-up", Kind.WRONG, **values)


def outliers(count: int, process: str | None, outside: float | None) -> Finding:
    values = {"run": 2, "process": process, "outliers": count, "multiple": 8.0}
    return Finding.of("outliers", Kind.WRONG, **values, outside=outside)


def tracks(**found: Any) -> Finding:
    times_s = (("stream 7", 0.5), ("stream 20", 0.25))
    values = {"noun": "stream", "times_s": times_s, "process": "", "devices": 1, "busy_s": None}
    return Finding.of("several-tracks", Kind.WRONG, **{**values, "adds_up": True, **found})


WAITED = "the runtime waited for each operator before the next, so times include that wait"
TIMES = "500 ms on stream 7, 250 ms on stream 20"
SUM = "the device time is the sum of 2 streams"
SENTENCES = (
    (
        means(None, has_spread=False),
        "times are means over several inferences; how much they vary is not known",
    ),
    (
        means(1, has_spread=False),
        "times are from a single inference; how much they vary is not known",
    ),
    (
        means(2, has_spread=True),
        "times are means over 2 inferences; single inferences vary more than these runs",
    ),
    (means(1, has_spread=True), "the times of each run are from a single inference"),
    (
        Finding.of("synchronised", Kind.WRONG, factor=1.4),
        f"{WAITED}: all operators together take 1.4 times as long as a whole run",
    ),
    (
        Finding.of("synchronised", Kind.CONTEXT, factor=None),
        f"{WAITED}, which matters for short operators",
    ),
    (
        among("runs-without-device-time", 1),
        "1 of 5 runs (run 3) has no device time, so totals, host times and wall times leave out "
        "this run; --aggregate-by run shows each run",
    ),
    (
        among("runs-without-device-time", 2, "a.json"),
        "2 of 5 runs (such as run 3 of a.json) have no device time, so totals, host times and wall "
        "times leave out these runs; --aggregate-by run shows each run",
    ),
    (
        among("unequal-runs", 1, "a.json"),
        "runs are very unequal: 1 of 5 runs (run 3 of a.json) has times of fewer than a tenth of "
        "the operators of another run; --aggregate-by run shows each run",
    ),
    (
        among("unequal-runs", 2),
        "runs are very unequal: 2 of 5 runs (such as run 3) have times of fewer than a tenth of "
        "the operators of another run; --aggregate-by run shows each run",
    ),
    (
        warm_up(1, skipped=1),
        "the wall time of run 2 is 8.6 times the median; --skip-runs 2 leaves it out",
    ),
    (
        warm_up(2, time="device"),
        "the device times of runs 1 to 2 are up to 8.6 times the median; --skip-runs 2 leaves them "
        "out",
    ),
    (
        warm_up(1, slow_processes=2, processes=3),
        "the wall time of run 1 in 2 of 3 processes is up to 8.6 times the median; --skip-runs 1 "
        "leaves them out",
    ),
    (
        warm_up(1, slow_processes=3, processes=3),
        "the wall time of run 1 in all 3 processes is up to 8.6 times the median; --skip-runs 1 "
        "leaves them out",
    ),
    (
        outliers(1, None, 0.75),
        "the wall time of run 2 is 8.0 times the median, 75.0% of it outside of operators; "
        "--aggregate-by run shows each run",
    ),
    (
        outliers(2, "a.json", None),
        "the wall time of run 2 of a.json, the slowest of 2 outliers, is 8.0 times the median; "
        "--aggregate-by run shows each run",
    ),
    (
        Finding.of("few-device-times", Kind.INCOMPLETE, recorded=1, operators=4),
        "only 1 of 4 operators has a device time; totals and shares leave out the other operators",
    ),
    (
        Finding.of("few-device-times", Kind.INCOMPLETE, recorded=2, operators=5),
        "only 2 of 5 operators have a device time; totals and shares leave out the other operators",
    ),
    (
        Finding.of("too-large-total", Kind.INCOMPLETE, side="host"),
        "the total host time is N/A: the sum of the times is too large to represent",
    ),
    (
        Finding.of("zero-total", Kind.WRONG),
        "the total device time is 0, so shares of it are N/A",
    ),
    (
        Finding.of("busy-host", Kind.WRONG, share=1.0, multiple=2.5),
        "the host works 2.5 times as long as the device, so the device probably waits for the "
        "host; --show-host shows the host times",
    ),
    (tracks(), f"{SUM}, which may have run at the same time: {TIMES}"),
    (
        tracks(noun="track", process="a.json", busy_s=0.6),
        "the device time is the sum of 2 tracks in a.json, while the device worked for 600 ms: "
        f"{TIMES}",
    ),
    (
        tracks(devices=2, busy_s=0.6),
        f"{SUM}, while the busiest device worked for 600 ms: {TIMES}",
    ),
    (
        tracks(adds_up=False),
        f"the device time is of 2 streams, which may have run at the same time: {TIMES}; for an "
        "operator on several, only the slowest counts",
    ),
    (
        Finding.of("several-ranks", Kind.WRONG, ranks=2, times_s=[(0, 1.0), (1, 2.0)]),
        "the device time is the sum of 2 ranks: 1.00 s on rank 0, 2.00 s on rank 1; "
        "--aggregate-by rank shows each",
    ),
    (
        Finding.of("several-ranks", Kind.WRONG, ranks=8, times_s=[(5, 1.0), (1, 2.0)]),
        "the device time is the sum of 8 ranks: from 1.00 s on rank 5 to 2.00 s on rank 1; "
        "--aggregate-by rank shows each",
    ),
    (
        Finding.of("left-out-bodies", Kind.CONTEXT, operators=1, idle=0),
        "totals leave out 1 operator in bodies of If, Loop or Scan; their rows show the work of "
        "one execution of the body",
    ),
    (
        Finding.of("left-out-bodies", Kind.CONTEXT, operators=4, idle=1),
        "totals leave out 4 operators in bodies of If, Loop or Scan; their rows show the work of "
        "one execution of the body; 1 of these operator never run",
    ),
    (
        Finding.of("no-stacks", Kind.ANSWER, side="device"),
        "no stack: no execution with a time on the device was selected",
    ),
    (
        Finding.of("short-copy-time", Kind.CONTEXT, copy_s=2e-5),
        "the copy time is 20.0 us, too short for four decimals; --format plain shows it",
    ),
)


@pytest.mark.parametrize(("finding", "text"), SENTENCES)
def test_sentences(finding: Finding, text: str) -> None:
    assert sentence(finding) == text


def test_each_rule_has_a_sentence_here() -> None:
    assert untested(codes_of("totals"), SENTENCES) == []

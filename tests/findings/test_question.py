"""The sentences of the rules on an answer."""

from __future__ import annotations

from typing import Any

import pytest

from profile_analyze.findings.sentences import sentence
from profile_analyze.model.findings import Finding, Kind
from tests.findings.rules import codes_of, untested


def order(*, of_host: bool = False, has_times: bool | None) -> Finding:
    values = {"column": "flops", "of_host": of_host, "has_times": has_times}
    return Finding.of("idle-order", Kind.ANSWER, **values)


def group(operators: int, condition: str) -> Finding:
    values = {"operators": operators, "key": "name~f", "condition": condition}
    return Finding.of("group-of-unknown", Kind.INCOMPLETE, share=0.5, **values)


def dominant(better: str) -> Finding:
    values = {"key": "name~c", "group": "conv", "part": 0.96, "better": better}
    return Finding.of("dominant-group", Kind.CONTEXT, **values)


def row_sum(**found: Any) -> Finding:
    values = {"part": 0.5, "statistic": "median", "runs": 3, "in_some_runs": False, **found}
    return Finding.of("row-sum", Kind.CONTEXT, **values)


ROWS = "all rows add up to 50.0% of the total: each time is the"
DOMINANT = (
    "name~c: 'conv' alone has 96.0% of the time: perhaps the names do not show the layer; -t 0 "
    "without groups shows each operator"
)
SENTENCES = (
    (
        Finding.of("split-by-labels", Kind.CONTEXT, labels=("date", "host")),
        "rows are split by date and host: medians and shares are over the runs with the same date "
        "and host",
    ),
    (
        Finding.of("split-by-runs", Kind.CONTEXT, keys=("run",), parts=3),
        "rows are split by run: shares are relative to the total of all 3 runs",
    ),
    (
        Finding.of("split-by-runs", Kind.CONTEXT, keys=("file", "step"), parts=3),
        "rows are split by file and step: shares are relative to the total of all 3 combinations",
    ),
    (
        Finding.of("total-of-measure", Kind.CONTEXT, measure="device wait time", total_s=3.3e-5),
        "shares are relative to the total device wait time, 33.0 us",
    ),
    (
        Finding.of("no-first-kernels", Kind.ANSWER, measure="device wait time"),
        "no operator has a device wait time: the profile does not say when the first kernel of an "
        "operator started; --top-end-key end shows the time to the end of each operator",
    ),
    (order(has_times=False), "flops is N/A in all rows, so ordering by it has no effect"),
    (
        order(of_host=True, has_times=True),
        "flops is N/A in all rows with host times, so ordering by it has no effect; --order-by "
        "time ranks them",
    ),
    (
        order(has_times=None),
        "flops is N/A in all rows, so ordering by it has no effect; the file has no times, so "
        "leave out --order-by to rank by work",
    ),
    (
        Finding.of("unranked-rows", Kind.ANSWER, share=0.545, operators=1, column="flops"),
        "flops is N/A for 1 operator (54.5% of the time); rows with N/A come last; --order-by time "
        "ranks them, too",
    ),
    (
        Finding.of("no-scopes", Kind.ANSWER, key="scope/2", better=""),
        "scope/2: the profile has no scopes, so all operators are in one group; --aggregate-by "
        "type groups by type",
    ),
    (
        Finding.of("no-scopes", Kind.ANSWER, key="scope", better="out_shapes"),
        "scope: the profile has no scopes, so all operators are in one group; --aggregate-by "
        "out_shapes groups by stage",
    ),
    (
        group(2, "name !~ f"),
        "2 operators (50.0% of the time) do not match name~f: their group is N/A; --where "
        "'name !~ f' shows them",
    ),
    (
        group(1, "name !~ f'"),
        "1 operator (50.0% of the time) does not match name~f: its group is N/A",
    ),
    (
        group(1, ""),
        "1 operator (50.0% of the time) has no scope: its group is N/A; --aggregate-by name~f,type "
        "groups operators without a scope by type",
    ),
    (dominant(""), DOMINANT),
    (dominant("scope"), f"{DOMINANT}, --aggregate-by scope groups by module"),
    (row_sum(), f"{ROWS} median over the 3 runs; with --run-stat mean, they add up to it"),
    (
        row_sum(statistic="max"),
        f"{ROWS} maximum over the 3 runs; with --run-stat mean, they add up to it",
    ),
    (
        row_sum(statistic="min", in_some_runs=True),
        f"{ROWS} minimum over those of the 3 runs in which the row ran",
    ),
    (
        Finding.of("split-sum", Kind.ANSWER, keys=("track", "device"), part=1.5),
        "rows are split by track and device: operators that ran on several tracks at once count on "
        "each, so all rows add up to 150.0% of the total; shares are relative to this sum",
    ),
    (
        Finding.of("shape-sets", Kind.ANSWER, sets=3, part=3.0),
        "the runs have 3 sets of input shapes: a row covers only the runs with its shapes, and its "
        "share is relative to the totals of these runs, so all shares add up to 300.0%; "
        "--aggregate-by name joins the shapes, --aggregate-by run shows each run, and --skip-runs "
        "N leaves out the first runs",
    ),
    (
        Finding.of("partial-rows", Kind.WRONG, operators=1, runs=2, part=1.167),
        "1 operator ran in only some of the 2 runs: the times and the share of a row are of the "
        "runs in which it ran, so all shares add up to 116.7%; --aggregate-by run shows each run",
    ),
    (
        Finding.of(
            "other-side-amount",
            Kind.INCOMPLETE,
            column="device_allocated",
            side="device",
            part=0.996,
        ),
        "device_allocated: left out operators without a device time, 99.6% of the sum; --order-by "
        "device_allocated shows them, too",
    ),
    (
        Finding.of(
            "other-side-times",
            Kind.INCOMPLETE,
            share=0.75,
            column="host_time",
            side="device",
            other_side="host",
            part=0.75,
        ),
        "host_time: the groups of the device table leave out operators without a device time, "
        "75.0% of the host time; --print-only host shows all",
    ),
)


@pytest.mark.parametrize(("finding", "text"), SENTENCES)
def test_sentences(finding: Finding, text: str) -> None:
    assert sentence(finding) == text


def test_each_rule_has_a_sentence_here() -> None:
    assert untested(codes_of("question"), SENTENCES) == []

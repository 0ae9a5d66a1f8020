"""How reports show the roofline, in every output format."""

from __future__ import annotations

import json
from math import isnan
from typing import Any

import pytest

import profile_analyze as pa
from profile_analyze.model.executions import Run
from profile_analyze.model.findings import Finding
from tests.conftest import PROFILES, TABLE_FORMATS, run_command
from tests.in_memory import STREAM, THREAD, profile_of

RESNET = str(PROFILES / "resnet18.json")


def test_the_summary_says_what_the_whole_model_could_gain() -> None:
    outcome = run_command(RESNET, "--peaks", "100G:20G", "--print-only", "summary")
    assert (
        outcome.out
        == """\
------------------  ---------------------------------------
total device time   0.103739
total host time     0.000896
peaks               100G:20G
roof                100.00 GFLOPS, at 5.00 FLO/byte or more
memory known        100.0%
judged              100.0%
efficiency, judged  35.8%
lost                0.0666 s
------------------  ---------------------------------------
the operators at their roofs take 0.0371 s, 2.79 times as fast
20 operators of type ConvolutionForward (99.1% of the time) run at 35.3% of the roof: if these alone ran at the roof, all operators would take 0.0372 s, 2.79 times as fast
"""
    )
    assert outcome.err == ""


def test_efficiencies_over_1_are_found_only_if_they_are_shown() -> None:
    profile, peaks = pa.load(RESNET), pa.parse_peaks("100G:20G")
    default = pa.Query(peaks=peaks, top=20)
    assert pa.run(default, profile).notes == ()  # such operators take 0.7 % of the time
    (finding,) = pa.run(default.changed(order="efficiency"), profile).notes
    assert isinstance(finding, Finding)
    assert (finding.code, finding["operators"], finding["reason"]) == (
        "faster-than-roof",
        26,
        "caches",
    )


@pytest.mark.parametrize("name", ["resnet18.json", "derived-partfootprint.json"])
def test_the_gain_of_the_whole_model_follows_from_the_rows(name: str) -> None:
    peaks = pa.parse_peaks("100G:20G")
    profile = pa.load(PROFILES / name)
    judgement = pa.summarise(profile, judged_by=pa.Query(peaks=peaks)).judgement
    assert judgement is not None
    rows = pa.run(pa.Query(peaks=peaks), profile)
    # Operators that are faster than their roof, or have no roof, keep their times.
    times_s = zip(rows["time"].tolist(), rows["least_time"].tolist(), strict=True)
    total_s = sum(time if isnan(least) else min(time, least) for time, least in times_s)
    assert judgement.total_s == pytest.approx(total_s)
    assert judgement.gain == pytest.approx(sum(rows["time"]) / total_s)
    judged_s = judgement.judged * sum(rows["time"])
    assert judgement.lost_s == pytest.approx(sum(rows["time"]) - total_s)
    assert judgement.efficiency == pytest.approx(1 - judgement.lost_s / judged_s)
    assert judgement.gain > max(winner.gain for winner in judgement.winners) > 1


def test_the_numbers_of_several_runs_agree() -> None:
    runs = str(PROFILES.parent / "runs" / "base")
    arguments = ("--peaks", "300G:20G", "--print-only", "summary", "--format", "plain")
    assert (
        run_command(runs, *arguments).out
        == """\
total device time   184.548 ms
total host time     1.609 ms
runs                24 (spread: half within -14.0% to +6.0%)
peaks               300G:20G
roof                300.00 GFLOPS, at 15.0 FLO/byte or more
memory known        100.0%
judged              100.0%
efficiency, judged  7.3%
lost                170.998 ms
the operators at their roofs take 13.551 ms, 13.62 times as fast
an efficiency of 7.3% is very low: either overhead dominates the times, or the peaks are of another device, dtype or number of threads than the profile
20 operators of type ConvolutionForward (99.0% of the time) run at 6.6% of the roof: if these alone ran at the roof, all operators would take 13.902 ms, 13.28 times as fast
"""
    )


def test_operators_that_are_not_judged_are_mentioned() -> None:
    path = str(PROFILES / "derived-partfootprint.json")
    outcome = run_command(path, "--peaks", "100G:20G", "--print-only", "summary")
    assert "times as fast; the operators that are not judged (" in outcome.out


def test_the_source_of_a_known_device_is_shown() -> None:
    outcome = run_command(RESNET, "--peaks", "v100-pcie", "--print-only", "summary")
    assert "900 GB/s" in outcome.out
    assert "\npeaks: " in outcome.out


@pytest.mark.parametrize("output_format", TABLE_FORMATS)
def test_every_output_format_shows_the_roofline(output_format: str) -> None:
    profile = pa.load(RESNET)
    query = pa.Query(by="type", top=2, peaks=pa.parse_peaks("100G:20G"))
    summary = pa.summarise(profile, judged_by=query)
    text = pa.render(
        pa.Report.of(summary, (pa.run(query, profile),), source=profile), output_format
    )
    if output_format not in ("csv", "jsonl", "github", "junit"):
        assert "100G:20G" in text
    if output_format not in ("operators", "github", "junit"):
        for word in ("bound", "efficiency", "lost", "gain", "compute"):
            assert word in text
    assert "nan" not in text


def test_json_of_a_profile_that_cannot_be_judged_has_no_rates() -> None:
    path = str(PROFILES / "resnet18-onlywait.json")
    outcome = run_command(path, "--peaks", "1T:1G", "--format", "json")
    roofline = json.loads(outcome.out)["summary"]["roofline"]
    assert (roofline["efficiency"], roofline["winners"]) == (None, [])
    assert roofline["rates"] == []


def test_flat_formats_have_the_judgement() -> None:
    call = (RESNET, "--peaks", "100G:20G", "--print-only", "summary", "--format")
    totals = json.loads(run_command(*call, "jsonl").out)
    assert totals["efficiency"] == pytest.approx(0.358, abs=5e-4)
    assert (
        run_command(*call, "csv")
        .out.splitlines()[0]
        .endswith(",memory_known,judged,efficiency,lost_s")
    )


def test_a_group_key_is_shown_once() -> None:
    call = (RESNET, "--peaks", "1T:1G", "--aggregate-by", "bound", "--format", "csv")
    assert run_command(*call).out.splitlines()[0].count("bound") == 1


def test_the_totals_for_programs_are_exact() -> None:
    path = str(PROFILES / "resnet18.json")
    query = pa.Query(peaks=pa.parse_peaks("2T:100G"))
    judgement = pa.summarise(pa.load(path), judged_by=query).judgement
    assert judgement is not None
    arguments = ("--peaks", "2T:100G", "--print-only", "summary", "--format", "csv")
    names, values = (line.split(",") for line in run_command(path, *arguments).out.splitlines())
    totals = dict(zip(names, values, strict=True))
    for name in ("memory_known", "judged", "efficiency", "lost_s"):
        assert float(totals[name]) == pytest.approx(getattr(judgement, name), rel=1e-12)


def test_groups_are_named_with_their_keys() -> None:
    arguments = ("--peaks", "100G:20G", "--aggregate-by", "out_shapes,type", "--format", "plain")
    outcome = run_command(RESNET, *arguments, "--print-only", "summary")
    assert outcome.out.splitlines()[9:] == [
        "5 operators with out_shapes {1,512,7,7} and type ConvolutionForward (28.1% of the time) run at 28.2% of the roof: if these alone ran at the roof, all operators would take 82.839 ms, 1.25 times as fast",
        "4 operators with out_shapes {1,64,56,56} and type ConvolutionForward (25.0% of the time) run at 35.7% of the roof: if these alone ran at the roof, all operators would take 87.078 ms, 1.19 times as fast",
        "5 operators with out_shapes {1,128,28,28} and type ConvolutionForward (20.6% of the time) run at 38.4% of the roof: if these alone ran at the roof, all operators would take 90.568 ms, 1.15 times as fast",
    ]


def test_nothing_is_said_about_the_gain_of_operators_that_are_not_judged() -> None:
    query = pa.Query(peaks=pa.parse_peaks("1T:1G"))
    operators: list[dict[str, Any]] = [
        {"name": "copy", "computation": 0.0, "memory": 9e5},  # 0.9 ms at 1 GB/s
        {"name": "send"},
    ]

    def sentence(other_s: float) -> str:
        executions = [
            {"operator": row, "duration_s": time_s} for row, time_s in enumerate((0.001, other_s))
        ]
        profile = profile_of(operators, executions)
        text = pa.render(pa.Report.of(pa.summarise(profile, judged_by=query), ()), "plain")
        (found,) = [line for line in text.splitlines() if "next to nothing" in line]
        return found

    assert sentence(0.999) == (
        "with these peaks, the judged operators (0.1% of the time) could gain next to nothing"
    )
    operators[1] |= {"computation": 0.0, "memory": 0.999e9}
    assert sentence(0.999) == "with these peaks, the operators could gain next to nothing"


@pytest.mark.parametrize(
    ("walls_s", "by", "of_all", "of_conv"),
    [
        ((10.0,), (), ", and a whole run at best 6.000 s, 1.67 times as fast", ", and a whole run at best 7.000 s, 1.43 times as fast"),
        ((10.0, 20.0), (), ", and a whole run at best 11.000 s, 1.36 times as fast", ", and a whole run at best 12.000 s, 1.25 times as fast"),
        ((6.0,), (), "", ""),
        ((6.0001,), (), "", ""),
        ((float("nan"),), (), "", ""),
        # The operators' times are of both runs together, so they say nothing about one run.
        ((10.0, 20.0), "run", "", None),
    ],
)  # fmt: skip
def test_a_whole_run_gains_less_than_the_operators(
    walls_s: tuple[float, ...], by: str, of_all: str, of_conv: str | None
) -> None:
    profile = profile_of(
        [
            {"name": "conv", "type": "Conv", "computation": 1e12, "memory": 1.0},
            {"name": "copy", "type": "Copy", "computation": 0.0, "memory": 1e9},
        ],
        [
            {"operator": operator, "run": run, "duration_s": time_s}
            for run in range(len(walls_s))
            for operator, time_s in enumerate((4.0, 2.0))
        ],
        runs=[Run(wall_s=wall_s) for wall_s in walls_s],
    )
    query = pa.Query(peaks=pa.parse_peaks("1T:1G"), by=by)
    summary = pa.summarise(profile, judged_by=query)
    text = pa.render(pa.Report.of(summary, ()), "plain")
    seconds, of_conv_s = ("4.000", "") if by else ("2.000", "3.000")
    assert f"the operators at their roofs take {seconds} s, 3.00 times as fast{of_all}\n" in text
    if of_conv is not None:
        assert f"all operators would take {of_conv_s} s, 2.00 times as fast{of_conv}\n" in text


@pytest.mark.parametrize(
    ("host_s", "wait_s", "at_best"),
    [
        (6.0, float("nan"), "6.000 s, 1.33 times as fast, because the host takes that long\n"),
        (6.0, 0.5, "5.500 s, 1.45 times as fast, because the host takes that long\n"),
        (6.0, 1.0, "5.000 s, 1.60 times as fast\n"),
        (4.0, float("nan"), "5.000 s, 1.60 times as fast\n"),
    ],
)
def test_a_whole_run_takes_at_least_as_long_as_the_host(
    host_s: float, wait_s: float, at_best: str
) -> None:
    profile = profile_of(
        [{"name": "conv", "computation": 1e12, "memory": 1.0}],
        [
            {"operator": 0, "duration_s": 4.0},
            {"operator": 0, "track": 1, "duration_s": host_s, "thread_wait_s": wait_s},
        ],
        tracks=[STREAM, THREAD],
        runs=[Run(wall_s=8.0)],
    )
    summary = pa.summarise(profile, judged_by=pa.Query(peaks=pa.parse_peaks("1T:1G")))
    text = pa.render(pa.Report.of(summary, ()), "plain")
    assert f"take 1.000 s, 4.00 times as fast, and a whole run at best {at_best}" in text


def test_a_whole_run_may_gain_less_if_operators_ran_at_the_same_time() -> None:
    profile = profile_of(
        [{"name": "conv", "computation": 1e12, "memory": 1.0}],
        [{"operator": 0, "track": 0, "duration_s": 3.0}, {"operator": 0, "track": 1, "duration_s": 2.0}],
        tracks=[STREAM, STREAM._replace(name="stream 8")],
        runs=[Run(wall_s=8.0)],
    )  # fmt: skip
    summary = pa.summarise(profile, judged_by=pa.Query(peaks=pa.parse_peaks("1T:1G")))
    assert isnan(summary.outside_s)
    text = pa.render(pa.Report.of(summary, ()), "plain")
    assert "take 2.000 s, 2.50 times as fast, and a whole run at best 5.000 s, 1.60 times" in text

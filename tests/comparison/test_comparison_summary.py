"""The summary of a comparison, and comparisons in each output format."""

from __future__ import annotations

import json
from dataclasses import replace
from math import isnan, nan
from typing import TYPE_CHECKING

import pytest

import profile_analyze as pa
from profile_analyze.model.findings import Finding, Kind
from tests.comparison.comparisons import BASE, FAST, NEW, SLOW, near, us
from tests.conftest import FORMATS_WITH_UNITS, TABLE_FORMATS, run_command
from tests.small import Operator, document, profile_of, runs_of, written

if TYPE_CHECKING:
    from pathlib import Path


def test_the_summary_explains_the_difference() -> None:
    comparison = pa.compare(profile_of(NEW), profile_of(BASE))
    change = pa.summarise(comparison, judged_by=pa.Query(compared=True)).change
    assert change is not None
    assert (change.base.file, change.base.runs) == ("small.json", 1)
    assert (change.base.time_s, change.difference_s) == (us(125), us(50))
    assert [(one.verdict, one.rows, one.share) for one in change.verdicts] == [
        ("added", 1, near(7 / 175)),
        ("removed", 1, pytest.approx(nan, nan_ok=True)),
        ("N/A", 2, near(168 / 175)),
    ]
    assert not change.of_groups
    assert [(one.label, one.difference_s, one.share) for one in change.contributions] == [
        ("Conv", us(50), near(1.0)),
        ("Mul", us(7), near(0.14)),
        ("Add", us(-5), near(-0.1)),
    ]


@pytest.mark.parametrize(
    ("new", "base", "shown"),
    [
        (
            FAST,
            SLOW,
            "faster than the baseline: 113.850 us instead of 124.850 us, -8.8%\n"
            "largest differences by type: Conv -10.000 us, 90.9% of the difference (faster); "
            "Relu -1.000 us, 9.1% of the difference (faster)\n"
            "faster: conv -10.000 us, 0.912 times the baseline\n"
            "faster: relu -1.000 us, 0.912 times the baseline\n"
            "verdicts on 2 operators with a time: faster 2 (100.0% of the time)\n",
        ),
        (
            SLOW,
            FAST,
            "slower than the baseline: 124.850 us instead of 113.850 us, +9.7%\n"
            "largest differences by type: Conv +10.000 us, 90.9% of the difference (slower); "
            "Relu +1.000 us, 9.1% of the difference (slower)\n"
            "slower: conv +10.000 us, 1.10 times the baseline\n"
            "slower: relu +1.000 us, 1.10 times the baseline\n"
            "verdicts on 2 operators with a time: slower 2 (100.0% of the time)\n",
        ),
    ],
)
def test_the_summary_of_a_clear_change_lists_types_and_operators(
    new: list[int], base: list[int], shown: str
) -> None:
    def runs(times_us: list[int]) -> pa.Profile:
        return pa.join_runs(
            profile_of([Operator("conv", "Conv", one), Operator("relu", "Relu", one / 10)])
            for one in times_us
        )

    query = pa.Query(compared=True)
    summary = pa.summarise(pa.compare(runs(new), runs(base)), judged_by=query)
    text = pa.render(pa.Report.of(summary, ()), "plain")
    assert text[text.index("verdict  ") :].partition("\n")[2] == shown


def test_a_comparison_without_times_has_no_verdict() -> None:
    empty = profile_of([Operator("a", "Conv", None)])
    comparison = pa.compare(empty, empty)
    change = pa.summarise(comparison).change
    assert change is not None
    assert (change.verdict, change.contributions, change.verdicts) == (None, (), ())
    assert isnan(change.difference_s)
    assert pa.render(pa.Report.of(pa.summarise(comparison), ()), "plain") == (
        "total device time     N/A\n"
        "total host time       N/A\n"
        "runs                  1\n"
        "baseline device time  N/A\n"
        "baseline runs         1\n"
        "difference            N/A\n"
        "ratio                 N/A\n"
        "verdict               N/A (no operator has a device time)\n"
    )


@pytest.mark.parametrize("side", ["profile", "baseline"])
def test_a_side_without_device_times_is_the_reason_for_no_verdict(
    tmp_path: Path, side: str
) -> None:
    timed = written(tmp_path / "timed.json", [Operator("a", "A", 2.0)])
    untimed = written(tmp_path / "untimed.json", [Operator("a", "A", None)])
    new, base = (untimed, timed) if side == "profile" else (timed, untimed)
    outcome = run_command(new, "--compare", base, "--format", "plain")
    reason = f"no operator of the {side} has a device time"
    assert f"verdict               N/A ({reason})\n" in outcome.out
    assert (
        f"note: differences and verdicts of device times are N/A: {reason}; profile again with "
        "device times\n" in outcome.err
    )
    assert "runs" not in outcome.err


def test_a_host_table_needs_runs_although_the_baseline_has_no_device_times(tmp_path: Path) -> None:
    paths = []
    for name, time_us in (("new", 2.0), ("base", None)):
        found = document([Operator("a", "A", time_us)])
        found["profiler"]["host"] = {"0": {"x": {"start": 0, "end": 1}}}
        paths.append(tmp_path / f"{name}.json")
        paths[-1].write_text(json.dumps(found))
    errors = run_command(str(paths[0]), "--compare", str(paths[1]), "--print-only", "host").err
    assert (
        "no operator of the baseline has a device time; 1 operator has a host time; --print-only "
        "host shows these times, or profile again with device times\n" in errors
    )
    assert "verdicts are N/A: they need 4 runs or more on each side" in errors


def test_every_format_shows_a_comparison(tmp_path: Path) -> None:
    new, base = written(tmp_path / "new.json", NEW), written(tmp_path / "base.json", BASE)
    for format_ in TABLE_FORMATS:
        if format_ in ("operators", "junit"):
            continue  # `operators` needs --dump-only-opr, and `junit` needs --fail-if
        outcome = run_command(new, "--compare", base, "--format", format_, "--aggregate-by", "type")
        assert outcome.code == 0
        assert "nan" not in outcome.out
        if format_ not in ("csv", "jsonl", "github"):
            in_us = format_ in FORMATS_WITH_UNITS
            assert ("175.000 us" if in_us else "0.000175") in outcome.out
    assert (
        "::notice title=profile_analyze::largest differences by type: Conv +50.000 us"
        in run_command(new, "--compare", base, "--format", "github").out
    )
    found = json.loads(run_command(new, "--compare", base, "--format", "json").out)
    origin = {
        "format": "MegEngine GraphProfiler JSON",
        "format_version": None,
        "times": "of each execution",
        "averaged_over": None,
        "synchronised": False,
        "hardware": None,
    }
    track = {
        "name": "gpu0:0",
        "side": "device",
        "kind": "comp node",
        "device": "gpu0:0",
        "process": None,
        "rank": None,
        "device_kind": None,
        "threads": None,
    }
    sizes = {"operators": 3, "processes": 1, "runs": 1, "left_out": []}
    assert found["base"] == {**origin, "file": base, "files": [base], **sizes}
    assert found["profile"] == {
        **origin,
        "file": new,
        "files": [new],
        "level": "operator",
        **sizes,
        "executions": 3,
        "tracks": [track],
    }
    assert found["summary"]["comparison"]["difference_s"] == us(50)
    assert found["summary"]["comparison"]["verdict"] is None


def test_the_plain_format_shows_a_whole_comparison(tmp_path: Path) -> None:
    new, base = written(tmp_path / "new.json", NEW), written(tmp_path / "base.json", BASE)
    outcome = run_command(new, "--compare", base, "--format", "plain", "-t", "0")
    assert (
        outcome.out
        == """\
total device time     175.000 us
total host time       N/A
runs                  1
baseline device time  125.000 us
baseline runs         1
difference            +50.000 us (+40.0%)
ratio                 1.40
verdict               N/A (only 1 of the 4 required runs on each side)
no verdict: 175.000 us instead of 125.000 us, +40.0%
difference by cause: unknown work +48.000 us (2 operators, the largest conv +50.000 us), added +7.000 us (new), removed -5.000 us (old)
largest differences by type: Conv +50.000 us; Mul +7.000 us (added); Add -5.000 us (removed)
verdicts on 4 operators with a time: added 1 (4.0% of the time), removed 1, N/A 2 (96.0%)

device self time (us)  base (us)  difference (us)  change  ratio  verdict  share  type  name
              150.000    100.000          +50.000  +50.0%   1.50  N/A      85.7%  Conv  conv
                7.000        N/A           +7.000     N/A    N/A  added     4.0%  Mul   new
                  N/A      5.000           -5.000     N/A    N/A  removed    N/A  Add   old
               18.000     20.000           -2.000  -10.0%  0.900  N/A      10.3%  Relu  relu
"""
    )
    assert outcome.err == (
        "note: verdicts are N/A: they need 4 runs or more on each side; the profile has 1, the "
        "baseline 1; with so few, large differences often occur by chance\n"
        "note: 2 operators matched with the baseline, 1 added (4.0% of the time), 1 removed (4.0% "
        "of the time of the baseline); the column match says how\n"
    )


def test_rows_that_only_one_side_has_and_that_took_no_time_are_counted_apart() -> None:
    new = [*NEW, Operator("idle", "NoOp", 0), Operator("free", "NoOp", 0)]
    base = [*BASE, Operator("gone", "Copy", 0)]
    comparison = pa.compare(profile_of(new), profile_of(base))

    def shown(*by: str) -> list[str]:
        summary = pa.summarise(comparison, judged_by=pa.Query(compared=True, by=by))
        lines = pa.render(pa.Report.of(summary, ()), "plain").splitlines()
        return [line for line in lines if line.startswith(("difference by", "verdicts"))]

    causes = (
        "difference by cause: unknown work +48.000 us (2 operators, the largest conv +50.000 us), "
        "added +7.000 us (new), removed -5.000 us (old)"
    )
    assert shown() == [
        causes,
        "verdicts on 7 operators with a time: added 3 (4.0% of the time, 2 took no time), "
        "removed 2 (1 took no time), N/A 2 (96.0%)",
    ]
    assert shown("type") == [
        causes,
        "verdicts on 6 groups: added 2 (4.0% of the time, 1 took no time), "
        "removed 2 (1 took no time), N/A 2 (96.0%)",
    ]


def test_summaries_for_programs_have_the_verdict(tmp_path: Path) -> None:
    new, base = written(tmp_path / "new.json", NEW), written(tmp_path / "base.json", BASE)
    call = [new, "--compare", base, "--print-only", "summary"]
    head, line = run_command(*call, "--format", "csv").out.splitlines()
    found = dict(zip(head.split(","), line.split(","), strict=True))
    assert (found["verdict"], found["ratio"], found["p_value"]) == ("", "1.4", "")
    assert json.loads(run_command(*call, "--format", "jsonl").out)["verdict"] is None


def test_rows_with_a_verdict_are_listed_by_name() -> None:
    def side(times: list[int]) -> pa.Profile:
        return pa.join_runs(
            profile_of([Operator("conv", "Conv", time), Operator("relu", "Relu", 50)], f"{time}")
            for time in times
        )

    comparison = pa.compare(side(SLOW), side(FAST))
    summary = pa.summarise(comparison, judged_by=pa.Query(compared=True))
    assert summary.change is not None
    assert [(one.label, one.verdict) for one in summary.change.changed] == [("conv", "slower")]
    text = pa.render(pa.Report.of(summary, ()), "plain")
    assert (
        "slower: conv +10.000 us, 1.10 times the baseline\n"
        "verdicts on 2 operators with a time: slower 1 (69.4% of the time), same 1 (30.6%)\n"
        in text
    )


@pytest.mark.parametrize(("runs", "has_note"), [(4, True), (5, False)])
def test_a_note_if_no_single_row_can_have_a_verdict(runs: int, *, has_note: bool) -> None:
    def side(shift: int) -> pa.Profile:
        return pa.join_runs(
            profile_of([Operator(name, "Conv", shift + run) for name in "abcde"], f"{shift}-{run}")
            for run in range(runs)
        )

    comparison = pa.compare(side(200), side(100))
    for by, noun in (((), "operator"), (("name",), "group")):
        query = pa.Query(compared=True, by=by)
        change = pa.summarise(comparison, judged_by=query).change
        assert change is not None
        finding = Finding.of(
            "few-runs-for-one-row",
            Kind.INCOMPLETE,
            runs=4,
            base_runs=4,
            units="runs",
            rows=5,
            noun=noun,
            are_all=True,
            enough=5,
        )
        assert change.notes == ((finding,) if has_note else ())


@pytest.mark.parametrize(("new", "base", "side"), [(NEW, [], "baseline"), ([], BASE, "profile")])
def test_a_side_without_operators_has_no_time(
    tmp_path: Path, new: list[Operator], base: list[Operator], side: str
) -> None:
    files = written(tmp_path / "new.json", new), written(tmp_path / "base.json", base)
    outcome = run_command(files[0], "--compare", files[1], "--print-only", "summary")
    assert outcome.code == 0
    assert [line.split()[:2] for line in outcome.out.splitlines()[-4:-1]] == [
        ["difference", "N/A"],
        ["ratio", "N/A"],
        ["verdict", "N/A"],
    ]
    assert f"N/A (no operator of the {side} has a device time)" in outcome.out


@pytest.mark.parametrize(
    ("format_", "times"),
    [
        ("table", "40.00 ms instead of 35.00 ms"),
        ("wiki", "40.00 ms instead of 35.00 ms"),
        ("plain", "40.000 ms instead of 35.000 ms"),
    ],
)
def test_both_times_of_the_verdict_have_the_same_digits(
    tmp_path: Path, format_: str, times: str
) -> None:
    new = written(tmp_path / "new.json", [Operator("a", "Conv", 40_000)])
    base = written(tmp_path / "base.json", [Operator("a", "Conv", 35_000)])
    arguments = ("--compare", base, "--print-only", "summary", "--format", format_)
    outcome = run_command(new, *arguments)
    assert f"no verdict: {times}, +14.3%" in outcome.out.splitlines()
    in_seconds = run_command(new, *arguments, "--time-unit", "s").out.splitlines()
    assert "no verdict: 0.040000 s instead of 0.035000 s, +14.3%" in in_seconds


def test_names_in_any_script_are_shown(tmp_path: Path) -> None:
    new = written(tmp_path / "new.json", [Operator("\u5377\u79ef", "\u5377", 3.0)])
    base = written(tmp_path / "base.json", [Operator("\u5377\u79ef", "\u5377", 1.0)])
    outcome = run_command(new, "--compare", base, "--format", "plain")
    assert (
        "largest differences by type: \u5377 +2.000 us, 100.0% of the difference\n" in outcome.out
    )
    called = [
        written(tmp_path / f"{n}.json", [Operator("\u5377\u79ef", "\u5377", n)])
        for n in (*range(10, 18), *range(40, 48))
    ]
    outcome = run_command(*called[8:], "--compare", *called[:8], "--format", "plain")
    assert "slower: \u5377\u79ef +" in outcome.out


def test_an_operator_with_only_a_host_time_gets_a_note(tmp_path: Path) -> None:
    found = document([Operator("a", "A", None)])
    found["profiler"]["host"] = {"0": {"x": {"start": 0, "end": 1}}}
    path = tmp_path / "a.json"
    path.write_text(json.dumps(found))
    assert run_command(str(path), "--print-only", "device").err == (
        "note: no operator has a device time; 1 operator has a host time; --print-only host shows "
        "these times, or profile again with device times\n"
    )


def test_shares_of_the_difference_are_left_out_above_100_percent(tmp_path: Path) -> None:
    new = written(tmp_path / "new.json", [Operator("a", "A", 5.0), Operator("b", "B", 1.0)])
    base = written(tmp_path / "base.json", [Operator("a", "A", 2.0), Operator("b", "B", 2.0)])
    outcome = run_command(new, "--compare", base, "--format", "plain")
    assert "largest differences by type: A +3.000 us; B -1.000 us\n" in outcome.out


def test_differences_whose_medians_do_not_add_up_are_marked(tmp_path: Path) -> None:
    # The medians of `a` and `b` are 1 and 2, and the median of their sum is 4.
    base = [[("a", "A", 1.0), ("b", "B", 3.0)], [("a", "A", 3.0), ("b", "B", 1.0)]]
    base.append([("a", "A", 1.0), ("b", "B", 2.0)])
    new = [[("a", "A", 3.0), ("b", "B", time)] for time in (3.0, 3.001, 2.999)]
    files = {
        side: [
            written(tmp_path / f"{side}{n}.json", [Operator(*one) for one in run])
            for n, run in enumerate(runs)
        ]
        for side, runs in {"new": new, "base": base}.items()
    }
    outcome = run_command(*files["new"], "--compare", *files["base"], "--format", "plain")
    assert (
        "largest differences by type (medians do not add up): A +2.000 us, 100.0% of the "
        "difference; B +1.000 us, 50.0% of the difference\n" in outcome.out
    )


def test_a_residual_of_times_on_one_side_only_is_named(tmp_path: Path) -> None:
    base = [Operator(name, "A", time) for name, time in (("a", 5.0), ("b", 2.0), ("c", 1.0))]
    new = [Operator("a", "A", 9.0), Operator("b", "A", None), Operator("c", "A", 1.0)]
    paths = [
        written(tmp_path / f"{name}.json", one) for name, one in (("new", new), ("base", base))
    ]
    out = run_command(paths[0], "--compare", paths[1], "--format", "plain").out
    assert "residual -2.000 us (1 operator has a time on one side only)\n" in out
    assert "largest differences by type: A +2.000 us, 100.0% of the difference\n" in out
    # The medians of `a` and `d` are 1 and 2, and the median of their sum is 4.
    times = [(1.0, 3.0), (3.0, 1.0), (1.0, 2.0)]
    runs = [
        written(tmp_path / f"{n}.json", [*base[1:], Operator("a", "A", a), Operator("d", "D", d)])
        for n, (a, d) in enumerate(times)
    ]
    new.append(Operator("d", "D", 2.0))
    one = written(tmp_path / "one.json", new)
    out = run_command(one, "--compare", *runs, "--format", "plain").out
    remark = "(1 operator has a time on one side only; medians do not add up)"
    assert f"residual -3.000 us {remark}\n" in out


NOISY = [80, 85, 90, 108, 117, 120, 130, 140]
CANNOT_TELL = "cannot tell whether the model is slower, faster or the same"
BY_LITTLE = " than the baseline, but perhaps by less than the threshold of 10.0%"
UNCERTAIN = """\
verdict               uncertain ({}, threshold {})
cannot tell whether the model is slower, faster or the same: {}
"""


@pytest.mark.parametrize(
    ("new", "base", "threshold", "shown"),
    [
        (
            NOISY,
            SLOW,
            0.03,
            UNCERTAIN.format(
                "p 0.920",
                "3.0%",
                "112.500 us instead of 113.500 us, -0.9%, which may be noise alone; changes from "
                "-24.1% to +13.0% are possible",
            ),
        ),
        (  # a change beyond noise, but is it large enough to count?
            SLOW,
            FAST,
            0.1,
            UNCERTAIN.format(
                "p < 0.001",
                "10.0%",
                "113.500 us instead of 103.500 us, +9.7%; changes from +6.7% to +12.6% are possible",
            ).replace(CANNOT_TELL, "slower" + BY_LITTLE),
        ),
        (
            FAST,
            SLOW,
            0.1,
            UNCERTAIN.format(
                "p < 0.001",
                "10.0%",
                "103.500 us instead of 113.500 us, -8.8%; changes from -11.2% to -6.3% are possible",
            ).replace(CANNOT_TELL, "faster" + BY_LITTLE),
        ),
        (  # the change shown is over the threshold, but the estimate is not
            [103.1, 102.3, 104.6, 102, 104.7, 104.4, 104.2, 101],
            [101.7, 97.8, 99.8, 99.3, 102.9, 101.8, 99.9, 98.6],
            0.03,
            UNCERTAIN.format(
                "p 0.00311",
                "3.0%",
                "103.650 us instead of 99.850 us, +3.8%; a better estimate is +2.9% (the median change "
                "over all pairs of runs, which has less noise); changes from +1.3% to +4.9% are possible",
            ).replace(CANNOT_TELL, "slower" + BY_LITTLE.replace("10.0%", "3.0%")),
        ),
        (
            [*SLOW[4:], *FAST[:4]],
            FAST,
            0.03,
            UNCERTAIN.format(
                "p 0.376",
                "3.0%",
                "108.500 us instead of 103.500 us, +4.8%, which may be noise alone; changes from "
                "-2.8% to +12.5% are possible; if the true change is +4.8%, about 41 runs a side settle the question",
            ),
        ),
    ],
)
def test_an_uncertain_verdict_says_what_is_possible(
    new: list[float], base: list[float], threshold: float, shown: str
) -> None:
    comparison = pa.compare(runs_of("conv", new), runs_of("conv", base))
    query = pa.Query(compared=True, threshold=threshold)
    summary = pa.summarise(comparison, judged_by=query)
    text = pa.render(pa.Report.of(summary, ()), "plain")
    assert text.partition("verdict  ")[2] == shown.removeprefix("verdict  ") + (
        "verdicts on 1 operator with a time: uncertain 1 (100.0% of the time)\n"
    )
    found = json.loads(pa.render(pa.Report.of(summary, ()), "json"))["summary"]["comparison"]
    assert found["threshold"] == threshold
    assert (found["verdicts"], found["verdict_shares"]) == ({"uncertain": 1}, {"uncertain": 1.0})


def test_rows_without_a_verdict_get_a_note() -> None:
    """`view` has a time in only two of the eight runs of each side."""

    def side(times: list[int]) -> pa.Profile:
        return pa.join_runs(
            profile_of(
                [Operator("conv", "Conv", time), Operator("view", "View", None if time % 4 else 5)]
            )
            for time in times
        )

    comparison = pa.compare(side(SLOW), side(FAST))
    for by, rows in (((), "operator"), (("name",), "group")):
        change = pa.summarise(comparison, judged_by=pa.Query(compared=True, by=by)).change
        assert change is not None
        without = {"rows": 1, "noun": rows, "least": 4, "units": "runs"}
        assert change.notes == (
            Finding.of("rows-without-verdict", Kind.INCOMPLETE, share=0.0, **without),
        )


def test_the_summary_is_as_measured_if_drift_is_corrected() -> None:
    measured = pa.compare(runs_of("conv", SLOW), runs_of("conv", FAST))
    corrected = pa.compare(runs_of("conv", FAST), runs_of("conv", FAST[::-1]))
    summaries = [
        pa.summarise(one, judged_by=pa.Query(compared=True))
        for one in (measured, replace(corrected, uncorrected=measured))
    ]
    lines = [pa.render(pa.Report.of(summary, ()), "plain").splitlines() for summary in summaries]
    # Only the times of rows in tables are corrected.
    assert lines[0][-2:] == [
        "slower: conv +10.000 us, 1.10 times the baseline",
        "verdicts on 1 operator with a time: slower 1 (100.0% of the time)",
    ]
    assert [line.replace(" as measured", "") for line in lines[1]] == lines[0]
    assert lines[1][-2] == "slower: conv +10.000 us as measured, 1.10 times the baseline"

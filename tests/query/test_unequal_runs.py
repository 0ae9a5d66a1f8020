"""Totals, and findings, of runs that did no work or hardly any work."""

from __future__ import annotations

from math import isnan, nan
from typing import TYPE_CHECKING

import pytest

import profile_analyze as pa
from profile_analyze.model.executions import Run
from profile_analyze.model.findings import BASELINE, Finding, Kind
from tests.findings.found import with_code
from tests.in_memory import CPU, STREAM, THREAD, profile_of

if TYPE_CHECKING:
    from profile_analyze.model.profile import Profile


def found(code: str, chosen: int, runs: int, run: int, process: str | None = None) -> Finding:
    values = {"chosen": chosen, "runs": runs, "run": run, "process": process}
    return Finding.of(code, Kind.WRONG, **values)


def left_out(chosen: int, runs: int, run: int, process: str | None = None) -> Finding:
    return found("runs-without-device-time", chosen, runs, run, process)


def unequal(chosen: int, runs: int, run: int, process: str | None = None) -> Finding:
    return found("unequal-runs", chosen, runs, run, process)


def runs_of(
    *runs: tuple[float, float, float], process: tuple[int, ...] = (), start_s: float = 0.0
) -> Profile:
    """Return a profile from the host time, the device time and the wall time of each run."""
    owner = process or (0,) * len(runs)
    return profile_of(
        [{"name": "conv"}],
        [
            {"operator": 0, "run": run, "track": track, "duration_s": time_s, "start_s": start_s}
            for run, times_s in enumerate(runs)
            for track, time_s in enumerate(times_s[:2])
            if not isnan(time_s)
        ],
        tracks=(THREAD, STREAM),
        runs=[Run(owner[n], n + 1, wall_s=wall_s) for n, (_, _, wall_s) in enumerate(runs)],
        processes=[f"{n}.json" for n in range(max(owner) + 1)],
    )


def totals(summary: pa.Summary) -> tuple[float, ...]:
    return summary.device_time_s, summary.host_time_s, summary.wall_s, summary.runs


def test_all_totals_are_of_the_runs_with_a_device_time() -> None:
    """The second step of this trace launched no kernel."""
    summary = pa.summarise(runs_of((3.0, 2.0, 4.0), (0.5, nan, 0.25)))
    assert totals(summary) == (2.0, 3.0, 4.0, 1)
    assert (summary.outside_s, summary.explained) == (1.0, 0.75)
    assert summary.notes == (left_out(1, 2, 2),)


def test_the_line_on_runs_counts_runs_without_a_device_time() -> None:
    timed, empty, once = (3.0, 2.0, nan), (0.5, nan, nan), "each process counts once"
    one, two = runs_of(timed, empty), runs_of(timed, empty, empty, timed, process=(0, 0, 1, 1))
    text = pa.render(pa.Report.of(pa.summarise(one), ()), "plain")
    assert text.endswith("runs               1, and 1 more without a device time\n")
    lines = pa.render(pa.Report.of(pa.summarise(pa.compare(one, two)), ()), "plain").splitlines()
    assert f"runs                  1, and 1 more without a device time, {once}" in lines
    spread = "(spread: half within 0.0% to 0.0%)"
    assert f"baseline runs         2, and 2 more without a device time, {once} {spread}" in lines
    text = pa.render(pa.Report.of(pa.summarise(one, judged_by=pa.Query(by="run")), ()), "plain")
    assert "more without" not in text


def test_several_runs_without_a_device_time_have_one_note() -> None:
    profile = runs_of(*((0.5, nan, 1.0), (3.0, 2.0, 4.0), (0.5, nan, 1.0)), process=(0, 1, 1))
    summary = pa.summarise(profile)
    assert totals(summary) == (2.0, 3.0, 4.0, 1)
    assert summary.notes == (left_out(2, 3, 1, "0.json"),)


def test_the_numbers_of_runs_in_the_note_include_skipped_runs() -> None:
    profile = runs_of((3.0, 2.0, 4.0), (3.0, 2.0, 4.0), (0.5, nan, 1.0))
    assert left_out(1, 2, 3) in pa.summarise(pa.without_first_runs(profile, 1)).notes


def test_without_any_device_time_no_run_is_left_out() -> None:
    summary = pa.summarise(runs_of((3.0, nan, 4.0), (1.0, nan, 2.0)))
    assert totals(summary) == pytest.approx((nan, 2.0, 3.0, 2), nan_ok=True)
    assert with_code(summary.notes, "runs-without-device-time") == []


def test_totals_of_rows_split_by_run_are_of_all_runs() -> None:
    profile = runs_of((3.0, 2.0, 4.0), (0.5, nan, 0.25))
    summary = pa.summarise(profile, judged_by=pa.Query(by="run"))
    assert totals(summary) == (2.0, 3.5, 4.0, 2)
    assert with_code(summary.notes, "runs-without-device-time") == []


def test_a_baseline_with_an_empty_run_has_a_note() -> None:
    comparison = pa.compare(runs_of((3.0, 2.0, 4.0)), runs_of((3.0, 2.0, 4.0), (0.5, nan, 0.25)))
    assert left_out(1, 2, 2).about(BASELINE) in pa.summarise(comparison).notes


@pytest.mark.parametrize(
    ("operators", "process", "notes"),
    [
        ((20, 1), (0, 0), (unequal(1, 2, 2),)),
        ((20, 2), (0, 0), ()),
        ((1, 20, 1), (0, 0, 0), (unequal(2, 3, 1),)),
        ((20, 1), (0, 1), ()),  # other files may be of other networks
        ((20, 20, 1), (0, 1, 1), (unequal(1, 3, 2, "1.json"),)),
    ],
)
def test_runs_with_hardly_any_work_have_a_note(
    operators: tuple[int, ...], process: tuple[int, ...], notes: tuple[Finding, ...]
) -> None:
    profile = profile_of(
        [{"name": f"conv{n}"} for n in range(20)],
        [
            {"operator": operator, "run": run, "duration_s": 20 / count}
            for run, count in enumerate(operators)
            for operator in range(count)
        ],
        tracks=[CPU],
        runs=[Run(one) for one in process],
        processes=[f"{n}.json" for n in range(max(process) + 1)],
    )
    assert pa.summarise(profile).notes == notes


@pytest.mark.parametrize(
    ("start_s", "reason"),
    [
        (0.0, "(operators take longer: some ran before or after it)"),
        (nan, "(operators take longer: measured one by one, or in other runs)"),
    ],
)
def test_operators_that_take_longer_than_their_run_have_the_true_reason(
    start_s: float, reason: str
) -> None:
    """In a trace, operators between two steps count in a step, but not in its wall time.

    If there are no start times, operators were measured apart from the whole run.
    """
    summary = pa.summarise(runs_of((6.0, 2.0, 4.0), start_s=start_s))
    text = pa.render(pa.Report.of(summary, ()), "plain")
    assert f"wall time of a run  4.000 s {reason}\n" in text
    # The reason is about the runs of the wall time. Here, this is the run in the middle.
    several = runs_of((3.0, 2.0, 4.0), (3.0, 2.0, 5.0), (9.0, 2.0, 8.0), start_s=start_s)
    text = pa.render(pa.Report.of(pa.summarise(several), ()), "plain")
    assert "  5.000 s (operators on the host: 60.0%, outside of them: 2.000 s)\n" in text

"""How much of a run's time its operators explain, and notes on slow first runs."""

from __future__ import annotations

from math import isnan, nan
from typing import TYPE_CHECKING

import pytest

import profile_analyze as pa
from profile_analyze.model.executions import Run, Track
from profile_analyze.model.findings import BASELINE, Finding, Kind
from profile_analyze.model.notes import by_importance
from profile_analyze.query.question import Query
from profile_analyze.query.run import run
from profile_analyze.report.base import Report
from profile_analyze.report.formats.output_formats import render
from profile_analyze.views.summary import Summary, summarise
from tests.findings.found import codes_in, rounded, with_code
from tests.in_memory import CPU, STREAM, THREAD, profile_of

if TYPE_CHECKING:
    from profile_analyze.model.profile import Profile


def iterations(*times_s: tuple[float, ...], wall_s: float = nan) -> Profile:
    """Return a profile of one operator, with the times of each process."""
    runs = [Run(process, wall_s=wall_s) for process, own in enumerate(times_s) for _ in own]
    durations = [time_s for own in times_s for time_s in own]
    return profile_of(
        [{"name": "conv"}],
        [{"operator": 0, "run": run, "duration_s": time_s} for run, time_s in enumerate(durations)],
        tracks=[CPU],
        runs=runs,
        processes=[f"{n}.json" for n in range(len(times_s))],
    )


def warm_up(
    multiple: float,
    runs: int = 1,
    *,
    slow: int = 1,
    processes: int = 1,
    skipped: int = 0,
    time: str = "device",
) -> Finding:
    values = {"time": time, "skipped": skipped, "runs": runs, "slow_processes": slow}
    counts = {"processes": processes, "multiple": multiple}
    return Finding.of("warm-up", Kind.WRONG, **values, **counts)


@pytest.mark.parametrize(
    ("times_s", "expected"),
    [
        ([(1.8, 1.0, 1.0)], [warm_up(1.8)]),
        ([(9.0, 1.5, 1.0, 1.0, 1.1, 1.0)], [warm_up(8.571, 2)]),
        (
            [(3.0, 1.0, 1.0), (2.0, 1.0, 1.0), (1.0, 1.0, 1.0)],
            [warm_up(3.0, slow=2, processes=3)],
        ),
        ([(1.0, 9.0, 1.0)], []),
        ([(1.2, 1.0, 1.0)], []),
        ([(9.0, 1.0)], []),
        ([(9.0,), (1.0,), (1.0,)], []),
        ([(nan, nan, nan)], []),
    ],
)
def test_slow_first_runs_are_found(
    times_s: list[tuple[float, ...]], expected: list[Finding]
) -> None:
    assert rounded(summarise(iterations(*times_s)).notes, 3) == expected


def test_the_run_numbers_include_skipped_runs() -> None:
    profile = pa.without_first_runs(iterations((9.0, 2.0, 1.0, 1.0, 1.0)), 1)
    assert summarise(profile).notes == (warm_up(2.0, skipped=1),)


@pytest.mark.parametrize(
    ("track", "wall_s", "kind"),
    [
        (CPU, (8.0, 5.0, 5.0), "wall"),
        (CPU, (8.0, 5.0, nan), "device"),
        (THREAD, (nan,) * 3, "host"),
    ],
)
def test_the_finding_on_slow_runs_says_which_times_these_are(
    track: Track, wall_s: tuple[float, ...], kind: str
) -> None:
    profile = profile_of(
        [{"name": "conv"}],
        [{"operator": 0, "run": run, "duration_s": (2.0, 1.0, 1.0)[run]} for run in range(3)],
        tracks=[track],
        runs=[Run(wall_s=one) for one in wall_s],
    )
    expected = warm_up(1.6 if kind == "wall" else 2.0, time=kind)
    assert with_code(summarise(profile).notes, "warm-up") == [expected]


@pytest.mark.parametrize(
    ("wall_s", "spread"), [(nan, "spread"), (5.0, "spread of the device time")]
)
def test_beside_a_wall_time_the_spread_is_named(wall_s: float, spread: str) -> None:
    profile = iterations((1.0, 1.1, 1.0), wall_s=wall_s)
    base = iterations((2.0, 2.0, 2.0))
    runs = f"3 in 1 process ({spread}: half within 0.0% to +5.0%)"
    text = render(Report.of(summarise(profile), ()), "plain")
    assert runs in text
    text = render(Report.of(summarise(pa.compare(base, profile)), ()), "plain")
    baseline = next(line for line in text.splitlines() if line.startswith("baseline runs"))
    assert f"({spread}: half within 0.0% to +5.0%)" in baseline


def test_slow_first_runs_of_a_baseline_have_a_note() -> None:
    profile, base = iterations((1.0, 1.0, 1.0)), iterations((2.0, 1.0, 1.0))
    assert warm_up(2.0).about(BASELINE) in summarise(pa.compare(profile, base)).notes


def explained(summary: Summary) -> tuple[float, ...]:
    return summary.wall_s, summary.outside_s, summary.explained


def test_totals_of_several_runs_say_so_if_rows_are_split_by_runs() -> None:
    def shown(*times_s: tuple[float, ...], by: str) -> list[str]:
        query = Query(by=by)
        report = Report.of(summarise(iterations(*times_s), judged_by=query), ())
        return render(report, "plain").splitlines()[:2]

    host = "total host time    N/A"
    assert shown((3.0, 3.0), (4.0,), by="run") == ["total device time  10.000 s (of 3 runs)", host]
    assert shown((3.0, 3.0), (4.0, 4.0), by="file")[0].endswith(" 7.000 s (of 2 runs)")
    assert shown((3.0, 3.0), (4.0,), by="file")[0].endswith(" s (of several runs)")
    assert shown((3.0,), by="run")[0].endswith(" 3.000 s")
    assert shown((3.0, 3.0), (4.0,), by="type")[0].endswith(" 3.000 s")


def test_operators_explain_their_share_of_the_wall_time() -> None:
    assert explained(summarise(iterations((3.0, 3.0), wall_s=4.0))) == (4.0, 1.0, 0.75)
    # rounding may make the operators longer than their run
    assert explained(summarise(iterations((4.002,), wall_s=4.0))) == (4.0, 0.0, 1.0)
    # if the operators are far longer than the run, they were measured in another run
    assert list(map(str, explained(summarise(iterations((4.5,), wall_s=4.0))))) == [
        "4.0",
        "nan",
        "nan",
    ]
    assert all(map(isnan, explained(summarise(iterations((4.0,))))))


def runs_of(*walls_and_times: tuple[float, float], processes: int = 1) -> Profile:
    """Return a profile of one operator, with the wall time and the operator's time of each run."""
    return profile_of(
        [{"name": "conv"}],
        [
            {"operator": 0, "run": run, "duration_s": time_s}
            for run, (_, time_s) in enumerate(walls_and_times)
        ],
        tracks=[CPU],
        runs=[
            Run(run * processes // len(walls_and_times), wall_s=wall_s)
            for run, (wall_s, _) in enumerate(walls_and_times)
        ],
        processes=[f"{n}.json" for n in range(processes)],
    )


@pytest.mark.parametrize(
    ("statistic", "expected"),
    [
        ("median", (4.0, 1.0, 0.75)),
        ("min", (2.0, 1.5, 0.25)),
        ("max", (9.0, 8.0, 1 / 9)),
        ("mean", (5.0, 3.5, 0.3)),
    ],
)
def test_the_parts_of_a_wall_time_are_of_the_same_runs(
    statistic: str, expected: tuple[float, ...]
) -> None:
    query = pa.Query(run_statistic=statistic)
    profile = runs_of((4.0, 3.0), (9.0, 1.0), (2.0, 0.5))
    assert explained(summarise(profile, judged_by=query)) == pytest.approx(expected)


def test_a_mean_wall_time_that_is_too_large_is_not_available() -> None:
    profile = runs_of((1e308, 1.0), (1.5e308, 2.0))
    assert all(map(isnan, explained(summarise(profile))))


def busy_host(multiple: float, kind: Kind = Kind.WRONG) -> Finding:
    return Finding.of("busy-host", kind, share=1.0, multiple=multiple)


def test_a_time_that_one_run_lacks_is_not_available() -> None:
    assert all(map(isnan, explained(summarise(runs_of((4.0, 3.0), (nan, 1.0), (5.0, 3.0))))))
    # The operators of the second run take longer than the run.
    profile = runs_of((4.0, 3.0), (4.0, 9.0))
    assert explained(summarise(profile)) == pytest.approx((4.0, nan, nan), nan_ok=True)


@pytest.mark.parametrize(
    ("host_s", "wall_s", "notes"),
    [
        (2.5, nan, (busy_host(2.5),)),
        (2.5, 5.0, (busy_host(2.5),)),
        (2.5, 1.9, ()),  # the device is busy for most of the run
        (2.0, nan, ()),
    ],
)
def test_a_host_that_takes_far_longer_than_the_device_has_a_note(
    host_s: float, wall_s: float, notes: tuple[Finding, ...]
) -> None:
    rows = [{"operator": 0, "duration_s": host_s}, {"operator": 0, "duration_s": 1.0, "track": 1}]
    profile = profile_of([{"name": "a"}], rows, tracks=(THREAD, STREAM), runs=[Run(wall_s=wall_s)])
    assert summarise(profile).notes == notes


@pytest.mark.parametrize("kind", [Kind.WRONG, Kind.ANSWER])
def test_a_busy_host_is_the_first_note(kind: Kind) -> None:
    judges = kind == Kind.ANSWER
    peaks = pa.Peaks("made", (("fp32", 1.0),), 1.0, "by hand") if judges else None
    profile = profile_of(
        [{"name": "a", "computation": 9.0, "memory": 1.0}],
        [
            {"operator": 0, "run": run, "duration_s": scale * (2.0, 1.0, 1.0)[run], "track": track}
            for track, scale in enumerate((2.5, 1.0))
            for run in range(3)
        ],
        tracks=(THREAD, STREAM),
        runs=[Run()] * 3,
    )
    query = Query(peaks=peaks)
    answers = run(query, profile), summarise(profile, judged_by=query)
    first, *others = by_importance(note for answer in answers for note in answer.notes)
    assert first == busy_host(2.5, kind)
    assert ("faster-than-roof" in codes_in(others)) == judges
    assert "warm-up" in codes_in(others)


@pytest.mark.parametrize(
    ("waits_s", "note"),
    [
        (1.0, ()),
        (0.5, (busy_host(2.5),)),
        (0.02, (busy_host(2.98),)),
    ],
)
def test_a_host_that_waits_for_the_device_does_not_work(
    waits_s: float, note: tuple[Finding, ...]
) -> None:
    rows = [
        {"operator": 0, "duration_s": 3.0, "thread_wait_s": waits_s},
        {"operator": 0, "duration_s": 1.0, "track": 1},
    ]
    summary = summarise(profile_of([{"name": "a"}], rows, tracks=(THREAD, STREAM)))
    assert summary.notes == note
    assert (summary.host_time_s, summary.thread_wait_s) == (3.0, waits_s)
    text = render(Report.of(summary, ()), "plain")
    assert ("waiting" in text) == (waits_s > 0.02)


def test_waits_for_other_threads_of_a_cpu_are_no_waits_of_the_host() -> None:
    rows = [{"operator": 0, "duration_s": 3.0, "thread_wait_s": 1.0}]
    assert isnan(summarise(profile_of([{"name": "a"}], rows, tracks=(CPU,))).thread_wait_s)


def test_an_even_number_of_runs_has_two_runs_in_the_middle() -> None:
    profile = runs_of((4.0, 3.0), (9.0, 1.0), (2.0, 0.5), (8.0, 7.0))
    assert explained(summarise(profile)) == pytest.approx((6.0, 1.0, 5 / 6))


def test_later_runs_that_take_far_longer_have_a_note() -> None:
    usual = (1.0, 0.5)

    def outliers(
        run: int,
        multiple: float,
        outside: float | None,
        *,
        process: str | None = None,
        count: int = 1,
    ) -> Finding:
        values = {"run": run, "process": process, "outliers": count}
        return Finding.of("outliers", Kind.WRONG, **values, multiple=multiple, outside=outside)

    notes = summarise(runs_of(usual, (8.0, 2.0), usual, usual)).notes
    assert notes == (outliers(2, 8.0, 0.75),)
    assert summarise(runs_of(usual, usual, (2.9, 2.0), usual)).notes == ()
    slow = (usual, usual, (3.0, 1.0), usual, usual, usual, (5.0, 9.0), usual)
    notes = summarise(runs_of(*slow, processes=2)).notes
    assert notes == (outliers(3, 5.0, None, process="1.json", count=2),)


@pytest.mark.parametrize(
    ("tracks", "outside_s"),
    [
        ((CPU, CPU._replace(device="npu")), 1.0),  # one thread works for two devices
        ((CPU, CPU._replace(name="thread 2")), nan),  # two threads may overlap
        ((THREAD, STREAM), 2.0),  # the thread works longer than the stream
        ((STREAM, THREAD), 2.0),  # the stream works longer than the thread
        ((STREAM, STREAM), 1.0),
    ],
)
def test_tracks_decide_which_operators_explain_a_run(
    tracks: tuple[Track, ...], outside_s: float
) -> None:
    rows = [{"operator": 0, "duration_s": 2.0}, {"operator": 1, "duration_s": 1.0, "track": 1}]
    profile = profile_of(
        [{"name": "a"}, {"name": "b"}], rows, tracks=tracks, runs=[Run(wall_s=4.0)]
    )
    expected = pytest.approx((4.0, outside_s, 1 - outside_s / 4), nan_ok=True)
    assert explained(summarise(profile)) == expected


@pytest.mark.parametrize(
    ("threads", "host_s", "side", "text"),
    [
        (1, 3.0, "host", "operators on the host: 75.0%, outside of them: 1.000 s"),
        (1, 1.0, "device", "device busy: 50.0%, idle: 2.000 s"),
        (2, 3.0, "device", "device busy: 50.0%, idle: 2.000 s"),  # threads may overlap
    ],
)
def test_the_line_says_which_times_explain_a_run(
    threads: int, host_s: float, side: str, text: str
) -> None:
    hosts = [THREAD._replace(name=f"thread {number}") for number in range(threads)]
    rows = [
        {"operator": 0, "duration_s": host_s / threads, "track": track} for track in range(threads)
    ]
    rows.append({"operator": 0, "duration_s": 2.0, "track": threads})
    profile = profile_of([{"name": "a"}], rows, tracks=(*hosts, STREAM), runs=[Run(wall_s=4.0)])
    summary = summarise(profile)
    assert summary.explained_on == side
    assert f"wall time of a run  4.000 s ({text})\n" in render(Report.of(summary, ()), "plain")


@pytest.mark.parametrize(
    ("level", "rows"), [("module", "modules and regions"), ("kernel", "kernels")]
)
def test_the_line_says_of_which_level_the_rows_are(level: str, rows: str) -> None:
    profile = profile_of(
        [{"name": "a", "level": level}],
        [{"operator": 0, "duration_s": 3.0}],
        runs=[Run(wall_s=4.0)],
    )
    text = render(Report.of(summarise(profile), ()), "plain")
    assert f"wall time of a run  4.000 s ({rows}: 75.0%, outside of them: 1.000 s)\n" in text


def test_the_line_names_no_side_if_runs_differ_or_if_there_is_one_side() -> None:
    times = ((3.0, 2.0), (2.0, 3.0))
    rows = [
        {"operator": 0, "duration_s": time_s, "track": track, "run": run}
        for run, sides in enumerate(times)
        for track, time_s in enumerate(sides)
    ]
    runs = [Run(0, number, wall_s=4.0) for number in range(2)]
    profile = profile_of([{"name": "a"}], rows, tracks=(THREAD, STREAM), runs=runs)
    for one in (profile, runs_of((4.0, 3.0))):
        summary = summarise(one)
        assert summary.explained_on is None
        text = render(Report.of(summary, ()), "plain")
        assert "operators: 75.0%, outside of them: 1.000 s)\n" in text


def test_wall_times_of_a_comparison_count_a_process_once() -> None:
    """As the device times do: without this, operators would take longer than their run."""
    new = runs_of((2.0, 1.0), (2.0, 1.0), (4.0, 3.0), (8.0, 7.0), processes=2)
    base = runs_of((1.0, 1.0), (1.0, 1.0), (5.0, 5.0), (9.0, 9.0), processes=2)
    assert explained(summarise(new)) == pytest.approx((3.0, 1.0, 2 / 3))
    by_process, by_iteration = (
        summarise(pa.compare(new, base), judged_by=query)
        for query in (pa.Query(compared=True), pa.Query(compared=True, unit="iteration"))
    )
    for summary, wall_s in ((by_process, 4.0), (by_iteration, 3.0)):
        assert summary.change is not None
        assert summary.device_time_s == wall_s - 1
        assert explained(summary) == pytest.approx((wall_s, 1.0, 1 - 1 / wall_s))
        assert (summary.change.base.time_s, summary.change.base.wall_s) == (wall_s, wall_s)


def test_copies_do_not_count_in_the_wall_times_of_a_comparison() -> None:
    new = runs_of((2.0, 1.0), (4.0, 3.0), (4.0, 3.0), processes=3)
    new = new.changed(runs=(*new.runs[:2], new.runs[2]._replace(is_copy=True)))
    assert summarise(pa.compare(new, runs_of((1.0, 1.0)))).wall_s == 3.0


def test_the_line_says_if_the_operators_of_a_typical_run_differ_from_the_total() -> None:
    def line(profile: Profile) -> str:
        return render(Report.of(summarise(profile), ()), "plain").splitlines()[2]

    assert line(runs_of((4.0, 3.0), (9.0, 1.0), (2.0, 0.5))) == (
        "wall time of a run  4.000 s (in such a run, operators: 75.0%, outside of them: 1.000 s)"
    )
    assert line(runs_of((4.0, 3.0), (9.0, 8.0), (2.0, 2.8))) == (
        "wall time of a run  4.000 s (operators: 75.0%, outside of them: 1.000 s)"
    )


def test_the_line_does_not_compare_a_typical_run_with_the_total_of_several_runs() -> None:
    profile = runs_of((4.0, 3.0), (9.0, 8.0), (2.0, 1.0))
    summary = summarise(profile, judged_by=pa.Query(by="run"))
    assert render(Report.of(summary, ()), "plain").splitlines()[:3] == [
        "total device time   12.000 s (of 3 runs)",
        "total host time     N/A",
        "wall time of a run  4.000 s (operators: 75.0%, outside of them: 1.000 s)",
    ]

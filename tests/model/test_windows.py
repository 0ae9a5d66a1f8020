"""Windows: a part of a profile, by time or by step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from profile_analyze.errors import QueryError
from profile_analyze.model.executions import Run
from profile_analyze.model.joining.runs import join_runs
from profile_analyze.model.levels.levels import at_level
from profile_analyze.model.levels.windows import numbers_text, only_steps, within_times
from profile_analyze.model.notes import Importance
from profile_analyze.views.summary import summarise
from tests.conftest import examples
from tests.findings.found import said
from tests.in_memory import CPU, STREAM, THREAD, averages, bare, four_steps, nested, profile_of

if TYPE_CHECKING:
    from profile_analyze.model.profile import Profile

MS = 1e-3
UNKNOWN = pytest.approx(float("nan"), nan_ok=True)


def rows_of(profile: Profile) -> list[tuple[str, float, float, int]]:
    """Return the name, start and duration in milliseconds, and calls of each execution."""
    executions = profile.executions
    names = profile.operators.name.values()[executions.operator].tolist()
    starts, durations = (
        np.round(times / MS, 9).tolist() for times in (executions.start_s, executions.duration_s)
    )
    return list(zip(names, starts, durations, executions.calls.tolist(), strict=True))


def test_executions_at_the_edges_are_clipped() -> None:
    found = within_times(nested(), 4.5 * MS, 9.25 * MS)
    assert found.check() == ()
    assert rows_of(found) == [
        ("net", 4.5, 4.75, 1),
        ("linear", 4.5, 1.5, 1),
        ("addmm", 4.5, 0.5, 1),
        ("launch", 3.0, 0.0, 0),  # the launch of the kernel that still runs
        ("relu", 7.0, 2.0, 1),
        ("launch", 8.0, 0.5, 1),
        ("gemm", 4.5, 2.5, 1),
        ("relu_kernel", 9.0, 0.25, 1),
    ]
    # The notes count only operators and kernels.
    assert said(found.notes) == (
        "only what happened from 4.50 ms to 9.25 ms: 5 of 5 executions",
        "clipped 4 executions (100.0% of the time) at the edges of the window",
    )
    rows = at_level(found)
    names = rows.operators.name.values().tolist()
    assert names == ["linear", "addmm", "relu"]
    np.testing.assert_allclose(rows.measured("time")[:, 0], [np.nan, 2.5 * MS, 0.25 * MS])
    np.testing.assert_allclose(rows.measured("host_time")[:, 0], [1.0 * MS, 0.5 * MS, 2.0 * MS])
    np.testing.assert_allclose(rows.measured("queue")[:, 0], [np.nan, 0.0, 0.5 * MS])


def test_a_kernel_keeps_an_operator_that_ended_before_the_window() -> None:
    found = within_times(nested(), 6.5 * MS, 6.75 * MS)
    assert rows_of(found) == [
        ("net", 6.5, 0.25, 1),
        ("linear", 1.0, 0.0, 0),
        ("addmm", 2.0, 0.0, 0),
        ("launch", 3.0, 0.0, 0),
        ("gemm", 6.5, 0.25, 1),
    ]
    rows = at_level(found)
    np.testing.assert_allclose(rows.measured("time")[:, 0], [np.nan, 0.25 * MS])
    np.testing.assert_array_equal(rows.calls()[:, 0], [np.nan, np.nan])
    assert not [note for note in said(rows.notes) if "left out" in note]


def test_a_wait_counts_only_inside_the_window() -> None:
    profile = profile_of(
        [{"name": "a"}, {"name": "b"}],
        [
            {
                "operator": 0,
                "start_s": 0.0,
                "duration_s": 4 * MS,
                "first_kernel_s": 3 * MS,
                "thread_wait_s": MS,
            },
            {"operator": 1, "start_s": 5 * MS, "duration_s": MS, "submitted_s": 0.0},
        ],
        runs=(Run(wall_s=6 * MS),),
    )
    found = within_times(profile, 1 * MS).executions
    np.testing.assert_allclose(found.first_kernel_s, [2 * MS, np.nan])
    np.testing.assert_allclose(found.submitted_s, [np.nan, 1 * MS])
    np.testing.assert_array_equal(np.isnan(found.thread_wait_s), [True, True])
    only_waits = {"operator": 0, "start_s": 0.0, "duration_s": 4 * MS, "thread_wait_s": 4 * MS}
    waiting = within_times(profile_of([{"name": "a"}], [only_waits]), 1 * MS).executions
    np.testing.assert_allclose(waiting.thread_wait_s, [3 * MS])
    np.testing.assert_allclose(
        within_times(profile, 0.0, 2 * MS).executions.first_kernel_s, [2 * MS]
    )
    # If a window cuts a run, the wall time of the run is unknown.
    assert np.isnan(within_times(profile, 1 * MS).runs[0].wall_s)
    assert within_times(profile, 0.0).runs[0].wall_s == 6 * MS


def test_a_recorded_self_time_is_at_most_the_time_inside_the_window() -> None:
    executions = [{"operator": 0, "start_s": 0.0, "duration_s": 4 * MS, "self_s": 3 * MS}]
    profile = profile_of([{"name": "a"}], executions, tracks=(THREAD,))
    assert within_times(profile, 2 * MS).executions.self_s.tolist() == [2 * MS]


def test_each_process_and_each_clock_begins_at_its_own_first_execution() -> None:
    def one(file: str, start_s: float) -> Profile:
        executions = [
            {"operator": 0, "start_s": start_s, "duration_s": 1 * MS, "track": 0},
            {"operator": 0, "start_s": start_s + 2 * MS, "duration_s": 1 * MS, "track": 0},
            {"operator": 0, "start_s": 7.0, "duration_s": 1 * MS, "track": 1},
        ]
        tracks = (STREAM, STREAM._replace(name="other", clock="other"))
        return profile_of([{"name": "a"}], executions, tracks=tracks, processes=(file,))

    found = within_times(join_runs([one("a.json", 1.0), one("b.json", 100.0)]), 0.0, 1 * MS)
    assert rows_of(found) == [
        ("a", 1000.0, 1.0, 1), ("a", 7000.0, 1.0, 1), ("a", 100000.0, 1.0, 1), ("a", 7000.0, 1.0, 1)
    ]  # fmt: skip


def runs_of(*durations: float) -> Profile:
    """Return a run for each duration, in ms. In each run, two operators take this time.

    A run starts every 10 ms, and its second operator 5 ms later.
    """
    executions = [
        {
            "operator": half,
            "run": run,
            "start_s": (10 * run + 5 * half) * MS,
            "duration_s": one * MS,
        }
        for run, one in enumerate(durations)
        for half in (0, 1)
    ]
    runs = [Run(wall_s=9 * MS)] * len(durations)
    return profile_of([{"name": "a"}, {"name": "b"}], executions, tracks=(CPU,), runs=runs)


def test_runs_partly_inside_are_left_out_if_whole_runs_are_inside() -> None:
    found = within_times(runs_of(4, 2, 3), 6 * MS)
    assert found.check() == ()
    assert found.measured("time").tolist() == [[2 * MS, 3 * MS], [2 * MS, 3 * MS]]
    assert [run.wall_s for run in found.runs] == [9 * MS, 9 * MS]
    assert said(found.notes) == (
        "only what happened from 6.00 ms on: 4 of 6 executions",
        "left out 1 run that is only partly inside the window: times are of whole runs",
    )
    assert said(within_times(runs_of(4, 2, 3), 6 * MS, 21 * MS).notes)[-1] == (
        "left out 2 runs that are only partly inside the window: times are of whole runs"
    )
    assert [note.importance for note in found.notes] == [Importance.ANSWER, Importance.ANSWER]


def test_parts_of_several_runs_without_a_whole_run_have_a_note() -> None:
    found = within_times(runs_of(4, 2), 6 * MS, 11 * MS)
    assert len(found.runs) == 2
    assert np.isnan([run.wall_s for run in found.runs]).all()
    assert said(found.notes) == (
        "only what happened from 6.00 ms to 11.0 ms: 2 of 4 executions",
        "clipped 2 executions (100.0% of the time) at the edges of the window",
        "the window has parts of 2 runs, but no whole run: times combine these parts; choose a "
        "window with a whole run, or inside of one run",
    )
    assert [note.importance for note in found.notes] == [
        Importance.ANSWER,
        Importance.WRONG,
        Importance.ANSWER,
    ]
    assert len(within_times(runs_of(4, 2), 6 * MS, 8 * MS).notes) == 2  # a part of one run


def test_each_process_keeps_its_own_part_of_a_run() -> None:
    """A window that suits several files cuts some of their runs, but not their shorter runs."""
    files = [runs_of(4), runs_of(2)]
    found = within_times(join_runs(files), 0.0, 8 * MS)
    assert found.measured("time").tolist() == [[4 * MS, 2 * MS], [3 * MS, 2 * MS]]
    assert np.isnan([run.wall_s for run in found.runs]).tolist() == [True, False]
    assert said(found.notes)[1:] == (
        "clipped 1 execution (27.3% of the time) at the edges of the window",
    )
    assert np.isnan(summarise(found).wall_s)


def test_an_execution_without_a_start_is_left_out() -> None:
    executions = [
        {"operator": 0, "start_s": 1.0, "duration_s": 1.0},
        {"duration_s": 1.0},
        {"start_s": 1.5},
    ]
    profile = profile_of([{"name": "a"}], executions)
    found = within_times(profile, 0.25)
    assert rows_of(found) == [
        ("a", 1250.0, 750.0, 1),
        ("a", 1500.0, UNKNOWN, 1),
    ]
    assert said(found.notes) == (
        "only what happened from 250 ms on: 2 of 3 executions",
        "clipped 1 execution (100.0% of the time) at the edges of the window",
        "left out 1 execution without a start time",
    )


def test_allocations_of_executions_before_the_window_do_not_count() -> None:
    executions = nested().executions
    profile = nested().changed(
        executions=executions.changed(allocated_bytes=np.arange(len(executions)) + 1.0)
    )
    # `addmm` and its launch have ended, but the kernel `gemm` still runs.
    found = within_times(profile, 5.5 * MS, 6 * MS)
    assert found.executions.allocated_bytes.tolist() == [1.0, 2.0, 0.0, 0.0, 7.0]


def test_an_empty_window_and_unknown_start_times_are_errors() -> None:
    for profile, text in [
        (
            bare(),
            "made.json cannot be cut by time: it has no start times (format: a made-up runtime)",
        ),
        (
            averages(),
            "made.json cannot be cut by time: it has no start times (format: a made-up report)",
        ),
    ]:
        with pytest.raises(QueryError) as caught:
            within_times(profile, 1.0)
        assert str(caught.value) == f"from_s: {text}"
    with pytest.raises(QueryError) as caught:
        within_times(nested(), 1.0, 2.0)
    assert str(caught.value) == (
        "from_s: nothing happened from 1.00 s to 2.00 s; made.json ends after 12.0 ms"
    )


def test_steps_are_chosen_by_their_number() -> None:
    found = only_steps(four_steps(), 11, 12)
    assert [run.step for run in found.runs] == [11, 12]
    np.testing.assert_allclose(found.measured("time"), [[3 * MS, 4 * MS], [4 * MS, 4 * MS]])
    assert said(found.notes) == ("only steps 11-12; left out 2 runs",)
    assert found.check() == ()
    joined = join_runs([four_steps("a.json"), four_steps("b.json", 2.0)])
    assert [run.process for run in only_steps(joined, 13, 99).runs] == [0, 1]
    for first, last, text in [(9, 9, "9"), (1, 5, "1-5")]:
        with pytest.raises(QueryError) as caught:
            only_steps(four_steps(), first, last)
        assert str(caught.value) == f"steps: no step {text} in made.json; its steps: 10-13"
    with pytest.raises(QueryError) as caught:
        only_steps(nested(), 1, 1)
    assert str(caught.value) == "steps: no step 1 in made.json; it has no steps"
    executions = [{"operator": 0, "run": 0, "duration_s": 1.0}]
    idle = profile_of([{"name": "a"}], executions, runs=[Run(0, 1), Run(0, 2)])
    with pytest.raises(QueryError) as caught:
        only_steps(idle, 2, 2)
    assert str(caught.value) == "steps: no operator ran in step 2"


def test_a_kernel_of_the_step_keeps_a_launcher_of_another_step() -> None:
    profile = profile_of(
        [{"name": "op"}, {"name": "kernel", "level": "kernel"}, {"name": "unused"}],
        [
            {"operator": 0, "duration_s": 5 * MS, "run": 0},
            {"operator": 1, "duration_s": 2 * MS, "run": 1, "track": 1, "launched_by": 0},
            {"operator": 2, "duration_s": 1 * MS, "run": 0},
        ],
        tracks=(THREAD, STREAM),
        runs=(Run(0, 1, wall_s=1.0), Run(0, 2, wall_s=2.0)),
    )
    found = only_steps(profile, 2, 2)
    assert found.check() == ()
    assert found.runs == (Run(0, 2, wall_s=2.0),)
    assert found.operators.name.values().tolist() == ["op", "kernel"]
    assert found.executions.duration_s.tolist() == [0.0, 2 * MS]
    assert at_level(found).measured("time").tolist() == [[2 * MS]]


def test_consecutive_numbers_are_written_as_ranges() -> None:
    assert numbers_text([]) == ""
    assert numbers_text([4]) == "4"
    assert numbers_text([1, 2, 3, 7, 9, 10]) == "1-3, 7, 9-10"


@st.composite
def traces(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Generate nested executions of a thread, and kernels that they launched, in whole seconds."""
    rows: list[dict[str, Any]] = []

    def add(first: int, last: int, parent: int) -> None:
        now = first
        while now < last and len(rows) < 12 and draw(st.booleans()):
            start = draw(st.integers(now, last))
            now = draw(st.integers(start, last))
            index = len(rows)
            rows.append(
                {"operator": index % 3, "start_s": start, "duration_s": now - start,
                 "parent": parent}
            )  # fmt: skip
            if draw(st.booleans()):
                launch, length = draw(st.integers(start, now + 9)), draw(st.integers(0, 9))
                rows.append(
                    {"operator": 3, "start_s": launch, "duration_s": length, "track": 1,
                     "launched_by": index}
                )  # fmt: skip
            add(start, now, index)

    add(0, 24, -1)
    return rows


OPERATORS = [*({"name": name} for name in "abc"), {"name": "kernel", "level": "kernel"}]


def slow_window(rows: list[dict[str, Any]], low: float, high: float) -> dict[str, float]:
    """Return the host and device time of each operator in a window, computed by plain loops."""
    first = min(row["start_s"] for row in rows)

    def inside(row: dict[str, Any]) -> float:
        start, end = row["start_s"] - first, row["start_s"] - first + row["duration_s"]
        return float(max(0.0, min(end, high) - max(start, low)))

    times: dict[str, float] = {}
    for index, row in enumerate(rows):
        if "launched_by" in row:
            owner, time = rows[row["launched_by"]], inside(row)
            key = f"device {owner['operator']}"
        else:
            children = (one for one in rows if one.get("parent") == index)
            key, time = f"host {row['operator']}", inside(row) - sum(map(inside, children))
        times[key] = times.get(key, 0.0) + time
    return {key: time for key, time in times.items() if time}


@examples(200)
@given(traces(), st.integers(0, 30), st.integers(1, 30))
def test_times_in_a_window_equal_plain_loops(
    rows: list[dict[str, Any]], low: int, length: int
) -> None:
    if not rows:
        return
    profile = profile_of(OPERATORS, rows, tracks=(THREAD, STREAM))
    try:
        found = within_times(profile, low, low + length)
    except QueryError:
        assert slow_window(rows, low, low + length) == {}
        return
    assert found.check() == ()
    level = at_level(found)
    numbers = [*map("abc".index, level.operators.name.values().tolist())]
    times = {
        f"{side} {number}": float(time)
        for side, measure in (("host", "host_time"), ("device", "time"))
        for number, time in zip(numbers, level.measured(measure)[:, 0].tolist(), strict=True)
        if time > 0
    }
    assert times == slow_window(rows, low, low + length)


def test_the_threads_of_a_cpu_are_cut_too() -> None:
    executions = [{"operator": 0, "start_s": 0.0, "duration_s": 4 * MS}]
    found = within_times(profile_of([{"name": "a"}], executions, tracks=(CPU,)), 0.0, 1 * MS)
    assert found.measured("time").tolist() == [[1 * MS]]

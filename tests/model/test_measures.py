"""Measures: one time for each operator and run, computed from executions."""

from __future__ import annotations

from math import nan
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from profile_analyze import large_arrays
from profile_analyze.model import measuring
from profile_analyze.model.executions import Run, Track
from profile_analyze.model.joining.runs import join_runs
from profile_analyze.model.measures import MEASURES
from profile_analyze.model.measuring import amounts, total_by_track
from tests.in_memory import CPU, STREAM, THREAD, four_steps, profile_of, static

if TYPE_CHECKING:
    from profile_analyze.model.profile import Profile

NAMES = [{"name": name} for name in "abcd"]


def executed(rows: list[dict[str, Any]], together: Literal["sum", "max"] = "sum") -> Profile:
    tracks = [
        Track("x", together=together),
        Track("y", together=together),
        Track("h", "host", together=together),
    ]
    return profile_of(NAMES, rows, tracks=tracks, runs=[Run(0), Run(0)])


ROWS: list[dict[str, Any]] = [
    {"operator": 0, "track": 0, "duration_s": 3.0},
    {"operator": 0, "track": 1, "duration_s": 2.0, "first_kernel_s": 0.5},
    {"operator": 0, "track": 0, "duration_s": 0.5, "first_kernel_s": 0.0, "run": 1},
    {"operator": 2, "track": 0, "duration_s": nan, "first_kernel_s": 0.25},
    {"operator": 2, "track": 1, "duration_s": 1.0, "first_kernel_s": 0.5},
    {"operator": 3, "track": 0, "duration_s": 2.0},
    {"operator": 3, "track": 2, "duration_s": 7.0},
]


def test_calls_are_added_up_and_tracks_combined() -> None:
    added = executed(ROWS)
    np.testing.assert_array_equal(
        added.measured("time"), [[5, 0.5], [nan, nan], [nan, nan], [2, nan]]
    )
    np.testing.assert_array_equal(
        added.measured("wait"), [[0.5, 0], [nan, nan], [0.75, nan], [nan, nan]]
    )
    largest = executed([*ROWS, {"operator": 0, "track": 1, "duration_s": 1.5}], together="max")
    np.testing.assert_array_equal(
        largest.measured("time"), [[3.5, 0.5], [nan, nan], [nan, nan], [2, nan]]
    )
    np.testing.assert_array_equal(
        largest.measured("wait"), [[0.5, 0], [nan, nan], [0.5, nan], [nan, nan]]
    )
    np.testing.assert_array_equal(
        largest.measured("host_time"), [[nan, nan], [nan, nan], [nan, nan], [7, nan]]
    )
    assert largest.recorded("device").tolist() == [True, False, True, True]
    assert largest.recorded("host").tolist() == [False, False, False, True]


def test_several_calls_in_a_run_are_added_up() -> None:
    profile = four_steps()
    np.testing.assert_allclose(
        profile.measured("time"), [[18e-3, 3e-3, 4e-3, 5e-3], [8e-3, 4e-3, 4e-3, 4e-3]]
    )
    assert profile.calls().tolist() == [[4, 3, 3, 3], [1, 1, 1, 1]]


def test_joined_files_keep_their_rules_for_tracks() -> None:
    both = [
        {"operator": 0, "track": 0, "duration_s": 1.0},
        {"operator": 0, "track": 1, "duration_s": 1.0},
    ]
    joined = join_runs([executed(both, "max"), executed(both, "sum")])
    np.testing.assert_array_equal(joined.measured("time")[0], [1, np.nan, 2, np.nan])
    assert joined.calls()[0].tolist()[::2] == [1, 2]


def test_a_call_that_both_sides_recorded_is_one_call() -> None:
    rows = [
        {"operator": 0, "track": 0, "duration_s": 2.0},
        {"operator": 0, "track": 2, "duration_s": 1.0},
        {"operator": 1, "track": 2, "duration_s": 1.0},
    ]
    assert executed(rows).calls()[:2, 0].tolist() == [1, 1]


def test_a_row_that_stands_for_several_calls_counts_all_of_them() -> None:
    rows = [{"operator": 0, "duration_s": 6.0, "calls": 3}, {"operator": 1, "duration_s": 1.0}]
    profile = profile_of(NAMES[:3], rows)
    assert profile.calls()[:2].tolist() == [[3], [1]]
    assert np.isnan(profile.calls()[2]).all()
    assert profile.measured("time")[0].tolist() == [6]


def test_a_profile_without_times_has_all_operators() -> None:
    profile = static()
    assert profile.recorded("device").all()
    assert np.isnan(profile.measured("time")).all()
    assert profile.measured("time").shape == (3, 1)
    assert np.isnan(profile.total_s())


def test_the_queue_delay_is_from_the_end_of_the_launching_call_to_the_start() -> None:
    rows = [
        {"operator": 0, "duration_s": 1.0, "start_s": 3.0, "submitted_s": 2.5},
        {"operator": 0, "duration_s": 1.0, "start_s": 5.0},
        {"operator": 1, "duration_s": 1.0, "start_s": 7.0, "submitted_s": 7.25},
    ]
    assert profile_of(NAMES[:2], rows).measured("queue").tolist() == [[0.5], [-0.25]]


def test_the_wait_of_threads_is_from_host_tracks_or_else_from_cpu_threads() -> None:
    rows = [
        {"operator": 0, "duration_s": 3.0, "thread_wait_s": 1.0},
        {"operator": 0, "duration_s": 3.0, "thread_wait_s": 0.5},
        {"operator": 0, "duration_s": 3.0},
    ]
    assert profile_of(NAMES[:1], rows, tracks=[CPU]).measured("thread_wait").tolist() == [[1.5]]
    both = profile_of(NAMES[:1], rows, tracks=[STREAM, THREAD]).measured("thread_wait")
    assert np.isnan(both).all()


def test_the_median_over_inferences_is_added_up_like_the_mean() -> None:
    rows = [
        {"operator": 0, "duration_s": 3.0, "median_s": 2.0},
        {"operator": 0, "duration_s": 3.0, "median_s": 2.5},
        {"operator": 1, "duration_s": 3.0},
    ]
    found = profile_of(NAMES[:2], rows, tracks=[STREAM]).measured("time_median")
    assert np.array_equal(found, [[4.5], [np.nan]], equal_nan=True)
    assert MEASURES["time_median"].is_run_time


def test_self_time_is_from_host_tracks_or_else_from_cpu_threads() -> None:
    rows = [{"operator": 0, "duration_s": 3.0, "self_s": 1.0}, {"operator": 0, "duration_s": 2.0}]
    assert profile_of(NAMES[:1], rows, tracks=[CPU]).measured("self").tolist() == [[3.0]]
    assert profile_of(NAMES[:1], rows, tracks=[THREAD]).measured("self").tolist() == [[3.0]]
    both = profile_of(NAMES[:1], rows, tracks=[STREAM, THREAD]).measured("self")
    assert np.isnan(both).all()


def test_totals_of_tracks_are_medians_over_the_runs() -> None:
    profile = executed(ROWS)
    totals = {track.name: total for track, total in profile.total_by_track("device").items()}
    assert totals == {"x": 2.75, "y": 3.0}
    assert [track.name for track in profile.total_by_track("host")] == ["h"]


def test_infinite_sums_are_not_available() -> None:
    rows = [{"operator": 0, "duration_s": 1.7e308}] * 2
    assert np.isnan(profile_of(NAMES[:1], rows).measured("time")).all()


EXECUTIONS = st.lists(
    st.fixed_dictionaries(
        {
            "operator": st.integers(0, 3),
            "track": st.integers(0, 2),
            "run": st.integers(0, 1),
            "duration_s": st.sampled_from([0.0, 0.25, 1.0, 2.5, nan]),
            "first_kernel_s": st.sampled_from([0.0, 0.125, 2.0, nan]),
        }
    ),
    max_size=12,
)


@given(
    EXECUTIONS,
    st.sampled_from(["sum", "max"]),
    st.sampled_from(["time", "wait", "host_time", "host_wait"]),
)
def test_measures_equal_a_plain_loop(
    rows: list[dict[str, Any]], together: Literal["sum", "max"], name: str
) -> None:
    field = MEASURES[name].field
    profile = executed(rows, together)
    column = "duration_s" if field == "duration" else "first_kernel_s"
    is_host = MEASURES[name].side == "host"
    for operator in range(4):
        for run in range(2):
            time_of_track: dict[int, float] = {}
            for row in rows:
                is_counted = (row["operator"], row["run"], row["track"] == 2) == (
                    operator, run, is_host,
                )  # fmt: skip
                value = row[column]
                if not is_counted or (not MEASURES[name].propagates_unknown and value != value):
                    continue
                time_of_track[row["track"]] = time_of_track.get(row["track"], 0.0) + value
            wanted = nan
            if time_of_track and not any(value != value for value in time_of_track.values()):
                values = time_of_track.values()
                wanted = sum(values) if together == "sum" else max(values)
            found = profile.measured(name)[operator, run]
            assert found == pytest.approx(wanted, nan_ok=True)


@given(EXECUTIONS, st.sampled_from(["sum", "max"]), st.integers(1, 5), st.booleans())
def test_a_large_profile_is_measured_in_parts(
    rows: list[dict[str, Any]],
    together: Literal["sum", "max"],
    rows_per_part: int,
    is_sorted: bool,  # noqa: FBT001  # hypothesis passes it by position
) -> None:
    rows = sorted(rows, key=lambda row: row["run"]) if is_sorted else rows
    with pytest.MonkeyPatch.context() as patch:
        whole = _measured(executed(rows, together))
        patch.setattr(measuring, "_ROWS_PER_PART", rows_per_part)
        in_parts = _measured(executed(rows, together))
    for expected, found in zip(whole, in_parts, strict=True):
        np.testing.assert_array_equal(found, expected)


def _measured(profile: Profile) -> list[Any]:
    return [
        *map(profile.measured, ("time", "wait", "host_time", "self")),
        profile.calls(),
        amounts(profile, "allocated_bytes"),
        total_by_track(profile, "device"),
    ]


@pytest.mark.parametrize(
    ("run", "ends"),
    [
        ([0, 0, 1, 2, 2], [2, 3, 5]),
        ([0, 1, 0, 1, 2, 3, 2], [4, 7]),
        ([1, 0, 2], [2, 3]),
        ([3, 1], [2]),
        ([4, 4, 7], [2, 3]),
    ],
)
@pytest.mark.parametrize("values_at_once", [2, 100])
def test_a_profile_is_divided_only_between_whole_runs(
    run: list[int], ends: list[int], values_at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(large_arrays, "_VALUES_AT_ONCE", values_at_once)
    assert measuring._ends_of_runs(np.array(run, np.int32), 8).tolist() == ends


def test_runs_without_executions_are_measured_in_parts_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measuring, "_ROWS_PER_PART", 2)
    rows = [{"operator": 0, "run": run, "duration_s": run + 1.0} for run in (1, 1, 1, 4, 6)]
    profile = profile_of(NAMES[:1], rows, tracks=[Track("x")], runs=[Run(0)] * 8)
    expected = [[nan, 6, nan, nan, 5, nan, 7, nan]]
    np.testing.assert_array_equal(profile.measured("time"), expected)


def test_times_of_equal_tracks_are_added_up() -> None:
    profile = profile_of(
        [{"name": "a"}],
        [{"operator": 0, "duration_s": float(track + 1), "track": track} for track in range(2)],
        tracks=(CPU, CPU),
    )
    assert profile.total_by_track("device") == {CPU: 3.0}

"""The note on rows whose times do not add up to the total."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import profile_analyze as pa
from profile_analyze.model.executions import Run, Track
from tests.in_memory import CPU, profile_of

if TYPE_CHECKING:
    from profile_analyze.model.profile import Profile

OF_MEDIANS = (
    "all rows add up to 50.0% of the total: each time is the median over the 3 runs; with "
    "--run-stat mean, they add up to it"
)

OF_MAXIMA = OF_MEDIANS.replace("50.0%", "200.0%").replace("median", "maximum")


def runs_of(*times_s: tuple[float | None, ...]) -> Profile:
    """Return a profile with the times of each operator in each run; None if it did not run."""
    executions = [
        {"operator": operator, "run": run, "duration_s": time_s}
        for operator, of_operator in enumerate(times_s)
        for run, time_s in enumerate(of_operator)
        if time_s is not None
    ]
    return profile_of(
        [{"name": name, "type": name} for name in "abc"[: len(times_s)]],
        executions,
        tracks=(CPU,),
        runs=[Run() for _ in times_s[0]],
    )


UNEVEN = runs_of((1.0, 1.0, 4.0), (1.0, 4.0, 1.0), (4.0, 1.0, 1.0))
"""Each run takes 6 s, but the median of each operator is only 1 s."""


@pytest.mark.parametrize(
    ("question", "notes"),
    [
        ({}, (OF_MEDIANS,)),
        ({"by": "type"}, (OF_MEDIANS,)),
        ({"top": 1}, (OF_MEDIANS,)),
        ({"run_statistic": "max"}, (OF_MAXIMA,)),
        ({"run_statistic": "mean"}, ()),
        ({"by": "type", "aggregates": "max"}, ()),
        ({"by": "run"}, ()),
        ({"where": "name != c"}, ()),
    ],
)
def test_rows_that_do_not_add_up_have_a_note(
    question: dict[str, Any], notes: tuple[str, ...]
) -> None:
    found = pa.run(pa.Query(**question), UNEVEN).notes
    assert tuple(one for one in found if one.startswith("all rows")) == notes


def test_small_differences_have_no_note() -> None:
    assert (
        pa.run(pa.Query(), runs_of((1.0, 1.1, 1.0), (1.0, 1.0, 1.1), (1.0, 1.0, 1.0))).notes == ()
    )


def test_rows_of_only_some_runs_do_not_add_up_either() -> None:
    found = pa.run(pa.Query(), runs_of((1.0, None, 3.0), (9.0, 2.0, 2.0))).notes
    assert found == (
        "all rows add up to 80.0% of the total: each time is the median over those of the 3 runs "
        "in which the row ran",
    )


GPU = [
    Track(name, device=name, kind="comp node", together="max", device_kind="gpu")
    for name in ("gpu0", "gpu1")
]
HOST = Track("main", "host", kind="thread", together="max")


def on_two_devices(*, is_shared: bool = True) -> Profile:
    """Return a profile whose first operator ran on both devices, unless `is_shared` is false."""
    return profile_of(
        [{"name": "shared", "type": "A"}, {"name": "single", "type": "B"}],
        [
            {"operator": 0, "track": 0, "duration_s": 3.0},
            *([{"operator": 0, "track": 1, "duration_s": 2.0}] if is_shared else ()),
            {"operator": 1, "track": 0, "duration_s": 1.0},
            {"operator": 0, "track": 2, "duration_s": 0.25},
        ],
        tracks=(*GPU, HOST),
    )


SHARES = (
    "rows are split by {}: operators that ran on several tracks at once count on each, so all rows "
    "add up to 150.0% of the total; shares are relative to this sum"
)


@pytest.mark.parametrize(
    ("by", "split_by"),
    [("track", "track"), ("device", "device"), ("track,run", "track"), ("run", ""), ("type", "")],
)
def test_rows_of_tracks_that_worked_on_one_operator_add_up_to_more(by: str, split_by: str) -> None:
    notes = pa.run(pa.Query(by=by), on_two_devices()).notes
    found = tuple(one for one in notes if one.startswith("rows are split"))
    assert found == ((SHARES.format(split_by),) if split_by else ())


def test_rows_of_tracks_have_the_times_of_one_side_and_shares_of_all_rows() -> None:
    columns = ("track", "time", "device_time", "host_time", "share", "cumulative_share")
    for profile, expected in (
        (
            on_two_devices(),
            [["gpu0", 4.0, 4.0, None, 4 / 6, 4 / 6], ["gpu1", 2.0, 2.0, None, 2 / 6, 1.0]],
        ),
        (on_two_devices(is_shared=False), [["gpu0", 4.0, 4.0, None, 1.0, 1.0]]),
    ):
        table = pa.run(pa.Query(by="track"), profile)
        rows = zip(*(table[name].tolist() for name in columns), strict=True)
        assert [[None if one != one else one for one in row] for row in rows] == expected
    of_host = pa.run(pa.Query(by="track", measure="host_time"), on_two_devices())
    assert of_host["track"].tolist() == ["main"]
    assert (of_host["host_time"].tolist(), of_host["share"].tolist()) == ([0.25], [1.0])
    assert np.isnan(of_host["device_time"]).all()


def test_the_device_time_is_no_sum_if_tracks_worked_on_one_operator() -> None:
    assert pa.summarise(on_two_devices()).notes == (
        "the device time is of 2 comp nodes, which may have run at the same time: 4.00 s on gpu0, "
        "2.00 s on gpu1; for an operator on several, only the slowest counts",
    )


def test_shares_of_single_runs_are_relative_to_all_runs() -> None:
    profile = runs_of((1.0, 3.0), (2.0, 4.0))
    table = pa.run(pa.Query(by="run,type", order="+run,+type"), profile)
    assert table["share"].tolist() == [0.1, 0.2, 0.3, 0.4]
    assert pa.run(pa.Query(by="run", order="+run"), profile)["share"].tolist() == [0.3, 0.7]
    assert table.notes == ("rows are split by run: shares are relative to the total of all 2 runs",)

"""The ranks of a distributed job, in profiles made in memory."""

from __future__ import annotations

from math import nan
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from profile_analyze.model.executions import Run
from profile_analyze.model.findings import Finding, Kind
from profile_analyze.model.joining.ranks import (
    as_one_job,
    notes_on_incomplete_runs,
    rank_spread,
    times_of_ranks,
)
from profile_analyze.model.levels.splitting import split
from profile_analyze.model.levels.windows import only_steps
from tests.in_memory import STREAM, profile_of

if TYPE_CHECKING:
    from profile_analyze.model.profile import Profile


def two_ranks(steps: tuple[tuple[int | None, ...], tuple[int | None, ...]]) -> Profile:
    """Return runs of rank 0 and rank 1 with these steps. The runs of a rank take 1 s, 2 s, ..."""
    runs = [
        Run(rank, step, wall_s=number + 1.0)
        for rank, of_rank in enumerate(steps)
        for number, step in enumerate(of_rank)
    ]
    executions: list[dict[str, Any]] = [
        {"operator": 0, "duration_s": run.wall_s, "run": index, "track": run.process}
        for index, run in enumerate(runs)
    ]
    return profile_of(
        [{"name": "a"}],
        executions,
        tracks=[STREAM._replace(rank=rank) for rank in range(2)],
        runs=runs,
        processes=["a.json", "b.json"],
    )


def test_runs_of_the_same_step_become_one_run() -> None:
    job = as_one_job(two_ranks(((4, 5), (5, 6))))
    assert [(run.step, run.wall_s) for run in job.runs] == [(4, 1.0), (5, 2.0), (6, 2.0)]
    assert job.measured("time").tolist() == [[1.0, 2.0 + 1.0, 2.0]]
    assert [*notes_on_incomplete_runs(job)] == [
        Finding.of("incomplete-ranks", Kind.WRONG, incomplete=2, runs=3, ranks=2)
    ]
    assert [*notes_on_incomplete_runs(only_steps(job, 5, 5))] == []
    assert job.processes == ("a.json and 1 more rank",)
    assert job.check() == ()


def test_without_steps_the_nth_runs_become_one_run() -> None:
    job = as_one_job(two_ranks(((None, None), (None, None))))
    assert [(run.step, run.wall_s) for run in job.runs] == [(None, 1.0), (None, 2.0)]
    assert job.measured("time").tolist() == [[2.0, 4.0]]
    assert [*notes_on_incomplete_runs(job)] == []
    assert split(job, ["rank"]).measured("time").tolist() == [[1.0, 2.0], [1.0, 2.0]]


@given(st.lists(st.lists(st.none() | st.integers(0, 9), min_size=3, max_size=3), min_size=1))
def test_the_spread_over_ranks_equals_a_plain_loop(times: list[list[int | None]]) -> None:
    expected = []
    for row in times:
        known = [one for one in row if one is not None]
        has_spread = len(known) > 1 and sum(known) > 0
        mean = sum(known) / max(len(known), 1)
        expected.append((max(known) - min(known)) / mean if has_spread else nan)
    values = np.array([[nan if one is None else one for one in row] for row in times], np.float64)
    assert rank_spread(values).tolist() == pytest.approx(expected, nan_ok=True)


def test_a_profile_without_ranks_has_no_spread_over_ranks() -> None:
    profile = profile_of([{"name": "a"}], [{"operator": 0, "duration_s": 1.0}])
    assert times_of_ranks(profile).shape == (1, 0)
    assert rank_spread(times_of_ranks(profile)).tolist() == [pytest.approx(nan, nan_ok=True)]
    assert as_one_job(profile) is profile

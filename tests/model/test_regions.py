"""Regions as the iterations of a profile."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from profile_analyze.errors import QueryError
from profile_analyze.model.executions import Run
from profile_analyze.model.findings import Finding, Kind
from profile_analyze.model.joining.runs import join_runs
from profile_analyze.model.levels.levels import at_level
from profile_analyze.model.levels.regions import regions_of, with_step_region
from profile_analyze.model.notes import Importance, TextNote
from tests.findings.found import said
from tests.in_memory import STREAM, THREAD, bare, nested, profile_of

if TYPE_CHECKING:
    from profile_analyze.model.profile import Profile

UNKNOWN: Any = pytest.approx(np.nan, nan_ok=True)


def two_batches(file: str = "made.json") -> Profile:
    """Return two executions of a region, one of which holds a region of the same name.

    batch  0 s ........... 4      batch  6 ......... 9
      op     1 ... 3         op 4-5        op 7 - 8
    stream           3 .. 4 kernel         kernel  8 ....... 11    kernel 12-13
    """
    return profile_of(
        [
            {"name": "batch", "level": "module"},
            {"name": "op", "type": "Op"},
            {"name": "kernel", "level": "kernel"},
            {"name": "other", "level": "module"},
        ],
        [
            {"operator": 0, "start_s": 6.0, "duration_s": 3.0},
            {"operator": 1, "start_s": 7.0, "duration_s": 1.0, "parent": 0},
            {"operator": 0, "start_s": 0.0, "duration_s": 4.0},
            {"operator": 0, "start_s": 1.0, "duration_s": 2.0, "parent": 2},
            {"operator": 1, "start_s": 1.0, "duration_s": 2.0, "parent": 3},
            {"operator": 1, "start_s": 4.0, "duration_s": 1.0},
            {"operator": 2, "start_s": 12.0, "duration_s": 1.0, "track": 1, "launched_by": 4},
            {"operator": 2, "start_s": 8.0, "duration_s": 3.0, "track": 1, "launched_by": 1},
            {"operator": 2, "start_s": 3.0, "duration_s": 1.0, "track": 1, "launched_by": 4},
        ],
        tracks=(THREAD, STREAM),
        processes=(file,),
        notes=(
            Finding.of("outside-steps", Kind.CONTEXT, executions=1),
            TextNote("the file is old", Importance.CONTEXT),
        ),
    )


def two_ranks(counts: tuple[int, int] = (2, 2)) -> Profile:
    """Return a job whose ranks have regions of 4 s and 5 s. The clock of rank 1 is 5 s ahead."""
    executions: list[dict[str, Any]] = []
    for rank, count in enumerate(counts):
        for number in range(count):
            start_s = 10.0 * number + 5 * rank
            region = {"operator": 0, "start_s": start_s, "duration_s": 4.0 + rank, "track": rank}
            inside = {"operator": 1, "start_s": start_s + 1, "duration_s": 1.0, "track": rank}
            executions += [region, {**inside, "parent": len(executions)}]
        if count == 0:  # a rank without regions
            late = {"operator": 1, "start_s": 100.0, "duration_s": 1.0, "track": rank}
            executions.append(late)
    return profile_of(
        [{"name": "batch", "level": "module"}, {"name": "op", "type": "Op"}],
        executions,
        tracks=[THREAD._replace(rank=rank, clock=str(rank)) for rank in range(2)],
    )


def test_the_nth_regions_of_all_ranks_are_one_run() -> None:
    found = with_step_region(two_ranks(), "batch")
    assert found.runs == (Run(0, 1, "batch", wall_s=5.0), Run(0, 2, "batch", wall_s=5.0))
    assert found.executions.run.tolist() == [0, 0, 1, 1, 0, 0, 1, 1]
    assert with_step_region(two_ranks((2, 1)), "batch").runs == (
        Run(0, 1, "batch", wall_s=5.0),
        Run(0, 2, "batch", wall_s=4.0),
    )


def test_a_rank_without_the_region_is_an_error() -> None:
    with pytest.raises(
        QueryError, match=r"^step_region: no region 'batch' on rank 1 in made\.json$"
    ):
        with_step_region(two_ranks((2, 0)), "batch")


def test_each_execution_of_a_region_becomes_a_run() -> None:
    found = with_step_region(two_batches(), "batch")
    assert found.check() == ()
    assert found.runs == (
        Run(0, 1, "batch", wall_s=UNKNOWN),  # has an operator outside of its region
        Run(0, 2, "batch", wall_s=0.0),  # ends before the last kernel of the run before it
    )
    assert found.executions.run.tolist() == [1, 1, 0, 0, 0, 0, 0, 1, 0]
    rows = at_level(found)
    assert rows.measured("time").tolist() == [[2.0, 3.0]]
    assert rows.measured("host_time").tolist() == [[3.0, 1.0]]
    assert said(found.notes) == (
        "the file is old",
        "1 execution (25.0% of the time) of operators outside of all regions 'batch': each counts "
        "in the iteration before it, or else in the first iteration",
    )


def test_executions_before_the_first_region_belong_to_the_first_run() -> None:
    found = with_step_region(
        profile_of(
            [{"name": "batch", "level": "module"}, {"name": "op"}],
            [
                {"operator": 1, "start_s": 0.0, "duration_s": 1.0},
                {"operator": 0, "start_s": 2.0, "duration_s": 1.0},
            ],
        ),
        "batch",
    )
    assert found.executions.run.tolist() == [0, 0]


def test_a_region_around_all_executions_is_one_run_without_a_note() -> None:
    found = with_step_region(nested(), "net")
    assert found.runs == (Run(0, 1, "net", wall_s=12e-3),)
    assert said(found.notes) == ()


def test_each_process_has_iterations_of_its_own() -> None:
    found = with_step_region(join_runs([two_batches("a.json"), two_batches("b.json")]), "batch")
    assert [(run.process, run.step) for run in found.runs] == [(0, 1), (0, 2), (1, 1), (1, 2)]
    assert found.executions.run.tolist() == [
        *[1, 1, 0, 0, 0, 0, 0, 1, 0],
        *[3, 3, 2, 2, 2, 2, 2, 3, 2],
    ]


def test_regions_that_ran_are_listed() -> None:
    assert regions_of(two_batches()) == ["batch"]
    assert regions_of(nested()) == ["net"]
    assert regions_of(bare()) == []


def test_the_most_frequent_region_is_listed_first() -> None:
    profile = profile_of(
        [{"name": name, "level": "module"} for name in ("once", "often", "twice", "also once")],
        [{"operator": one, "duration_s": 1.0} for one in (0, 1, 2, 1, 3, 2, 1)],
    )
    assert regions_of(profile) == ["often", "twice", "once", "also once"]


def test_an_unknown_region_is_an_error() -> None:
    many = profile_of(
        [{"name": f"r{n}", "level": "module"} for n in range(12)],
        [{"operator": n, "duration_s": 1.0} for n in range(12)],
    )
    other = profile_of(
        [{"name": "r1", "level": "module"}],
        [{"operator": 0, "duration_s": 1.0}],
        processes=("other.json",),
    )
    for profile, name, text in [
        (nested(), "linear", "no region 'linear' in made.json; it has net"),
        (
            bare(),
            "net",
            "no regions in made.json: only traces that recorded modules or named regions have "
            "them; leave out the option",
        ),
        (
            many,
            "r",
            "no region 'r' in made.json; it has r0, r1, r2, r3, r4, r5, r6, r7, r8, r9 and 2 more",
        ),
        (join_runs([many, other]), "r2", "no region 'r2' in other.json"),
        (
            many,
            "r1",
            "made.json cannot be cut by time: it has no start times (format: a made-up runtime)",
        ),
    ]:
        with pytest.raises(QueryError) as caught:
            with_step_region(profile, name)
        assert str(caught.value) == f"step_region: {text}"

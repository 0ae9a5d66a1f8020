"""Shares of the time in notes and sentences, which agree with tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import profile_analyze as pa
from profile_analyze.model.executions import Run
from profile_analyze.query.time_shares import share_of
from tests.in_memory import profile_of

if TYPE_CHECKING:
    from numpy.typing import NDArray


@given(arrays(np.float64, (2, 2, 9), elements=st.integers(1, 50)))
def test_totals_and_shares_count_a_process_once(times_s: NDArray[np.float64]) -> None:
    """Each side has three processes with 2, 3 and 4 runs."""
    process = [0, 0, 1, 1, 1, 2, 2, 2, 2]
    new, old = (
        profile_of(
            [{"name": "a"}, {"name": "b"}],
            [
                {"operator": operator, "run": run, "duration_s": seconds}
                for operator, row in enumerate(side)
                for run, seconds in enumerate(row)
            ],
            runs=[Run(number) for number in process],
            processes=("1", "2", "3"),
        )
        for side in times_s
    )
    comparison = pa.compare(new, old)
    query = pa.Query(compared=True, order="+name")
    table = pa.run(query, comparison)

    def typical(seconds: NDArray[np.float64]) -> float:
        return float(np.median([np.median(seconds[np.equal(process, n)]) for n in range(3)]))

    total_s = typical(times_s[0].sum(axis=0))
    assert table.total_s == pa.summarise(comparison, judged_by=query).device_time_s == total_s
    assert table.shown.of_base().total_s == typical(times_s[1].sum(axis=0))
    for row in range(2):
        share = share_of(table.shown, np.arange(2) == row)
        assert share == table["share"][row] == typical(times_s[0][row]) / total_s


def test_runs_without_a_time_do_not_count() -> None:
    times = [(0, 0, 1.0), (1, 0, 3.0), (0, 1, 1.0), (1, 1, 3.0)]
    profile = profile_of(
        [{"name": "a"}, {"name": "b"}],
        [{"operator": op, "run": run, "duration_s": seconds} for op, run, seconds in times],
        runs=[Run()] * 5,  # the last three have no execution
    )
    is_a = np.array([True, False])
    table = pa.run(pa.Query(order="+name"), profile)
    shares = (profile.share_of(is_a), share_of(table.shown, is_a), table["share"][0])
    assert shares == (0.25, 0.25, 0.25)


def test_the_estimate_is_of_medians_of_totals_and_not_of_totals_of_medians() -> None:
    """In each run of a process, a different operator is slow."""

    def side(file: str, factor: float) -> pa.Profile:
        return profile_of(
            [{"name": name} for name in "abc"],
            [
                {
                    "operator": operator,
                    "run": 3 * process + run,
                    "duration_s": factor * scale * (9.0 if operator == run else 1.0),
                }
                for process, scale in enumerate((1.0, 1.01, 1.02, 1.03))
                for run in range(3)
                for operator in range(3)
            ],
            runs=[Run(process) for process in range(4) for _ in range(3)],
            processes=[f"{file}{process}.json" for process in range(4)],
        )

    comparison = pa.compare(side("new", 1.25), side("base", 1.0))
    change = pa.summarise(comparison, judged_by=pa.Query(compared=True)).change
    assert change is not None
    assert change.base.time_s == pytest.approx(11 * 1.015)
    assert (change.estimate, change.ratio) == pytest.approx((1.25, 1.25))

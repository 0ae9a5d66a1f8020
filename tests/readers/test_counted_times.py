"""Shares that a reader computes before it makes the profile equal those of `Profile.share_of`."""

from __future__ import annotations

from math import isnan

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from profile_analyze.model.executions import Run
from profile_analyze.readers.counted_times import CountedTimes
from tests.conftest import examples
from tests.in_memory import profile_of

OPERATORS = 3
executions = st.lists(
    st.tuples(st.integers(0, OPERATORS - 1), st.integers(0, 3), st.integers(1, 9)), min_size=1
)


@given(executions, st.lists(st.booleans(), min_size=OPERATORS, max_size=OPERATORS))
@examples(100)
def test_shares_are_those_of_the_profile(
    rows: list[tuple[int, int, int]], wanted: list[bool]
) -> None:
    # Runs without executions have no time, so they do not count.
    runs = sorted({run for _, run, _ in rows})
    operator, run, duration_s = np.array([(one, runs.index(n), time) for one, n, time in rows]).T
    times = CountedTimes(operator, run, duration_s.astype(float))
    profile = profile_of(
        [{"name": f"op{n}"} for n in range(OPERATORS)],
        [
            {"operator": one, "run": runs.index(n), "duration_s": float(time)}
            for one, n, time in rows
        ],
        runs=[Run()] * len(runs),
    )
    chosen = np.array(wanted)
    assert times.share_of(chosen) == profile.share_of(chosen)


def test_a_share_of_nothing_is_not_available() -> None:
    empty = np.array([], np.int32)
    assert isnan(CountedTimes(empty, empty, np.array([])).share_of(np.array([True])))
    first = np.array([0], np.int32)
    assert isnan(CountedTimes(first, first, np.array([0.0])).share_of(np.array([True])))

"""The note on shares that are not the quotient of the times that are shown."""

from __future__ import annotations

import pytest

import profile_analyze as pa
from tests.in_memory import profile_of


def runs_of(*times_of_runs: tuple[float, float]) -> pa.Profile:
    """Return a profile with these times of the operators a and b in each run."""
    executions = [
        {"operator": operator, "run": run, "duration_s": time_s}
        for run, times_s in enumerate(times_of_runs)
        for operator, time_s in enumerate(times_s)
    ]
    runs = tuple(pa.Run(step=step) for step in range(len(times_of_runs)))
    return profile_of([{"name": "a"}, {"name": "b"}], executions, runs=runs)


def notes(profile: pa.Profile, query: pa.Query) -> list[str]:
    return [note for note in pa.run(query, profile).notes if "shares of" in note]


# In the second run, each takes half of the time. Their median times, 3 s, are a quarter of 12 s.
VARYING = runs_of((2.0, 10.0), (3.0, 3.0), (10.0, 2.0))
NOTE = (
    "the shares of {} differ from time / total by up to 25.0 points, because a share is the "
    "median of the shares of 3 runs; --aggregate-by run shows each run, --skip-runs N leaves out "
    "the first"
)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (pa.Query(), [NOTE.format("2 rows")]),
        (pa.Query(top=1), [NOTE.format("1 row")]),
        (pa.Query(run_statistic="max"), []),
        (pa.Query(by="run"), []),
    ],
)
def test_shares_that_are_medians(query: pa.Query, expected: list[str]) -> None:
    assert notes(VARYING, query) == expected


@pytest.mark.parametrize(
    "profile",
    [
        runs_of((2.0, 10.0)),
        runs_of((2.0, 2.0), (2.0, 3.0), (3.0, 6.0)),
        runs_of((1.0, 1.0), (1.01, 1.0), (1.0, 1.01)),
    ],
)
def test_shares_that_are_the_quotient(profile: pa.Profile) -> None:
    assert notes(profile, pa.Query()) == []

"""The note on rows whose times do not add up to the total."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import profile_analyze as pa
from profile_analyze.model.executions import Run
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

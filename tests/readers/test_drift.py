"""Drift between runs, and times that are corrected for drift."""

from __future__ import annotations

from math import nan

import numpy as np

import profile_analyze as pa
from profile_analyze.analysis.drift import drift_factors, without_drift
from tests.readers.timed_runs import near, runs, us
from tests.small import (
    Operator,
    document,
    profile_of,
    profile_of_document,
)


def test_drift_is_the_slowdown_common_to_all_operators() -> None:
    steady = np.array([[10.0] * 4, [20.0] * 4, [5.0, 5.0, 5.0, 9.0], [nan, 1.0, 1.0, 1.0]])
    slow = np.array([1.0, 1.5, 0.5, 1.0])
    factors = drift_factors(steady * slow)
    assert factors is not None
    np.testing.assert_allclose(factors, slow)
    assert drift_factors(np.full((2, 3), nan)) is None
    assert drift_factors(np.zeros((2, 3))) is None


def test_without_drift() -> None:
    profile = runs((10, 1), (20, 2), (5, 0.5))
    corrected = without_drift(profile)
    assert isinstance(corrected, pa.Profile)
    assert pa.run(pa.Query(order="+id"), corrected)["time_max"].tolist() == [us(10), us(1)]
    assert corrected.notes == (
        "times are corrected for drift: the times of each run are divided by its drift factor, "
        "0.5 to 2 (1 is the median run); a change of all operators at once is hidden",
    )
    comparison = pa.compare(profile, runs((20, 2), (40, 4), (10, 1)))
    both = without_drift(comparison)
    assert isinstance(both, pa.Comparison)
    result = pa.run(pa.Query(compared=True), both)
    assert result["ratio"].tolist() == [near(1.0), near(1.0)]
    alone = without_drift(runs((10, 1)))
    assert alone.notes == ("there is only one run: there is no drift between runs to correct",)


def test_corrected_times_beyond_the_range_of_floats_are_unknown() -> None:
    operators = [
        Operator("a", "Conv", 10),
        Operator("long", "Conv", 1),
        Operator("late", "Conv", 2e306, start=1.5e308),
    ]
    found = document(operators)
    found["profiler"]["device"]["1"]["gpu0:0"]["end"] = 1.5e308
    new = profile_of_document(found)
    base = profile_of([Operator("a", "Conv", 30)])
    both = without_drift(pa.compare(new, base))
    times = pa.run(pa.Query(compared=True, order="+id"), both)["time"]
    np.testing.assert_allclose(times, [20e-6, nan, 4e300])


def test_unknown_drift_is_not_corrected() -> None:
    one = profile_of([Operator("conv", "Conv", 10)], "1.json")
    two = profile_of([Operator("relu", "Relu", 30)], "2.json")
    profile = pa.join_runs([one, two])
    corrected = without_drift(profile)
    assert isinstance(corrected, pa.Profile)
    assert corrected.notes == ("no operator has a time in every run: drift was not corrected",)
    assert pa.run(pa.Query(), corrected).rows == pa.run(pa.Query(), profile).rows
    comparison = without_drift(pa.compare(one, two))
    assert isinstance(comparison, pa.Comparison)
    assert comparison.notes[-1] == corrected.notes[0]
    assert not comparison.drift_corrected  # so the total still gets a verdict


def test_a_corrected_total_has_no_verdict() -> None:
    slow = runs(*[(20, 4 + index / 100) for index in range(4)])  # equal runs would be copies
    fast = runs(*[(10, 2 + index / 100) for index in range(4)])
    comparison = pa.compare(slow, fast)
    query = pa.Query(compared=True)
    found = [
        pa.summarise(one, judged_by=query).change for one in (comparison, without_drift(comparison))
    ]
    assert [change and change.verdict for change in found] == ["slower", None]

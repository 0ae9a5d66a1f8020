"""Drift between runs, and times that are corrected for drift."""

from __future__ import annotations

import re
from math import nan
from typing import TYPE_CHECKING

import numpy as np
import pytest

import profile_analyze as pa
from profile_analyze.comparison.drift import drift_factors, without_drift
from profile_analyze.findings.sentences import as_text
from profile_analyze.report.facts.sentence_parts import reason_in_words
from tests import in_memory
from tests.conftest import some_of
from tests.findings.found import said
from tests.readers.timed_runs import near, runs, us
from tests.small import (
    Operator,
    document,
    profile_of,
    profile_of_document,
)

if TYPE_CHECKING:
    from collections.abc import Mapping


def test_drift_is_the_slowdown_common_to_all_operators() -> None:
    steady = np.array([[10.0] * 4, [20.0] * 4, [5.0, 5.0, 5.0, 9.0], [nan, 1.0, 1.0, 1.0]])
    slow = np.array([1.0, 1.5, 0.5, 1.0])
    factors = drift_factors(steady * slow)
    assert factors is not None
    np.testing.assert_allclose(factors, slow)
    assert drift_factors(np.full((2, 3), nan)) is None
    assert drift_factors(np.zeros((2, 3))) is None


def test_times_of_each_run_are_divided_by_its_drift_factor() -> None:
    profile = runs((10, 1), (20, 2), (5, 0.5))
    corrected = without_drift(profile)
    assert isinstance(corrected, pa.Profile)
    assert pa.run(pa.Query(order="+id"), corrected)["time_max"].tolist() == [us(10), us(1)]
    assert said(corrected.notes) == (
        "times are corrected for drift: the times of each run are divided by its drift factor, "
        "0.5 to 2 (1 is the median run)",
    )
    comparison = pa.compare(profile, runs((20, 2), (40, 4), (10, 1)))
    both = without_drift(comparison)
    assert isinstance(both, pa.Comparison)
    assert as_text(both.notes[-1]).endswith(
        "(1 is the median run); a change that all operators share is removed; the summary "
        "and all verdicts are as measured"
    )
    result = pa.run(pa.Query(compared=True), both)
    assert result["ratio"].tolist() == [near(1.0), near(1.0)]
    alone = without_drift(runs((10, 1)))
    assert said(alone.notes) == ("drift was not corrected: there is only one run",)


@pytest.mark.parametrize(("host_s", "side"), [(0.0, "device"), (0.5, "device"), (100.0, "host")])
def test_wall_times_are_corrected_like_the_times_of_the_longer_side(
    host_s: float, side: str
) -> None:
    slow = {"device": [1.0, 2.0, 4.0], "host": [1.0, 1.5, 0.5]}
    rows = [
        {"operator": operator, "run": run, "track": track, "duration_s": time_s * slow[one][run]}
        for run in range(3)
        for track, (one, total_s) in enumerate((("device", 20.0), ("host", host_s)))
        for operator, time_s in enumerate((0.3456789 * total_s, 0.6543211 * total_s))
        if time_s
    ]
    profile = in_memory.profile_of(
        [{"name": "a"}, {"name": "b"}],
        rows,
        tracks=[in_memory.STREAM, in_memory.THREAD],
        runs=[pa.Run(wall_s=300.0 * factor) for factor in slow[side]],
    )
    corrected = without_drift(profile)
    assert isinstance(corrected, pa.Profile)
    walls_s = [run.wall_s for run in corrected.runs]
    assert walls_s == [near(300.0 * float(np.median(slow[side])))] * 3
    summary = pa.summarise(corrected)
    assert summary.outside_s == near(walls_s[0] - max(summary.device_time_s, host_s))


def test_a_corrected_comparison_can_be_grouped_by_a_split_key() -> None:
    def on_two_tracks(scale: float) -> pa.Profile:
        rows = [
            {
                "operator": operator,
                "run": run,
                "track": track,
                "duration_s": scale * 1.234567**operator,
            }
            for run in range(2)
            for operator in range(2)
            for track in range(2)
        ]
        tracks = [in_memory.STREAM, in_memory.STREAM._replace(name="stream 8")]
        names = [{"name": "a"}, {"name": "b"}]
        return in_memory.profile_of(names, rows, tracks=tracks, runs=[pa.Run(0), pa.Run(0)])

    corrected = without_drift(pa.compare(on_two_tracks(2.0), on_two_tracks(1.0)))
    for by in (("track",), ("track", "name")):
        table = pa.run(pa.Query(by=by, compared=True), corrected)
        assert table["ratio"].tolist() == [near(1.0)] * 2 * len(by)
        assert table["ratio_low"].shape == (2 * len(by),)


def test_corrected_times_beyond_the_range_of_floats_are_unknown() -> None:
    operators = [
        Operator("a", "Conv", 10),
        Operator("b", "Conv", 11),
        Operator("long", "Conv", 1),
        Operator("late", "Conv", 2e306, start=1.5e308),
    ]
    found = document(operators)
    found["profiler"]["device"]["2"]["gpu0:0"]["end"] = 1.5e308
    new = profile_of_document(found)
    base = profile_of([Operator("a", "Conv", 40), Operator("b", "Conv", 44)])
    both = without_drift(pa.compare(new, base))
    times = pa.run(pa.Query(compared=True, order="+id"), both)["time"]
    # The new run takes half the time of the median run, so all its times are doubled.
    np.testing.assert_allclose(times, [20e-6, 22e-6, nan, 4e300])


def test_unknown_drift_is_not_corrected() -> None:
    one = profile_of([Operator("conv", "Conv", 10)], "1.json")
    two = profile_of([Operator("relu", "Relu", 30)], "2.json")
    profile = pa.join_runs([one, two])
    corrected = without_drift(profile)
    assert isinstance(corrected, pa.Profile)
    assert said(corrected.notes) == (
        "drift was not corrected: no operator has a long enough time in every run",
    )
    assert pa.run(pa.Query(), corrected).rows == pa.run(pa.Query(), profile).rows
    comparison = without_drift(pa.compare(one, two))
    assert isinstance(comparison, pa.Comparison)
    assert comparison.notes[-1] == corrected.notes[0]


def scaled(factor_of: Mapping[str, float], seed: int, runs: int = 8) -> pa.Profile:
    """Return runs of twenty operators of two types. `factor_of` has a factor for each type."""
    generator = np.random.default_rng(seed)
    whole, single = generator.lognormal(0, 0.05, runs), generator.lognormal(0, 0.01, (runs, 20))
    kinds = ("ConvolutionForward", "Elemwise")
    return pa.join_runs(
        profile_of(
            [
                Operator(
                    f"op{index}",
                    kinds[index % 2],
                    (100 + 7 * index) * factor_of.get(kinds[index % 2], 1) * slow * float(noise),
                )
                for index, noise in enumerate(row)
            ],
            f"{seed}-{run}.json",
        )
        for run, (slow, row) in enumerate(zip(whole.tolist(), single, strict=True))
    )


BOTH = {"ConvolutionForward": 1.5, "Elemwise": 1.5}
BASE = scaled({}, seed=1)


def corrected_comparison(profile: pa.Profile) -> pa.Comparison:
    found = without_drift(pa.compare(profile, BASE))
    assert isinstance(found, pa.Comparison)
    return found


def test_a_change_of_everything_is_shown_although_drift_is_corrected() -> None:
    comparison = corrected_comparison(scaled(BOTH, seed=2))
    assert as_text(comparison.notes[-1]) == (
        "times are corrected for drift: the times of each run are divided by its drift factor, "
        "0.794 to 1.39 (1 is the median run); by the level of 20 operators, the runs of the profile "
        "took 1.49 times as long as the runs of the baseline (95 %: 1.42 to 1.57, p < 0.001; 20 of "
        "these operators changed alike); the corrected times hide this difference; the summary and all verdicts are as "
        "measured"
    )
    query = pa.Query(compared=True, by="type")
    change = pa.summarise(comparison, judged_by=query).change
    assert change is not None
    assert change.verdict == "slower"
    rows = pa.run(query, comparison)
    assert set(rows["verdict"].tolist()) == {"slower"}
    # The intervals are of the times as measured, so they do not belong to the corrected ratios.
    assert np.isnan([rows[end] for end in ("ratio_low", "ratio_high")]).all()
    assert np.isnan([rows[end] for end in ("ratio_per_work_low", "ratio_per_work_high")]).all()
    assert not np.isnan([rows[end] for end in ("ratio", "relative_low")]).any()
    texts = ("total > +5%", "name ~ .: time > +5%", "type=Elemwise: time > +5%", "total < -5%")
    conditions = [pa.FailCondition.parse(text, query) for text in texts]
    verdicts = pa.judge_conditions(conditions, query, comparison)
    assert [one.outcome for one in verdicts] == ["met", "met", "met", "passed"]


def steady(factor: float, offset_s: float = 0.0) -> pa.Profile:
    """Return four runs with equal times, except for the operator `varies`."""
    times = {"a": [1.0] * 4, "b": [2.0] * 4, "c": [3.0] * 4, "varies": [5.0, 5.1, 5.2, 5.3]}
    rows = [
        {
            "operator": operator,
            "run": run,
            "duration_s": factor * time_s + offset_s * (operator == 3),
        }
        for operator, of_runs in enumerate(times.values())
        for run, time_s in enumerate(of_runs)
    ]
    return in_memory.profile_of(
        [{"name": name} for name in times],
        rows,
        tracks=[in_memory.CPU],
        runs=[pa.Run(run) for run in range(4)],
        processes=[f"{factor}-{run}.json" for run in range(4)],
    )


@pytest.mark.parametrize("factor", [1.0, 2.0])
def test_intervals_of_ratios_that_the_correction_changes_are_unknown(factor: float) -> None:
    comparison = pa.compare(steady(1.0, 1e-6), steady(factor))
    query = pa.Query(compared=True, order="+id")
    measured, corrected = (pa.run(query, one) for one in (comparison, without_drift(comparison)))
    for end in ("ratio_low", "ratio_high"):
        expected = measured[end] if factor == 1.0 else np.full(4, nan)
        assert not np.isnan(measured[end]).any()
        np.testing.assert_array_equal(corrected[end], expected)


def test_a_change_of_one_kind_is_no_drift() -> None:
    query = pa.Query(compared=True, by="type", order="+type")
    for factor, verdict in ((1.2, "slower"), (1 / 1.2, "faster")):
        comparison = corrected_comparison(scaled({"ConvolutionForward": factor}, seed=3))
        verdicts = pa.run(query, comparison)["verdict"].tolist()
        assert verdicts[0] == verdict
        assert verdicts[1] in ("same", "uncertain")


def test_drift_is_not_corrected_if_the_operators_disagree() -> None:
    generator = np.random.default_rng(4)
    factors = generator.choice([0.5, 0.7, 1.0, 1.4, 2.0], 20)
    profile = pa.join_runs(
        profile_of(
            [
                Operator(f"op{index}", f"Type{index}", (100 + 7 * index) * float(factor) + run)
                for index, factor in enumerate(factors)
            ],
            f"{run}.json",
        )
        for run in range(8)
    )
    base = pa.join_runs(
        profile_of(
            [Operator(f"op{index}", f"Type{index}", 100 + 7 * index + run) for index in range(20)],
            f"base{run}.json",
        )
        for run in range(8)
    )
    comparison = pa.compare(profile, base)
    refused = without_drift(comparison)
    assert isinstance(refused, pa.Comparison)
    agreeing = int((factors == np.median(factors)).sum())
    assert as_text(refused.notes[-1]) == (
        f"drift was not corrected: only {agreeing} of 20 operators changed alike between the two "
        "sides, so the times do not show how slow each run was"
    )
    query = pa.Query(compared=True)
    assert pa.run(query, refused).rows == pa.run(query, comparison).rows
    assert refused.uncorrected is comparison  # so that no note advises --correct-drift again
    change = pa.summarise(refused, judged_by=query).change
    assert change is not None
    assert not [note for note in said(change.notes) if "--correct-drift" in note]


@pytest.mark.slow
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("by", some_of([(), ("type",)], 2))
@pytest.mark.parametrize(
    ("scale", "base_scale"),
    [(1e300, 1e-300), (1e-308, 1e308), (1e308, 1e308), (0.0, 1e308), (5e-324, 1.0)],
)
def test_extreme_times_are_compared_without_warnings_inf_and_nan(
    scale: float, base_scale: float, by: tuple[str, ...]
) -> None:
    generator = np.random.default_rng(0)

    def side(factor: float) -> pa.Profile:
        return pa.join_runs(
            in_memory.profile_of(
                [{"name": f"op{index}", "type": "T"} for index in range(12)],
                [
                    {"operator": index, "duration_s": float(time) * factor}
                    for index, time in enumerate(generator.random(12) / 2)
                ],
                processes=[f"{factor}-{run}"],
            )
            for run in range(6)
        )

    query = pa.Query(compared=True, by=by)
    comparison = pa.compare(side(scale), side(base_scale))
    for source in (comparison, without_drift(comparison)):
        table = pa.run(query, source)
        text = pa.render(pa.Report.of(pa.summarise(source, judged_by=query), (table,)), "plain")
        assert "inf" not in text
        assert "nan" not in text
        condition = pa.FailCondition.parse("type=T: time > +5%", query)
        (verdict,) = pa.judge_conditions([condition], query, source)
        assert not re.search("inf|nan", reason_in_words(verdict))

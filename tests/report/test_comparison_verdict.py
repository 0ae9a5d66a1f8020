"""The sentence after the verdict of a comparison: what work explains, and how many runs to take."""

from __future__ import annotations

import json
from math import isnan

import pytest

import profile_analyze as pa
from profile_analyze.report.facts.sentence_parts import gate_sentence
from tests.small import Operator, profile_of

TIMES = (1.0, 1.01, 1.02, 1.03, 1.04, 1.05, 1.06, 1.07)
CONV = Operator("conv", "Conv", 100, work=(1000, 1))
NOISY = (1.0, 1.2, 1.4, 1.6)


def side(*operators: Operator, times: tuple[float, ...] = TIMES) -> pa.Profile:
    """Return a profile with a run for each factor in `times`, which scales all times of the run."""
    return pa.join_runs(
        profile_of(
            [
                Operator(one.name, one.type, (one.time_us or 0) * factor, work=one.work)
                for one in operators
            ],
            f"{index}.json",
        )
        for index, factor in enumerate(times)
    )


def sentence(new: pa.Profile, base: pa.Profile) -> str:
    """Return the sentence after the line with the verdict."""
    text = pa.render(pa.Report.of(pa.summarise(pa.compare(new, base)), ()), "plain")
    lines = text.splitlines()
    return lines[1 + next(row for row, line in enumerate(lines) if line.startswith("verdict "))]


@pytest.mark.parametrize(
    ("new", "base", "expected"),
    [
        (  # 1.5 times the work in 1.53 times the time
            [Operator("conv", "Conv", 153, work=(1500, 1))],
            [CONV],
            "slower than the baseline, with more work: 158.355 us instead of 103.500 us, +53.0%; "
            "more work explains +51.750 us; the rest, +3.105 us, is within noise or the threshold "
            "of 3.0%",
        ),
        (
            [CONV],
            [Operator("conv", "Conv", 153, work=(1500, 1))],
            "faster than the baseline, with less work: 103.500 us instead of 158.355 us, -34.6%; "
            "less work explains -52.785 us; the rest, -2.070 us, is within noise or the threshold "
            "of 3.0%",
        ),
        (  # The work alone would have taken longer.
            [Operator("conv", "Conv", 140, work=(1500, 1))],
            [CONV],
            "slower than the baseline, with more work: 144.900 us instead of 103.500 us, +40.0%; "
            "more work explains +51.750 us",
        ),
        (  # The work of an added operator is more work, too.
            [CONV, Operator("more", "Conv", 50, work=(500, 1))],
            [CONV],
            "slower than the baseline, with more work: 155.250 us instead of 103.500 us, +50.0%; "
            "more work explains +51.750 us",
        ),
        (  # The slow operator has less work, but the total work grew.
            [
                Operator("conv", "Conv", 130, work=(900, 1)),
                Operator("fc", "Gemm", 10, work=(2000, 1)),
            ],
            [CONV, Operator("fc", "Gemm", 9, work=(1000, 1))],
            "slower than the baseline, with more work: 144.900 us instead of 112.815 us, +28.4%",
        ),
    ],
)
def test_a_verdict_says_how_much_work_explains(
    new: list[Operator], base: list[Operator], expected: str
) -> None:
    assert sentence(side(*new), side(*base)) == expected


def test_real_runs_are_not_slower_because_of_more_work_alone() -> None:
    new, base = (
        pa.load_runs([f"tests/fixtures/runs/{name}/0{number}.json.gz" for number in range(4, 8)])
        for name in ("changed", "base")
    )
    assert sentence(new, base) == (
        "slower than the baseline, with more work: 190.621 ms instead of 155.815 ms, +22.3%; more "
        "work explains +14.878 ms; the rest, +19.928 ms, is within noise or the threshold of 3.0%"
    )


def test_an_uncertain_verdict_names_the_change_that_its_number_of_runs_assumes() -> None:
    base = side(CONV, times=NOISY)
    start = "cannot tell whether the model is slower, faster or the same: "
    new = side(CONV, times=(1.1, 1.3, 1.7, 1.8))
    assert sentence(new, base) == (
        f"{start}150.000 us instead of 130.000 us, +15.4%, which may be noise alone; changes from "
        "-31.2% to +80.0% are possible; if the true change is +11.2% (the median change over all "
        "pairs of runs), about 167 runs a side settle the question"
    )
    assert sentence(side(CONV, times=(1.01, 1.21, 1.39, 1.6)), base) == (
        f"{start}130.000 us instead of 130.000 us, 0.0%, which may be noise alone; changes from "
        "-36.9% to +60.0% are possible"
    )
    report = pa.Report.of(pa.summarise(pa.compare(new, base)), ())
    found = json.loads(pa.render(report, "json"))["summary"]["comparison"]
    assert (round(found["estimate"], 3), found["runs_needed"]) == (1.112, 167)


@pytest.mark.parametrize(
    ("new", "base", "expected"),
    [
        (
            (1.07, 1.19, 1.25, 1.04, 0.98, 1.18),
            (1.17, 0.94, 0.93, 1.04, 0.95, 0.97),
            "+17.2%, which may be noise alone; p is over 0.05, although the interval, from another "
            "test, excludes a change of 0%; changes from +0.9% to +26.9% are possible; if",
        ),
        (
            (1.13, 1.04, 1.15, 1.02, 1.08, 1.12),
            (1.04, 1.0, 0.95, 0.97, 1.05, 1.0),
            "+10.0%; p is at most 0.05, although the interval, from another test, includes a "
            "change of 0%; changes from 0.0% to +17.9% are possible; if",
        ),
        (
            (1.05, 1.15, 0.91, 1.09, 0.95, 1.07, 1.16, 1.01),
            (0.87, 1.08, 1.09, 1.03, 1.08, 0.95, 1.07, 1.11),
            "-0.9%; a better estimate is +1.4% (the median change over all pairs of runs, which has "
            "less noise); either may be noise alone; changes from -7.8% to +12.6% are possible; if",
        ),
    ],
)
def test_numbers_that_disagree_are_explained(
    new: tuple[float, ...], base: tuple[float, ...], expected: str
) -> None:
    assert expected in sentence(side(CONV, times=new), side(CONV, times=base))


def test_more_runs_of_the_same_times_settle_nothing() -> None:
    close = (1.0, 1.02, 1.04, 1.06, 1.08, 1.1)
    assert sentence(side(CONV, times=close), side(CONV, times=close[::-1])) == (
        "cannot tell whether the model is slower, faster or the same: 105.000 us instead of 105.000 us, "
        "0.0%, which may be noise alone; changes from -5.5% to +5.8% are possible"
    )
    assert sentence(side(CONV, times=close), side(CONV, times=(1.0005, *close[1:]))).endswith(
        "; if the true change is 0.0%, about 45 runs a side rule out a change of 3.0%"
    )


def test_different_models_get_no_verdict() -> None:
    """A change between different models means nothing, however small its p."""
    other = [Operator(f"pool{n}", "Pool", 20) for n in range(8)]
    convs = [Operator(f"conv{n}", "Conv", 20) for n in range(8)]
    sides = side(*convs[:1], *other), side(*convs)
    assert sentence(*sides) == (
        "no verdict, because these look like different models: 186.300 us instead of 165.600 us, "
        "+12.5%"
    )
    change = pa.summarise(pa.compare(*sides)).change
    assert change is not None
    assert change.verdict is None
    assert change.p_value < 0.05
    assert isnan(change.runs_needed)
    text = pa.render(pa.Report.of(pa.summarise(pa.compare(*sides)), ()), "plain")
    assert "N/A (these look like different models)\n" in text
    # A side without operators has no times, whatever its model is.
    text = pa.render(pa.Report.of(pa.summarise(pa.compare(side(CONV), side())), ()), "plain")
    assert "N/A (no operator of the baseline has a device time)\n" in text


def test_an_interval_without_an_upper_end_allows_changes_of_any_size() -> None:
    """Two runs of the baseline took no time, so the ratio may be infinite."""
    new = side(CONV, times=(1.0, 1.2, 1.4, 1.6, 0.5))
    base = side(CONV, times=(0.0, 0.0, 1.0, 1.5, 2.0))
    assert sentence(new, base) == (
        "cannot tell whether the model is slower, faster or the same: 120.000 us instead of "
        "125.000 us, -4.0%, which may be noise alone; changes of -66.7% or more are possible"
    )
    query = pa.Query(compared=True)
    conditions = [pa.FailCondition.parse("total > +5%", query)]
    (verdict,) = pa.judge_conditions(conditions, query, pa.compare(new, base))
    assert gate_sentence(verdict) == (
        "passed: total > +5%: -4.0%, 120.0 us against 125.0 us of the baseline: within the limit, but "
        "changes of any size are not ruled out; take more runs"
    )

"""The work behind a change: its columns, the verdicts on more and less work, and the causes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import profile_analyze as pa
from profile_analyze.comparison.compared_work import (
    WORK_VERDICTS,
    ComparedWork,
    with_work,
)
from profile_analyze.comparison.intervals import Shift
from profile_analyze.comparison.statistics import FASTER, SLOWER, VERDICTS
from profile_analyze.model.categorical import Categorical
from profile_analyze.model.terms import LESS_WORK, MORE_WORK
from tests import in_memory
from tests.comparison.comparisons import near
from tests.small import Operator, profile_of

NAN = float("nan")


def side(*operators: Operator, times: tuple[float, ...] = (1.0,)) -> pa.Profile:
    """Return a profile with one run for each factor in `times`, which scales all its durations."""
    return pa.join_runs(
        profile_of(
            [
                Operator(
                    one.name, one.type, (one.time_us or 0) * factor, one.start, one.shape,
                    one.parameters, one.work,
                )
                for one in operators
            ],
            f"{operators[0].time_us}-{index}.json",
        )
        for index, factor in enumerate(times)
    )  # fmt: skip


BASE = side(
    Operator("same", "Conv", 100, shape=[1], work=(1000, 100)),
    Operator("wide", "Conv", 100, shape=[2], work=(1000, 100)),
    Operator("copy", "Copy", 10, shape=[3], work=(0, 100)),
    Operator("view", "View", 1, shape=[4], work=(0, 0)),
    Operator("unknown", "Odd", 20),
    Operator("gone", "Conv", 5, shape=[5], work=(10, 1)),
)
NEW = side(
    Operator("same", "Conv", 110, shape=[1], work=(1000, 100)),
    Operator("wide", "Conv", 180, shape=[6], work=(1500, 120)),
    Operator("copy", "Copy", 15, shape=[7], work=(0, 200)),
    Operator("view", "View", 1, shape=[4], work=(0, 0)),
    Operator("unknown", "Odd", 23),
    Operator("here", "Mul", 7, shape=[5], work=(10, 1)),
)


def answer(**options: Any) -> pa.Table:
    return pa.run(pa.Query(compared=True, order="+name", **options), pa.compare(NEW, BASE))


def test_the_columns_on_work_by_hand() -> None:
    table = answer()
    shown = {
        row["name"]: (
            row["work_ratio"],
            row["compared_work"],
            row["ratio_per_work"],
            row["base_computation"],
            row["computation_difference"],
        )
        for row in table.rows
    }
    assert shown == {
        "copy": (2, "memory", near(0.75), None, None),  # in a MegEngine file, 0 FLO means unknown
        "gone": (None, None, None, 10, -10),
        "here": (None, None, None, None, 10),
        "same": (1, "computation", near(1.1), 1000, 0),
        "unknown": (None, None, None, None, None),
        "view": (None, None, None, None, None),
        "wide": (1.5, "computation", near(1.2), 1000, 500),
    }


def test_rows_have_the_shapes_of_the_baseline() -> None:
    found = {
        row["name"]: (row["in_shapes"], row["base_in_shapes"], row["base_out_shapes"])
        for row in answer(where="match != name").rows
    } | {row["name"]: row["base_in_shapes"] for row in answer(where="name == wide").rows}
    assert found == {
        "gone": (((5,),), ((5,),), ((5,),)),
        "here": (((5,),), None, None),
        "wide": ((2,),),
    }


def test_groups_leave_out_little_unknown_work() -> None:
    # The computation of copy, view and unknown is unknown: 70 of 572 us.
    rows = answer_by(aggregates="sum")
    assert [(row["work_ratio"], row["compared_work"]) for row in rows] == [(None, None)]
    # Without view and unknown, only the computation of copy is unknown: 25 of 527 us, below 5 %.
    rows = answer_by(aggregates="sum", where=("name != unknown", "name != view"))
    # same, wide and here against same, wide and gone
    assert [(row["work_ratio"], row["compared_work"]) for row in rows] == [
        (near(2510 / 2010), "computation")
    ]
    rows = answer_by(by="type", where="type == Conv")
    assert [row["work_ratio"] for row in rows] == [near(2500 / 2010)]
    rows = answer_by(by="type", where="name == wide", aggregates="max")
    assert [row["work_ratio"] for row in rows] == [1.5]


def answer_by(**options: Any) -> list[dict[str, Any]]:
    return list(pa.run(pa.Query(compared=True, **options), pa.compare(NEW, BASE)).rows)


def test_ratios_leave_out_work_that_is_known_on_only_one_side() -> None:
    base = side(Operator("a", "Conv", 98, work=(10, 1)), Operator("b", "Conv", 1))
    new = side(
        Operator("a", "Conv", 99, work=(10, 1)), Operator("b", "Conv", 1, work=(90, 1))
    )  # fmt: skip
    query = pa.Query(compared=True, aggregates="sum")
    (row,) = pa.run(query, pa.compare(new, base)).rows
    assert (row["computation"], row["work_ratio"], row["compared_work"]) == (100, 1, "computation")
    relative, absolute = (
        pa.judge_conditions(
            [pa.FailCondition.parse(text, pa.Query(compared=True))],
            pa.Query(compared=True),
            pa.compare(new, base),
        )[0]
        for text in ("computation > +1%", "computation > 50FLO")
    )
    assert (relative.outcome, relative.amount, relative.base_amount) == ("passed", 10, 10)
    assert (absolute.outcome, absolute.amount) == ("met", 100)


TIMES = (1.0, 1.01, 1.02, 1.03, 1.04, 1.05, 1.06, 1.07)


@pytest.mark.parametrize(
    ("time_us", "computation", "verdict"),
    [
        (150, 1000, "slower"),
        (150, 1009, "slower"),  # within the tolerance of 1 %
        (150, 1500, "more work"),
        (140, 1500, "more work"),  # even faster per work
        (300, 1500, "slower"),  # more than the work explains
        (150, 500, "slower"),
        (60, 1000, "faster"),
        (60, 600, "less work"),
        (30, 600, "faster"),
        (60, 2000, "faster"),
        (100, 2000, "same"),
    ],
)
def test_verdicts_distinguish_more_work_from_slower(
    time_us: float, computation: int, verdict: str
) -> None:
    base = side(Operator("conv", "Conv", 100, work=(1000, 1)), times=TIMES)
    new = side(Operator("conv", "Conv", time_us, work=(computation, 1)), times=TIMES)
    comparison = pa.compare(new, base)
    (row,) = pa.run(pa.Query(compared=True), comparison).rows
    assert row["verdict"] == verdict
    assert len(pa.run(pa.Query(compared=True, where=f"verdict == {verdict}"), comparison)) == 1
    change = pa.summarise(comparison).change
    assert change is not None
    assert change.verdict == verdict
    assert [one.verdict for one in change.changed] == ([verdict] if verdict != "same" else [])


AMOUNTS = st.sampled_from([0.0, 1.0, 1.005, 1.5, 2.0, NAN])
ENDS = st.sampled_from([0.4, 0.9, 0.99, 1.0, 1.02, 1.4, 1.6, 2.5, NAN])
MIRRORED = {SLOWER: FASTER, FASTER: SLOWER, MORE_WORK: LESS_WORK, LESS_WORK: MORE_WORK}


def verdict_of(
    code: int, ratio: float, ends: tuple[float, float], work: tuple[float, float]
) -> str:
    shift = Shift(*(np.log([one]) for one in (ratio, *ends)))
    ours, base = (np.array([amount]) for amount in work)
    known = ComparedWork(ours, base, Categorical.of(["computation"]))
    (found,) = with_work(np.array([code]), shift, known, 0.03)
    return WORK_VERDICTS[found]


def expected(code: int, ratio: float, ends: tuple[float, float], work: tuple[float, float]) -> str:
    """Return the verdict by its definition, for a single row."""
    ours, base = work
    verdict = VERDICTS[code]
    factor = ours / base if base > 0 and ours > 0 else NAN
    if verdict == SLOWER and ours > 1.01 * base:
        is_slower = ratio / factor >= 1.03 and ends[0] / factor > 1
        return verdict if is_slower else MORE_WORK
    if verdict == FASTER and base > 1.01 * ours:
        is_faster = ratio / factor <= 1 / 1.03 and ends[1] / factor < 1
        return verdict if is_faster else LESS_WORK
    return verdict


@pytest.mark.parametrize(
    ("verdict", "ratio", "ends", "work", "found"),
    [
        (SLOWER, 1.03, (1.01, 1.05), (1.005, 1.0), SLOWER),  # within the tolerance
        (SLOWER, 1.03, (1.01, 1.05), (1.02, 1.0), MORE_WORK),
        (SLOWER, 1.6, (1.4, 2.5), (1.5, 1.0), MORE_WORK),  # the interval per work includes 1
        (SLOWER, 1.6, (1.55, 2.5), (1.5, 1.0), SLOWER),
        (FASTER, 0.6, (0.4, 0.7), (0.65, 1.0), LESS_WORK),
        (FASTER, 0.6, (0.4, 0.64), (0.65, 1.0), FASTER),
    ],
)
def test_verdicts_near_their_limits_by_hand(
    verdict: str, ratio: float, ends: tuple[float, float], work: tuple[float, float], found: str
) -> None:
    assert verdict_of(VERDICTS.index(verdict), ratio, ends, work) == found


@given(st.integers(0, 3), ENDS, st.tuples(ENDS, ENDS), st.tuples(AMOUNTS, AMOUNTS))
def test_verdicts_follow_their_definition(
    code: int, ratio: float, ends: tuple[float, float], work: tuple[float, float]
) -> None:
    found = verdict_of(code, ratio, ends, work)
    assert found == expected(code, ratio, ends, work)
    # Swapping the sides mirrors the verdict.
    other = VERDICTS.index(MIRRORED.get(VERDICTS[code], VERDICTS[code]))
    mirrored = verdict_of(other, 1 / ratio, (1 / ends[1], 1 / ends[0]), work[::-1])
    assert mirrored == MIRRORED.get(found, found)


def test_the_causes_of_a_difference_by_hand() -> None:
    change = pa.summarise(pa.compare(NEW, BASE)).change
    assert change is not None
    found = {
        one.cause: (near(one.difference_s * 1e6), one.operators, [*map(tuple, one.largest)])
        for one in change.causes
    }
    # wide: 100 us * (1.5 - 1) more work; copy: 10 us * (2 - 1)
    assert {cause: (us, count) for cause, (us, count, _) in found.items()} == {
        "more work": (near(60), 2),
        "time per work": (near(35), 3),  # same +10 us, wide +30 us, copy -5 us
        "unknown work": (near(3), 1),
        "added": (near(7), 1),
        "removed": (near(-5), 1),
    }
    assert found["more work"][2] == [
        ("wide", "", near(50e-6)),
        ("copy", "", near(10e-6)),
    ]


def test_the_largest_operators_of_a_cause_differ_in_its_direction() -> None:
    """The times of a, b and c differ by +50 us, -60 us and +30 us, so their sum is +20 us."""

    def of(only_here: str, *times_us: float) -> pa.Profile:
        named = zip(("a", "b", "c", only_here), (*times_us, 5), strict=True)
        return side(*(Operator(name, name, time_us, work=(10, 1)) for name, time_us in named))

    slow, fast = of("new", 60, 40, 100), of("old", 10, 100, 70)
    change = pa.summarise(pa.compare(slow, fast)).change
    assert change is not None
    (cause,) = (one for one in change.causes if one.cause == "time per work")
    assert [(one.name, near(one.difference_s * 1e6)) for one in cause.largest] == [
        ("a", near(50)),
        ("c", near(30)),
    ]
    for new, base, text in (
        (slow, fast, "time per work +20.000 us (3 operators, the largest a +50.000 us), "),
        (fast, slow, "time per work -20.000 us (3 operators, the largest a -50.000 us), "),
    ):
        assert text in plain_summary(new, base)[-1]


@pytest.mark.parametrize(
    ("new_us", "factor", "causes"),
    [
        # At the baseline's speed, the additional work takes 100 us * (factor - 1).
        (111, 12, {"more work": 1100, "time per work": -1089}),
        (109, 12, {"more work": 9}),  # 1100 us is over ten times the longer time
        (90, 11.1, {"time per work": -10}),
        (90, 10.9, {"more work": 990, "time per work": -1000}),
        (100, 1e6, {}),
        (5000, 1e6, {"more work": 4900}),
        (None, 1e6, {"residual": -100}),  # the operator has a time on one side only
        (None, 2, {"residual": -100}),
    ],
)
def test_a_time_that_hardly_depends_on_the_work_is_not_split(
    new_us: float | None, factor: float, causes: dict[str, float]
) -> None:
    def network(conv_us: float | None, flo: float) -> pa.Profile:
        return in_memory.profile_of(
            [{"name": "conv", "computation": flo}, {"name": "other"}],
            [
                {"operator": row, "duration_s": us * 1e-6}
                for row, us in enumerate((conv_us, 7.0))
                if us is not None
            ],
        )

    change = pa.summarise(pa.compare(network(new_us, 10 * factor), network(100, 10))).change
    assert change is not None
    assert {one.cause: near(one.difference_s * 1e6) for one in change.causes} == causes


def plain_summary(new: pa.Profile, base: pa.Profile) -> list[str]:
    """Return the sentences of the summary on work and causes."""
    text = pa.render(pa.Report.of(pa.summarise(pa.compare(new, base)), ()), "plain")
    starts = ("computation ", "memory ", "difference by cause: ")
    return [line for line in text.splitlines() if line.startswith(starts)]


def test_the_summary_says_how_the_work_changed() -> None:
    def network(time_us: float, *work: tuple[int, int]) -> pa.Profile:
        conv, copy = work
        return side(
            Operator("conv", "Conv", time_us, work=conv), Operator("copy", "Copy", 5, work=copy)
        )

    base = network(100, (592_000_000, 10), (0, 100))
    assert plain_summary(network(95.8, (686_000_000, 10), (0, 100)), base) == [
        "computation +15.9% (592.00 MFLO to 686.00 MFLO, unknown for 1 operator with 5.0% of the "
        "time), time -4.0%: 1.21 times the FLOPS",
        "difference by cause: more work +15.878 us (conv), time per work -20.078 us (conv)",
    ]
    assert plain_summary(network(150, (593_000_000, 10), (0, 100)), base) == [
        "difference by cause: more work +0.169 us (conv), time per work +49.831 us (conv)",
    ]
    assert plain_summary(network(150, (592_000_000, 10), (0, 100)), base) == []
    assert plain_summary(network(100, (0, 100), (0, 200)), network(100, (0, 100), (0, 100))) == [
        "memory +50.0% (200.00 byte to 300.00 byte), time 0.0%: 1.50 times the bandwidth",
        "difference by cause: more work +5.000 us (copy), time per work -5.000 us (copy)",
    ]


def test_a_profile_without_time_has_no_rate_to_compare() -> None:
    def convolution(time_us: float, flo: int) -> pa.Profile:
        return side(Operator("conv", "Conv", time_us, work=(flo, 10)))

    lines = plain_summary(convolution(0, 2000), convolution(5, 1000))
    assert lines[0] == "computation +100.0% (1.00 KFLO to 2.00 KFLO)"


def test_the_summary_says_that_no_computation_is_left() -> None:
    def network(flo: float) -> pa.Profile:
        return in_memory.profile_of(
            [{"name": "a", "computation": flo, "memory": 10.0}],
            [{"operator": 0, "duration_s": 5e-6}],
        )

    assert plain_summary(network(0), network(1000)) == [
        "computation -100.0% (1.00 KFLO to 0.00 FLO)",
        "difference by cause: less work -5.000 us (a), time per work +5.000 us (a)",
    ]


def test_work_near_the_largest_number_is_compared_without_a_warning() -> None:
    def convolution() -> pa.Profile:
        return side(Operator("conv", "Conv", 5, work=(int(1.79e308), 10)))

    table = pa.run(pa.Query(compared=True), pa.compare(convolution(), convolution()))
    assert table["work_ratio"].tolist() == [1.0]
    assert table["verdict"].tolist() == [None]


def test_a_residual_says_that_medians_do_not_add_up() -> None:
    def runs(*pairs: tuple[float, float]) -> pa.Profile:
        return pa.join_runs(
            profile_of(
                [
                    Operator("a", "Conv", one, work=(10, 1)),
                    Operator("b", "Conv", other, work=(10, 1)),
                ],
                f"{one}{other}.json",
            )
            for one, other in pairs
        )

    # The medians of a and b are 20 and 20, but the median of the sums is 51.
    new, base = runs((10, 41), (20, 20), (40, 11.5)), runs((10, 10), (10, 10), (10, 10))
    assert plain_summary(new, base) == [
        "difference by cause: time per work +20.000 us (2 operators, the largest a +10.000 us), "
        "residual +11.000 us (medians do not add up)",
    ]


WORK = st.one_of(st.none(), st.tuples(st.integers(0, 3), st.integers(0, 3)))
OPERATORS = st.lists(
    st.tuples(st.sampled_from("abcd"), st.integers(1, 50), WORK),
    min_size=1,
    max_size=4,
    unique_by=lambda one: one[0],
)


@given(OPERATORS, OPERATORS)
def test_the_causes_add_up_to_the_difference(
    new: list[tuple[str, int, Any]], base: list[tuple[str, int, Any]]
) -> None:
    def profile(operators: list[tuple[str, int, Any]]) -> pa.Profile:
        amounts = ("computation", "memory")
        return in_memory.profile_of(
            [
                {"name": name, "type": name, **dict(zip(amounts, work or (), strict=False))}
                for name, _, work in operators
            ],
            [
                {"operator": row, "duration_s": us * 1e-6}
                for row, (_, us, _) in enumerate(operators)
            ],
        )

    change = pa.summarise(pa.compare(profile(new), profile(base))).change
    assert change is not None
    total_s = sum(us for _, us, _ in new) - sum(us for _, us, _ in base)
    assert sum(one.difference_s for one in change.causes) == pytest.approx(total_s * 1e-6, abs=1e-9)
    bases = {name: (us, work) for name, us, work in base}
    expected_us = dict.fromkeys(("more work", "less work", "time per work", "unknown work"), 0.0)
    for name, us, work in new:
        if name in bases:
            base_us, base_work = bases[name]
            factor = factor_of(work, base_work)
            if factor is None:
                expected_us["unknown work"] += us - base_us
            else:
                expected_us["more work" if factor > 1 else "less work"] += base_us * (factor - 1)
                expected_us["time per work"] += us - base_us * factor
    found = dict.fromkeys(expected_us, 0.0) | {
        one.cause: one.difference_s * 1e6 for one in change.causes
    }
    assert {cause: found[cause] for cause in expected_us} == pytest.approx(expected_us, abs=2e-3)


def factor_of(work: tuple[int, int] | None, base: tuple[int, int] | None) -> float | None:
    """Return the ratio of computations or, if both are 0, of memories; None if it is unknown."""
    if work is None or base is None:
        return None
    for ours, theirs in zip(work, base, strict=True):
        if ours or theirs:
            return ours / theirs if theirs else None
    return None

"""Conditions under which a pipeline fails: their grammar and their verdicts."""

from __future__ import annotations

from math import nan
from typing import TYPE_CHECKING, Any

import pytest

import profile_analyze as pa
from profile_analyze.model.executions import Run
from profile_analyze.report.facts.sentence_parts import gate_reason, gate_sentence, reason_in_words
from tests import in_memory
from tests.small import Operator, profile_of, runs_of

if TYPE_CHECKING:
    from collections.abc import Sequence

BASE = [100, 101, 102, 103, 104, 105, 106, 107]
SLOW = [time + 10 for time in BASE]
NOISY_FASTER = [70, 72, 78, 92, 98, 104, 120, 125]
BARELY = [100.5, 100.6, *(120 + run / 100 for run in range(6))]
"""Times whose p shows a change from `BASE`, although the confidence interval includes 1."""
NOISY = [80, 85, 90, 108, 112, 115, 130, 140]


@pytest.mark.parametrize(
    ("text", "subject", "metric", "above", "limit", "unit"),
    [
        ("total > +5%", "", "total", True, 0.05, "of baseline"),
        ("time < -3%", "", "time", False, -0.03, "of baseline"),
        ("time>0.120s", "", "time", True, 0.12, "s"),
        ("wait > 2 ms", "", "wait", True, 0.002, "s"),
        ("host_time > +2ms", "", "host_time", True, 0.002, "s more"),
        ("type=Conv: time > + 3 %", "type == Conv", "time", True, 0.03, "of baseline"),
        ("type == Conv : time > 3s", "type == Conv", "time", True, 3.0, "s"),
        ("name ~ a:b=c: time > 1us", "name ~ a:b=c", "time", True, 1e-6, "s"),
        ("name != x: time > 1us", "name != x", "time", True, 1e-6, "s"),
        ("memory>=1KiB: time > 1us", "memory>=1KiB", "time", True, 1e-6, "s"),
        ("memory > 2KiB", "", "memory", True, 2048, "amount"),
        # Limits on work need no unit if they are 0 or counts, or if they have a prefix.
        ("memory > +0", "", "memory", True, 0, "amount more"),
        ("computation > 0.0", "", "computation", True, 0, "amount"),
        ("computation < 5G", "", "computation", False, 5e9, "amount"),
        ("macs > 5", "", "macs", True, 5, "amount"),
        ("params > +5", "", "params", True, 5, "amount more"),
    ],
)
def test_conditions_are_parsed(
    text: str, subject: str, metric: str, *, above: bool, limit: float, unit: str
) -> None:
    found = pa.FailCondition.parse(text, pa.Query(compared=True))
    assert (found.text, found.subject, found.metric) == (text, subject, metric)
    assert (found.above, found.limit_unit) == (above, unit)
    assert found.limit == pytest.approx(limit)
    assert found.relative == (unit not in ("s", "amount"))


GRAMMAR = (
    "is not a condition; write [SELECTION:] METRIC > LIMIT, such as 'total > +5%', "
    "'type=ConvolutionForward: time > +3%' or 'time > 0.120s'; METRIC is one of total, "
    "wall, device_time, host_time, wait, time"
)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", f"fail-if: '' {GRAMMAR}"),
        (
            "total",
            "fail-if: 'total' is not a condition; write a limit, too, in quotes, which keep > "
            "from the shell: 'total > +5%'",
        ),
        (
            "total < +5%",
            "fail-if: 'total < +5%': every change below +5% meets this, and so does an unchanged "
            "model; "
            "did you mean 'total > +5%'?",
        ),
        (
            "type=Conv: time<+2ms",
            "fail-if: 'type=Conv: time<+2ms': every change below +2ms meets this, and so does an "
            "unchanged model; did you mean 'type=Conv: time > +2ms'?",
        ),
        *(
            (
                f"{word} > 2ms",
                f"fail-if: '{word} > 2ms': there is no metric '{word}'; did you mean wall?",
            )
            for word in ("latency", "run_time")
        ),
        (
            "type=Conv: latency > 2ms",
            "fail-if: 'type=Conv: latency > 2ms': there is no metric 'latency'; METRIC is one of total, "
            "wall, device_time, host_time, wait, time, computation, memory, macs, params",
        ),
        (
            "colour > 5",
            "fail-if: 'colour > 5': there is no metric 'colour'; METRIC is one of total, wall, device_time, "
            "host_time, wait, time, computation, memory, macs, params; operators come before "
            "a colon: 'type=colour: time > 5' or 'name ~ colour: time > 5'",
        ),
        (
            "total >= +5%",
            "fail-if: 'total >= +5%': >= is not supported; write > or <",
        ),
        ("total == 5", "fail-if: 'total == 5': == is not supported; write > or <"),
        ("total > 5", "fail-if: 'total > 5': 5 of what? write 5s, 5ms"),
        *(
            (text, f"fail-if: {text!r}: {text.split()[-1]} of what? {advice}")
            for text, advice in (
                ("memory > 100", "write 100MiB, 100B"),
                ("memory > +100", "write +100%, +100B"),
                ("memory > 1.05", "for 5% more than the baseline write +5%"),
                ("computation > 5e9", "write 5e9GFLO, 5e9FLO"),
                ("computation > +0.05", "write +5%, +0.05GFLO"),
            )
        ),
        ("total > 0.05", "fail-if: 'total > 0.05': 0.05 of what? write +5%, 0.05s"),
        ("total > 2", "fail-if: 'total > 2': 2 of what? write 2s, 2ms"),
        (
            "total > 1.05",
            "fail-if: 'total > 1.05': 1.05 of what? for 5% more than the baseline write +5%",
        ),
        ("total > inf", "fail-if: 'total > inf': inf is never reached"),
        ("total > 1e999s", "fail-if: 'total > 1e999s': 1e999s is never reached"),
        ("total > +5", "fail-if: 'total > +5': +5 of what? write +5%, +5ms"),
        (
            "total > 105%",
            "fail-if: 'total > 105%': 105% of what? for 5% more than the baseline write +5%",
        ),
        (
            "total < 0.9x",
            "fail-if: 'total < 0.9x': 0.9x of what? write +5% for 5% more than the "
            "baseline, -5% for 5% less",
        ),
        ("total > +0.05", "fail-if: 'total > +0.05': +0.05 of what? write +5%, +0.05s"),
        ("total > -100%", "fail-if: 'total > -100%': nothing takes 100% less than the baseline"),
        ("total > ++5%", f"fail-if: 'total > ++5%' {GRAMMAR}"),
        (
            "total > 5%",
            "fail-if: 'total > 5%': 5% of what? write +5% for 5% more than the baseline",
        ),
        (
            "total > +5apples",
            "fail-if: 'total > +5apples': '+5apples' is not a time; write seconds, or a number with "
            "one of s, ms, us, ns, min, h: 0.001, 1ms, or +5%",
        ),
        (
            "total > nan",
            "fail-if: 'total > nan': 'nan' is not a time; write seconds, or a number with one of "
            "s, ms, us, ns, min, h: 0.001, 1ms, or +5%",
        ),
        *(
            (text, f"fail-if: {text!r}: there is another condition; repeat --fail-if for each")
            for text in (
                "total > +5% or time > +3%",
                "total > +5% and type=Conv: time > +10%",
                "time > +5% and type=Conv: time > +10%",
                "time > 5%, type=Conv: time > +10%",
                "type=Conv: time > +10% and type=Relu: time > +5%",
            )
        ),
        (
            "base > 1ms and type=Conv: time > +10%",
            "fail-if: 'base > 1ms and type=Conv: time > +10%': 'base > 1ms and type=Conv', at "
            "character 8: there is another condition; a selection has only one, and --where adds "
            "others",
        ),
        (
            "1ms < base < 2ms: time > +10%",
            "fail-if: '1ms < base < 2ms: time > +10%': '1ms < base < 2ms' is not a condition; "
            "write 'base > 1ms' and 'base < 2ms', two conditions: a selection has only one, and "
            "--where adds others",
        ),
        (
            "bogus=1: time > 1s",
            "fail-if: 'bogus=1: time > 1s': 'bogus == 1', at character 1: there is no column "
            "'bogus'; did you mean bound?",
        ),
    ],
)
def test_invalid_conditions_are_errors(text: str, message: str) -> None:
    with pytest.raises(pa.QueryError) as caught:
        pa.FailCondition.parse(text, pa.Query(compared=True))
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("Conv_5 + Add_6: time > +10%", "name=Conv_5 + Add_6: time > +10%"),
        ("Conv_5 + Add_6: total > +10%", "name=Conv_5 + Add_6: time > +10%"),
        ("Copy for Output 0: memory > 1G", "name=Copy for Output 0: memory > 1G"),
    ],
)
def test_a_name_with_blanks_is_suggested_as_a_selection(text: str, written: str) -> None:
    query = pa.Query(compared=True)
    with pytest.raises(pa.QueryError) as caught:
        pa.FailCondition.parse(text, query)
    assert str(caught.value).endswith(f"write {written!r}")
    pa.FailCondition.parse(written, query)


@pytest.mark.parametrize(
    ("subject", "advice"),
    [
        ("name contains conv", "did you mean 'name ~ conv'?"),
        ("type Conv", "write COLUMN OPERATOR VALUE, such as 'time > 1ms'"),
    ],
)
def test_a_selection_in_words_is_no_name(subject: str, advice: str) -> None:
    text = f"{subject}: time > 1ms"
    with pytest.raises(pa.QueryError) as caught:
        pa.FailCondition.parse(text, pa.Query())
    assert str(caught.value) == f"fail-if: {text!r}: {subject!r} is not a condition; {advice}"


def test_without_a_baseline_a_bare_number_is_not_a_factor() -> None:
    with pytest.raises(pa.QueryError) as caught:
        pa.FailCondition.parse("total > 1.05", pa.Query())
    assert str(caught.value) == "fail-if: 'total > 1.05': 1.05 of what? write 1.05s, 1.05ms"


def test_relative_conditions_need_a_baseline() -> None:
    with pytest.raises(pa.QueryError) as caught:
        pa.FailCondition.parse("total > +5%", pa.Query())
    assert str(caught.value) == (
        "fail-if: 'total > +5%' is relative to a baseline; name one with --compare"
    )


def verdict(text: str, new: Sequence[float], base: Sequence[float] | None) -> pa.FailVerdict:
    source: Any = runs_of("conv", new)
    if base is not None:
        source = pa.compare(source, runs_of("conv", base, "base/"))
    query = pa.Query(compared=base is not None)
    (found,) = pa.judge_conditions([pa.FailCondition.parse(text, query)], query, source)
    return found


WITHIN = "within the limit, and so is the confidence interval"
NOISE = "beyond the limit, but {}, so noise may explain that; take more runs"
BY_P = NOISE.format("p is over 0.05")
BY_INTERVAL = NOISE.format("the confidence interval, from another test than p, includes 0")
BY_LIMIT = NOISE.format("the confidence interval includes values within the limit")
NO_INTERVAL = NOISE.format("there is no confidence interval")
UNSURE = "within the limit"
ABSOLUTE = "; the baseline is beyond this limit, too; to limit the change, write "
NO_HOST = "no operator matches: host_time is N/A for all operators"
NO_WAIT = "wait is N/A for {}: the profile has no times to first kernel; limit device_time instead"
NO_POOL = "no operator matches; there is only Conv"
NO_CONV = "no operator matches; case matters; did you mean 'name ~ (?i)CONV'?"
RECORD = "; record at least 4 profiles, better 8, each by its own process, and name them all"
RECORD_BOTH = (
    "; record at least 4 profiles on each side, better 8, each by its own process, "
    "and name them all"
)
CLEAR = "beyond the limit, and beyond noise"
SIZE = "beyond the limit; a {} is beyond noise, but its size is uncertain"


@pytest.mark.parametrize(
    ("text", "new", "base", "outcome", "reason"),
    [
        ("total > +5%", SLOW, BASE, "met", CLEAR),
        ("total > +15%", SLOW, BASE, "passed", WITHIN),
        ("total > +5%", BASE, BASE, "passed", WITHIN),
        ("total > +5%", NOISY, BASE, "uncertain", BY_P),
        ("total > +12%", NOISY, BASE, "passed", UNSURE),
        ("total < -5%", BASE, SLOW, "met", CLEAR),
        ("total < -5%", SLOW, BASE, "passed", WITHIN),
        ("total > +5us", SLOW, BASE, "met", CLEAR),
        ("total > +15us", SLOW, BASE, "passed", WITHIN),
        ("total > -3%", BASE, BASE, "met", CLEAR),  # a demanded improvement was missed
        ("total > -3%", BASE, SLOW, "passed", WITHIN),
        ("total > -9%", NOISY, BASE, "uncertain", BY_LIMIT),
        ("total < -5%", NOISY_FASTER, BASE, "uncertain", BY_P),
        ("total > +5%", BARELY, BASE, "uncertain", BY_INTERVAL),
        ("total > +5%", SLOW, [0, 0, 0, *BASE[3:]], "met", CLEAR),  # a run of 0 s and two copies
        ("total > 105us", SLOW[:4], None, "met", CLEAR),
        ("total > 105us", [0, *SLOW[1:4]], None, "uncertain", NO_INTERVAL),
        ("total > 105us", SLOW, None, "met", CLEAR),
        ("total > 105us", NOISY, None, "uncertain", BY_LIMIT),
        (
            "total > 50us",
            [*(40 + run / 100 for run in range(4)), *(60 + run / 100 for run in range(5))],
            SLOW,
            "uncertain",
            f"{BY_LIMIT}{ABSOLUTE}'total > +50us'",
        ),
        ("total > +8%", SLOW, BASE, "met", SIZE.format("slow-down")),
        ("total < -8%", BASE, SLOW, "met", SIZE.format("speed-up")),
        ("total > +8us", SLOW, BASE, "met", SIZE.format("slow-down")),
        ("total > 0.2s", SLOW, None, "passed", WITHIN),
        ("total < 200us", SLOW, None, "met", CLEAR),
        ("total > 105us", SLOW, BASE, "met", CLEAR),
        ("total > +5%", SLOW[:3], BASE, "unjudged", f"only 3 of the 4 required runs{RECORD_BOTH}"),
        (
            "total > +5%",
            SLOW,
            BASE[:1],
            "unjudged",
            f"only 1 of the 4 required runs of the baseline{RECORD_BOTH}",
        ),
        ("total > 1us", SLOW[:2], None, "unjudged", f"only 2 of the 4 required runs{RECORD}"),
        ("type=Pool: time > 1us", SLOW, None, "unjudged", NO_POOL),
        ("type=Pool: time > +1%", SLOW, BASE, "unjudged", NO_POOL),
        ("name ~ CONV: time > +1%", SLOW, BASE, "unjudged", NO_CONV),
        ("total > 50us", SLOW, BASE, "met", f"{CLEAR}{ABSOLUTE}'total > +50us'"),
        (
            "type=Conv: time>50 us",
            SLOW,
            BASE,
            "met",
            f"{CLEAR}{ABSOLUTE}'type=Conv: time > +50 us'",
        ),
        ("total > 50us", SLOW, None, "met", CLEAR),
        (
            "total > +5%",  # equal runs are copies, which count as one run
            [113] * 5,
            [100] * 5,
            "unjudged",
            f"only 1 of the 4 required different runs on each side{RECORD_BOTH}",
        ),
        ("host_time > 1us", SLOW, None, "unjudged", NO_HOST),
        ("wait > 1us", SLOW, None, "unjudged", NO_WAIT.format("all operators")),
        ("type=Conv: wait > 1us", SLOW, None, "unjudged", NO_WAIT.format("all selected operators")),
    ],
)
def test_every_outcome_of_a_condition_has_its_reason(
    text: str, new: list[float], base: list[float] | None, outcome: str, reason: str
) -> None:
    found = verdict(text, new, base)
    assert (found.outcome, reason_in_words(found)) == (outcome, reason)


@pytest.mark.parametrize(
    ("text", "timed", "reason"),
    [
        ("total > +5%", True, "the time of the baseline is N/A: {} of the baseline {}"),
        ("total > +5%", False, "the time is N/A: {} of the profile {}"),
        ("total > 1us", False, "the time is N/A: {} of the profile {}"),
        ("verdict == slower: time > 0s", True, "{} of the baseline {}"),
        ("total > 50us", True, ""),
    ],
)
def test_the_reason_says_which_side_has_no_device_times(
    text: str, reason: str, *, timed: bool
) -> None:
    untimed = pa.join_runs(
        profile_of([Operator("a", "Conv", None)], f"untimed{n}.json") for n in range(8)
    )
    sides = (runs_of("a", SLOW, ""), untimed)
    query = pa.Query(compared=True)
    condition = pa.FailCondition.parse(text, query)
    (found,) = pa.judge_conditions(
        [condition], query, pa.compare(*(sides if timed else sides[::-1]))
    )
    advice = "has a device time; profile again with device times"
    expected = reason.format("no operator", advice) if reason else CLEAR
    assert (found.outcome, reason_in_words(found)) == ("unjudged" if reason else "met", expected)


def test_operators_that_launched_nothing_themselves_are_named() -> None:
    """A wrapper leaves its work to the operator inside it, which launches the kernel."""
    profile = in_memory.profile_of(
        [
            {"name": "conv2d", "computation": 5.0},
            {"name": "cudnn", "computation": 5.0},
            {"name": "kernel", "level": "kernel"},
            {"name": "empty", "computation": 0.0},
        ],
        [
            {"operator": 0, "duration_s": 3.0, "track": 1},
            {"operator": 1, "duration_s": 2.0, "track": 1, "parent": 0},
            {"operator": 2, "duration_s": 1.0, "launched_by": 1},
            {"operator": 3, "duration_s": 1.0, "track": 1},
        ],
        tracks=[in_memory.STREAM, in_memory.THREAD],
    )

    def reason(name: str) -> str:
        query = pa.Query()
        condition = pa.FailCondition.parse(f"name == {name}: time > 1us", query)
        (found,) = pa.judge_conditions([condition], query, profile)
        return reason_in_words(found)

    without = "no operator matches: 1 operator without a device time would match"
    assert reason("empty") == without
    assert reason("conv2d") == f"{without}; --level top adds the times of the operators inside"


def test_the_reason_says_that_a_column_is_unknown() -> None:
    profile = in_memory.profile_of(
        [{"name": name, "type": None} for name in "ab"],
        [{"operator": operator, "duration_s": 1.0} for operator in range(2)],
    )
    condition = pa.FailCondition.parse("type=Conv: time > 1us", pa.Query())
    (found,) = pa.judge_conditions([condition], pa.Query(), profile)
    assert reason_in_words(found) == (
        "no operator matches; left out 2 operators (100.0% of the time) where the value is N/A"
    )


@pytest.mark.parametrize(
    ("text", "filters", "reason"),
    [
        (
            "type=Conv: time > 1us",
            {"types": ("Relu",)},
            "the filter by type leaves out both operators that 'type == Conv' selects",
        ),
        (
            "type=Conv: computation > 1FLO",
            {"types": ("Relu",)},
            "the filter by type leaves out both operators that 'type == Conv' selects",
        ),
        (
            "name=a: time > 1us",
            {"types": ("Conv",), "where": ("time > 2us",)},
            "--where leaves out the only operator that 'name == a' selects",
        ),
        (
            "type=Conv: time > 1us",
            {"name": "b", "where": ("name ~ a",)},
            "the filter by name and --where together leave out both operators that 'type == Conv' selects",
        ),
        ("time > 1us", {"min_time_s": 1}, "the minimum time leaves out all 3 operators"),
        (
            "time > 1us",
            {"types": ("Relu",), "where": ("name ~ a",)},
            "the filter by type and --where together leave out all 3 operators",
        ),
        ("type=Pool: time > 1us", {"types": ("Relu",)}, ""),  # no operator has this type
    ],
)
def test_the_reason_names_the_filters_that_leave_out_the_selection(
    text: str, filters: dict[str, Any], reason: str
) -> None:
    profile = profile_of(
        [Operator("a", "Conv", 1), Operator("b", "Conv", 1), Operator("c", "Relu", 3)]
    )
    query = pa.Query(**filters)
    condition = pa.FailCondition.parse(text, query)
    (found,) = pa.judge_conditions([condition], query, profile)
    expected = f": {reason}" if reason else "; there are Conv, Relu"
    assert (found.outcome, reason_in_words(found)) == ("unjudged", f"no operator matches{expected}")


def test_a_baseline_without_waits_is_named() -> None:
    with_waits, without = (
        in_memory.profile_of(
            [{"name": "a"}],
            [
                {"operator": 0, "run": n, "duration_s": 2.0 + n, "first_kernel_s": wait_s}
                for n in range(4)
            ],
            runs=[Run(n) for n in range(4)],
            processes=[f"{wait_s}{n}.json" for n in range(4)],
        )
        for wait_s in (1.0, nan)
    )
    query = pa.Query(compared=True)
    condition = pa.FailCondition.parse("wait > +5%", query)
    (found,) = pa.judge_conditions([condition], query, pa.compare(with_waits, without))
    assert reason_in_words(found) == (
        "wait of the baseline is N/A for all operators: the baseline has no times to first "
        "kernel; limit device_time instead"
    )


def test_a_change_from_a_baseline_of_0_s_cannot_be_judged() -> None:
    # The runs differ only in their start: otherwise, they would be copies.
    base = pa.join_runs(
        profile_of([Operator("a", "Conv", 0, start=run)], f"{run}.json") for run in range(4)
    )
    query = pa.Query(compared=True)
    condition = pa.FailCondition.parse("total > +1%", query)
    source = pa.compare(runs_of("a", SLOW, "new/"), base)
    (found,) = pa.judge_conditions([condition], query, source)
    assert gate_sentence(found) == "cannot be judged: total > +1%: the time of the baseline is 0"


@pytest.mark.parametrize(
    ("text", "new", "base", "sentence"),
    [
        (
            "total > +5%",
            SLOW,
            BASE,
            "FAILED: total > +5%: +9.7% (95 %: +6.7% to +12.6%, p < 0.001), 113.5 us against "
            "103.5 us of the baseline: beyond the limit, and beyond noise",
        ),
        (
            "total > +8us",
            SLOW,
            BASE,
            "FAILED: total > +8us: +10.00 us (95 %: +6.966 us to +13.06 us, p < 0.001), "
            "113.5 us against 103.5 us of the baseline: beyond the limit; a slow-down is beyond "
            "noise, but its size is uncertain",
        ),
        (
            "total > +12us",
            SLOW,
            BASE,
            "passed: total > +12us: +10.00 us (95 %: +6.966 us to +13.06 us), 113.5 us against "
            "103.5 us of the baseline: within the limit, but changes up to +13.06 us are not "
            "ruled out; take more runs",
        ),
        (
            "total > +15%",
            SLOW,
            BASE,
            "passed: total > +15%: +9.7% (95 %: +6.7% to +12.6%), 113.5 us against 103.5 us of the "
            "baseline: within the limit, and so is the confidence interval",
        ),
        (
            "total > +12%",
            NOISY,
            BASE,
            "passed: total > +12%: +6.3% (95 %: -16.7% to +23.8%), 110.0 us against 103.5 us of the "
            "baseline: within the limit, but changes up to +23.8% are not ruled out; take more runs",
        ),
        (
            "total > +5%",
            NOISY,
            BASE,
            "uncertain: total > +5%: +6.3% (95 %: -16.7% to +23.8%, p 0.431), 110.0 us against "
            "103.5 us of the baseline: beyond the limit, but p is over 0.05, so noise may explain "
            "that; take more runs",
        ),
        (
            "total < -12%",
            NOISY_FASTER,
            BASE,
            "passed: total < -12%: -8.2% (95 %: -29.4% to +14.3%), 95.00 us against 103.5 us of the "
            "baseline: within the limit, but changes down to -29.4% are not ruled out; take more runs",
        ),
        (
            "total > +1%",
            [105, 115, 91, 109, 95, 107, 116, 101],
            [87, 108, 109, 103, 108, 95, 107, 111],
            "passed: total > +1%: -0.9% (95 %: -7.8% to +12.6%), 106.0 us against 107.0 us of the "
            "baseline: within the limit, but a better estimate, +1.4% (the median change over all pairs of "
            "runs), is beyond it; changes up to +12.6% are not ruled out; take more runs; --fail-uncertain "
            "not-ruled-out makes this uncertain",
        ),
        (
            "total > +3%",
            [103.1, 102.3, 104.6, 102, 104.7, 104.4, 104.2, 101],
            [101.7, 97.8, 99.8, 99.3, 102.9, 101.8, 99.9, 98.6],
            "FAILED: total > +3%: +3.8% (95 %: +1.3% to +4.9%, p 0.00311), 103.7 us against 99.85 us "
            "of the baseline: beyond the limit; a slow-down is beyond noise, but its size is "
            "uncertain; a better estimate, +2.9% (the median change over all pairs of runs), is "
            "within the limit, but the medians decide",
        ),
        (
            "total > +5%",
            [107, 119, 125, 104, 98, 118],
            [117, 94, 93, 104, 95, 97],
            "uncertain: total > +5%: +17.2% (95 %: +0.9% to +26.9%, p 0.0606), 112.5 us against "
            "96.00 us of the baseline: beyond the limit, but p is over 0.05 (the interval, from "
            "another test, excludes 0), so noise may explain that; take more runs",
        ),
        (
            "total > 125us",
            NOISY,
            None,
            "passed: total > 125us: 110.0 us (95 %: 80.00 us to 140.0 us): within the limit, but times "
            "up to 140.0 us are not ruled out; take more runs",
        ),
        (
            "total > 1s",
            SLOW[:3],
            None,
            f"cannot be judged: total > 1s: 111.0 us: only 3 of the 4 required runs{RECORD}",
        ),
        (
            "total > +5%",
            SLOW[:3],
            BASE,
            "cannot be judged: total > +5%: +7.2%, 111.0 us against 103.5 us of the baseline: only 3 of "
            f"the 4 required runs{RECORD_BOTH}",
        ),
        (
            "total > +5us",
            SLOW[:3],
            BASE[:3],
            "cannot be judged: total > +5us: +10.00 us, 111.0 us against 101.0 us of the baseline: only "
            f"3 of the 4 required runs on each side{RECORD_BOTH}",
        ),
        (
            "total > +5%",
            SLOW[:3],
            BASE[:1],
            "cannot be judged: total > +5%: +11.0%, 111.0 us against 100.0 us of the baseline: only 3 "
            f"of the 4 required runs, and 1 of the baseline{RECORD_BOTH}",
        ),
    ],
)
def test_the_sentence_has_the_outcome_the_numbers_and_the_reason(
    text: str, new: list[float], base: list[float] | None, sentence: str
) -> None:
    assert gate_sentence(verdict(text, new, base)) == sentence


def test_a_verdict_has_the_measured_numbers() -> None:
    found = verdict("total > +5%", SLOW, BASE)
    assert found.time_s == pytest.approx(113.5e-6)
    assert found.base_s == pytest.approx(103.5e-6)
    assert 1.05 < found.low < 113.5 / 103.5 < found.high < 1.15
    assert found.p_value == pytest.approx(2 / 12870)
    absolute = verdict("total > 105us", SLOW, None)
    # Eight runs: the true median is below all of them in 1 of 256 cases.
    assert [absolute.low, absolute.high] == pytest.approx([110e-6, 117e-6])


BUSY = [1.0, 1.3, 0.8, 1.1, 1.4, 0.9, 1.2, 1.05]


def busy_side(factor: float, slow: Sequence[float]) -> pa.Profile:
    """Return runs that are `slow` times as long as usual, with a convolution slower by `factor`."""
    return pa.join_runs(
        profile_of(
            [
                Operator("conv", "Conv", (1000 + 3 * run) * factor * one),
                *(Operator(f"op{n}", f"Op{n}", (100 + n + run % 3) * one) for n in range(12)),
            ],
            f"{factor}-{run}.json",
        )
        for run, one in enumerate(slow)
    )


def test_selected_operators_are_judged_relative_to_all_others() -> None:
    query = pa.Query(compared=True)
    comparison = pa.compare(busy_side(1.1, BUSY), busy_side(1.0, BUSY[::-1]))
    texts = ("type=Conv: time > +5%", "type=Op3: time > +5%", "total > +5%")
    conditions = [pa.FailCondition.parse(text, query) for text in texts]
    assert list(map(gate_sentence, pa.judge_conditions(conditions, query, comparison))) == [
        "FAILED: type=Conv: time > +5%: +11.0% (+10.0% relative to all other operators, "
        "95 %: +8.8% to +11.3%, p < 0.001 for 3 conditions), 1.200 ms against 1.082 ms of the "
        "baseline: beyond the limit, and beyond noise",
        "passed: type=Op3: time > +5%: -0.0% (95 %: -18.4% to +22.6%), 111.2 us against 111.3"
        " us of the baseline: within the limit, but changes up to +22.6% are not ruled "
        "out; take more runs",
        "passed: total > +5%: +4.8% (95 %: -15.1% to +28.3%), 2.567 ms against 2.449 ms of "
        "the baseline: within the limit, but changes up to +28.3% are not ruled out; take"
        " more runs",
    ]


@pytest.mark.parametrize(
    ("slow_base", "limit", "reason"),
    [
        # The convolution takes 14 % more, and 25 % more relative to all other operators.
        (1.1, "> +5%", "beyond the limit, and beyond noise"),
        (1.1, "> +20%", "the relative change is beyond the limit, and beyond noise"),
        (1.1, "> +200us", "the relative change is beyond the limit, and beyond noise"),
        (
            1.1,
            "> +24.5%",
            "the relative change is beyond the limit; a slow-down is beyond noise, but its size is "
            "uncertain",
        ),
        (1.1, "> +40%", "within the limit, and so is the confidence interval"),
        # It takes 37 % more, and 25 % more relative to all other operators.
        (
            1 / 1.1,
            "> +30%",
            "the relative change is within the limit, and so is the confidence interval",
        ),
        (
            1 / 1.1,
            "> +25.5%",
            "the relative change is within the limit, but changes up to +26.4% are not ruled out; "
            "take more runs",
        ),
    ],
)
def test_the_reason_names_the_relative_change_if_the_medians_are_across_the_limit(
    slow_base: float, limit: str, reason: str
) -> None:
    comparison = pa.compare(busy_side(1.25, BUSY), busy_side(1.0, [slow_base * x for x in BUSY]))
    query = pa.Query(compared=True)
    condition = pa.FailCondition.parse(f"type=Conv: time {limit}", query)
    (found,) = pa.judge_conditions([condition], query, comparison)
    assert gate_reason(found).rpartition(": ")[-1] == reason


def test_p_is_corrected_for_the_number_of_conditions() -> None:
    def joined(side: str, convs: Sequence[float], relus: Sequence[float]) -> pa.Profile:
        return pa.join_runs(
            profile_of(
                [Operator("conv", "Conv", conv), Operator("relu", "Relu", relu)], f"{side}{n}"
            )
            for n, (conv, relu) in enumerate(zip(convs, relus, strict=True))
        )

    query = pa.Query(compared=True)
    source = pa.compare(joined("new", SLOW, NOISY), joined("base", BASE, BASE))
    slow, noisy, unjudged = (
        pa.FailCondition.parse(f"type={type_}: time > +1%", query)
        for type_ in ("Conv", "Relu", "Pool")
    )

    def p_values(*conditions: pa.FailCondition) -> list[float]:
        return [one.p_value for one in pa.judge_conditions(conditions, query, source)]

    (slow_alone,), (noisy_alone,) = p_values(slow), p_values(noisy)
    assert slow_alone < noisy_alone / 2
    # the step-up procedure of Benjamini and Hochberg: p * number of conditions / rank
    assert p_values(slow, noisy)[:2] == pytest.approx([slow_alone * 2, noisy_alone])
    # Equal p all get the highest of their ranks. Conditions that cannot be judged do not count.
    assert p_values(slow, slow, unjudged)[:2] == [slow_alone, slow_alone]


def test_several_conditions_need_more_runs_than_one() -> None:
    """With four runs a side, p is at least 2/70, which two conditions double."""
    base = runs_of("conv", BASE[:4], "base/")
    query = pa.Query(compared=True)
    texts = ("total > +5%", "total > +3%", "total > +50%")
    one, two, far = (pa.FailCondition.parse(text, query) for text in texts)

    def judged(new: list[int], *conditions: pa.FailCondition) -> list[str]:
        found = pa.judge_conditions(conditions, query, pa.compare(runs_of("conv", new), base))
        return [f"{one.outcome}: {reason_in_words(one)}" for one in found]

    slow = SLOW[:4]
    assert judged(slow, one) == ["met: beyond the limit, and beyond noise"]
    assert judged(slow, one, two)[0].startswith("met: ")  # both changed, so each p counts as it is
    few = (
        "unjudged: beyond the limit, but 4 runs and 4 of the baseline are too few to show a change "
        "for just one of 2 conditions, however large; 5 on each side are enough"
    )
    assert judged([100, 130, 103, 140], one, far)[0] == few


def test_total_covers_all_operators_but_time_only_the_selected_operators() -> None:
    def of_run(number: int) -> pa.Profile:
        both = [Operator("conv", "Conv", 10 + number), Operator("relu", "Relu", 2)]
        return profile_of(both, f"{number}.json")

    profile = pa.join_runs(of_run(number) for number in range(4))
    query = pa.Query(types="Relu", min_time_s=1e-6, by="type", top=1)
    texts = ("total > 1s", "time > 1s", "name=conv: time > 1s")
    conditions = [pa.FailCondition.parse(text, query) for text in texts]
    times = [found.time_s for found in pa.judge_conditions(conditions, query, profile)]
    assert times[:2] == [pytest.approx(13.5e-6), pytest.approx(2e-6)]
    assert times[2] != times[2]  # N/A: no operator has the type Relu and the name conv


@pytest.mark.parametrize(
    ("text", "query", "line"),
    [
        ("time > 1s", {}, "passed: time > 1s: 110.0 us of all operators (95 %: "),
        ("device_time > 1s", {"types": "Conv"}, "passed: device_time > 1s: 110.0 us of the operators that pass the filters (95 %: "),
        ("time > 1s", {"where": "time > 0s"}, "passed: time > 1s: 110.0 us of the operators that pass the filters (95 %: "),
        # These conditions name their operators.
        ("total > 1s", {"types": "Conv"}, "passed: total > 1s: 110.0 us (95 %: "),
        ("type=Conv: time > 1s", {"types": "Conv"}, "passed: type=Conv: time > 1s: 110.0 us (95 %: "),
    ],
)  # fmt: skip
def test_the_line_names_the_operators_if_the_condition_does_not(
    text: str, query: dict[str, Any], line: str
) -> None:
    asked = pa.Query(**query)
    condition = pa.FailCondition.parse(text, asked)
    (found,) = pa.judge_conditions([condition], asked, runs_of("conv", NOISY))
    assert gate_sentence(found).startswith(line)


def test_the_line_names_the_operators_of_a_change() -> None:
    assert " 110.0 us of all operators against 103.5 us of the baseline: " in gate_sentence(
        verdict("time > +5%", NOISY, BASE)
    )


def test_a_time_says_if_each_process_counts_once() -> None:
    """It differs from the total in the summary, which is the median of all runs, here 3 s."""
    profile = in_memory.profile_of(
        [{"name": "conv"}],
        [
            {"operator": 0, "run": run, "duration_s": time}
            for run, time in enumerate((1.0, 3.0, 5.0))
        ],
        runs=[Run(0), Run(0), Run(1)],
        processes=("a.json", "b.json"),
    )
    condition = pa.FailCondition.parse("total > 3s", pa.Query())
    (found,) = pa.judge_conditions([condition], pa.Query(), profile)
    assert gate_sentence(found).startswith(
        "cannot be judged: total > 3s: 3.500 s (each process counts once): only 2 "
        "of the 4 required "
    )

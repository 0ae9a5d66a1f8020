"""Conditions of `--fail-if` that select operators by how they changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import profile_analyze as pa
from profile_analyze.report.facts.sentence_parts import gate_sentence, reason_in_words
from tests.conftest import FIXTURES, run_command
from tests.findings.found import why
from tests.gate.test_gate import BASE, CLEAR, RECORD_BOTH, SLOW
from tests.small import Operator, profile_of, runs_of

if TYPE_CHECKING:
    from collections.abc import Sequence

RESNET = str(FIXTURES / "runs/base/01.json.gz")
ANY_LAYER = "verdict ~ slower|more: time > 50us"
NONE_SLOWER = (
    "uncertain",
    "no operator has such a verdict, but 1 operator (100.0% of the time) is uncertain; take more "
    "runs",
)
OPS = "abcde"
TIMES = [103.0, 99, 102, 98, 101, 100, 104, 97]
"""The times of eight runs, in microseconds."""


def judged(
    text: str, new: Sequence[float], base: Sequence[float] = BASE, **asked: Any
) -> tuple[str, str]:
    source = pa.compare(runs_of("conv", new), runs_of("conv", base, "base/"))
    return judged_in(source, text, **asked)


def judged_in(source: pa.Comparison, text: str, **asked: Any) -> tuple[str, str]:
    query = pa.Query(compared=True).changed(**asked)
    (found,) = pa.judge_conditions([pa.FailCondition.parse(text, query)], query, source)
    assert gate_sentence(found).endswith(f": {reason_in_words(found)}")
    return found.outcome, reason_in_words(found)


def comparison_with_a_rare_operator(
    time_us: float, times: Sequence[float] = TIMES
) -> pa.Comparison:
    """Return a comparison in which `rare` has no verdict: it ran in only two runs of each side."""
    work = (1000, 100)
    rare = [Operator("rare", "Conv", time_us, work=work)]
    new, base = (
        pa.join_runs(
            profile_of(
                [Operator("conv", "Conv", time, work=work), *rare[: n < 2]], f"{side}{n}.json"
            )
            for n, time in enumerate(times_of_side)
        )
        for side, times_of_side in (("", times), ("base/", [time + 0.5 for time in TIMES]))
    )
    return pa.compare(new, base)


@pytest.mark.parametrize("text", [ANY_LAYER, "verdict != same: time > 50us"])
def test_operators_with_the_verdict_are_judged(text: str) -> None:
    # The reason suggests no limit on the change, because with a verdict, such a limit is an error.
    assert judged(text, SLOW) == ("met", CLEAR)
    assert judged(text.replace("50us", "1s"), SLOW)[0] == "passed"


@pytest.mark.parametrize(
    "text", [ANY_LAYER, "verdict == slower: computation > 5M", "verdict == slower: params > +0"]
)
def test_a_condition_is_not_met_if_no_operator_has_the_verdict(text: str) -> None:
    assert judged(text, [time + 0.5 for time in TIMES], TIMES) == NONE_SLOWER


@pytest.mark.parametrize("runs", [1, 3, 8])
def test_noise_does_not_add_operators(runs: int) -> None:
    new = runs_of("conv", [time + 0.5 for time in TIMES[:runs]])
    source = pa.compare(new, runs_of("conv", TIMES[:runs], "base/"))
    for text in ("verdict == added: time > 0s", "verdict ~ added|removed: params > +0"):
        query = pa.Query(compared=True)
        conditions = [pa.FailCondition.parse(text, query)]
        (found,) = pa.judge_conditions(conditions, query, source, strict=True)
        assert (found.outcome, reason_in_words(found)) == (
            "passed",
            "no operator has such a verdict",
        )


@pytest.mark.parametrize(
    ("runs", "outcome"), [(3, "unjudged"), (4, "unjudged"), (5, "uncertain"), (8, "uncertain")]
)
def test_a_condition_does_not_pass_if_no_single_layer_could_fail_it(
    runs: int, outcome: str
) -> None:
    """With four runs a side, p is at least 2/70: too large to judge one of five operators."""

    def side(name: str, factor: int = 1) -> pa.Profile:
        return pa.join_runs(
            profile_of(
                [
                    Operator(one, "Conv", (100 + 9 * run) * (factor if one == "a" else 1))
                    for one in OPS
                ],
                f"{name}{run}",
            )
            for run in range(runs)
        )

    few = (
        "4 runs and 4 of the baseline are too few to show a change of just one of the 5 operators, "
        "however large; 5 on each side are enough"
    )
    unchanged = pa.compare(side("new"), side("base/"))
    found = judged_in(unchanged, ANY_LAYER)
    assert found[0] == outcome
    assert (found[1] == few) == (runs == 4)
    # An operator that takes ten times as long shows whether the condition can fail at all.
    slower = judged_in(pa.compare(side("new", 10), side("base/")), ANY_LAYER)
    assert slower[0] == ("met" if outcome == "uncertain" else "unjudged")
    of_same = judged_in(unchanged, "verdict == same: time > 1s")
    assert of_same[0] == ("unjudged" if runs == 3 else "uncertain")
    advice = "at least 6 profiles on each side to show a change of just one"
    assert (advice in found[1]) == (runs == 3)


@pytest.mark.parametrize(("operators", "enough"), [(4, 5), (14, 6), (52, 7)])
@pytest.mark.parametrize("by", [(), ("type",)])
def test_the_advised_number_of_runs_is_the_least_that_can_show_one_operator(
    operators: int, enough: int, by: tuple[str, ...]
) -> None:
    """Groups do not matter, although a group needs more runs: verdicts are those of operators."""

    def outcome(runs: int) -> tuple[str, str]:
        new, base = (
            pa.join_runs(
                profile_of(
                    [
                        Operator(str(n), f"T{n // 2}", (time + 9 * run) * (1 if n else factor))
                        for n in range(operators)
                    ],
                    f"{side}{run}",
                )
                for run in range(runs)
            )
            for side, time, factor in (("", 101, 10), ("base/", 100, 1))
        )
        return judged_in(pa.compare(new, base), "verdict == slower: time > 0s", by=by)

    assert f"at least {enough} profiles on each side to show a change" in outcome(3)[1]
    assert (outcome(enough - 1)[0], outcome(enough)[0]) == ("unjudged", "met")


def test_a_condition_passes_if_no_operator_with_much_time_may_have_the_verdict() -> None:
    same = [100 + run / 100 for run in range(8)]
    assert judged(ANY_LAYER, same, same[::-1]) == ("passed", "no operator has such a verdict")


@pytest.mark.parametrize(("value", "code"), [("unjudged", 0), ("yes", 4), ("not-ruled-out", 4)])
def test_uncertain_operators_make_the_condition_uncertain(value: str, code: int) -> None:
    runs = FIXTURES / "runs" / "base"
    new, base = ([str(runs / f"{n:02}.json.gz") for n in range(first, 25, 2)] for first in (1, 2))
    call = (*new, "--compare", *base, "--print-only", "summary", "--format", "plain")
    outcome = run_command(*call, "--fail-if", ANY_LAYER, "--fail-uncertain", value)
    assert outcome.code == code
    assert outcome.out.splitlines()[-1].startswith(f"uncertain: {ANY_LAYER}: ")
    assert "--fail-uncertain" not in outcome.out


def test_the_line_has_the_share_of_the_summary_and_names_the_option() -> None:
    runs = FIXTURES / "runs"
    call = (str(runs / "base"), "--compare", str(runs / "changed"), "--print-only", "summary")
    outcome = run_command(*call, "--format", "plain", "--fail-if", ANY_LAYER)
    *_, summary, _, line = outcome.out.splitlines()
    assert "uncertain 68 (94.0%); medians do not add up" in summary
    assert line == (
        f"uncertain: {ANY_LAYER}: no operator has such a verdict, but 68 operators (94.0% of the "
        "time) are uncertain; take more runs; --fail-uncertain yes makes the exit status 4"
    )


def test_the_operator_that_changed_most_is_named() -> None:
    new, base = (
        pa.join_runs(
            profile_of(
                [
                    Operator("small", "Conv", 50 * factor + n, work=(1, 1)),
                    Operator("large", "Conv", 900 * factor + n, work=(1, 1)),
                    Operator("rest", "Conv", 5000 + n, work=(1, 1)),
                ],
                f"{side}{n}.json",
            )
            for n in range(8)
        )
        for side, factor in (("", 2), ("base/", 1))
    )
    query = pa.Query(compared=True)
    source = pa.compare(new, base)
    (found,) = pa.judge_conditions([pa.FailCondition.parse(ANY_LAYER, query)], query, source)
    assert gate_sentence(found) == (
        "FAILED: verdict ~ slower|more: time > 50us: large +900.0 us, 2.00 times the baseline, and "
        f"1 more operator; together, their time is 1.907 ms (95 %: 1.900 ms to 1.914 ms): {CLEAR}"
    )
    one = pa.FailCondition.parse("verdict ~ slower|more: computation > 0", query)
    (found,) = pa.judge_conditions([one], query.changed(where=("name == small",)), source)
    assert gate_sentence(found) == (
        "FAILED: verdict ~ slower|more: computation > 0: small +50.00 us, 1.93 times the baseline; "
        "its computation is 1.00 FLO: beyond the limit"
    )


def test_where_can_select_operators_by_verdict() -> None:
    asked: Any = {"where": ("verdict == slower",)}
    assert judged("type=Conv: time > 1us", TIMES, TIMES[::-1], **asked)[0] == "passed"
    assert judged("type=Pool: time > 1us", TIMES, **asked)[0] == "unjudged"
    assert judged(ANY_LAYER, SLOW, types=("Pool",)) == (
        "unjudged",
        "no operator matches: the filter by type leaves out the only operator that 'verdict ~ "
        "slower|more' selects",
    )


def test_a_condition_is_not_judged_without_verdicts() -> None:
    few = f"only 3 of the 4 required runs on each side{RECORD_BOTH}"
    assert judged(ANY_LAYER, SLOW[:3], BASE[:3]) == ("unjudged", few)
    assert judged_in(comparison_with_a_rare_operator(90.0), ANY_LAYER) == (
        "unjudged",
        "the verdict of 1 operator (47.2% of the time of both sides) is N/A",
    )
    assert judged_in(comparison_with_a_rare_operator(1.0), ANY_LAYER) == (
        "uncertain",
        "no operator has such a verdict, but 1 operator (100.0% of the time) is uncertain; the "
        "verdict of 1 operator (1.0% of the time of both sides) is N/A; take more runs",
    )


def test_a_condition_does_not_pass_if_most_of_the_time_has_no_verdict() -> None:
    """One small operator with the verdict does not hide that the largest operator has none."""
    slower = comparison_with_a_rare_operator(9000.0, [2 * time for time in TIMES])
    outcome, reason = judged_in(slower, "verdict ~ slower|more: time > 1s")
    assert (outcome, reason.partition(" (")[0]) == ("unjudged", "the verdict of 1 operator")
    assert judged_in(slower, ANY_LAYER)[0] == "met"
    of_work = "verdict ~ slower|more: computation > 5G"
    assert judged_in(slower, of_work) == (outcome, reason)
    assert judged_in(slower, "verdict ~ slower|more: computation > 1FLO")[0] == "met"


def test_verdicts_need_sides_that_belong_together() -> None:
    source = pa.compare(runs_of("conv", BASE), runs_of("conv", BASE))
    assert judged_in(source, ANY_LAYER) == (
        "unjudged",
        f"{why(source.mismatch)}; name other files for one side",
    )


@pytest.mark.parametrize("subject", ["verdict == slowr", "verdict !~ Slow", "verdict ~ x|y"])
def test_unknown_verdicts_are_errors(subject: str) -> None:
    value = subject.rpartition(" ")[2]
    text = f"{subject}: time > 5ms"
    with pytest.raises(pa.QueryError) as caught:
        pa.FailCondition.parse(text, pa.Query(compared=True))
    assert str(caught.value) == (
        f"fail-if: {text!r}: there is no verdict {value!r}; the verdicts are faster, slower, same, "
        "uncertain, more work, less work, added, removed"
    )


@pytest.mark.parametrize(
    ("text", "column"),
    [
        ("change > 10%: time > 5ms", "change"),
        ("ratio > 1.1: time > +5%", "ratio"),
        ("p_value < 0.01: computation > 1G", "p_value"),
    ],
)
def test_noise_must_not_choose_the_operators(text: str, column: str) -> None:
    with pytest.raises(pa.QueryError) as caught:
        pa.FailCondition.parse(text, pa.Query(compared=True))
    assert str(caught.value) == (
        f"fail-if: {text!r}: {column} selects operators by how they changed, so noise alone could "
        "meet the condition; select them by name, type or base, or write "
        "'verdict ~ slower|more: time > 0s' for any operator"
    )
    # Noise does not change the work.
    pa.FailCondition.parse("ratio > 1.1: computation > +1%", pa.Query(compared=True))


@pytest.mark.parametrize(
    ("text", "where", "instead"),
    [
        (
            "verdict == slower: time > +5%",
            (),
            "'verdict == slower: time > 0s', and --threshold 5% to ignore changes below 5%",
        ),
        (
            "verdict == faster: time < -2.5%",
            (),
            "'verdict == faster: time > 0s', and --threshold 2.5% to ignore changes below 2.5%",
        ),
        ("verdict == slower: time > +5ms", (), "'verdict == slower: time > 0s'"),
        ("verdict == slower: time > -5%", (), "'verdict == slower: time > 0s'"),
        ("time > +0%", ("verdict == slower",), "'time > 0s'"),
    ],
)
def test_a_verdict_is_not_judged_again(text: str, where: tuple[str, ...], instead: str) -> None:
    option = "--where 'verdict == slower'" if where else "verdict"
    with pytest.raises(pa.QueryError) as caught:
        pa.FailCondition.parse(text, pa.Query(compared=True, where=where))
    assert str(caught.value) == (
        f"fail-if: {text!r}: {option} already judges how operators changed, so a limit on the "
        f"change would judge it twice; write {instead}"
    )


def test_a_note_says_that_conditions_do_not_use_having() -> None:
    call = (RESNET, "--aggregate-by", "type", "--having", "count > 3")
    note = "note: --fail-if judges operators, so it does not use --having\n"
    assert note in run_command(*call, "--fail-if", "total > 1s").err
    assert note not in run_command(*call).err


@pytest.mark.parametrize("metric", ["time > 1s", "computation > 1G"])
def test_wildcards_have_a_note_only_if_an_operator_matches(metric: str) -> None:
    call = (RESNET, "--print-only", "summary", "--format", "plain", "--fail-if")
    note = "in a regular expression, * repeats the character before it"
    assert note in run_command(*call, f"name ~ RELU*: {metric}").err
    outcome = run_command(*call, f"name ~ RELU*fuse: {metric}")
    assert note not in outcome.err
    assert outcome.out.endswith("did you mean 'name ~ RELU.*fuse'?\n")

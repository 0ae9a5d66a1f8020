"""`--fail-if` on two sides that do not belong together: no change can be judged."""

from __future__ import annotations

import json
from math import nan
from typing import TYPE_CHECKING

import pytest

import profile_analyze as pa
from profile_analyze.findings.sentences import as_text
from profile_analyze.model.origin import Origin
from profile_analyze.report.facts.sentence_parts import reason_in_words
from tests import in_memory
from tests.conftest import FIXTURES, run_command
from tests.findings.found import why
from tests.small import Operator, profile_of, runs_of

if TYPE_CHECKING:
    from collections.abc import Sequence

NEW = [110, 111, 112, 113]
BASE = [100, 101, 102, 103]
SAME_RUNS = (
    "4 files on both sides, such as 0.json: the same runs are compared with themselves; name other "
    "files for one side"
)
OTHER_MODEL = (
    "no operator of the baseline was matched, so all are added or removed: these are different "
    "models; name profiles of the same model on both sides"
)
# Four runs of one model, and four of another one.
TWO_MODELS = pa.join_runs(
    profile_of([Operator(name, "Conv", time)], f"{name}{n}.json")
    for name in ("conv", "other")
    for n, time in enumerate(BASE)
)
RUNS_OF_TWO_MODELS = (
    "the runs of the baseline have few operators in common: these look like different models; name "
    "runs of one model on each side"
)
MAY_DIFFER = "no operator matches between the two formats: these may be different models"
OTHER = "these are different models, or their inputs or iterations differ"
EQUAL_AMOUNTS = "name profiles of one model, with equal inputs and equally many iterations in a run"
MOBILENET = str(FIXTURES / "runs/mobilenet/01.json.gz")
RESNET = str(FIXTURES / "runs/base/01.json.gz")
FEW_MATCH = (
    "cannot be judged: {}: only 2 of 50 operators with a device time matched with the baseline, not counting "
    "constants and other bookkeeping: these look like different models; name profiles of the same "
    "model on both sides"
)


def outcomes(comparison: pa.Comparison, texts: Sequence[str]) -> list[tuple[str, str]]:
    query = pa.Query(compared=True)
    conditions = [pa.FailCondition.parse(text, query) for text in texts]
    verdicts = pa.judge_conditions(conditions, query, comparison)
    assert [one.condition for one in verdicts] == conditions
    return [(one.outcome, reason_in_words(one)) for one in verdicts]


def two_formats(new: Sequence[float], base: Sequence[float]) -> pa.Comparison:
    """Return a comparison of runs of two formats, with one operator each, which do not match."""
    profile, baseline = (
        pa.join_runs(
            in_memory.profile_of(
                [{"name": name}],
                [{"operator": 0, "duration_s": duration_s}],
                processes=(f"{name}{n}.json",),
                origin=Origin(f"format of {name}"),
            )
            for n, duration_s in enumerate(durations_s)
        )
        for name, durations_s in (("a", new), ("b", base))
    )
    return pa.compare(profile, baseline)


@pytest.mark.parametrize(
    ("comparison", "mismatch"),
    [
        (pa.compare(runs_of("conv", BASE), runs_of("conv", BASE)), SAME_RUNS),
        (
            pa.compare(
                runs_of("conv", NEW, "new/"),
                pa.join_runs(
                    profile_of([Operator("pool", "Pool", time)], f"{n}.json")
                    for n, time in enumerate(BASE)
                ),
            ),
            OTHER_MODEL,
        ),
        (pa.compare(runs_of("conv", NEW, "new/"), TWO_MODELS), RUNS_OF_TWO_MODELS),
    ],
)
def test_changes_are_not_judged_but_absolute_limits_are(
    comparison: pa.Comparison, mismatch: str
) -> None:
    texts = ["total > +5%", "total > 1s", "computation > +1%", "time > +1ms", "total > -3%"]
    unjudged = ("unjudged", mismatch)
    within = ("passed", "within the limit, and so is the confidence interval")
    assert outcomes(comparison, texts) == [unjudged, within, *[unjudged] * 3]


def test_changes_are_not_judged_if_both_sides_have_one_common_file() -> None:
    one, *others = (profile_of([Operator("conv", "Conv", n)], f"{n}.json") for n in range(1, 6))
    comparison = pa.compare(pa.join_runs([one, *others[:2]]), pa.join_runs([one, *others[2:]]))
    assert outcomes(comparison, ["total > +5%"]) == [
        (
            "unjudged",
            "1 file on both sides, such as 1.json: the same runs are compared with themselves; "
            "name other files for one side",
        )
    ]


def test_profiles_of_different_formats_with_few_matching_operators_never_pass() -> None:
    new = pa.load(FIXTURES / "onnxruntime/squeezenet-1.31.json.gz")
    comparison = pa.compare(new, pa.load(RESNET))
    assert (comparison.mismatch, len(comparison.notes)) == (None, 2)
    assert why(comparison.doubt) == MAY_DIFFER
    advice = "if they are one model, write '{}', which needs no baseline"
    assert outcomes(comparison, ["computation > +1%", "type ~ Conv: memory > +1MiB"]) == [
        ("unjudged", f"{MAY_DIFFER}; {advice.format(limit)}")
        for limit in ("computation > 3.67 GFLO", "type ~ Conv: memory > 61.40 MiB")
    ]


def test_an_uncertain_condition_cannot_be_judged_if_the_models_may_differ() -> None:
    noisy = [80, 85, 90, 108, 112, 115, 130, 140]
    sides = two_formats(noisy, range(100, 108))
    ((outcome, reason),) = outcomes(sides, ["total > +5%"])
    assert outcome == "unjudged"
    assert reason.endswith("write 'total > 108.7 s', which needs no baseline")
    # No absolute limit can replace these conditions.
    other = ("unjudged", f"{MAY_DIFFER}; check that both sides are of one model")
    assert outcomes(sides, ["time < -200s", "verdict ~ slower|more: time > 0s"]) == [other] * 2


def test_no_text_about_two_formats_claims_that_the_models_differ() -> None:
    """Operators of one model may have other names and types in another runtime."""

    def side(name: str, shared: int, time: float) -> pa.Profile:
        names = [*(f"both{n}" for n in range(shared)), *(f"{name}{n}" for n in range(9))]
        return pa.join_runs(
            in_memory.profile_of(
                [{"name": one} for one in names],
                [{"operator": row, "duration_s": time + n / 100} for row in range(len(names))],
                processes=(f"{name}{n}.json",),
                origin=Origin(f"format of {name}"),
            )
            for n in range(5)
        )

    few = (
        "only 2 of 11 operators matched with the baseline, not counting constants and other "
        "bookkeeping: these may be different models"
    )
    for shared, found in ((0, MAY_DIFFER), (2, few)):
        comparison = pa.compare(side("new", shared, 1.0), side("base", shared, 2.0))
        assert comparison.mismatch is None
        assert as_text(comparison.notes[1]) == (
            f"{found}; check that both sides are of one model; --aggregate-by category compares them "
            "by kind"
        )
        ((outcome, reason),) = outcomes(comparison, ["total > +5%"])
        assert (outcome, reason.partition("; ")[0]) == ("unjudged", found)
        text = pa.render(pa.Report.of(pa.summarise(comparison), ()), "plain")
        assert "threshold 3.0%; these may be different models)\n" in text
    alike = pa.compare(side("new", 9, 1.0), side("base", 9, 2.0))
    assert alike.doubt is None
    assert "may be" not in pa.render(pa.Report.of(pa.summarise(alike), ()), "plain")


@pytest.mark.parametrize(
    ("work", "base_work", "computes"),
    [
        # The computation of each operator; the last operator takes little time.
        ([3.0, 1.0], [1.0, 0.2], "profile computes 3.33 times as much as a run of the baseline"),
        ([1.0, 0.2], [3.0, 1.0], "baseline computes 3.33 times as much as a run of the profile"),
        ([3.0, nan], [0.9, 0.0], "profile computes 3.33 times as much as a run of the baseline"),
        ([3.0, 0.0], [1.0, 0.0], ""),
        ([1.0, 0.0], [3.0, 0.0], ""),
        ([nan, 9.0], [1.0, 0.0], ""),
        ([9.0, 0.0], [nan, 1.0], ""),
        ([9.0, 0.0], [0.0, 0.0], ""),
    ],
)
def test_two_formats_that_compute_very_different_amounts_do_not_belong_together(
    work: list[float], base_work: list[float], computes: str
) -> None:
    def side(name: str, computation: list[float]) -> pa.Profile:
        return pa.join_runs(
            in_memory.profile_of(
                [
                    {"name": f"{name}{row}", "computation": one}
                    for row, one in enumerate(computation)
                ],
                [
                    {"operator": 0, "duration_s": 1 + n / 100},
                    {"operator": 1, "duration_s": 0.04},
                ],
                processes=(f"{name}{n}.json",),
                origin=Origin(f"format of {name}"),
            )
            for n in range(5)
        )

    comparison = pa.compare(side("new", work), side("base", base_work))
    ((outcome, reason),) = outcomes(comparison, ["total > +5%"])
    assert outcome == "unjudged"
    text = pa.render(pa.Report.of(pa.summarise(comparison), ()), "plain")
    if computes:
        other = f"no operator matches between the two formats, and a run of the {computes}: {OTHER}"
        assert reason == f"{other}; {EQUAL_AMOUNTS}"
        assert (why(comparison.mismatch), comparison.doubt) == (other, None)
        assert f"verdict               N/A ({OTHER})\n" in text
        by_kind = "--aggregate-by category compares them by kind"
        assert as_text(comparison.notes[1]) == f"{other}; {EQUAL_AMOUNTS}; {by_kind}"
    else:
        assert (why(comparison.doubt), comparison.mismatch) == (MAY_DIFFER, None)
        assert "these may be different models)\n" in text


def test_whether_runs_fit_together_does_not_depend_on_the_text_of_notes() -> None:
    unlike = TWO_MODELS.changed(notes_on_runs=())
    assert pa.summarise(unlike).unlike == "different models"
    comparison = pa.compare(runs_of("conv", NEW, "new/"), unlike)
    assert outcomes(comparison, ["total > +5%"]) == [("unjudged", RUNS_OF_TWO_MODELS)]
    named = profile_of([Operator("these look like trouble, or not", "Conv", 1)])
    assert pa.summarise(pa.join_runs([named, named])).unlike == ""


def test_equal_names_that_the_runtime_made_do_not_make_two_models_alike() -> None:
    names = ("resnet50-1.31", "squeezenet-1.31", "squeezenet-1.14", "squeezenet-unoptimised-1.31")
    resnet, squeezenet, older, unoptimised = (
        pa.load(FIXTURES / f"onnxruntime/{name}.json.gz") for name in names
    )
    assert why(pa.compare(resnet, squeezenet).mismatch) == (
        "only 12 of 40 operators matched with the baseline, with 18.6% of the time and 24.5% of "
        "the time of the baseline, not counting constants and other bookkeeping, nor 1 operator with "
        "the same name but other shapes: these look like different models"
    )
    for other in (older, unoptimised):
        assert pa.compare(squeezenet, other).mismatch is None
        assert pa.compare(other, squeezenet).mismatch is None


def test_two_models_of_the_same_kinds_of_operators_never_pass() -> None:
    """PyTorch names each operator after its kind, so operators of any two models match by name."""

    def side(channels: Sequence[int], own: str, time: float) -> pa.Profile:
        names = [*["aten::relu"] * len(channels), own]
        shapes = [((1, one),) for one in (*channels, 9)]
        return pa.join_runs(
            in_memory.profile_of(
                [{"name": name, "type": name} for name in names],
                [
                    {"operator": row, "start_s": row, "duration_s": time + run / 100}
                    for row in range(len(names))
                ],
                processes=(f"{own}-{run}.json",),
                columns={"optional": {"in_shapes": pa.Categorical.of(shapes)}},
            )
            for run in range(4)
        )

    base = side([2, 3, 4], "aten::mm", 1.0)
    assert outcomes(pa.compare(side([5, 6, 7], "aten::bmm", 0.5), base), ["total > +5%"]) == [
        (
            "unjudged",
            "none of 4 operators matched with the baseline, not counting constants and other "
            "bookkeeping, nor 3 operators with the same name but other shapes: these look like "
            "different models; name profiles of the same model on both sides",
        )
    ]
    ((outcome, _),) = outcomes(pa.compare(side([2, 5, 6], "aten::bmm", 0.5), base), ["total > +5%"])
    assert outcome == "passed"


@pytest.mark.parametrize("runs", [1, 5])
def test_reasons_begin_with_the_doubt_if_no_operator_matches_between_two_formats(runs: int) -> None:
    sides = two_formats([2 + n / 100 for n in range(runs)], [1 + n / 100 for n in range(runs)])
    texts = ["total > +5%", "total > 1s", "total > +150%", "total > +2s"]
    met, absolute, *others = outcomes(sides, texts)
    first = f"{MAY_DIFFER}; "
    assert met[0] == ("unjudged" if runs == 1 else "met")
    assert met[1].startswith(first)
    assert not absolute[1].startswith(first)
    advice = "if they are one model, write 'total > {} s', which needs no baseline"
    reasons = [advice.format(limit) for limit in ("2.550", "3.020")]
    if runs == 1:
        reasons = [met[1].removeprefix(first)] * 2
    assert others == [("unjudged", f"{first}{reason}") for reason in reasons]


@pytest.mark.parametrize(("choice", "code"), [("unjudged", 4), ("no", 0)])
def test_the_exit_status_of_unjudged_conditions_can_be_chosen(choice: str, code: int) -> None:
    outcome = run_command(
        *(MOBILENET, "--compare", RESNET, "--fail-if", "total > +5%", "--notes", "none"),
        *("--print-only", "summary", "--format", "plain", "--fail-uncertain", choice),
    )
    assert outcome.out.splitlines()[-1] == FEW_MATCH.format("total > +5%")
    assert outcome.code == code


def test_formats_for_programs_say_why_nothing_is_judged() -> None:
    call = (MOBILENET, "--compare", RESNET, "--fail-if", "total > +5%", "--format")
    names = ("--columns", "name", "--print-only", "device", "-t", "1")
    reason = FEW_MATCH.format("total > +5%")
    assert f"note: {reason}\n" in run_command(*call, "csv", *names).err
    (gate,) = json.loads(run_command(*call, "json", *names).out)["gate"]
    assert f"{gate['outcome']}: {gate['condition']}: {gate['reason']}" == reason.replace(
        "cannot be judged", "unjudged"
    )
    why = reason.partition("total > +5%: ")[2]
    assert f'    <skipped message="{why}"/>\n' in run_command(*call, "junit").out
    escaped = reason.replace("%", "%25")
    warning = f"::warning title=profile_analyze::{escaped}\n"
    assert run_command(*call, "github").out.startswith(warning)


@pytest.mark.parametrize(
    ("base", "code", "verdict"),
    [
        (
            "classifier-wide.onnx",
            0,
            "passed: params > +5%: 9.11 K against 11.34 K of the baseline: not beyond the limit",
        ),
        (
            "smallcnn.onnx",
            4,
            "cannot be judged: params > +5%: 1 file on both sides, such as {file}: the same runs "
            "are compared with themselves; name other files for one side",
        ),
    ],
)
def test_two_different_models_that_have_not_run_are_judged(
    base: str, code: int, verdict: str
) -> None:
    file = str(FIXTURES / "classifiers/smallcnn.onnx")
    outcome = run_command(
        *(file, "--compare", str(FIXTURES / "classifiers" / base), "--fail-if", "params > +5%"),
        *("--print-only", "summary", "--notes", "none"),
    )
    assert outcome.out.splitlines()[-1] == verdict.format(file=file)
    assert outcome.code == code


@pytest.mark.slowest
@pytest.mark.parametrize(
    ("by", "called"),
    [
        ((), []),
        (
            ("--aggregate-by", "type"),
            ["more work: ConvolutionForward", "faster: Elemwise", "faster: ImmutableTensor"],
        ),
    ],
)
def test_no_line_lists_single_operators_of_another_model_as_slower(
    by: Sequence[str], called: list[str]
) -> None:
    """Three operators of these models match by chance. Their kinds can still be compared."""
    outcome = run_command(
        *(str(FIXTURES / "runs/base"), "--compare", str(FIXTURES / "runs/mobilenet"), *by),
        *("--print-only", "summary", "--format", "plain", "--notes", "none"),
    )
    starts = ("slower: ", "faster: ", "more work: ", "less work: ")
    found = [line for line in outcome.out.splitlines() if line.startswith(starts)]
    assert [line.partition(" +")[0].partition(" -")[0] for line in found] == called

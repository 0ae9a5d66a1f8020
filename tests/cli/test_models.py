"""Questions about models that have not run, as a user asks them."""

from __future__ import annotations

import json

import pytest

from profile_analyze import Query, load, parse_peaks, run
from profile_analyze.query.summary import summarise
from tests.conftest import ROOT, run_command

SMALL = "tests/fixtures/classifiers/classifier.onnx"
WIDE = "tests/fixtures/classifiers/classifier-wide.onnx"


@pytest.mark.parametrize(
    ("arguments", "option"),
    [
        (("--min-time", "1ms"), "--min-time"),
        (("--max-time", "1ms"), "--max-time"),
        (("--run-stat", "max"), "--run-stat"),
        (("--copy-time",), "--copy-time"),
        (("--top-end-key", "kern"), "--top-end-key kern"),
        (("--print-only", "host"), "--print-only host"),
        (("--show-host",), "--show-host"),
    ],
)
def test_options_that_need_times(arguments: tuple[str, ...], option: str) -> None:
    outcome = run_command(SMALL, *arguments)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err == (
        f"profile_analyze: error: {option} needs times, and {SMALL} is a model that has not run; "
        "leave the option out\n"
    )


PROFILE = "tests/fixtures/profiles/tiny.json"


@pytest.mark.parametrize("sides", [(SMALL, "--compare", PROFILE), (PROFILE, "--compare", SMALL)])
def test_a_model_is_not_compared_with_a_profile(sides: tuple[str, ...]) -> None:
    outcome = run_command(*sides)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err == (
        f"profile_analyze: error: {SMALL} is a model that has not run, so it has no times to "
        f"compare with those of {PROFILE}; name the profile, and the model after --model\n"
    )


@pytest.mark.parametrize(
    "arguments",
    [
        (SMALL, WIDE),
        (SMALL, WIDE, "--aggregate-by", "file"),
        (SMALL, WIDE, "--compare", PROFILE),
        (PROFILE, SMALL, "--skip-bad"),
    ],
)
def test_models_are_not_joined(arguments: tuple[str, ...]) -> None:
    outcome = run_command(*arguments)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err == (
        f"profile_analyze: error: {SMALL} is a model that has not run, so it has no runs to join "
        "with those of other files; name one model, and another after --compare\n"
    )


def test_least_times() -> None:
    peaks = parse_peaks("1T:100G")
    table = run(Query(peaks=peaks, types="Conv"), load(ROOT / SMALL))
    assert table["least_time"].tolist() == pytest.approx([4718592e-12, 4718592e-12, 116480e-11])
    assert table["bound"].tolist() == ["compute", "compute", "memory"]
    judgement = summarise(load(ROOT / SMALL), judged_by=Query(peaks=peaks)).judgement
    assert judgement is not None
    whole = run(Query(peaks=peaks, aggregates="sum"), load(ROOT / SMALL))
    assert judgement.least_s == pytest.approx(whole["least_time"][0])


def test_conditions_on_work() -> None:
    conditions = ("params > 5K", "params > +0", "type=Conv: macs < -10%", "memory > 1GiB")
    failing = [argument for text in conditions for argument in ("--fail-if", text)]
    outcome = run_command(SMALL, "--compare", SMALL, "--print-only", "summary", *failing)
    assert outcome.code == 3
    assert outcome.out.splitlines()[-4:] == [
        "FAILED: params > 5K: 5.26 K: beyond the limit",
        "passed: params > +0: 5.26 K against 5.26 K of the baseline: not beyond the limit",
        "passed: type=Conv: macs < -10%: 5.16 M against 5.16 M of the baseline: not beyond the limit",
        "passed: memory > 1GiB: 1.00 MiB: not beyond the limit",
    ]


def test_unknown_work_is_not_judged() -> None:
    outcome = run_command("tests/fixtures/profiles/tiny.json", "--fail-if", "macs > 5")
    assert outcome.out.splitlines()[-1] == "cannot be judged: macs > 5: macs: an operator has N/A"


DYNAMIC = "tests/fixtures/models/cnn_script.onnx"


@pytest.mark.parametrize(
    ("sides", "macs", "memory"),
    [
        (
            (DYNAMIC, SMALL),
            "N/A, unknown for 4 operators (difference N/A: baseline 5.16 M)",
            "56.00 byte, unknown for 11 operators (difference N/A: baseline 1.00 MiB)",
        ),
        (
            (SMALL, DYNAMIC),
            "5.16 M (difference N/A: baseline N/A, unknown for 4 operators)",
            "1.00 MiB (difference N/A: baseline 56.00 byte, unknown for 11 operators)",
        ),
    ],
)
def test_partial_totals_have_no_difference(sides: tuple[str, str], macs: str, memory: str) -> None:
    outcome = run_command(sides[0], "--compare", sides[1], "--print-only", "summary")
    lines = outcome.out.splitlines()
    assert [line for line in lines if line.startswith(("MACs ", "memory "))] == [
        f"MACs               {macs}",
        f"memory             {memory}",
    ]


def test_programs_learn_what_the_totals_of_the_baseline_leave_out() -> None:
    outcome = run_command(
        SMALL, "--compare", DYNAMIC, "--print-only", "summary", "--format", "json"
    )
    assert json.loads(outcome.out)["summary"]["model"]["base"] == {
        "file": DYNAMIC,
        "macs": 0,
        "params": 486,
        "memory_bytes": 56,
        "unknown_operators": {"macs": 4, "memory": 11},
    }


def test_added_and_removed_operators() -> None:
    columns = "name,match,macs,base_macs,macs_difference,params_difference,memory_difference"
    outcome = run_command(
        "tests/fixtures/models/cnn_script.onnx", "--compare", SMALL, "-t", "0", "--format", "csv",
        "--columns", columns, "--where", "macs_difference < -1",
    )  # fmt: skip
    assert outcome.out.splitlines()[1:] == [
        "block.conv1,removed,,2359296,-2359296,-2320,-140352.0",
        "block.conv2,removed,,2359296,-2359296,-2320,-140352.0",
        "stem,removed,,442368,-442368,-448,-116480.0",
        "linear,removed,,160,-160,-170,-784.0",
    ]

"""Questions about models that have not run, as a user asks them."""

from __future__ import annotations

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
        (("--print-only", "host"), "--print-only host"),
    ],
)
def test_options_that_need_times(arguments: tuple[str, ...], option: str) -> None:
    outcome = run_command(SMALL, *arguments)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err == (
        f"profile_analyze: error: {option} needs times, and {SMALL} is a model that has not run; "
        "leave the option out\n"
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
    assert outcome.out.splitlines()[-1] == "cannot be judged: macs > 5: macs: 4 operators with N/A"


def test_a_removed_operator_without_weights_is_no_difference_of_minus_0() -> None:
    outcome = run_command(
        "tests/fixtures/models/cnn_script.onnx", "--compare", SMALL, "-t", "1", "--format", "markdown",
        "--columns", "match,base_params,params_difference",
        "--where", "match == removed", "--where", "base_params == 0",
    )  # fmt: skip
    assert outcome.out.splitlines()[-1] == "| removed |             0 |                   0 |"


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

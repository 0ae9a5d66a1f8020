"""A part of a profile: `--from`, `--to`, `--step` and `--step-region`."""

from __future__ import annotations

import json

import pytest

from tests.conftest import FIXTURES, run_command

TRAIN = str(FIXTURES / "megengine-timeline" / "train.json.gz")
TENSORRT = str(FIXTURES / "tensorrt" / "old.profile.json")


def total_s(*arguments: str) -> float:
    outcome = run_command(TRAIN, *arguments, "--format", "json", "--print-only", "summary")
    assert outcome.code == 0, outcome.err
    total: float = json.loads(outcome.out)["summary"]["device_time_s"]
    return total


def test_the_windows_of_a_step_add_up_to_the_step() -> None:
    whole = total_s("--step", "2")
    parts = (
        total_s("--step", "2", "--to", "10ms"),
        total_s("--step", "2", "--from", "10ms", "--to", "20ms"),
        total_s("--step", "2", "--from", "0.02"),
    )
    assert sum(parts) == pytest.approx(whole)
    assert all(part < whole for part in parts)
    assert total_s("--step", "1-2") == total_s()


def test_both_sides_of_a_comparison_are_cut() -> None:
    outcome = run_command(TRAIN, "--compare", TRAIN, "--step", "1", "--format", "json")
    document = json.loads(outcome.out)
    assert (document["profile"]["runs"], document["base"]["runs"]) == (1, 1)
    assert document["summary"]["comparison"]["ratio"] == 1.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            (TENSORRT, "--to", "1ms"),
            f"argument --from/--to: {TENSORRT} cannot be cut by time: it has no start times (format: "
            "TensorRT profile)",
        ),
        (
            (TRAIN, "--to", "1ms", "--from", "2ms"),
            "argument --to: 1.00 ms is not after --from, 2.00 ms; nothing is between them",
        ),
        ((TRAIN, "--step", "3"), f"argument --step: no step 3 in {TRAIN}; its steps: 1-2"),
        (
            (TRAIN, "--step", "x"),
            "argument --step: 'x' is not a step; write 3, or 3-5 for several",
        ),
        (
            (TRAIN, "--step", "3-"),
            "argument --step: '3-' is not a step; write 3, or 3-5 for several",
        ),
        ((TRAIN, "--step", "2-1"), "argument --step: '2-1' has no steps; did you mean 1-2?"),
        (
            (TRAIN, "--step-region", "backwrd"),
            f"argument --step-region: no region 'backwrd' in {TRAIN}; did you mean backward?",
        ),
        (
            (TRAIN, "--step-region", "zzz"),
            f"argument --step-region: no region 'zzz' in {TRAIN}; it has "
            "backward.ElemwiseBackward, pool, backward.ReduceBackward, backward.PoolingBackward, "
            "backward.ConvolutionBackward, conv1, bn1, conv2, fc, backward and 7 more",
        ),
    ],
)
def test_a_part_that_does_not_exist_is_an_error(arguments: tuple[str, ...], message: str) -> None:
    outcome = run_command(*arguments)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err == f"profile_analyze: error: {message}\n"

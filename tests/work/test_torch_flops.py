"""Compares the FLO of our multiply-adds with the FLO that torch's FlopCounterMode counts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from profile_analyze.work.kinds import backward_macs, work_of
from profile_analyze.work.operation import Operation
from profile_analyze.work.tensor import Tensor

RECORDED: list[dict[str, Any]] = json.loads(
    (Path(__file__).parent / "torch_flops.json").read_text(encoding="utf-8")
)["cases"]

# Our FLO forward and backward, in cases where torch counts other numbers: see docs/work.md.
DIFFERENCES = {
    # torch counts a weight's gradient as if the convolution had no groups.
    "conv2d 9x2x3x3, groups 3": (136_080, 272_160),
    "conv2d 6x1x3x3, groups 6": (45_360, 90_720),
    "conv_transpose2d 4x3x3x3, groups 2": (31_104, 62_208),
    # torch does not count products of a matrix and a vector.
    "matmul, vector": (56, 112),
    # torch counts the scores again, because its backward kernel computes them a second time.
    "attention": (9_216, 18_432),
    "attention, causal": (9_216, 18_432),
    "attention, cross": (6_912, 13_824),
    "attention, grouped queries": (9_216, 18_432),
    # torch does not count the fused kernel.
    "LSTM, fused": (5_760, 11_520),
}


def test_differences_name_recorded_cases() -> None:
    names = [case["name"] for case in RECORDED]
    assert len(names) == len(set(names)) == 31
    assert set(names) > set(DIFFERENCES)


@pytest.mark.parametrize("case", RECORDED, ids=lambda case: case["name"])
def test_torch_counts_the_same(case: dict[str, Any]) -> None:
    operation = Operation(
        case["kind"],
        tuple(Tensor(tuple(shape), "fp32") for shape in case["inputs"]),
        (Tensor(tuple(case["output"]), "fp32"),),
        case["attributes"],
    )
    forward = 2 * work_of(operation).macs
    backward = 2 * backward_macs(operation, input_gradients=1, weight_gradients=1)
    recorded = (case["forward"], case["backward"])
    assert (forward, backward) == DIFFERENCES.get(case["name"], recorded)
    assert recorded != DIFFERENCES.get(case["name"])

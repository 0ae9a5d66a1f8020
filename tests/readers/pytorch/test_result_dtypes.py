"""The dtype of a result decides its bytes: from an argument, or promoted from all inputs."""

from __future__ import annotations

import json
from typing import Any

import pytest

from profile_analyze.readers.pytorch.facts import OPERATOR_EVENT, HostFacts
from profile_analyze.readers.pytorch.work import described

DATA: tuple[Any, str, str] = ([8, 1000], "c10::Half", "")
ABSENT: tuple[Any, str, str] = ([], "", "")


def scalar(text: str) -> tuple[Any, str, str]:
    return [], "Scalar", text


def dimensions(text: str) -> tuple[Any, str, str]:
    return [], "ScalarList", text


FP32, FP64 = scalar("6"), scalar("7")


@pytest.mark.parametrize(
    ("name", "arguments", "read", "written"),
    [
        ("_softmax", [DATA, scalar("-1"), scalar("False")], 16_000, 16_000),
        ("_softmax", [DATA, scalar("-1"), scalar("True")], 16_000, 32_000),
        ("log_softmax", [DATA, scalar("-1"), ABSENT], 16_000, 16_000),
        ("log_softmax", [DATA, scalar("-1"), FP32], 16_000, 32_000),
        ("sum", [DATA, dimensions("[1]"), scalar("False"), ABSENT], 16_000, 16),
        ("sum", [DATA, dimensions("[1]"), scalar("False"), FP32], 16_000, 32),
        ("sum", [([8, 1000], "int", ""), FP64], 32_000, 8),
        ("mean", [DATA, dimensions("[1]"), scalar("False"), FP64], 16_000, 64),
        ("norm", [DATA, scalar("2"), dimensions("[1]"), scalar("False"), FP32], 16_000, 32),
        ("cumsum", [DATA, scalar("1"), ABSENT], 16_000, 16_000),
        ("cumsum", [DATA, scalar("1"), FP32], 16_000, 32_000),
        ("cumsum", [([8, 1000], "int", ""), scalar("1"), ABSENT], 32_000, 64_000),
        (
            "cat",
            [([[8, 1000], [8, 1000]], ["c10::Half", "float"], ""), scalar("0")],
            16_000 + 32_000,
            64_000,
        ),
        (
            "stack",
            [([[8, 1000], [8, 1000]], ["c10::Half", "c10::BFloat16"], ""), scalar("0")],
            32_000,
            64_000,
        ),
    ],
)
def test_the_result_has_its_own_bytes(
    name: str, arguments: list[tuple[Any, Any, str]], read: int, written: int
) -> None:
    shapes, dtypes, values = (json.dumps(one).encode() for one in zip(*arguments, strict=True))
    found = described(HostFacts(OPERATOR_EVENT, f"aten::{name}", shapes, dtypes, b"", values))
    assert found.work.memory == read + written

"""The dtype of a result decides its bytes: from an argument, or promoted from all inputs."""

from __future__ import annotations

import json
from math import isnan
from typing import Any

import pytest

from profile_analyze.readers.pytorch.facts import OPERATOR_EVENT, HostFacts
from profile_analyze.readers.pytorch.work.operators import described

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
    assert memory(name, arguments) == read + written


def memory(name: str, arguments: list[tuple[Any, Any, str]]) -> float:
    shapes, dtypes, values = (json.dumps(one).encode() for one in zip(*arguments, strict=True))
    found = described(HostFacts(OPERATOR_EVENT, f"aten::{name}", shapes, dtypes, b"", values))
    return found.work.memory


INT32, INT64, HALF, FLOAT, DOUBLE = "int", "long int", "c10::Half", "float", "double"
COMPLEX = "c10::complex<double>"
SIZES = {
    **dict.fromkeys((INT64, DOUBLE, "c10::complex<float>"), 8),
    **dict.fromkeys((INT32, FLOAT), 4),
    "bool": 1,
    "unsigned char": 1,
    "short unsigned int": 2,
    HALF: 2,
    COMPLEX: 16,
}


def unlike(one: str, other: str) -> list[tuple[Any, str, str]]:
    """Return the arguments of an operator: a tensor with 1000 elements, and one element."""
    return [([1000], one, ""), ([], other, "")]


@pytest.mark.parametrize(
    ("one", "other", "result"),
    [
        (INT64, FLOAT, FLOAT),
        (INT32, HALF, HALF),
        ("bool", FLOAT, FLOAT),
        ("bool", INT32, INT32),
        ("bool", INT64, INT64),
        ("unsigned char", INT64, "unsigned char"),
        ("short unsigned int", INT64, "short unsigned int"),
        (INT32, "bool", INT32),
        (HALF, FLOAT, HALF),
        (HALF, DOUBLE, HALF),
        (FLOAT, DOUBLE, FLOAT),
        (FLOAT, COMPLEX, "c10::complex<float>"),
        (DOUBLE, COMPLEX, COMPLEX),
        (INT64, "c10::complex<float>", "c10::complex<float>"),
    ],
)
def test_an_input_without_dimensions_counts_if_its_category_is_higher(
    one: str, other: str, result: str
) -> None:
    """The categories are booleans, integers, floats and complex numbers."""
    read = 1000 * SIZES[one] + SIZES[other]
    for arguments in (unlike(one, other), unlike(one, other)[::-1]):
        assert memory("maximum", arguments) == read + 1000 * SIZES[result]


@pytest.mark.parametrize(
    "arguments",
    [
        *(unlike(one, DOUBLE) for one in ("bool", "unsigned char", INT64)),
        unlike(INT64, COMPLEX),
        *([([], one, ""), ([], DOUBLE, "")] for one in (INT64, FLOAT)),  # such as `loss * 0.5`
        [([], INT32, ""), ([], INT64, "")],
        [([1000], INT32, ""), ([], FLOAT, ""), ([], DOUBLE, "")],
    ],
)
def test_memory_is_unknown_if_it_depends_on_what_is_a_python_number(
    arguments: list[tuple[Any, str, str]],
) -> None:
    """A trace has a Python number as a tensor without dimensions, of int64 or fp64. In torch, such
    a tensor can give the result another dtype than the number does."""
    assert isnan(memory("addcmul" if len(arguments) > 2 else "mul", arguments))


@pytest.mark.parametrize(
    ("name", "arguments", "result"),
    [
        ("mul", [([], DOUBLE, ""), ([], DOUBLE, "")], 8),  # one of the two must be a tensor
        ("mul", [([], FLOAT, ""), ([], INT64, "")], 4),
        ("div", unlike(INT64, INT64), 4000),
        ("div", unlike("bool", INT32), 4000),
        ("masked_fill", [([1000], "bool", ""), ([1000], "bool", ""), ([], INT64, "")], 1000),
        ("mul_", unlike(INT64, DOUBLE), 8000),
    ],
)
def test_other_rules_decide_the_dtype(
    name: str, arguments: list[tuple[Any, str, str]], result: int
) -> None:
    read = sum((shape or [1])[0] * SIZES[dtype] for shape, dtype, _ in arguments)
    assert memory(name, arguments) == read + result

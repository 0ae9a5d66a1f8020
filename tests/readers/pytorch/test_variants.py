"""Calls with equal shapes share a row unless their parameters make them different work."""

from __future__ import annotations

from typing import Any

import pytest

from profile_analyze.readers.input.source import Source
from profile_analyze.readers.loading import read_profile
from tests.conftest import FIXTURES, run_command
from tests.readers.pytorch.events import document, op

FILE = str(FIXTURES / "pytorch-small" / "causal-and-not.json")


def test_causal_and_full_attention_have_a_row_each() -> None:
    columns = ("--columns", "param.is_causal,calls,time")
    done = run_command(
        FILE, "--aggregate-by", "param.is_causal", *columns, "--print-only", "device",
        "--format", "csv",
    )  # fmt: skip
    assert (
        done.out.replace("\r\n", "\n")
        == "param.is_causal,calls,time_s\nFalse,1.0,0.0005\nTrue,1.0,0.00025\n"
    )
    assert run_command(FILE).err == ""  # two different calls are no two iterations


def rows(name: str, inputs: list[tuple[Any, str, str]], *values: str) -> int:
    """Return the number of rows for one call of an operator with each of the last arguments."""
    last = len(inputs) - 1
    calls = [
        op(name, 10 * number, 5, **{
            "Input Dims": [shape for shape, _, _ in inputs],
            "Input type": [kind for _, kind, _ in inputs],
            "Concrete Inputs": [
                value if index == last else one for index, (*_, one) in enumerate(inputs)
            ],
        })
        for number, value in enumerate(values)
    ]  # fmt: skip
    source = Source.of_bytes("x.json", document(*calls))
    return len(read_profile(source, ("parameters",)))


SQUARE = ([64, 64], "float", "")


@pytest.mark.parametrize(
    ("name", "inputs", "values", "count"),
    [
        ("aten::_log_softmax", [SQUARE, ([], "Scalar", "")], ("0", "1", "1"), 2),
        ("aten::cumsum", [SQUARE, ([], "Scalar", "")], ("0", "1"), 2),
        ("aten::dropout", [SQUARE, ([], "Scalar", "0.5"), ([], "Scalar", "")],
         ("True", "False", "True"), 2),
        # Each call may have another factor, which changes nothing.
        ("aten::add", [SQUARE, SQUARE, ([], "Scalar", "")], ("1", "2", "3"), 1),
        ("aten::leaky_relu", [SQUARE, ([], "Scalar", "")], ("0.1", "0.2"), 1),
    ],
)  # fmt: skip
def test_only_parameters_that_decide_how_an_operator_works_divide_its_row(
    name: str, inputs: list[tuple[Any, str, str]], values: tuple[str, ...], count: int
) -> None:
    assert rows(name, inputs, *values) == count

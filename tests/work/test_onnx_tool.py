"""Compares our counts by the rules of onnx-tool with the counts of onnx-tool 1.0.1."""

from __future__ import annotations

import json
from math import isnan
from typing import Any

import pytest

from profile_analyze.work.onnx_tool import KNOWN, Call, Counts, counts_of, macs_of
from profile_analyze.work.tensor import Tensor
from tests.conftest import FIXTURES

RECORDED = FIXTURES / "onnx-tool" / "operators.json"
Operator = list[Any]
OPERATORS: list[Operator] = json.loads(RECORDED.read_text()) if RECORDED.exists() else []


def tensor(*shape: int | None, dtype: str = "fp32") -> Tensor:
    return Tensor(shape, dtype)


@pytest.mark.parametrize("operator", OPERATORS, ids=lambda operator: operator[0])
def test_counts_equal_the_counts_of_onnx_tool(operator: Operator) -> None:
    type_, inputs, output, attributes, macs = operator
    call = Call(type_, tuple(tensor(*shape) for shape in inputs), (tensor(*output),), attributes)
    assert macs_of(call) == macs


def test_each_type_is_recorded() -> None:
    assert {operator[0] for operator in OPERATORS} == KNOWN


X, MATRIX = tensor(1, 6), tensor(6, 5)


@pytest.mark.parametrize(
    "call",
    [
        Call("Attention", (X, X, X), (X,)),  # onnx-tool fails for this type
        Call("MatMul", (tensor(6), MATRIX), (tensor(5),)),  # onnx-tool fails for a vector
        Call("MatMul", (X, None), (X,)),
        Call("MatMul", (X, tensor(None, 5)), (X,)),
        Call("Relu", (X,), (tensor(1, None),)),
        Call("Relu", (X,), (Tensor(None),)),
        Call("Conv", (X,), (X,)),
        Call("Conv", (X, Tensor(None)), (X,)),
        Call("LSTM", (tensor(7, 2, 5), tensor(1, 16, 5), tensor(1, 16, 4)), (X,)),  # no bias
        Call("Resize", (X,), (X,)),  # no mode
        Call("LayerNormalization", (tensor(2, 0),), (tensor(2, 0),)),
        Call("Einsum", (X, MATRIX), (X,), {"equation": "...i,ij->...j"}),
        Call("Einsum", (X, MATRIX), (X,), {"equation": "ai,ij"}),
        Call("Einsum", (X,), (X,), {"equation": "ai->a"}),
        Call("Dropout", (), (X,)),  # a damaged model
    ],
    ids=str,
)
def test_what_onnx_tool_cannot_count_is_unknown(call: Call) -> None:
    assert isnan(macs_of(call))
    (counts,) = counts_of([call])
    assert all(map(isnan, counts))


def test_memory_has_outputs_and_each_weight_once() -> None:
    def product(output: str = "fp32", weight: str | None = "w") -> Call:
        return Call("MatMul", (X, MATRIX), (tensor(1, 5, dtype=output),), {}, (None, weight))

    reshape = Call("Reshape", (MATRIX, tensor(2)), (tensor(30),), {}, ("v", "shape"))
    scalar = Call("Add", (X, tensor()), (X,), {}, (None, "one"))
    dropout = Call("Dropout", (X,), (X, Tensor(None)))
    calls = [product(), product(), reshape, product("fp16", "v"), product(weight=None)]
    nan = float("nan")
    assert str([*counts_of([*calls, scalar, dropout])]) == str(
        [
            Counts(30.0, 140.0, 30.0),
            Counts(30.0, 20.0, 0),
            # onnx-tool has no row for a Reshape, so the next operator counts the weight.
            Counts(nan, nan, nan),
            Counts(30.0, 130.0, 30.0),
            Counts(30.0, 20.0, 0),
            Counts(6.0, 24.0, 0.0),  # onnx-tool counts no elements in a scalar
            Counts(0.0, 30.0, 0),  # the mask takes a byte for each element
        ]
    )

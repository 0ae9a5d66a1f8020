"""The work of nodes in profiles, which lack attributes and some weights and optional inputs."""

from __future__ import annotations

from typing import TypeAlias

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from profile_analyze.model.terms import CATEGORIES
from profile_analyze.readers.onnx.work.operations import known_operators
from profile_analyze.readers.onnxruntime.tensors import tensor, tensors_of
from profile_analyze.readers.onnxruntime.work import NodeWork, work_of_node
from profile_analyze.work.tensor import Tensor

Shape: TypeAlias = "tuple[int, ...]"
TYPES = sorted(
    {"", "Unknown", "ReorderInput"}.union(
        *map(known_operators, ("", "com.microsoft", "ai.onnx.ml", "ai.onnx.preview.training"))
    )
)


def work(type_: str, inputs: list[Shape], outputs: list[Shape]) -> NodeWork:
    return work_of_node(
        type_, *([Tensor(shape, "fp32") for shape in shapes] for shapes in (inputs, outputs))
    )


@pytest.mark.parametrize(
    ("type_", "inputs", "outputs", "macs", "packed_bytes"),
    [
        ("MatMul", [(2, 5, 7), (7, 3)], [(2, 5, 3)], 210, 0),
        ("MatMul", [(2, 5, 7)], [(2, 5, 3)], 210, 84),
        ("MatMul", [(2, 4, 5, 7), (2, 4, 7, 3)], [(2, 4, 5, 3)], 840, 0),
        ("MatMul", [(5, 7), (7,)], [(5,)], 35, 0),
        ("MatMul", [(7,), (7,)], [()], 7, 0),
        ("FusedMatMul", [(7, 5), (3, 7)], [(5, 3)], 105, 0),
        ("FusedMatMul", [(7, 5)], [(5, 3)], 105, 84),
        ("Gemm", [(5, 7), (3,)], [(5, 3)], 105, 84),
        ("Gemm", [(5, 7), (3, 7), (3,)], [(5, 3)], 105, 0),
        ("Gemm", [(5, 7), (7,)], [(5, 7)], 245, 196),
        # The second input is a bias, not a weight.
        ("Gemm", [(1, 2048), (1, 1000)], [(1, 1000)], 2_048_000, 8_192_000),
        ("Gemm", [(4, 2048), (4, 1000)], [(4, 1000)], 8_192_000, 8_192_000),
        ("Gemm", [(4, 2048), (4, 1)], [(4, 1000)], 8_192_000, 8_192_000),
        ("MatMul", [(5,), (2, 5, 7)], [(2, 7)], 70, 0),
        ("QLinearMatMul", [(5, 7), (), (), (7, 3), (), (), (), ()], [(5, 3)], 105, 0),
        ("QLinearMatMul", [(5, 7), (), (), (), (), (), ()], [(5, 3)], 105, 84),
        ("DynamicQuantizeMatMul", [(5, 7), (), ()], [(5, 3)], 105, 21),
        ("MatMulNBits", [(5, 64), (3, 2, 16), (6,)], [(5, 3)], 960, 0),
        ("Conv", [(1, 3, 8, 8), (4, 3, 3, 3), (4,)], [(1, 4, 6, 6)], 3888, 0),
        ("FusedConv", [(1, 4, 8, 8), (4, 1, 3, 3), (1, 4, 6, 6)], [(1, 4, 6, 6)], 1296, 0),
        ("QLinearConv", [(1, 3, 8, 8), (), (), (4, 3, 3, 3)], [(1, 4, 6, 6)], 3888, 0),
        ("ConvTranspose", [(1, 3, 8, 8), (3, 4, 2, 2)], [(1, 4, 16, 16)], 3072, 0),
        ("LSTM", [(6, 2, 16), (1, 64)], [(6, 1, 2, 8), (1, 2, 8)], 9216, 3072),
        ("LSTM", [(6, 2, 16), (1, 32, 16), (1, 32, 8)], [(6, 1, 2, 8)], 9216, 0),
        # The last two inputs are states.
        ("LSTM", [(7, 2, 10), (1, 2, 6), (1, 2, 6)], [(7, 1, 2, 6)], 5376, 1536),
        ("LSTM", [(7, 2, 10), (1, 24, 10), (1, 24, 6), (1, 2, 6)], [(7, 1, 2, 6)], 5376, 0),
        ("GRU", [(6, 2, 16)], [(2, 2, 8)], 13824, 4608),
        ("RNN", [(2, 6, 16)], [(2, 6, 1, 8)], 2304, 768),
        ("Relu", [(2, 3)], [(2, 3)], 0, 0),
    ],
)
def test_multiply_adds_follow_from_shapes(
    type_: str, inputs: list[Shape], outputs: list[Shape], macs: float, packed_bytes: float
) -> None:
    found = work(type_, inputs, outputs)
    assert (found.work.macs, found.packed_bytes) == (macs, packed_bytes)


@pytest.mark.parametrize(
    ("type_", "inputs", "outputs", "category"),
    [
        ("QLinearConv", [(1, 3, 8, 8), (), (), (), (), (), ()], [(1, 4, 6, 6)], "convolution"),
        ("MaxPool", [(1, 3, 8, 8)], [(1, 3, 4, 4)], "pooling"),
        ("Resize", [(1, 3, 8, 8)], [(1, 3, 16, 16)], "data movement"),
        ("Attention", [(1, 4, 8), (8, 24), (24,)], [(1, 4, 8)], "attention"),
        ("NotInOnnx", [(1,)], [(1,)], "other"),
    ],
)
def test_computation_that_does_not_follow_from_shapes_is_unknown(
    type_: str, inputs: list[Shape], outputs: list[Shape], category: str
) -> None:
    found = work(type_, inputs, outputs)
    assert str(found.work.computation) == "nan"
    assert found.category == category


def test_views_and_control_flow_move_nothing() -> None:
    assert [work(name, [(2,)], [(2,)]).moves_nothing for name in ("Reshape", "If", "Abs")] == [
        True,
        True,
        False,
    ]


def test_a_gather_of_rows_reads_as_much_as_it_writes() -> None:
    assert work("Gather", [(9, 4), (2, 3)], [(2, 3, 4)]).work.memory == 216
    assert work("Gather", [], [(2, 3, 4)]).category == "data movement"


def test_tensors_in_json_are_parsed() -> None:
    assert tensors_of(b'[{"float":[1,3]},{"int64":[]}]') == (("float", (1, 3)), ("int64", ()))
    assert (tensors_of(b""), tensors_of(b"[]"), tensors_of(b'"x"')) == (None, (), None)
    assert tensor("float", (2, -1)) == Tensor((2, None), "fp32")
    assert tensor("string", (1 << 40, 1 << 40)) == Tensor(None, "string")


shapes = st.lists(st.lists(st.integers(0, 5), max_size=5).map(tuple), max_size=9)


@example("MatMulNBits", [()], [()])
@example("Max", [], [()])
@given(st.sampled_from(TYPES), shapes, shapes)
def test_any_shapes_give_a_valid_answer(
    type_: str, inputs: list[Shape], outputs: list[Shape]
) -> None:
    found = work(type_, inputs, outputs)
    assert found.category in CATEGORIES
    assert not found.work.computation < 0
    assert found.packed_bytes >= 0

"""What layers compute, from their types and shapes."""

from __future__ import annotations

from typing import TypeAlias

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from profile_analyze.model.terms import CATEGORIES, DTYPES
from profile_analyze.readers.openvino.layers import LayerPort
from profile_analyze.readers.openvino.terms import _KINDS, dtype_of, dtype_of_primitive
from profile_analyze.readers.openvino.work import LayerWork, category_of, tensor_of, work_of_layer
from profile_analyze.work.kinds import KINDS
from profile_analyze.work.tensor import Tensor

Shape: TypeAlias = "tuple[int, ...]"


def work(type_: str, inputs: list[Shape], outputs: list[Shape]) -> LayerWork:
    tensors = ([Tensor(shape, "fp32") for shape in shapes] for shapes in (inputs, outputs))
    return work_of_layer(type_, *tensors)


@pytest.mark.parametrize(
    ("type_", "inputs", "outputs", "macs", "computation"),
    [
        ("Convolution", [(1, 3, 8, 8), (4, 3, 3, 3), (4,)], [(1, 4, 6, 6)], 3888, 7776),
        ("Convolution", [(1, 3, 8, 8), (4, 3, 3, 3)], [(1, 4, 6, 6)], 3888, 7776),
        (
            "Convolution",  # the last input is added to the result
            [(1, 3, 8, 8), (4, 3, 3, 3), (4,), (1, 4, 6, 6)],
            [(1, 4, 6, 6)],
            *(3888, 7776 + 144),
        ),
        ("Convolution", [(1, 4, 8, 8), (2, 3, 2, 3, 3)], [(1, 6, 6, 6)], 3888, 7776),
        ("Deconvolution", [(1, 3, 8, 8), (3, 4, 2, 2)], [(1, 4, 16, 16)], 3072, 6144),
        ("Deconvolution", [(1, 4, 8, 8), (2, 2, 3, 2, 2)], [(1, 6, 16, 16)], 3072, 6144),
        ("FullyConnected", [(2, 5, 7), (3, 7)], [(2, 5, 3)], 210, 420),
        ("MatMul", [(2, 5, 7), (2, 7, 3)], [(2, 5, 3)], 210, 420),
        ("MatMul", [(2, 7, 5), (2, 7, 3)], [(2, 5, 3)], 210, 420),
        ("MatMul", [(5, 7), (7,)], [(5,)], 35, 70),
        ("MatMul", [(7,), (7, 3)], [(3,)], 21, 42),
        ("MatMul", [(4, 3), (4, 3)], [(3, 3)], 36, 72),  # the first matrix is transposed
        ("MatMul", [(4, 3), (4, 3)], [(4, 4)], 48, 96),  # the second matrix is transposed
        ("FullyConnected", [(2, 3, 64), (1000, 64)], [(6, 1000)], 384_000, 768_000),
        ("RNNSeq", [(2, 6, 16), (2, 1, 8), (2,), (1, 24, 16), (1, 24, 8), (1, 24)],
         [(2, 1, 6, 8)], 6912, 6912 * 2 + 12 * 8 * 8),
        ("RNNCell", [(2, 16), (2, 8), (2, 8), (32, 16), (32, 8), (32,)],
         [(2, 8), (2, 8)], 1536, 1536 * 2 + 2 * 8 * 9),
        ("Eltwise", [(2, 3), (2, 3)], [(2, 3)], 0, 6),
        ("Softmax", [(2, 3)], [(2, 3)], 0, 30),
        ("Reorder", [(2, 3)], [(2, 3)], 0, 0),
        ("Gather", [(9, 4), (2,), ()], [(2, 4)], 0, 0),
    ],
)  # fmt: skip
def test_multiply_adds_follow_from_shapes(
    type_: str, inputs: list[Shape], outputs: list[Shape], macs: float, computation: float
) -> None:
    found = work(type_, inputs, outputs)
    assert (found.work.macs, found.work.computation) == (macs, computation)


@pytest.mark.parametrize(
    ("type_", "inputs", "outputs", "category"),
    [
        ("Subgraph", [(2, 3)], [(2, 3)], "other"),
        ("Pooling", [(1, 3, 8, 8)], [(1, 3, 4, 4)], "pooling"),
        ("Interpolate", [(1, 3, 8, 8)], [(1, 3, 16, 16)], "data movement"),
        ("Lrn", [(1, 3, 8, 8)], [(1, 3, 8, 8)], "normalization"),
        ("ScaledDotProductAttention", [(1, 4, 8, 16)] * 3, [(1, 4, 8, 16)], "attention"),
        ("Convolution", [(1, 3, 8, 8)], [(1, 4, 6, 6)], "convolution"),
        # The weight is hidden, and the second input is added to the result.
        ("Convolution", [(1, 3, 8, 8), (1, 4, 6, 6)], [(1, 4, 6, 6)], "convolution"),
        ("Convolution", [(4, 4, 8, 8), (4, 4, 6, 6)], [(4, 4, 6, 6)], "convolution"),
        ("Convolution", [(1, 3, 8, 8), (1, 4, 1, 1)], [(1, 4, 6, 6)], "convolution"),
        ("Deconvolution", [(1, 3, 8, 8), (1, 4, 16, 16)], [(1, 4, 16, 16)], "convolution"),
        # The channels of the second input do not fit.
        ("Convolution", [(1, 3, 8, 8), (3, 4, 3, 3)], [(1, 4, 6, 6)], "convolution"),
        ("Deconvolution", [(1, 3, 8, 8), (4, 3, 2, 2)], [(1, 4, 16, 16)], "convolution"),
        ("Convolution", [(1, 4, 8, 8), (2, 2, 3, 3, 3)], [(1, 6, 6, 6)], "convolution"),
        ("MatMul", [(5, 6, 7)], [(2, 5, 3)], "matmul"),
        ("RNNSeq", [(2, 6, 16)], [(2, 6, 8)], "matmul"),
        ("NotInOpenVino", [(1,)], [(1,)], "other"),
    ],
)
def test_computation_that_does_not_follow_from_shapes_is_unknown(
    type_: str, inputs: list[Shape], outputs: list[Shape], category: str
) -> None:
    found = work(type_, inputs, outputs)
    assert str(found.work.computation) == "nan"
    assert (found.category, category_of(type_)) == (category, category)


@pytest.mark.parametrize(
    ("type_", "inputs", "outputs"),
    [
        ("Convolution", [(1, 3, 8, 8)], [(1, 4, 6, 6)]),
        ("Convolution", [(1, 3, 8, 8), (4,)], [(1, 4, 6, 6)]),  # only the bias is an input
        ("Convolution", [], [(1, 4, 6, 6)]),
        ("Convolution", [(1, 3, 8, 8), (4, 3, 3, 3)], []),
        ("Deconvolution", [(1, 3, 8, 8)], [(1, 4, 16, 16)]),
        ("MatMul", [(5, 7)], [(5, 3)]),
        ("RNNSeq", [(2, 6, 16)], [(2, 6, 8)]),
        ("RNNSeq", [(2, 6, 16), (2, 1, 8), (2,)], [(2, 6, 8)]),  # none of these is a weight
        ("Gather", [(9, 4)], [(2, 4)]),
        ("Softmax", [], [(2, 3)]),
        ("Softmax", [(2, 3)], []),
    ],
)
def test_memory_is_unknown_if_the_file_lacks_a_tensor(
    type_: str, inputs: list[Shape], outputs: list[Shape]
) -> None:
    assert str(work(type_, inputs, outputs).work.memory) == "nan"


def test_a_missing_weight_does_not_change_known_multiply_adds() -> None:
    """The depth of a product follows from the first matrix."""
    assert work("MatMul", [(5, 7)], [(5, 3)]).work.macs == 105
    assert str(work("RNNSeq", [(2, 6, 16), (2, 1, 8), (2,)], [(2, 6, 8)]).work.macs) == "nan"


def test_every_type_maps_to_a_known_kind_of_operator() -> None:
    assert set(_KINDS.values()) <= set(KINDS)
    assert all(type_ == type_.lower() for type_ in _KINDS)


def test_ports_have_shapes_and_dtypes() -> None:
    assert tensor_of(LayerPort("0", "FP32", (2, None))) == Tensor((2, None), "fp32")
    assert tensor_of(LayerPort("0", "UNSPECIFIED", (0,))) is None
    assert tensor_of(LayerPort("0", "BOOLEAN", (1 << 40, 1 << 40))) == Tensor(None, "bool")
    assert [dtype_of(one) for one in ("FP16", "u8", "I4", "STRING", "undef", "")] == [
        *("fp16", "uint8", "int4", "STRING", None, None)
    ]
    primitives = ("brgconv_avx512_bf16", "unknown_I8", "convolution_gpu__f16", "undef", "a_b")
    assert [dtype_of_primitive(one) for one in primitives] == ["bf16", "int8", "fp16", None, None]
    assert {dtype_of(one) for one in ("f8e4m3", "nf4", "u2", "fp64")} <= set(DTYPES)


shapes = st.lists(st.lists(st.integers(0, 5), max_size=5).map(tuple), max_size=8)


@example("deconvolution", [(), (0,)], [()])
@given(st.sampled_from(sorted({*_KINDS, "unknown"})), shapes, shapes)
def test_any_shapes_give_a_valid_answer(
    type_: str, inputs: list[Shape], outputs: list[Shape]
) -> None:
    found = work(type_, inputs, outputs)
    assert found.category in CATEGORIES
    assert not found.work.computation < 0

"""The arguments of operators: tensors, lists of tensors, and values."""

from __future__ import annotations

import json
from math import inf, isnan
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profile_analyze.readers.pytorch.arguments import (
    Argument,
    arguments_of,
    canonical_dtype,
    is_contiguous,
)
from profile_analyze.readers.pytorch.facts import OPERATOR_EVENT, HostFacts
from profile_analyze.work.tensor import Tensor


def parsed(shapes: Any, types: Any, strides: Any = None, values: Any = None) -> list[Argument]:
    texts = (
        b"" if one is None else json.dumps(one).encode() for one in (shapes, types, strides, values)
    )
    return list(arguments_of(HostFacts(OPERATOR_EVENT, "aten::any", *texts)))


def test_tensors_lists_and_values_are_parsed() -> None:
    assert parsed(
        [[2, 3], [[4], [5, 6]], [], [], [], []],
        ["c10::Half", "TensorList", "ScalarList", "Scalar", "", "double"],
        [[3, 1], [[1], [1, 5]], [], [], [], []],
        ["", "", "[2, -1]", "0.5", "", ""],
    ) == [
        Argument("c10::Half", (Tensor((2, 3), "fp16", (3, 1)),), ("c10::Half",)),
        Argument(
            "TensorList", (Tensor((4,), None, (1,)), Tensor((5, 6), None, (1, 5))), (None, None)
        ),
        Argument("ScalarList", value=(2, -1)),
        Argument("Scalar", value=0.5),
        Argument(""),
        Argument("double", (Tensor((), "fp64", ()),), ("double",)),
    ]  # fmt: skip


def test_lists_may_have_a_dtype_for_each_tensor() -> None:
    assert parsed([[[4], []]], [["float", "long int"]]) == [
        Argument(
            "TensorList",
            (Tensor((4,), "fp32"), Tensor((), "int64")),
            ("float", "long int"),
        )
    ]


def test_old_versions_record_no_tensors_in_lists_and_no_values() -> None:
    assert parsed([[], [2], []], ["TensorList", "float", "Scalar"]) == [
        Argument("TensorList"),
        Argument("float", (Tensor((2,), "fp32"),), ("float",)),
        Argument("Scalar"),
    ]


def test_undefined_tensors_are_absent() -> None:
    found = parsed([[], [], []], ["", "nullptr (uninitialized)", "Scalar"])
    assert [one.is_absent for one in found] == [True, True, False]


def test_a_tensor_without_a_type_is_not_absent() -> None:
    (found,) = parsed([[2, 3]], [])
    assert (found.is_tensor, found.is_absent) == (True, False)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1", 1),
        ("-7", -7),
        ("True", True),
        ("False", False),
        ("0.", 0.0),
        ("1.0000000000000001e-05", 1e-5),
        ("-inf", -inf),
        ("[]", ()),
        ("[2, 2]", (2, 2)),
        ("[True, False]", (True, False)),
        ("[1.5, 2]", (1.5, 2)),
        ("bij,jk->bik", "bij,jk->bik"),
        ("9223372036854775807", 2**63 - 1),
        ("-9223372036854775808", -(2**63)),
        ("[9223372036854775807, 1]", (2**63 - 1, 1)),
        ("9223372036854775808", 2.0**63),
        ("-9223372036854775809", -(2.0**63)),
        ("9" * 40, 1e40),
        ("9" * 50, "9" * 50),
        ("[" + "1, " * 2000 + "1]", "[" + "1, " * 2000 + "1]"),
        ("", None),
        (None, None),
        ({}, None),
        (3, 3),
        (2**63 - 1, 2**63 - 1),
        (2**63, 2.0**63),
        (True, True),
    ],
)
def test_values_are_parsed(text: Any, value: Any) -> None:
    (found,) = parsed([[]], ["Scalar"], [[]], [text])
    assert (found.value, type(found.value)) == (value, type(value))


def test_the_text_nan_is_parsed_as_a_float() -> None:
    (found,) = parsed([[]], ["Scalar"], [[]], ["nan"])
    assert isinstance(found.value, float)
    assert isnan(found.value)


@pytest.mark.parametrize(
    "shape",
    [[-1], [1.5], ["2"], [True], {}, "2", 2, [[2]], [2**62, 4], [1] * 65, [10**30], None],
)
def test_impossible_shapes_are_unknown(shape: Any) -> None:
    assert parsed([shape], ["float"]) == [Argument("float", (Tensor(None, "fp32"),), ("float",))]


def test_strides_that_do_not_fit_are_unknown() -> None:
    found = parsed([[2], [2], [2]], ["float"] * 3, [[1, 1], ["1"], 7])
    assert [one.tensors for one in found] == [(Tensor((2,), "fp32"),)] * 3


@pytest.mark.parametrize("text", [b"", b"{}", b"7", b"[", b"null", b'"[]"', b"\xff", b"[" * 5000])
def test_invalid_lists_give_no_arguments(text: bytes) -> None:
    assert arguments_of(HostFacts(OPERATOR_EVENT, "aten::add", text, text, text, text)) == ()


def test_arguments_without_types_keep_their_shapes() -> None:
    assert parsed([[2], []], None) == [
        Argument("", (Tensor((2,)),), (None,)),
        Argument(""),
    ]


@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        *(("float", "fp32"), ("double", "fp64"), ("c10::Half", "fp16"), ("c10::BFloat16", "bf16")),
        *(("long int", "int64"), ("long", "int64"), ("int", "int32"), ("short", "int16")),
        *(("signed char", "int8"), ("unsigned char", "uint8"), ("bool", "bool")),
        *(("c10::Float8_e4m3fn", "fp8"), ("c10::Float8_e5m2fnuz", "fp8")),
        *(("c10::complex<float>", "complex64"), ("c10::complex<double>", "complex128")),
        *(("c10::quint8", "uint8"), ("my::Type", "my::Type"), ("", None), (None, None)),
    ],
)
def test_dtypes_get_canonical_names(name: str | None, dtype: str | None) -> None:
    assert canonical_dtype(name) == dtype


@pytest.mark.parametrize(
    ("shape", "strides", "expected"),
    [
        ((2, 3), (3, 1), True),
        ((2, 3), (1, 2), False),
        ((2, 1, 3), (3, 99, 1), True),
        ((2, 3), (0, 1), False),
        ((0, 3), (7, 7), True),
        ((3, 0), (7, 7), True),
        ((1, 1), (0, 0), True),
        ((), (), True),
    ],
)
def test_strides_show_whether_a_tensor_is_contiguous(
    shape: tuple[int, ...], strides: tuple[int, ...], *, expected: bool
) -> None:
    assert is_contiguous(shape, strides) == expected


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inside: (
        st.lists(inside, max_size=4) | st.dictionaries(st.text(max_size=3), inside, max_size=2)
    ),
    max_leaves=12,
)


@given(JSON, JSON, JSON, JSON)
def test_any_json_gives_possible_arguments(
    shapes: Any, types: Any, strides: Any, values: Any
) -> None:
    for argument in parsed(shapes, types, strides, values):
        tensors = argument.tensors or ()
        assert len(tensors) == len(argument.dtypes)
        assert all(
            one.shape is None or all(size is not None and size >= 0 for size in one.shape)
            for one in tensors
        )

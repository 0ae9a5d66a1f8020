"""Folded values equal the values of the reference implementation in `onnx`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import helper
from onnx.reference import ReferenceEvaluator

from profile_analyze.readers.onnx.folding import FOLDED, fold

INTS = [[7, -7, 5], [2, 2, -3]]
FLOATS = [[7.5, -7.5, 1.0], [2.0, 0.5, 4.0]]
CUBE = np.arange(24).reshape(2, 3, 4).tolist()
CASES: list[tuple[str, list[Any], dict[str, Any]]] = [
    *((name, INTS, {}) for name in ("Add", "Sub", "Mul", "Max", "Min", "Less", "Mod")),
    *((name, FLOATS, {}) for name in ("Div", "Add", "Greater", "Equal")),
    *((name, FLOATS[:1], {}) for name in ("Floor", "Ceil", "Neg", "Abs", "Sign", "Identity")),
    ("Mod", INTS, {"fmod": 1}),
    ("Reshape", [CUBE, [0, -1]], {}),
    ("Reshape", [np.zeros((0, 3)).tolist(), [0, 5]], {"allowzero": 1}),
    ("Slice", [CUBE, [-1], [-9], [1], [-1]], {}),
    ("Slice", [CUBE, [1], [99], [2], [2]], {}),
    ("Gather", [CUBE, [1, -1]], {"axis": 1}),
    ("Transpose", [CUBE], {"perm": [2, 0, 1]}),
    ("ReduceSum", [CUBE, [1]], {"keepdims": 0}),
    ("ReduceProd", [INTS, [0]], {}),
    ("Concat", [CUBE, CUBE], {"axis": -1}),
    ("Range", [2, 11, 3], {}),
    ("Range", [5, -5, -4], {}),
    ("CumSum", [INTS, 1], {}),
    ("Expand", [[[1], [2]], [3, 1, 4]], {}),
    ("Tile", [INTS, [1, 2]], {}),
    ("Split", [CUBE, [1, 3]], {"axis": 2}),
    ("Split", [CUBE], {"axis": 2, "num_outputs": 2}),
    ("Split", [CUBE], {"axis": 1, "num_outputs": 2}),
    ("Unsqueeze", [INTS, [0, -1]], {}),
    ("NonZero", [[[0, 1], [1, 1]]], {}),
]


@pytest.mark.parametrize(("type_", "inputs", "attributes"), CASES)
def test_values_equal_the_values_of_the_reference(
    type_: str, inputs: list[Any], attributes: dict[str, Any]
) -> None:
    arrays = [np.array(one) for one in inputs]
    names = [f"i{position}" for position in range(len(arrays))]
    node = helper.make_node(type_, names, ["a", "b"][: 2 if type_ == "Split" else 1], **attributes)
    expected = ReferenceEvaluator(node).run(None, dict(zip(names, arrays, strict=True)))
    folded = fold(type_, arrays, attributes)
    assert folded is not None
    for mine, theirs in zip(folded, expected, strict=True):
        assert mine.dtype == np.asarray(theirs).dtype
        assert np.array_equal(mine, theirs)


def test_integers_are_divided_towards_zero() -> None:
    assert [one.tolist() for one in fold("Div", [np.array(one) for one in INTS], {}) or ()] == [
        [3, -3, -1]
    ]


def test_a_backward_slice_from_before_the_first_element_has_this_element() -> None:
    """By the ONNX standard, the slice has the first element. The reference returns no elements."""
    inputs = [np.array(one) for one in (INTS, [-10], [-(1 << 63)], [0], [-1])]
    assert [one.tolist() for one in fold("Slice", inputs, {}) or ()] == [INTS[:1]]


@pytest.mark.parametrize(
    ("type_", "inputs"),
    [
        ("ConstantOfShape", [[1 << 40]]),
        ("Expand", [[1], [1 << 40]]),
        ("Tile", [[1], [1 << 40]]),
        ("Range", [0, 1 << 40, 1]),
        ("Div", [[1], [0]]),
        ("Range", [0, 5, 0]),
        ("Reshape", [[1, 2], [3]]),
    ],
)
def test_large_and_impossible_values_are_not_computed(type_: str, inputs: list[Any]) -> None:
    assert type_ in FOLDED
    assert fold(type_, [np.array(one) for one in inputs], {}) is None


@pytest.mark.parametrize("count", [0, -1, 1 << 40])
def test_a_split_into_an_impossible_number_of_parts_is_not_computed(count: int) -> None:
    assert fold("Split", [np.array(CUBE)], {"num_outputs": count}) is None

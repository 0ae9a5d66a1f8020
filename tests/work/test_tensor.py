"""Shapes and dtypes of tensors."""

from __future__ import annotations

from itertools import repeat
from typing import TYPE_CHECKING

import pytest

from profile_analyze.work.tensor import LARGEST_SIZE, compute_dtype, is_possible_shape

if TYPE_CHECKING:
    from collections.abc import Iterable


@pytest.mark.parametrize(
    ("sizes", "is_possible"),
    [
        ((), True),
        ((LARGEST_SIZE,), True),
        ((LARGEST_SIZE + 1,), False),
        ((1 << 62, 1, 2), False),
        ((1 << 62, None, 1, 0, -2), True),
        ([1] * 64, True),
        ([1] * 65, False),
        (repeat(2), False),  # without end
        (repeat(1), False),
        (repeat(None), False),
        (repeat(0), False),
    ],
)
def test_impossible_shapes_are_recognised(
    sizes: Iterable[int | None], *, is_possible: bool
) -> None:
    assert is_possible_shape(sizes) is is_possible


@pytest.mark.parametrize(
    ("inputs", "outputs", "dtype"),
    [
        (["fp16", "fp32"], ["fp32"], "fp16"),
        (["bool", "fp16", "fp16"], ["fp16"], "fp16"),  # Where
        (["bool", "fp16", "fp16"], [], "fp16"),
        (["bool", "int64"], ["bool"], None),  # Gather of conditions
        ([None, "int64"], ["fp32"], "fp32"),
        (["string", "int64"], ["int64"], "int64"),
        ([], ["fp32", "int64"], "fp32"),
        ([], [], None),
    ],
)
def test_inputs_and_outputs_decide_the_dtype_of_the_computation(
    inputs: list[str | None], outputs: list[str | None], dtype: str | None
) -> None:
    assert compute_dtype(inputs, outputs) == dtype

"""A shape with more dimensions or elements than any tensor has is unknown, in every format."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from profile_analyze.readers.megengine_timeline.recording import Facts, TensorArguments
from profile_analyze.readers.megengine_timeline.work import cost_of
from profile_analyze.readers.migraphx.shapes import shapes_of
from profile_analyze.readers.onnxruntime.tensors import tensor
from profile_analyze.readers.openvino.layers import LayerPort
from profile_analyze.readers.openvino.work import tensor_of
from profile_analyze.readers.tensorrt.tensors import EngineTensor

if TYPE_CHECKING:
    from collections.abc import Callable


def _megengine(sizes: list[int]) -> object:
    written = TensorArguments(shape=f"{{{','.join(map(str, sizes))}}}", dtype="Float32")
    shapes = cost_of(Facts("ABS", b"", (), (written,))).out_shapes
    return shapes and shapes[0]


def _migraphx(sizes: list[int]) -> object:
    text = ", ".join(map(str, sizes))
    return shapes_of(f"float_type, {{{text}}}, {{{text}}}")[0].tensor.shape


def _openvino(sizes: list[int]) -> object:
    found = tensor_of(LayerPort("0", "FP32", tuple(sizes)))
    return found and found.shape


@pytest.mark.parametrize(
    "shape_of",
    [
        _megengine,
        _migraphx,
        _openvino,
        lambda sizes: tensor("float", tuple(sizes)).shape,
        lambda sizes: EngineTensor("x", sizes).tensor.shape,
    ],
)
def test_shapes_with_too_many_dimensions_or_elements_are_unknown(
    shape_of: Callable[[list[int]], object],
) -> None:
    assert shape_of([1] * 64) == (1,) * 64
    assert shape_of([1] * 65) is None
    assert shape_of([10**17] * 4) is None

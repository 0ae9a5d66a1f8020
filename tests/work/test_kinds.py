"""Each kind without multiply-adds: its operations and bytes for one call."""

from __future__ import annotations

from math import isnan, nan
from typing import Any

import pytest

from profile_analyze.model import terms
from profile_analyze.work.convolutions import conv_kind, macs_without_padding
from profile_analyze.work.kinds import KINDS, backward_macs, work_of
from profile_analyze.work.operation import Operation
from profile_analyze.work.tensor import Tensor

DATA = Tensor((2, 6, 4), "fp32")  # 48 elements, 192 bytes
WINDOWS = Tensor((2, 6, 2), "fp32")  # 24 elements, 96 bytes
CHANNELS = Tensor((6,), "fp32")  # 24 bytes
INDICES = Tensor((2, 6), "int64")  # 96 bytes
BYTES = Tensor((2, 6, 4), "uint8")  # 48 bytes
TABLE = Tensor((1000, 4), "fp32")


def work(
    kind: str,
    inputs: list[Tensor | None],
    outputs: list[Tensor | None] | None = None,
    **attributes: Any,
) -> tuple[float, float, float]:
    return work_of(Operation(kind, tuple(inputs), tuple(outputs or [DATA]), attributes))


@pytest.mark.parametrize(
    ("kind", "inputs", "outputs", "attributes", "computation", "memory"),
    [
        ("elementwise", [DATA, CHANNELS], [DATA], {}, 48, 408),
        ("elementwise", [DATA], [DATA], {"per_element": 3}, 144, 384),
        ("activation", [DATA], [DATA], {}, 48, 384),
        ("rotary embedding", [DATA], [DATA], {"per_element": 3}, 144, 384),
        ("quantize", [DATA, CHANNELS], [BYTES], {}, 96, 264),
        ("quantize", [DATA, CHANNELS, CHANNELS], [BYTES], {}, 144, 288),
        ("dynamic quantize", [DATA], [BYTES], {}, 240, 240),
        ("dequantize", [BYTES, CHANNELS], [DATA], {}, 48, 264),
        ("dequantize", [BYTES, CHANNELS, CHANNELS], [DATA], {}, 96, 288),
        ("cast", [DATA], [BYTES], {}, 0, 240),
        ("batch normalization", [DATA, *[CHANNELS] * 4], [DATA], {}, 96, 480),
        ("batch normalization", [DATA], [DATA], {"is_training": True}, 336, 384),
        ("layer normalization", [DATA], [DATA], {}, 240, 384),
        ("layer normalization", [DATA, CHANNELS, CHANNELS], [DATA], {}, 336, 432),
        ("layer normalization", [DATA, CHANNELS, None, DATA], [DATA], {}, 336, 600),
        ("RMS normalization", [DATA, CHANNELS], [DATA], {}, 192, 408),
        ("local response normalization", [DATA], [DATA], {"window": 5}, 480, 384),
        ("embedding normalization", [INDICES, CHANNELS], [DATA], {"tables": 3}, 432, 888),
        ("softmax", [DATA], [DATA], {}, 240, 384),
        ("softmax", [DATA], [DATA], {"per_element": 6}, 288, 384),
        ("reduction", [DATA], [CHANNELS], {}, 48, 216),
        ("reduction", [DATA], [CHANNELS], {"per_element": 2}, 96, 216),
        ("pooling", [DATA], [WINDOWS], {"kernel": (3,)}, 72, 288),
        ("pooling", [DATA], [WINDOWS], {"kernel": (3,), "per_element": 2}, 144, 288),
        ("pooling", [DATA], [CHANNELS], {"is_global": True}, 48, 216),
        ("pooling", [DATA], [WINDOWS], {}, nan, 288),
        ("region pooling", [DATA], [WINDOWS], {}, nan, 288),
        ("resize", [WINDOWS], [DATA], {"taps": 0}, 0, 288),
        ("resize", [WINDOWS], [DATA], {"taps": 4}, 384, 288),
        ("resize", [WINDOWS], [DATA], {"taps": None}, nan, 288),
        ("loss", [DATA, INDICES], [Tensor((), "fp32")], {"per_element": 5}, 252, 292),
        (
            "optimizer step",
            [*[Tensor((), "fp32")] * 2, CHANNELS, CHANNELS],
            [CHANNELS, CHANNELS],
            {"per_element": 7, "tensors_per_parameter": 2},
            42,
            104,
        ),
        ("embedding", [TABLE, INDICES], [DATA], {}, 0, 480),
        ("gather", [Tensor((1000, 4), "int8"), INDICES], [DATA], {}, 0, 336),
        ("slice", [TABLE, Tensor((2,), "int64")], [WINDOWS, WINDOWS], {}, 0, 400),
        ("concat", [WINDOWS, WINDOWS], [DATA], {}, 0, 384),
        ("copy", [DATA], [DATA], {}, 0, 384),
        ("layout change", [DATA], [DATA], {}, 0, 384),
        ("fill", [Tensor((3,), "int64")], [DATA], {}, 0, 192),
        ("view", [DATA], [DATA], {}, 0, 0),
        ("control", [DATA], [INDICES], {}, 0, 0),
        ("data-dependent", [DATA], [INDICES], {}, nan, 288),
    ],
)
def test_the_work_of_kinds_without_macs_by_hand(
    kind: str,
    inputs: list[Tensor | None],
    outputs: list[Tensor | None],
    attributes: dict[str, Any],
    computation: float,
    memory: float,
) -> None:
    assert work(kind, inputs, outputs, **attributes) == pytest.approx(
        (0, computation, memory), rel=0, nan_ok=True
    )


def test_work_without_a_formula_is_unknown() -> None:
    macs, computation, memory = work("other", [DATA], [DATA])
    assert isnan(macs)
    assert isnan(computation)
    assert memory == 384


def test_kinds_have_categories_and_texts() -> None:
    for name, kind in KINDS.items():
        assert kind.name == name
        assert kind.category in terms.CATEGORIES
        assert kind.inputs
        assert kind.meaning
        assert kind.source


def test_unknown_sizes_and_dtypes_make_work_unknown() -> None:
    unknown = Tensor((2, None, 4), "fp32")
    assert all(map(isnan, work("convolution", [DATA, CHANNELS], [DATA])[:2]))
    assert all(map(isnan, work("matmul", [unknown, CHANNELS], [Tensor(None)])))
    assert all(map(isnan, work("LSTM", [unknown, DATA, DATA], [DATA])))
    assert all(map(isnan, work("einsum", [DATA, DATA], [DATA], equation="a,b")[:2]))
    assert all(map(isnan, work("einsum", [DATA, DATA, DATA], [DATA], equation="a,b")[:2]))
    assert all(map(isnan, work("attention", [DATA], [DATA])[:2]))
    assert isnan(work("elementwise", [unknown], [unknown])[1])
    assert isnan(work("copy", [DATA], [Tensor((2,), "text")])[2])
    other = Operation("other", (DATA,), (DATA,))
    assert isnan(backward_macs(other, input_gradients=1, weight_gradients=0))


@pytest.mark.parametrize(
    ("weight", "groups", "kind", "expected"),
    [
        ((8, 3, 3, 3), 1, "convolution", "full"),
        ((8, 3, 3), 1, "convolution", "full"),
        ((8, 3, 1, 1), 1, "convolution", "pointwise"),
        ((8, 1, 1, 1), 1, "convolution", "pointwise"),
        ((6, 1, 3, 3), 6, "convolution", "depthwise"),
        ((12, 1, 1, 1), 6, "convolution", "depthwise"),
        ((6, 2, 3, 3), 3, "convolution", "grouped"),
        ((6, 2, 1), 3, "convolution", "grouped"),
        ((6, 2, 3, 3), 6, "transposed convolution", "depthwise"),
        ((6, 1, 3, 3), 3, "transposed convolution", "grouped"),
        ((8, 3, 3, 3), None, "convolution", None),
        ((8, None, 3, 3), 1, "convolution", None),
        ((8, 3), 1, "convolution", None),
        ((8, 3, 3, 3), 1, "matmul", None),
    ],
)
def test_weights_and_groups_decide_the_kind_of_a_convolution(
    weight: tuple[int | None, ...], groups: int | None, kind: str, expected: str | None
) -> None:
    operation = Operation(kind, (DATA, Tensor(weight)), (DATA,), {"groups": groups})
    assert conv_kind(operation) == expected


@pytest.mark.parametrize(
    ("kind", "weight", "attributes"),
    [
        ("matmul", (6, 6, 3), {}),
        ("deformable convolution", (6, 6, 3), {}),
        ("convolution", (6, 6, 3), {"strides": (0,)}),
        ("convolution", (6, 6, 3), {"padding_before": None}),
        ("convolution", (6, 6, 3), {"dilations": (1, 1)}),
        ("convolution", (6, 6, 3, 3), {}),
        ("convolution", (6, None, 3), {}),
    ],
)
def test_macs_without_padding_can_be_unknown(
    kind: str, weight: tuple[int | None, ...], attributes: dict[str, Any]
) -> None:
    operation = Operation(kind, (DATA, Tensor(weight)), (DATA,), attributes)
    assert isnan(macs_without_padding(operation))


def test_packed_values_of_four_bits_take_half_a_byte() -> None:
    assert Tensor((3, 3), "int4").bytes == 5

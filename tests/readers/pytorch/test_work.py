"""What operators of PyTorch compute and move."""

from __future__ import annotations

import json
from collections import Counter
from math import inf, isnan, nan, prod
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profile_analyze.model.terms import CATEGORIES
from profile_analyze.readers.pytorch.facts import (
    MODULE_EVENT,
    OPERATOR_EVENT,
    REGION_EVENT,
    HostFacts,
)
from profile_analyze.readers.pytorch.work.operators import Described, described
from profile_analyze.work.operation import Work

RECORDED = json.loads((Path(__file__).parent / "operators.json").read_text(encoding="utf-8"))
BYTES = {
    "float": 4, "c10::Half": 2, "c10::BFloat16": 2, "long int": 8, "int": 4, "bool": 1,
    "torch.float32": 4, "torch.float16": 2, "torch.bfloat16": 2, "torch.int64": 8, "torch.bool": 1,
}  # fmt: skip
COUNTED_BY_TORCH = {
    f"aten::{name}" for name in ("conv2d", "mm", "addmm", "bmm", "baddbmm", "add", "mul")
}
READ_AND_WRITTEN_ONCE = {
    f"aten::{name}"
    for name in (
        *("conv2d", "conv_transpose2d", "max_pool2d", "adaptive_avg_pool2d"),
        *("mm", "addmm", "bmm", "baddbmm", "addbmm", "addmv", "matmul", "outer", "linear"),
        *("add", "mul", "sub", "exp", "relu", "gelu", "where", "clamp", "eq", "sum", "mean", "max"),
        *("argmax", "var_mean", "softmax", "log_softmax", "layer_norm", "batch_norm", "clone"),
        *("scaled_dot_product_attention", "convolution_backward", "topk", "sort", "mse_loss"),
        *("constant_pad_nd", "repeat", "roll", "upsample_bilinear2d", "grid_sampler_2d", "relu_"),
        *("threshold_backward", "_softmax_backward_data", "native_layer_norm_backward", "cumsum"),
        *("nll_loss_backward", "_scaled_dot_product_flash_attention_for_cpu_backward"),
    )
}  # fmt: skip


OPERATIONS = {
    **dict.fromkeys(("relu", "exp", "where", "eq", "clamp", "lerp", "masked_fill"), (1, "outputs")),
    **dict.fromkeys(("gelu_backward", "threshold_backward", "elu_backward"), (1, "outputs")),
    **dict.fromkeys(("sum", "mean", "max", "amax", "argmax", "any", "cumsum"), (1, "inputs")),
    **dict.fromkeys(("linalg_vector_norm", "aminmax"), (2, "inputs")),
    **dict.fromkeys(("std", "var", "var_mean", "logsumexp"), (4, "inputs")),
    **dict.fromkeys(("softmax", "_softmax", "log_softmax"), (5, "outputs")),
    "_softmax_backward_data": (4, "outputs"),
    "mse_loss": (3, "inputs"),
    "mse_loss_backward": (1, "outputs"),
    "rms_norm": (4, "outputs"),
    "upsample_nearest2d": (0, "outputs"),
    "upsample_linear1d": (4, "outputs"),
    "upsample_bilinear2d": (8, "outputs"),
    "upsample_trilinear3d": (16, "outputs"),
    "upsample_bicubic2d": (32, "outputs"),
    "adaptive_avg_pool2d": (1, "inputs"),
    "max_pool2d_with_indices_backward": (1, "inputs"),
}
"""The operations for each element of the largest input or output."""


def facts(name: str, *arguments: Any, kind: str = OPERATOR_EVENT) -> HostFacts:
    return HostFacts(kind, name, *(json.dumps(one).encode() for one in arguments))


def call(name: str, *arguments: tuple[Any, ...]) -> Described:
    """Return the description of a call. An argument has a shape, a type, and perhaps a value."""
    columns = zip(*((*one, "")[:3] for one in arguments), strict=True)
    shapes, types, values = map(list, columns)
    return described(facts(name, shapes, types, [], values))


def tensor(*shape: int) -> tuple[Any, str]:
    return list(shape), "float"


def value(text: str) -> tuple[Any, str, str]:
    return [], "Scalar", text


def numbers(found: Described) -> tuple[float, float, float]:
    return found.work.macs, found.work.computation, found.work.memory


def shapes_of(row: Any, side: str) -> tuple[Any, ...]:
    return tuple(tuple(one[0]) for one in row[side])


@pytest.mark.parametrize("name", sorted({row["name"] for row in RECORDED}))
def test_outputs_equal_the_outputs_that_torch_returned(name: str) -> None:
    for row in RECORDED:
        if row["name"] == name:
            found = described(facts(name, *row["arguments"]))
            if found.out_shapes is not None:
                assert found.out_shapes, row["call"]
                outputs = shapes_of(row, "outputs")
                assert found.out_shapes == outputs[: len(found.out_shapes)], row["call"]


def test_outputs_of_most_operators_are_known() -> None:
    unknown = {
        row["name"].removeprefix("aten::")
        for row in RECORDED
        for found in [described(facts(row["name"], *row["arguments"]))]
        if found.out_shapes is None and found.work.memory != 0
    }
    # A trace lacks equations, lists of indices, and paddings that are names, such as `same`. For
    # im2col and pixel_shuffle, the package has no rule.
    assert unknown == {"einsum", "index", "conv2d", "im2col", "pixel_shuffle"}


def test_operations_equal_the_operations_that_torch_counts() -> None:
    """For `mul`, torch counts the elements of the first operand, even if it is broadcast."""
    checked: Counter[str] = Counter()
    for row in RECORDED:
        shapes = row["arguments"][0]
        is_broadcast = row["name"] == "aten::mul" and shapes == [[4, 1], [5]]
        if row["name"] in COUNTED_BY_TORCH and row["flops"] and not is_broadcast:
            found = described(facts(row["name"], *row["arguments"]))
            assert found.work.computation == row["flops"], row
            checked[row["name"]] += 1
    assert checked.keys() == COUNTED_BY_TORCH


def test_each_tensor_is_read_or_written_once() -> None:
    checked = set()
    for row in RECORDED:
        if row["name"] in READ_AND_WRITTEN_ONCE:
            shapes, types, strides, _ = row["arguments"]
            found = described(facts(row["name"], *row["arguments"]))
            if found.out_shapes is None:  # the padding is a name
                continue
            read = sum(
                prod(size for size, step in zip(one, steps, strict=True) if step) * BYTES[type_]
                for one, type_, steps in zip(shapes, types, strides, strict=True)
                if type_ in BYTES
            )
            written = sum(
                prod(shape) * BYTES[dtype]
                for shape, dtype in row["outputs"][: len(found.out_shapes)]
            )
            # A call with `out` has its output among the arguments, too, so `read` counts it.
            extra = 80 if row["call"].endswith("out=rand(4, 5))") else 0
            assert found.work.memory == read + written - extra, row
            checked.add(row["name"])
    assert checked == READ_AND_WRITTEN_ONCE


@pytest.mark.parametrize("name", OPERATIONS)
def test_operators_have_a_fixed_number_of_operations_for_each_element(name: str) -> None:
    per_element, side = OPERATIONS[name]
    rows = [row for row in RECORDED if row["name"] == f"aten::{name}"]
    assert rows
    for row in rows:
        shapes = row["arguments"][0] if side == "inputs" else shapes_of(row, "outputs")
        elements = max(map(prod, shapes))
        if name == "max_pool2d_with_indices_backward":
            elements = prod(shapes[0])  # the gradient's elements, fewer than the data's
        found = described(facts(f"aten::{name}", *row["arguments"]))
        assert numbers(found)[:2] == (0, per_element * elements), row


def test_the_description_of_a_convolution_is_complete() -> None:
    shapes = [[2, 3, 112, 112], [16, 3, 7, 7], [16], [], [], [], []]
    types = ["float", "float", "float", "ScalarList", "ScalarList", "ScalarList", "Scalar"]
    strides = [[37632, 1, 336, 3], [147, 49, 7, 1], [1], [], [], [], []]
    values = ["", "", "", "[2, 2]", "[3, 3]", "[1, 1]", "1"]
    assert described(facts("aten::conv2d", shapes, types, strides, values)) == Described(
        "convolution",
        Work(14_751_744, 29_503_488, 4 * (75_264 + 2_352 + 16 + 100_352)),
        in_shapes=((2, 3, 112, 112), (16, 3, 7, 7), (16,)),
        in_strides=((37632, 1, 336, 3), None, None),
        input_dtypes=("float", "float", "float"),
        out_shapes=((2, 16, 56, 56),),
        compute_dtype="fp32",
        parameters=(
            ("dilation", "[1, 1]"),
            ("groups", 1),
            ("padding", "[3, 3]"),
            ("stride", "[2, 2]"),
        ),
    )


DATA, WEIGHT, BIAS = tensor(2, 4, 9, 7), tensor(8, 2, 3, 3), tensor(8)
NONE: tuple[Any, str] = ([], "")
ONES, TWOS, ZEROS = value("[1, 1]"), value("[2, 2]"), value("[0, 0]")
FLAGS = [value("False")] * 3
OUT, MACS, MOVED = ((2, 8, 5, 4),), 2 * 8 * 5 * 4 * 18, 4 * (504 + 144 + 8 + 320)


@pytest.mark.parametrize(
    ("name", "arguments", "biased"),
    [
        ("conv2d", [DATA, WEIGHT, BIAS, TWOS, ONES, ONES, value("2")], 1),
        ("convolution", [DATA, WEIGHT, BIAS, TWOS, ONES, ONES, value("False"), ZEROS, value("2")], 1),
        ("_convolution", [DATA, WEIGHT, BIAS, TWOS, ONES, ONES, value("False"), ZEROS, value("2"), *FLAGS, *FLAGS[:1]], 1),
        ("_convolution", [DATA, WEIGHT, BIAS, TWOS, ONES, ONES, value("False"), ZEROS, value("2"), *FLAGS], 1),
        ("mkldnn_convolution", [DATA, WEIGHT, BIAS, ONES, TWOS, ONES, value("2")], 1),
        ("miopen_convolution", [DATA, WEIGHT, BIAS, ONES, TWOS, ONES, value("2"), *FLAGS[:2]], 1),
        ("cudnn_convolution", [DATA, WEIGHT, ONES, TWOS, ONES, value("2"), *FLAGS], 0),
        ("cudnn_convolution", [DATA, WEIGHT, BIAS, ONES, TWOS, ONES, value("2"), *FLAGS], 1),
        ("thnn_conv2d", [DATA, WEIGHT, value("[3, 3]"), BIAS, TWOS, ONES], 1),
        ("_conv_depthwise2d", [DATA, WEIGHT, value("[3, 3]"), NONE, TWOS, ONES, ONES], 0),
    ],
)  # fmt: skip
def test_operators_of_one_convolution_agree(name: str, arguments: list[Any], biased: int) -> None:
    found = call(f"aten::{name}", *arguments)
    assert (found.out_shapes, numbers(found)) == (OUT, (MACS, 2 * MACS, MOVED - 32 * (1 - biased)))
    assert dict(found.parameters or ())["stride"] == "[2, 2]"


def test_fused_functions_are_counted_in_their_convolution() -> None:
    options = [TWOS, ONES, ONES, value("2")]
    fused = call("aten::cudnn_convolution_relu", DATA, WEIGHT, BIAS, *options)
    assert numbers(fused) == (MACS, 2 * MACS + 320, MOVED)
    added = call(
        "aten::cudnn_convolution_add_relu",
        DATA,
        WEIGHT,
        tensor(2, 8, 5, 4),
        value("1"),
        BIAS,
        *options,
    )
    assert numbers(added) == (MACS, 2 * MACS + 640, MOVED + 1280)


@pytest.mark.parametrize(("text", "out"), [("same", (2, 8, 9, 7)), ("valid", (2, 8, 7, 5))])
def test_padding_by_name_decides_the_output(text: str, out: tuple[int, ...]) -> None:
    found = call("aten::conv2d", DATA, WEIGHT, NONE, ONES, ([], "", text), ONES, value("2"))
    assert found.out_shapes == (out,)


def test_padding_whose_name_the_file_lacks_is_unknown() -> None:
    found = call("aten::conv2d", DATA, WEIGHT, NONE, ONES, NONE, ONES, value("2"))
    assert (found.category, found.out_shapes) == ("convolution", None)
    assert all(map(isnan, numbers(found)))
    assert found.in_shapes == ((2, 4, 9, 7), (8, 2, 3, 3))


@pytest.mark.parametrize(
    ("mask", "products", "out"),
    [
        ("[True, True, True]", 2, ((2, 4, 9, 7), (8, 2, 3, 3), (8,))),
        ("[False, True, True]", 1, ((8, 2, 3, 3), (8,))),
        ("[True, False, False]", 1, ((2, 4, 9, 7),)),
        ("[False, False, True]", 0, ((8,),)),
    ],
)
def test_only_requested_gradients_of_a_convolution_are_counted(
    mask: str, products: int, out: Any
) -> None:
    options = [value("[8]"), TWOS, ONES, ONES, value("False"), ZEROS, value("2"), value(mask)]
    found = call("aten::convolution_backward", tensor(2, 8, 5, 4), DATA, WEIGHT, *options)
    memory = 4 * (320 + 504 + 144 + sum(map(prod, out)))
    assert (found.out_shapes, numbers(found)) == (
        out,
        (products * MACS, 2 * products * MACS, memory),
    )


def test_a_deformable_convolution_also_counts_the_interpolation() -> None:
    sides = [value(text) for text in ("2", "2", "1", "1", "1", "1", "2", "1", "True")]
    found = call(
        "torchvision::deform_conv2d",
        DATA,
        WEIGHT,
        tensor(2, 18, 5, 4),
        tensor(2, 9, 5, 4),
        BIAS,
        *sides,
    )
    assert found.category == "convolution"
    assert found.out_shapes == OUT
    assert numbers(found) == (MACS, 2 * MACS + 9 * (2 * 4 * 5 * 4 * 9), MOVED + 4 * (720 + 360))


@pytest.mark.parametrize(
    ("name", "arguments", "out", "expected"),
    [
        ("mm", [tensor(4, 6), tensor(6, 5)], ((4, 5),), (120, 240, 296)),
        # In a scripted model, the profiler also records values before the arguments: one tensor in
        # the next case, and nine tensors in the case of `linear`.
        ("mm", [tensor(7, 9), tensor(4, 6), tensor(6, 5)], ((4, 5),), (120, 240, 296)),
        ("addmm", [tensor(5), tensor(4, 6), tensor(6, 5), value("1"), value("1")], ((4, 5),), (120, 240, 316)),
        ("_addmm_activation", [tensor(5), tensor(4, 6), tensor(6, 5)], ((4, 5),), (120, 260, 316)),
        ("linear", [*[tensor(200, 200)] * 9, tensor(4, 6), tensor(5, 6), tensor(5)], ((4, 5),), (120, 240, 316)),
        ("_scaled_mm", [([4, 6], "c10::Float8_e4m3fn"), ([6, 5], "c10::Float8_e4m3fn"), tensor(), tensor(), NONE, NONE, value("15"), value("True")], ((4, 5),), (120, 240, 102)),
        ("einsum", [([], "", "bij,jk->bik"), ([[3, 4, 6], [6, 5]], "TensorList"), NONE], ((3, 4, 5),), (360, 720, nan)),
        ("_thnn_fused_lstm_cell", [tensor(2, 20), tensor(2, 20), tensor(2, 5)], ((2, 5), (2, 5)), (0, 90, 440)),
        ("_thnn_fused_gru_cell", [tensor(2, 15), tensor(2, 15), tensor(2, 5)], ((2, 5),), (0, 80, 320)),
        ("addbmm", [tensor(4, 5), tensor(3, 4, 6), tensor(3, 6, 5)], ((4, 5),), (360, 720, 808)),
        ("addr", [tensor(4, 5), tensor(4), tensor(5)], ((4, 5),), (20, 40, 196)),
        ("slow_conv_transpose2d", [tensor(1, 2, 4, 4), tensor(2, 5, 3, 3), value("[3, 3]"), NONE, TWOS, ZEROS, ZEROS, ONES], ((1, 5, 9, 9),), (1440, 2880, 4 * (32 + 90 + 405))),
        ("lstm_cell", [tensor(2, 6), ([[2, 5], [2, 5]], "TensorList"), tensor(20, 6), tensor(20, 5), tensor(20), tensor(20)], ((2, 5), (2, 5)), (440, 970, 4 * (12 + 120 + 100 + 40 + 40))),
        ("_efficient_attention_forward", [tensor(2, 5, 3, 8), tensor(2, 7, 3, 8), tensor(2, 7, 3, 6), *[NONE] * 3, *[value("1")] * 5], ((2, 5, 3, 6),), (2940, 7140, 4 * (240 + 336 + 252 + 180))),
    ],
)  # fmt: skip
def test_products_have_outputs_and_work(
    name: str, arguments: list[Any], out: Any, expected: tuple[float, ...]
) -> None:
    found = call(f"aten::{name}", *arguments)
    assert found.out_shapes == out
    assert numbers(found) == pytest.approx(expected, nan_ok=True)


def test_recurrent_layers_have_outputs_and_work() -> None:
    """An LSTM with two layers in two directions, and its first layer as mkldnn runs it."""
    weights = [[20, 6], [20, 5], [20], [20]] * 2 + [[20, 10], [20, 5], [20], [20]] * 2
    states = ([[4, 2, 5], [4, 2, 5]], "TensorList")
    options = [value(text) for text in ("True", "2", "0.", "False", "True", "False")]
    found = call("aten::lstm", tensor(7, 2, 6), states, (weights, "TensorList"), *options)
    macs = 7 * 2 * (2 * (120 + 100) + 2 * (200 + 100))
    assert found.out_shapes == ((7, 2, 10), (4, 2, 5), (4, 2, 5))
    assert numbers(found) == pytest.approx((macs, 2 * macs + 4 * 7 * 2 * 5 * 9, nan), nan_ok=True)
    parameters = [
        tensor(20, 6),
        tensor(20, 5),
        tensor(20),
        tensor(20),
        tensor(1, 2, 5),
        tensor(1, 2, 5),
    ]
    values = ("False", "[]", "2", "5", "1", "True", "True", "False", "False")
    layer = call("aten::mkldnn_rnn_layer", tensor(7, 2, 6), *parameters, *map(value, values))
    assert layer.out_shapes == ((7, 2, 5), (1, 2, 5), (1, 2, 5))
    assert numbers(layer) == (3080, 2 * 3080 + 630, 4 * (84 + 120 + 100 + 40 + 40 + 70))


QUERIES = [tensor(2, 3, 5, 8), tensor(2, 3, 7, 8), tensor(2, 3, 7, 6)]


@pytest.mark.parametrize(
    ("name", "arguments", "masked"),
    [
        ("scaled_dot_product_attention", [tensor(5, 7), value("0."), value("False")], 1),
        (
            "_scaled_dot_product_flash_attention",
            [value("0."), value("False"), value("False"), NONE],
            0,
        ),
        (
            "_scaled_dot_product_flash_attention_for_cpu",
            [value("0."), value("False"), tensor(5, 7)],
            1,
        ),
        ("_scaled_dot_product_efficient_attention", [tensor(5, 7), value("True"), value("0.")], 1),
        (
            "_scaled_dot_product_cudnn_attention",
            [NONE, value("True"), value("0."), value("True")],
            0,
        ),
        (
            "_cudnn_attention_forward",
            [tensor(5, 7), NONE, NONE, value("5"), value("7"), value("False"), value("0.")],
            1,
        ),
    ],
)
def test_attention_has_outputs_and_work(name: str, arguments: list[Any], masked: int) -> None:
    found = call(f"aten::{name}", *QUERIES, *arguments)
    assert (found.category, found.out_shapes) == ("attention", ((2, 3, 5, 6),))
    memory = 4 * (240 + 336 + 252 + 180 + 35 * masked)
    assert numbers(found) == (2940, 2 * 2940 + 210 * (6 + masked), memory)


def test_packed_sequences_have_unknown_lengths() -> None:
    queries = [tensor(10, 3, 8)] * 3
    found = call(
        "aten::_flash_attention_forward", *queries, tensor(3), tensor(3), value("5"), value("5")
    )
    assert all(map(isnan, numbers(found)))


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("max_pool2d_with_indices", [DATA, value("[3, 3]"), TWOS, ZEROS, ONES, value("False")], (0, 2 * 4 * 4 * 3 * 9, 4 * 504 + 12 * 96)),
        ("relu_", [DATA], (0, 504, 4032)),
        ("add_", [DATA, tensor(7), value("1")], (0, 504, 4060)),
        ("mul_", [DATA, ([], "double")], (0, 504, 4040)),
        ("copy_", [([2, 3], "c10::Half"), tensor(2, 3), value("False")], (0, 0, 36)),
        ("_to_copy", [tensor(2, 3), value("5"), NONE, NONE, NONE, value("False"), NONE], (0, 0, 36)),
        ("fill_", [DATA, value("0")], (0, 0, 2016)),
        ("batch_norm", [DATA, *[tensor(4)] * 4, value("True"), value("0.1"), value("0.1"), value("True")], (0, 3528, 4096)),
        ("batch_norm", [DATA, *[tensor(4)] * 4, value("False"), value("0.1"), value("0.1"), value("True")], (0, 1008, 4096)),
        ("batch_norm", [DATA, *[tensor(4)] * 4, *[([], "Scalar")] * 4], (0, nan, nan)),
        ("dropout", [DATA, value("0.5"), value("False")], (0, 0, 0)),
        ("dropout", [DATA, value("0.5"), value("True")], (0, 504, 4032)),
        ("embedding", [tensor(10, 6), ([2, 3], "long int"), value("-1")], (0, 0, 48 + 2 * 144)),
        ("embedding_bag", [tensor(10, 6), ([5], "long int"), ([2], "long int"), value("False")], (0, 30, 120 + 40 + 16 + 48)),
        ("index_put_", [tensor(10, 6), NONE, tensor(3, 6), value("False")], (0, 0, 144)),
        ("index_add_", [tensor(10, 6), value("0"), ([3], "long int"), tensor(3, 6), value("1")], (0, 18, 72 * 3 + 24)),
        ("nll_loss_backward", [tensor(), tensor(2, 10), ([2], "long int"), NONE, value("1"), value("-100"), tensor()], (0, 2, 184)),
        ("avg_pool2d_backward", [tensor(2, 4, 4, 3), DATA, value("[3, 2]"), TWOS, ZEROS], (0, 576, 4 * (96 + 504))),
        ("embedding_dense_backward", [tensor(2, 3, 6), ([2, 3], "long int"), value("10"), value("-1"), value("False")], (0, 36, 144 + 48 + 240)),
        ("grid_sampler_2d", [DATA, tensor(2, 5, 3, 2), value("1"), value("0"), value("False")], (0, 0, 4 * (504 + 60 + 120))),
        ("grid_sampler_2d", [DATA, tensor(2, 5, 3, 2), value("2"), value("0"), value("False")], (0, 3840, 4 * (504 + 60 + 120))),
        ("cudnn_batch_norm_backward", [DATA, DATA, tensor(4), *[tensor(4)] * 4, value("0.1")], (0, nan, 4 * (504 * 3 + 20 + 8))),
        ("add", [tensor(2, 3), tensor(3, 2), value("1")], (0, nan, nan)),
        ("stack", [([[2, 3], [2, 3]], ["float", "float"]), value("3")], (0, 0, nan)),
        ("stack", [([[2, 3], [2, 3]], ["float", "float"]), value("-3")], (0, 0, 96)),
        ("cross_entropy_loss", [tensor(2, 10), ([2], "long int"), NONE, value("1"), value("-100"), value("0.")], (0, 102, 100)),
        ("sort", [DATA, value("-1"), value("False")], (0, nan, 504 * 16)),
        ("mean", [DATA, value("[-1, -2]"), value("True"), NONE], (0, 504, 2048)),
        ("native_layer_norm_backward", [tensor(4, 6), tensor(4, 6), value("[6]"), tensor(4, 1), tensor(4, 1), tensor(6), tensor(6), value("[True, True, True]")], (0, nan, 4 * (48 + 8 + 12 + 36))),
        ("upsample_nearest2d", [DATA, NONE, ([], "ScalarList", "[2., 2.]")], (0, 0, 4 * (504 + 2016))),
        ("cat", [([[2, 3], [2, 3]], "TensorList"), value("0")], (0, 0, nan)),
        ("_foreach_add_", [([[2, 3], [4]], "TensorList"), value("1")], (0, 10, nan)),
        ("_fused_adam_", [([[2, 3]], "TensorList")] * 4, (0, 84, nan)),
    ],
)  # fmt: skip
def test_operators_without_products_have_operations_and_bytes(
    name: str, arguments: list[Any], expected: tuple[float, ...]
) -> None:
    assert numbers(call(f"aten::{name}", *arguments)) == pytest.approx(expected, nan_ok=True)


HALF, BOOLEAN = "c10::Half", "bool"
STATE = ([[2, 3]], ["float"])
STEPS: tuple[Any, Any] = ([[]], ["float"])


@pytest.mark.parametrize(
    ("name", "before", "tensors", "after", "size"),
    [
        ("nll_loss_backward", [tensor(), tensor(2, 10), ([2], "long int")], [tensor(10)], [value("1"), value("-100"), tensor()], 40),
        ("instance_norm", [DATA, NONE, NONE], [tensor(4), tensor(4)], [value("True")], 32),
        ("_scaled_dot_product_attention_math", [*[tensor(2, 3, 5, 8)] * 3, NONE, value("0.1"), value("False")], [([2, 3, 5, 5], BOOLEAN)], [NONE], 150),
        ("_efficient_attention_forward", [*[tensor(2, 5, 3, 8)] * 3, *[NONE] * 5, value("0."), value("0"), value("True"), NONE], [([2], "int")], [NONE], 8),
        ("_scaled_dot_product_efficient_attention_backward", [*[tensor(2, 3, 5, 8)] * 4], [tensor(5, 5)], [tensor(2, 3, 5, 8), tensor(2, 3, 5)], 100),
        ("_cudnn_attention_backward", [*[tensor(2, 3, 5, 8)] * 5, tensor(2, 3, 5), tensor(2), tensor(2)], [tensor(5, 5)], [NONE, NONE, value("5"), value("5"), value("0."), value("False")], 100),
        ("_scaled_mm", [([4, 6], HALF), ([6, 5], HALF), tensor(4, 1), tensor(1, 5), NONE], [tensor()], [value("5"), value("True")], 4),
        ("embedding_bag", [tensor(10, 6), ([5], "long int"), ([2], "long int"), value("False"), value("0"), value("False")], [tensor(5)], [value("False")], 20),
        ("_thnn_fused_lstm_cell", [tensor(2, 20), tensor(2, 20), tensor(2, 5)], [tensor(20), tensor(20)], [], 160),
        ("_fused_adam_", [STATE] * 4, [STATE, STEPS], [value("0.1")], 2 * 24 + 4),
        ("bernoulli_", [DATA], [DATA], [NONE], 2016),
    ],
)  # fmt: skip
def test_optional_tensors_are_counted_in_bytes(
    name: str, before: list[Any], tensors: list[Any], after: list[Any], size: int
) -> None:
    without = call(f"aten::{name}", *before, *[NONE] * len(tensors), *after)
    found = call(f"aten::{name}", *before, *tensors, *after)
    assert found.work.memory == without.work.memory + size
    assert (found.category, *found.work[:2]) == (without.category, *without.work[:2])


def test_the_mask_of_a_softmax_is_counted_in_bytes() -> None:
    data, mask = ([8, 128, 128], HALF), ([8, 128, 128], BOOLEAN)
    found = call("aten::_masked_softmax", data, mask, value("-1"), value("2"))
    assert numbers(found) == (0, 5 * 131_072, 655_360)


def test_the_scales_of_a_product_are_counted_in_bytes() -> None:
    operands = [([4, 6], "c10::Float8_e4m3fn"), ([6, 5], "c10::Float8_e4m3fn")]
    scales = [tensor(4, 1), tensor(1, 5), NONE, NONE]
    found = call("aten::_scaled_mm", *operands, *scales, value("15"))
    assert found.work.memory == 24 + 30 + 16 + 20 + 40


def test_the_batch_sizes_of_packed_sequences_are_counted_in_bytes() -> None:
    weights = ([[15, 6], [15, 5]], ["float"] * 2)
    options = [value(one) for one in ("False", "1", "0.", "False", "False")]
    arguments = (tensor(14, 6), ([7], "long int"), tensor(1, 2, 5), weights, *options)
    found = call("aten::gru", *arguments)
    assert found.work.memory == 4 * (84 + 90 + 75 + 2 * 10 + 70) + 56


def test_the_state_of_a_dropout_in_a_recurrent_layer_is_counted_in_bytes() -> None:
    weights = ([[20, 6], [20, 5], [20], [20]], ["float"] * 4)
    states = [tensor(1, 2, 5), tensor(1, 2, 5)]
    values = [value(one) for one in ("2", "5", "0", "1", "False", "0.1", "True", "False", "[]")]
    arguments = (tensor(7, 2, 6), weights, value("4"), NONE, *states, *values)
    memory = 4 * (84 + 120 + 100 + 40 + 2 * 20 + 70)
    assert call("aten::_cudnn_rnn", *arguments, NONE).work.memory == memory
    assert call("aten::_cudnn_rnn", *arguments, ([9], "unsigned char")).work.memory == memory + 9


@pytest.mark.parametrize(("layers", "bidirectional"), [(1, False), (2, False), (1, True)])
def test_the_work_of_recurrent_layers_with_projections_is_unknown(
    layers: int, *, bidirectional: bool
) -> None:
    one = [[20, 6], [20, 3], [20], [20], [3, 5]]
    count = layers * (1 + bidirectional)
    weights = (one * count, "TensorList")
    states = ([[count, 2, 3], [count, 2, 5]], "TensorList")
    texts = ("True", str(layers), "0.", "False", str(bidirectional), "False")
    found = call("aten::lstm", tensor(7, 2, 6), states, weights, *map(value, texts))
    assert (found.category, found.out_shapes) == ("matmul", None)
    assert numbers(found) == pytest.approx(UNKNOWN, nan_ok=True)


def test_lists_with_dtypes_have_bytes() -> None:
    found = call("aten::_foreach_mul_", ([[2, 3], [4]], ["float", "c10::Half"]), value("2"))
    assert (found.out_shapes, numbers(found)) == (((2, 3), (4,)), (0, 10, 2 * (24 + 8)))


def test_the_last_list_of_an_operator_on_two_lists_is_not_taken_for_its_only_list() -> None:
    """In a scripted model, the profiler also records the values before the arguments."""
    pair = ([[2, 3]], ["float"])
    assert numbers(call("aten::_foreach_add", pair, pair)) == (0, 6, 3 * 24)
    found = call("aten::_foreach_add", tensor(2, 3), pair, pair)
    assert numbers(found) == pytest.approx((0, nan, nan), nan_ok=True)


NOTHING, UNKNOWN = (0, 0, 0), (nan, nan, nan)


@pytest.mark.parametrize(
    ("name", "category", "expected"),
    [
        *(
            (f"aten::{name}", "data movement", NOTHING)
            for name in ("view", "t", "to", "as_strided_", "contiguous")
        ),
        *(
            (f"aten::{name}", "control", NOTHING)
            for name in ("empty", "item", "resize_", "result_type")
        ),
        ("detach", "data movement", NOTHING),
        ("aten::cudnn_convolution", "convolution", UNKNOWN),
        ("aten::relu", "elementwise", (0, nan, nan)),
        ("aten::cat", "data movement", (0, 0, nan)),
        ("aten::upsample_bilinear2d_backward", "data movement", UNKNOWN),
        ("aten::my_batch_norm", "normalization", UNKNOWN),
        ("aten::unknown", "other", UNKNOWN),
        ("ConvolutionBackward0", "convolution", NOTHING),
        ("MaxPool2DWithIndicesBackward0", "pooling", NOTHING),
        ("NativeLayerNormBackward0", "normalization", NOTHING),
        ("TBackward0", "data movement", NOTHING),
        ("MySpecialBackward", "other", UNKNOWN),
        ("MySpecialBackward0", "other", NOTHING),
        ("autograd::engine::evaluate_function: AddmmBackward0", "matmul", NOTHING),
        (
            "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad",
            "elementwise",
            NOTHING,
        ),
        ("torch::autograd::AccumulateGrad", "elementwise", NOTHING),
        (
            "autograd::engine::evaluate_function: torch::autograd::CppNode<MyFunction>",
            "other",
            NOTHING,
        ),
        ("torch::autograd::CppNode<MyFunction>", "other", UNKNOWN),
        ("c10d::allreduce_", "communication", UNKNOWN),
        ("c10d::scatter_", "communication", UNKNOWN),
        ("record_param_comms", "communication", UNKNOWN),
        ("_c10d_functional::wait_tensor", "communication", UNKNOWN),
        ("All2All_Pooled_Wait", "communication", UNKNOWN),
        ("fbgemm::split_embedding_codegen_lookup_sgd_function", "embedding", UNKNOWN),
        ("fbgemm::permute_2D_sparse_data", "data movement", UNKNOWN),
        ("quantized::conv2d", "convolution", UNKNOWN),
        ("quantized::add", "elementwise", (0, nan, nan)),
        ("torchvision::roi_align", "pooling", (0, nan, nan)),
        ("Torch-Compiled Region: 0/0", "other", UNKNOWN),
        ("TorchDynamo Cache Lookup", "control", NOTHING),
        ("triton_per_fused_sum_0", "reduction", (nan, nan, 0)),
    ],
)
def test_without_shapes_the_name_decides_category_and_work(
    name: str, category: str, expected: tuple[float, ...]
) -> None:
    found = described(HostFacts(OPERATOR_EVENT, name))
    assert found._replace(work=Work()) == Described(category)  # the work is compared below
    assert numbers(found) == pytest.approx(expected, nan_ok=True)


STRIDES = {
    "gather": ("aten::gather", [[9, 6], [], [4, 6]], ["float", "Scalar", "long int"],
        [[6, 1], [], [1, 0]], 4 * 6 * 4 + 4 * 8 + 4 * 6 * 4),
    "scatter_add_": ("aten::scatter_add_", [[9, 6], [], [4, 6], [5, 6]],
        ["float", "Scalar", "long int", "float"], [[6, 1], [], [1, 0], [0, 1]],
        6 * 4 + 4 * 8 + 4 * 6 * 4 + 4 * 6 * 4),
    "mul": ("aten::mul", [[4, 6], [4, 6]], ["float", "float"], [[6, 1], [0, 0]], 100 + 96),
    "clone": ("aten::clone", [[4, 6]], ["float"], [[0, 1]], 6 * 4 + 4 * 6 * 4),
    "without elements": ("aten::clone", [[0, 6]], ["float"], [[0, 1]], 0),
    "transposed": ("aten::clone", [[4, 6]], ["float"], [[1, 4]], 96 + 96),
    "strides do not fit": ("aten::clone", [[4, 6]], ["float"], [[0]], 96 + 96),
    "list": ("aten::_foreach_mul", [[[4, 6], [3]], []], [["float", "float"], "Scalar"],
        [[[0, 1], [0]], []], (6 + 1 + 24 + 3) * 4),
    "convolution_backward": ("aten::convolution_backward",
        [[2, 8, 5], [2, 4, 5], [8, 4, 1], [], [], [], [], [], [], [], []],
        [*["float"] * 3, *["ScalarList"] * 4, "Scalar", "ScalarList", "Scalar", "ScalarList"],
        [[0, 0, 0], [20, 5, 1], [4, 1, 1]], (1 + 40 + 32 + 40 + 32 + 8) * 4),
    "max_pool2d_with_indices_backward": ("aten::max_pool2d_with_indices_backward",
        [[1, 2, 2], [1, 4, 4]], ["float", "float"], [[0, 0, 0], [0, 4, 1]], 4 + 64),
    "_cudnn_attention_backward": ("aten::_scaled_dot_product_flash_attention_backward",
        [[1, 2, 4, 8]] * 5 + [[1, 2, 4]], ["float"] * 6, [[0] * 4] * 4, (1 * 4 + 64 + 8 + 192) * 4),
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "shapes", "types", "strides", "memory"), STRIDES.values(), ids=STRIDES
)
def test_elements_that_strides_repeat_are_read_once(
    name: str, shapes: Any, types: Any, strides: Any, memory: float
) -> None:
    values = [""] * len(shapes)
    if name == "aten::convolution_backward":
        values[3:] = ["[8]", "[1]", "[0]", "[1]", "False", "[0]", "1", "[True, True, True]"]
    found = described(facts(name, shapes, types, strides, values))
    assert found.work.memory == memory


def test_a_repeated_element_computes_as_often_as_it_is_used() -> None:
    shapes, types = [[2, 3, 4], [2, 4, 5]], ["float", "float"]
    for strides in ([], [[0, 4, 1], [20, 5, 1]]):
        found = described(facts("aten::bmm", shapes, types, strides, ["", ""]))
        memory = 4 * ((12 if strides else 24) + 40 + 30)
        assert numbers(found) == (120, 240, memory)


def test_a_generated_kernel_moves_its_arguments() -> None:
    found = call("triton_poi_fused_add_cos_sin_0", *[tensor(10, 10)] * 3, value("100"))
    assert (found.category, found.parameters) == ("elementwise", None)
    assert numbers(found) == pytest.approx((nan, nan, 1200), nan_ok=True)


@pytest.mark.parametrize(
    ("name", "sizes", "memory"),
    [
        ("triton_per_fused_embedding_native_layer_norm_0", (4, 10), nan),
        ("triton_red_fused_embedding_sum_0", (40,), nan),
        ("triton_per_fused_native_layer_norm_0", (10, 10), 560),
        ("triton_poi_fused_add_0", (10, 10, False), 560),
        ("triton_tem_fused_mm_0", (4, 10), 560),
        ("triton_per_fused_native_layer_norm_0", (), 560),
    ],
)
def test_a_generated_kernel_may_read_a_part_of_a_tensor(
    name: str, sizes: tuple[object, ...], memory: float
) -> None:
    found = call(name, tensor(10, 10), tensor(4, 10), *(value(str(size)) for size in sizes))
    assert found.work.memory == pytest.approx(memory, nan_ok=True)


@pytest.mark.parametrize(
    ("kind", "name", "category", "expected"),
    [
        (REGION_EVENT, "my_region", "other", NOTHING),
        (REGION_EVENT, "Optimizer.step#SGD.step", "elementwise", NOTHING),
        (REGION_EVENT, "nccl:all_reduce", "communication", UNKNOWN),
        (REGION_EVENT, "gloo:all_reduce", "communication", UNKNOWN),
        (REGION_EVENT, "rccl:all_reduce", "communication", UNKNOWN),
        (REGION_EVENT, "## all2all wait() ##", "other", NOTHING),
        (MODULE_EVENT, "Conv2d_0", "other", NOTHING),
    ],
)
def test_regions_do_no_work_unless_they_are_collectives(
    kind: str, name: str, category: str, expected: tuple[float, ...]
) -> None:
    found = described(HostFacts(kind, name))
    assert found.category == category
    assert numbers(found) == pytest.approx(expected, nan_ok=True)


ODD_SIZES: st.SearchStrategy[Any] = st.sampled_from(
    [0, 1, 2, -1, 10**9, 10**18, 2**63, 10**30, 1.5, "2", None, []]
)
ODD_VALUES = st.sampled_from(
    [
        "",
        "0",
        "[0, 0]",
        "[-5, 10]",
        "[999999999999999999]",
        "[9223372036854775807, -9223372036854775808]",
        "9223372036854775807",
        "nan",
        "inf",
        "[1e300, inf]",
        "1e300",
        "None",
        "True",
        "same",
    ]
)


@given(st.data())
def test_damaged_arguments_raise_no_error(data: st.DataObject) -> None:
    row = data.draw(st.sampled_from(RECORDED))
    name = data.draw(
        st.sampled_from([row["name"], "aten::conv2d", "aten::embedding_bag", "aten::addbmm"])
    )
    shapes, types, strides, values = json.loads(json.dumps(row["arguments"]))
    for _ in range(data.draw(st.integers(1, 4))):
        index = data.draw(st.integers(0, len(shapes) - 1))
        column = data.draw(st.sampled_from([shapes, types, values]))
        if column is values:
            values[index] = data.draw(ODD_VALUES)
        elif column is types:
            types[index] = data.draw(
                st.sampled_from(["", "float", "Scalar", "TensorList", None, ["int"]])
            )
        else:
            shapes[index] = data.draw(st.lists(ODD_SIZES, max_size=5) | ODD_SIZES)
    found = described(facts(name, shapes, types, strides, values))
    assert found.category in CATEGORIES
    assert all(isnan(one) or 0 <= one < inf for one in found.work)


SHAPES: st.SearchStrategy[Any] = st.lists(st.sampled_from([0, 1, 2, 3, 4, 2**40]), max_size=5)
ARGUMENTS = st.one_of(
    st.tuples(SHAPES, st.sampled_from(["float", "long int", "bool", "c10::Half", "my::Type"])),
    st.tuples(st.lists(SHAPES, max_size=5), st.just("TensorList")),
    st.tuples(st.just([]), st.just("Scalar"), ODD_VALUES | st.sampled_from(["1", "[2, 2]", "-1"])),
    st.just(([], "")),
)


@given(st.sampled_from(sorted({row["name"] for row in RECORDED})), st.lists(ARGUMENTS, min_size=1))
def test_any_arguments_raise_no_error(name: str, arguments: list[Any]) -> None:
    found = call(name, *arguments)
    assert found.category in CATEGORIES
    assert all(isnan(one) or 0 <= one < inf for one in found.work)

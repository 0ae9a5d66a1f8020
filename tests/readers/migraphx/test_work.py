"""The computation and memory of instructions, from their names and shapes."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profile_analyze.model.terms import CATEGORIES
from profile_analyze.readers.migraphx.names import contents_of
from profile_analyze.readers.migraphx.shapes import Shape
from profile_analyze.readers.migraphx.tensors import Value
from profile_analyze.readers.migraphx.work import InstructionWork, work_of_instruction
from profile_analyze.work.kinds import KINDS

if TYPE_CHECKING:
    from collections.abc import Sequence

Sizes = tuple[int, ...]


def work(
    type_: str, inputs: Sequence[Sizes], output: Sizes, *weights: int, **attributes: Any
) -> InstructionWork:
    """Return the work of a kernel. `weights` are the positions of constant inputs."""
    values = [
        Value(Shape("float_type", shape), position in weights)
        for position, shape in enumerate(inputs)
    ]
    return work_of_instruction(type_, values, [Shape("float_type", output)], attributes)


IMAGE, WEIGHT = (1, 16, 8, 8), (16, 16, 3, 3)
CODE = "gpu::code_object::"


@pytest.mark.parametrize(
    ("type_", "inputs", "output", "macs", "computation"),
    [
        (CODE + "mlir_convolution", [IMAGE, WEIGHT], IMAGE, 147_456, 294_912),
        (CODE + "mlir_convolution_add_relu", [IMAGE, WEIGHT, IMAGE], IMAGE, 147_456, 296_960),
        # the weight may be the first input
        (CODE + "mlir_quant_convolution", [WEIGHT, IMAGE], IMAGE, 147_456, 294_912),
        ("gpu::convolution", [IMAGE, (16, 1, 3, 3)], IMAGE, 9_216, 18_432),  # depthwise
        ("gpu::conv_bias_relu", [IMAGE, WEIGHT, (16,)], IMAGE, 147_456, 296_960),
        (
            CODE + "mlir_convolution_backwards",
            [(1, 16, 4, 4), (16, 8, 2, 2)],
            (1, 8, 8, 8),
            8_192,
            16_384,
        ),
        (CODE + "mlir_dot", [(4, 5), (5, 3)], (4, 3), 60, 120),
        (CODE + "mlir_dot_add", [(4, 3), (4, 5), (5, 3)], (4, 3), 60, 132),
        (CODE + "mlir_quant_dot", [(2, 4, 5), (5, 3)], (2, 4, 3), 120, 240),
        (CODE + "mlir_reshape_transpose_dot", [(5, 8), (3, 5)], (8, 3), 120, 240),
        ("gpu::gemm", [(2, 4, 5), (2, 5, 3)], (2, 4, 3), 120, 240),
        ("gpu::hipblaslt_op::gemm", [(4, 5), (5, 3)], (4, 3), 60, 120),
        (
            CODE + "mlir_dot_mul_softmax_dot",
            [(2, 6, 8), (2, 8, 7), (2, 7, 5)],
            (2, 6, 5),
            1_092,
            2_688,
        ),
        (CODE + "add_mul_erf_add_mul_mul_kernel", [(4, 3)] * 2, (4, 3), 0, 72),
        ("gpu::add_relu", [(4, 3)] * 2, (4, 3), 0, 24),
        ("gpu::triadd_layernorm", [(4, 3)] * 3, (4, 3), 0, 84),
        (CODE + "layernorm_mul_add_kernel", [(4, 3)] * 3, (4, 3), 0, 84),
        (CODE + "softmax_kernel", [(4, 3)], (4, 3), 0, 60),
        (CODE + "reduce_sum_kernel", [(4, 3)], (4, 1), 0, 12),
        (CODE + "convert_kernel", [(4, 3)], (4, 3), 0, 0),
        (CODE + "concat_kernel", [(4, 3)] * 2, (8, 3), 0, 0),
        (CODE + "mul_concat_kernel", [(4, 3)] * 2, (8, 3), 0, 24),
        (CODE + "contiguous_kernel", [(4, 3)], (4, 3), 0, 0),
        ("ref::tanh", [(4, 3)], (4, 3), 0, 12),
    ],
)
def test_computation_follows_from_name_and_shapes(
    type_: str, inputs: list[Sizes], output: Sizes, macs: float, computation: float
) -> None:
    found = work(type_, inputs, output).work
    assert (found.macs, found.computation) == (macs, computation)


@pytest.mark.parametrize(
    ("type_", "inputs", "output", "category"),
    [
        (CODE + "mlir_convolution", [(1, 3, 8, 8)], IMAGE, "convolution"),
        (CODE + "mlir_convolution_reduce_mean", [IMAGE, WEIGHT], IMAGE, "convolution"),
        (CODE + "mlir_convolution_convolution", [IMAGE, WEIGHT], IMAGE, "convolution"),
        (CODE + "mlir_dot", [(4, 5)], (4, 3), "matmul"),
        # the factors could be the first two inputs, or the last two
        (CODE + "mlir_dot", [(4, 5), (5, 3), (4, 6), (6, 3)], (4, 3), "matmul"),
        (CODE + "attention", [(4, 5)], (4, 5), "attention"),
        (CODE + "add_reduce_mean_kernel", [(4, 5)], (4, 1), "reduction"),
        (CODE + "new_thing_add_kernel", [(4, 5)], (4, 5), "elementwise"),
        (CODE + "main_kernel", [(4, 5)], (4, 5), "other"),
        ("gpu::topk", [(4, 5)], (4, 2), "other"),
        ("gpu::lrn", [IMAGE], IMAGE, "normalization"),
        ("gpu::pooling", [IMAGE], IMAGE, "pooling"),
    ],
)
def test_computation_is_unknown_if_the_shapes_do_not_show_it(
    type_: str, inputs: list[Sizes], output: Sizes, category: str
) -> None:
    found = work(type_, inputs, output)
    assert isnan(found.work.computation)
    assert found.category == category
    assert not isnan(found.work.memory)


def test_a_constant_is_the_weight_even_if_images_could_be_a_weight() -> None:
    """A batch of 16 images with 16 channels has a shape that a weight could have, too."""
    images, weight = (16, 16, 8, 8), (16, 16, 3, 3)
    inputs = [images, weight, images]
    name = CODE + "mlir_convolution_add"
    assert work(name, inputs, images, 1).work.macs == 16 * 16 * 64 * 16 * 9
    assert isnan(work(name, inputs, images).work.macs)


def test_poolings_have_their_window_among_the_attributes() -> None:
    found = work("gpu::pooling", [IMAGE], (1, 16, 4, 4), lengths="{3, 2}")
    assert found.work.computation == 16 * 16 * 6


@pytest.mark.parametrize(
    ("type_", "category", "memory"),
    [
        ("transpose", "data movement", 0),
        ("multibroadcast", "data movement", 0),
        ("@param", "control", 0),
        ("check_context::migraphx::version_1::gpu::context", "control", 0),
        ("hip::hip_copy_literal", "control", 0),
        ("hip::copy_to_gpu", "copy", 96),
        ("gpu::gather", "data movement", 96),
        # a kernel writes the transposed data, unlike the view `transpose`
        (CODE + "transpose_kernel", "data movement", 96),
        (CODE + "gelu_kernel", "elementwise", 96),
    ],
)
def test_each_name_has_its_category_and_memory(type_: str, category: str, memory: float) -> None:
    found = work(type_, [(4, 3)], (4, 3))
    assert (found.category, found.work.memory) == (category, memory)


def test_without_shapes_only_the_category_is_known() -> None:
    found = work_of_instruction(CODE + "mlir_dot", None, (), {})
    assert found.category == "matmul"
    assert isnan(found.work.computation)
    assert isnan(found.work.memory)


sizes = st.lists(st.integers(0, 4), max_size=4).map(tuple)
words = st.lists(
    st.sampled_from(
        [
            "convolution",
            "dot",
            "softmax",
            "reduce_sum",
            "add",
            "x",
            "pooling",
            "reshape",
            "attention",
        ]
    ),
    min_size=1,
    max_size=4,
)


@given(words, st.lists(sizes, max_size=5), sizes)
def test_any_shapes_give_a_valid_answer(
    parts: list[str], inputs: list[Sizes], output: Sizes
) -> None:
    found = work(f"{CODE}mlir_{'_'.join(parts)}", inputs, output)
    assert found.category in CATEGORIES
    assert not found.work.computation < 0
    assert not found.work.memory < 0


def test_names_of_fused_kernels_consist_of_known_kinds() -> None:
    for name in ("mlir_dot_add", "gpu::conv_bias_relu", "cpu::layernorm", "reduce_max"):
        contents = contents_of(name)
        assert contents.is_complete
        assert set(contents.kinds) <= set(KINDS)

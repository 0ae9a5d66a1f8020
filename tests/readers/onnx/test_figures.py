"""The figures of well-known networks: multiply-adds, parameters, convolutions."""

from __future__ import annotations

from collections import defaultdict
from math import prod
from typing import TYPE_CHECKING

import onnx
import pytest

from profile_analyze import Query, load, run
from profile_analyze.views.summary import summarise
from tests.conftest import some_of
from tests.readers.onnx.googlenet import googlenet
from tests.readers.onnx.models import write_model
from tests.readers.onnx.onnx_tool_models import LIGHT

if TYPE_CHECKING:
    from pathlib import Path

    from profile_analyze.model.profile import Profile

# Type, number of operators, MACs, MACs with bias, parameters. `counted` computes the same numbers.
FIGURES = {
    "bvlc_alexnet": (
        ("Conv", 5, 595_938_432, 596_538_880, 2_334_080),
        ("Gemm", 3, 58_621_952, 58_631_144, 58_631_144),
    ),
    "densenet121": (("Conv", 121, 2_834_161_664, 2_834_162_664, 7_895_208),),
    "inception_v1": (
        ("Conv", 57, 1_430_532_352, 1_433_545_984, 5_973_552),
        ("Gemm", 1, 1_024_000, 1_025_000, 1_025_000),
    ),
    "inception_v2": (
        ("Conv", 69, 2_017_827_840, 2_017_827_840, 10_150_080),
        ("Gemm", 1, 1_024_000, 1_025_000, 1_025_000),
    ),
    "resnet50": (
        ("Conv", 53, 4_087_136_256, 4_087_136_256, 23_454_912),
        ("Gemm", 1, 2_048_000, 2_049_000, 2_049_000),
    ),
    "shufflenet": (
        ("Conv", 49, 124_120_528, 124_421_584, 821_488),
        ("Gemm", 1, 544_000, 545_000, 545_000),
    ),
    "squeezenet": (("Conv", 26, 349_151_936, 351_741_288, 1_235_496),),
    "vgg19": (
        ("Conv", 16, 19_508_428_800, 19_523_280_896, 20_024_384),
        ("Gemm", 3, 123_633_664, 123_642_856, 123_642_856),
    ),
    "zfnet512": (
        ("Conv", 5, 1_401_011_232, 1_402_532_992, 6_528_640),
        ("Gemm", 3, 80_715_776, 80_721_896, 80_721_896),
    ),
}
# The parameters of the whole model.
PARAMS = {
    "bvlc_alexnet": 60_965_224,
    "densenet121": 8_146_152,
    "inception_v1": 6_998_552,
    "inception_v2": 11_234_792,
    "resnet50": 25_610_152,
    "shufflenet": 1_420_152,
    "squeezenet": 1_235_496,
    "vgg19": 143_667_240,
    "zfnet512": 87_250_536,
}


def products(profile: Profile) -> list[tuple[object, ...]]:
    """Return the figures of each type of operator that has multiply-adds."""
    table = run(Query(by="type", where="macs > 0"), profile)
    columns = ("type", "count", "macs", "macs_with_bias", "params")
    return [tuple(row[name] for name in columns) for row in table.rows]


def counted(model: onnx.ModelProto) -> dict[str, tuple[int, ...]]:
    """Count by the rules in docs/work.md, from shapes that ONNX infers, without this package."""
    graph = onnx.shape_inference.infer_shapes(model, strict_mode=True, data_prop=True).graph
    shapes = {
        value.name: [size.dim_value for size in value.type.tensor_type.shape.dim]
        for value in (*graph.value_info, *graph.input, *graph.output)
    } | {tensor.name: [*tensor.dims] for tensor in graph.initializer}
    found: dict[str, list[tuple[int, ...]]] = defaultdict(list)
    for node in graph.node:
        if node.op_type in ("Conv", "Gemm"):
            weight, *bias = (shapes[name] for name in node.input[1:])
            output = shapes[node.output[0]]
            # Each element of the output needs a multiply-add for each weight of its channel.
            macs = prod(output) * prod(weight) // output[1]
            with_bias = macs + prod(output) * len(bias)
            found[node.op_type].append((1, macs, with_bias, prod(weight) + sum(map(prod, bias))))
    return {type_: tuple(map(sum, zip(*rows, strict=True))) for type_, rows in found.items()}


@pytest.mark.slow
@pytest.mark.parametrize("name", some_of(FIGURES, 3))
def test_the_figures_follow_from_the_shapes(name: str) -> None:
    expected = {type_: figures for type_, *figures in FIGURES[name]}
    found = counted(onnx.load(LIGHT / f"light_{name}.onnx"))
    assert {type_: [*figures] for type_, figures in found.items()} == expected


@pytest.mark.slow
@pytest.mark.parametrize("name", some_of(FIGURES, 3))
def test_models_without_weights_have_the_figures(name: str) -> None:
    profile = load(LIGHT / f"light_{name}.onnx")
    assert products(profile) == [*FIGURES[name]]
    rows = run(Query(), profile).rows
    assert not [row["name"] for row in rows if None in (row["in_shapes"], row["out_shapes"])]
    assert not [
        row["name"] for row in rows if row["macs"] and row["computation"] != 2 * row["macs"]
    ]
    summary = summarise(profile).model
    assert summary is not None
    macs = sum(row[2] for row in FIGURES[name])
    params = PARAMS[name]
    assert (summary.macs, summary.facts.macs_executed, summary.unknown_macs) == (macs, macs, 0)
    assert (summary.params, summary.param_bytes) == (params, 4 * params)
    assert run(Query(aggregates="sum"), profile)["params"].tolist() == [params]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (
            "shufflenet",
            [
                ("grouped", 32, 107_884_672, 107_884_672),
                ("full", 1, 8_128_512, 8_080_200),
                ("depthwise", 16, 8_107_344, 7_487_928),
            ],
        ),
        (
            "bvlc_alexnet",
            [
                ("grouped", 3, 366_919_680, 330_989_568),
                ("full", 2, 229_018_752, 215_256_192),
            ],
        ),
    ],
)
def test_convolutions_are_grouped_by_kind(
    name: str, expected: list[tuple[str, int, float, float]]
) -> None:
    query = Query(by="conv_kind", types="Conv")
    rows = run(query, load(LIGHT / f"light_{name}.onnx")).rows
    columns = ("conv_kind", "count", "macs", "macs_without_padding")
    assert [tuple(row[name] for name in columns) for row in rows] == expected


def test_a_bias_adds_one_multiply_add_for_each_output(tmp_path: Path) -> None:
    bvlc = load(write_model(tmp_path, googlenet(is_torchvision=False), "bvlc.onnx"))
    assert products(bvlc) == [
        ("Conv", 57, 1_581_647_872, 1_581_647_872 + 3_226_160, 5_973_552),
        ("Gemm", 1, 1_024_000, 1_025_000, 1_025_000),
    ]
    torchvision = load(write_model(tmp_path, googlenet(is_torchvision=True), "torchvision.onnx"))
    assert products(torchvision) == [
        ("Conv", 57, 1_497_352_192, 1_497_352_192, 5_585_344),
        ("Gemm", 1, 1_024_000, 1_025_000, 1_025_000),
    ]

"""Models that exporters and quantizers wrote: products, bodies, dynamic sizes, external data."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import pytest
from onnx import TensorProto

import profile_analyze as pa
from profile_analyze.views.summary import summarise
from tests.conftest import run_command
from tests.readers.onnx.models import model, write_model
from tests.readers.onnx.test_shapes import MODELS

if TYPE_CHECKING:
    from pathlib import Path

    from profile_analyze.model.profile import Profile
    from profile_analyze.views.model_summary import ModelSummary


def asked(name: str, *shapes: str) -> tuple[Profile, ModelSummary]:
    profile = pa.load(MODELS / f"{name}.onnx", inputs=pa.ModelInputs.of(shapes))
    summary = summarise(profile).model
    assert summary is not None
    return profile, summary


@pytest.mark.parametrize(
    "name",
    [
        "attention_fused",
        "attention_unfused_script",
        "attention_unfused_dynamo",
        "attention_expanded_script",
    ],
)
def test_fused_and_unfused_attention_have_the_same_products(name: str) -> None:
    profile, summary = asked(name, "x:2x6x16")
    # The projection makes queries, keys and values from 2 x 6 tokens of 16 values. Two products in
    # each of 4 heads follow.
    assert summary.macs == 2 * 6 * 16 * (3 * 16) + 2 * 4 * 6 * 6 * (4 + 4)
    rows = pa.run(pa.Query(where="macs > 0"), profile).rows
    assert {row["category"] for row in rows} <= {"matmul", "attention"}


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("attention_unfused_script", 816),
        ("attention_expanded_script", 816),
        ("lstm_script", 11_848),
        ("lstm_dynamo", 11_848),
        ("shape_arithmetic", 0),
    ],
)
def test_numbers_shapes_and_states_are_no_parameters(name: str, params: int) -> None:
    _, summary = asked(name)
    assert summary.params == params


def test_shares_of_an_incomplete_total_are_unknown() -> None:
    file = str(MODELS / "decoder_dynamo.onnx")
    columns = ("--columns", "macs,macs_share,params,param_share", "-t", "2", "--format", "csv")
    open_sizes = run_command(file, "--dim", "s23=8", *columns)
    assert open_sizes.out.splitlines() == [
        "macs,macs_share,params,param_share",
        "5120,,640,0.24242424242424243",
        ",,768,0.2909090909090909",
    ]
    outcome = run_command(file, "--dim", "s23=8", "--dim", "s27=4", "--dim", "s20=3", *columns)
    assert outcome.out.splitlines() == [
        "macs,macs_share,params,param_share",
        "24576,0.6666666666666666,768,0.2909090909090909",
        "5120,0.1388888888888889,640,0.24242424242424243",
    ]


@pytest.mark.parametrize("name", ["quantized_dynamic", "quantized_qdq", "quantized_qoperator"])
def test_quantized_models_have_the_same_products_and_weights(name: str) -> None:
    profile, summary = asked(name)
    products = pa.run(pa.Query(where="macs > 0"), profile)
    assert products["macs"].tolist() == [27_648, 16_384, 9_216, 80]
    assert (summary.macs, summary.params, summary.unknown_macs) == (53_328, 486, 0)


@pytest.mark.parametrize(
    ("name", "shape", "bodies", "macs", "executed"),
    [
        ("loops", "x:2x4", [("body", 0.0, 3), ("body", 0.0, 3)], 128.0, 128.0),
        (
            "branches",
            "x:3x8",
            [
                *(("then_branch", 0.0, 0), ("else_branch", 0.0, 1)),
                *(("then_branch", 0.0, None), ("else_branch", 0.0, None)),
            ],
            0.0,
            0.0,
        ),
        ("scans", "x:7x5", [("body", 0.0, 7), ("body", 0.0, 5)], 0.0, 0.0),
    ],
)
def test_bodies_of_control_flow_have_work_and_trip_counts(
    name: str, shape: str, bodies: list[tuple[object, ...]], macs: float, executed: float
) -> None:
    _, summary = asked(name, shape)
    found = [(one.attribute, one.macs, one.trip_count) for one in summary.facts.bodies]
    assert found == bodies
    assert (summary.macs, summary.facts.macs_executed) == (macs, executed)


def test_a_body_counts_as_often_as_it_is_executed(tmp_path: Path) -> None:
    text = """g (float[2, 4] x) => (float[2, 4] y) {
        n = Constant <value_int = 5> ()
        y = Loop (n, , x) <body = b (int64 i, bool c, float[2, 4] s) => (bool d, float[2, 4] t) {
            d = Identity (c)
            t = MatMul (s, w)
        }>
    }"""
    proto = model(text)
    proto.graph.initializer.append(TensorProto(name="w", data_type=1, dims=[4, 4]))
    summary = summarise(pa.load(write_model(tmp_path, proto))).model
    assert summary is not None
    assert [(one.macs, one.trip_count) for one in summary.facts.bodies] == [(32.0, 5)]
    assert (summary.macs, summary.facts.macs_executed) == (0.0, 160.0)


ENCODER = str(MODELS / "encoder_dynamo.onnx")


def test_a_dynamic_transformer_without_sizes_has_unknown_work() -> None:
    outcome = run_command(
        ENCODER, "-t", "0", "--format", "csv", "--columns", "type,macs,out_shapes"
    )
    products = [line for line in outcome.out.splitlines() if line.startswith(("MatMul", "Gemm"))]
    assert products
    assert {line.split(",", 1)[1] for line in products} == {","}
    assert outcome.err.splitlines()[0] == (
        "note: shapes that depend on 1 dynamic input are N/A: x (axis 0: s77, 1: s27); give all "
        "sizes, with numbers for SIZE: --dim s77=SIZE --dim s27=SIZE"
    )


@pytest.mark.parametrize(
    "sizes", [("--input-shape", "x:2x6x16"), ("--dim", "s77=2", "--dim", "s27=6")]
)
def test_a_dynamic_transformer_with_sizes_has_known_work(sizes: tuple[str, ...]) -> None:
    outcome = run_command(ENCODER, "--print-only", "summary", *sizes)
    assert "N/A" not in outcome.out
    # Each of the two layers has 12 tokens, four projections to 16 values, two linear layers between
    # 16 and 32 values, and the two products of its attention.
    macs = 2 * (12 * 16 * (4 * 16 + 2 * 32) + 2 * 2 * 2 * 6 * 6 * 8)
    assert f"MACs                  {macs / 1000:.2f} K\n" in outcome.out


def test_macs_and_params_do_not_need_the_file_of_external_data(tmp_path: Path) -> None:
    """The file of weights has a size of 16 GiB. It is sparse, so it takes no space on the disk."""
    proto = model("g (float[1, 65536] x) => (float[A, B] y) { y = MatMul (x, w) }")
    sides = [1 << 16, 1 << 16]
    tensor = proto.graph.initializer.add(name="w", data_type=1, dims=sides, data_location=1)
    tensor.external_data.add(key="location", value="w.bin")
    file = write_model(tmp_path, proto)
    weights = tmp_path / "w.bin"
    with weights.open("wb") as new:
        new.truncate(4 << 32)
    opened: list[str] = []
    is_watching = [True]

    def watch(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open" and is_watching[0]:
            opened.append(
                os.fspath(arguments[0]) if isinstance(arguments[0], (str, os.PathLike)) else ""
            )

    sys.addaudithook(watch)  # Python cannot remove an audit hook
    outcome = run_command(file, "--columns", "macs,params", "--format", "csv")
    is_watching[0] = False
    assert (outcome.out, outcome.err) == ("macs,params\r\n4294967296,4294967296\r\n", "")
    assert file in opened
    assert str(weights) not in opened

"""Whole models, split into tiles."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

from profile_analyze.errors import QueryError
from profile_analyze.model.findings import Finding, Kind
from tests.conftest import FIXTURES, run_command, some_of
from tests.readers.onnx.models import model
from tests.writers.split import costs_of, counts_of, model_of, run, split, split_and_compare

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    Arrays = dict[str, NDArray[Any]]


def layers(proto: Any) -> list[tuple[str, str]]:
    return [(node.op_type, node.name) for node in proto.graph.node]


def random(rng: np.random.Generator, *shape: int) -> NDArray[np.float32]:
    """Return random weights, scaled so that sums over the last size stay around 1."""
    return np.asarray(rng.standard_normal(shape) / np.sqrt(shape[-1]), np.float32)


def alexnet(part: int) -> tuple[Any, Arrays]:
    """Return AlexNet's linear layers, with random weights and all sizes divided by `part`."""
    rng = np.random.default_rng(0)
    first, hidden, last = 9216 // part, 4096 // part, 1000 // part
    arrays: Arrays = {"x": rng.standard_normal((1, first)).astype(np.float32)}
    nodes = []
    value = "x"
    for name, inputs, outputs in (
        ("fc6", first, hidden),
        ("fc7", hidden, hidden),
        ("fc8", hidden, last),
    ):
        arrays[f"{name}.weight"] = random(rng, outputs, inputs)
        arrays[f"{name}.bias"] = random(rng, outputs)
        result = "y" if name == "fc8" else f"{name}.out"
        parts = [value, f"{name}.weight", f"{name}.bias"]
        nodes.append(helper.make_node("Gemm", parts, [result], name=name, transB=1))
        if name != "fc8":
            nodes.append(helper.make_node("Relu", [result], [f"{name}.relu"], name=f"{name}.relu"))
            value = f"{name}.relu"
    return model_of(nodes, arrays, [name for name in arrays if name != "x"]), arrays


@pytest.mark.slow
@pytest.mark.parametrize("part", some_of([8, 1], 2))
def test_the_linear_layers_of_alexnet_are_split(part: int) -> None:
    proto, arrays = alexnet(part)
    tile = 64, 1024 // part, 1024 // part
    text = ",".join(map(str, tile))
    written = split_and_compare(proto, arrays, text)
    assert counts_of(written, tile) == costs_of(proto, text)
    tiles = [name for type_, name in layers(written) if type_ == "Gemm"]
    assert len(tiles) == 4 * 9 + 4 * 4 + 1 * 4
    assert tiles[:2] == ["fc6/product_0_0_0", "fc6/product_0_0_1"]


def transformer() -> tuple[Any, Arrays]:
    """Return a block of a transformer: 2 sequences of 7 tokens, 3 heads of size 4."""
    rng = np.random.default_rng(1)
    text = """block (float[2, 7, 12] x) => (float[2, 7, 12] y) {
        q = MatMul (x, wq)
        k = MatMul (x, wk)
        v = MatMul (x, wv)
        shape = Constant <value_ints = [2, 7, 3, 4]> ()
        q4 = Reshape (q, shape)
        k4 = Reshape (k, shape)
        v4 = Reshape (v, shape)
        qh = Transpose <perm = [0, 2, 1, 3]> (q4)
        kt = Transpose <perm = [0, 2, 3, 1]> (k4)
        vh = Transpose <perm = [0, 2, 1, 3]> (v4)
        scores = MatMul (qh, kt)
        weights = Softmax <axis = -1> (scores)
        heads = MatMul (weights, vh)
        tokens = Transpose <perm = [0, 2, 1, 3]> (heads)
        whole = Constant <value_ints = [2, 7, 12]> ()
        joined = Reshape (tokens, whole)
        projected = MatMul (joined, wo)
        residual = Add (x, projected)
        wide = MatMul (residual, w1)
        biased = Add (wide, b1)
        active = Relu (biased)
        narrow = MatMul (active, w2)
        y = Add (residual, narrow)
    }"""
    proto = model(text)
    arrays: Arrays = {"x": random(rng, 2, 7, 12)}
    for name in ("wq", "wk", "wv", "wo"):
        arrays[name] = random(rng, 12, 12)
    arrays |= {"w1": random(rng, 12, 48), "b1": random(rng, 48), "w2": random(rng, 48, 12)}
    stored = [numpy_helper.from_array(arrays[name], name) for name in arrays if name != "x"]
    proto.graph.initializer.extend(stored)
    return proto, arrays


@pytest.mark.parametrize("tile", [(4, 4, 4), (5, 3, 7), (14, 12, 12), (1, 64, 64)])
def test_a_transformer_block_is_split(tile: tuple[int, int, int]) -> None:
    proto, arrays = transformer()
    text = ",".join(map(str, tile))
    written = split_and_compare(proto, arrays, text)
    assert counts_of(written, tile) == costs_of(proto, text)


@pytest.mark.parametrize("tile", ["4,4,4", "64,64,64"])
def test_results_in_onnx_runtime_stay_the_same(tile: str) -> None:
    runtime = pytest.importorskip("onnxruntime")
    proto, arrays = transformer()
    split_proto = onnx.load_from_string(split(proto, tile).data)
    results = [
        runtime.InferenceSession(one.SerializeToString()).run(None, {"x": arrays["x"]})[0]
        for one in (proto, split_proto)
    ]
    np.testing.assert_allclose(results[1], results[0], rtol=1e-4, atol=1e-4)


def test_the_model_in_the_documents_is_what_the_command_writes(tmp_path: Path) -> None:
    folder = FIXTURES / "classifiers"
    file = tmp_path / "split.onnx"
    call = (str(folder / "digits.onnx"), "--split-matmul", "64,128,256", "--write-model", str(file))
    assert run_command(*call).code == 0
    assert file.read_bytes() == (folder / "digits-split.onnx").read_bytes()


SMALL = """g (float[2, 3] x) => (float[2, 4] y) <
    float[3, 4] w = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}
> {
    [layer] y = MatMul (x, w)
}"""


def test_the_nodes_of_a_small_split_product() -> None:
    written = onnx.load_from_string(split(model(SMALL), "2,3,2").data)
    assert [(node.op_type, [*node.input], [*node.output]) for node in written.graph.node] == [
        ("Constant", [], ["layer/a_0_sizes"]),
        ("Split", ["x", "layer/a_0_sizes"], ["layer/a_0_0", "layer/a_0_1"]),
        ("Constant", [], ["layer/b_sizes"]),
        ("Split", ["w", "layer/b_sizes"], ["layer/b_0", "layer/b_1"]),
        ("Constant", [], ["layer/b_0_sizes"]),
        ("Split", ["layer/b_0", "layer/b_0_sizes"], ["layer/b_0_0", "layer/b_0_1"]),
        ("Constant", [], ["layer/b_1_sizes"]),
        ("Split", ["layer/b_1", "layer/b_1_sizes"], ["layer/b_1_0", "layer/b_1_1"]),
        ("MatMul", ["layer/a_0_0", "layer/b_0_0"], ["layer/product_0_0_0"]),
        ("MatMul", ["layer/a_0_1", "layer/b_1_0"], ["layer/product_0_0_1"]),
        ("Add", ["layer/product_0_0_0", "layer/product_0_0_1"], ["layer/sum_0_0_1"]),
        ("MatMul", ["layer/a_0_0", "layer/b_0_1"], ["layer/product_0_1_0"]),
        ("MatMul", ["layer/a_0_1", "layer/b_1_1"], ["layer/product_0_1_1"]),
        ("Add", ["layer/product_0_1_0", "layer/product_0_1_1"], ["layer/sum_0_1_1"]),
        ("Concat", ["layer/sum_0_0_1", "layer/sum_0_1_1"], ["y"]),
    ]


def test_a_product_that_fits_stays_unchanged() -> None:
    proto = model(SMALL)
    written = split(proto, "2,4,3")
    assert onnx.load_from_string(written.data) == proto
    assert written.notes == (
        Finding.of("split-products", Kind.ANSWER, split=0, smaller=0, tile="2x4x3", fitting=1),
    )


def test_names_that_exist_get_a_number() -> None:
    text = """g (float[2, 3] x, float[3, 4] w) => (float[2, 4] y, float[2, 3] taken) {
        taken = Relu (x)
        [layer] y = MatMul (x, w)
    }"""
    proto = model(text)
    proto.graph.node[0].name = "layer/product_0_0_0"
    proto.graph.node[0].output[0] = proto.graph.output[1].name = "layer/a_0_0"
    written = onnx.load_from_string(split(proto, "2,4,2").data)
    names = [name for node in written.graph.node for name in node.output]
    assert len({*names}) == len(names)
    assert "layer/a_0_0#2" in names
    assert "layer/product_0_0_0#2" in names


def test_bodies_are_split_too() -> None:
    text = """g (bool c, float[2, 3] x, float[3, 4] w) => (float[2, 4] y) {
        y = If (c) <
            then_branch = t () => (float[2, 4] a) { a = MatMul (x, w) },
            else_branch = e () => (float[2, 4] b) { n = Neg (x)
                b = MatMul (n, w) }
        >
    }"""
    proto = model(text)
    rng = np.random.default_rng(0)
    arrays = {"c": np.array(1, bool), "x": random(rng, 2, 3), "w": random(rng, 3, 4)}
    split_and_compare(proto, arrays, "1,3,2")
    written = split_and_compare(proto, arrays | {"c": np.array(0, bool)}, "1,3,2")
    branches = [attribute.g for attribute in written.graph.node[0].attribute]
    assert [sum(one.op_type == "MatMul" for one in body.node) for body in branches] == [8, 8]


def test_local_functions_are_inlined() -> None:
    head = '<ir_version: 8, opset_import: ["" : 18, "own" : 1]>\n'
    text = """g (float[2, 3] x, float[3, 4] w) => (float[2, 4] y) { y = own.Layer (x, w) }
    <domain: "own", opset_import: ["" : 18]>
    Layer (a, b) => (c) { c = MatMul (a, b) }"""
    proto = model(text, head)
    rng = np.random.default_rng(0)
    arrays = {"x": random(rng, 2, 3), "w": random(rng, 3, 4)}
    assert run(proto, arrays).shape == (2, 4)
    written = split_and_compare(proto, arrays, "2,2,3")
    assert [type_ for type_, _ in layers(written)].count("MatMul") == 2


def test_layers_that_are_not_split_are_named() -> None:
    text = """g (float[N, 3] x, float[3, 4] w, uint8[2, 8] a, uint8[8, 2] b, float s, uint8 z,
        float[1, 1, 4, 4] image, float[1, 1, 3, 3] k, uint8[2] rows, float[2] scales)
        => (float[N, 4] y, uint8[2, 2] q, int32[2, 2] i, float[1, 1, 2, 2] out) {
        [open] y = MatMul (x, w)
        [scaled_by_row] q = QLinearMatMul (a, scales, z, b, s, z, s, z)
        [by_row] i = MatMulInteger (a, b, rows)
        [conv] out = Conv (image, k)
    }"""
    proto = model(text)
    written = split(proto, "4,4,4,conv")
    assert onnx.load_from_string(written.data) == proto
    assert written.notes == (
        Finding.of("split-products", Kind.ANSWER, split=0, smaller=0, tile="4x4x4", fitting=0),
        Finding.of("unsplit-unknown-shapes", Kind.INCOMPLETE, names="open"),
        Finding.of("unsplit-unsupported", Kind.INCOMPLETE, names="scaled_by_row, by_row, conv"),
    )


@pytest.mark.parametrize(
    ("bias", "code"),
    [("float[K]", "unsplit-unknown-shapes"), ("float[1, 1, 8]", "unsplit-unsupported")],
)
def test_a_product_whose_bias_cannot_be_split_stays_unchanged(bias: str, code: str) -> None:
    text = f"""g (float[2, 3] x, float[3, 8] w, {bias} c) => (float[2, 8] y) {{
        [fc] y = Gemm (x, w, c)
    }}"""
    proto = model(text)
    written = split(proto, "4,4,4")
    assert onnx.load_from_string(written.data) == proto
    assert written.notes[1] == Finding.of(code, Kind.INCOMPLETE, names="fc")


def test_products_of_constants_and_of_wrong_sizes_are_not_split() -> None:
    """The first product is computed before a run. The second cannot run with the given size."""
    text = """g (float[2, 3] x, float[2, N] z) => (float[2, 4] y, float[2, 4] r) <
        float[3, 4] v = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12},
        float[3, 3] u = {1, 2, 3, 4, 5, 6, 7, 8, 9}
    > {
        [constant] w = MatMul (u, v)
        [wrong] r = MatMul (z, v)
        [layer] y = MatMul (x, w)
    }"""
    written = split(model(text), "1,4,3", dims={"N": 5})
    proto = onnx.load_from_string(written.data)
    names = [name for _, name in layers(proto)]
    assert (names[:2], names[-1]) == (["constant", "wrong"], "layer/result")
    assert written.notes == (
        Finding.of("split-products", Kind.CONTEXT, split=1, smaller=2, tile="1x4x3", fitting=0),
        Finding.of("unsplit-unknown-shapes", Kind.INCOMPLETE, names="wrong"),
    )


def test_leading_sizes_become_rows_only_if_rows_are_split() -> None:
    text = "g (float[2, 2, 3] x, float[3, 4] w) => (float[2, 2, 4] y) { y = MatMul (x, w) }"
    types = [
        {type_ for type_, _ in layers(onnx.load_from_string(split(model(text), tile).data))}
        for tile in ("4,2,2", "3,4,3")
    ]
    assert types == [
        {"Constant", "Split", "MatMul", "Add", "Concat"},
        {"Constant", "Reshape", "Split", "MatMul", "Concat"},
    ]


def test_the_written_model_has_the_given_sizes() -> None:
    text = """g (float[N, 3] x, float[1, 2] z, float[3, 4] w) => (float[N, 4] y, float[1, 2] r) {
        y = MatMul (x, w)
        r = Relu (z)
    }"""
    written = onnx.load_from_string(split(model(text), "4,4,4", dims={"N": 9}).data)
    onnx.checker.check_model(written, full_check=True)
    assert onnx.helper.printable_type(written.graph.input[0].type).split(",")[1:] == [" 9x3"]
    assert onnx.helper.printable_type(written.graph.output[0].type).split(",")[1:] == [" 9x4"]
    # If a given size replaces a fixed one, the shapes of outputs are inferred anew.
    other = onnx.load_from_string(split(model(text), "4,4,4", shapes={"z": (5, 2)}).data)
    onnx.checker.check_model(other, full_check=True)
    assert onnx.helper.printable_type(other.graph.output[1].type).split(",")[1:] == [" 5x2"]


def test_too_many_tiles_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("profile_analyze.writers.splitter.MOST_PRODUCTS", 12)
    assert split(model(SMALL), "1,2,1").notes[0]["split"] == 1
    with pytest.raises(QueryError) as caught:
        split(model(SMALL), "1,1,1")
    assert str(caught.value) == (
        "m.onnx: tiles of 1x1x1 would make a model of more than 12 products; choose larger tiles, "
        "or leave out --write-model"
    )


def test_large_weights_and_constants_are_kept() -> None:
    rng = np.random.default_rng(0)
    arrays: Arrays = {"x": random(rng, 2, 80), "w": random(rng, 80, 90)}
    constant = numpy_helper.from_array(random(rng, 90, 70), "ignored")
    nodes = [
        helper.make_node("Constant", [], ["w2"], value=constant),
        helper.make_node("MatMul", ["x", "w"], ["h"]),
        helper.make_node("MatMul", ["h", "w2"], ["y"]),
    ]
    proto = model_of(nodes, arrays, ["w"])
    written = split_and_compare(proto, arrays, "2,50,50")
    assert written.graph.initializer == proto.graph.initializer
    assert written.graph.node[0] == proto.graph.node[0]

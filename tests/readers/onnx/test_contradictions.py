"""If the inputs of an operator do not fit, its work and all work that depends on it are N/A."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from onnx import numpy_helper

from profile_analyze.model.findings import Finding, Kind
from profile_analyze.readers.input.source import Source
from profile_analyze.readers.onnx.loading import read_model
from tests.conftest import run_command
from tests.findings.found import with_code
from tests.readers.onnx.models import model, write_model

if TYPE_CHECKING:
    from pathlib import Path

OPERATORS = {
    "float[1, 4, 8, 8] x, float[8, 3, 3, 3] w": (
        "Conv (x, w)",
        "Conv_0 (Conv: input {1,4,8,8}, but the weight {8,3,3,3} is for 3 channels)",
    ),
    "float[1, 3, 8, 8] x, float[8, 3, 3, 3] w": (
        "Conv <group = 2> (x, w)",
        "Conv_0 (Conv: input {1,3,8,8}, but the weight {8,3,3,3} is for 6 channels)",
    ),
    "float[n, 4, 8, 8] x, float[3, 8, 3, 3] w": (
        "ConvTranspose (x, w)",
        "ConvTranspose_0 (ConvTranspose: input {n,4,8,8}, but the weight {3,8,3,3} is for 3 "
        "channels)",
    ),
    "float[2, 6] x, float[2, 5, 8] w": ("MatMul (x, w)", "MatMul_0 (MatMul: {2,6} by {2,5,8})"),
    "float[6] x, float[5] w": ("MatMul (x, w)", "MatMul_0 (MatMul: {6} by {5})"),
    "float[2, 6] x, float[2, 8] w": ("Gemm (x, w)", "Gemm_0 (Gemm: {2,6} by {2,8})"),
    "float[2, 6] x, float[6, 2] w": (
        "Gemm <transB = 1> (x, w)",
        "Gemm_0 (Gemm: {2,6} by {6,2}, transB)",
    ),
    "float[2, 6] x, float[3, 2] w": (
        "Gemm <transA = 1> (x, w)",
        "Gemm_0 (Gemm: {2,6} by {3,2}, transA)",
    ),
}


def contradicting(names: str) -> Finding:
    return Finding.of("contradicting-sizes", Kind.INCOMPLETE, operators=1, names=names)


@pytest.mark.parametrize("inputs", OPERATORS)
def test_operators_whose_inputs_do_not_fit_are_named(inputs: str) -> None:
    call, reason = OPERATORS[inputs]
    text = f"g ({inputs}) => (float[A] z) {{ y = {call} z = Relu (y) }}"
    read = read_model(Source.of_bytes("m", model(text).SerializeToString()))
    notes = with_code(read.problems, "contradicting-sizes")
    assert notes == [contradicting(reason)]
    assert [read.graph.values[name].dims for name in "yz"] == [None, None]


FITTING = {
    "float[1, 6, 8, 8] x, float[8, 3, 3, 3] w": "Conv <group = 2> (x, w)",
    "float[1, c, 8, 8] x, float[8, 3, 3, 3] w": "Conv (x, w)",
    "float[6] x, float[5, 6, 2] w": "MatMul (x, w)",
    "float[6, 2] x, float[5, 6] w": "Gemm <transA = 1, transB = 1> (x, w)",
}


@pytest.mark.parametrize("inputs", FITTING)
def test_operators_whose_inputs_fit_are_not_named(inputs: str) -> None:
    text = f"g ({inputs}) => (float[A] y) {{ y = {FITTING[inputs]} }}"
    read = read_model(Source.of_bytes("m", model(text).SerializeToString()))
    assert with_code(read.problems, "contradicting-sizes") == []


def test_only_dependent_values_become_unknown_even_in_bodies() -> None:
    text = """g (float[8, 6] x, bool c) => (float[A] y, float[B] z, float[C] t)
    <int64[2] s = {1, 6}> {
        r = Reshape (x, s)
        y = If (c) <
            then_branch = one () => (float[1, 6] a) { a = Relu (r) },
            else_branch = two () => (float[1, 6] b) { b = Relu (r) }>
        z = Relu (x)
        t = MatMul (r, x)
    }"""
    read = read_model(Source.of_bytes("m", model(text).SerializeToString()))
    values = read.graph.values
    assert [values[name].dims for name in "ryzt"] == [None, None, (8, 6), None]
    bodies = read.graph.nodes[1].bodies
    assert [body.graph.values[name].dims for body, name in zip(bodies, "ab", strict=True)] == [
        None,
        None,
    ]
    assert read.problems == (contradicting("Reshape_0 (Reshape: {8,6} to {1,6})"),)


def branches(condition: str) -> str:
    return f"""g (float[8, 6] x, float[6, 5] w, bool c) => (float[A, B] y, float[C, D] z, float[E, F] n)
        <bool yes = {{1}}, bool no = {{0}}> {{
        y = If ({condition}) <
            then_branch = one () => (float[G, H] a) {{
                [wrong] a = MatMul (x, x)
                [right] b = MatMul (x, w)
            }},
            else_branch = two () => (float[I, J] d) {{ [else] d = MatMul (x, w) }}>
        z = Relu (y)
        n = Loop (trips, , x) <body = body (int64 i, bool go, float[8, 6] v)
            => (bool on, float[8, 6] u) {{ on = Identity (go) u = Relu (v) }}>
    }}"""


WRONG = (contradicting("wrong (MatMul: {8,6} by {8,6})"),)


@pytest.mark.parametrize(
    ("condition", "problems", "shape"),
    [("c", WRONG, None), ("yes", WRONG, None), ("no", (), (8, 5))],
)
def test_only_bodies_that_can_be_executed_are_checked(
    condition: str, problems: tuple[Finding, ...], shape: tuple[int, ...] | None
) -> None:
    proto = model(branches(condition))
    proto.graph.initializer.append(numpy_helper.from_array(np.array(2), "trips"))
    read = read_model(Source.of_bytes("m", proto.SerializeToString()))
    assert read.problems == problems
    values = read.graph.values
    assert [values[name].dims for name in "yzn"] == [shape, shape, (8, 6)]
    then, other = read.graph.nodes[0].bodies
    # In a body that never runs, `a` keeps the two unknown sizes that the model declares.
    assert [then.graph.values[name].dims for name in "ab"] == [shape and (None, None), (8, 5)]
    assert other.graph.values["d"].dims == (8, 5)


def test_operators_in_functions_and_nested_bodies_are_checked() -> None:
    head = '<ir_version: 8, opset_import: ["" : 18, "f" : 1]>\n'
    text = """g (float[8, 6] x, bool c) => (float[A, B] y) {
        y = If (c) <
            then_branch = one () => (float[C, D] a) {
                a = If (c) <
                    then_branch = two () => (float[E, F] b) { b = f.square (x) },
                    else_branch = three () => (float[G, H] d) { d = Relu (x) }>
            },
            else_branch = four () => (float[I, J] e) { e = Relu (x) }>
    }
    <domain: "f", opset_import: ["" : 18]> square (v) => (w) { [product] w = MatMul (v, v) }"""
    read = read_model(Source.of_bytes("m", model(text, head).SerializeToString()))
    # onnx may add a number to the name of a node that it inlines.
    (problem,) = read.problems
    assert (
        str(problem["names"]).replace("product__1", "product") == "product (MatMul: {8,6} by {8,6})"
    )
    assert read.graph.values["y"].dims is None


def test_work_of_operators_that_cannot_run_is_unknown(tmp_path: Path) -> None:
    text = """g (float[1, 4, 8, 8] x, float[3, 8, 3, 3] w, float[8, 8] v) => (float[A] z) {
        y = ConvTranspose (x, w)
        z = MatMul (y, v)
        t = MatMul (x, v)
    }"""
    file = write_model(tmp_path, model(text))
    outcome = run_command(
        file, "--format", "plain", "--print-only", "device", "--columns", "name,macs,memory"
    )
    assert (outcome.code, outcome.out, outcome.err) == (
        0,
        """\
name               macs    memory
MatMul_2         2.05 K  2.25 KiB
ConvTranspose_0     N/A       N/A
MatMul_1            N/A       N/A
""",
        "note: 1 operator cannot run with these sizes: ConvTranspose_0 (ConvTranspose: input "
        "{1,4,8,8}, but the weight {3,8,3,3} is for 3 channels); this work, and all work that "
        "depends on it, is N/A\n",
    )

"""The summary of a model, as text for people and as JSON for programs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from onnx import numpy_helper

from tests.conftest import run_command
from tests.readers.onnx.models import HEAD, model, write_model

if TYPE_CHECKING:
    from pathlib import Path

TEXT = """g (float[2, 4] x, int64[1] trips) => (float[2, 4] y) {
    both = MatMul (w, w)
    a_product_of_matrices_with_a_name_longer_than_most = MatMul (x, both)
    half = Mul (a_product_of_matrices_with_a_name_longer_than_most, two)
    flat = Reshape (half, shape)
    low = DequantizeLinear (q, scale)
    sum = Add (flat, low)
    mine = own.Mine (sum)
    y = Loop (, yes, x) <body = b (int64 i, bool c, float[2, 4] s) => (bool c2, float[2, 4] t) {
        c2 = Identity (c)
        t = MatMul (s, w)
    }>
}"""
ARRAYS: dict[str, Any] = {
    "w": np.ones((4, 4), np.float32),
    "two": np.array(2, np.float32),
    "shape": np.array([8], np.int64),
    "q": np.ones(8, np.int8),
    "scale": np.array(0.5, np.float32),
    "yes": np.ones((), np.bool_),
    "lost": np.ones(3, np.float32),
}


def unusual(folder: Path) -> str:
    proto = model(TEXT, HEAD.replace("18]", '18, "own" : 1]'))
    for name, array in ARRAYS.items():
        proto.graph.initializer.append(numpy_helper.from_array(array, name))
    return write_model(folder, proto)


SUMMARY = """\
total computation     80.00 FLO, unknown for 1 operator
total memory traffic  292.00 byte, unknown for 1 operator
operators             6 of 6 types: 1 MatMul, 1 Mul, 1 Reshape, 3 others; 2 further operators only compute constants
parameters            24, 72.00 byte: 64.00 byte of fp32, 8.00 byte of int8
other constants       1 in scales and zero points, 1 in single numbers, 2 in shapes and indices, 3 unused
MACs                  32, unknown for 1 operator; with bodies, a run executes N/A; 64 more in operators that only compute constants
body                  Loop_7/body: 2 operators, 32 MACs
activations           N/A
peak of activations   N/A
weights and peak      N/A
input                 x {2,4} fp32
input                 trips {1} int64
output                y {2,4} fp32
"""


def test_the_summary_says_what_the_totals_leave_out(tmp_path: Path) -> None:
    outcome = run_command(unusual(tmp_path), "--print-only", "summary")
    assert (outcome.code, outcome.out, outcome.err) == (
        0,
        SUMMARY,
        "note: work, and output shapes that the file does not store, are N/A for 1 operator of "
        "unknown type: own.Mine\n"
        "note: totals leave out 2 operators in bodies of If, Loop or Scan; their rows show the "
        "work of one execution of the body\n",
    )


def test_programs_get_the_same_facts(tmp_path: Path) -> None:
    outcome = run_command(unusual(tmp_path), "--print-only", "summary", "--format", "json")
    facts: dict[str, Any] = json.loads(outcome.out)["summary"]["model"]
    assert facts["initializers"] == {"tensors": 7, "elements": 31, "size_bytes": 101}
    assert facts["unknown_operators"] == {"macs": 1, "computation": 1, "memory": 1}
    assert facts["macs_of_constant_operators"] == 64
    assert [tuple(one.values()) for one in facts["constants"]] == [
        ("quantization", 1, 1, 4),
        ("scalar", 1, 1, 4),
        ("structure", 2, 2, 9),
        ("unused", 1, 3, 12),
    ]


def test_a_total_that_is_wholly_unknown_is_not_0(tmp_path: Path) -> None:
    text = "g (float[N, 3] x) => (float[N, 3] y) { s = Shape (x) y = Relu (x) }"
    lines = run_command(write_model(tmp_path, model(text)), "--print-only", "summary").out
    assert lines.splitlines()[:2] == [
        "total computation     N/A, unknown for 1 operator",
        "total memory traffic  N/A, unknown for 1 operator",
    ]


def test_long_names_at_the_peak_are_shortened_in_the_middle(tmp_path: Path) -> None:
    name = "encoder_layers_0_attention_output"
    text = f"g (float[2, 3] x) => (float[2, 3] y) {{ {name} = Relu (x) y = Relu ({name}) }}"
    proto = model(text)
    proto.graph.node[0].name = "/encoder/layers.0/attention/output/Relu"
    lines = run_command(write_model(tmp_path, proto), "--print-only", "summary").out
    assert lines.splitlines()[6] == (
        "peak of activations   48.00 byte at /encoder/...ttention/output/Relu: x 24.00 byte, "
        "encoder_l...s_0_attention_output 24.00 byte"
    )


BRANCHES = """g (float[4, 8] x, bool c) => (float[4, 8] y) {
    y = If (c) <
        then_branch = t () => (float[4, 8] a) { a = MatMul (x, w) },
        else_branch = e () => (float[4, 8] b) { b = Relu (x) }
    >
}"""


def branches(folder: Path) -> str:
    proto = model(BRANCHES)
    proto.graph.node[0].name = "if"
    proto.graph.node[0].attribute[0].g.node[0].name = "product"
    weight = np.ones((8, 8), np.float32)
    proto.graph.initializer.append(numpy_helper.from_array(weight, "w"))
    return write_model(folder, proto)


@pytest.mark.parametrize(
    ("condition", "code", "verdict"),
    [
        ("macs > 200", 0, "passed: macs > 200: 0: not beyond the limit"),
        ("memory > 0", 0, "passed: memory > 0: 0.00 byte: not beyond the limit"),
        ("params > 63", 3, "FAILED: params > 63: 64: beyond the limit"),
        (
            "type=MatMul: macs > 200",
            4,
            "cannot be judged: type=MatMul: macs > 200: no operator matches: totals leave out the "
            "operators in bodies",
        ),
    ],
)
def test_conditions_leave_out_bodies_as_the_totals_do(
    tmp_path: Path, condition: str, code: int, verdict: str
) -> None:
    file = branches(tmp_path)
    outcome = run_command(file, "--print-only", "summary", "--fail-if", condition)
    lines = outcome.out.splitlines()
    assert (outcome.code, lines[0], lines[1], lines[-1]) == (
        code,
        "total computation     0.00 FLO",
        "total memory traffic  0.00 byte",
        verdict,
    )


NESTED = """g (float[2, 3] x, float[3, 4] w, bool u) => (float[2, 4] y)
<bool c = {0}, bool d = {1}, int64 n = {5}> {
    [outer] y = If (c) <
        then_branch = t () => (float[2, 4] p) {
            [inner] p = If (d) <
                then_branch = tt () => (float[2, 4] q) { [deep] q = MatMul (x, w) },
                else_branch = te () => (float[2, 4] r) { [other] r = MatMul (x, w) }
            >
            [open] o = If (u) <
                then_branch = ut () => (float[2, 4] a) { [may] a = MatMul (x, w) },
                else_branch = ue () => (float[2, 4] b) { [be] b = MatMul (x, w) }
            >
        },
        else_branch = e () => (float[2, 4] s) {
            [loop] s = Loop (n, , x) <body = l (int64 i, bool k, float[2, 3] m)
                => (bool k2, float[2, 3] m2) {
                k2 = Identity (k)
                m2 = Identity (m)
                [again] v = If (d) <
                    then_branch = lt () => (float[2, 4] f) { [taken] f = Gemm (x, w) },
                    else_branch = le () => (float[2, 4] h) { [left] h = MatMul (x, w) }
                >
            }>
        }
    >
}"""


def test_a_body_is_executed_as_often_as_all_bodies_around_it(tmp_path: Path) -> None:
    file = write_model(tmp_path, model(NESTED))
    outcome = run_command(file, "--format", "json", "-t", "0", "--columns", "name,macs")
    facts: dict[str, Any] = json.loads(outcome.out)
    bodies = {
        f"{body['operator']}/{body['attribute']}": (body["trip_count"], body["executions"])
        for body in facts["summary"]["model"]["bodies"]
    }
    assert bodies == {
        "outer/then_branch": (0, 0),
        "outer/then_branch/inner/then_branch": (1, 0),
        "outer/then_branch/inner/else_branch": (0, 0),
        "outer/then_branch/open/then_branch": (None, 0),
        "outer/then_branch/open/else_branch": (None, 0),
        "outer/else_branch": (1, 1),
        "outer/else_branch/loop/body": (5, 5),
        "outer/else_branch/loop/body/again/then_branch": (1, 5),
        "outer/else_branch/loop/body/again/else_branch": (0, 0),
    }
    assert facts["summary"]["model"]["macs_executed"] == 5 * 24
    (rows,) = (table["rows"] for table in facts["tables"])
    assert [row[0] for row in rows if row[1]] == ["taken", "deep", "other", "may", "be", "left"]
    note = "totals leave out 12 operators in bodies of If, Loop or Scan; their rows show the work "
    assert facts["notes"] == [f"{note}of one execution of the body; 7 of these operators never run"]
    text = run_command(file, "--print-only", "summary").out
    line = "outer/then_branch/inner/then_branch: 1 operator, 24 MACs, executed 0 times"
    assert line in text
    ordered = run_command(file, "--order-by", "macs", "--columns", "name", "--format", "csv")
    assert ordered.out.splitlines()[1] == "deep"  # an order of the user is kept

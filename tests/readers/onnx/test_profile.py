"""Rows, weights, roles and bodies of ONNX models."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from onnx import numpy_helper

from profile_analyze import Peaks, Query, load, run
from profile_analyze.columns.catalog import find_column
from profile_analyze.readers.input.source import Source
from profile_analyze.readers.onnx.loading import read_model
from profile_analyze.readers.onnx.profile import profile_of
from profile_analyze.report.layout.times import time_text
from profile_analyze.views.model_summary import model_summary
from profile_analyze.views.worked import worked_through
from tests.readers.onnx.graphs import body, graph, node, profile
from tests.readers.onnx.models import model, write_model

if TYPE_CHECKING:
    from pathlib import Path

    from profile_analyze.model.profile import Profile
    from profile_analyze.readers.onnx.graph import Body, Graph
    from profile_analyze.views.model_summary import ModelSummary


def summary_of(made: Profile) -> ModelSummary:
    summary = model_summary(made)
    assert summary is not None
    return summary


def roles_of(made: Profile) -> dict[str, str]:
    assert made.tensors is not None
    assert made.tensors.role is not None
    return dict(zip(made.tensors.key.values(), made.tensors.role.values(), strict=True))


def shared_weight() -> Profile:
    """Return two convolutions with the same weight, which a constant Reshape node makes."""
    return profile(
        graph(
            [
                node("Reshape", "stored shape", "w", is_constant=True),
                node("Conv", "x w b", "y", attributes={"kernel_shape": (1, 1), "group": 1}),
                node("Conv", "y w", "z", attributes={"kernel_shape": (1, 1)}),
                node("Add", "z one", "out"),
            ],
            {
                "x": (1, 4, 3, 3), "stored": (16,), "shape": (4,), "w": (4, 4, 1, 1), "b": (4,),
                "y": (1, 4, 3, 3), "z": (1, 4, 3, 3), "one": (), "out": (1, 4, 3, 3), "lost": (7,),
            },
            inputs="x",
            outputs="out",
            initializers="stored shape b one lost",
            dtypes={"shape": "int64"},
        )
    )  # fmt: skip


def test_a_weight_used_twice_counts_at_its_first_user() -> None:
    made = shared_weight()
    table = run(Query(order="+id"), made)
    names = ("name", "macs", "macs_with_bias", "params", "param_bytes", "reused_weights")
    assert [tuple(row[name] for name in names) for row in table.rows] == [
        ("w", 0.0, 0.0, 0.0, 0.0, None),
        ("y", 144.0, 180.0, 20.0, 80.0, None),
        ("z", 144.0, 144.0, 0.0, 0.0, "stored"),
        ("out", 0.0, 0.0, 0.0, 0.0, None),
    ]
    assert table["macs_share"].tolist() == [0.0, 0.5, 0.5, 0.0]
    assert table["param_share"].tolist() == [0.0, 1.0, 0.0, 0.0]
    # The first convolution needs no gradient of its input, which depends on no weight.
    assert table["backward_macs"].tolist() == [0.0, 144.0, 288.0, 0.0]
    assert table["input_bytes"].tolist() == [0.0, 144.0, 144.0, 144.0]
    assert table["output_bytes"].tolist() == [0.0, 144.0, 144.0, 144.0]


def test_each_tensor_has_a_role() -> None:
    made = shared_weight()
    assert roles_of(made) == {
        "x": "input",
        "stored": "weight",
        "shape": "structure",
        "b": "weight",
        "one": "scalar",
        "lost": "unused",
        "w": "derived constant",
        "y": "activation",
        "z": "activation",
        "out": "activation",
    }
    assert (summary_of(made).params, summary_of(made).param_bytes) == (20.0, 80.0)
    assert summary_of(made).types == (("Conv", 2), ("Add", 1))


def test_a_constant_has_the_highest_role_of_its_uses() -> None:
    made = profile(
        graph(
            [
                node("DequantizeLinear", "q scale zero", "w", is_constant=True),
                node("MatMul", "x w", "y"),
                node("Mul", "y scale", "z"),
                node("Gather", "table index", "row"),
            ],
            {"x": (2, 3), "q": (3, 5), "scale": (5,), "zero": (5,), "w": (3, 5), "y": (2, 5),
             "z": (2, 5), "table": (9, 4), "index": (), "row": (4,)},
            inputs="x index",
            outputs="z row",
            initializers="q scale zero table",
            dtypes={"q": "int4", "zero": "int4", "index": "int64"},
        )
    )  # fmt: skip
    roles = roles_of(made)
    assert [roles[name] for name in ("q", "scale", "zero", "table")] == [
        *("weight", "weight", "quantization", "weight"),
    ]
    # 15 values of int4 take 8 bytes.
    summary = summary_of(made)
    assert (summary.params, summary.param_bytes) == (15 + 5 + 36, 8 + 20 + 144)
    assert summary.params_by_dtype == (("fp32", 41.0, 164.0), ("int4", 15.0, 8.0))


def loop(trip_count: int | None) -> Profile:
    inside = graph(
        [node("MatMul", "state w", "next", "step")],
        {"state": (2, 4), "w": (4, 4), "next": (2, 4)},
        inputs="state",
        outputs="next",
    )
    return profile(
        graph(
            [
                node("Loop", "trips - x", "y", "loop", bodies=(body("body", inside, trip_count),)),
                node("MatMul", "y w", "z"),
            ],
            {"x": (2, 4), "w": (4, 4), "y": (2, 4), "z": (2, 4), "trips": ()},
            inputs="x trips",
            outputs="z",
            initializers="w",
            dtypes={"trips": "int64"},
        )
    )


def test_operators_in_bodies_have_rows_and_a_scope() -> None:
    made = loop(5)
    rows = run(Query(order="+id"), made).rows
    assert [(row["name"], row["scope"], row["macs"], row["params"]) for row in rows] == [
        ("loop", None, 0.0, 0.0),
        ("step", ("loop", "body"), 32.0, 16.0),
        ("z", None, 32.0, 0.0),
    ]
    summary = summary_of(made)
    assert summary.facts.bodies == (("loop", "body", 1, 32.0, 5, 5),)
    assert (summary.macs, summary.facts.macs_executed) == (32.0, 32.0 + 5 * 32.0)
    assert np.isnan(summary_of(loop(None)).facts.macs_executed)


def test_the_explanation_of_a_share_of_macs_says_that_bodies_count() -> None:
    """The total of the summary, 32, leaves out the body, so the share is not relative to it."""
    table = run(Query(where="name == z"), loop(5))
    first, *_ = worked_through(table, find_column("macs_share"), time_text)
    assert first == ("macs_share = macs / macs of all operators including bodies = 32 / 64 = 50.0%")


@pytest.mark.parametrize("same", [True, False])
def test_work_of_branches_is_known_if_both_cost_the_same(*, same: bool) -> None:
    def branch(name: str, columns: int) -> Body:
        return body(
            name,
            graph(
                [node("MatMul", "x w", "y")],
                {"x": (2, 4), "w": (4, columns), "y": (2, columns)},
                outputs="y",
            ),
        )

    made = profile(
        graph(
            [node("If", "c", "z", bodies=(branch("then", 4), branch("else", 4 if same else 8)))],
            {"x": (2, 4), "w": (4, 4), "c": (), "z": (2, 4)},
            inputs="x c",
            outputs="z",
            initializers="w",
            dtypes={"c": "bool"},
        )
    )
    executed = summary_of(made).facts.macs_executed
    assert executed == 32.0 if same else np.isnan(executed)


def test_a_branch_that_is_never_taken_executes_nothing() -> None:
    def branch(name: str, type_: str, trips: int) -> Body:
        shapes = {"x": (2, 4), "w": (4, 4), "y": (2, 4)}
        return body(name, graph([node(type_, "x w", "y")], shapes, outputs="y"), trips)

    branches = (branch("then", "MatMul", 1), branch("else", "Mine", 0))
    made = profile(
        graph(
            [node("If", "c", "z", bodies=branches)],
            {"x": (2, 4), "w": (4, 4), "c": (), "z": (2, 4)},
            inputs="x",
            outputs="z",
            initializers="w c",
            dtypes={"c": "bool"},
        )
    )
    assert summary_of(made).facts.macs_executed == 32.0


def constant(name: str) -> Graph:
    """Return a body that contains a constant and returns it."""
    nodes = [node("Constant", "", name, is_constant=True)]
    return graph(nodes, {name: (8, 8)}, outputs=name)


def test_weights_that_bodies_return_belong_to_their_operator() -> None:
    branches = (
        body("then", constant("t")),
        body("else", graph([], {"e": (8, 8)}, outputs="e", initializers="e")),
    )
    inner = graph(
        [node("If", "c", "n", bodies=(body("then", constant("a")), body("else", constant("b"))))],
        {"c": (), "n": (8, 8)},
        outputs="n",
    )
    made = profile(
        graph(
            [
                node("If", "c", "w", bodies=branches),
                node("If", "c", "m", bodies=(body("then", inner), body("else", constant("d")))),
                node("MatMul", "x w", "y"),
                node("Reshape", "y m", "z"),
            ],
            {"x": (4, 8), "c": (), "w": (8, 8), "m": (8, 8), "y": (4, 8), "z": (4, 8)},
            inputs="x c",
            outputs="z",
            dtypes={"c": "bool"},
        )
    )
    roles = roles_of(made)
    assert [roles[name] for name in "teabd"] == ["weight"] * 2 + ["structure"] * 3
    assert summary_of(made).params == 128.0
    rows = run(Query(order="+id", where="params>0"), made).rows
    assert [(row["name"], row["params"]) for row in rows] == [("w", 128.0)]


def test_a_loop_of_constants_is_a_constant() -> None:
    text = """g (float[4, 4] x) => (float[4, 4] y) {
        made = Loop (five, , start) <body = b (int64 i, bool on, float[4, 4] s)
            => (bool go, float[4, 4] next) { next = MatMul (s, w) go = Identity (on) }>
        y = Add (made, x)
    }"""
    proto = model(text)
    square = np.ones((4, 4), np.float32)
    for name, array in (("five", np.array(5)), ("start", square), ("w", square)):
        proto.graph.initializer.append(numpy_helper.from_array(array, name))
    found = read_model(Source.of_bytes("m", proto.SerializeToString()))
    made = profile_of(found, "m", None, ())
    facts = summary_of(made).facts
    assert (facts.macs_executed, facts.macs_of_constant_operators) == (0.0, 5 * 64.0)
    rows = run(Query(order="+id"), made).rows
    names = ("name", "type", "computation", "params")
    assert [tuple(row[name] for name in names) for row in rows] == [
        ("Loop_0", "Loop", 0.0, 0.0),
        ("MatMul_0", "MatMul", 0.0, 0.0),
        ("Identity_1", "Identity", 0.0, 0.0),
        ("Add_1", "Add", 16.0, 32.0),
    ]


@pytest.mark.parametrize(("type_", "macs"), [("Add", 0.0), ("MatMul", np.nan)])
def test_an_unknown_number_of_iterations_matters_only_with_multiply_adds(
    type_: str, macs: float
) -> None:
    text = f"""g (float[4, 4] x) => (float[4, 4] y) {{
        made = Loop (, go, start) <body = b (int64 i, bool on, float[4, 4] s)
            => (bool on2, float[4, 4] next) {{ next = {type_} (s, start) on2 = Not (on) }}>
        y = Add (made, x)
    }}"""
    proto = model(text)
    for name, array in (("go", np.ones((), np.bool_)), ("start", np.ones((4, 4), np.float32))):
        proto.graph.initializer.append(numpy_helper.from_array(array, name))
    found = read_model(Source.of_bytes("m", proto.SerializeToString()))
    facts = summary_of(profile_of(found, "m", None, ())).facts
    np.testing.assert_equal(facts.macs_of_constant_operators, macs)


def test_parameters_of_a_constant_result_belong_to_the_operator_that_computes_it() -> None:
    made = profile(
        graph(
            [
                node("Relu", "x", "y"),
                node("Constant", "", "k", is_constant=True),
                node("Transpose", "w", "turned", is_constant=True),
            ],
            {"x": (4,), "y": (4,), "k": (), "w": (2, 3), "turned": (3, 2), "stored": (7,)},
            inputs="x",
            outputs="y k turned stored",
            initializers="w stored",
        )
    )
    roles = roles_of(made)
    assert [roles[name] for name in ("k", "w", "stored")] == ["scalar", "weight", "unused"]
    table = run(Query(order="+id"), made)
    assert (table["params"].tolist(), summary_of(made).params) == ([0.0, 0.0, 6.0], 6.0)


def test_an_unknown_size_is_not_guessed() -> None:
    made = profile(
        graph(
            [node("MatMul", "x w", "y"), node("Relu", "y", "z")],
            {"x": (None, 4), "w": (4, 4), "y": (None, 4), "z": (None, 4)},
            inputs="x",
            outputs="z",
            initializers="w",
        )
    )
    row = run(Query(order="+id"), made).rows[0]
    assert (row["macs"], row["params"], row["out_shapes"]) == (None, 16.0, None)
    activations = summary_of(made).activations
    assert np.isnan([activations.total_bytes, activations.peak_bytes]).all()
    assert (activations.peak_operator, activations.alive) == (None, ())


def test_attributes_are_parameters() -> None:
    table = run(Query(by="type,param.kernel_shape"), shared_weight())
    rows = [(row["type"], row["param.kernel_shape"], row["macs"]) for row in table.rows]
    assert rows == [("Conv", "1x1", 288.0), ("Add", None, 0.0), ("Reshape", None, 0.0)]


def test_a_loop_itself_takes_no_time_if_the_rate_of_its_dtype_is_unknown(
    tmp_path: Path,
) -> None:
    text = """g (float[2] x) => (float[A] y) {
        limit = Constant <value = int64 {5}> ()
        y = Loop (limit, , x) <body = b (int64 i, bool c, float[2] v) => (bool d, float[2] w) {
            d = Identity (c) w = Relu (v) }>
    }"""
    peaks = Peaks("made", (("fp32", 1000.0),), 100.0, "by hand")
    query = Query(types="Loop", peaks=peaks)
    (row,) = run(query, load(write_model(tmp_path, model(text)))).rows
    names = ("computation", "memory", "bound", "compute_time", "memory_time", "least_time")
    assert [row[name] for name in names] == [0.0, 0.0, None, 0.0, 0.0, 0.0]


def test_a_constant_convolution_costs_nothing_with_and_without_padding() -> None:
    made = profile(
        graph(
            [
                node("Conv", "stored w", "made", is_constant=True),
                node("Relu", "made", "constant", is_constant=True),
                node("Conv", "x constant", "y"),
            ],
            {"stored": (3, 3, 1, 1), "w": (2, 3, 1, 1), "made": (3, 2, 1, 1)}
            | {"constant": (3, 2, 1, 1), "x": (1, 2, 4, 4), "y": (1, 3, 4, 4)},
            inputs="x",
            outputs="y",
            initializers="stored w",
        )
    )
    rows = run(Query(order="+id"), made).rows
    assert [(row["name"], row["macs"], row["macs_without_padding"]) for row in rows] == [
        ("made", 0.0, 0.0),
        ("constant", 0.0, None),
        ("y", 96.0, 96.0),
    ]


def test_unknown_work_of_a_constant_is_not_counted_as_0() -> None:
    made = profile(
        graph(
            [
                node("MatMul", "w v", "known", is_constant=True),
                node("MatMul", "u v", "unknown", is_constant=True),
                node("Add", "x known", "y"),
            ],
            {"w": (2, 3), "v": (3, 4), "u": None, "known": (2, 4), "unknown": None}
            | {"x": (2, 4), "y": (2, 4)},
            inputs="x",
            outputs="y",
            initializers="w v u",
        )
    )
    assert np.isnan(summary_of(made).facts.macs_of_constant_operators)

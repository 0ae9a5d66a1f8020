"""A profile with the model that ran: operators match nodes, and get the work of these nodes."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, Any, NamedTuple
from unittest.mock import patch

import numpy as np
import pytest

import profile_analyze as pa
from profile_analyze.findings.sentences import as_text
from profile_analyze.model.findings import Subject
from profile_analyze.model.graph.matching import _Matching
from profile_analyze.model.notes import Importance, TextNote
from profile_analyze.model.tables import Tensors, Uses
from profile_analyze.model.terms import ACTIVATION, DERIVED, INPUT, WEIGHT
from tests.conftest import PROFILES, ROOT
from tests.findings.found import said
from tests.in_memory import CPU, STATIC, profile_of

if TYPE_CHECKING:
    from collections.abc import Sequence

CLASSIFIERS = ROOT / "tests/fixtures/classifiers"
NAN = float("nan")
CATEGORIES = {
    "Conv": "convolution",
    "FusedConv": "convolution",
    "MatMul": "matmul",
    "FusedMatMul": "matmul",
    "Gemm": "matmul",
    "Relu": "elementwise",
    "Add": "elementwise",
    "Div": "elementwise",
    "Gelu": "elementwise",
    "Cast": "elementwise",
    "BatchNormalization": "normalization",
    "MaxPool": "pooling",
    "Transpose": "data movement",
    "ReorderOutput": "data movement",
    "Constant": "control",
}
IMAGE = (1, 8, 4, 4)
"""The shape of all activations, unless a test says otherwise: 512 bytes."""


class Node(NamedTuple):
    """A node of a made-up model. Inputs whose names end in `weight` are weights of 64 bytes."""

    name: str
    type: str
    inputs: str
    output: str
    macs: float = 0.0
    params: float = 0.0
    shape: tuple[int, ...] = IMAGE
    in_shape: tuple[int, ...] = IMAGE
    attributes: tuple[tuple[str, int | str], ...] = ()
    scope: tuple[str, ...] | None = None


def model_of(nodes: Sequence[Node], results: str = "") -> pa.Profile:
    """Return a model. `results` names tensors that are outputs of the model."""
    names = list(
        dict.fromkeys(name for node in nodes for name in (*node.inputs.split(), node.output))
    )
    written = {node.output for node in nodes}
    roles = [
        WEIGHT if name.endswith("weight") else ACTIVATION if name in written else INPUT
        for name in names
    ]
    uses = [
        (row, names.index(name), name == node.output)
        for row, node in enumerate(nodes)
        for name in (*node.inputs.split(), node.output)
    ]
    size = [64.0 if role == WEIGHT else 512.0 for role in roles]
    of_nodes = {
        "in_shapes": pa.Categorical.of([(node.in_shape,) for node in nodes]),
        "out_shapes": pa.Categorical.of([(node.shape,) for node in nodes]),
        "parameters": pa.Categorical.of([node.attributes for node in nodes]),
        "macs": np.array([node.macs for node in nodes]),
        "params": np.array([node.params for node in nodes]),
        "input_bytes": np.full(len(nodes), 512.0),
        # Only products have tiles. Here, half of each tile is padding.
        "tiled_macs": np.array([2 * node.macs or NAN for node in nodes]),
    }
    rows = [
        {
            "name": node.name,
            "type": node.type,
            "category": CATEGORIES[node.type],
            "computation": 2 * node.macs or 128.0,
            "memory": 1024.0,
            "scope": node.scope,
        }
        for node in nodes
    ]
    return profile_of(
        rows,
        origin=STATIC,
        processes=("net.onnx",),
        columns={"optional": of_nodes, "source": DERIVED},
        tensors=Tensors(
            pa.Categorical.of(names),
            pa.Categorical.missing(len(names)),
            pa.Categorical.missing(len(names)),
            np.array(size),
            pa.Categorical.of(roles),
            is_result=np.array([name in results.split() for name in names]),
        ),
        uses=Uses(
            np.array([row for row, _, _ in uses], np.int32),
            np.array([tensor for _, tensor, _ in uses], np.int32),
            np.array([is_output for _, _, is_output in uses], np.bool_),
        ),
    )


Row = tuple[str, str] | tuple[str, str, tuple[int, ...]]


def run_of(*rows: Row, in_shape: tuple[int, ...] | None = IMAGE, **more: Any) -> pa.Profile:
    """Return a profile of operators with names, types and shapes. Each operator takes 1 ms."""
    shapes = [(row[2] if len(row) > 2 else IMAGE,) for row in rows]
    optional = {
        "in_shapes": pa.Categorical.of([None if in_shape is None else (in_shape,) for _ in rows]),
        "out_shapes": pa.Categorical.of(shapes),
    }
    return profile_of(
        [{"name": row[0], "type": row[1], "category": CATEGORIES[row[1]]} for row in rows],
        [{"operator": n, "start_s": n * 1e-3, "duration_s": 1e-3} for n in range(len(rows))],
        tracks=(CPU,),
        columns={"optional": optional},
        **more,
    )


def macs(profile: pa.Profile, model: pa.Profile) -> list[float]:
    """Return the multiply-adds of each operator, with -1 for N/A, so that lists can be compared."""
    found = pa.with_model(profile, model).operators.numbers("macs").tolist()
    return [-1 if one != one else one for one in found]  # NaN


def notes(profile: pa.Profile, model: pa.Profile) -> list[str]:
    return list(said(pa.with_model(profile, model).notes))


CHAIN = (
    Node("n0", "Conv", "x n0.weight", "r0", 100, 16),
    Node("n1", "BatchNormalization", "r0 n1.weight", "r1", 0, 4),
    Node("n2", "Relu", "r1", "r2"),
)


@pytest.mark.parametrize(
    ("name", "type_"),
    [
        ("n0", "Conv"),
        ("n0", "FusedConv"),
        ("n0_nchwc", "Conv"),
        ("n0_token_12", "Conv"),
        ("n0/ConvFusion/", "FusedConv"),
        ("fused n0", "FusedConv"),
    ],
)
def test_an_operator_with_the_name_of_a_node_gets_its_work(name: str, type_: str) -> None:
    found = pa.with_model(run_of((name, type_)), model_of(CHAIN)).operators
    assert found.numbers("macs").tolist() == [100]
    assert found.numbers("params").tolist() == [16]
    assert found.computation.tolist() == [200]
    assert found.memory.tolist() == [1024]
    assert found.source_of("computation").values().tolist() == ["derived"]


@pytest.mark.parametrize(
    "name", ["n0 + n1 + n2", "n0+n1+n2", "n0,n1,n2", "fused n0 n1 n2", "n0_n1_n2", "r2_nchwc", "r2"]
)
def test_a_fused_operator_has_the_sum_of_its_nodes(name: str) -> None:
    found = pa.with_model(run_of((name, "FusedConv")), model_of(CHAIN)).operators
    assert found.numbers("macs").tolist() == [100]
    assert found.numbers("tiled_macs").tolist() == [200]
    assert found.numbers("params").tolist() == [20]
    assert found.computation.tolist() == [200 + 128 + 128]
    # the input, both weights and the output, but not the tensors between the nodes
    assert found.memory.tolist() == [512 + 64 + 64 + 512]
    assert found.numbers("input_bytes").tolist() == [512]


@pytest.mark.parametrize(
    ("name", "nodes"),
    [
        ("r2_nchwc", "n0 + n1 + n2"),
        ("n0_nchwc", "n0"),
        ("n0,n1", "n0 + n1"),
        ("n0", "n0"),
        ("other", None),
    ],
)
def test_a_matched_operator_gets_the_names_of_its_nodes(name: str, nodes: str | None) -> None:
    found = pa.with_model(run_of((name, "Conv"), ("n9", "Conv"), in_shape=None), model_of(CHAIN))
    column = pa.run(pa.Query(order="+id"), found)["param.nodes"]
    assert column.tolist() == [nodes, None]


def test_an_operator_with_the_name_of_a_tensor_may_run_the_nodes_before_it() -> None:
    """PyTorch names tensors after the nodes that write them, so `a_output_0` also begins with `a`."""
    model = model_of(
        [
            Node("conv1", "Conv", "x n0.weight", "conv1_output_0", 100, 16),
            Node("relu1", "Relu", "conv1_output_0", "relu1_output_0"),
        ]
    )
    for name, type_, nodes in (
        ("relu1_output_0_nchwc", "Conv", "conv1 + relu1"),
        ("relu1_output_0", "Conv", "conv1 + relu1"),
        ("conv1_output_0_nchwc", "Conv", "conv1"),
        ("relu1_output_0", "Relu", "relu1"),
        ("relu1_output_0", "MatMul", None),
    ):
        found = pa.with_model(run_of((name, type_)), model)
        assert (
            dict(found.operators.categorical("parameters").values()[0] or ()).get("nodes") == nodes
        )


def test_operators_with_other_nodes_are_in_one_group_of_parameters() -> None:
    model = model_of(
        [
            Node("a", "Conv", "x a.weight", "y", attributes=(("group", 1),)),
            Node("b", "Conv", "y b.weight", "z", attributes=(("group", 1),)),
        ]
    )
    found = pa.with_model(run_of(("a", "Conv"), ("b_nchwc", "Conv")), model)
    table = pa.run(pa.Query(by=("parameters",)), found)
    assert table.labels == ["group=1"]
    assert table["count"].tolist() == [2]


def test_an_output_of_the_model_inside_a_fused_operator_is_moved() -> None:
    model = model_of(CHAIN[:2], results="r0")
    found = pa.with_model(run_of(("n0 + n1", "Conv")), model).operators
    assert found.memory.tolist() == [512 + 64 + 64 + 512 + 512]


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        ([("other", "Conv")], "no such name"),
        ([("n0", "Gemm")], "another kind"),
        ([("n0_x", "Conv"), ("n0_y", "Conv")], "two operators claim it"),
        ([("n0 + n2", "Conv")], "the nodes are not connected"),
        ([("n0_n2", "Relu")], "the nodes are not connected"),
        ([("n0 + n9", "Conv")], "an unknown node is fused, too"),
        ([("n0 + n0", "Conv")], "the same node twice"),
        ([("n2/GeluFusion/", "Gelu")], "elementwise, but another operation"),
        ([("r2_cast", "Cast")], "the runtime added it after the tensor"),
        ([("r2_reordered", "Transpose")], "the runtime added it after the tensor"),
        ([("c1_cast", "Cast")], "the runtime added it after the tensor"),
        ([("t1_nchwc", "Conv")], "a Transpose is not fused"),
        ([("Conv_3", "Conv")], "the runtime made up the name"),
        ([("", "Conv")], "no name"),
        ([("const", "Constant")], "bookkeeping"),
    ],
)
def test_an_operator_that_may_not_be_the_node_is_not_matched(rows: list[Row], why: str) -> None:
    model = model_of(
        [
            *CHAIN,
            Node("Conv", "Conv", "r2 a.weight", "r3", 7),
            Node("Conv2", "Conv", "r3 b.weight", "r4", 8),
            Node("const", "Constant", "", "five"),
            Node("cast", "Cast", "x5", "c0"),
            Node("after_cast", "Relu", "c0", "c1"),
            Node("before", "Conv", "x6", "t0", 9),
            Node("between", "Transpose", "t0", "t1"),
        ]
    )
    assert macs(run_of(*rows, in_shape=None), model) == [-1] * len(rows), why


def test_a_branch_is_not_part_of_a_fused_operator() -> None:
    residual = Node("n2", "Add", "r1 x2", "r2")
    assert macs(run_of(("r2_nchwc", "Conv"), in_shape=None), model_of([*CHAIN[:2], residual])) == [
        -1
    ]
    read_twice = [*CHAIN, Node("n3", "Relu", "r1", "r3")]
    assert macs(run_of(("r2_nchwc", "Conv"), in_shape=None), model_of(read_twice)) == [-1]
    result = model_of(CHAIN, results="r1")
    assert macs(run_of(("r2_nchwc", "Conv"), in_shape=None), result) == [-1]


def test_exact_names_match_before_similar_names() -> None:
    model = model_of([Node("a", "Conv", "x", "y", 1), Node("a_1", "Conv", "y", "z", 2)])
    for first, second, expected in (
        ("a_1_nchwc", "a", [2, 1]),
        ("a_1", "a_1_nchwc", [2, -1]),
        ("a_1", "a_2", [2, 1]),
    ):
        assert macs(run_of((first, "Conv"), (second, "Conv"), in_shape=None), model) == expected


def test_a_name_of_several_nodes_matches_if_only_one_node_has_the_shapes() -> None:
    small = (1, 8, 2, 2)
    model = model_of(
        [Node("a", "Conv", "x", "y", 1), Node("a#2", "Conv", "y", "z", 2, shape=small)]
    )
    assert macs(run_of(("a", "Conv", small), ("a", "Conv")), model) == [2, 1]
    same = model_of([Node("a", "Conv", "x", "y", 1), Node("a#2", "Conv", "y", "z", 2)])
    assert macs(run_of(("a", "Conv"), in_shape=None), same) == [-1]


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        ((1, 8, 4, 4), [100]),
        ((2, 8, 4, 4), [-1]),
        ((1, 8, 4, 5), [-1]),
        ((1, 16, 4, 4), [100]),  # padded to a block of 16 channels
        ((1, 24, 4, 4), [-1]),
        ((1, 12, 4, 4), [-1]),
        ((1, 8, 16), [-1]),
        ((), [100]),  # a scalar, or unknown
    ],
)
def test_output_shapes_of_operator_and_node_must_agree(
    shape: tuple[int, ...], expected: list[float]
) -> None:
    profile = run_of(("n0", "Conv", shape), ("n2", "Relu"))
    assert macs(profile, model_of(CHAIN)) == [*expected, 0]
    (note,) = notes(profile, model_of(CHAIN))
    assert note == (
        "net.onnx: 2 operators matched by name, 0 by order"
        if expected == [100]
        else "net.onnx: 1 operator matched by name, 0 by order, 1 operator (50.0% of the time) not "
        "matched; the shapes of 1 operator differ from the model's: set the model's shapes with "
        "--input-shape or --dim, if this is the model that ran"
    )


SEQUENCE = (
    Node("a", "Conv", "x", "y", 1, attributes=(("group", 1),)),
    Node("b", "Conv", "y", "z", 2, attributes=(("group", 1),)),
)


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([("p", "Conv"), ("q", "Conv")], [1, 2]),
        ([("p", "Conv"), ("b", "Conv")], [1, 2]),  # b matches by name, then p by order
        ([("p", "Conv")], [-1]),
        ([("p", "Conv"), ("q", "Conv"), ("r", "Conv")], [-1, -1, -1]),
        ([("p", "Conv"), ("q", "MatMul")], [-1, -1]),
        ([("p", "Conv"), ("q", "Conv", (1, 8, 4, 5))], [-1, -1]),
    ],
)
def test_operators_match_by_order(rows: list[Row], expected: list[float]) -> None:
    assert macs(run_of(*rows), model_of(SEQUENCE)) == expected


def test_operators_are_matched_in_the_order_of_execution() -> None:
    profile = run_of(("p", "Conv"), ("q", "Conv"))
    later = profile.executions.changed(start_s=profile.executions.start_s[::-1].copy())
    assert macs(profile.changed(executions=later), model_of(SEQUENCE)) == [2, 1]


def test_nodes_that_differ_are_not_matched_by_order() -> None:
    """Branches with kernels of 3 and 5, for example, may have the same shapes and any order."""
    model = model_of([SEQUENCE[0], SEQUENCE[1]._replace(attributes=(("group", 2),))])
    assert macs(run_of(("p", "Conv"), ("q", "Conv")), model) == [-1, -1]


def test_operators_without_shapes_are_not_matched_by_order() -> None:
    profile = run_of(("p", "Conv"), ("q", "Conv"), in_shape=None)
    assert macs(profile, model_of(SEQUENCE)) == [-1, -1]


def test_nodes_inside_a_loop_are_not_matched_by_order() -> None:
    inside = [node._replace(scope=("loop", "body")) for node in SEQUENCE]
    assert macs(run_of(("p", "Conv"), ("q", "Conv")), model_of(inside)) == [-1, -1]


def test_matching_by_order_needs_the_same_kind() -> None:
    model = model_of([Node("a", "Add", "x", "y")])
    assert macs(run_of(("p", "Relu")), model) == [-1]
    assert macs(run_of(("p", "Add")), model) == [0]


def test_values_that_the_runtime_reported_are_kept() -> None:
    profile = run_of(("n0", "Conv"), ("n2", "Relu"))
    measured = pa.Operators.of(
        key=profile.operators.key,
        name=profile.operators.name,
        type=profile.operators.type,
        category=profile.operators.category,
        computation=np.array([7.0, NAN]),
        memory=np.array([NAN, 9.0]),
        optional={
            **profile.operators.optional,
            "parameters": pa.Categorical.of([(("group", 4), ("own", 1)), None]),
        },
    )
    model = model_of([CHAIN[0]._replace(attributes=(("group", 1), ("pads", "1x1"))), *CHAIN[1:]])
    found = pa.with_model(profile.changed(operators=measured), model).operators
    assert found.computation.tolist() == [7, 128]
    assert found.source_of("computation").values().tolist() == ["measured", "derived"]
    assert found.memory.tolist() == [1024, 9]
    assert found.source_of("memory").values().tolist() == ["derived", "measured"]
    assert found.categorical("parameters").values().tolist() == [
        (("group", 4), ("nodes", "n0"), ("own", 1), ("pads", "1x1")),
        (("nodes", "n2"),),
    ]


def test_the_model_adds_shapes_that_the_profile_lacks() -> None:
    profile = profile_of(
        [{"name": "n0 + n1", "type": "Conv", "category": "convolution"}, {"name": "other"}],
        [{"operator": n, "duration_s": 1e-3} for n in range(2)],
    )
    model = model_of(
        [CHAIN[0]._replace(in_shape=(1, 3, 8, 8)), CHAIN[1]._replace(shape=(1, 8, 16))]
    )
    found = pa.with_model(profile, model).operators
    assert found.categorical("in_shapes").values().tolist() == [((1, 3, 8, 8),), None]
    assert found.categorical("out_shapes").values().tolist() == [((1, 8, 16),), None]


def test_notes_say_how_many_operators_matched() -> None:
    rows: list[Row] = [("n0", "Conv"), ("p", "Relu"), ("reorder", "ReorderOutput")]
    (note,) = pa.with_model(run_of(*rows), model_of(CHAIN)).notes
    assert as_text(note) == (
        "net.onnx: 1 operator matched by name, 1 by order, 1 operator (33.3% of the time) not "
        "matched"
    )
    assert note.importance == Importance.ANSWER
    (note,) = pa.with_model(run_of(("n0", "Conv")), model_of(CHAIN)).notes
    assert as_text(note) == "net.onnx: 1 operator matched by name, 0 by order"
    assert (note.importance, note.share != note.share) == (Importance.CONTEXT, True)
    (note,) = pa.with_model(run_of(("reorder", "ReorderOutput")), model_of(CHAIN)).notes
    doubt = "; perhaps this is not the model that ran"
    assert (
        as_text(note)
        == f"net.onnx: 1 operator (100.0% of the time) matches no node of this model{doubt}"
    )
    assert note.importance == Importance.ANSWER
    (note,) = pa.with_model(run_of(rows[0], *rows[2:] * 2), model_of(CHAIN)).notes
    assert as_text(note) == (
        "net.onnx: 1 operator matched by name, 0 by order, 2 operators (66.7% of the time) not "
        f"matched{doubt}, so the work of the matched operators may be wrong"
    )
    assert note.importance == Importance.WRONG
    # A constant has no work that the model could add.
    assert notes(run_of(("n0", "Conv"), ("five", "Constant")), model_of(CHAIN)) == [
        "net.onnx: 1 operator matched by name, 0 by order"
    ]


def named(*names: str, **more: Any) -> pa.Profile:
    """Return a profile of a format without types. Each operator takes 1 ms."""
    times = [{"operator": n, "duration_s": 1e-3} for n in range(len(names))]
    return profile_of([{"name": name} for name in names], times, **more)


def test_of_several_rows_of_a_node_the_row_with_the_shapes_of_the_model_gets_the_work() -> None:
    """Only the row with the shapes in the model gets the work. Weights count at the first row."""
    large = (1, 8, 9, 9)
    model = model_of([Node("n0", "Conv", "x n0.weight", "r0", 100, 16)])
    found = pa.with_model(run_of(("n0", "Conv", large), ("n0", "Conv")), model)
    assert said(found.notes) == ("net.onnx: 2 operators matched by name, 0 by order",)
    numbers = [found.operators.numbers(name).tolist() for name in ("macs", "params")]
    assert str(numbers) == "[[nan, 100.0], [16.0, 0.0]]"
    assert str(found.operators.computation.tolist()) == "[nan, 200.0]"
    # With equal shapes, these are two operators, and it is not clear which of them is the node.
    assert macs(run_of(("n0", "Conv"), ("n0", "Conv")), model) == [-1, -1]


def test_a_model_that_fits_only_a_few_operators_is_not_matched_by_order() -> None:
    others: list[Row] = [(f"r{n}", "ReorderOutput") for n in range(4)]
    assert macs(run_of(("c", "Conv"), *others), model_of(CHAIN)) == [-1] * 5
    assert macs(run_of(("c", "Conv"), *others[:3]), model_of(CHAIN)) == [100, -1, -1, -1]
    assert macs(run_of(("n0", "Conv"), *others), model_of(CHAIN)) == [100, -1, -1, -1, -1]


@pytest.mark.parametrize(
    ("name", "type_", "category", "expected"),
    [
        ("n0", "Conv", "convolution", 100),
        ("n2", "Relu", "elementwise", 0),
        ("n0 + n1 + n2", "Conv", "convolution", 100),
        ("n1 + n2", "BatchNormalization", "normalization", 0),
        ("r2", None, None, -1),  # which nodes are fused depends on the type
        ("other", None, None, -1),
    ],
)
def test_the_model_supplies_types_that_the_profile_lacks(
    name: str, type_: str | None, category: str | None, expected: float
) -> None:
    profile, model = named(name), model_of(CHAIN)
    assert macs(profile, model) == [expected]
    found = pa.with_model(profile, model).operators
    assert found.type.values().tolist() == [type_]
    assert found.category.values().tolist() == [category]


def test_a_fused_operator_without_type_has_the_type_of_its_main_node() -> None:
    model = model_of([Node("relu", "Relu", "x", "r0"), Node("conv", "Conv", "r0 c.weight", "r1")])
    found = pa.with_model(named("relu + conv"), model).operators
    assert found.type.values().tolist() == ["Conv"]


def test_a_repeated_name_is_matched_in_order_if_as_many_nodes_have_it() -> None:
    nodes = [Node("a", "Conv", "x", "y", 1), Node("a", "Conv", "y", "z", 2)]
    model = model_of([*nodes, Node("b", "Conv", "z", "r", 3)])
    assert macs(named("a", "b", "a"), model) == [1, 3, 2]
    assert macs(run_of(("a", "Conv"), ("a", "Conv"), in_shape=None), model) == [1, 2]
    assert macs(named("a"), model) == [-1]
    assert macs(named("a", "a", "a"), model) == [-1, -1, -1]
    # The Gemm cannot be the second Conv, so the orders differ, and nothing matches.
    assert macs(run_of(("a", "Conv"), ("a", "Gemm"), in_shape=None), model) == [-1, -1]


def test_a_generated_name_is_matched_without_its_counter() -> None:
    """The name of the first node is not its type with a counter, so only the second matches."""
    nodes = [Node("a_token_7", "Conv", "x", "y", 1), Node("Conv_token_8", "Conv", "y", "z", 2)]
    assert macs(run_of(("Conv", "Conv"), in_shape=None), model_of(nodes)) == [2]


@pytest.mark.slowest
def test_a_name_of_very_many_nodes_is_matched_only_in_order() -> None:
    original = _Matching._fitting
    with patch.object(_Matching, "_fitting", autospec=True, side_effect=original) as comparisons:
        # Up to 64 operators are first compared with each node, and then with one node in order.
        for count, with_each_node in ((64, 64 * 64), (65, 0)):
            nodes = [Node("a", "Conv", f"x{n}", f"y{n}", n) for n in range(count)]
            assert macs(named(*["a"] * count), model_of(nodes)) == [*range(count)]
            assert comparisons.call_count == with_each_node + count
            comparisons.reset_mock()
        model = model_of([Node("a", "Conv", f"x{n}", f"y{n}") for n in range(65)])
        assert macs(named(*["a"] * 64, *(f"a_{n}" for n in range(9))), model) == [-1] * 73
        assert comparisons.call_count == 0


def test_a_note_on_missing_facts_is_dropped_if_a_model_supplies_them() -> None:
    lacks = TextNote("no types", Importance.INCOMPLETE, dropped_beside="model")
    stays = TextNote("no times", Importance.INCOMPLETE)
    profile = named("n0", notes=(lacks, stays))
    matched = "net.onnx: 1 operator matched by name, 0 by order"
    assert notes(profile, model_of(CHAIN)) == [matched, "no times"]
    joined = pa.join_runs([profile, profile.changed(processes=("other.json",))])
    assert said(joined.notes)[0] == "in each of 2 files: no types"
    assert notes(joined, model_of(CHAIN)) == [matched, "in each of 2 files: no times"]
    other = named("another", notes=(lacks, stays))
    assert notes(other, model_of(CHAIN))[1:] == ["no types", "no times"]
    again = pickle.loads(pickle.dumps(lacks.about(Subject("file", "made.json")).with_share(0.5)))
    assert (again, again.dropped_beside) == ("made.json: no types", "model")


def test_notes_of_the_model_are_added_to_the_profile() -> None:
    model = model_of(CHAIN).changed(
        notes=(TextNote("the size of batch is unknown", Importance.INCOMPLETE),)
    )
    assert notes(run_of(("n0", "Conv")), model)[1] == "net.onnx: the size of batch is unknown"


def test_a_model_can_only_be_added_to_a_profile_of_a_run() -> None:
    profile, model = run_of(("n0", "Conv")), model_of(CHAIN)
    with pytest.raises(pa.QueryError) as error:
        pa.with_model(profile, profile)
    assert str(error.value) == (
        "made.json: is a profile of a run; name the model that ran, such as model.onnx, or the "
        "graph that the runtime wrote"
    )
    with pytest.raises(pa.QueryError) as error:
        pa.with_model(model, model)
    assert str(error.value) == (
        "net.onnx: is a model that has not run; name a profile of its run, or leave out the "
        "second model"
    )


def test_a_profile_of_megengine_gets_the_work_of_an_onnx_model() -> None:
    profile = pa.load(PROFILES / "smallcnn.json", wanted=("in_shapes", "out_shapes", "parameters"))
    found = pa.with_model(profile, pa.load(CLASSIFIERS / "smallcnn.onnx"))
    assert found.check() == ()
    rows = zip(
        found.operators.name.values(),
        found.operators.numbers("macs").tolist(),
        found.operators.numbers("params").tolist(),
        found.operators.computation.tolist(),
        strict=True,
    )
    assert sorted(row for row in rows if row[1] == row[1]) == [
        ("Softmax", 0.0, 0.0, 50.0),
        ("c1.Convolution", 442368.0, 448.0, 884736.0),
        ("c2.Convolution", 2359296.0, 2320.0, 4718592.0),
        ("c3.Convolution", 1179648.0, 4640.0, 2359296.0),
        ("c4.Convolution", 65536.0, 1056.0, 131072.0),
        ("dw.Convolution", 18432.0, 320.0, 36864.0),
        ("fc.MatrixMul", 320.0, 330.0, 640.0),
        ("p.Pooling", 0.0, 0.0, 8192.0),
    ]
    (note,) = (note for note in said(found.notes) if "matched" in note)
    assert note == (
        f"{CLASSIFIERS / 'smallcnn.onnx'}: 6 operators matched by name, 2 by order, 11 operators "
        "(6.0% of the time) not matched"
    )


def test_a_model_adds_no_work_to_constants() -> None:
    """A runtime that computes constants in each run gives them another category."""
    profile = profile_of([{"name": "five", "type": "Constant", "category": "data movement"}])
    assert macs(profile, model_of([Node("five", "Constant", "", "five")])) == [-1]


def test_dtypes_of_the_profile_are_kept_and_missing_dtypes_added() -> None:
    wanted = ("in_shapes", "out_shapes", "input_dtypes")
    profile = pa.load(PROFILES / "smallcnn.json", wanted=wanted)
    found = pa.with_model(profile, pa.load(CLASSIFIERS / "smallcnn.onnx")).operators
    own = profile.operators.categorical("input_dtypes").values().tolist()
    assert found.categorical("input_dtypes").values().tolist() == own
    added = pa.with_model(run_of(("c1", "Conv", ())), pa.load(CLASSIFIERS / "smallcnn.onnx"))
    assert added.operators.categorical("input_dtypes").values().tolist() == [("fp32",) * 3]


def test_columns_that_were_not_loaded_are_not_added() -> None:
    profile = pa.load(PROFILES / "smallcnn.json", wanted=("in_shapes", "out_shapes"))
    found = pa.with_model(profile, pa.load(CLASSIFIERS / "smallcnn.onnx")).operators
    assert found.state("parameters") == "not loaded"
    assert found.state("sparsity") == "not loaded"
    with pytest.raises(pa.QueryError, match="in_shapes: the profile was loaded without"):
        pa.with_model(
            pa.load(PROFILES / "smallcnn.json", wanted=()), pa.load(CLASSIFIERS / "smallcnn.onnx")
        )

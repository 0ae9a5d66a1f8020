"""Comparisons with a model on both sides: what the model adds must not break any match."""

from __future__ import annotations

import profile_analyze as pa
from profile_analyze.model.graph.before_model import MAIN_NODE, before_model
from profile_analyze.model.terms import SHAPES
from tests.in_memory import profile_of
from tests.model.test_with_model import CHAIN, IMAGE, Node, model_of, run_of

GROUP = (("group", 1),)
NETWORK = (
    Node("/conv1/Conv", "Conv", "x conv1.weight", "/conv1/Conv_output_0", attributes=GROUP),
    Node("/relu1/Relu", "Relu", "/conv1/Conv_output_0", "/relu1/Relu_output_0"),
    Node(
        "/conv2/Conv", "Conv", "/relu1/Relu_output_0 conv2.weight", "y", 100, 16, attributes=GROUP
    ),
)
"""As in models of PyTorch, tensors have the names of the nodes that write them."""
PADDED = (1, 16, 4, 4)


def matches(new: pa.Profile, base: pa.Profile, rule: str = "auto") -> list[tuple[str, str, str]]:
    """Return the name, the name in the baseline, and the match of each operator on both sides."""
    found = pa.compare(new, base, rule)
    names, others = found.profile.operators.name.values(), found.base_name.values()
    return [
        (name, other or name, how)
        for name, other, how in zip(names, others, found.match.values(), strict=True)
        if how not in ("added", "removed")
    ]


def test_operators_of_one_node_match_although_their_names_and_shapes_differ() -> None:
    basic = run_of(("/conv1/Conv", "Conv"), ("/relu1/Relu", "Relu"), ("/conv2/Conv", "Conv"))
    fused = run_of(("/relu1/Relu_output_0_nchwc", "Conv", PADDED), ("y_nchwc", "Conv", PADDED))
    assert matches(basic, fused) == []
    new, base = (pa.with_model(side, model_of(NETWORK)) for side in (basic, fused))
    expected = [
        ("/conv1/Conv", "/relu1/Relu_output_0_nchwc", "name"),
        ("/conv2/Conv", "y_nchwc", "name"),
    ]
    for rule in ("auto", "name"):
        assert matches(new, base, rule) == expected
        assert matches(base, new, rule) == [(old, name, how) for name, old, how in expected]
    assert matches(new, base, "structure") == []
    # The baseline has no nodes, so names and structure alone decide.
    assert matches(new, fused) == []


def test_an_operator_that_only_one_side_matches_with_the_model_still_matches_by_structure() -> None:
    types = (("Conv", (9,)), ("Relu", (8,)), ("Add", (7,)))
    # Without the shapes of inputs, no operator matches a node by order.
    new, base = (
        run_of(*((name, *one) for name, one in zip(names, types, strict=True)), in_shape=None)
        for names in (("/conv2/Conv", "/relu1/Relu", "z"), ("a", "b", "c"))
    )
    expected = [
        ("/conv2/Conv", "a", "structure"),
        ("/relu1/Relu", "b", "structure"),
        ("z", "c", "structure"),
    ]
    assert matches(new, base) == expected
    shapes = (IMAGE, (8,), (9,))
    nodes = [node._replace(shape=one) for node, one in zip(NETWORK, shapes, strict=True)]
    with_nodes = [pa.with_model(side, model_of(nodes)) for side in (new, base)]
    added = with_nodes[0].operators.categorical("parameters").values().tolist()
    assert added[0] == (("group", 1), ("nodes", "/conv2/Conv"))
    assert matches(with_nodes[0], with_nodes[1]) == expected
    assert matches(with_nodes[1], with_nodes[0]) == [(b, a, how) for a, b, how in expected]


def test_types_and_shapes_of_a_model_do_not_decide() -> None:
    """The format has no types and shapes. Operators without a node must not match one another."""
    rows = [{"name": name} for name in ("/conv1/Conv", "new")]
    new = profile_of(rows)
    base = profile_of([rows[0], {"name": "old"}])
    with_nodes = [pa.with_model(one, model_of(NETWORK)) for one in (new, base)]
    assert with_nodes[0].operators.categorical("out_shapes").values().tolist() == [(IMAGE,), None]
    assert matches(new, base) == [("/conv1/Conv", "/conv1/Conv", "name")]
    assert matches(with_nodes[0], with_nodes[1]) == matches(new, base)
    assert matches(with_nodes[0], base) == matches(new, base)


def test_the_earlier_values_are_those_before_the_first_model() -> None:
    own = run_of(("n0", "Conv"), ("other", "Add"))
    parameters = pa.Categorical.of([(("own", 1),), ()])
    own = profile_of(
        [{"name": "n0", "type": "Conv"}, {"name": "other", "type": "Add"}],
        columns={"optional": {**own.operators.optional, "parameters": parameters}},
    )
    twice = pa.with_model(pa.with_model(own, model_of(CHAIN)), model_of(NETWORK))
    assert twice.operators.categorical(MAIN_NODE).values().tolist() == [None, None]
    earlier = before_model(twice).operators
    for name in (*SHAPES, "parameters"):
        assert (
            earlier.categorical(name).values().tolist()
            == own.operators.categorical(name).values().tolist()
        )
    assert before_model(own).operators.optional.keys() == own.operators.optional.keys()


def test_an_operator_without_parameters_still_has_none_after_an_execution_graph() -> None:
    """The graph may name the node as the operator on one side of a comparison only."""
    graph = model_of(CHAIN).changed(is_execution_graph=True)
    for name in ("n0", "n0_nchwc"):
        found = before_model(pa.with_model(run_of((name, "Conv"), ("n9", "Conv")), graph))
        assert found.operators.categorical("parameters").values().tolist() == [(), None]

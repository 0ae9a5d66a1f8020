"""Builds small graphs for tests, from the classes that the modules of the reader share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from profile_analyze.readers.onnx.graph import Body, Graph, Node, OnnxModel, Value, Weight
from profile_analyze.readers.onnx.profile import profile_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from profile_analyze.model.profile import Profile

Dims = tuple[int | None, ...]


def value(name: str, dims: Dims | None, dtype: str = "fp32", **facts: Any) -> Value:
    return Value(name, dims, dtype, **facts)


def node(type_: str, inputs: str, outputs: str, name: str = "", **facts: Any) -> Node:
    """Return a node. Spaces separate names of values; `-` is an omitted optional input."""
    attributes = facts.pop("attributes", {})
    names = tuple("" if one == "-" else one for one in inputs.split())
    return Node(
        name or outputs.split(maxsplit=1)[0],
        type_,
        "",
        names,
        tuple(outputs.split()),
        attributes,
        **facts,
    )


def graph(
    nodes: Sequence[Node],
    shapes: Mapping[str, Dims | None],
    *,
    inputs: str = "",
    outputs: str = "",
    initializers: str = "",
    dtypes: Mapping[str, str] | None = None,
) -> Graph:
    """Return a graph. Its values have dtype fp32, except for the values in `dtypes`."""
    stored = initializers.split()
    constant = {*stored, *(name for one in nodes if one.is_constant for name in one.outputs)}
    values = {
        name: value(
            name,
            dims,
            (dtypes or {}).get(name, "fp32"),
            is_constant=name in constant,
            is_initializer=name in stored,
            is_graph_input=name in inputs.split(),
        )
        for name, dims in shapes.items()
    }
    return Graph(
        tuple(nodes),
        values,
        tuple(inputs.split()),
        tuple(outputs.split()),
        {name: Weight(None) for name in stored},
    )


def body(attribute: str, inside: Graph, trip_count: int | None = None) -> Body:
    return Body(attribute, inside, trip_count)


def profile(main: Graph) -> Profile:
    made = profile_of(OnnxModel(main, {"": 21}, "a test"), "small.onnx", None, ())
    assert made.check() == ()
    return made

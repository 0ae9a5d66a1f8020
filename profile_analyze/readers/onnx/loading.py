"""Reads the bytes of an ONNX model, and infers the shapes of all its values."""

from __future__ import annotations

from collections import ChainMap
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Final

from onnx import AttributeProto, TensorProto

from profile_analyze.readers.onnx.dynamic_inputs import (
    contents_of_inputs,
    fix_inputs,
    notes_on_contradictions,
    notes_on_open_inputs,
)
from profile_analyze.readers.onnx.graph import Body, Graph, Node, OnnxModel, Value, Weight
from profile_analyze.readers.onnx.input_names import known_names
from profile_analyze.readers.onnx.parsing import note_on_missing_files, parse
from profile_analyze.readers.onnx.safety.onnx_calls import OnnxCalls
from profile_analyze.readers.onnx.shapes import Inference
from profile_analyze.readers.onnx.types import attributes_of, bodies_of, dims_of
from profile_analyze.readers.onnx.unique_names import UniqueNames

if TYPE_CHECKING:
    from collections.abc import MutableMapping

    from onnx import GraphProto, NodeProto

    from profile_analyze.readers.input.source import Source
    from profile_analyze.readers.onnx.parsing import Parsed
    from profile_analyze.readers.onnx.types import Scope

_RANDOM: Final = frozenset(
    (
        *("RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike"),
        *("Bernoulli", "Multinomial"),
    )
)
_SHAPE_DTYPES: Final = ("int64", "int32", "bool")
"""The dtypes that results of shape arithmetic can have."""
_DTYPES: Final = {
    "FLOAT": "fp32", "DOUBLE": "fp64", "FLOAT16": "fp16", "BFLOAT16": "bf16", "BOOL": "bool",
    "COMPLEX64": "complex64", "COMPLEX128": "complex128", "FLOAT4E2M1": "fp4",
    **{f"{sign}INT{bits}": f"{sign.lower()}int{bits}" for sign in ("", "U")
       for bits in (2, 4, 8, 16, 32, 64)},
    **{f"FLOAT8{kind}": "fp8" for kind in ("E4M3FN", "E4M3FNUZ", "E5M2", "E5M2FNUZ", "E8M0")},
}  # fmt: skip


def read_model(source: Source) -> OnnxModel:
    """Return the model in `source`, with all shapes that can be inferred.

    Raises `MalformedProfileError` if the model is damaged or not supported. Raises `QueryError` if
    the caller gives sizes that do not fit the model.
    """
    return read_with_proto(source)[1]


def read_with_proto(source: Source) -> tuple[Parsed, OnnxModel]:
    """Return the model in `source` as parsed, and as `read_model` returns it.

    The inputs in `Parsed.proto` have the sizes that the caller gives.
    """
    with OnnxCalls(source.name) as calls:
        parsed = parse(source, calls)
        proto = parsed.proto
        given, lacks = known_names(source.inputs, proto.graph, source.name)
        changes = fix_inputs(proto, given, source.name)
        inference = Inference(proto, parsed.opsets, contents_of_inputs(proto, given), calls)
    graph = _GraphMaker(parsed, inference).graph(proto.graph)
    model = OnnxModel(
        graph,
        parsed.opsets,
        " ".join(filter(None, (proto.producer_name, proto.producer_version))),
        (
            *changes,
            *notes_on_contradictions(graph),
            *notes_on_open_inputs(proto),
        ),
        lacks,
        note_on_missing_files(source, parsed),
        source.inputs.tile,
    )
    return parsed, model


class _GraphMaker:
    """Makes the graphs of one model from its protobuf and the inferred types."""

    def __init__(self, parsed: Parsed, inference: Inference) -> None:
        self._parsed = parsed
        self._inference = inference
        self._names = UniqueNames()

    def graph(self, proto: GraphProto, outer: MutableMapping[str, Value] | None = None) -> Graph:
        """Return the graph that `proto` stores.

        For a body, `outer` has the values of the graphs around it, which its nodes can read.
        """
        scope = self._inference.scope_of(proto)
        initializers = {tensor.name: tensor for tensor in proto.initializer}
        initializers.update((sparse.values.name, sparse) for sparse in proto.sparse_initializer)
        inputs = tuple(one.name for one in proto.input if one.name not in initializers)
        values = {
            name: _value(name, scope, is_constant=True, is_initializer=True)
            for name in initializers
        }
        for name in inputs:
            values[name] = _value(name, scope, is_graph_input=outer is None)
        # The values around a body are not copied: a graph may have thousands of bodies.
        visible = dict(values) if outer is None else ChainMap(dict(values), outer)
        nodes = self._nodes(proto, scope, visible)
        for position, contradiction in scope.contradictions.items():
            nodes[position] = nodes[position]._replace(contradiction=contradiction)
        outputs = tuple(one.name for one in proto.output)
        used = dict.fromkeys(name for node in nodes for name in (*node.inputs, *node.outputs))
        for body in (body for node in nodes for body in node.bodies):
            used.update(dict.fromkeys(body.graph.values))
        used.update(dict.fromkeys(outputs))
        values.update((name, visible[name]) for name in used if name in visible)
        return Graph(
            tuple(nodes),
            values,
            inputs,
            outputs,
            {name: Weight(self._complete(tensor)) for name, tensor in initializers.items()},
            self._tensors_of_nodes(proto, "Constant"),
            self._tensors_of_nodes(proto, "ConstantOfShape"),
        )

    def _tensors_of_nodes(self, proto: GraphProto, type_: str) -> dict[str, Weight]:
        """Return the tensor in each node of the type `type_`, by the name of the node's output."""
        return {
            node.output[0]: Weight(self._parsed.complete(attribute.t))
            for node in proto.node
            if node.op_type == type_ and not node.domain and node.output
            for attribute in node.attribute
            if attribute.type == AttributeProto.TENSOR
        }

    def _complete(self, tensor: Any) -> Any:
        return self._parsed.complete(tensor) if isinstance(tensor, TensorProto) else tensor

    def _nodes(
        self, proto: GraphProto, scope: Scope, visible: MutableMapping[str, Value]
    ) -> list[Node]:
        """Return the nodes of a graph, and add their outputs to `visible`."""
        return [
            self._node(name, node, scope, visible)
            for name, node in zip(self._unique_names(proto), proto.node, strict=True)
        ]

    def _node(
        self, name: str, proto: NodeProto, scope: Scope, visible: MutableMapping[str, Value]
    ) -> Node:
        """Return a node, and add its outputs to `visible`."""
        bodies = tuple(
            Body(attribute, self.graph(body, visible), self._trips(body))
            for attribute, body in bodies_of(proto)
        )
        captured = (name for body in bodies for name in body.graph.values if name in visible)
        read = [visible[name] for name in (*proto.input, *captured) if name]
        is_random = _is_random(proto)
        is_constant = not is_random and all(value.is_constant for value in read)
        if is_constant:
            bodies = tuple(body._replace(graph=_constant(body.graph)) for body in bodies)
        written = [
            _value(output, scope, is_constant=is_constant) for output in proto.output if output
        ]
        is_arithmetic = (
            not (is_constant or is_random)
            and (
                _starts_arithmetic(proto)
                or all(value.is_shape_arithmetic or value.is_constant for value in read)
            )
            and all(value.dtype in _SHAPE_DTYPES for value in written)
        )
        for value in written:
            visible[value.name] = value._replace(is_shape_arithmetic=is_arithmetic)
        return Node(
            name,
            proto.op_type,
            "" if proto.domain == "ai.onnx" else proto.domain,
            tuple(proto.input),
            tuple(proto.output),
            {key: value for key, value in attributes_of(proto).items() if _is_plain(value)},
            is_constant,
            is_arithmetic,
            bodies,
        )

    def _trips(self, body: GraphProto) -> int | None:
        return self._inference.scope_of(body).trip_count

    def _unique_names(self, graph: GraphProto) -> list[str]:
        """Return the names of the nodes. No two nodes of the model have the same name.

        A node without a name gets its type and position, as in profiles of ONNX Runtime. The
        position is the number of earlier nodes in the same graph, not counting Constant nodes.
        """
        # The last position, after all nodes, is not used.
        positions = accumulate((not _is_constant_node(node) for node in graph.node), initial=0)
        return [
            self._names.unique(node.name or f"{node.op_type}_{position}")
            for node, position in zip(graph.node, positions, strict=False)
        ]


def _constant(graph: Graph) -> Graph:
    """Return the body of a constant node, with all its nodes and values marked as constant."""
    nodes = tuple(
        node._replace(
            is_constant=True,
            is_shape_arithmetic=False,
            bodies=tuple(body._replace(graph=_constant(body.graph)) for body in node.bodies),
        )
        for node in graph.nodes
    )
    values = {
        name: value._replace(is_constant=True, is_shape_arithmetic=False)
        for name, value in graph.values.items()
    }
    return graph._replace(nodes=nodes, values=values)


def _is_constant_node(node: NodeProto) -> bool:
    return node.op_type == "Constant" and not node.domain


def _is_random(node: NodeProto) -> bool:
    """Return whether the node has other results in each run, even for constant inputs."""
    inner = (one for _, body in bodies_of(node) for one in body.node)
    return (node.op_type in _RANDOM and not node.domain) or any(map(_is_random, inner))


def _starts_arithmetic(node: NodeProto) -> bool:
    return node.op_type in ("Shape", "Size") and not node.domain


def _is_plain(value: object) -> bool:
    return isinstance(value, (int, float, str, tuple))


def _value(name: str, scope: Scope, **facts: bool) -> Value:
    sizes = scope.sizes(name)
    symbols = tuple(size if isinstance(size, str) else None for size in sizes or ())
    return Value(
        name, dims_of(sizes), _dtype(scope.dtype(name)), symbols if any(symbols) else (), **facts
    )


def _dtype(number: int) -> str | None:
    if number == TensorProto.UNDEFINED:
        return None
    try:
        name: str = TensorProto.DataType.Name(number)
    except ValueError:  # a dtype that this version of `onnx` does not know
        return f"dtype {number}"
    return _DTYPES.get(name, name)

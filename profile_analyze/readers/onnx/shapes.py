"""Infers the types of all values of a model, even where the inference of `onnx` has gaps."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Final

import numpy as np
from onnx import ModelProto, numpy_helper

from profile_analyze.readers.onnx import folding
from profile_analyze.readers.onnx.bodies import infer_body_node
from profile_analyze.readers.onnx.contradictions import record_contradictions
from profile_analyze.readers.onnx.safety.onnx_calls import INFER, OnnxError, packed
from profile_analyze.readers.onnx.shape_rules import standard_node, types_by_rule
from profile_analyze.readers.onnx.types import (
    Scope,
    attributes_of,
    bodies_of,
    declare,
    is_complete,
    merged,
    sizes_of,
    take_types,
    tensor_type,
    without_generated_symbols,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from onnx import GraphProto, NodeProto, TypeProto

    from profile_analyze.readers.onnx.folding import Array
    from profile_analyze.readers.onnx.safety.onnx_calls import OnnxCalls

_INT64: Final = 7


class Inference:
    """The types of all values, graph by graph."""

    def __init__(
        self,
        proto: ModelProto,
        opsets: Mapping[str, int],
        values: Mapping[str, Array],
        calls: OnnxCalls,
    ) -> None:
        """Infer all types of `proto`. `values` has the contents of some inputs."""
        self._calls = calls
        self._known: dict[bytes, list[TypeProto | None]] = {}
        """The types of a node's outputs, by the model that has only this node."""
        self._opset_imports = list(proto.opset_import)
        # Before IR version 4, `onnx` uses the shape of an initializer only if it is an input, too.
        # All versions from 4 on are equal in this respect.
        self._ir_version = max(proto.ir_version, 8)
        self._scopes: dict[int, tuple[GraphProto, Scope]] = {}
        scope = Scope(opsets)
        for name, array in values.items():
            scope.set_array(name, array)
        graph = proto.graph
        declare(graph, scope)
        inferred = _inferred(proto, calls)
        # `onnx` assumes that the elements of a sequence have the same shape after a loop as before.
        if not _has_loop_with_sequence(inferred):
            take_types(inferred, scope)
        if _needs_walk(graph, scope):
            self.infer_graph(graph, scope)
        else:
            self._scopes[id(graph)] = (graph, scope)
        record_contradictions(graph, scope, self.scope_of)

    def scope_of(self, graph: GraphProto) -> Scope:
        """Return what is known about the values of a graph or body of the model."""
        return self._scopes[id(graph)][1]

    def infer_graph(self, graph: GraphProto, scope: Scope) -> None:
        """Infer the types of all values that nodes of `graph` write."""
        # The graph is kept, so that no other object gets its id.
        self._scopes[id(graph)] = (graph, scope)
        for node in graph.node:
            self._infer(node, scope)

    def _infer(self, node: NodeProto, scope: Scope) -> None:
        before = [scope.types.get(name) for name in node.output]
        if next(bodies_of(node), None) is not None:
            inferred = infer_body_node(node, scope, self.infer_graph)
        elif all(map(is_complete, before)):
            inferred = []
        else:
            inferred = types_by_rule(node, scope) or self._types_of_outputs(node, scope)
        for position, name in enumerate(node.output):
            new = inferred[position] if position < len(inferred) else None
            type_ = merged(new, before[position])
            if name and type_ is not None:
                scope.types[name] = type_
        self._fold(node, scope)

    def _types_of_outputs(self, node: NodeProto, scope: Scope) -> list[TypeProto | None]:
        """Infer the types of a node's outputs: `onnx` infers a model that has only this node."""
        model = self._model_of(node, scope)
        try:
            data = packed(model)
            if data not in self._known:
                inferred = self._calls.call(INFER, data).graph.value_info
                by_name = {one.name: without_generated_symbols(one.type) for one in inferred}
                outputs = model.graph.node[0].output
                self._known[data] = [by_name.get(name) for name in outputs]
        except OnnxError:
            return []
        return self._known[data]

    def _model_of(self, node: NodeProto, scope: Scope) -> ModelProto:
        """Return a model of one node. Equal layers of a network have equal models."""
        model = ModelProto(ir_version=self._ir_version, opset_import=self._opset_imports)
        graph = model.graph
        graph.name = "one node"
        graph.node.append(standard_node(node))
        same = graph.node[0]
        for field in ("name", "doc_string", "metadata_props"):
            same.ClearField(field)
        names = {name: f"i{at}" for at, name in enumerate(filter(None, same.input))}
        same.input[:] = [names.get(name, "") for name in same.input]
        same.output[:] = [name and f"o{at}" for at, name in enumerate(same.output)]
        for name, new in names.items():
            array = scope.array(name)
            if array is not None:
                graph.initializer.append(numpy_helper.from_array(np.ascontiguousarray(array), new))
                # `ascontiguousarray` turns a scalar into a vector of one element.
                graph.initializer[-1].dims[:] = array.shape
            elif name in scope.types:
                graph.input.add(name=new, type=scope.types[name])
        return model

    def _fold(self, node: NodeProto, scope: Scope) -> None:
        """Compute the outputs of a node if its inputs are known and small."""
        if node.domain or not node.output:
            return
        arrays = _folded(node, scope)
        for name, array in zip(node.output, arrays or (), strict=False):
            old = scope.types.get(name)
            elem_type = 0 if old is None else old.tensor_type.elem_type
            if not elem_type and array.dtype == np.int64:
                elem_type = _INT64
            scope.set_array(name, array)
            scope.types[name] = tensor_type(elem_type, array.shape)


def _inferred(proto: ModelProto, calls: OnnxCalls) -> GraphProto:
    """Return the graph with the types that `onnx` infers, or without if `onnx` fails."""
    try:
        return calls.call(INFER, packed(proto)).graph
    except OnnxError:
        return proto.graph


def _needs_walk(graph: GraphProto, scope: Scope) -> bool:
    """Return whether types must be inferred node by node: for bodies, or for incomplete types."""
    return any(
        next(bodies_of(node), None) is not None
        or any(name and not is_complete(scope.types.get(name)) for name in node.output)
        for node in graph.node
    )


def _has_loop_with_sequence(graph: GraphProto) -> bool:
    """Return whether a Loop in `graph`, or in a body, carries a value that is not a tensor."""
    return any(
        (
            node.op_type == "Loop"
            and not all(value.type.HasField("tensor_type") for value in body.output)
        )
        or _has_loop_with_sequence(body)
        for node in graph.node
        for _, body in bodies_of(node)
    )


def _folded(node: NodeProto, scope: Scope) -> Iterable[Array] | None:
    if node.op_type in ("Shape", "Size"):
        return _shape(node, scope) if node.input else None
    if node.op_type not in folding.FOLDED:
        return None
    inputs = [scope.array(name) if name else None for name in node.input]
    if any(name and array is None for name, array in zip(node.input, inputs, strict=True)):
        return None
    # Large results are skipped: they are weights or data, and never part of a shape.
    sizes = sizes_of(scope.types.get(node.output[0]))
    known = [size for size in sizes or () if isinstance(size, int)]
    if sizes is not None and len(known) == len(sizes) and prod(known) > folding.LARGEST:
        return None
    attributes = attributes_of(node)
    if node.op_type == "Split":  # before version 18, Split has no attribute `num_outputs`
        attributes.setdefault("num_outputs", len(node.output))
    if any(value is None for value in attributes.values()):  # a large tuple or array
        return None
    return folding.fold(node.op_type, inputs, attributes)


def _shape(node: NodeProto, scope: Scope) -> list[Array] | None:
    """Return the output of a Shape or Size node; None if a size is unknown."""
    sizes = scope.sizes(node.input[0])
    if sizes is None:
        return None
    attributes = attributes_of(node)
    if node.op_type == "Shape":
        start, end = attributes.get("start", 0), attributes.get("end", len(sizes))
        if not (isinstance(start, int) and isinstance(end, int)):  # damaged, or a large tuple
            return None
        sizes = sizes[start:end]
    if not all(isinstance(size, int) for size in sizes):
        return None
    shape = np.array(sizes, np.int64)
    return [shape if node.op_type == "Shape" else np.array(shape.prod(), np.int64)]

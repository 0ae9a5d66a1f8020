"""Reads the bytes of an ONNX model, and infers the shapes of all its values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import onnx
from onnx import helper, shape_inference

from profile_analyze.readers.onnx.graph import Graph, Node, OnnxModel, Value, Weight

if TYPE_CHECKING:
    from profile_analyze.readers.source import Source

_DTYPES: Final = {
    "FLOAT": "fp32", "DOUBLE": "fp64", "FLOAT16": "fp16", "BFLOAT16": "bf16", "BOOL": "bool",
    **{name: name.lower() for name in ("INT64", "INT32", "INT16", "INT8", "INT4", "UINT8")},
}  # fmt: skip


def read_model(source: Source) -> OnnxModel:
    """Return the model in `source`, with all shapes that can be inferred."""
    proto = onnx.load_from_string(source.content())
    graph = shape_inference.infer_shapes(proto, data_prop=True).graph
    values = {}
    for initializer in graph.initializer:
        dtype = _dtype(initializer.data_type)
        name = initializer.name
        values[name] = Value(
            name, tuple(initializer.dims), dtype, is_constant=True, is_initializer=True
        )
    inputs = [value for value in graph.input if value.name not in values]
    for value in (*inputs, *graph.value_info, *graph.output):
        values[value.name] = _value(value, is_graph_input=value in inputs)
    nodes = []
    for position, node in enumerate(graph.node):
        for name in (*node.input, *node.output):
            values.setdefault(name, Value(name, None, None))
        attributes = {
            attribute.name: helper.get_attribute_value(attribute)
            for attribute in node.attribute
            if attribute.type in (attribute.INT, attribute.FLOAT, attribute.INTS)
        }
        nodes.append(
            Node(
                node.name or f"{node.op_type}_{position}",
                node.op_type,
                node.domain,
                tuple(node.input),
                tuple(node.output),
                attributes,
            )
        )
    return OnnxModel(
        Graph(
            tuple(nodes),
            values,
            tuple(value.name for value in inputs),
            tuple(value.name for value in graph.output),
            {initializer.name: Weight(initializer) for initializer in graph.initializer},
        ),
        {opset.domain: opset.version for opset in proto.opset_import},
        " ".join(filter(None, (proto.producer_name, proto.producer_version))),
    )


def _value(value: Any, *, is_graph_input: bool) -> Value:
    tensor = value.type.tensor_type
    dims = None
    if tensor.HasField("shape"):
        dims = tuple(
            dim.dim_value if dim.HasField("dim_value") else None for dim in tensor.shape.dim
        )
    return Value(value.name, dims, _dtype(tensor.elem_type), is_graph_input=is_graph_input)


def _dtype(number: int) -> str | None:
    name = onnx.TensorProto.DataType.Name(number)
    return None if name == "UNDEFINED" else _DTYPES.get(name, name)

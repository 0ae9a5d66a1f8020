"""The models in onnx-tool's recorded tables, with the weights stored in the file."""

from __future__ import annotations

from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

LIGHT = Path(onnx.__file__).parent / "backend" / "test" / "data" / "light"


def with_stored_weights(name: str) -> onnx.ModelProto:
    """Return a `light_*` model with initializers in place of its ConstantOfShape nodes."""
    model = onnx.load(LIGHT / f"light_{name}.onnx")
    graph = model.graph
    shapes = {one.name: numpy_helper.to_array(one) for one in graph.initializer}
    made = [node for node in graph.node if node.op_type == "ConstantOfShape"]
    for node in made:
        graph.node.remove(node)
        weight = np.zeros(shapes[node.input[0]], np.float32)
        graph.initializer.append(numpy_helper.from_array(weight, node.output[0]))
    used = {name for node in graph.node for name in node.input}
    for stored in (graph.initializer, graph.input):
        for one in [one for one in stored if one.name not in used]:
            stored.remove(one)
    model.ir_version = 4  # before version 4, all initializers must be inputs, too
    return model


class _Transformer:
    """Builds two layers of a transformer encoder of width 256, with 4 heads."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []
        self._names = map(str, count())

    def weight(self, *shape: int) -> str:
        name = f"w{next(self._names)}"
        self.weights.append(numpy_helper.from_array(np.zeros(shape, np.float32), name))
        return name

    def node(self, name: str, *inputs: str, **attributes: Any) -> str:
        output = f"t{next(self._names)}"
        type_ = name.rpartition("/")[2]
        self.nodes.append(helper.make_node(type_, inputs, [output], name, **attributes))
        return output

    def projected(self, name: str, x: str, axes: list[int]) -> str:
        y = self.node(f"{name}/MatMul", x, self.weight(256, 256))
        y = self.node(f"{name}/Add", y, self.weight(256))
        y = self.node(f"{name}/Reshape", y, "heads")
        return self.node(f"{name}/Transpose", y, perm=axes)

    def layer(self, name: str, x: str) -> str:
        attention = f"{name}/attn"
        q, k, v = (
            self.projected(f"{attention}/{one}", x, [0, 2, 3, 1] if one == "k" else [0, 2, 1, 3])
            for one in "qkv"
        )
        y = self.node(f"{attention}/scores/MatMul", q, k)
        y = self.node(f"{attention}/Softmax", self.node(f"{attention}/Div", y, "scale"))
        y = self.node(f"{attention}/ctx/MatMul", y, v)
        y = self.node(f"{attention}/ctx/Transpose", y, perm=[0, 2, 1, 3])
        y = self.node(f"{attention}/ctx/Reshape", y, "joined")
        y = self.node(f"{attention}/o/MatMul", y, self.weight(256, 256))
        y = self.node(f"{attention}/residual/Add", y, x)
        norm = self.node(
            f"{name}/ln/LayerNormalization", y, self.weight(256), self.weight(256), axis=-1
        )
        y = self.node(f"{name}/ffn/fc1/MatMul", norm, self.weight(256, 1024))
        y = self.node(f"{name}/ffn/Relu", y)
        y = self.node(f"{name}/ffn/fc2/MatMul", y, self.weight(1024, 256))
        return self.node(f"{name}/ffn/residual/Add", y, norm)


def tiny_transformer() -> onnx.ModelProto:
    """Return two layers of a transformer encoder, for a batch of 2 with 64 tokens each."""
    made = _Transformer()
    output = made.layer("/layer1", made.layer("/layer0", "x"))
    shape = (2, 64, 256)
    constants = [
        numpy_helper.from_array(np.array([0, 0, 4, 64], np.int64), "heads"),
        numpy_helper.from_array(np.array([0, 0, 256], np.int64), "joined"),
        numpy_helper.from_array(np.array(8, np.float32), "scale"),
    ]
    graph = helper.make_graph(
        made.nodes,
        "tiny_transformer",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info(output, TensorProto.FLOAT, shape)],
        [*made.weights, *constants],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)

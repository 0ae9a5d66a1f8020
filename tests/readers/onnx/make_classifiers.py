"""Makes the two small classifiers that docs/models.md shows. Their weights are all zero."""

from __future__ import annotations

from typing import Any

from onnx import ModelProto, NodeProto, TensorProto, helper, save

from tests.conftest import ROOT

FOLDER = ROOT / "tests/fixtures/classifiers"


def classifier(channels: int) -> ModelProto:
    """Return a residual network of three convolutions and a linear layer."""
    nodes: list[NodeProto] = []
    shapes = []

    def weight(name: str, *dims: int) -> str:
        shapes.append(helper.make_tensor(f"{name}.shape", TensorProto.INT64, [len(dims)], dims))
        nodes.append(helper.make_node("ConstantOfShape", [f"{name}.shape"], [name], name))
        return name

    def layer(name: str, type_: str, *inputs: str, **attributes: Any) -> str:
        nodes.append(helper.make_node(type_, inputs, [f"{name}.out"], name, **attributes))
        return f"{name}.out"

    def conv(name: str, data: str, in_channels: int, stride: int) -> str:
        kernel = weight(f"{name}.weight", channels, in_channels, 3, 3)
        bias = weight(f"{name}.bias", channels)
        attributes: dict[str, Any] = {
            "kernel_shape": [3, 3],
            "pads": [1] * 4,
            "strides": [stride] * 2,
        }
        return layer(name, "Conv", data, kernel, bias, **attributes)

    stem = layer("stem.relu", "Relu", conv("stem", "image", 3, 2))
    inner = layer("block.relu", "Relu", conv("block.conv1", stem, channels, 1))
    added = layer("block.add", "Add", conv("block.conv2", inner, channels, 1), stem)
    pooled = layer("pool", "GlobalAveragePool", layer("relu", "Relu", added))
    flat = layer("flatten", "Flatten", pooled)
    matrix, bias = weight("linear.weight", 10, channels), weight("linear.bias", 10)
    scores = layer("linear", "Gemm", flat, matrix, bias, transB=1)
    image = helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 3, 64, 64])
    result = helper.make_tensor_value_info(scores, TensorProto.FLOAT, [1, 10])
    main = helper.make_graph(nodes, "classifier", [image], [result], shapes)
    return helper.make_model(
        main,
        opset_imports=[helper.make_opsetid("", 17)],
        ir_version=8,
        producer_name="made by hand",
    )


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    save(classifier(16), FOLDER / "classifier.onnx")
    save(classifier(24), FOLDER / "classifier-wide.onnx")

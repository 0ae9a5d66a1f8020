"""Makes the small classifiers that docs/models.md shows. Their weights are all zero."""

from __future__ import annotations

from typing import Any

from onnx import ModelProto, NodeProto, TensorProto, helper, save

from profile_analyze.readers.input.source import Source
from profile_analyze.readers.model_inputs import ModelInputs
from profile_analyze.writers import split_model
from tests.conftest import ROOT

FOLDER = ROOT / "tests/fixtures/classifiers"


class Network:
    """The nodes of a network, added one after another."""

    def __init__(self) -> None:
        self.nodes: list[NodeProto] = []
        self.shapes: list[TensorProto] = []

    def weight(self, name: str, *dims: int) -> str:
        self.shapes.append(
            helper.make_tensor(f"{name}.shape", TensorProto.INT64, [len(dims)], dims)
        )
        self.nodes.append(helper.make_node("ConstantOfShape", [f"{name}.shape"], [name], name))
        return name

    def layer(self, name: str, type_: str, *inputs: str, **attributes: Any) -> str:
        self.nodes.append(helper.make_node(type_, inputs, [f"{name}.out"], name, **attributes))
        return f"{name}.out"

    def conv(
        self, name: str, data: str, channels: tuple[int, int], kernel: int = 3, **attributes: Any
    ) -> str:
        """Add a padded convolution. `channels` are the numbers of input and output channels."""
        per_group = channels[0] // attributes.get("group", 1)
        weights = self.weight(f"{name}.weight", channels[1], per_group, kernel, kernel)
        bias = self.weight(f"{name}.bias", channels[1])
        window = {"kernel_shape": [kernel] * 2, "pads": [kernel // 2] * 4}
        return self.layer(name, "Conv", data, weights, bias, **window, **attributes)

    def linear(self, name: str, data: str, features: int, results: int = 10) -> str:
        weights = self.weight(f"{name}.weight", results, features)
        bias = self.weight(f"{name}.bias", results)
        return self.layer(name, "Gemm", data, weights, bias, transB=1)

    def model(self, name: str, data: str, shape: list[int], result: str) -> ModelProto:
        image = helper.make_tensor_value_info(data, TensorProto.FLOAT, shape)
        scores = helper.make_tensor_value_info(result, TensorProto.FLOAT, [1, 10])
        return helper.make_model(
            helper.make_graph(self.nodes, name, [image], [scores], self.shapes),
            opset_imports=[helper.make_opsetid("", 17)],
            ir_version=8,
            producer_name="made by hand",
        )


def classifier(channels: int) -> ModelProto:
    """Return a residual network of three convolutions and a linear layer."""
    net = Network()
    stem = net.layer("stem.relu", "Relu", net.conv("stem", "image", (3, channels), strides=[2, 2]))
    same = (channels, channels)
    inner = net.layer("block.relu", "Relu", net.conv("block.conv1", stem, same, strides=[1, 1]))
    added = net.layer(
        "block.add", "Add", net.conv("block.conv2", inner, same, strides=[1, 1]), stem
    )
    pooled = net.layer("pool", "GlobalAveragePool", net.layer("relu", "Relu", added))
    scores = net.linear("linear", net.layer("flatten", "Flatten", pooled), channels)
    return net.model("classifier", "image", [1, 3, 64, 64], scores)


def smallcnn() -> ModelProto:
    """Return the network of tests/fixtures/profiles/smallcnn.json."""
    net = Network()
    first = net.layer("c1.relu", "Relu", net.conv("c1", "data", (3, 16)))
    added = net.layer("c2.add", "Add", first, net.conv("c2", first, (16, 16)))
    second = net.layer("c2.relu", "Relu", added)
    third = net.layer("c3.relu", "Relu", net.conv("c3", second, (16, 32), strides=[2, 2]))
    window = {"kernel_shape": [2, 2], "strides": [2, 2]}
    pooled = net.layer("MaxPool_8", "MaxPool", third, **window)
    depthwise = net.layer("dw.relu", "Relu", net.conv("dw", pooled, (32, 32), group=32))
    last = net.layer("c4.sigmoid", "Sigmoid", net.conv("c4", depthwise, (32, 32), 1))
    flat = net.layer("flatten", "Flatten", net.layer("mean", "GlobalAveragePool", last))
    scores = net.layer("probabilities", "Softmax", net.linear("fc", flat, 32), axis=1)
    return net.model("smallcnn", "data", [1, 3, 32, 32], scores)


def digits() -> ModelProto:
    """Return a network of two linear layers."""
    net = Network()
    hidden = net.layer("relu", "Relu", net.linear("fc1", "image", 784, 200))
    return net.model("digits", "image", [1, 784], net.linear("fc2", hidden, 200))


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    save(classifier(16), FOLDER / "classifier.onnx")
    save(classifier(24), FOLDER / "classifier-wide.onnx")
    save(smallcnn(), FOLDER / "smallcnn.onnx")
    save(digits(), FOLDER / "digits.onnx")
    # tests/writers/test_split_models.py checks that the command writes the same model.
    source = Source(FOLDER / "digits.onnx", inputs=ModelInputs.of(tile="64,128,256"))
    (FOLDER / "digits-split.onnx").write_bytes(split_model(source).data)

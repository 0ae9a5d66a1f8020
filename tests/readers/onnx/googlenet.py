"""Makes GoogLeNet for images of 224 x 224, as BVLC or torchvision define it."""

from __future__ import annotations

from itertools import count
from typing import Any, Final

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

_INCEPTIONS: Final = (
    ((64, 96, 128, 16, 32, 32), (128, 128, 192, 32, 96, 64)),
    (
        *((192, 96, 208, 16, 48, 64), (160, 112, 224, 24, 64, 64), (128, 128, 256, 24, 64, 64)),
        *((112, 144, 288, 32, 64, 64), (256, 160, 320, 32, 128, 128)),
    ),
    ((256, 160, 320, 32, 128, 128), (384, 192, 384, 48, 128, 128)),
)
"""The output channels of each inception, grouped into stages. A pooling separates two stages. The
order of the channels is: 1x1, reduction before 3x3, 3x3, reduction before 5x5, 5x5, convolution
after pooling."""


class _GoogLeNet:
    def __init__(self, *, is_torchvision: bool) -> None:
        self.is_torchvision = is_torchvision
        self.nodes: list[onnx.NodeProto] = []
        self.shapes: list[onnx.TensorProto] = []
        self._names = map(str, count())

    def node(self, type_: str, *inputs: str, **attributes: Any) -> str:
        output = f"t{next(self._names)}"
        self.nodes.append(helper.make_node(type_, inputs, [output], **attributes))
        return output

    def weight(self, *shape: int) -> str:
        name = f"s{next(self._names)}"
        self.shapes.append(numpy_helper.from_array(np.array(shape, np.int64), name))
        return self.node("ConstantOfShape", name)

    def conv(self, x: str, inputs: int, outputs: int, side: int = 1, stride: int = 1) -> str:
        weight = self.weight(outputs, inputs, side, side)
        window = {"kernel_shape": [side] * 2, "strides": [stride] * 2, "pads": [side // 2] * 4}
        if self.is_torchvision:
            y = self.node("Conv", x, weight, **window)
            y = self.node("BatchNormalization", y, *(self.weight(outputs) for _ in range(4)))
        else:
            y = self.node("Conv", x, weight, self.weight(outputs), **window)
        return self.node("Relu", y)

    def pool(self, x: str, stride: int = 2) -> str:
        padding = {"pads": [1] * 4} if stride == 1 else {"ceil_mode": 1}
        window = {"kernel_shape": [3, 3], "strides": [stride] * 2}
        return self.node("MaxPool", x, **window, **padding)

    def inception(self, x: str, inputs: int, channels: tuple[int, ...]) -> tuple[str, int]:
        one, three_reduced, three, five_reduced, five, pooled = channels
        side = 3 if self.is_torchvision else 5  # torchvision has 3x3 in place of 5x5
        branches = (
            self.conv(x, inputs, one),
            self.conv(self.conv(x, inputs, three_reduced), three_reduced, three, 3),
            self.conv(self.conv(x, inputs, five_reduced), five_reduced, five, side),
            self.conv(self.pool(x, stride=1), inputs, pooled),
        )
        return self.node("Concat", *branches, axis=1), one + three + five + pooled

    def scores(self) -> str:
        x = self.pool(self.conv("image", 3, 64, 7, 2))
        x, channels = self.conv(self.conv(x, 64, 64), 64, 192, 3), 192
        for stage in _INCEPTIONS:
            x = self.pool(x)
            for one in stage:
                x, channels = self.inception(x, channels, one)
        x = self.node("Flatten", self.node("GlobalAveragePool", x))
        return self.node("Gemm", x, self.weight(1000, channels), self.weight(1000), transB=1)


def googlenet(*, is_torchvision: bool) -> onnx.ModelProto:
    """Return the network. BVLC's convolutions have a bias, torchvision's have none."""
    made = _GoogLeNet(is_torchvision=is_torchvision)
    output = made.scores()
    graph = helper.make_graph(
        made.nodes,
        "googlenet",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, (1, 3, 224, 224))],
        [helper.make_tensor_value_info(output, TensorProto.FLOAT, (1, 1000))],
        made.shapes,
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)

"""Records what onnx-tool counts for single operators: `python -m tests.work.record_onnx_tool`.

This program needs onnx-tool 1.0.1. The tests do not.
"""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

from onnx import helper

from profile_analyze.work.onnx_tool import KNOWN
from tests.work.test_onnx_tool import RECORDED, Operator

_VOLUME = [2, 6, 5, 7]
_RECURRENT = [[2, 16, 5], [2, 16, 4], [2, 32]]
_INPUTS: dict[str, list[list[int]]] = {
    "Conv": [[1, 6, 5, 7], [8, 3, 3, 3], [8]],
    "ConvTranspose": [[1, 6, 5, 7], [6, 3, 3, 3]],
    "ConvInteger": [[1, 6, 5, 7], [8, 3, 3, 3]],
    "QLinearConv": [[1, 6, 5, 7], [], [], [8, 3, 3, 3], [], [], [], [], [8]],
    "Einsum": [_VOLUME, [7, 5, 3, 4]],
    "Gemm": [[4, 6], [5, 6], [5]],
    "GRU": [[7, 2, 5], [1, 12, 5], [1, 12, 4], [1, 24]],
    "LSTM": [[7, 2, 5], *_RECURRENT],
    "MatMul": [[3, 4, 6], [6, 5]],
    "MatMulInteger": [[3, 4, 6], [6, 5], []],
    "QLinearMatMul": [[3, 4, 6], [], [], [6, 5], [], [], [], []],
    "Sum": [_VOLUME, _VOLUME, _VOLUME],
}
_OUTPUTS = {
    "Gemm": [4, 5],
    **{type_: [3, 4, 5] for type_ in ("MatMul", "MatMulInteger", "QLinearMatMul")},
}
_ATTRIBUTES: dict[str, dict[str, Any]] = {
    "AveragePool": {"kernel_shape": [3, 2]},
    "Einsum": {"equation": "abcd,dcef->abef"},
    "Gemm": {"transB": 1},
    "LayerNormalization": {"axis": 2},
    "LRN": {"size": 5},
    "MaxPool": {"kernel_shape": [2, 2, 2]},
    "Resize": {"mode": "linear"},
    "Upsample": {"mode": "cubic"},
}


def main() -> None:
    """Record the count of each type of operator."""
    from onnx_tool.node import create_node  # type: ignore[import-not-found]

    operators: list[Operator] = []
    for type_ in sorted(KNOWN):
        inputs = _INPUTS.get(type_, [_VOLUME, _VOLUME])
        output = _OUTPUTS.get(type_, _VOLUME)
        attributes = _ATTRIBUTES.get(type_, {})
        node = create_node(helper.make_node(type_, list(map(str, inputs)), ["y"], **attributes))
        tensors = [SimpleNamespace(get_shape=lambda shape=shape: [*shape]) for shape in inputs]
        macs, _ = node.profile(tensors, [SimpleNamespace(get_shape=lambda shape=output: [*shape])])
        operators.append([type_, inputs, output, attributes, int(macs)])
    lines = ",\n".join(map(json.dumps, operators))
    RECORDED.write_text(f"[\n{lines}\n]\n")


if __name__ == "__main__":
    main()

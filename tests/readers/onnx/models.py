"""Small ONNX models that the tests write as text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onnx import parser

if TYPE_CHECKING:
    from pathlib import Path

HEAD = '<ir_version: 8, opset_import: ["" : 18]>\n'
RELU = "g (float[N, 3] x) => (float[N, 3] y) { y = Relu (x) }"


def model(graph: str, head: str = HEAD) -> Any:
    return parser.parse_model(head + graph)


def write_model(folder: Path, proto: Any, name: str = "m.onnx") -> str:
    path = folder / name
    path.write_bytes(proto.SerializeToString())
    return str(path)

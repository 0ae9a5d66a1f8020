"""The shapes of all values equal the shapes that ONNX Runtime computed for the recorded models."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from profile_analyze.readers.model_inputs import ModelInputs
from profile_analyze.readers.onnx.loading import read_model
from profile_analyze.readers.source import Source
from tests.readers.onnx.models import model

HEAD = '<ir_version: 8, opset_import: ["" : 18, "com.microsoft" : 1]>\n'
MODELS = Path(__file__).parents[2] / "fixtures" / "models"
NAMES = sorted(path.stem for path in MODELS.glob("*.onnx"))


def recorded(name: str) -> Any:
    return json.loads((MODELS / f"{name}.json").read_text())


def test_there_are_models_of_many_kinds() -> None:
    assert len(NAMES) >= 20


@pytest.mark.parametrize("name", NAMES)
def test_shapes_of_all_nodes_equal_the_shapes_of_onnx_runtime(name: str) -> None:
    record = recorded(name)
    inputs = ModelInputs.of({key: tuple(shape) for key, shape in record["inputs"].items()})
    model = read_model(Source(MODELS / f"{name}.onnx", inputs=inputs))
    outputs = [output for node in model.graph.nodes for output in node.outputs if output]
    found = {output: model.graph.values[output].dims for output in outputs}
    assert found == {output: tuple(shape) for output, shape in record["shapes"].items()}
    assert all(model.graph.values[output].dtype for output in outputs)


@pytest.mark.parametrize(
    "sizes", ["K = 8, N = 12", "K = 8, N = 12, transB = 1", "K = 12, N = 8, transB = 0"]
)
def test_products_with_packed_weights_have_a_shape(sizes: str) -> None:
    text = f"""g (float[2, 6, 8] x, uint8[48] packed, float[6] scales) => (float[2, 6, 12] y) {{
        product = com.microsoft.MatMulBnb4 <{sizes}> (x, packed, scales)
        y = Relu (product)
    }}"""
    source = Source.of_bytes("m.onnx", model(text, HEAD).SerializeToString())
    assert read_model(source).graph.values["product"].dims == (2, 6, 12)

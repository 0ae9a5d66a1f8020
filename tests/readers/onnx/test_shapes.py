"""The shapes of all values equal the shapes that ONNX Runtime computed for the recorded models."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from profile_analyze.readers.model_inputs import ModelInputs
from profile_analyze.readers.onnx.loading import read_model
from profile_analyze.readers.source import Source

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

"""The shapes of all values equal the shapes that ONNX Runtime computed for the recorded models."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from profile_analyze.readers.input.source import Source
from profile_analyze.readers.model_inputs import ModelInputs
from profile_analyze.readers.onnx.loading import read_model
from profile_analyze.readers.onnx.shape_rules import broadcast
from tests.readers.onnx.models import model

HEAD = '<ir_version: 8, opset_import: ["" : 18, "com.microsoft" : 1]>\n'
MODELS = Path(__file__).parents[2] / "fixtures" / "models"
NAMES = sorted(path.stem for path in MODELS.glob("*.onnx"))


def recorded(name: str) -> Any:
    return json.loads((MODELS / f"{name}.json").read_text())


def test_there_are_at_least_20_models() -> None:
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


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        (("N",), (5,), (5,)),
        (("N",), (0,), (0,)),
        (("N",), (1,), ("N",)),
        (("N",), ("N",), ("N",)),
        (("N",), ("M",), (None,)),
        (("N",), (None,), (None,)),
        ((None,), (5,), (5,)),
        ((None,), (1,), (None,)),
        ((2,), (3,), (None,)),
        ((3,), ("N", 1), ("N", 3)),
        (None, (3,), None),
    ],
)
def test_shapes_are_broadcast(left: Any, right: Any, expected: Any) -> None:
    assert broadcast(left, right) == expected
    assert broadcast(right, left) == expected


CALLS = {
    "projected": "Attention <num_heads = 2> (q, w, b, , past)",
    "projected, no past": "Attention <num_heads = 2> (q, w, b)",
    "projected, shared buffer": (
        "Attention <num_heads = 2, past_present_share_buffer = 1> (q, w, b, , past, , n)"
    ),
    "heads": "MultiHeadAttention <num_heads = 2> (q, k, v, , , , past, past)",
    "heads, no past": "MultiHeadAttention <num_heads = 2> (q, k, v)",
    "heads, shared buffer": "MultiHeadAttention <num_heads = 2> (q, k, v, , , , past, past, n)",
    "groups": (
        "GroupQueryAttention <num_heads = 2, kv_num_heads = 2> (q, k, v, past, past, n, total)"
    ),
    "groups, no past": (
        "GroupQueryAttention <num_heads = 2, kv_num_heads = 2> (q, k, v, , , n, total)"
    ),
}
RESULT = (1, 3, 8)


@pytest.mark.parametrize(
    ("call", "given", "y", "present"),
    [
        ("projected", "past: 2, 1, 2, 5, 4", RESULT, (2, 1, 2, 8, 4)),
        ("projected", "past: 2, 1, 2, P, 4", RESULT, (2, 1, 2, None, 4)),
        ("projected", "past: unknown", RESULT, (2, 1, 2, None, 4)),
        ("projected, no past", "", RESULT, (2, 1, 2, 3, 4)),
        ("projected, shared buffer", "past: 2, 1, 2, 9, 4", RESULT, (2, 1, 2, 9, 4)),
        ("projected, shared buffer", "past: unknown", RESULT, (2, 1, 2, None, 4)),
        ("heads", "past: 1, 2, 5, 4", RESULT, (1, 2, 8, 4)),
        ("heads", "past: 1, 2, P, 4", RESULT, (1, 2, None, 4)),
        ("heads", "past: unknown", RESULT, (1, 2, None, 4)),
        ("heads", "v: unknown", (1, 3, None), (1, 2, None, None)),
        ("heads, no past", "", RESULT, (1, 2, 3, 4)),
        ("heads, shared buffer", "past: 1, 2, 9, 4", RESULT, (1, 2, 9, 4)),
        ("heads, shared buffer", "past: unknown", RESULT, (1, 2, None, 4)),
        ("groups", "past: 1, 2, 9, 4", RESULT, (1, 2, 9, 4)),
        ("groups", "past: 1, 2, 2, 4", RESULT, (1, 2, 7, 4)),
        ("groups", "past: 1, 2, P, 4", RESULT, (1, 2, None, 4)),
        ("groups", "past: unknown", RESULT, (1, 2, None, 4)),
        ("groups", "v: unknown", RESULT, (1, 2, 7, 4)),
        ("groups, no past", "", RESULT, (1, 2, 7, 4)),
    ],
)
def test_an_input_of_unknown_shape_is_not_taken_for_a_missing_input(
    call: str, given: str, y: object, present: object
) -> None:
    shapes = dict.fromkeys("qkv", "1, 3, 8")
    shapes |= {"w": "8, 24", "b": "24", "past": "1, 2, 4, 4"}
    if given:
        name, shapes[name] = given.split(": ")
    inputs = ", ".join(f"float[{dims}] {name}" for name, dims in shapes.items())
    proto = model(
        f"""g ({inputs}, int32[1] n) => (float[A] y) {{
            total = Constant <value = int32 {{7}}> ()
            y, present, values = com.microsoft.{CALLS[call]}
        }}""",
        HEAD,
    )
    for value in proto.graph.input:
        shape = value.type.tensor_type.shape
        if any(dim.dim_param == "unknown" for dim in shape.dim):
            value.type.tensor_type.ClearField("shape")
    values = read_model(Source.of_bytes("m.onnx", proto.SerializeToString())).graph.values
    assert [values[name].dims for name in ("y", "present")] == [y, present]

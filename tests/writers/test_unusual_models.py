"""Models with unusual names, imports and shapes, split into tiles."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from profile_analyze.model.findings import Finding, Kind
from tests.readers.onnx.models import model
from tests.writers.split import model_of, run, split, split_and_compare

SMALL = "g (float[2, 8] x, float[8, 6] w) => (float[2, 6] y) { [fc] y = MatMul (x, w) }"
UNKNOWN = Finding.of("unsplit-unknown-shapes", Kind.INCOMPLETE, names="fc")


def test_the_long_name_of_the_domain_of_onnx_is_supported() -> None:
    proto = model(SMALL)
    proto.opset_import[0].domain = proto.graph.node[0].domain = "ai.onnx"
    written = onnx.load_from_string(split(proto, "1,2,2").data)
    assert {node.domain for node in written.graph.node} == {""}
    onnx.checker.check_model(written, full_check=True)


def test_a_model_without_the_operators_of_onnx_stays_unchanged() -> None:
    text = SMALL.replace("MatMul", "com.microsoft.FusedMatMul")
    proto = model(text, '<ir_version: 8, opset_import: ["com.microsoft" : 1]>\n')
    assert onnx.load_from_string(split(proto, "1,2,2").data) == proto


def test_names_of_stored_shapes_are_not_given_to_new_values() -> None:
    proto = model(SMALL)
    proto.graph.value_info.append(helper.make_tensor_value_info("fc/a_0_0", TensorProto.INT64, [5]))
    written = onnx.load_from_string(split(proto, "1,2,2").data)
    onnx.checker.check_model(written, full_check=True)
    assert "fc/a_0_0#2" in written.graph.node[3].output


@pytest.mark.parametrize(
    "text",
    [
        SMALL.replace("float[2, 6] y", "float[2, 7] y"),
        SMALL.replace("float[2, 6] y", "float[3, 6] y"),
        SMALL.replace("float[8, 6] w", "float[9, 6] w"),
        SMALL.replace("MatMul", "Gemm").replace("float[2, 6] y", "float[2, 7] y"),
        SMALL.replace("float[2, 8] x", "float[3, 2, 8] x").replace("[2, 6] y", "[2, 2, 6] y"),
    ],
)
def test_products_with_contradicting_shapes_are_not_split(text: str) -> None:
    """A file may state wrong shapes. Tiles with wrong sizes could not run."""
    proto = model(text)
    written = split(proto, "1,2,2")
    assert onnx.load_from_string(written.data) == proto
    assert written.notes[1:] == (UNKNOWN,)


def test_a_wrong_order_of_the_sizes_of_a_result_does_not_prevent_the_split() -> None:
    """The stated shape has the right number of elements, so the product is still split."""
    text = SMALL.replace("float[2, 8] x", "float[3, 2, 8] x").replace("[2, 6] y", "[2, 3, 6] y")
    proto = model(text)
    arrays = {"x": np.ones((3, 2, 8), np.float32), "w": np.ones((8, 6), np.float32)}
    written = onnx.load_from_string(split(proto, "4,6,8").data)
    assert [node.op_type for node in written.graph.node].count("MatMul") == 2
    np.testing.assert_array_equal(run(written, arrays), run(proto, arrays))


@pytest.mark.parametrize(
    ("a", "b"),
    [((0, 8), (8, 6)), ((2, 0), (0, 6)), ((2, 8), (8, 0)), ((2, 3, 8), (8, 0))],
)
def test_products_without_elements_stay_unchanged(a: tuple[int, ...], b: tuple[int, ...]) -> None:
    arrays = {"a": np.zeros(a, np.float32), "b": np.zeros(b, np.float32)}
    proto = model_of([helper.make_node("MatMul", ["a", "b"], ["y"])], arrays)
    assert split_and_compare(proto, arrays, "1,2,2") == proto

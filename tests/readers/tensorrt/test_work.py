"""What layers compute and move, and sums against an independent count."""

from __future__ import annotations

from math import nan
from typing import TYPE_CHECKING, Any

import pytest

import profile_analyze as pa
from tests.conftest import ROOT
from tests.readers.tensorrt.files import convolution, description, layer, tensor
from tests.readers.tensorrt.independent import expected

if TYPE_CHECKING:
    from pathlib import Path

HALF = "Half"
A = tensor("a", [2, 8, 16], HALF)
B = tensor("b", [2, 16, 4], HALF)
IMAGE = tensor("x", [1, 6, 4, 4], HALF)


def test_the_sums_by_type_equal_an_independent_count() -> None:
    path = ROOT / "tests/fixtures/tensorrt/net.profile.json"
    profile = pa.load(path)
    table = pa.run(pa.Query(by="type"), profile)
    found = dict(zip(table["type"], table["time"].tolist(), strict=True))
    assert found == pytest.approx(expected(path))
    assert profile.check() == ()
    assert pa.load(path.with_name("net.graph.json")).check() == ()


def described(folder: Path, one: dict[str, Any]) -> dict[str, Any]:
    """Return the category and the work of a layer."""
    path = folder / "graph.json"
    path.write_bytes(description(one))
    columns = ("category", "macs", "computation", "memory")
    rows = pa.run(pa.Query(), pa.load(path)).rows
    return {name: rows[0][name] for name in columns}


def typed(type_: str, ins: list[dict[str, Any]], outs: list[dict[str, Any]], **more: Any) -> Any:
    return layer("one", type_, ins, outs, **more)


@pytest.mark.parametrize(
    ("one", "category", "macs", "computation", "memory"),
    [
        (typed("gemm", [A, B], [tensor("c", [2, 8, 4], HALF)]), "matmul", 1024, 2048, 896),
        (  # the second matrix is transposed
            typed("gemm", [A, tensor("b", [4, 16], HALF)], [tensor("c", [2, 8, 4], HALF)]),
            "matmul", 1024, 2048, 768,
        ),
        (  # the first matrix is transposed
            typed("x", [tensor("a", [16, 8]), tensor("b", [16, 4])], [tensor("c", [8, 4])],
                  ParameterType="MatrixMultiply"),
            "matmul", 512, 1024, 896,
        ),
        (typed("gemm", [A], [tensor("c", [2, 8, 4], HALF)]), "matmul", None, None, None),
        (typed("gemm", [A, A], [tensor("c", [2, 8, 4], HALF)]), "matmul", None, None, 640),
        (
            typed("x", [tensor("a", [2, 16, 1, 1])], [tensor("c", [2, 10, 1, 1])],
                  ParameterType="FullyConnected", Weights={"Type": "Float", "Count": 160},
                  Bias={"Type": "Float", "Count": 10}),
            "matmul", 320, 640, 128 + 80 + 680,
        ),
        (
            convolution("one", [IMAGE], [tensor("y", [1, 4, 4, 4], HALF)], [1, 1], 12, Groups=2),
            "convolution", 192, 384, 192 + 128 + 48 + 16,
        ),
        (  # the weight is an input
            convolution("one", [IMAGE, tensor("w", [4, 6, 1, 1], HALF)],
                        [tensor("y", [1, 4, 4, 4], HALF)], [1, 1], 0),
            "convolution", 384, 768, 192 + 48 + 128 + 16,
        ),
        (  # groups that do not divide the channels
            convolution("one", [IMAGE], [tensor("y", [1, 4, 4, 4], HALF)], [1, 1], 12, Groups=4),
            "convolution", None, None, None,
        ),
        (  # a size is dynamic
            convolution("one", [tensor("x", [-1, 6, 4, 4])], [tensor("y", [-1, 4, 4, 4])],
                        [1, 1], 24),
            "convolution", None, None, None,
        ),
        (typed("x", [IMAGE], [IMAGE | {"Name": "y"}], ParameterType="Scale"),
         "elementwise", 0, 192, 384),
        (typed("x", [IMAGE, IMAGE], [IMAGE | {"Name": "y"}], ParameterType="ElementWise"),
         "elementwise", 0, 96, 384),
        (typed("x", [IMAGE], [IMAGE | {"Name": "y"}], ParameterType="PointWise"),
         "elementwise", 0, None, 384),
        (typed("x", [IMAGE], [tensor("y", [1, 6, 8, 8], HALF)], ParameterType="Resize"),
         "data movement", 0, None, 192 + 768),
        (typed("x", [IMAGE], [tensor("y", [1, 6, 2, 2], HALF)], ParameterType="Slice",
               Stride=[1, 1, -1, 1]),
         "data movement", 0, 0, 96),
        (typed("Padding", [IMAGE], [tensor("y", [1, 6, 5, 5], HALF)], ParameterType="Slice"),
         "data movement", 0, 0, 192 + 300),
        (typed("x", [tensor("q", [4], "Int8")], [tensor("y", [4])], ParameterType="Reformat",
               Origin="QDQ"),
         "elementwise", 0, 4, 20),
        (typed("CudaSoftMax", [IMAGE], [IMAGE | {"Name": "y"}], ParameterType="SoftMax"),
         "softmax", 0, 480, 384),
        (typed("signal", [], []), "control", 0, 0, 0),
        (typed("ForeignNode", [IMAGE], [IMAGE]), "other", None, None, None),
        (typed("PluginV2", [IMAGE], [IMAGE | {"Name": "y"}]), "other", None, None, 384),
        (typed("kgen", [tensor("x", None)], [IMAGE]), "other", None, None, None),
        (layer("one", "", [], []), "other", None, None, 0),
    ],
)  # fmt: skip
def test_each_layer_has_its_category_and_work(
    tmp_path: Path,
    one: dict[str, Any],
    category: str,
    macs: float | None,
    computation: float | None,
    memory: float | None,
) -> None:
    assert described(tmp_path, one) == {
        "category": category,
        "macs": macs,
        "computation": computation,
        "memory": memory,
    }


@pytest.mark.parametrize(
    ("format_", "dims", "size"),
    [
        ("Row major linear FP32", [1, 3, 2, 2], 48),
        ("Row major linear FP16 format", [1, 3, 2, 2], 24),
        ("Channel major FP32 format", [1, 3, 2, 2], 48),
        ("Channel major FP16 format where channel % 8 == 0", [1, 3, 2, 2], 64),
        ("Two wide channel vectorized row major FP16 format", [1, 3, 2, 2], 32),
        ("Four wide channel vectorized row major Int8 format", [1, 3, 2, 2], 16),
        ("Sixteen wide channel vectorized row major FP16 format", [1, 3, 2, 2], 128),
        ("Thirty-two wide channel vectorized row major Int8 format", [1, 33, 2, 2], 256),
        ("Thirty-two wide channel vectorized row major Int8 format", [1, 33, 1, 2, 2], 256),
        ("Thirty-two wide channel vectorized row major Int8 format", [1, 33], 33),
        ("BFloat16", [3], 6),
        ("FP8", [3], 3),
        ("Int4", [3], 2),
        ("Bool", [3], 3),
        ("Int64", [3], 24),
        ("some format of the future", [3], nan),
        ("Float", [-1, 3], nan),
        ("Float", [1 << 62, 4], nan),
    ],
)
def test_the_format_decides_the_bytes_of_a_tensor(
    tmp_path: Path, format_: str, dims: list[int], size: float
) -> None:
    path = tmp_path / "graph.json"
    path.write_bytes(description(layer("one", "NoOp", [tensor("x", dims, format_)], [])))
    profile = pa.load(path)
    assert profile.operators.numbers("input_bytes").tolist() == pytest.approx([size], nan_ok=True)
    assert profile.table("tensors").size.tolist() == pytest.approx([size], nan_ok=True)

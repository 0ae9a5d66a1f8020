from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import onnx
import pytest

from profile_analyze.readers.onnx.graph import Node, Value
from profile_analyze.readers.onnx.loading import read_model
from profile_analyze.readers.onnx.operations import known_operators, operation_of
from profile_analyze.readers.source import Source
from profile_analyze.work.convolutions import conv_kind, macs_without_padding
from profile_analyze.work.kinds import KINDS, work_of

if TYPE_CHECKING:
    from profile_analyze.work.operation import Operation

LIGHT_MODELS = Path(onnx.__file__).parent / "backend" / "test" / "data" / "light"

Shape = tuple[int | None, ...] | None


def translated(
    type_: str,
    inputs: list[Shape | str],
    outputs: list[Shape],
    attributes: dict[str, Any] | None = None,
    domain: str = "",
) -> Operation:
    """Return the operation of a node. An input `""` is left out."""
    names = [name if isinstance(name, str) else f"i{i}" for i, name in enumerate(inputs)]
    values = {
        name: Value(name, shape, "fp32")
        for name, shape in zip(names, inputs, strict=True)
        if not isinstance(shape, str)
    }
    for i, shape in enumerate(outputs):
        values[f"o{i}"] = Value(f"o{i}", shape, "fp32")
    results = tuple(f"o{i}" for i in range(len(outputs)))
    node = Node("node", type_, domain, tuple(names), results, attributes or {})
    operation = operation_of(node, values)
    assert operation is not None
    return operation


@pytest.mark.parametrize("domain", ["", "ai.onnx.ml", "ai.onnx.preview.training"])
def test_every_operator_of_onnx_is_known(domain: str) -> None:
    schemas = {one.name for one in onnx.defs.get_all_schemas() if one.domain == domain}
    assert schemas - known_operators(domain) == set()


@pytest.mark.parametrize(
    "domain", ["", "ai.onnx.ml", "ai.onnx.preview", "ai.onnx.preview.training", "com.microsoft"]
)
def test_every_translation_survives_shapes_that_are_unknown(domain: str) -> None:
    for type_ in sorted(known_operators(domain)):
        for inputs in ([], [None] * 9, [(None,) * 4] * 9, [()] * 9):
            operation = translated(type_, list(inputs), [None], domain=domain)
            assert operation.kind in KINDS
            work_of(operation)
            conv_kind(operation)
            macs_without_padding(operation)


def test_unknown_operators_have_no_operation() -> None:
    assert operation_of(Node("n", "Mine", "", (), (), {}), {}) is None
    assert operation_of(Node("n", "Conv", "com.mine", (), (), {}), {}) is None


def test_the_domain_of_onnx_may_be_spelled_out() -> None:
    assert translated("Relu", [(2,)], [(2,)], domain="ai.onnx").kind == "activation"


# Counted independently, without bias: see `docs/work.md`.
@pytest.mark.parametrize(
    ("model", "convolutions", "connected"),
    [
        ("bvlc_alexnet", 595_938_432, 58_621_952),
        ("densenet121", 2_834_161_664, 0),
        ("inception_v1", 1_430_532_352, None),
        ("inception_v2", 2_017_827_840, None),
        ("resnet50", 4_087_136_256, 2_048_000),
        ("shufflenet", 124_120_528, None),
        ("squeezenet", 349_151_936, 0),
        ("vgg19", 19_508_428_800, 123_633_664),
        ("zfnet512", 1_401_011_232, None),
    ],
)
def test_light_models_have_the_macs_of_an_independent_count(
    model: str, convolutions: int, connected: int | None
) -> None:
    graph = read_model(Source(LIGHT_MODELS / f"light_{model}.onnx")).graph
    macs = {"Conv": 0.0, "Gemm": 0.0}
    for node in graph.nodes:
        operation = operation_of(node, graph.values)
        if operation is not None and node.type in macs:
            macs[node.type] += work_of(operation).macs
    assert macs["Conv"] == convolutions
    assert connected is None or macs["Gemm"] == connected

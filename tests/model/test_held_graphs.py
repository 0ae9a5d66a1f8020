"""Operators that hold a graph: which readers know them, and what a comparison makes of them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

import profile_analyze as pa
from tests.findings.found import said
from tests.readers.pytorch.events import call, document, event, kernel, op
from tests.readers.tflite.tables import Row, log, part

if TYPE_CHECKING:
    from pathlib import Path


def tensorrt(*layers: str) -> bytes:
    entries = [{"name": name, "timeMs": 6, "averageMs": 0.03, "medianMs": 0.03} for name in layers]
    return json.dumps([{"count": 200}, *entries]).encode()


def tflite(*rows: Row) -> bytes:
    return log(part([*rows])).encode()


def launches(name: str, kernels: int) -> bytes:
    """Return a trace of a call that launches kernels."""
    start = {**event("cuda_runtime", name, 100, 50, correlation=1)}
    return document(start, *(kernel(f"gemm_{n}", 200 + 100 * n, 90, 1) for n in range(kernels)))


EAGER = document(
    *(op(f"aten::op{n}", 100 * n, 50) for n in range(3)),
    *(call(100 * n + 10, n + 1) for n in range(3)),
    *(kernel(f"gemm_{n}", 500 + 100 * n, 90, n + 1) for n in range(3)),
)
DELEGATE = Row("TfLiteGpuDelegateV2", "[out]:3", 2.0)
PLAIN = (Row("CONV_2D", "[conv]:0", 2.5), Row("SOFTMAX", "[softmax]:1", 0.5))
LAYERS = ("conv1", "conv2", "softmax")


@pytest.mark.parametrize(
    ("whole", "others", "name"),
    [
        (tensorrt("{ForeignNode[conv1...softmax]}"), tensorrt(*LAYERS), "{ForeignNode"),
        (tflite(DELEGATE), tflite(*PLAIN), "out"),
        (launches("cudaGraphLaunch", 3), EAGER, "cudaGraphLaunch"),
        (launches("hipGraphLaunch", 3), EAGER, "hipGraphLaunch"),
    ],
)
def test_an_operator_that_holds_a_graph_is_no_other_model(
    whole: bytes, others: bytes, name: str, tmp_path: Path
) -> None:
    for file, content in (("whole", whole), ("others", others)):
        (tmp_path / file).write_bytes(content)
    new, base = (pa.load(str(tmp_path / file)) for file in ("whole", "others"))
    held = [
        one
        for one, holds in zip(new.operators.name.values(), new.operators.hold_graphs, strict=True)
        if holds
    ]
    assert len(held) == 1
    assert held[0].startswith(name)
    assert not base.operators.hold_graphs.any()
    for ours, theirs in ((new, base), (base, new)):
        comparison = pa.compare(ours, theirs)
        assert comparison.mismatch is None
        assert any("a graph that runs as one node" in note for note in said(comparison.notes))
        change = pa.summarise(comparison).change
        assert change is not None
        assert change.ratio > 0


def test_without_such_an_operator_the_models_differ(tmp_path: Path) -> None:
    (tmp_path / "new").write_bytes(tensorrt("other"))
    (tmp_path / "base").write_bytes(tensorrt(*LAYERS))
    comparison = pa.compare(pa.load(str(tmp_path / "new")), pa.load(str(tmp_path / "base")))
    assert comparison.mismatch is not None
    assert comparison.mismatch.kind == "models"

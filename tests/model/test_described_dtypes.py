"""Notes on operators that were computed in other dtypes than their model describes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import profile_analyze as pa
from profile_analyze.findings.sentences import as_text
from profile_analyze.model.levels.levels import at_level
from profile_analyze.model.notes import Importance
from tests.conftest import PROFILES, run_command
from tests.model.test_with_model import CHAIN, model_of, run_of

OPENVINO = PROFILES.parent / "openvino"
DOUBT = "; perhaps this graph is of another build of the model"


def dtype_notes(profile: pa.Profile, model: pa.Profile) -> list[str]:
    joined = pa.with_model(profile, model)
    found = [note for note in joined.notes if "in this model" in as_text(note)]
    assert all(note.importance == Importance.WRONG for note in found)
    return [as_text(note).removeprefix(f"{model.file}: ") for note in found]


@pytest.mark.parametrize(
    ("computed", "described", "expected"),
    [
        (
            "bf16",
            "f32",
            "the compute dtype of 11 operators (84.0% of the time) is bf16 in the profile, but "
            f"fp32 in this model: memory and bandwidth are those of fp32{DOUBT}",
        ),
        (
            "f32",
            "bf16",
            "the compute dtype of 12 operators (63.3% of the time) is fp32 in the profile, but "
            f"bf16 in this model: memory and bandwidth are those of bf16{DOUBT}",
        ),
        ("bf16", "bf16", None),
        ("f32", "f32", None),
    ],
)
def test_an_execution_graph_in_another_precision_is_noticed(
    computed: str, described: str, expected: str | None
) -> None:
    profile = at_level(pa.load(OPENVINO / f"layers-{computed}-2026.4.csv.gz"))
    model = pa.load(OPENVINO / f"layers-{described}-2026.4.xml.gz")
    assert dtype_notes(profile, model) == ([] if expected is None else [expected])


def test_the_command_loads_the_dtypes_that_the_note_needs() -> None:
    profile, model = (
        str(OPENVINO / f"layers-{name}") for name in ("bf16-2026.4.csv.gz", "f32-2026.4.xml.gz")
    )
    outcome = run_command(profile, "--model", model, "--print-only", "summary")
    assert f"note: {model}: the compute dtype of 11 operators (84.0% of the time)" in outcome.err
    outcome = run_command(
        "tests/fixtures/profiles/smallcnn.json", "--model",
        "tests/fixtures/classifiers/smallcnn.onnx", "--print-only", "summary", "--notes", "all",
    )  # fmt: skip
    assert "in this model" not in outcome.err  # the runtime measured the memory


def with_dtypes(profile: pa.Profile, *dtypes: str | None) -> pa.Profile:
    """Return the profile with the dtypes in which its operators are computed."""
    columns = {**profile.operators.optional, "compute_dtype": pa.Categorical.of([*dtypes])}
    return profile.changed(operators=replace(profile.operators, optional=columns))


NODES = with_dtypes(model_of(CHAIN), "fp32", "fp32", "fp32")


@pytest.mark.parametrize(
    ("computed", "expected"),
    [
        (
            "fp16",
            "the compute dtype of 1 operator (100.0% of the time) is fp16 in the profile, but fp32 "
            "in this model: memory and bandwidth are those of fp32",
        ),
        ("fp32", None),
        ("tf32", None),  # stored in as many bits as fp32
        ("float9", None),  # its size is not known
        ("bool", None),
        (None, None),
    ],
)
def test_only_dtypes_of_another_size_are_noticed(
    computed: str | None, expected: str | None
) -> None:
    profile = with_dtypes(run_of(("n0", "Conv")), computed)
    assert dtype_notes(profile, NODES) == ([] if expected is None else [expected])


def test_measured_memory_does_not_depend_on_the_dtypes_of_the_model() -> None:
    profile = with_dtypes(run_of(("n0", "Conv")), "fp16")
    measured = replace(profile.operators, memory=np.array([9.0]))
    assert dtype_notes(profile.changed(operators=measured), NODES) == []


def test_a_fused_conversion_is_no_contradiction() -> None:
    profile = with_dtypes(run_of(("n0 + n1 + n2", "Conv")), "int8")
    assert len(dtype_notes(profile, NODES)) == 1
    tensors = NODES.table("tensors")
    dtypes = ["uint8" if name == "x" else "fp32" for name in tensors.key.values()]
    converted = NODES.changed(tensors=replace(tensors, dtype=pa.Categorical.of(dtypes)))
    assert dtype_notes(profile, converted) == []


def test_without_dtypes_nothing_is_noticed() -> None:
    profile = with_dtypes(run_of(("n0", "Conv")), "fp16")
    optional = {k: v for k, v in NODES.operators.optional.items() if k != "compute_dtype"}
    not_loaded = frozenset({"compute_dtype"})
    operators = replace(NODES.operators, optional=optional, not_loaded=not_loaded)
    assert dtype_notes(profile, NODES.changed(operators=operators)) == []
    assert dtype_notes(run_of(("n0", "Conv")), NODES) == []

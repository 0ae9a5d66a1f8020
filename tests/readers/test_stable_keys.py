"""The key of an operator is the same in every answer about a file, and in similar files."""

from __future__ import annotations

import csv
import json
from io import StringIO
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import profile_analyze as pa
from profile_analyze.model.levels.levels import levels_of
from tests.conftest import FIXTURES, run_command

if TYPE_CHECKING:
    from pathlib import Path


def trace(path: Path, process: int, step: int, start_us: float, scale: float) -> str:
    """Write a trace of one step: two calls of one operator, in a region and outside of it."""
    rows = [
        ("user_annotation", f"ProfilerStep#{step}", 0, 90),
        ("user_annotation", "forward", 10, 40),
        ("cpu_op", "aten::mm", 20, 10),
        ("cpu_op", "aten::mm", 60, 10),
    ]
    events = [
        {"ph": "X", "cat": cat, "name": name, "pid": process, "tid": process,
         "ts": start_us + start * scale, "dur": duration * scale, "args": {}}
        for cat, name, start, duration in rows
    ]  # fmt: skip
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
    return str(path)


def ids(file: str) -> list[str]:
    outcome = run_command(file, "--format", "json", "--order-by", "+id")
    (table,) = json.loads(outcome.out)["tables"]
    position = [column["name"] for column in table["columns"]].index("id")
    return [row[position] for row in table["rows"]]


def test_rows_of_two_traces_can_be_joined(tmp_path: Path) -> None:
    first = ids(trace(tmp_path / "a.json", 11, 3, 1e6, 1.0))
    assert first == ["aten::mm", "forward/aten::mm"]
    assert ids(trace(tmp_path / "b.json", 12, 8, 5e9, 2.5)) == first


SAMPLES = {
    "megengine": "profiles/resnet18.json",
    "timeline": "megengine-timeline/train.json.gz",
    "pytorch": "pytorch/mix.json.gz",
    "pytorch with a gpu": "pytorch/gpu.json",
    "onnxruntime": "onnxruntime/loop-1.31.json.gz",
    "tensorrt": "tensorrt/net.profile.json",
    "openvino graph": "openvino/layers-f32-2026.4.xml.gz",
    "openvino counters": "openvino/layers-f32-2026.4.csv.gz",
    "migraphx": "migraphx/current.txt",
    "tflite": "tflite/subgraphs.txt",
    "onnx": "models/loops.onnx",
}


def identity_of_keys(profile: pa.Profile) -> dict[str, tuple[Any, ...]]:
    """Return what the profile says of the operator with each key. Keys must be distinct."""
    operators = profile.operators
    columns = (operators.name, operators.type, operators.level, operators.scope)
    shapes = operators.categorical("in_shapes")
    rows = zip(*(one.values().tolist() for one in (*columns, shapes)), strict=True)
    found = dict(zip(operators.key_texts().values().tolist(), rows, strict=True))
    assert len(found) == len(operators)
    return found


@pytest.mark.parametrize("sample", SAMPLES.values(), ids=SAMPLES)
def test_keys_are_the_same_in_every_answer_about_a_file(sample: str) -> None:
    profile = pa.load(FIXTURES / sample)
    known = identity_of_keys(profile)
    parts = [pa.at_level(profile, level) for level in levels_of(profile)]
    steps = [run.step for run in profile.runs if run.step is not None]
    parts += [pa.only_steps(profile, step, step) for step in steps]
    if not np.isnan(profile.executions.start_s).all():
        parts.append(pa.within_times(profile, 1e-5))
    for part in parts:
        assert identity_of_keys(part).items() <= known.items()


@pytest.mark.parametrize("sample", SAMPLES.values(), ids=SAMPLES)
def test_every_format_for_programs_has_the_key(sample: str) -> None:
    file = str(FIXTURES / sample)
    common = (file, "--print-only", "device", "-t", "3", "--notes", "none", "--format")
    (table,) = json.loads(run_command(*common, "json").out)["tables"]
    assert table["columns"][-1] == {"name": "key", "unit": ""}
    keys = [row[-1] for row in table["rows"]]
    assert len(keys) == 3
    assert all(isinstance(key, str) for key in keys)
    lines = run_command(*common, "jsonl").out.splitlines()
    assert [json.loads(line)["key"] for line in lines] == keys
    rows = [*csv.DictReader(StringIO(run_command(*common, "csv").out))]
    # csv protects texts that a spreadsheet would run as formulas.
    assert [row["key"].removeprefix("'") for row in rows] == keys
    for key in keys:
        inspected = json.loads(run_command(file, "--inspect", key, "--format", "json").out)
        assert inspected["inspection"]["key"] == key


@pytest.mark.parametrize("sample", ["profiles/resnet18.json", "tensorrt/net.profile.json"])
def test_sql_has_the_key(sample: str) -> None:
    pytest.importorskip("duckdb")
    query = "select id, key from operators order by id limit 3"
    file = str(FIXTURES / sample)
    rows = json.loads(run_command(file, "--sql", query, "--format", "json").out)["sql"]["rows"]
    common = (file, "--columns", "id,key", "--order-by", "+id", "--format", "json")
    (table, *_) = json.loads(run_command(*common, "-t", "3", "--print-only", "device").out)[
        "tables"
    ]
    assert [tuple(row) for row in rows] == [(id_, key) for id_, key in table["rows"]]


def test_keys_of_traces_name_what_tells_operators_apart() -> None:
    keys = identity_of_keys(pa.load(FIXTURES / SAMPLES["pytorch"]))
    assert [key for key in keys if key.startswith("aten::resolve_conj(")] == [
        "aten::resolve_conj(3x5x6)",
        "aten::resolve_conj(3x4x5)",
        "aten::resolve_conj(8x8) [float]",
        "aten::resolve_conj(1x8x8)",
        "aten::resolve_conj(8x8) [c10::Half]",
    ]
    assert {"aten::rand() [-> 3x4x5]", "aten::rand() [-> 3x5x6]"} <= keys.keys()


def test_a_model_beside_a_profile_does_not_change_its_keys() -> None:
    profile = FIXTURES / "openvino/layers-f32-2026.4.csv.gz"
    graph = FIXTURES / "openvino/layers-f32-2026.4.xml.gz"
    arguments = ("-t", "0", "--columns", "key,name", "--format", "csv", "--notes", "none")
    alone = run_command(str(profile), *arguments)
    assert alone.out == run_command(str(profile), "--model", str(graph), *arguments).out

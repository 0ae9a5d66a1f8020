"""The device and the latencies in files of trt-engine-explorer beside a profile."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

import pytest

import profile_analyze as pa
from profile_analyze.model.findings import Finding, Kind
from tests.conftest import run_command
from tests.readers.tensorrt.files import description, layer, times

if TYPE_CHECKING:
    from pathlib import Path

A100 = "NVIDIA A100 80GB PCIe"
RUN = {
    "performance_summary": {
        "Throughput": 240.0,
        "Latency": [5.0, 7.0, 5.75, 5.5, 6.97],
        "GPU Compute Time": [4.0, 6.0, 4.75, 4.5, 5.97],
    },
    "inference_options": {"Iterations": "10"},
    "device_information": {"Selected Device": A100, "SMs": 108.0},
}


def profile_with(folder: Path, **files: Any) -> str:
    """Return the path of a profile. `profile_metadata` becomes `net.profile.metadata.json`."""
    (folder / "net.profile.json").write_bytes(times(("a", 3.0, 3.0), ("b", 1.0, 1.0)))
    for name, content in files.items():
        file = folder / f"net.{name.replace('_', '.')}.json"
        file.write_text(json.dumps(content))
    return str(folder / "net.profile.json")


def test_the_metadata_of_a_run_add_the_device_and_latencies(tmp_path: Path) -> None:
    file = profile_with(tmp_path, profile_metadata=RUN)
    outcome = run_command(file, "--peaks", "auto", "--columns", "time,name", "--notes", "none")
    assert (outcome.code, outcome.out) == (
        0,
        "total device time   4.000 ms\n"
        "total host time     N/A\n"
        "wall time of a run  4.750 ms (operators: 84.2%, outside of them: 0.750 ms)\n"
        "latency             min 5.000 ms, median 5.500 ms, max 7.000 ms\n"
        "peaks               A100 80GB PCIe, 1935 GB/s\n"
        "memory known        0.0%\n"
        "judged              0.0%\n"
        "efficiency, judged  N/A\n"
        "lost                N/A\n"
        "peaks: PyTorch Lightning's, PyTorch's and nsys-ai's tables; at least two sources agree\n"
        "\n"
        "device self time (ms)  name\n"
        "                3.000  a\n"
        "                1.000  b\n",
    )


def test_the_times_of_inferences_take_precedence_over_the_summary(tmp_path: Path) -> None:
    file = profile_with(
        tmp_path, profile_metadata=RUN, times=[{"computeMs": 4.25, "latencyMs": 5.25}]
    )
    profile = pa.load(file)
    assert profile.origin.hardware == A100
    assert [run.wall_s for run in profile.runs] == [0.00425]
    assert [fact.name for fact in profile.origin.recorded][:2] == ["inferences", "latency_min_s"]


@pytest.mark.parametrize("runs", [1, 2])
def test_a_named_model_replaces_only_the_description(runs: int, tmp_path: Path) -> None:
    inferences = [{"computeMs": 4.25, "latencyMs": 5.25}]
    file = profile_with(tmp_path, profile_metadata=RUN, times=inferences)
    layers = [layer(name, "NoOp", [], [], ParameterType="NoOp") for name in "ab"]
    own, other = tmp_path / "net.graph.json", tmp_path / "other.json"
    own.write_bytes(description(*layers[:1]))
    other.write_bytes(description(*layers))
    found = run_command(*[file] * runs, "--peaks", "auto", "--notes", "all")
    named = run_command(*[file] * runs, "--model", str(own), "--peaks", "auto", "--notes", "all")
    assert (named.code, named.out) == (0, found.out)
    lines = [line for line in named.out.splitlines() if line.startswith(("wall", "lat", "peaks "))]
    assert [" ".join(line.split()[:4]) for line in lines] == [
        "wall time of a", "latency 1 inference, min", "peaks A100 80GB PCIe,",
    ]  # fmt: skip
    assert f"from {tmp_path}/net.times.json" in named.err
    replaced = run_command(*[file] * runs, "--model", str(other), "--notes", "all").err
    assert f"{other}: 2 operators matched by name, 0 by order\n" in replaced
    assert str(own) not in replaced


def test_a_list_of_devices_names_the_device_if_all_are_equal(tmp_path: Path) -> None:
    titan = {"Name": "TITAN RTX"}
    for devices, named in (([titan], "TITAN RTX"), ([titan] * 2, "TITAN RTX"), ([], None)):
        assert pa.load(profile_with(tmp_path, metadata=devices)).origin.hardware == named
    file = profile_with(tmp_path, metadata=[titan, {"Name": A100}])
    assert pa.load(file).origin.hardware is None


def test_the_device_of_the_run_takes_precedence_over_the_list_of_devices(tmp_path: Path) -> None:
    file = profile_with(tmp_path, metadata=[{"Name": "TITAN RTX"}], profile_metadata=RUN)
    assert pa.load(file).origin.hardware == A100
    nameless = {**RUN, "device_information": {}}
    profile = pa.load(profile_with(tmp_path, profile_metadata=nameless))
    assert profile.origin.hardware == "TITAN RTX"
    assert len(profile.origin.recorded) == 3


def test_a_compressed_file_is_read(tmp_path: Path) -> None:
    file = profile_with(tmp_path)
    (tmp_path / "net.profile.metadata.json.gz").write_bytes(gzip.compress(json.dumps(RUN).encode()))
    assert pa.load(file).origin.hardware == A100


def test_a_note_names_a_damaged_file(tmp_path: Path) -> None:
    damaged = {"performance_summary": {"Latency": [5.0]}}
    file = profile_with(tmp_path, profile_metadata=damaged, metadata=[{"Name": A100}])
    profile = pa.load(file)
    assert profile.notes[0] == Finding.of(
        *("unread-metadata", Kind.CONTEXT),
        file=f"{tmp_path}/net.profile.metadata.json",
        reason="at $.performance_summary.Latency: expected `array` of length >= 4",
    )
    assert (profile.origin.hardware, profile.origin.recorded) == (A100, ())


def test_the_device_that_built_the_engine_is_ignored(tmp_path: Path) -> None:
    """An engine may run on another device."""
    assert pa.load(profile_with(tmp_path, build_metadata=RUN)).origin.hardware is None

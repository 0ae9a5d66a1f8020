"""The times of whole inferences beside a profile."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING

import pytest

import profile_analyze as pa
from profile_analyze.model.findings import Finding, Kind
from tests.conftest import run_command
from tests.readers.tensorrt.files import times

if TYPE_CHECKING:
    from pathlib import Path

INFERENCES = [
    {"startEnqMs": 0, "computeMs": compute_ms, "latencyMs": compute_ms + 1}
    for compute_ms in (5.0, 4.0, 6.0, 4.0)
]


def profile_beside(folder: Path, name: str, content: bytes) -> str:
    (folder / "net.profile.json").write_bytes(times(("a", 3.0, 3.0), ("b", 1.0, 1.0)))
    (folder / name).write_bytes(content)
    return str(folder / "net.profile.json")


@pytest.mark.parametrize("name", ["net.times.json", "net.timing.json.gz"])
def test_the_summary_shows_the_times_of_whole_inferences(name: str, tmp_path: Path) -> None:
    content = json.dumps(INFERENCES).encode()
    file = profile_beside(tmp_path, name, gzip.compress(content) if ".gz" in name else content)
    outcome = run_command(file, "--columns", "time,name", "--notes", "none")
    assert (outcome.code, outcome.out) == (
        0,
        "total device time   4.000 ms\n"
        "total host time     N/A\n"
        "wall time of a run  4.750 ms (operators: 84.2%, outside of them: 0.750 ms)\n"
        "latency             4 inferences, min 5.000 ms, median 5.500 ms, p90 6.700 ms, p95 6.850 ms, "
        "p99 6.970 ms, max 7.000 ms\n"
        "\n"
        "device self time (ms)  name\n"
        "                3.000  a\n"
        "                1.000  b\n",
    )


def test_a_note_names_the_file_of_the_wall_time(tmp_path: Path) -> None:
    content = json.dumps(INFERENCES).encode()
    found = pa.load(profile_beside(tmp_path, "net.times.json", content))
    assert found.notes[0] == Finding.of(
        "inferences-beside", Kind.CONTEXT, file=f"{tmp_path}/net.times.json", inferences=4
    )


def test_layers_that_take_longer_than_an_inference_are_explained(tmp_path: Path) -> None:
    file = profile_beside(tmp_path, "net.times.json", b'[{"computeMs": 3.5, "latencyMs": 4}]')
    lines = run_command(file, "--print-only", "summary").out.splitlines()
    assert lines[2] == (
        "wall time of a run  3.500 ms (operators take longer: measured one by one, or in other "
        "runs)"
    )


def test_a_note_names_the_damaged_file_of_times(tmp_path: Path) -> None:
    file = profile_beside(tmp_path, "net.times.json", b'[{"computeMs": -1, "latencyMs": 2}]')
    profile = pa.load(file)
    assert profile.notes[0] == Finding.of(
        *("unread-inferences", Kind.CONTEXT),
        file=f"{tmp_path}/net.times.json",
        reason="at $[0].computeMs: expected `float` >= 0.0",
    )
    assert profile.origin.recorded == ()


def test_a_file_without_inferences_adds_nothing(tmp_path: Path) -> None:
    profile = pa.load(profile_beside(tmp_path, "net.times.json", b"[]"))
    assert profile.origin.recorded == ()


def test_times_of_inferences_in_a_folder_do_not_count_as_a_profile(tmp_path: Path) -> None:
    profile_beside(tmp_path, "net.times.json", json.dumps(INFERENCES).encode())
    outcome = run_command(str(tmp_path), "--print-only", "summary", "--format", "json")
    assert json.loads(outcome.out)["summary"]["recorded"]["numbers"]["inferences"] == 4


def test_a_comparison_shows_the_wall_time_and_the_latency_of_both_sides(tmp_path: Path) -> None:
    for side, latency_ms in (("new", 4), ("base", 6)):
        (tmp_path / side).mkdir()
        content = json.dumps([{"computeMs": latency_ms - 0.5, "latencyMs": latency_ms}])
        profile_beside(tmp_path / side, "net.times.json", content.encode())
    files = [str(tmp_path / side / "net.profile.json") for side in ("new", "base")]
    compared = (files[0], "--compare", files[1], "--print-only", "summary")
    lines = run_command(*compared).out.splitlines()
    same_latency = "min {0}, median {0}, p90 {0}, p95 {0}, p99 {0}, max {0}"
    assert lines[2:8] == [
        "wall time of a run    3.500 ms (operators take longer: measured one by one, or in other "
        "runs)",
        "runs                  1",
        f"latency               1 inference, {same_latency.format('4.000 ms')}",
        "baseline device time  4.000 ms",
        "baseline wall time    5.500 ms",
        f"baseline latency      1 inference, {same_latency.format('6.000 ms')}",
    ]
    facts = json.loads(run_command(*compared, "--format", "json").out)["summary"]["comparison"]
    assert facts["base_wall_time_s"] == 5.5e-3
    assert facts["base_numbers"]["latency_median_s"] == 6e-3
    assert facts["base_numbers"]["inferences"] == 1

"""Traces of jobs on a device that did not record the device: their times are host times."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

import profile_analyze as pa
from profile_analyze.model.findings import Finding, Kind
from profile_analyze.readers.input.source import Source
from profile_analyze.readers.loading import read_profile
from tests.conftest import FIXTURES, run_command
from tests.readers.pytorch.events import call, document, event, op

if TYPE_CHECKING:
    from tests.readers.pytorch.events import Event

FILE = str(FIXTURES / "pytorch-small" / "gpu-job-without-gpu-events.json")
MEMORY: Event = {
    "ph": "i", "name": "[memory]", "pid": 100, "tid": 100, "ts": 3,
    "args": {"Bytes": 512, "Device Type": 1, "Device Id": 0},
}  # fmt: skip


def no_kernels(shown_by: str, name: str | None = None, events: int | None = None) -> Finding:
    return Finding.of(
        *("no-kernels", Kind.INCOMPLETE), untimed=0, shown_by=shown_by, name=name, events=events
    )


def test_a_job_on_gpus_without_their_events_has_no_device_times() -> None:
    done = run_command(FILE, "--print-only", "host", "--format", "jsonl", "--columns", "all")
    rows = {row["name"]: row for row in map(json.loads, done.out.splitlines())}
    times_s = {name: row["host_time_s"] for name, row in rows.items()}
    assert times_s == pytest.approx({"aten::mm": 40e-6, "nccl:all_reduce": 30e-6})
    assert {(row["device_time_s"], row["flops"]) for row in rows.values()} == {(None, None)}
    assert pa.load(FILE).notes[0] == no_kernels("operator", "nccl:all_reduce", 1)


def read(*events: Event, head: str = '"schemaVersion": 1') -> pa.Profile:
    return read_profile(Source.of_bytes("x.json", document(*events, head=head)), ())


def head(**fields: Any) -> str:
    return json.dumps({"schemaVersion": 1, **fields})[1:-1]


H200 = {"deviceProperties": [{"id": 0, "name": "NVIDIA H200"}]}
BACKEND = {"distributedInfo": {"backend": "cpu:gloo,cuda:nccl"}}


@pytest.mark.parametrize(
    ("events", "fields", "note"),
    [
        ([], BACKEND, no_kernels("backend", "cpu:gloo,cuda:nccl")),
        ([], H200, no_kernels("device", "NVIDIA H200")),
        ([MEMORY], {}, no_kernels("memory")),
        ([call(2, 1)], {}, no_kernels("launches", events=1)),
        *(
            ([op(name, 1, 2), op(name, 4, 2)], {}, no_kernels("operator", name, 2))
            for name in (
                "nccl:all_reduce",
                "rccl:broadcast",
                "aten::cudnn_convolution",
                "aten::miopen_batch_norm",
                "aten::_scaled_dot_product_flash_attention",
                "aten::_efficient_attention_forward",
            )
        ),
    ],
)
def test_what_shows_that_a_device_worked(
    events: list[Event], fields: dict[str, Any], note: Finding
) -> None:
    profile = read(op("mm", 0, 9), *events, head=head(**fields))
    assert {track.side for track in profile.tracks} == {"host"}
    assert profile.notes[0] == note


@pytest.mark.parametrize(
    ("events", "fields"),
    [
        ([], {"deviceProperties": [], "distributedInfo": {"backend": "gloo"}}),
        ([op("gloo:all_reduce", 1, 2)], {}),
        ([op("aten::_scaled_dot_product_flash_attention_for_cpu", 1, 2)], {}),
        # The driver was recorded, and nothing was launched.
        ([event("cuda_runtime", "cudaDeviceSynchronize", 2, 1)], H200),
        ([], {"distributedInfo": {"backend": 5}}),
    ],
)
def test_times_of_a_cpu_are_device_times(events: list[Event], fields: dict[str, Any]) -> None:
    profile = read(op("mm", 0, 9), *events, head=head(**fields))
    assert {track.side for track in profile.tracks} == {"device"}

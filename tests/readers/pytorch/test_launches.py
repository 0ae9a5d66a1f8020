"""Launches and steps in hand-written traces, and in random traces, compared with a slow search."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import profile_analyze as pa
from profile_analyze.model.levels.levels import at_level
from profile_analyze.readers.input.source import Source
from profile_analyze.readers.loading import read_profile
from tests.conftest import PROFILES, examples, run_command
from tests.readers.pytorch.events import call, document, event, kernel, op

if TYPE_CHECKING:
    from tests.readers.pytorch.events import Event

GPU = str(PROFILES.parent / "pytorch" / "gpu.json")


def test_every_kind_of_launch_is_matched_with_its_operator() -> None:
    """Kernels are matched by correlation or by id. One kernel has no launch and is left out."""
    columns = "time,host_time,queue,calls,name"
    done = run_command(
        *(GPU, "--where", "step == 3", "--columns", columns, "--time-unit", "us", "-t", "0")
    )
    assert done.out == (
        "total device time   314 us (of 2 runs)\n"
        "total host time     610 us (of 2 runs, waiting: 50 us)\n"
        "wall time of a run  1000 us (device busy: 15.9%, idle: 841 us)\n"
        "runs                2 in 1 process\n"
        "\n"
        "device self time (us)  host time (us)  queue (us)  calls  name\n"
        "              100.000          40.000       5.000      1  nccl:all_reduce\n"
        "               50.000          80.000      10.500      1  aten::addmm\n"
        "               40.000          50.000      30.000      1  aten::mm\n"
        "               30.000          30.000      90.000      1  replay_graph\n"
        "               15.000          10.000         N/A      1  nccl_without_call\n"
        "               10.000          23.000           0      1  aten::clamp_min\n"
        "               10.000          25.000           0      1  aten::copy_\n"
        "                6.000          50.000       5.000      1  Torch-Compiled Region: 0/0\n"
        "                5.250          80.000      10.000      1  aten::add_\n"
    )
    assert (
        "note: left out 1 kernel in 2 runs, 1.50 us per run on average (0.9% of the time), whose launch is not in the file"
        in done.err
    )


def test_tracks_devices_and_phases_are_read() -> None:
    profile = pa.load(GPU)
    assert [(one.name, one.side, one.device, one.rank) for one in profile.tracks] == [
        ("thread 100 (python)", "host", None, 0),
        ("thread 101 (pt_autograd_0)", "host", None, 0),
        ("stream 7", "device", "gpu0", 0),
        ("stream 20", "device", "gpu0", 0),
    ]
    assert (profile.origin.format, profile.origin.hardware) == (
        "PyTorch trace",
        "NVIDIA A100-SXM4-40GB",
    )
    phases = dict(
        zip(
            profile.operators.name.values()[profile.executions.operator],
            profile.executions.phase.values(),
            strict=True,
        )
    )
    names = ("aten::linear", "aten::mm", "aten::add_", "replay_graph")
    assert [phases[name] for name in names] == ["forward", "backward", "optimizer", None]


def read(*events: Event) -> pa.Profile:
    return read_profile(Source.of_bytes("x.json", document(*events)), ())


def test_kernels_are_matched_if_several_processes_use_the_same_numbers() -> None:
    events: list[Event] = []
    for process, start in ((1, 0), (2, 1000)):
        host = (op(f"op{process}", start, 50), call(start + 5, 7))
        events += [{**one, "pid": process} for one in host]
        # The clock of a device may be behind the host's: kernel 1 seems to start before its launch.
        events.append(kernel("k", start + (4, 20)[process - 1], 10 * process, 7))
    for order in (events, events[::-1]):
        rows = at_level(read(*order), "operator")
        assert times_by_step(rows) == {("op1", None): 10, ("op2", None): 20}


def test_backward_operators_have_the_scope_of_a_forward_operator_of_their_process() -> None:
    events: list[Event] = []
    for process, start in ((1, 0), (2, 100)):
        host = (
            event("user_annotation", f"region{process}", start, 20),
            op("forward", start + 5, 5, **{"Sequence number": 3}),
            op("backward", start + 30, 5, **{"Sequence number": 3, "Fwd thread id": 1}),
        )
        events += [{**one, "pid": process} for one in host]
    rows = at_level(read(*events), "operator").operators
    pairs = zip(rows.name.values().tolist(), rows.scope.values().tolist(), strict=True)
    assert sorted(pairs) == [
        *(("backward", (f"region{process}",)) for process in (1, 2)),
        *(("forward", (f"region{process}",)) for process in (1, 2)),
    ]


def test_each_process_has_its_own_steps() -> None:
    events: list[Event] = []
    for process, first in ((1, 0), (2, 30)):
        for step in (1, 2):
            start = first + 100 * step
            host = (
                event("user_annotation", f"ProfilerStep#{step}", start, 90),
                # When op2 of step 1 starts, process 1 has already started its step 2.
                op(f"op{process}", start + 70, step),
            )
            events += [{**one, "pid": process} for one in host]
    # An operator of a process without steps belongs to the last step that any process started.
    events.append({**op("loader", 215, 3), "pid": 3})
    profile = read(*events)
    assert [(run.step, round(run.wall_s * 1e6)) for run in profile.runs] == [(1, 120), (2, 120)]
    assert times_by_step(at_level(profile)) == {
        ("op1", 1): 1, ("op1", 2): 2, ("op2", 1): 1, ("op2", 2): 2, ("loader", 2): 3,
    }  # fmt: skip
    assert profile.notes == ()


def test_a_kernel_belongs_to_the_step_of_its_operator_or_else_of_its_driver_call() -> None:
    """The operator and the region start in step 1. Their calls are in step 2."""
    elsewhere = (
        event("user_annotation", "loop", 0, 300),
        op("mm", 90, 50),
        call(110, 1),
        {**call(150, 2), "name": "cudaMemsetAsync"},
    )
    profile = read(
        event("user_annotation", "ProfilerStep#1", 0, 100),
        event("user_annotation", "ProfilerStep#2", 100, 100),
        *({**one, "tid": 5} for one in elsewhere),
        kernel("of_mm", 120, 3, 1),
        kernel("of_call", 160, 7, 2),
        kernel("of_unknown", 170, 9, 0),
    )
    assert times_by_step(at_level(profile)) == {("mm", 1): 3, ("cudaMemsetAsync", 2): 7}
    assert times_by_step(at_level(profile, "kernel")) == {
        ("of_mm", 1): 3, ("of_call", 2): 7, ("of_unknown", 2): 9,
    }  # fmt: skip


def test_old_versions_record_steps_and_optimizers_as_operators() -> None:
    def old(name: str, start: int, length: int, **args: int) -> Event:
        return {**op(name, start, length, **args), "cat": "Operator"}

    profile = read(
        old("ProfilerStep#4", 0, 100),
        old("aten::mm", 10, 5, **{"Sequence number": 3}),
        old("MmBackward", 20, 5, **{"Sequence number": 3, "Fwd thread id": 1}),
        old("Optimizer.step#SGD.step", 50, 40),
        old("aten::add_", 60, 7),
        old("ProfilerStep#5", 100, 100),
        old("aten::mm", 110, 6),
    )
    assert [run.step for run in profile.runs] == [4, 5]
    table = pa.run(pa.Query(by=("name", "phase"), order="+name"), profile)
    rows = [(row["name"], row["phase"], round(row["time"] * 1e6, 3)) for row in table.rows]
    assert rows == [
        ("MmBackward", "backward", 5), ("aten::add_", "optimizer", 7),
        ("aten::mm", "forward", 5), ("aten::mm", None, 6),
    ]  # fmt: skip


def test_gradients_of_weights_are_added_up_in_the_backward_phase() -> None:
    node = "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad"
    profile = read(
        op("aten::mm", 0, 5, **{"Sequence number": 3}),
        op("aten::empty", 10, 2),
        op(node, 20, 20),  # without a sequence number
        op("aten::add_", 25, 7),
        event("user_annotation", "gloo:all_reduce", 33, 4),
    )
    table = pa.run(pa.Query(by=("name", "phase"), order="+name"), profile)
    assert [(row["name"], row["phase"]) for row in table.rows] == [
        ("aten::add_", "backward"),
        ("aten::empty", None),
        ("aten::mm", "forward"),
        (node, "backward"),
        ("gloo:all_reduce", "backward"),
    ]


def test_only_devices_with_work_are_named() -> None:
    devices = '"deviceProperties": [{"id": 0, "name": "A100"}, {"id": 100, "name": "H100"}]'
    content = document(op("mm", 0, 9), call(1, 1), kernel("k", 5, 2, 1), head=devices)
    # The process of the host has the id 100, too.
    profile = read_profile(Source.of_bytes("x.json", content), ())
    assert profile.origin.hardware == "A100"


@pytest.mark.parametrize(
    ("names", "hardware"),
    [
        (["AMD Instinct MI300X"], "AMD Instinct MI300X"),
        (["AMD Instinct MI300X"] * 8, "AMD Instinct MI300X"),
        # Which of two devices worked is unknown: ROCm numbers the second one 3 in its kernels.
        (["AMD Instinct MI210", "AMD Instinct MI300X"], None),
        ([""], None),
    ],
)
def test_the_name_that_all_devices_have_is_known(names: list[str], hardware: str | None) -> None:
    devices = [{"id": number, "name": name} for number, name in enumerate(names)]
    head = json.dumps({"schemaVersion": 1, "deviceProperties": devices})[1:-1]
    work = {**kernel("k", 5, 2, 1), "pid": 9}
    content = document(op("mm", 0, 9), call(1, 1), work, head=head)
    profile = read_profile(Source.of_bytes("x.json", content), ())
    assert profile.origin.hardware == hardware


def test_peaks_of_the_device_are_found_although_rocm_numbers_it_in_another_way() -> None:
    file = str(PROFILES.parent / "pytorch-small" / "rocm-device-id.json")
    done = run_command(file, "--peaks", "auto", "--columns", "efficiency,name", "--notes", "none")
    assert (done.code, done.err) == (0, "")
    assert "peaks               MI300X, 5300 GB/s\n" in done.out
    assert "efficiency  name\n     14.6%  aten::mm\n" in done.out


def test_two_steps_of_one_process_with_equal_numbers_are_two_runs() -> None:
    steps = [event("user_annotation", "ProfilerStep#1", start, 90) for start in (0, 100)]
    profile = read(*steps, op("mm", 10, 4), op("mm", 110, 6))
    assert [run.step for run in profile.runs] == [1, 1]
    assert (at_level(profile).measured("time") * 1e6).round(3).tolist() == [[4, 6]]


class Call(NamedTuple):
    thread: int
    start: int
    kernels: list[tuple[int, int]]
    """The start and the duration of each kernel of the call."""


SPAN = st.tuples(st.integers(0, 1), st.integers(0, 30), st.integers(0, 12))
CALL = st.builds(
    Call,
    st.integers(0, 1),
    st.integers(0, 40),
    st.lists(st.tuples(st.integers(0, 60), st.integers(0, 9)), max_size=2),
)


def nested(spans: list[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """Leave out duplicates, empty spans, and spans that partly overlap a span before them."""
    kept: list[tuple[int, int, int]] = []
    for one in dict.fromkeys(spans):
        thread, start, length = one
        if length and not any(
            thread == other
            and (begin < start < begin + size < start + length
                 or start < begin < start + length < begin + size)
            for other, begin, size in kept
        ):  # fmt: skip
            kept.append(one)
    return kept


@examples(150)
@given(st.lists(SPAN, max_size=7).map(nested), st.lists(CALL, max_size=5), st.integers(1, 40))
def test_launches_and_steps_equal_a_search_of_all_events(
    spans: list[tuple[int, int, int]], calls: list[Call], step_at: int
) -> None:
    events: list[Event] = [
        event("user_annotation", f"ProfilerStep#{number}", start, length, tid=5)
        for number, start, length in ((1, 0, step_at), (2, step_at, 100 - step_at))
    ]
    expected: dict[tuple[str, int], float] = defaultdict(float)
    waits: list[float] = []
    for number, (thread, start, length) in enumerate(spans):
        events.append({**op(f"op{number}", start, length), "tid": thread})
    for number, one in enumerate(calls, 1):
        launch = {**call(one.start, number), "tid": one.thread, "name": f"call{number}"}
        events.append(launch)
        around = [
            (length, f"op{index}", start)
            for index, (thread, start, length) in enumerate(spans)
            if thread == one.thread and start <= one.start < start + length
        ]
        _, name, launched_at = min(around, default=(0, f"call{number}", one.start))
        for at, length in one.kernels:
            # Work of one stream cannot overlap.
            events.append({**kernel(f"kernel{number}", at, length, number), "tid": 50 + number})
            expected[name, 1 if launched_at < step_at else 2] += length
            waits.append(max(0, at - one.start - 1))
    profile = read(*events)
    assert profile.check() == ()
    if any(one.kernels for one in calls):
        rows = at_level(profile, "operator")
        assert times_by_step(rows) == {key: value for key, value in expected.items() if value}
        waited = profile.executions.start_s - profile.executions.submitted_s
        assert np.allclose(sorted(waited[~np.isnan(waited)] * 1e6), sorted(waits))


def times_by_step(rows: pa.Profile) -> dict[tuple[str, Any], float]:
    """Return the device time of each operator in each step, in microseconds, without zeros."""
    found: dict[tuple[str, Any], float] = defaultdict(float)
    times_us = rows.measured("time") * 1e6
    for name, of_row in zip(rows.operators.name.values(), times_us.tolist(), strict=True):
        for run, time_us in zip(rows.runs, of_row, strict=True):
            found[str(name), run.step] += 0 if np.isnan(time_us) else round(time_us, 3)
    return {key: value for key, value in found.items() if value}


def sync(name: str, start: int, length: int) -> Event:
    """Return a driver call that may wait for the device."""
    return event("cuda_runtime", name, start, length)


def test_waits_of_driver_calls_are_waits_of_the_operators_around_them() -> None:
    profile = read(
        op("aten::item", 0, 30),
        op("aten::_local_scalar_dense", 1, 28),
        sync("cudaStreamSynchronize", 2, 20),
        sync("cudaMemcpyAsync", 23, 4),
        op("aten::mm", 40, 6),
        call(41, 1),
        sync("cudaDeviceSynchronize", 50, 40),
        kernel("gemm", 45, 44, 1),
    )
    waits = {}
    for level in ("operator", "top"):
        rows = at_level(profile, level)
        waits[level] = dict(
            zip(
                rows.operators.name.values(),
                (rows.measured("thread_wait")[:, 0] * 1e6).round(3).tolist(),
                strict=True,
            )
        )
    assert waits["operator"] == {
        "aten::item": 0.0,
        "aten::_local_scalar_dense": 20.0,
        "aten::mm": 0.0,
        "cudaDeviceSynchronize": 40.0,
    }
    assert waits["top"]["aten::item"] == 20.0
    summary = pa.summarise(profile)
    assert (round(summary.host_time_s * 1e6), round(summary.thread_wait_s * 1e6)) == (76, 60)
    # Without the waits, the host works for only 16 us, and the device for 44 us.
    assert not [note for note in summary.notes if "probably waits for the host" in note]
    assert "total host time    76.000 us (waiting: 60.000 us)\n" in pa.render(
        pa.Report.of(summary, ()), "plain"
    )


def test_only_a_trace_without_driver_calls_does_not_know_its_waits() -> None:
    mm, gemm = op("aten::mm", 40, 6), kernel("gemm", 45, 44, 1)
    assert pa.summarise(read(mm, call(41, 1), gemm)).thread_wait_s == 0
    assert np.isnan(pa.summarise(read(mm, gemm)).thread_wait_s)

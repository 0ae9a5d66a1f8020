"""Kernels and collectives in traces of `torch.profiler`, and the ranks of a job."""

from __future__ import annotations

import json
from math import nan
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import profile_analyze as pa
from profile_analyze.findings.sentences import as_text
from profile_analyze.model.categorical import Categorical
from profile_analyze.model.executions import Run
from profile_analyze.model.findings import Subject
from profile_analyze.model.joining.ranks import waiting_in_collectives
from profile_analyze.model.levels.levels import at_level
from profile_analyze.readers.pytorch.device_facts import canonical_collective
from profile_analyze.roofline.reported_devices import peaks_of_reported
from tests.conftest import run_command
from tests.findings.found import said
from tests.in_memory import STREAM, profile_of
from tests.readers.pytorch.events import no_steps

if TYPE_CHECKING:
    from pathlib import Path

KERNEL = {
    "registers per thread": 40,
    "shared memory": 400,
    "est. achieved occupancy %": 75,
    "grid": [512, 1, 1],
    "block": [128, 1, 1],
}


def message(name: str, elements: int, ranks: int = 2, dtype: str = "Float") -> dict[str, Any]:
    """Return the arguments of the kernel of a collective."""
    return {
        "Collective name": name,
        "In msg nelems": elements,
        "Out msg nelems": elements,
        "Group size": ranks,
        "dtype": dtype,
    }


class Trace:
    """A trace of operators, each with kernels that it launches."""

    def __init__(self, rank: int | None = None, device: str = "NVIDIA A100-SXM4-40GB") -> None:
        self._events: list[dict[str, Any]] = []
        self._rank, self._device = rank, device

    def operator(self, name: str, *kernels: tuple[str, float, dict[str, Any]]) -> Trace:
        """Add an operator, and its kernels with their names, microseconds and arguments."""
        start = 100.0 * len(self._events)
        self._add("cpu_op", name, start, 90, 1, {})
        for kernel, duration_us, arguments in kernels:
            number = len(self._events)
            linked = {"correlation": number}
            self._add("cuda_runtime", "cudaLaunchKernel", start + 1, 1, 1, linked)
            category = "gpu_memcpy" if "bytes" in arguments else "kernel"
            category = "gpu_memset" if kernel.startswith("Memset") else category
            self._add(category, kernel, start + 10, duration_us, 7, {**arguments, **linked})
            start += 5
        return self

    def _add(
        self, cat: str, name: str, ts: float, dur: float, tid: int, args: dict[str, Any]
    ) -> None:
        pid = 0 if tid == 7 else 99
        event = {"ph": "X", "cat": cat, "name": name, "ts": ts, "dur": dur, "pid": pid, "tid": tid}
        self._events.append({**event, "args": args})

    def write(self, path: Path) -> str:
        """Write the trace to `path`, and return its name."""
        rank = {} if self._rank is None else {"distributedInfo": {"rank": self._rank}}
        devices = [{"id": 0, "name": self._device}]
        document = {"deviceProperties": devices, **rank, "traceEvents": self._events}
        path.write_text(json.dumps(document))
        return str(path)


def rows_of(file: str, columns: str, level: str) -> list[dict[str, Any]]:
    result = pa.run(pa.Query(level=level), pa.load(file))
    return [{name: row[name] for name in columns.split(",")} for row in result.rows]


def test_kernels_say_what_launched_them_and_how(tmp_path: Path) -> None:
    file = (
        Trace()
        .operator("aten::mm", ("gemm", 20, KERNEL), ("gemm", 10, {**KERNEL, "grid": [256, 1, 1]}))
        .write(tmp_path / "a.json")
    )
    columns = "name,launched_by,grid,block,registers,shared_memory,occupancy,collective,memory"
    assert rows_of(file, columns, "kernel") == [
        {
            "name": "gemm", "launched_by": "aten::mm", "grid": None, "block": "128x1x1",
            "registers": 40.0, "shared_memory": 400.0, "occupancy": 0.75, "collective": None,
            "memory": None,
        }
    ]  # fmt: skip
    assert rows_of(file, columns, "operator") == [
        dict.fromkeys(columns.split(",")) | {"name": "aten::mm"}
    ]


def test_a_collective_has_its_bus_bandwidth_at_each_level(tmp_path: Path) -> None:
    # 1000 and 3000 values of four bytes are 16 kB. Each of 4 ranks moves 6/4 * 16 kB in 10 us.
    file = (
        Trace()
        .operator("nccl:all_reduce", ("ncclKernel", 4, message("allreduce", 1000, 4)))
        .operator("nccl:all_reduce", ("ncclKernel", 6, message("allreduce", 3000, 4)))
        .write(tmp_path / "a.json")
    )
    columns = "collective,group_size,message_bytes,message_size,bus_bytes,bus_bandwidth"
    expected = {
        "collective": "all_reduce", "group_size": 4, "message_bytes": 16e3, "message_size": 8e3,
        "bus_bytes": 24e3, "bus_bandwidth": pytest.approx(24e3 / 10e-6),
    }  # fmt: skip
    assert rows_of(file, columns, "kernel") == [expected]
    assert rows_of(file, columns, "operator") == [expected]


@pytest.mark.parametrize(
    ("recorded", "collective", "factor"),
    [
        ("allreduce", "all_reduce", 1.5),
        ("allreduce_coalesced", "all_reduce", 1.5),
        ("_allgather_base", "all_gather", 0.75),
        ("all_gather_into_tensor_coalesced", "all_gather", 0.75),
        ("_reduce_scatter_base", "reduce_scatter", 0.75),
        ("reduce_scatter_tensor_coalesced", "reduce_scatter", 0.75),
        ("all_to_allv", "all_to_all", 0.75),
        ("_broadcast_oop", "broadcast", 1.0),
        ("send", "send", 1.0),
        ("barrier", "barrier", nan),
    ],
)
def test_variants_of_a_collective_have_one_name(
    tmp_path: Path, recorded: str, collective: str, factor: float
) -> None:
    assert canonical_collective(recorded) == collective
    file = (
        Trace()
        .operator("nccl", ("k", 1, message(recorded, 8, 4, "Half")))
        .write(tmp_path / "a.json")
    )
    (row,) = rows_of(file, "message_bytes,bus_bytes", "kernel")
    assert row == {"message_bytes": 16.0, "bus_bytes": None if factor != factor else 16 * factor}


def test_the_larger_side_decides_the_size_of_a_message(tmp_path: Path) -> None:
    gathered = {**message("_allgather_base", 32, 4), "In msg nelems": 8}
    file = Trace().operator("nccl", ("k", 1, gathered)).write(tmp_path / "a.json")
    assert rows_of(file, "message_size,bus_bytes", "kernel") == [
        {"message_size": 128.0, "bus_bytes": 96.0}
    ]


def test_facts_of_a_wrong_type_are_unknown(tmp_path: Path) -> None:
    wrong = {
        **message("allreduce", 8), "Group size": "two", "dtype": "Nibble", "grid": 7,
        "registers per thread": -1, "shared memory": True, "est. achieved occupancy %": [],
    }  # fmt: skip
    file = Trace().operator("a", ("k", 1, wrong)).write(tmp_path / "a.json")
    columns = "grid,registers,shared_memory,occupancy,group_size,message_bytes,bus_bandwidth"
    assert rows_of(file, columns, "kernel") == [dict.fromkeys(columns.split(","))]


def test_a_copy_reads_and_writes_its_bytes(tmp_path: Path) -> None:
    file = (
        Trace()
        .operator("aten::copy_", ("Memcpy DtoD", 2, {"bytes": 100}))
        .operator("aten::copy_", ("Memcpy DtoD", 2, {"bytes": 300}))
        .operator("aten::zero_", ("Memset (Device)", 1, {"bytes": 50}))
        .operator("aten::conv", ("Memset (Device)", 1, {"bytes": 50}), ("gemm", 9, KERNEL))
        .write(tmp_path / "a.json")
    )
    columns = "name,memory,memory_source"
    assert rows_of(file, columns, "kernel") == [
        {"name": "gemm", "memory": None, "memory_source": "unknown"},
        {"name": "Memcpy DtoD", "memory": 800.0, "memory_source": "measured"},
        {"name": "Memset (Device)", "memory": 50.0, "memory_source": "measured"},
        {"name": "Memset (Device)", "memory": 50.0, "memory_source": "measured"},
    ]
    assert rows_of(file, columns, "operator") == [
        {"name": "aten::conv", "memory": None, "memory_source": "unknown"},
        {"name": "aten::copy_", "memory": 800.0, "memory_source": "measured"},
        {"name": "aten::zero_", "memory": 50.0, "memory_source": "measured"},
    ]


def job(folder: Path, *durations_us: tuple[float, ...]) -> list[str]:
    """Write a trace for each rank, with all-reduces of the given durations."""
    files = []
    for rank, durations in enumerate(durations_us):
        trace = Trace(rank)
        for duration_us in durations:
            arguments = message("allreduce", 8, len(durations_us))
            trace.operator("nccl:all_reduce", ("ncclKernel", duration_us, arguments))
        files.append(trace.write(folder / f"rank{rank}.json"))
    return files


def test_files_of_different_ranks_are_one_job(tmp_path: Path) -> None:
    profile = at_level(pa.load_runs(job(tmp_path, (10, 20, 4), (15, 11, 3))))
    assert (profile.file, len(profile.runs)) == ("2 ranks", 1)
    assert profile.processes == (f"{tmp_path}/rank0.json and 1 more rank",)
    assert profile.measured("time").tolist() == [[pytest.approx(63e-6)]]
    result = pa.run(pa.Query(by="rank"), profile)
    assert [(row["rank"], round(row["time"] * 1e6, 6)) for row in result.rows] == [(0, 34), (1, 29)]
    (row,) = pa.run(pa.Query(), profile).rows
    assert row["rank_spread"] == pytest.approx((34 - 29) / 31.5)
    steps, waited = profile.notes
    assert steps == no_steps(3).about(Subject("each file", files=2))
    assert as_text(waited) == (
        "all_reduce: ranks waited 15.0 us for the slowest rank (38.5% of the time of 3 calls), "
        "which was rank 1 in 2 of them"
    )


def test_only_waiting_in_the_chosen_part_is_counted(tmp_path: Path) -> None:
    files = job(tmp_path, (10, 20, 4), (15, 11, 3))
    found = run_command(*files, "--from", "500us", "--notes", "all")
    assert [line for line in found.err.splitlines() if "waited" in line] == [
        "note: all_reduce: ranks waited 1.00 us for the slowest rank (25.0% of the time of 1 call), "
        "which was rank 1 in 1 of them"
    ]


def test_waiting_is_stated_per_run() -> None:
    profile = profile_of(
        [{"name": "all_reduce", "level": "kernel"}],
        [
            {"operator": 0, "duration_s": duration_s, "start_s": run, "track": rank, "run": run}
            for run, durations in enumerate(((5.0, 2.0), (3.0, 2.0)))
            for rank, duration_s in enumerate(durations)
        ],
        tracks=[STREAM._replace(rank=rank) for rank in (0, 1)],
        runs=[Run(), Run()],
        columns={
            "optional": {
                "collective": Categorical.of(["all_reduce"]),
                "group_size": Categorical.of([2]),
            }
        },
    )
    assert said(at_level(profile, "kernel").notes) == (
        "all_reduce: ranks waited 2.00 s per run on average for the slowest rank (50.0% of the time of 2 "
        "calls), which was rank 1 in 2 of them",
    )


def test_messages_between_two_ranks_are_no_collectives(tmp_path: Path) -> None:
    files = [
        Trace(rank)
        .operator("nccl:send", ("ncclKernel", 9 + rank, message("send", 8, 2)))
        .write(tmp_path / f"{rank}.json")
        for rank in range(2)
    ]
    assert said(at_level(pa.load_runs(files)).notes) == ()


def test_a_collective_that_one_rank_lacks_is_not_compared(tmp_path: Path) -> None:
    files = [
        Trace(rank)
        .operator("nccl:all_reduce", *[("k", 9 + rank, message("allreduce", 8, 3))] * calls)
        .write(tmp_path / f"{rank}.json")
        for rank, calls in enumerate((1, 1, 0))
    ]
    notes = said(at_level(pa.load_runs(files)).notes)
    assert not [note for note in notes if "waited" in as_text(note)]


def test_an_inspection_names_the_ranks_of_streams(tmp_path: Path) -> None:
    found = run_command(*job(tmp_path, (10,), (15,)), "--inspect", "ncclKernel")
    assert "tracks                    stream 7 of rank 0, stream 7 of rank 1\n" in found.out
    assert [line.split()[3:] for line in found.out.splitlines()[-2:]] == [
        ["stream", "7", "of", "rank", "1", "N/A"],
        ["stream", "7", "of", "rank", "0", "N/A"],
    ]


def test_two_jobs_can_be_compared(tmp_path: Path) -> None:
    (tmp_path / "base").mkdir()
    files, base = job(tmp_path, (10,), (15,)), job(tmp_path / "base", (20,), (30,))
    found = run_command(*files, "--compare", *base, "--columns", "time,base", "--format", "csv")
    assert found.out.splitlines()[1:] == ["0.000025,0.00005"]
    assert "same runs" not in found.err


def test_the_command_shows_the_time_of_each_of_two_ranks(tmp_path: Path) -> None:
    files = job(tmp_path, (10, 20, 4), (15, 11, 3))
    found = run_command(
        *files, "--aggregate-by", "rank", "--columns", "time,rank", "--format", "csv"
    )
    assert found.out.splitlines()[1:] == ["0.000034000000000000007,0", "0.000029,1"]
    assert (
        "the device time is the sum of 2 ranks: 34.0 us on rank 0, 29.0 us on rank 1; "
        "--aggregate-by rank shows each"
    ) in found.err


def test_a_job_has_the_labels_that_all_its_files_share(tmp_path: Path) -> None:
    (tmp_path / "monday").mkdir()
    found = run_command(
        *job(tmp_path / "monday", (10,), (15,)),
        *("--label", "{day}/{number}.json", "--aggregate-by", "day,number"),
        *("--columns", "day,number,time", "--format", "csv"),
    )
    assert found.out.splitlines() == ["day,number,time_s", "monday,,0.000025"]


def test_of_many_ranks_only_the_fastest_and_the_slowest_are_named(tmp_path: Path) -> None:
    found = run_command(*job(tmp_path, (3,), (1,), (2,), (5,), (1,)))
    assert (
        "the device time is the sum of 5 ranks: from 1.00 us on rank 1 to 5.00 us on rank 3; "
        "--aggregate-by rank shows each"
    ) in found.err


def test_files_of_one_rank_are_runs(tmp_path: Path) -> None:
    files = [Trace(3).operator("a", ("k", 9, {})).write(tmp_path / f"{run}.json") for run in "ab"]
    profile = pa.load_runs(files)
    assert (len(profile.runs), len(profile.processes)) == (2, 2)


@pytest.mark.parametrize(
    ("ranks", "message_text"),
    [
        ((0, 1, 0), "a.json and c.json are both rank 0, but other files have other ranks; "),
        ((None, 1), "a.json names no rank, but b.json is rank 1 of a job; "),
    ],
)
def test_ranks_and_runs_do_not_mix(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    ranks: tuple[int | None, ...],
    message_text: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    for rank, name in zip(ranks, "abc", strict=False):
        Trace(rank).operator("a", ("k", 9, {})).write(tmp_path / f"{name}.json")
    names = [f"{name}.json" for _, name in zip(ranks, "abc", strict=False)]
    with pytest.raises(pa.QueryError) as caught:
        pa.load_runs(names)
    to_compare = "; to compare two programs, name one of them after --compare"
    assert str(caught.value) == (
        message_text
        + "name one file of each rank of one job, or only runs of one rank"
        + (to_compare if None in ranks else "")
    )


@given(
    st.integers(2, 4).flatmap(
        lambda ranks: st.lists(st.tuples(*[st.integers(1, 9)] * ranks), min_size=1, max_size=4)
    )
)
def test_waiting_times_equal_a_slow_computation(
    tmp_path_factory: pytest.TempPathFactory, calls: list[tuple[int, ...]]
) -> None:
    folder = tmp_path_factory.mktemp("job")
    profile = pa.load_runs(job(folder, *zip(*calls, strict=True)))
    caused = [0] * len(calls[0])  # the microseconds that other ranks waited for each rank
    last = [0] * len(calls[0])  # the number of calls in which each rank came last
    for durations in calls:
        slowest = durations.index(min(durations))  # the last rank does not wait
        caused[slowest] += max(durations) - min(durations)
        last[slowest] += 1
    (found,) = waiting_in_collectives(profile)
    seconds = (sum(caused) / 1e6, sum(map(max, calls)) / 1e6)
    assert (found.waited_s, found.time_s) == pytest.approx(seconds)
    assert caused[found.slowest] == max(caused)  # if several are equal, rounding decides
    assert (found.collective, found.calls) == ("all_reduce", len(calls))
    assert found.last == last[found.slowest]


def test_only_collectives_of_all_ranks_are_compared(tmp_path: Path) -> None:
    files = []
    for rank in range(2):
        trace = Trace(rank).operator("nccl", ("all", 1 + rank, message("allreduce", 8, 8)))
        # rank 0 recorded another number of calls than rank 1, so they cannot be matched
        for _ in range(2 - rank):
            trace.operator("nccl", ("cast", 5 + rank, message("broadcast", 8, 2)))
        files.append(trace.write(tmp_path / f"{rank}.json"))
    assert waiting_in_collectives(pa.load_runs(files)) == []


@pytest.mark.parametrize(
    ("device", "name", "rate", "bandwidth"),
    [
        ("NVIDIA A100-SXM4-40GB", "A100 40GB", 312e12, 1555e9),
        ("NVIDIA A100 80GB PCIe", "A100 80GB PCIe", 312e12, 1935e9),
        ("Tesla V100-SXM2-32GB", "V100 SXM2", 125e12, 900e9),
        ("Tesla V100S-PCIE-32GB", "V100S", 130e12, 1134e9),
        ("Tesla T4", "T4", 65e12, 320e9),
        ("NVIDIA H100 80GB HBM3", "H100 SXM", 989e12, 3350e9),
        ("NVIDIA H100 PCIe", "H100 PCIe", 756e12, 2000e9),
        ("NVIDIA H200", "H200 SXM", 989e12, 4800e9),
        ("NVIDIA GeForce RTX 4090", "RTX 4090", 165.2e12, 1008e9),
        ("AMD Instinct MI300X", "MI300X", 1307.4e12, 5300e9),
        ("AMD Instinct MI250X", "MI250X (one of 2 dies)", 191.5e12, 1600e9),
    ],
)
def test_peaks_of_the_device_that_a_profile_names(
    device: str, name: str, rate: float, bandwidth: float
) -> None:
    peaks = peaks_of_reported(device, "fp16")
    assert (peaks.name, peaks.rate("fp16"), peaks.bandwidth) == (name, rate, bandwidth)
    assert (peaks.dtype, peaks.dtype_is_named) == ("fp16", True)


@pytest.mark.parametrize(
    ("device", "error"),
    [
        (
            "NVIDIA A100-PG509-200",
            "the profile names 'NVIDIA A100-PG509-200', which matches no single device in the "
            "table; give the rates of the device, or name one of these devices: a100-40gb, a100-80gb-sxm, a100-80gb-pcie",
        ),
        (
            "NVIDIA GeForce RTX 4090 Laptop GPU",
            "the profile names 'NVIDIA GeForce RTX 4090 Laptop GPU', which matches no single device "
            "in the table; give the rates of the device, or name one of these devices: rtx-4090",
        ),
        (
            "NVIDIA GeForce RTX 3080",
            "the profile names 'NVIDIA GeForce RTX 3080', which is not in the table; give its "
            "rates, as in --peaks 19.5T:1555G (--peaks list shows all devices)",
        ),
        (
            "AMD Radeon Graphics",
            "the profile names 'AMD Radeon Graphics', which is not in the table; give its rates, "
            "as in --peaks 19.5T:1555G (--peaks list shows all devices)",
        ),
        (
            "",
            "the profile does not name its device; name it, as in --peaks a100-40gb (--peaks list "
            "shows all devices)",
        ),
    ],
)
def test_a_device_that_cannot_be_identified_is_an_error(
    tmp_path: Path, device: str, error: str
) -> None:
    file = Trace(device=device).operator("a", ("k", 9, {})).write(tmp_path / "a.json")
    found = run_command(file, "--peaks", "auto")
    assert (found.code, found.out) == (2, "")
    assert found.err == f"profile_analyze: error: --peaks auto: {error}\n"


def test_the_peaks_of_the_profile_are_in_the_answer(tmp_path: Path) -> None:
    file = Trace().operator("a", ("Memcpy", 2, {"bytes": 1_555_000})).write(tmp_path / "a.json")
    found = run_command(file, "--peaks", "auto:fp16", "--print-only", "summary")
    assert "peaks               A100 40GB, 1555 GB/s\n" in found.out
    wrong = run_command(file, "--peaks", "auto:fp12")
    assert wrong.err == (
        "profile_analyze: error: auto:fp12: write auto, or auto: and one of fp64, fp32, tf32, "
        "fp16, bf16, fp8, int8\n"
    )


def test_bytes_of_messages_are_added_up_in_groups(tmp_path: Path) -> None:
    file = (
        Trace()
        .operator("x", ("k1", 4, message("allreduce", 1000)), ("k2", 4, message("send", 10)))
        .write(tmp_path / "a.json")
    )
    (row,) = pa.run(pa.Query(level="kernel", by="device"), pa.load(file)).rows
    assert (row["message_bytes"], row["message_size"]) == (4040.0, 2020.0)
    np.testing.assert_allclose(row["bus_bandwidth"], 4040 / 8e-6)

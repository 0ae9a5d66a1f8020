"""Profiles made in memory, for tests that do not depend on a format."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from profile_analyze.model.categorical import Categorical
from profile_analyze.model.executions import Executions, Run, Track
from profile_analyze.model.operators import Operators
from profile_analyze.model.origin import Origin, RecordedFact
from profile_analyze.model.profile import Profile

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

THREAD = Track("thread 1", "host", kind="thread")
STREAM = Track("stream 7", "device", "gpu 0", "stream", device_kind="gpu")
CPU = Track("thread 1", "device", "cpu", "thread", device_kind="cpu", threads=1)


def operators_of(rows: Sequence[Mapping[str, Any]], **more: Any) -> Operators:
    """Return operators from a mapping for each row. Only the name is required in a mapping."""
    columns: dict[str, Any] = {
        name: Categorical.of([row.get(name) for row in rows])
        for name in ("name", "type", "category", "scope")
        if name == "name" or any(name in row for row in rows)
    }
    for name in ("computation", "memory"):
        if any(name in row for row in rows):
            columns[name] = np.array([row.get(name, np.nan) for row in rows], np.float64)
    columns["level"] = Categorical.of([row.get("level", "operator") for row in rows])
    columns["key"] = np.arange(len(rows))
    if any("key" in row for row in rows):
        columns["key"] = Categorical.of([row["key"] for row in rows])
    return Operators.of(**{**columns, **more})


def profile_of(
    operators: Sequence[Mapping[str, Any]],
    executions: Sequence[Mapping[str, Any]] = (),
    *,
    tracks: Sequence[Track] = (STREAM,),
    runs: Sequence[Run] = (Run(),),
    processes: Sequence[str] = ("made.json",),
    origin: Origin | None = None,
    columns: Mapping[str, Any] | None = None,
    **more: Any,
) -> Profile:
    """Return a profile from a mapping for each row. Columns that no row has are left out."""
    names = dict.fromkeys(name for row in executions for name in row)
    defaults = {"operator": 0, "run": 0, "track": 0, "calls": 1, "parent": -1, "launched_by": -1}
    table: dict[str, Any] = {
        name: [row.get(name, defaults.get(name, np.nan)) for row in executions]
        for name in names
        if name != "phase"
    }
    if "phase" in names:
        table["phase"] = Categorical.of([row.get("phase") for row in executions])
    profile = Profile(
        file=processes[0],
        origin=origin or Origin("a made-up runtime"),
        operators=operators_of(operators, **(columns or {})),
        executions=Executions.of(**({"operator": [], "duration_s": []} | table)),
        tracks=tuple(tracks),
        runs=tuple(runs),
        processes=tuple(processes),
        **more,
    )
    assert profile.check() == ()
    return profile


STATIC = Origin("a made-up model", times="absent")


def static() -> Profile:
    """Return a static model without times: convolutions and a matrix product, with text keys."""
    return profile_of(
        [
            {"key": "conv10", "name": "conv10", "type": "Conv", "computation": 2e9, "memory": 4e6},
            {"key": "conv2", "name": "conv2", "type": "Conv", "computation": 1e9, "memory": 2e6},
            {"key": "fc", "name": "fc", "type": "Gemm", "memory": 1e6},
        ],
        origin=STATIC,
    )


def nested() -> Profile:
    """Return a trace of one training step on a GPU: a module, nested operators, launches, kernels.

    module net      0 ms ............................................. 12 ms
      linear          1 ............ 6      relu 7 ... 9   (thread 1)
        addmm           2 ..... 5             launch 8-8.5
          launch          3-4
    stream 7              4 ... 7 gemm             9 ... 10 relu_kernel
    """
    operators: list[dict[str, Any]] = [
        {"name": "net", "type": "Net", "level": "module"},
        {"name": "linear", "type": "linear", "scope": ("net",)},
        {"name": "addmm", "type": "addmm", "scope": ("net",), "computation": 8e6, "memory": 3e3},
        {"name": "relu", "type": "relu", "scope": ("net",), "memory": 1e3},
        {"name": "launch", "type": "launch", "level": "runtime"},
        {"name": "gemm", "type": "gemm", "level": "kernel"},
        {"name": "relu_kernel", "type": "relu_kernel", "level": "kernel"},
    ]
    executions: list[dict[str, Any]] = [
        {"operator": 0, "start_s": 0e-3, "duration_s": 12e-3},
        {"operator": 1, "start_s": 1e-3, "duration_s": 5e-3, "parent": 0},
        {"operator": 2, "start_s": 2e-3, "duration_s": 3e-3, "parent": 1},
        {"operator": 4, "start_s": 3e-3, "duration_s": 1e-3, "parent": 2},
        {"operator": 3, "start_s": 7e-3, "duration_s": 2e-3, "parent": 0},
        {"operator": 4, "start_s": 8e-3, "duration_s": 0.5e-3, "parent": 4},
        {
            "operator": 5, "start_s": 4e-3, "duration_s": 3e-3, "track": 1, "launched_by": 3,
            "submitted_s": 4e-3,
        },
        {
            "operator": 6, "start_s": 9e-3, "duration_s": 1e-3, "track": 1, "launched_by": 5,
            "submitted_s": 8.5e-3,
        },
    ]  # fmt: skip
    return profile_of(operators, executions, tracks=(THREAD, STREAM))


def four_steps(file: str = "made.json", scale: float = 1.0) -> Profile:
    """Return four iterations in one file.

    `attention` runs four times in the first iteration, and three times in each other iteration.
    """
    durations: list[list[tuple[float, ...]]] = [
        [(9.0, 3.0, 3.0, 3.0), (8.0,)],
        *[[(1.0 + n, 1.0, 1.0), (4.0,)] for n in range(3)],
    ]
    executions = [
        {"operator": operator, "run": run, "duration_s": scale * duration * 1e-3}
        for run, of_operators in enumerate(durations)
        for operator, calls in enumerate(of_operators)
        for duration in calls
    ]
    return profile_of(
        [
            {"name": "attention", "type": "Attention", "computation": 1e9, "memory": 1e6},
            {"name": "mlp", "type": "Gemm", "computation": 4e9, "memory": 2e6},
        ],
        executions,
        tracks=(CPU,),
        runs=[Run(0, step) for step in range(10, 14)],
        processes=(file,),
    )


def averages() -> Profile:
    """Return mean layer times of ten inferences, without starts. One layer was called twice."""
    return profile_of(
        [
            {"name": "conv1 + relu1", "type": "Convolution", "category": "convolution"},
            {"name": "fc", "type": "Gemm", "category": "matmul"},
        ],
        [
            {"operator": 0, "duration_s": 1.25e-3, "calls": 2},
            {"operator": 1, "duration_s": 0.5e-3},
        ],
        origin=Origin("a made-up report", "2.1", "mean", averaged_over=10, hardware="a card"),
    )


def synchronised() -> Profile:
    """Return mean times from a runtime that waited for each operator and printed its own totals."""
    recorded = (
        RecordedFact("batch_size", 4.0, "", "batch size"),
        RecordedFact("p50_s", 2.0e-3, "s", "latencies", "p50"),
        RecordedFact("p99_s", 2.25e-3, "s", "latencies", "p99"),
        RecordedFact("inferences_per_s", 2000.0, "inferences/s", "rate"),
    )
    return profile_of(
        [
            {"name": "conv", "type": "Conv", "category": "convolution"},
            {"name": "add", "type": "Add", "category": "elementwise"},
            {"name": "view", "type": "View", "category": "data movement"},
        ],
        [
            {"operator": 0, "duration_s": 2.0e-3, "calls": 2},
            {"operator": 1, "duration_s": 0.75e-3},
            {"operator": 2, "duration_s": 0.05e-3},
        ],
        runs=[Run(wall_s=2e-3)],
        origin=Origin("a made-up report", times="mean", synchronised=True, recorded=recorded),
    )


def two_devices() -> Profile:
    """Return a profile of one process on two devices, with an operator that ran on both."""
    return profile_of(
        [
            {"name": "embed", "type": "Gather", "category": "embedding", "memory": 1e6},
            {"name": "matmul", "type": "MatMul", "category": "matmul", "computation": 3e9},
        ],
        [
            {"operator": 0, "duration_s": 1e-3, "track": 0},
            {"operator": 1, "duration_s": 2e-3, "track": 0},
            {"operator": 1, "duration_s": 4e-3, "track": 1},
        ],
        tracks=(STREAM, STREAM._replace(device="gpu 1")),
        runs=(Run(wall_s=6e-3),),
    )


def two_ranks() -> Profile:
    """Return one run of a distributed job with two processes."""
    return profile_of(
        [
            {"name": "gemm", "type": "MatMul", "category": "matmul"},
            {"name": "all_reduce", "type": "AllReduce", "category": "communication"},
        ],
        [
            {"operator": 0, "duration_s": 3e-3, "track": 0, "phase": "forward"},
            {"operator": 1, "duration_s": 1e-3, "track": 0, "phase": "backward"},
            {"operator": 0, "duration_s": 2e-3, "track": 1, "phase": "forward"},
            {"operator": 1, "duration_s": 2e-3, "track": 1, "phase": "backward"},
        ],
        tracks=(
            STREAM._replace(process="trainer 0", rank=0),
            STREAM._replace(device="gpu 1", process="trainer 1", rank=1),
        ),
    )


def bare() -> Profile:
    """Return a profile with names and times only: no types, shapes, dtypes or computation."""
    return profile_of(
        [{"name": "a"}, {"name": "b"}],
        [{"operator": 0, "duration_s": 1e-3}, {"operator": 1, "duration_s": 3e-3}],
    )

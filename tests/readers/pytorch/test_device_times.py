"""How long steps take, how long devices work in them, and how long the host only waits."""

from __future__ import annotations

import json
from math import nan
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import profile_analyze as pa
from profile_analyze.model.busy import busiest
from profile_analyze.model.findings import Finding, Kind
from profile_analyze.model.levels.levels import at_level
from profile_analyze.model.levels.regions import with_step_region
from profile_analyze.readers.input.source import Source
from profile_analyze.readers.loading import read_profile
from tests.conftest import PROFILES, examples, run_command
from tests.findings.found import codes_in, rounded, with_code
from tests.readers.pytorch.events import call, document, event, kernel, op

if TYPE_CHECKING:
    from pathlib import Path

    from tests.readers.pytorch.events import Event

FOLDER = PROFILES.parent / "pytorch-small"


def totals(name: str, *options: str) -> dict[str, Any]:
    """Return the totals that the command prints as JSON, times in microseconds."""
    done = run_command(str(FOLDER / f"{name}.json"), "--format", "json", *options)
    assert done.code == 0, done.err
    found: dict[str, Any] = json.loads(done.out)["summary"]
    return {
        key.removesuffix("_s"): round(value * 1e6, 3)
        if key.endswith("_s") and isinstance(value, float)
        else value
        for key, value in found.items()
    }


def chosen(found: dict[str, Any], *names: str) -> tuple[Any, ...]:
    return tuple(found[name] for name in names)


def read(*events: Event) -> pa.Profile:
    return read_profile(Source.of_bytes("x.json", document(*events)), ())


def stream(number: int, one: Event, *, device: int = 0) -> Event:
    """Return a piece of work on another stream or device."""
    return {**one, "pid": device, "tid": number}


def step(number: int, start: int, length: int) -> Event:
    return event("user_annotation", f"ProfilerStep#{number}", start, length)


def walls_and_busy(profile: pa.Profile) -> list[tuple[float, float]]:
    return [(round(run.wall_s * 1e6, 3), round(run.busy_s * 1e6, 3)) for run in profile.runs]


@pytest.mark.parametrize("statistic", ["median", "mean", "min", "max"])
def test_no_wait_is_longer_than_the_host_time(statistic: str) -> None:
    """One of three steps has a wait: the median of the waits is 0."""
    found = totals("sync-after-the-steps", "--run-stat", statistic)
    expected = {
        "median": (200, 0),
        "mean": (3533.333, 3333.333),
        "min": (200, 0),
        "max": (10200, 10000),
    }
    assert chosen(found, "host_time", "thread_wait") == expected[statistic]
    assert chosen(found, "wall_time", "outside_operators", "explained_on") == (900, 300, "device")


def test_a_row_waits_for_no_longer_than_it_takes() -> None:
    """A row with a wait in one of three steps: its median is of all three."""
    events = [
        one
        for number, wait in enumerate((5, 5, 90))
        for one in (
            step(number, 100 * number, 100),
            op("aten::item", 100 * number, 95),
            event("cuda_runtime", "cudaMemcpyAsync", 100 * number + 1, 3, correlation=number + 1),
            *([event("cuda_runtime", "cudaStreamSynchronize", 205, wait)] if wait > 5 else []),
            kernel("Memcpy DtoH", 100 * number + 50, 5, number + 1),
        )
    ]
    rows = at_level(read(*events))
    waits = (rows.measured("thread_wait") * 1e6).round(3).tolist()
    assert waits == [[0, 0, 90]]
    table = pa.run(pa.Query(by=("name",)), rows)
    assert [(row["name"], row["thread_wait"]) for row in table.rows] == [("aten::item", 0.0)]


def test_a_file_without_driver_calls_has_no_waits_beside_files_with_waits(tmp_path: Path) -> None:
    """The median of the host times is of a file without waits, and so is that of the waits."""
    sync = event("cuda_runtime", "cudaDeviceSynchronize", 10, 90)
    for number, calls in enumerate(((sync,), (), ())):
        content = document(op("mm", 0, 5), *calls, kernel("gemm", 6, 3, 1))
        (tmp_path / f"{number}.json").write_bytes(content)
    done = run_command(str(tmp_path), "--format", "json")
    found = json.loads(done.out)["summary"]
    assert (round(found["host_time_s"] * 1e6), found["thread_wait_s"]) == (5, 0)


@pytest.mark.parametrize(("name", "wait"), [("item-cuda", 7960), ("item-rocm", 7980)])
def test_a_blocking_copy_is_a_wait(name: str, wait: int) -> None:
    found = totals(name)
    assert chosen(found, "device_time", "host_time", "thread_wait") == (1005, 8050, wait)
    assert "probably waits" not in run_command(str(FOLDER / f"{name}.json")).err


@pytest.mark.parametrize(
    ("name", "copy_ends", "wait"),
    [
        ("cudaMemcpy", None, 30),
        ("hipMemcpy", None, 30),
        ("cudaMemcpy2D", None, 30),
        ("cuMemcpyDtoH_v2", None, 30),
        ("hipMemcpyWithStream", None, 30),
        ("hipDeviceSynchronize", None, 30),
        ("cuStreamSynchronize", None, 30),
        ("cudaMemcpyAsync", 40, 30),  # the memory of the host is pageable
        ("cuMemcpyHtoDAsync_v2", 39, 30),
        ("cudaMemcpyAsync", 41, 0),
        ("cudaMemcpyAsync", None, 0),  # the copy is not in the file
        ("cudaLaunchKernel", 39, 0),
        ("cudaGraphAddMemcpyNode", None, 0),
        ("cudaMemsetAsync", 39, 0),
        ("cudaMalloc", None, 0),
    ],
)
def test_calls_that_block_are_waits(name: str, copy_ends: int | None, wait: int) -> None:
    copy = "Memcpy HtoD (Pageable -> Device)"
    copies = [] if copy_ends is None else [kernel(copy, copy_ends - 5, 5, 1)]
    profile = read(event("cuda_runtime", name, 10, 30, correlation=1), *copies)
    assert np.nansum(profile.executions.thread_wait_s) * 1e6 == pytest.approx(wait)


@pytest.mark.parametrize(
    ("copy", "wait"),
    [
        ("Memcpy HtoD (Pageable -> Device)", 30),
        ("Memcpy DtoH (Device -> Pageable)", 30),
        ("Memcpy HtoD (Host -> Device)", 30),  # the memory may be pageable
        ("Memcpy DtoH", 30),
        ("CopyDeviceToHost", 30),
        ("CopyHostToDevice", 30),
        ("Memcpy HtoD (Pinned -> Device)", 0),
        ("Memcpy DtoH (Device -> Pinned)", 0),
        ("Memcpy DtoH (Device -> Managed)", 0),
        ("Memcpy DtoD (Device -> Device)", 0),
        ("Memcpy PtoP (Device -> Device)", 0),
        ("CopyDeviceToDevice", 0),
        ("gemm", 0),
    ],
)
def test_only_asynchronous_copies_of_pageable_memory_are_waits(copy: str, wait: int) -> None:
    """The device copies within the call."""
    done = event("cuda_runtime", "cudaMemcpyAsync", 10, 30, correlation=1)
    profile = read(done, kernel(copy, 20, 5, 1))
    assert np.nansum(profile.executions.thread_wait_s) * 1e6 == pytest.approx(wait)


@pytest.mark.parametrize("level", ["operator", "module", "top", "kernel"])
def test_how_long_the_device_worked_does_not_depend_on_the_level(level: str) -> None:
    found = totals("backward-outside-of-modules", *(() if level == "top" else ("--level", level)))
    assert chosen(found, "wall_time", "outside_operators", "explained_on") == (6720, 270, "device")
    done = run_command(str(FOLDER / "backward-outside-of-modules.json"), "--notes", "all")
    assert "probably waits" not in done.err


def test_a_device_with_much_work_on_several_streams_waits_for_the_host() -> None:
    """Two streams work at the same time, so they work for 10 us, not for 20 us."""
    launches = (op("mm", 0, 31), call(1, 1), call(3, 2))
    kernels = [stream(number, kernel("gemm", 40, 10, number)) for number in (1, 2)]
    notes = pa.summarise(read(*launches, *kernels)).notes
    assert codes_in(notes) == ["several-tracks", "busy-host"]
    (several,), (busy,) = (with_code(notes, code) for code in codes_in(notes))
    assert (several["noun"], several["busy_s"], busy["multiple"]) == ("stream", 1e-5, 3.1)


def test_streams_that_never_work_at_the_same_time_have_no_note() -> None:
    notes = pa.summarise(pa.load(str(FOLDER / "host-ahead.json"))).notes
    assert "several-tracks" not in codes_in(notes)


def test_one_busy_device_of_two_does_not_wait_for_the_host() -> None:
    launches = (step(1, 0, 100), op("mm", 0, 90), call(1, 1), call(3, 2))
    first, second = (stream(7, kernel("gemm", 10, 5, number), device=number) for number in (1, 2))
    assert "busy-host" in codes_in(pa.summarise(read(*launches, first, second)).notes)
    busy = {**second, "dur": 80}
    assert "busy-host" not in codes_in(pa.summarise(read(*launches, first, busy)).notes)
    assert walls_and_busy(read(*launches, first, busy)) == [(100, 80)]


def test_two_threads_of_the_host_may_work_for_longer_than_a_busy_device() -> None:
    """The trace has no steps. Each thread works for 50 us, the device for 40 of 50 us."""
    threads = [{**op("mm", 0, 50), "tid": thread} for thread in (1, 2)]
    profile = read(*threads, {**call(1, 1), "tid": 1}, kernel("gemm", 10, 40, 1))
    assert "busy-host" not in codes_in(pa.summarise(profile).notes)


def test_a_cut_file_does_not_say_that_the_device_waits() -> None:
    whole = document(op("mm", 0, 90), call(1, 1), kernel("gemm", 10, 5, 1), kernel("b", 20, 9, 2))
    for end, waits in ((len(whole), True), (whole.rindex(b"{"), False)):
        profile = read_profile(Source.of_bytes("x.json", whole[:end]), ())
        assert ("busy-host" in codes_in(pa.summarise(profile).notes)) == waits


def test_a_step_ends_with_its_last_kernel_and_begins_after_the_step_before() -> None:
    found = totals("host-ahead")
    assert chosen(found, "wall_time", "outside_operators", "explained_on") == (1000, 0, "device")
    assert chosen(found, "host_time", "thread_wait") == (60, 0)
    profile = pa.load(str(FOLDER / "host-ahead.json"))
    assert walls_and_busy(profile) == [(2000, 1000), (1000, 1000), (1000, 1000)]
    # At a step and after the first step, times are as in the whole recording.
    assert totals("host-ahead", "--step", "6")["wall_time"] == 1000
    assert totals("host-ahead", "--skip-runs", "1")["wall_time"] == 1000
    # Other steps are cut, so nobody knows how long they take.
    assert totals("host-ahead", "--from", "1.5ms", "--to", "2.5ms")["wall_time"] is None


def test_no_wait_is_not_shown() -> None:
    done = run_command(str(FOLDER / "host-ahead.json"), "--from", "1.5ms", "--to", "3.5ms")
    assert "total host time    0 us\n" in done.out


def test_steps_are_compared_with_their_kernels() -> None:
    files = [str(FOLDER / f"{name}.json") for name in ("host-ahead", "sync-in-each-step")]
    done = run_command(files[0], "--compare", files[1], "--print-only", "summary")
    lines = dict(line.split("  ", 1) for line in done.out.splitlines() if "  " in line)
    assert lines["wall time of a run"].strip() == "1.000 ms (device busy: 100.0%, idle: 0 ms)"
    assert lines["baseline wall time"].strip() == "1.090 ms"
    assert "a whole run takes" not in done.out + done.err


def test_regions_take_as_long_as_their_kernels() -> None:
    """The same times as with steps of the profiler, which begin and end at the same times."""
    whole = json.loads((FOLDER / "host-ahead.json").read_bytes())
    events = [one for one in whole["traceEvents"] if one["name"] != "cudaDeviceSynchronize"]
    steps = read(*events)
    named = [
        {**one, "name": "batch"} if one["name"].startswith("ProfilerStep") else one
        for one in events
    ]
    regions = with_step_region(read(*named), "batch")
    assert walls_and_busy(regions) == walls_and_busy(steps)
    assert walls_and_busy(regions) == [(2000, 1000), (1000, 1000), (1000, 1000)]


def test_work_launched_between_two_steps_makes_no_step_longer() -> None:
    profile = read(
        *(step(1, 0, 50), op("a", 0, 9), call(1, 1), op("b", 60, 9), call(61, 2)),
        *(step(2, 100, 50), op("a", 100, 9), call(101, 3)),
        *(kernel("k", 20, 50, 1), kernel("k", 70, 20, 2), kernel("k", 120, 10, 3)),
    )
    assert walls_and_busy(profile) == [(70, 50), (50, 10)]


def test_a_kernel_without_a_launch_keeps_the_device_busy() -> None:
    found = totals("kernel-without-launch")
    assert chosen(found, "wall_time", "outside_operators") == (2000, 200)
    assert found["device_time"] == 600
    done = run_command(str(FOLDER / "kernel-without-launch.json"), "--format", "plain")
    assert "2.000 ms (device busy: 90.0%, idle: 0.200 ms)\n" in done.out
    assert done.err == (
        "note: left out 1 kernel, 1.20 ms (66.7% of the time), whose launch is not in the file; "
        "--level kernel has them\n"
    )


OLDER = (
    *(kernel("old", 10, 30, 91), stream(9, kernel("old", 20, 40, 92))),
    *(step(1, 0, 100), op("mm", 1, 9), call(5, 1), kernel("gemm", 70, 20, 1)),
    kernel("lost", 95, 5, 93),
)
"""Two kernels that were launched before the recording, and one whose launch was lost."""


@pytest.mark.parametrize("level", ["operator", "kernel"])
def test_work_launched_before_the_recording_is_of_no_operator(level: str) -> None:
    profile = read(*OLDER)
    assert profile.check() == ()
    rows = at_level(profile, level)
    expected = {"operator": {"mm": 20}, "kernel": {"gemm": 20, "lost": 5}}
    times = (rows.measured("time")[:, 0] * 1e6).round(3).tolist()
    assert dict(zip(rows.operators.name.values(), times, strict=True)) == expected[level]
    assert walls_and_busy(profile) == [(100, 75)]
    earlier = Finding.of(
        "earlier-kernels", Kind.INCOMPLETE, share=70 / 95, kernels=2, earlier_s=70e-6
    )
    assert rounded([earlier])[0] in rounded(rows.notes)


@pytest.mark.parametrize(
    ("old", "lost", "is_earlier"),
    [
        ((10, 60), None, True),
        ((10, 61), None, False),  # it still runs when the first kernel with a launch starts
        ((10, 60), call(2, 9), False),  # the kernel may be of this launch
        ((10, 60), call(2, 0), False),
        ((10, 60), call(11, 9), True),  # this launch is later
        ((10, 60), {**call(2, 9), "name": "cudaMemsetAsync"}, True),
    ],
)
def test_a_kernel_without_a_launch_is_earlier_if_no_launch_before_it_lacks_its_kernel(
    old: tuple[int, int], lost: Event | None, *, is_earlier: bool
) -> None:
    calls = [call(5, 1)] if lost is None else [call(5, 1), lost]
    events = (op("mm", 1, 19), *calls, stream(9, kernel("old", *old, 91)), kernel("k", 70, 20, 1))
    rows = at_level(read(*events), "kernel")
    assert list(rows.operators.name.values()) == (["k"] if is_earlier else ["old", "k"])


def step_with(number: int, *launches: tuple[int, int | None]) -> list[Event]:
    """Return a step of 99 us on the host. Launches have the start and length of their kernels.

    A kernel without a length is not in the file.
    """
    found = [step(number, 100 * number, 99)]
    for index, (start, length) in enumerate(launches):
        correlation = 10 * number + index + 1
        found.append(call(100 * number + 10 * index, correlation))
        if length is not None:
            found.append(kernel("gemm", start, length, correlation))
    return found


@pytest.mark.parametrize(
    ("lost", "expected"),
    [
        (None, [(1100, 1000), (1000, 1000), (1000, 1000), (1000, 1000)]),
        (3, [(1100, 1000), (1000, 1000), (1000, 1000), (nan, nan)]),
        (1, [(1100, 1000), (nan, nan), (nan, nan), (1000, 1000)]),
    ],
)
def test_times_of_a_step_without_all_its_kernels_are_unknown(
    lost: int | None, expected: list[tuple[float, float]]
) -> None:
    """The first kernel of each step is short. The step after a lost kernel begins at its end."""
    events = [
        one
        for number in range(4)
        for one in step_with(
            number,
            (100 + 1000 * number, 10),
            (110 + 1000 * number, None if number == lost else 990),
        )
    ]
    np.testing.assert_equal(walls_and_busy(read(*events)), expected)


def test_a_launch_outside_of_steps_may_lack_its_kernel() -> None:
    events = (*step_with(0, (10, 50)), call(150, 99), *step_with(2, (210, 50)))
    assert walls_and_busy(read(*events)) == [(99, 50), (99, 50)]


def test_windows_and_regions_count_work_launched_before_the_recording() -> None:
    profile = read(*OLDER, event("user_annotation", "batch", 0, 100))
    assert walls_and_busy(with_step_region(profile, "batch")) == [(100, 75)]
    window = pa.within_times(profile, 0.0, 75e-6)
    assert [round(run.busy_s * 1e6, 3) for run in window.runs] == [55]


@pytest.mark.parametrize(
    ("window", "expected"),
    [
        ((0, 60), [(nan, 40)]),  # a part of one run
        ((40, 160), [(nan, nan), (nan, nan)]),  # parts of two runs
        ((0, 160), [(100, 70)]),  # the part of the other run is left out
        ((10, 210), [(nan, nan), (100, 60)]),  # only the region of the first step is cut
        ((0, 195), [(100, 70), (nan, nan)]),
        ((0, 210), [(100, 70), (100, 60)]),
    ],
)
def test_how_long_a_device_worked_in_parts_of_several_runs_is_unknown(
    window: tuple[int, int], expected: list[tuple[float, float]]
) -> None:
    first = (step(0, 0, 100), op("mm", 10, 9), call(11, 1), kernel("gemm", 20, 70, 1))
    second = (step(1, 100, 100), op("mm", 110, 9), call(111, 2), kernel("gemm", 130, 60, 2))
    low, high = window
    found = pa.within_times(read(*first, *second), low * 1e-6, high * 1e-6)
    np.testing.assert_equal(walls_and_busy(found), expected)


def test_a_kernel_that_overlaps_the_next_of_its_stream_is_shortened() -> None:
    found = totals("kernel-too-long")
    assert chosen(found, "device_time", "wall_time", "outside_operators") == (1000, 2000, 1000)
    shortened = Finding.of("shortened-kernels", Kind.WRONG, kernels=1, excess_s=1.5996)
    assert rounded(pa.load(FOLDER / "kernel-too-long.json").notes) == [shortened]


@pytest.mark.parametrize(
    ("first", "second", "durations"),
    [
        ((0, 100, 1), (95, 100, 2), (100, 100)),  # 5 us of 100 us
        ((0, 100, 1), (85, 100, 2), (85, 100)),
        ((0, 1000, 1), (975, 1000, 2), (1000, 1000)),
        ((0, 1000, 1), (965, 1000, 2), (965, 1000)),  # 35 us
        ((0, 100, 1), (50, 2, 2), (50, 2)),  # the second is inside the first
        ((0, 4, 1), (3, 4, 2), (4, 4)),  # a rounding error
        ((0, 100, 1), (50, 100, 1), (100, 100)),  # two branches of a graph
        ((0, 100, 0), (50, 100, 0), (50, 100)),  # unknown launches
        ((0, 100, 1), (50, 0, 2), (100, 0)),
    ],
)
def test_only_large_overlaps_are_shortened(
    first: tuple[int, int, int], second: tuple[int, int, int], durations: tuple[int, int]
) -> None:
    kernels = [kernel("k", *one) for one in (first, second)]
    for order in (kernels, kernels[::-1]):
        found = read(op("mm", 0, 5), *order).executions.duration_s[1:] * 1e6
        expected = durations if order is kernels else durations[::-1]
        assert found.round(3).tolist() == [*expected]
    other_stream = read(op("mm", 0, 5), kernels[0], stream(8, kernels[1])).executions
    assert (other_stream.duration_s[1:] * 1e6).round(3).tolist() == [first[1], second[1]]


def test_work_inside_other_work_counts_once() -> None:
    begins, ends = np.array([0, 1, 5, 20]), np.array([10, 2, 6, 22])
    window = np.array([0, 3]), np.array([30, 21])
    assert busiest(*window, np.zeros(4, np.int64), begins, ends).tolist() == [12, 8]


WORK = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 40), st.integers(0, 9)), max_size=9)


@examples(150)
@given(WORK, st.lists(st.tuples(st.integers(0, 50), st.integers(0, 20)), min_size=1, max_size=3))
def test_the_busiest_device_equals_a_count_of_all_moments(
    work: list[tuple[int, int, int]], windows: list[tuple[int, int]]
) -> None:
    device, begins, lengths = np.array(work, np.int64).reshape(-1, 3).T
    first, size = np.array(windows, np.int64).T
    expected = [
        max(
            sum(
                any(one == number and start <= at < start + length for one, start, length in work)
                for at in range(begin, begin + long)
            )
            for number in range(3)
        )
        for begin, long in windows
    ]
    assert busiest(first, first + size, device, begins, begins + lengths).tolist() == expected

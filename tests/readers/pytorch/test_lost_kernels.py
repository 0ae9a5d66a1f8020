"""Calls whose kernels are missing in the file, and events that torch wrote without a time."""

from __future__ import annotations

import json

import numpy as np
import pytest

import profile_analyze as pa
from profile_analyze.model.findings import Finding, Kind
from profile_analyze.model.levels.levels import at_level
from profile_analyze.readers.input.source import Source
from profile_analyze.readers.loading import read_profile
from tests.conftest import FIXTURES, run_command
from tests.findings.found import codes_in
from tests.readers.pytorch.events import Event, call, document, event, kernel, op

SMALL = FIXTURES / "pytorch-small"
ONE_MM = {"calls": 1, "computation": 2 * 1024**3, "memory": 3 * 4 * 1024**2}
"""The work of one product of two matrices of 1024 x 1024 in fp32."""


def read(*events: Event) -> pa.Profile:
    return read_profile(Source.of_bytes("x.json", document(*events)), ())


def untimed(events: int) -> Finding:
    return Finding.of("untimed-events", Kind.INCOMPLETE, events=events)


def row_of(file: str, *options: str) -> dict[str, object]:
    """Return the only row of a file."""
    done = run_command(str(SMALL / file), *options, "--format", "jsonl", "--columns", "all")
    (row,) = map(json.loads, done.out.splitlines())
    return dict(row)


def test_rates_are_of_the_calls_whose_kernels_are_in_the_file() -> None:
    row = row_of("kernel-lost.json")
    names = ("calls", "computation_flo", "memory_bytes")
    assert [row[name] for name in names] == [*ONE_MM.values()]
    assert row["flops"] == pytest.approx(3.579e12, rel=1e-3)
    assert row["bandwidth_bytes_per_s"] == pytest.approx(19.53 * 2**30, rel=1e-3)
    group = row_of("kernel-lost.json", "--aggregate-by", "name")
    assert (group["flops"], group["bandwidth_bytes_per_s"]) == (
        row["flops"],
        row["bandwidth_bytes_per_s"],
    )


def test_all_calls_count_beside_host_times() -> None:
    row = row_of("kernel-lost.json", "--print-only", "host")
    assert (row["calls"], row["computation_flo"]) == (2, 2 * ONE_MM["computation"])


def test_a_note_counts_the_launches_without_a_kernel() -> None:
    lost = Finding.of("lost-kernels", Kind.INCOMPLETE, lost=1, launches=2)
    assert lost in pa.load(SMALL / "kernel-lost.json").notes


def has_note_on_launches(profile: pa.Profile) -> bool:
    return "lost-kernels" in codes_in(profile.notes)


@pytest.mark.parametrize(
    "unlaunched",
    [
        {**call(3, 9), "name": "cudaMemsetAsync"},  # torch records no work for some of them
        {**call(3, 9), "name": "cudaLaunchHostFunc"},
        call(3, 0),  # the number 0 stands for unknown
    ],
)
def test_no_note_on_calls_that_need_no_kernel(unlaunched: Event) -> None:
    profile = read(op("mm", 0, 9), call(1, 1), kernel("k", 5, 2, 1), unlaunched)
    assert not has_note_on_launches(profile)


def test_no_note_if_kernels_do_not_name_their_launch() -> None:
    assert not has_note_on_launches(read(op("mm", 0, 9), call(1, 1), kernel("k", 5, 2, 0)))


def test_events_at_zero_in_a_recording_are_left_out() -> None:
    assert row_of("event-at-zero.json")["calls"] == 1
    assert row_of("event-at-zero.json")["flops"] == pytest.approx(3.579e12, rel=1e-3)
    profile = pa.load(SMALL / "event-at-zero.json")
    assert [run.wall_s for run in profile.runs] == pytest.approx([900e-6, 900e-6])
    assert profile.notes == (untimed(1),)


def test_a_driver_call_and_a_kernel_at_zero_are_left_out() -> None:
    events = (op("mm", 10, 9), call(11, 1), kernel("k", 15, 2, 1))
    lost = (op("mm", 20, 9), {**call(0, 2), "dur": 0}, kernel("k", 0, 0, 2))
    profile = read(*events, *lost)
    assert profile.notes[0] == untimed(2)
    rows = at_level(profile)
    assert rows.calls().tolist() == [[1]]
    assert rows.calls("host").tolist() == [[2]]


@pytest.mark.parametrize("first", [op("mm", 0, 9), op("mm", -5, 9)])
def test_an_event_at_zero_stays_if_the_recording_begins_there(first: Event) -> None:
    profile = read(first, op("empty", 0, 0))
    assert len(profile.executions) == 2


def test_a_recording_of_nothing_but_zeros_stays() -> None:
    assert len(read(op("mm", 0, 0), event("cpu_op", "add", 0, 0)).executions) == 2


def test_calls_of_other_ranks_need_kernels_of_their_own() -> None:
    """The second rank lacks its kernel: the FLOPS are those of the first rank."""

    def rank(number: int, *kernels: Event) -> Source:
        shapes = {"Input Dims": [[1024, 1024]] * 2, "Input type": ["float"] * 2}
        head = f'"schemaVersion": 1, "distributedInfo": {{"rank": {number}}}'
        events = (op("aten::mm", 0, 9, **shapes), call(1, 1), *kernels)
        return Source.of_bytes(f"{number}.json", document(*events, head=head))

    whole, lost = (
        read_profile(one, pa.Query().wanted | {"launched_by", "full_name", "out_shapes"})
        for one in (rank(0, kernel("k", 5, 2, 1)), rank(1, kernel("other", 5, 2, 0)))
    )
    rows = at_level(pa.join_runs([whole, lost]))
    assert rows.calls().tolist() == [[1]]
    assert rows.calls("host").tolist() == [[2]]
    assert np.isclose(pa.run(pa.Query(), rows)["flops"], 2 * 1024**3 / 2e-6).all()

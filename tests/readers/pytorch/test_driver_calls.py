"""Notes on driver calls that no table shows: launches of graphs, and calls that take long."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import profile_analyze as pa
from profile_analyze.model.findings import Finding, Kind
from profile_analyze.model.levels.levels import at_level
from profile_analyze.readers.input.source import Source
from profile_analyze.readers.loading import read_profile
from tests.conftest import FIXTURES, run_command
from tests.findings.found import said, with_code
from tests.readers.pytorch.events import Event, call, document, event, kernel, op

if TYPE_CHECKING:
    from profile_analyze.model.notes import Note

SMALL = FIXTURES / "pytorch-small"
IN_GRAPH = "note: 1 graph launch holds 4 kernels (100.0% of the time); --level kernel shows them\n"


def read(*events: Event) -> pa.Profile:
    return read_profile(Source.of_bytes("x.json", document(*events)), ())


def test_a_note_says_how_many_kernels_a_graph_holds() -> None:
    file = str(SMALL / "graph-launch.json")
    assert run_command(file).err == IN_GRAPH
    assert run_command(file, "--level", "kernel").err == ""


def graph_launch(start: int, correlation: int) -> Event:
    return {**call(start, correlation), "name": "cudaGraphLaunch"}


def test_graphs_of_one_kernel_and_other_launches_do_not_count() -> None:
    profile = read(
        op("replay", 0, 50),
        *(graph_launch(10 * number, number) for number in (1, 2, 3)),
        call(41, 4),
        *(kernel("k", 20 + number, 2, number) for number in (1, 2, 3)),
        kernel("k", 40, 4, 1),
        kernel("k", 50, 2, 2),
        kernel("k", 60, 8, 4),
    )
    notes = [note for note in said(at_level(profile).notes) if "graph" in note]
    assert notes == [
        "2 graph launches hold 4 kernels (50.0% of the time); --level kernel shows them"
    ]


def dominating(profile: pa.Profile) -> list[Note]:
    """Return the findings on calls that take most of the host time."""
    return with_code(profile.notes, "driver-call-dominates")


def dominates(part: float, call: str, calls: int) -> Finding:
    return Finding.of("driver-call-dominates", Kind.WRONG, part=part, call=call, calls=calls)


def test_a_note_names_the_driver_call_that_takes_most_of_the_host_time() -> None:
    profile = pa.load(SMALL / "time-in-hipfree.json")
    assert dominating(profile) == [dominates(round(88 / 90, 9), "hipFree", 1)]


def free(start: int, length: int, name: str = "cudaFree") -> Event:
    return event("cuda_runtime", name, start, length)


@pytest.mark.parametrize(
    ("calls", "note"),
    [
        ([free(1, 30), free(40, 20)], dominates(0.5, "cudaFree", 2)),
        ([free(1, 30), free(40, 19)], None),
        ([free(1, 30), free(40, 40, "cudaMalloc")], None),
        # The summary shows the time of waits, and the table that of calls outside of operators.
        ([free(1, 80, "cudaDeviceSynchronize")], None),
        ([free(110, 900)], None),
    ],
)
def test_driver_calls_of_at_least_half_of_the_host_time(
    calls: list[Event], note: Finding | None
) -> None:
    profile = read(op("mm", 0, 100), call(95, 1), kernel("k", 97, 2, 1), *calls)
    assert dominating(profile) == ([] if note is None else [note])


def test_no_such_note_on_a_trace_of_a_cpu() -> None:
    assert dominating(read(op("mm", 0, 100), free(1, 90))) == []

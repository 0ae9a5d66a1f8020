"""The note that tracks of one run may overlap, even if the threads of other processes differ."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from profile_analyze.model.executions import Run
from profile_analyze.views.summary import summarise
from tests.in_memory import CPU, profile_of

if TYPE_CHECKING:
    from profile_analyze.model.profile import Profile


def profile_with_threads(*threads_of_processes: tuple[int, ...]) -> Profile:
    """Return a profile with one run for each process, in which each thread runs for one second."""
    executions: list[dict[str, Any]] = [
        {"operator": 0, "duration_s": 1.0, "run": run, "track": thread}
        for run, threads in enumerate(threads_of_processes)
        for thread in threads
    ]
    return profile_of(
        [{"name": "a"}],
        executions,
        tracks=[CPU._replace(name=f"thread {number}") for number in range(4)],
        runs=tuple(Run(process, 1) for process in range(len(threads_of_processes))),
        processes=tuple(f"{number}.json" for number in range(len(threads_of_processes))),
    )


def test_threads_of_different_processes_do_not_overlap() -> None:
    assert summarise(profile_with_threads((0,), (1,), (2,))).notes == ()


def test_the_note_names_the_process_whose_threads_may_overlap() -> None:
    assert summarise(profile_with_threads((0,), (1, 2), (3,))).notes == (
        "the device time is the sum of 2 threads in 1.json, which may have run at the same time: "
        "1.00 s on thread 1, 1.00 s on thread 2",
    )


def test_threads_that_all_processes_have_need_no_process() -> None:
    assert summarise(profile_with_threads((0, 1), (0, 1))).notes == (
        "the device time is the sum of 2 threads, which may have run at the same time: 1.00 s on "
        "thread 0, 1.00 s on thread 1",
    )

"""Findings on means over inferences, on waits for operators, and on tracks that may overlap."""

from __future__ import annotations

from math import nan
from typing import TYPE_CHECKING, Any

import pytest

import profile_analyze as pa
from profile_analyze.model.executions import Run
from profile_analyze.model.findings import BASELINE, Finding, Kind
from profile_analyze.model.origin import Origin
from tests.conftest import FIXTURES, run_command
from tests.findings.found import codes_in, rounded, with_code
from tests.in_memory import CPU, averages, profile_of, synchronised

if TYPE_CHECKING:
    from profile_analyze.model.profile import Profile


def means(count: int | None, *times_s: float, copies: int = 0) -> Profile:
    """Return a profile with a process for each time. The last `copies` of them are copies."""
    originals = len(times_s) - copies
    return profile_of(
        [{"name": "relu"}],
        [{"operator": 0, "run": run, "duration_s": time} for run, time in enumerate(times_s)],
        runs=[Run(process, is_copy=process >= originals) for process in range(len(times_s))],
        processes=[f"{process}.json" for process in range(len(times_s))],
        origin=Origin("made-up", times="mean", averaged_over=count),
    )


def of_means(inferences: int | None, *, has_spread: bool) -> Finding:
    values = {"inferences": inferences, "has_spread": has_spread}
    return Finding.of("times-are-means", Kind.CONTEXT, **values)


@pytest.mark.parametrize("count", [None, 1, 2])
def test_how_much_the_times_of_one_run_vary_is_not_known(count: int | None) -> None:
    unknown = of_means(count, has_spread=False)
    assert pa.summarise(means(count, 1.0)).notes == (unknown,)
    assert pa.summarise(means(count, 1.0, 1.0, copies=1)).notes == (unknown,)


@pytest.mark.parametrize("count", [None, 1, 2])
def test_several_runs_show_how_much_the_times_vary(count: int | None) -> None:
    profile, known = means(count, 1.0, 1.5), of_means(count, has_spread=True)
    for query in (None, pa.Query(by="run", aggregates="sum")):
        assert pa.summarise(profile, judged_by=query).notes == (known,)
    comparison = pa.compare(profile, means(count, 1.0).changed(file="base.json"))
    assert pa.summarise(comparison).notes[0] == known


def test_files_of_different_kinds_do_not_show_how_much_the_times_vary() -> None:
    files = [FIXTURES / f"openvino/resnet50-2026.4.{suffix}.gz" for suffix in ("xml", "csv")]
    summary = pa.summarise(pa.load_runs([*map(str, files)]))
    assert summary.unlike == "different kinds of file"
    assert with_code(summary.notes, "times-are-means") == [of_means(None, has_spread=False)]


def test_the_finding_does_not_contradict_the_spread_of_a_file() -> None:
    outcome = run_command(
        str(FIXTURES / "openvino/layers-requests-2026.4.json.gz"),
        *("--print-only", "summary", "--format", "plain"),
    )
    assert "(spread: half within -31.6% to +31.6%)\n" in outcome.out
    assert "single inferences vary more than these runs\n" in outcome.err


def waited(factor: float | None) -> Finding:
    kind = Kind.WRONG if factor else Kind.CONTEXT
    return Finding.of("synchronised", kind, factor=factor)


def test_the_finding_says_what_the_wait_adds() -> None:
    assert rounded(pa.summarise(synchronised()).notes) == [
        of_means(None, has_spread=False),
        waited(1.4),
    ]
    compared = pa.compare(synchronised(), synchronised())
    found = with_code(pa.summarise(compared).notes, "synchronised")
    assert [one.subjects for one in found] == [(), (BASELINE,)]


@pytest.mark.parametrize("wall_s", [nan, 0.0, 2.8e-3, 3e-3])
def test_what_the_wait_adds_may_be_unknown_or_nothing(wall_s: float) -> None:
    profile = synchronised().changed(runs=(Run(wall_s=wall_s),))
    assert waited(None) in pa.summarise(profile).notes


def test_operators_that_take_longer_than_the_run_explain_no_share_of_it() -> None:
    summary = pa.summarise(synchronised())
    assert (summary.wall_s, str(summary.outside_s), str(summary.explained)) == (2e-3, "nan", "nan")


def test_joined_files_are_synchronised_if_one_of_them_is() -> None:
    joined = pa.join_runs([averages(), synchronised()])
    assert joined.origin.synchronised
    assert joined.origin.recorded == ()


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


def threads(process: str, *names: str) -> tuple[Finding]:
    """Return the finding that threads of one second each may overlap."""
    finding = Finding.of(
        "several-tracks",
        Kind.WRONG,
        noun="thread",
        times_s=[(name, 1.0) for name in names],
        process=process,
        devices=1,
        busy_s=nan,
        adds_up=True,
    )
    return (finding,)


def test_threads_of_different_processes_do_not_overlap() -> None:
    assert codes_in(pa.summarise(profile_with_threads((0,), (1,), (2,))).notes) == []


def test_the_finding_names_the_process_whose_threads_may_overlap() -> None:
    profile = profile_with_threads((0,), (1, 2), (3,))
    assert pa.summarise(profile).notes == threads("1.json", "thread 1", "thread 2")


def test_threads_that_all_processes_have_need_no_process() -> None:
    profile = profile_with_threads((0, 1), (0, 1))
    assert pa.summarise(profile).notes == threads("", "thread 0", "thread 1")

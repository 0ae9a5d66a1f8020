"""Notes on times that are means over inferences, or of a single inference."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import profile_analyze as pa
from profile_analyze.model.executions import Run
from profile_analyze.model.origin import Origin
from tests.conftest import FIXTURES, run_command
from tests.in_memory import profile_of

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


@pytest.mark.parametrize(
    ("count", "kind"),
    [
        (None, "means over several inferences"),
        (1, "from a single inference"),
        (2, "means over 2 inferences"),
    ],
)
def test_how_much_the_times_of_one_run_vary_is_not_known(count: int | None, kind: str) -> None:
    note = f"times are {kind}; how much they vary is not known"
    assert pa.summarise(means(count, 1.0)).notes == (note,)
    assert pa.summarise(means(count, 1.0, 1.0, copies=1)).notes == (note,)


@pytest.mark.parametrize(
    ("count", "note"),
    [
        (
            None,
            "times are means over several inferences; single inferences vary more than these runs",
        ),
        (1, "the times of each run are from a single inference"),
        (2, "times are means over 2 inferences; single inferences vary more than these runs"),
    ],
)
def test_several_runs_show_how_much_the_times_vary(count: int | None, note: str) -> None:
    profile = means(count, 1.0, 1.5)
    for query in (None, pa.Query(by="run", aggregates="sum")):
        assert pa.summarise(profile, judged_by=query).notes == (note,)
    comparison = pa.compare(profile, means(count, 1.0).changed(file="base.json"))
    assert pa.summarise(comparison).notes[0] == note


def test_files_of_different_kinds_do_not_show_how_much_the_times_vary() -> None:
    outcome = run_command(
        *(str(FIXTURES / f"openvino/resnet50-2026.4.{suffix}.gz") for suffix in ("xml", "csv")),
        *("--print-only", "summary", "--notes", "all"),
    )
    assert "these look like different kinds of file" in outcome.out
    assert outcome.err.endswith(
        "note: times are means over several inferences; how much they vary is not known\n"
    )


def test_the_note_does_not_contradict_the_spread_of_a_file() -> None:
    outcome = run_command(
        str(FIXTURES / "openvino/layers-requests-2026.4.json.gz"),
        *("--print-only", "summary", "--format", "plain"),
    )
    assert "(spread: half within -31.6% to +31.6%)\n" in outcome.out
    assert outcome.err.endswith(
        "note: times are means over several inferences; single inferences vary more than these "
        "runs\n"
    )

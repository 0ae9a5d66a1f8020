"""Data sets of traces with Python functions, which only few questions need."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from profile_analyze.fleet.frames import without_frames
from profile_analyze.model.executions import Track
from profile_analyze.model.joining.runs import IDENTITY_COLUMNS, RunJoiner
from profile_analyze.model.terms import FRAMES
from profile_analyze.readers.loading import load
from tests.conftest import run_command
from tests.fleet.test_data_sets import QUESTIONS, exported
from tests.readers.pytorch.test_functions import event, trace

FUNCTION = "python_function"


@pytest.fixture
def file(tmp_path: Path) -> str:
    """A trace with functions between operators, and a thread on which only functions ran."""
    path = tmp_path / "trace.json"
    path.write_bytes(
        trace(
            event(FUNCTION, "wait.py(1): wait", 0, 90, tid=2),
            event(FUNCTION, "train.py(1): main", 0, 100),
            event("cpu_op", "aten::linear", 10, 60),
            event(FUNCTION, "linear.py(1): forward", 15, 55),
            event(FUNCTION, "linear.py(9): inner", 16, 50),
            event("cpu_op", "aten::addmm", 20, 40),
            event("cpu_op", "aten::relu", 70, 80, tid=3),
        )
    )
    return str(path)


def test_the_trace_has_functions(file: str) -> None:
    with_functions = load(file, wanted={FRAMES})
    assert len(with_functions.executions) == 7
    assert [track.name for track in with_functions.tracks] != [
        track.name for track in load(file, wanted=()).tracks
    ]


WINDOW = ("--from", "12us", "--to", "55us", "-t", "0", "--columns", "all", "--format", "json")


@pytest.mark.parametrize("question", [*QUESTIONS[:-1], WINDOW])
def test_a_data_set_and_its_trace_give_the_same_answers(
    file: str, tmp_path: Path, question: tuple[str, ...]
) -> None:
    data_set = exported(tmp_path / "set", [file])
    assert run_command(data_set, *question) == run_command(file, *question)


def test_a_file_beside_its_data_set_counts_as_a_copy(file: str, tmp_path: Path) -> None:
    data_set = exported(tmp_path / "set", [file])
    outcome = run_command(data_set, file, "--notes", "all")
    assert outcome.out == run_command(data_set, file, "--notes", "none").out
    assert "files named again: 1;" in outcome.err
    copy = tmp_path / "copy.json"
    copy.write_bytes((tmp_path / "trace.json").read_bytes())
    assert run_command(data_set, str(copy)) == run_command(file, str(copy))
    assert "exactly the times of another" in run_command(data_set, str(copy)).err


def test_a_track_on_which_nothing_ran_stays(file: str) -> None:
    joiner = RunJoiner()
    joiner.add(load(file, wanted={FRAMES, *IDENTITY_COLUMNS}))
    partial = joiner.partial()
    assert partial is not None
    with_idle = partial._replace(tracks=(Track("idle"), *partial.tracks))
    executions = partial.executions.changed(track=partial.executions.track + np.int32(1))
    left = without_frames(with_idle._replace(executions=executions))
    assert [track.name for track in left.tracks] == ["idle", "thread 1", "thread 3"]
    assert left.executions.track.tolist() == [1, 1, 2]


def test_functions_with_stored_times_are_left_out(tmp_path: Path) -> None:
    """Without nested executions, the data set stores the times of functions and operators."""
    files = [str(tmp_path / f"{number}.json") for number in range(2)]
    for number, file in enumerate(files):
        function = event(FUNCTION, "wait.py(1): wait", 0, 90 + number, tid=2)
        operator = event("cpu_op", "aten::relu", 70, 80 + number)
        Path(file).write_bytes(trace(function, operator))
    data_set = exported(tmp_path / "set", files)
    question = ("-t", "0", "--format", "csv")
    assert run_command(data_set, *question) == run_command(*files, *question)

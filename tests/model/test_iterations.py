"""Skipped runs, and what statistics count: processes or iterations."""

from __future__ import annotations

from math import nan
from typing import TYPE_CHECKING

import numpy as np
import pytest

from profile_analyze.errors import QueryError
from profile_analyze.findings.sentences import as_text
from profile_analyze.model.categorical import Categorical
from profile_analyze.model.executions import Run
from profile_analyze.model.joining.iterations import (
    by_unit,
    runs_by_process,
    unit_names,
    units_in,
    without_first_runs,
)
from profile_analyze.model.joining.runs import join_runs
from profile_analyze.model.tables import Allocations, Dependencies, Tensors, Uses
from tests.findings.found import said
from tests.in_memory import four_steps, profile_of

if TYPE_CHECKING:
    from profile_analyze.model.profile import Profile

RUNS = (Run(0), Run(0), Run(0), Run(1), Run(1))


def test_the_first_runs_of_each_process_are_skipped() -> None:
    profile = join_runs([four_steps("a.json"), four_steps("b.json", 2.0)])
    assert without_first_runs(profile, 0) is profile
    found = without_first_runs(profile, 1)
    assert found.check() == ()
    assert [(run.process, run.step) for run in found.runs] == [
        (0, 11), (0, 12), (0, 13), (1, 11), (1, 12), (1, 13),
    ]  # fmt: skip
    np.testing.assert_allclose(found.measured("time")[0], np.array([3, 4, 5, 6, 8, 10]) * 1e-3)
    assert said(found.notes)[-1] == "left out 2 runs, the first 1 of each process"
    with pytest.raises(QueryError) as caught:
        without_first_runs(profile, 4)
    assert str(caught.value) == "skip_runs: 4 leaves no run of a.json, which has 4 runs"


def test_a_copy_counts_if_its_original_is_left_out() -> None:
    runs = (Run(1, is_copy=True), Run(2, is_copy=True))
    values = np.array([[3.0, 4.0]])
    assert by_unit(values, runs, "process").tolist() == [[3.0, 4.0]]
    assert (units_in(runs, "process"), units_in((Run(0), *runs), "process")) == (2, 1)
    assert by_unit(np.array([[1.0, 3.0, 4.0]]), (Run(0), *runs), "process").tolist() == [[1.0]]


def _process(file: str, runs_of_operators: dict[str, list[int]]) -> Profile:
    """Return a process of three runs, with the runs that execute each operator."""
    return profile_of(
        [{"key": name, "name": name} for name in runs_of_operators],
        [
            {"operator": operator, "run": run, "duration_s": 1.0 + run + operator}
            for operator, runs in enumerate(runs_of_operators.values())
            for run in runs
        ],
        runs=[Run(0, wall_s=10.0)] * 3,
        processes=(file,),
    )


def test_notes_on_all_runs_are_about_the_runs_that_are_left() -> None:
    usual = {"a": [0, 1, 2], "b": [0, 1, 2], "c": [0, 1, 2], "d": [2]}
    first = _process("1.json", {**usual, "warm": [0]})
    profile = join_runs([first, first.changed(processes=("2.json",))])
    copies, missing = said(profile.notes_on_runs)
    assert missing == "2 of 5 operators are in only some of the 6 runs"
    one, two = (without_first_runs(profile, count) for count in (1, 2))
    assert said(one.notes_on_runs) == (copies, "1 of 4 operators are in only some of the 4 runs")
    assert said(two.notes_on_runs) == (copies,)
    twice = without_first_runs(one, 1)
    assert (twice.notes_on_runs, twice.skipped_runs) == (two.notes_on_runs, 2)


def test_runs_look_like_different_models_only_as_long_as_the_others_are_there() -> None:
    work = {"a": [1, 2], "b": [1, 2]}
    profile = join_runs(
        [_process("1.json", {**work, "x": [0]}), _process("2.json", {"y": [0], **work})]
    )
    assert profile.unlike == "different models"
    assert as_text(profile.notes_on_runs[0]).startswith("none of 4 operators are in all 6 runs")
    remaining = without_first_runs(profile, 1)
    assert (remaining.unlike, remaining.notes_on_runs) == ("", ())


def test_tables_that_refer_to_executions_are_dropped_with_skipped_runs() -> None:
    gpu = Categorical.of(["gpu"])
    row = np.array([0], np.int32)
    tensors = Tensors(Categorical.of(["x"]), Categorical.of([(1,)]), gpu, np.ones(1))
    uses = Uses(row, row, np.ones(1, np.bool_))
    tables = {
        "tensors": tensors,
        "uses": uses,
        "dependencies": Dependencies(np.array([15], np.int32), np.array([16], np.int32), gpu),
        "allocations": Allocations(gpu, np.zeros(1), np.ones(1), np.array([16], np.int32)),
    }
    profile = four_steps().changed(**tables)
    assert profile.check() == ()
    found = without_first_runs(profile, 1)
    assert found.check() == ()
    assert (found.table("tensors"), found.table("uses")) == (tensors, uses)
    assert found.not_loaded == {"dependencies", "allocations"}
    with pytest.raises(QueryError, match=r"allocations: .* lost it when runs were joined or left"):
        found.table("allocations")


def test_the_value_of_a_process_is_the_median_of_its_iterations() -> None:
    values = np.array([[1.0, 9.0, 2.0, 5.0, 7.0], [nan, nan, nan, 4.0, nan]])
    np.testing.assert_array_equal(by_unit(values, RUNS, "process"), [[2, 6], [nan, 4]])
    assert by_unit(values, RUNS, "iteration") is values
    assert by_unit(values, tuple(map(Run, range(5))), "process") is values
    assert (units_in(RUNS, "process"), units_in(RUNS, "iteration")) == (2, 5)


def test_runs_are_grouped_by_process() -> None:
    runs = (Run(3), Run(0), Run(3), Run(3), Run(1), Run(0))
    assert [own.tolist() for own in runs_by_process(runs)] == [[1, 5], [4], [0, 2, 3]]
    assert [own.tolist() for own in runs_by_process(runs, least=2)] == [[1, 5], [0, 2, 3]]
    assert runs_by_process(()) == []


def test_processes_are_named_by_file_and_iterations_by_number() -> None:
    profile = join_runs([four_steps("a.json"), four_steps("b.json", 2.0)])
    assert unit_names(profile, "process") == ["a.json", "b.json"]
    numbers = [f"run {run} of {file}" for file in ("a.json", "b.json") for run in range(1, 5)]
    assert unit_names(profile, "iteration") == numbers
    # Runs keep their numbers if the first ones are skipped. Copies have no name.
    later = without_first_runs(profile, 2)
    assert unit_names(later, "iteration") == [*numbers[2:4], *numbers[6:]]
    copied = [*profile.runs[:4], *(run._replace(is_copy=True) for run in profile.runs[4:])]
    assert unit_names(profile.changed(runs=tuple(copied)), "process") == ["a.json"]
    # URLs are shown without their queries, so names may be equal.
    alike = profile.changed(processes=("a.json", "a.json"))
    assert unit_names(alike, "process") == ["a.json", "a.json"]

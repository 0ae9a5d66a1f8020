"""Skipped runs, and what statistics count: processes or iterations."""

from __future__ import annotations

from math import nan

import numpy as np
import pytest

from profile_analyze.errors import QueryError
from profile_analyze.model.categorical import Categorical
from profile_analyze.model.executions import Run
from profile_analyze.model.iterations import (
    by_unit,
    runs_by_process,
    unit_names,
    units_in,
    without_first_runs,
)
from profile_analyze.model.runs import join_runs
from profile_analyze.model.tables import Allocations, Dependencies, Tensors, Uses
from tests.in_memory import four_steps

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
    assert found.notes[-1] == "left out 2 runs, the first 1 of each process"
    with pytest.raises(QueryError) as caught:
        without_first_runs(profile, 4)
    assert str(caught.value) == "skip_runs: 4 leaves no run of a.json, which has 4 runs"


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

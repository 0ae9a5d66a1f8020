"""Iterations of a process: leaving out the first ones, and one value for each process."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from profile_analyze.errors import QueryError
from profile_analyze.model.numbers import quantile_of_runs
from profile_analyze.units import counted

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from profile_analyze.model.executions import Run
    from profile_analyze.model.profile import Profile

Unit: TypeAlias = Literal["process", "iteration"]


def without_first_runs(profile: Profile, count: int) -> Profile:
    """The profile without the first `count` runs of each process, such as warm-up runs.

    Raises `QueryError` if a process has no run left.
    """
    if not count:
        return profile
    index = indices_in_process(profile.runs)
    kept = np.flatnonzero(index >= count)
    left = {profile.runs[run].process for run in kept.tolist()}
    for process in dict.fromkeys(run.process for run in profile.runs):
        if process not in left:
            runs = sum(run.process == process for run in profile.runs)
            raise QueryError(
                f"skip_runs: {count} leaves nothing of {profile.processes[process]}, which has "
                f"{counted(runs, 'run')}"
            )
    new_run = np.full(len(profile.runs), -1, np.int32)
    new_run[kept] = np.arange(len(kept))
    executions = profile.executions
    executions = executions.take(np.flatnonzero(new_run[executions.run] >= 0))
    left_out = len(profile.runs) - len(kept)
    note = f"left out {counted(left_out, 'run')}, the first {count} of each process"
    return profile.changed(
        executions=executions.changed(run=new_run[executions.run]),
        runs=tuple(profile.runs[run] for run in kept.tolist()),
        notes=(*profile.notes, note),
    )


def indices_in_process(runs: tuple[Run, ...]) -> NDArray[np.int64]:
    """Shape (runs,): how many runs of the same process came before each."""
    seen: dict[int, int] = {}
    found = []
    for run in runs:
        found.append(seen.get(run.process, 0))
        seen[run.process] = found[-1] + 1
    return np.array(found, np.int64)


def by_unit(values: NDArray[np.float64], runs: tuple[Run, ...], unit: Unit) -> NDArray[np.float64]:
    """Shape (rows, units): one value for each unit, from `values` of shape (rows, runs).

    The value of a process is the median of its runs, ignoring NaN. Iterations keep their values.
    """
    processes = [run.process for run in runs]
    distinct = tuple(dict.fromkeys(processes))
    if unit == "iteration" or len(distinct) == len(processes):
        return values
    of_run = np.array(processes)
    medians = [quantile_of_runs(values[:, of_run == process], 0.5) for process in distinct]
    return np.stack(medians, axis=1)


def units_in(runs: tuple[Run, ...], unit: Unit) -> int:
    """How many processes or iterations `runs` have."""
    return len(runs) if unit == "iteration" else len({run.process for run in runs})


def unit_noun(unit: Unit, *sides: tuple[Run, ...]) -> str:
    """The plural noun for what statistics count: `runs` if each process has one run.

    Otherwise `processes`, each by the median of its runs, or `iterations`, as if the iterations of
    one process were independent.
    """
    if all(units_in(runs, "process") == len(runs) for runs in sides):
        return "runs"
    return "processes" if unit == "process" else "iterations"

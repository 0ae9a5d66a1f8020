"""Skips warm-up runs, and computes one value for each process or iteration."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from profile_analyze.errors import QueryError
from profile_analyze.model.findings import Finding, Kind
from profile_analyze.model.joining.run_notes import facts_on_fewer_runs
from profile_analyze.model.numbers import quantile_of_runs
from profile_analyze.units import counted

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from numpy.typing import NDArray

    from profile_analyze.model.executions import Run
    from profile_analyze.model.profile import Profile

SampleUnit: TypeAlias = Literal["process", "iteration"]


def without_first_runs(profile: Profile, count: int) -> Profile:
    """Return the profile without the first `count` runs of each process, such as warm-up runs.

    Raises `QueryError` if a process has no run left.
    """
    if not count:
        return profile
    index = indices_in_process(profile.runs)
    remaining = np.flatnonzero(index >= count)
    processes = {profile.runs[run].process for run in remaining.tolist()}
    for process in dict.fromkeys(run.process for run in profile.runs):
        if process not in processes:
            runs = sum(run.process == process for run in profile.runs)
            raise QueryError(
                f"skip_runs: {count} leaves no run of {profile.processes[process]}, which has "
                f"{counted(runs, 'run')}"
            )
    left_out = len(profile.runs) - len(remaining)
    note = Finding.of("skipped-runs", Kind.CONTEXT, runs=left_out, first=count)
    return only_runs(profile, remaining).changed(
        notes=(*profile.notes, note),
        skipped_runs=profile.skipped_runs + count,
    )


def only_runs(profile: Profile, remaining: NDArray[np.int64]) -> Profile:
    """Return the profile with only some runs. `remaining` has their indices, in the new order.

    Tables that refer to executions are dropped. Notes on all runs are made again if they change.
    """
    new_run = np.full(len(profile.runs), -1, np.int32)  # -1 for runs that are left out
    new_run[remaining] = np.arange(len(remaining))
    executions = profile.executions
    executions = executions.take(np.flatnonzero(new_run[executions.run] >= 0))
    changed = profile.changed(
        executions=executions.changed(run=new_run[executions.run]),
        runs=tuple(profile.runs[run] for run in remaining.tolist()),
        **profile.without_tables(keep=["tensors", "uses"]),
    )
    return changed.changed(**facts_on_fewer_runs(changed))


def runs_by_process(runs: tuple[Run, ...], *, least: int = 1) -> list[NDArray[np.int64]]:
    """Return the indices of the runs of each process with at least `least` runs.

    Processes are in the order of their numbers, and runs keep their order within a process.
    """
    process = np.array([run.process for run in runs], np.int64)
    by_process = np.argsort(process, kind="stable")
    counts = np.bincount(process)
    ends = np.cumsum(counts)
    long = np.flatnonzero(counts >= least)
    return [by_process[ends[one] - counts[one] : ends[one]] for one in long.tolist()]


def indices_in_process(runs: tuple[Run, ...]) -> NDArray[np.int64]:
    """Return the position of each run within its process, counted from 0, shape (runs,)."""
    return indices_in_groups([run.process for run in runs])


def indices_in_groups(groups: Sequence[Hashable]) -> NDArray[np.int64]:
    """Return the position of each entry among the equal entries, counted from 0."""
    counts: dict[Hashable, int] = {}
    indices = []
    for group in groups:
        indices.append(counts.get(group, 0))
        counts[group] = indices[-1] + 1
    return np.array(indices, np.int64)


def by_unit(
    values: NDArray[np.float64], runs: tuple[Run, ...], unit: SampleUnit
) -> NDArray[np.float64]:
    """Return one value for each unit, shape (rows, units), from `values` of shape (rows, runs).

    The value of a process is the median of its runs, and NaN is left out. The value of an iteration
    stays as it is. Copies of processes are left out.
    """
    units = runs_of_units(runs, unit)
    if all(len(one) == 1 for one in units):
        return values if len(units) == len(runs) else values[:, np.concatenate(units)]
    return np.stack([quantile_of_runs(values[:, one], 0.5) for one in units], axis=1)


def runs_of_units(runs: tuple[Run, ...], unit: SampleUnit) -> list[NDArray[np.int64]]:
    """Return the indices of the runs of each unit, without copies, in order of first appearance."""
    of_units: dict[int, list[int]] = {}
    for index, (run, is_copy) in enumerate(zip(runs, _copies(runs), strict=True)):
        if not is_copy:
            of_units.setdefault(run.process if unit == "process" else index, []).append(index)
    return [np.array(indices, np.int64) for indices in of_units.values()]


def unit_names(profile: Profile, unit: SampleUnit) -> list[str]:
    """Return a name for each unit of `by_unit`: its file, or the number and the file of a run."""
    runs = profile.runs
    originals = [
        (run.process, index)
        for run, index, is_copy in zip(runs, indices_in_process(runs), _copies(runs), strict=True)
        if not is_copy
    ]
    file_of = profile.processes
    # Several processes may have the same name: URLs are shown without their queries.
    distinct = list(dict.fromkeys(process for process, _ in originals))
    if unit == "process" or len(distinct) == len(originals):
        return [file_of[process] for process in distinct]
    return [
        f"run {profile.skipped_runs + 1 + index} of {file_of[process]}"
        for process, index in originals
    ]


def units_in(runs: tuple[Run, ...], unit: SampleUnit) -> int:
    """Return the number of processes or iterations in `runs`, without copies."""
    originals = [run for run, is_copy in zip(runs, _copies(runs), strict=True) if not is_copy]
    return len(originals) if unit == "iteration" else len({run.process for run in originals})


def copies_in(runs: tuple[Run, ...]) -> int:
    """Return how many processes in `runs` are copies of other processes."""
    return len({run.process for run, is_copy in zip(runs, _copies(runs), strict=True) if is_copy})


def _copies(runs: tuple[Run, ...]) -> list[bool]:
    """Return which runs are copies of other runs. A copy counts if no original is left."""
    copies = [run.is_copy for run in runs]
    return [False] * len(runs) if all(copies) else copies


def unit_noun(unit: SampleUnit, *sides: tuple[Run, ...]) -> str:
    """Return the plural noun for the units that statistics count.

    The noun is `runs` if each process on all `sides` has one run. If not, it is `processes` or
    `iterations`.
    """
    if all(units_in(runs, "process") == units_in(runs, "iteration") for runs in sides):
        return "runs"
    return "processes" if unit == "process" else "iterations"


def required_noun(unit: SampleUnit, *sides: tuple[Run, ...]) -> str:
    """Return `unit_noun` for a sentence that says how many units a verdict needs.

    The noun begins with `different` if a side has copies, because verdicts do not count copies.
    """
    different = "different " if any(map(copies_in, sides)) else ""
    return f"{different}{unit_noun(unit, *sides)}"

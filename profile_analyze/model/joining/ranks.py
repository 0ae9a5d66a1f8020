"""Joins the files of a distributed job, one per rank, and compares the times of ranks.

All ranks of a job work together on each iteration. Iteration n of all ranks is therefore one run.
In this run, the times of ranks add up like the times of streams. Files of separate runs of one
program stay separate runs, whose times vary by chance.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

import numpy as np

from profile_analyze.errors import QueryError
from profile_analyze.model.executions import Run
from profile_analyze.model.findings import Finding, Kind
from profile_analyze.model.joining.iterations import indices_in_process
from profile_analyze.model.joining.labels import label_columns, labels_of_processes, shared_labels
from profile_analyze.model.numbers import numbered, over_runs
from profile_analyze.model.terms import KERNEL
from profile_analyze.units import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from profile_analyze.model.notes import Note
    from profile_analyze.model.profile import Profile

    Floats: TypeAlias = NDArray[np.float64]
    Indices: TypeAlias = NDArray[np.int64]

_BETWEEN_TWO: Final = ("send", "recv")
"""Operations between two ranks, in which the other ranks do not take part."""


def ranks_of(profile: Profile) -> tuple[int, ...]:
    """Return the ranks of the profile's tracks, in ascending order."""
    return tuple(sorted({track.rank for track in profile.tracks if track.rank is not None}))


def as_one_job(profile: Profile) -> Profile:
    """Return the profile with the runs of all ranks joined, if its files are the ranks of a job.

    If the runs of each rank all have different steps, the runs with the same step become one run.
    Otherwise, the n-th runs of all ranks become one run. If no file names a rank, or all files have
    the same rank, return `profile` unchanged: its files are separate runs of one program.

    Raises `QueryError` if only some files name a rank, or if two files of a job have the same rank.
    """
    if not ranks_of(profile):  # most formats have no ranks
        return profile
    ranks = _rank_of_each_process(profile)
    if len({*ranks}) < 2:
        return profile
    _check(profile.processes, ranks)
    first, *others = profile.processes
    number = _numbers_in_job(profile)
    values = sorted({*number.tolist()})
    new_run = np.searchsorted(values, number)
    members = [np.flatnonzero(new_run == index).tolist() for index in range(len(values))]
    executions = profile.executions
    labels = labels_of_processes(profile)
    return profile.changed(
        file=f"{len(ranks)} ranks",
        executions=executions.changed(run=new_run[executions.run].astype(np.int32)),
        runs=tuple(_joined_run([profile.runs[one] for one in group]) for group in members),
        # The jobs on the two sides of a comparison need different names.
        processes=(f"{first} and {counted(len(others), 'more rank')}",),
        notes_on_runs=(),
        unlike="",
        labels=label_columns([shared_labels(labels)] if labels else ()),
    )


def _numbers_in_job(profile: Profile) -> Indices:
    """Return a number for each run. Runs of different ranks with equal numbers belong together."""
    runs = profile.runs
    steps = {(run.process, run.step) for run in runs if run.step is not None}
    if len(steps) == len(runs):  # each run has a step, and no two runs of a rank share one
        return np.array([run.step for run in runs], np.int64)
    return indices_in_process(runs)


def _rank_of_each_process(profile: Profile) -> list[int | None]:
    """Return the rank of each file, or None for a file that names no rank."""
    ranks: list[int | None] = [None] * len(profile.processes)
    process = np.array([run.process for run in profile.runs], np.int64)
    executions = profile.executions
    pairs = process[executions.run] * len(profile.tracks) + executions.track
    _, first = numbered(pairs)
    for index in first.tolist():
        track = profile.tracks[executions.track[index]]
        ranks[process[executions.run[index]]] = track.rank
    return ranks


def _check(files: Sequence[str], ranks: Sequence[int | None]) -> None:
    """Raise `QueryError` if a file has no rank, or if two files have the same rank."""
    advice = "name one file of each rank of one job, or only runs of one rank"
    first: dict[int, str] = {}
    known = next(index for index, rank in enumerate(ranks) if rank is not None)
    for file, rank in zip(files, ranks, strict=True):
        if rank is None:
            raise QueryError(
                f"{file} names no rank, but {files[known]} is rank {ranks[known]} of a job; "
                f"{advice}; to compare two programs, name one of them after --compare"
            )
        if rank in first:
            raise QueryError(
                f"{first[rank]} and {file} are both rank {rank}, but other files have other "
                f"ranks; {advice}"
            )
        first[rank] = file


def _joined_run(runs: Sequence[Run]) -> Run:
    """Return one run for the `runs` of all ranks, with the longest of their times."""
    steps, labels = {run.step for run in runs}, {run.label for run in runs}
    walls = [run.wall_s for run in runs]
    return Run(
        step=steps.pop() if len(steps) == 1 else None,
        label=labels.pop() if len(labels) == 1 else None,
        wall_s=float(np.max(walls)),  # NaN if a wall time is unknown
        busy_s=float(np.max([run.busy_s for run in runs])),
    )


def notes_on_incomplete_runs(profile: Profile) -> Iterator[Note]:
    """Yield a note if some runs of a job lack the executions of some ranks."""
    ranks = ranks_of(profile)
    if len(ranks) < 2:
        return
    executions = profile.executions
    rank = np.searchsorted(ranks, rank_of_tracks(profile)[executions.track])
    pairs = executions.run.astype(np.int64) * len(ranks) + rank
    _, first = numbered(pairs)
    found = np.bincount(executions.run[first], minlength=len(profile.runs))
    incomplete = int((found < len(ranks)).sum())
    if incomplete:
        runs = len(profile.runs)
        yield Finding.of(
            "incomplete-ranks", Kind.WRONG, incomplete=incomplete, runs=runs, ranks=len(ranks)
        )


def rank_of_tracks(profile: Profile) -> Indices:
    """Return the rank of each track, or -1 for a track without one, shape (tracks,)."""
    ranks = (-1 if track.rank is None else track.rank for track in profile.tracks)
    return np.fromiter(ranks, np.int64, len(profile.tracks))


def times_of_ranks(profile: Profile, measure: str = "time") -> Floats:
    """Return the time in seconds of each operator on each rank, shape (operators, ranks).

    If there are several runs, each time is the median over the runs.
    """
    rank = rank_of_tracks(profile)[profile.executions.track]
    columns = []
    for one in ranks_of(profile):
        executions = profile.executions.take(np.flatnonzero(rank == one))
        times = profile.changed(executions=executions).measured(measure)
        columns.append(over_runs(times, "median"))
    return np.stack(columns, axis=1) if columns else np.empty((len(profile), 0))


def rank_spread(times: Floats) -> Floats:
    """Return (longest - shortest) / mean of the ranks' times for each operator.

    `times` has shape (operators, ranks). The result has shape (operators,), and is NaN for an
    operator with fewer than two known times.
    """
    known = ~np.isnan(times)
    counts = known.sum(axis=1)
    longest = np.where(known, times, -np.inf).max(axis=1, initial=-np.inf)
    shortest = np.where(known, times, np.inf).min(axis=1, initial=np.inf)
    with np.errstate(all="ignore"):
        means = np.where(known, times, 0.0).sum(axis=1) / counts
        result: Floats = np.where((counts > 1) & (means > 0), (longest - shortest) / means, np.nan)
    return result


class Waiting(NamedTuple):
    """How long ranks waited for each other in all calls of one collective, such as all_reduce."""

    collective: str
    calls: int
    waited_s: float
    """The longest time of a rank minus the shortest, added up over the calls. The rank that comes
    last has the shortest time, because it does not wait for another rank."""
    time_s: float
    """The longest time of a rank, added up over the calls."""
    slowest: int
    """The rank for which the other ranks waited longest."""
    last: int
    """The number of calls in which `slowest` came last."""


def waiting_in_collectives(profile: Profile) -> list[Waiting]:
    """Return how long the ranks waited in each collective, the longest waiting time first.

    Only collectives in which all ranks take part count. The n-th call of a collective in a run is
    the same call on each rank. If the ranks have different numbers of calls in a run, these
    calls do not count.
    """
    ranks = ranks_of(profile)
    operators, executions = profile.operators, profile.executions
    collective = operators.categorical("collective")
    is_collective = collective.where(one not in _BETWEEN_TWO for one in collective.categories)
    is_collective &= operators.are_at(KERNEL)
    sizes = operators.categorical("group_size")
    is_collective &= sizes.where(one == len(ranks) for one in sizes.categories)
    chosen = np.flatnonzero(is_collective[executions.operator])
    rank = np.searchsorted(ranks, rank_of_tracks(profile)[executions.track[chosen]])
    kind = collective.codes[executions.operator[chosen]].astype(np.int64)
    start_s, durations_s = executions.start_s[chosen], executions.duration_s[chosen]
    number, first = numbered(kind * len(profile.runs) + executions.run[chosen])
    order = np.lexsort((start_s, rank, number))
    bounds = np.searchsorted(number[order], np.arange(1, len(first)))
    calls: dict[int, list[Floats]] = {}
    for one, rows in zip(first.tolist(), np.split(order, bounds), strict=False):
        counts = np.bincount(rank[rows], minlength=len(ranks))
        if (counts == counts[0]).all():  # with equal counts, the n-th calls of all ranks match
            of_run = durations_s[rows].reshape(len(ranks), -1).T
            calls.setdefault(int(kind[one]), []).append(of_run)
    found = (
        _waiting(collective.categories[code], np.concatenate(of_runs), ranks)
        for code, of_runs in calls.items()
    )
    return sorted(found, key=lambda one: -one.waited_s)


def _waiting(collective: str, durations: Floats, ranks: Sequence[int]) -> Waiting:
    waits = durations.max(axis=1) - durations.min(axis=1)
    last = durations.argmin(axis=1)
    caused = np.bincount(last, waits, minlength=len(ranks))
    slowest = int(caused.argmax())
    return Waiting(
        collective,
        len(durations),
        float(waits.sum()),
        float(durations.max(axis=1).sum()),
        ranks[slowest],
        int((last == slowest).sum()),
    )


def collective_notes(profile: Profile) -> Iterator[Note]:
    """Yield a note for each collective in which ranks waited for each other.

    `profile` must have all levels, because the notes come from kernels.
    """
    if len(ranks_of(profile)) < 2:
        return
    for one in waiting_in_collectives(profile):
        if one.waited_s > 0:
            yield Finding.of(
                *("waiting-ranks", Kind.CONTEXT),
                collective=one.collective, waited_s=one.waited_s, runs=len(profile.runs),
                part=one.waited_s / one.time_s, calls=one.calls,
                slowest=one.slowest, last=one.last,
            )  # fmt: skip

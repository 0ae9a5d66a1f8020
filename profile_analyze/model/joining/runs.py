"""Joins several runs of one graph into one profile."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from profile_analyze.errors import InputError, QueryError
from profile_analyze.model.categorical import Categorical
from profile_analyze.model.execution_parts import ExecutionParts
from profile_analyze.model.executions import devices_first
from profile_analyze.model.joining.identity import identities
from profile_analyze.model.joining.labels import label_columns, labels_of_processes
from profile_analyze.model.joining.ranks import as_one_job
from profile_analyze.model.joining.run_copies import digests_of, with_copies_marked
from profile_analyze.model.joining.run_notes import (
    NotesOfFiles,
    collected_notes,
    facts_on_runs,
    notes_from_files,
)
from profile_analyze.model.measuring import run_counts_of
from profile_analyze.model.numbers import first_of_each
from profile_analyze.model.operators import Operators
from profile_analyze.model.origin import Origin, common_origin
from profile_analyze.model.profile import Profile
from profile_analyze.model.stale_work import has_stale_work, with_stale_work
from profile_analyze.model.stored_times import MergedTimes, StoredTimes
from profile_analyze.model.terms import DERIVED, MEASURED
from profile_analyze.units import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from profile_analyze.model.executions import Executions, Run, Track
    from profile_analyze.model.notes import Note

IDENTITY: Final = (
    *("level", "scope", "name", "type", "in_shapes", "out_shapes", "launched_by", "full_name"),
)
"""The columns that identify an operator across runs: see `identities`."""

IDENTITY_COLUMNS: Final = frozenset({"in_shapes", "out_shapes", "launched_by", "full_name"})
"""The optional columns in `IDENTITY`."""

_WORK: Final = ("computation", "memory")


class Partial(NamedTuple):
    """The partial result of reading some runs, from one file or several."""

    keys: Sequence[tuple[Any, ...]]
    """The identity of each operator within a run: see `identities`."""
    operators: Operators
    """The operators, in the order of `keys`. The next two fields have the same order."""
    run_counts: NDArray[np.int64]
    """How many runs have each operator."""
    conflicting: NDArray[np.bool_]
    """Whether the runs disagree on the computation or memory of each operator."""
    executions: Executions
    tracks: tuple[Track, ...]
    runs: tuple[Run, ...]
    processes: tuple[str, ...]
    digests: tuple[bytes | None, ...]
    """A digest of the times of each process; None without times."""
    files: int
    origins: tuple[Origin, ...]
    """The distinct origins of the files."""
    lost_tables: frozenset[str]
    """The optional tables that some files have, or may have. Joining drops them."""
    notes: NotesOfFiles
    """The notes on all files."""
    labels: tuple[Mapping[str, str], ...] = ()
    """The labels of each process; empty if no process has any."""
    times: StoredTimes | None = None
    """The times of the operators, if they are stored beside the executions."""

    def as_profile(self) -> Profile:
        """Return the tables as a profile, without notes and labels."""
        return Profile(
            file="",
            origin=self.origins[0],
            operators=self.operators,
            executions=self.executions,
            tracks=self.tracks,
            runs=self.runs,
            processes=self.processes,
        )


class RunJoiner:
    """Joins profiles into one profile with all their runs.

    The joiner keeps all executions, and each distinct operator once. Several joiners can share the
    work: `merge` adds the partial result of another joiner. The result is the same as if one joiner
    had added all profiles in the same order.
    """

    def __init__(self) -> None:
        # Looking up a new key gives it the next free number.
        self._row_of: defaultdict[tuple[Any, ...], int] = defaultdict(count().__next__)
        self._track_of: defaultdict[Track, int] = defaultdict(count().__next__)
        # Only `partial` joins these tables. Joining them in each `merge` would copy them each time.
        self._operators: list[Operators] = []
        self._work = np.empty((2, 0))
        """Shape (2, operators): the first known computation and memory of each operator."""
        self._is_derived = np.empty((2, 0), np.bool_)
        """Shape (2, operators): whether the computation and memory in `_work` are derived."""
        self._run_counts = np.empty(0, np.int64)
        self._conflicting = np.empty(0, np.bool_)
        self._is_stale = np.empty(0, np.bool_)
        """Whether the work of each operator is stale in some of the runs: see `stale_work.py`."""
        self._executions = ExecutionParts()
        self._times = MergedTimes()
        self._runs: list[Run] = []
        self._processes: list[str] = []
        self._digests: list[bytes | None] = []
        self._files = 0
        self._origins: dict[Origin, None] = {}
        self._lost_tables: set[str] = set()
        self._notes: NotesOfFiles = {}
        self._labels: list[Mapping[str, str]] = []

    @property
    def is_empty(self) -> bool:
        """Whether nothing was added."""
        return not self._files

    def add(
        self,
        profile: Profile,
        file_of: NDArray[np.int64] | None = None,
        notes: Sequence[Sequence[Note]] = (),
    ) -> None:
        """Add a profile. Operators with the same `IDENTITY` become one operator.

        If a reader read several files together, pass the process of each operator as `file_of`
        (shape: operators), and the notes on each process as `notes`. Each file then counts as a
        profile of its own.

        Raises `QueryError` if the profile was loaded without `IDENTITY_COLUMNS`, or if it is a
        model that has not run.
        """
        _check_that_it_ran(profile)
        # At most one of `profile.notes` and `notes` has notes: see `ReadTogether.profile`.
        notes_of_files = [(profile.file, profile.notes), *zip(profile.processes, notes)]  # noqa: B905
        self.merge(
            Partial(
                keys=identities(profile, IDENTITY, part_of=file_of),
                operators=profile.operators,
                run_counts=_run_counts(profile, file_of),
                conflicting=np.zeros(len(profile), np.bool_),
                executions=profile.executions,
                tracks=profile.tracks,
                runs=profile.runs,
                processes=profile.processes,
                digests=tuple(digests_of(profile)),
                files=1 if file_of is None else len(profile.processes),
                origins=(profile.origin,),
                lost_tables=profile.without_tables()["not_loaded"],
                notes=collected_notes(notes_of_files),
                labels=labels_of_processes(profile),
            )
        )

    def merge(self, partial: Partial) -> None:
        """Merge a partial result. Its runs follow all runs that were added before."""
        known = len(self._row_of)  # before the lookup below, which adds new keys
        rows = np.fromiter(map(self._row_of.__getitem__, partial.keys), np.int64, len(partial.keys))
        new_operators = first_of_each(rows, known)
        if len(new_operators) or not self._operators:
            self._operators.append(partial.operators.take(new_operators))
            self._extend_arrays(len(self._row_of))
        self._merge_work(partial.operators, rows)
        self._conflicting[rows[partial.conflicting]] = True
        self._is_stale[rows[has_stale_work(partial.operators)]] = True
        np.add.at(self._run_counts, rows, partial.run_counts)
        self._merge_executions(partial, rows)
        self._times.add(partial.times, rows)
        self._runs += [
            run._replace(process=run.process + len(self._processes)) for run in partial.runs
        ]
        self._processes += partial.processes
        self._digests += partial.digests
        self._files += partial.files
        self._origins |= dict.fromkeys(partial.origins)
        self._lost_tables |= partial.lost_tables
        for note, files in partial.notes.items():
            self._notes.setdefault(note, []).extend(files)
        self._labels += partial.labels or [{}] * len(partial.processes)

    def _extend_arrays(self, operators: int) -> None:
        """Extend the arrays to `operators` rows. New rows have no known work, and no runs yet."""
        more = operators - len(self._run_counts)
        self._work = np.append(self._work, np.full((2, more), np.nan), axis=1)
        self._is_derived = np.append(self._is_derived, np.zeros((2, more), np.bool_), axis=1)
        self._run_counts = np.append(self._run_counts, np.zeros(more, np.int64))
        self._conflicting = np.append(self._conflicting, np.zeros(more, np.bool_))
        self._is_stale = np.append(self._is_stale, np.zeros(more, np.bool_))

    def _merge_work(self, operators: Operators, rows: NDArray[np.int64]) -> None:
        """Keep the first known value of each operator. Mark operators whose later values differ."""
        for name, merged, is_derived in zip(_WORK, self._work, self._is_derived, strict=True):
            values: NDArray[np.float64] = getattr(operators, name)
            known = np.flatnonzero(~np.isnan(values))
            is_first = np.isnan(merged[rows[known]])
            # Several operators may share a row, and NumPy keeps the last value assigned to it. The
            # reversed order makes this the value of the first operator.
            first = known[is_first][::-1]
            merged[rows[first]] = values[first]
            is_derived[rows[first]] = _are_derived(operators, name)[first]
            differs = merged[rows[known]] != values[known]
            self._conflicting[rows[known[differs]]] = True

    def _merge_executions(self, partial: Partial, rows: NDArray[np.int64]) -> None:
        """Append the executions, with this joiner's numbers for operators, tracks and runs."""
        tracks = np.array([self._track_of[track] for track in partial.tracks], np.int32)
        self._executions.add(
            partial.executions.renumbered(
                operators=rows.astype(np.int32), tracks=tracks, first_run=len(self._runs)
            )
        )

    def partial(self) -> Partial | None:
        """Return the partial result, for another joiner to merge; None if nothing was added."""
        if self.is_empty:
            return None
        # Copied: `Operators` makes its arrays read-only, but later merges write to `_work`.
        computation, memory = self._work.copy()
        operators = replace(
            Operators.concatenated(self._operators),
            computation=computation,
            memory=memory,
            computation_source=_sources(self._is_derived[0]),
            memory_source=_sources(self._is_derived[1]),
        )
        return Partial(
            keys=list(self._row_of),
            operators=with_stale_work(operators, self._is_stale),
            run_counts=self._run_counts.copy(),
            conflicting=self._conflicting.copy(),
            executions=self._executions.joined(),
            tracks=tuple(self._track_of),
            runs=tuple(self._runs),
            processes=tuple(self._processes),
            digests=tuple(self._digests),
            files=self._files,
            origins=tuple(self._origins),
            lost_tables=frozenset(self._lost_tables),
            notes={note: [*files] for note, files in self._notes.items()},
            labels=tuple(self._labels) if any(self._labels) else (),
            times=self._times.merged(len(operators)),
        )

    def joined(self, notes: tuple[Note, ...] = ()) -> Profile:
        """Return the joined profile. Its notes begin with `notes`.

        Raises `InputError` if no profile was added. Raises `QueryError` if only some files name a
        rank, or if two files of a job have the same rank.
        """
        partial = self.partial()
        if partial is None:
            raise InputError("", "no profile was named")
        executions, tracks = devices_first(partial.executions, partial.tracks)
        joined = Profile(
            file=partial.processes[0] if partial.files == 1 else counted(partial.files, "file"),
            origin=common_origin(partial.origins),
            operators=partial.operators,
            executions=executions,
            tracks=tracks,
            runs=with_copies_marked(partial.runs, partial.digests),
            processes=partial.processes,
            not_loaded=partial.lost_tables,
            notes=(*notes, *notes_from_files(partial)),
            labels=label_columns(partial.labels),
            stored_times=partial.times,
            digests=partial.digests,
        )
        return as_one_job(joined.changed(**facts_on_runs(joined, partial)))


def join_runs(profiles: Iterable[Profile]) -> Profile:
    """Join `profiles` into one profile with all their runs.

    Profiles of different ranks become one job: see `model.joining.ranks`.

    Operators with equal values in all columns of `IDENTITY` are matched across runs. Duplicates
    within one profile are matched in the order of execution. Operators of only some runs are kept.

    Raises `InputError` if there is no profile. Raises `QueryError` if a profile is a model, or was
    loaded without `IDENTITY_COLUMNS`, or if `as_one_job` rejects the ranks.
    """
    joiner = RunJoiner()
    for profile in profiles:
        joiner.add(profile)
    return joiner.joined()


def _check_that_it_ran(profile: Profile) -> None:
    """Raise `QueryError` for a model that has not run."""
    if profile.model is not None:
        raise QueryError(
            f"{profile.file} is a model that has not run, so it has no runs to join with the runs "
            "of other files; to compare two models, name one of them after --compare; to add a "
            "model to a profile, name the model after --model"
        )


def _are_derived(operators: Operators, work: str) -> NDArray[np.bool_]:
    source: Categorical[str] = getattr(operators, f"{work}_source")
    return source.where(category == DERIVED for category in source.categories)


def _sources(is_derived: NDArray[np.bool_]) -> Categorical[str]:
    if not is_derived.any():
        return Categorical.constant(MEASURED, len(is_derived))
    return Categorical(is_derived.astype(np.int64), (MEASURED, DERIVED))


def _run_counts(profile: Profile, file_of: NDArray[np.int64] | None) -> NDArray[np.int64]:
    """Return how many runs have each operator, shape (operators,).

    If a file has one run, all its operators count as part of the run, even operators that were not
    executed. If a file has several runs, an operator is part of the runs that executed it.
    """
    runs = len(profile.runs)
    if runs == 1 or file_of is not None:
        return np.ones(len(profile), np.int64)
    return run_counts_of(profile)

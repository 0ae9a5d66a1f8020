"""Several runs of one graph as one profile."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from profile_analyze.errors import InputError
from profile_analyze.model.categorical import Categorical
from profile_analyze.model.executions import Executions
from profile_analyze.model.identity import identities
from profile_analyze.model.operators import Operators
from profile_analyze.model.profile import Origin, Profile
from profile_analyze.model.terms import DERIVED, DEVICE, EACH, MEAN, MEASURED
from profile_analyze.units import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from profile_analyze.model.executions import Run, Track

IDENTITY: Final = ("level", "scope", "name", "type", "in_shapes", "out_shapes")
"""Operators of two runs that agree in these are the same operator: see `identities`."""

IDENTITY_COLUMNS: Final = frozenset({"in_shapes", "out_shapes"})
"""The optional columns among these."""


class Partial(NamedTuple):
    """The partial result of reading some runs, from one file or several."""

    keys: Sequence[tuple[Any, ...]]
    """The identity of each operator within a run; see `identities`."""
    operators: Operators
    """The operators in the order of `keys`, as in the next two fields."""
    runs_with: NDArray[np.int64]
    """How many runs have each operator."""
    conflicting: NDArray[np.bool_]
    """Whether runs disagree about the computation or memory of each operator."""
    executions: Executions
    tracks: tuple[Track, ...]
    runs: tuple[Run, ...]
    processes: tuple[str, ...]
    digests: tuple[bytes | None, ...]
    """A digest of the times of each process."""
    files: int
    origins: tuple[Origin, ...]
    lost_tables: frozenset[str]
    """The optional tables that some files have, or may have."""
    notes: Mapping[str, list[str]]
    """The files that each note is about."""


class RunJoiner:
    """Joins profiles, added one after another, into one profile with the runs of all.

    Only the executions of a profile are kept, and the operators that no earlier profile had.
    Partial results merge: the result is the same as if one joiner had read all profiles in that
    order.
    """

    def __init__(self) -> None:
        self._row_of: defaultdict[tuple[Any, ...], int] = defaultdict(count().__next__)
        self._track_of: defaultdict[Track, int] = defaultdict(count().__next__)
        self._operators: list[Operators] = []
        self._computation = np.empty(0)
        self._memory = np.empty(0)
        self._is_derived = np.empty((2, 0), np.bool_)
        """Shape (2, operators): whether the computation, and the memory, that is kept is
        derived."""
        self._runs_with = np.empty(0, np.int64)
        self._conflicting = np.empty(0, np.bool_)
        self._executions: list[Executions] = []
        self._runs: list[Run] = []
        self._processes: list[str] = []
        self._digests: list[bytes | None] = []
        self._files = 0
        self._origins: dict[Origin, None] = {}
        self._lost_tables: set[str] = set()
        self._notes: dict[str, list[str]] = {}

    def add(
        self,
        profile: Profile,
        file_of: NDArray[np.int64] | None = None,
        notes: Sequence[Sequence[str]] | None = None,
    ) -> None:
        """Add a profile. Operators that agree in `IDENTITY` are the same.

        Several files that were read together count as several profiles: `file_of` (shape:
        operators) has the process of each operator, and each process has its own `notes`.

        Raises `QueryError` if it was loaded without `IDENTITY_COLUMNS`.
        """
        on: dict[str, list[str]] = {note: [profile.file] for note in profile.notes}
        for file, of_file in zip(profile.processes, notes or ()):  # noqa: B905  # without notes on them: none
            for note in of_file:
                on.setdefault(note, []).append(file)
        self.take(
            Partial(
                keys=identities(profile, IDENTITY, part_of=file_of),
                operators=profile.operators,
                runs_with=_runs_with(profile, file_of),
                conflicting=np.zeros(len(profile), np.bool_),
                executions=profile.executions,
                tracks=profile.tracks,
                runs=profile.runs,
                processes=profile.processes,
                digests=tuple(_digests(profile)),
                files=1 if file_of is None else len(profile.processes),
                origins=(profile.origin,),
                lost_tables=profile.without_tables()["not_loaded"],
                notes=on,
            )
        )

    def partial(self) -> Partial | None:
        """The partial result, for another joiner to merge; None if nothing was added."""
        if not self._files:
            return None
        return Partial(
            keys=list(self._row_of),
            operators=self._all_operators(),
            runs_with=self._runs_with,
            conflicting=self._conflicting,
            executions=Executions.concatenated(self._executions),
            tracks=tuple(self._track_of),
            runs=tuple(self._runs),
            processes=tuple(self._processes),
            digests=tuple(self._digests),
            files=self._files,
            origins=tuple(self._origins),
            lost_tables=frozenset(self._lost_tables),
            notes=self._notes,
        )

    def _all_operators(self) -> Operators:
        operators = Operators.concatenated(self._operators)
        return replace(
            operators,
            computation=self._computation,
            memory=self._memory,
            computation_source=_sources(self._is_derived[0]),
            memory_source=_sources(self._is_derived[1]),
        )

    def take(self, partial: Partial) -> None:
        """Merge the partial result of another joiner, after everything that was added before."""
        known = len(self._row_of)
        rows = np.fromiter(map(self._row_of.__getitem__, partial.keys), np.int64, len(partial.keys))
        unseen = _first_of_each(rows, known)
        if len(unseen) or not self._operators:
            self._operators.append(partial.operators.take(unseen))
            self._make_room(len(self._row_of))
        self._take_work(partial.operators, rows)
        self._conflicting[rows[partial.conflicting]] = True
        np.add.at(self._runs_with, rows, partial.runs_with)
        self._take_executions(partial, rows)
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

    def _take_executions(self, partial: Partial, rows: NDArray[np.int64]) -> None:
        """Keep the executions, with the operators, tracks and runs numbered as here."""
        executions = partial.executions
        tracks = np.array([self._track_of[track] for track in partial.tracks], np.int32)
        self._executions.append(
            executions.changed(
                operator=rows.astype(np.int32)[executions.operator],
                track=tracks[executions.track],
                run=executions.run + np.int32(len(self._runs)),
            )
        )

    def _make_room(self, operators: int) -> None:
        more = operators - len(self._runs_with)
        self._computation = np.append(self._computation, np.full(more, np.nan))
        self._memory = np.append(self._memory, np.full(more, np.nan))
        self._is_derived = np.append(self._is_derived, np.zeros((2, more), np.bool_), axis=1)
        self._runs_with = np.append(self._runs_with, np.zeros(more, np.int64))
        self._conflicting = np.append(self._conflicting, np.zeros(more, np.bool_))

    def _take_work(self, operators: Operators, rows: NDArray[np.int64]) -> None:
        """Keep the first known value of each operator, and mark where a later one differs."""
        for kept, is_derived, found, source in (
            (self._computation, self._is_derived[0], operators.computation, "computation"),
            (self._memory, self._is_derived[1], operators.memory, "memory"),
        ):
            says = np.flatnonzero(~np.isnan(found))
            is_new = np.isnan(kept[rows[says]])
            new = says[is_new][::-1]  # of several in one row the last stays: the first that says it
            kept[rows[new]] = found[new]
            is_derived[rows[new]] = _are_derived(operators, source)[new]
            differs = kept[rows[says]] != found[says]
            self._conflicting[rows[says[differs]]] = True

    def joined(self, notes: tuple[str, ...] = ()) -> Profile:
        """The joined profile, with further `notes`.

        Raises `InputError` if no profile was added.
        """
        if not self._files:
            raise InputError("", "no profile was named")
        executions, tracks = _devices_first(
            Executions.concatenated(self._executions), tuple(self._track_of)
        )
        return Profile(
            file=self._processes[0] if self._files == 1 else counted(self._files, "file"),
            origin=_together(tuple(self._origins)),
            operators=self._all_operators(),
            executions=executions,
            tracks=tracks,
            runs=tuple(self._runs),
            processes=tuple(self._processes),
            not_loaded=frozenset(self._lost_tables),
            notes=(*notes, *self._notes_of_files()),
            notes_on_runs=tuple(self._notes_on_operators()),
        )

    def _notes_of_files(self) -> Iterator[str]:
        """The notes on the profiles, each once, with the files that it is about."""
        for note, files in self._notes.items():
            if len(files) == self._files:
                yield note if len(files) == 1 else f"in each of {len(files)} files: {note}"
            else:
                more = f" and {len(files) - 1} more" if len(files) > 1 else ""
                yield f"{files[0]}{more}: {note}"

    def _notes_on_operators(self) -> Iterator[str]:
        operators, runs = len(self._runs_with), len(self._runs)
        twice = len(self._processes) - len(set(self._processes))
        if twice:
            yield f"{counted(twice, 'file')} named again: the same run counts twice"
        digests = [one for one in self._digests if one is not None]
        copies = len(digests) - len(set(digests)) - twice
        if copies > 0:
            yield (
                f"{counted(copies, 'file')} with exactly the times of another: copies of one file "
                "under several names? The same run counts twice"
            )
        in_all = int((self._runs_with == runs).sum())
        if in_all * 2 < operators:
            yield (
                f"only {in_all} of {operators} operators are in all {runs} runs: these look like "
                "different models; --aggregate-by file treats them so"
            )
        elif in_all < operators:
            yield f"{operators - in_all} of {operators} operators are in some of {runs} runs only"
        conflicts = int(self._conflicting.sum())
        if conflicts:
            yield (
                f"the runs disagree on computation or memory of {counted(conflicts, 'operator')}"
                "; the first known value is used"
            )


def _are_derived(operators: Operators, work: str) -> NDArray[np.bool_]:
    source: Categorical[str] = getattr(operators, f"{work}_source")
    return source.where(one == DERIVED for one in source.categories)


def _sources(is_derived: NDArray[np.bool_]) -> Categorical[str]:
    if not is_derived.any():
        return Categorical.constant(MEASURED, len(is_derived))
    return Categorical(is_derived.astype(np.int64), (MEASURED, DERIVED))


def _first_of_each(rows: NDArray[np.int64], known: int) -> NDArray[np.int64]:
    """The first index of each new row. Rows from `known` on are new."""
    highest = np.maximum.accumulate(np.append(known - 1, rows))
    return np.flatnonzero(rows > highest[:-1])


def _runs_with(profile: Profile, file_of: NDArray[np.int64] | None) -> NDArray[np.int64]:
    """Shape (operators,): how many runs have each.

    A file with one run has its operators that did not run, too. In a file with several runs, an
    operator is in the runs that have an execution of it.
    """
    runs = len(profile.runs)
    if runs == 1 or file_of is not None:
        return np.ones(len(profile), np.int64)
    cells = np.zeros(len(profile) * runs, np.bool_)
    cells[profile.executions.operator.astype(np.int64) * runs + profile.executions.run] = True
    return np.asarray(cells.reshape(-1, runs).sum(axis=1), np.int64)


def _digests(profile: Profile) -> Iterator[bytes | None]:
    """A digest of the times of each process, equal for equal times; None without times."""
    from hashlib import blake2b  # only several runs need it

    executions = profile.executions
    process_of = np.array([run.process for run in profile.runs], np.int64)[executions.run]
    by_process = np.argsort(process_of, kind="stable")
    times = [
        values[by_process]
        for values in (executions.start_s, executions.duration_s, executions.first_kernel_s)
    ]
    end = 0
    for rows in np.bincount(process_of, minlength=len(profile.processes)).tolist():
        start, end = end, end + rows
        digest = blake2b(digest_size=16)
        for values in times:
            digest.update(values[start:end].tobytes())
        yield digest.digest() if rows else None


def _devices_first(
    executions: Executions, tracks: tuple[Track, ...]
) -> tuple[Executions, tuple[Track, ...]]:
    """Put device tracks first, so that it does not matter which files came together."""
    order = sorted(range(len(tracks)), key=lambda index: tracks[index].side != DEVICE)
    if order == list(range(len(tracks))):
        return executions, tracks
    new_index = np.empty(len(tracks), np.int32)
    new_index[order] = np.arange(len(tracks))
    moved = executions.changed(track=new_index[executions.track])
    return moved, tuple(tracks[index] for index in order)


def _together(origins: Sequence[Origin]) -> Origin:
    """The origin of a joined profile. What differs between the joined ones is left out."""
    first = origins[0]
    if len(origins) == 1:
        return first
    same = {
        name: value
        for name, value in first._asdict().items()
        if all(getattr(origin, name) == value for origin in origins)
    }
    formats = ", ".join(dict.fromkeys(origin.format for origin in origins))
    kinds = [kind for kind in (MEAN, EACH) if any(origin.times == kind for origin in origins)]
    times = kinds[0] if kinds else first.times  # where some are means, nothing is of each alone
    return Origin(**{**same, "format": formats, "times": times})


def join_runs(profiles: Iterable[Profile]) -> Profile:
    """Join `profiles` into one profile with the runs of all.

    Operators with the same name, type and shapes are the same. If one profile has several of these,
    they are matched in the order of execution. Operators that only some runs have are kept.

    Raises `InputError` if there is no profile.
    """
    joiner = RunJoiner()
    for profile in profiles:
        joiner.add(profile)
    return joiner.joined()

"""Several runs of one graph as one profile, and such a profile with its runs kept apart."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from profile_analyze.model.facts import concatenated, facts_of, taken
from profile_analyze.model.identity import identities
from profile_analyze.model.profile import LaneTimes, Profile, Timings
from profile_analyze.units import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from profile_analyze.model.facts import Facts

IDENTITY: Final = ("name", "type", "in_shapes", "out_shapes")
"""What operators of two runs have in common if they are the same one: see `identities`."""

IDENTITY_DETAILS: Final = frozenset({"in_shapes", "out_shapes"})
"""The details that are needed for it."""


class Seen(NamedTuple):
    """What was read of some runs: of one file, or of several, joined or kept apart."""

    keys: Sequence[tuple[Any, ...]]
    """What tells each operator from the others of a run; see `identities`."""
    facts: Facts
    """Of the same operators; so are the next two."""
    runs_with: NDArray[np.int64]
    """How many runs have each."""
    conflicting: NDArray[np.bool_]
    """Whether runs tell different work of it."""
    device: LaneTimes
    host: LaneTimes
    files: tuple[str, ...]
    """The file of each run."""
    hashes: tuple[int | None, ...]
    """Of the times of each run; the same in all processes that are forked from one."""
    profiles: int
    sources: tuple[str, ...]
    notes: Mapping[str, list[str]]
    """Each note with the files that it is of."""


class RunJoiner:
    """Takes profiles one after another and makes one of them, with the runs of all.

    Of each only its times are kept, and what it says of operators that were not known before.
    Joiners merge: what two took, one after the other, is what one would have taken of all.
    """

    def __init__(self) -> None:
        self._row_of: defaultdict[tuple[Any, ...], int] = defaultdict(count().__next__)
        self._facts: list[Facts] = []
        self._computation = np.empty(0)
        self._memory = np.empty(0)
        self._runs_with = np.empty(0, np.int64)
        self._conflicting = np.empty(0, np.bool_)
        self._device: list[LaneTimes] = []
        self._host: list[LaneTimes] = []
        self._files: list[str] = []
        self._hashes: list[int | None] = []
        self._profiles = 0
        self._sources: dict[str, None] = {}
        self._notes: dict[str, list[str]] = {}

    def add(self, profile: Profile, notes: Sequence[Sequence[str]] | None = None) -> None:
        """Take another profile; operators are the same that agree in `IDENTITY`.

        One whose runs are kept apart counts as so many profiles, each with its own of the `notes`.

        Raises `QueryError` if it was loaded without `IDENTITY_DETAILS`.
        """
        files = profile.run_files
        on: dict[str, list[str]] = {note: [profile.file] for note in profile.notes}
        for file, of_file in zip(files, notes or ()):  # noqa: B905  # without notes on them: none
            for note in of_file:
                on.setdefault(note, []).append(file)
        sides = (
            _with_their_runs(profile.device.lanes, profile),
            _with_their_runs(profile.host.lanes, profile),
        )
        self.take(
            Seen(
                keys=identities(profile, IDENTITY),
                facts=facts_of(profile),
                runs_with=np.full(len(profile), profile.runs),
                conflicting=np.zeros(len(profile), np.bool_),
                device=sides[0],
                host=sides[1],
                files=files,
                hashes=tuple(_hashes(sides, len(files))),
                profiles=1 if profile.run_of is None else len(files),
                sources=(profile.source,),
                notes=on,
            )
        )

    def seen(self) -> Seen | None:
        """All that was taken, for another joiner to take; None if nothing was."""
        if not self._profiles:
            return None
        return Seen(
            keys=list(self._row_of),
            facts=self._all_facts(),
            runs_with=self._runs_with,
            conflicting=self._conflicting,
            device=LaneTimes.concatenated(self._device),
            host=LaneTimes.concatenated(self._host),
            files=tuple(self._files),
            hashes=tuple(self._hashes),
            profiles=self._profiles,
            sources=tuple(self._sources),
            notes=self._notes,
        )

    def _all_facts(self) -> Facts:
        known = {"computation": self._computation, "memory": self._memory}
        return concatenated(self._facts) | known

    def take(self, seen: Seen) -> None:
        """Take what another joiner took, after all that was taken before."""
        known = len(self._row_of)
        rows = np.fromiter(map(self._row_of.__getitem__, seen.keys), np.int64, len(seen.keys))
        unseen = _first_of_each(rows, known)
        if len(unseen) or not self._facts:
            self._facts.append(taken(seen.facts, unseen))
            self._make_room(len(self._row_of))
        self._take_work(seen.facts, rows)
        self._conflicting[rows[seen.conflicting]] = True
        np.add.at(self._runs_with, rows, seen.runs_with)
        self._device.append(seen.device.placed(rows, len(self._files)))
        self._host.append(seen.host.placed(rows, len(self._files)))
        self._files += seen.files
        self._hashes += seen.hashes
        self._profiles += seen.profiles
        self._sources |= dict.fromkeys(seen.sources)
        for note, files in seen.notes.items():
            self._notes.setdefault(note, []).extend(files)

    def _make_room(self, operators: int) -> None:
        more = operators - len(self._runs_with)
        self._computation = np.append(self._computation, np.full(more, np.nan))
        self._memory = np.append(self._memory, np.full(more, np.nan))
        self._runs_with = np.append(self._runs_with, np.zeros(more, np.int64))
        self._conflicting = np.append(self._conflicting, np.zeros(more, np.bool_))

    def _take_work(self, facts: Facts, rows: NDArray[np.int64]) -> None:
        """Keep what the first run says that says something, and mark where a later one differs."""
        for kept, told in (
            (self._computation, facts["computation"]),
            (self._memory, facts["memory"]),
        ):
            says = np.flatnonzero(~np.isnan(told))
            is_new = np.isnan(kept[rows[says]])
            new = says[is_new][::-1]
            kept[rows[new]] = told[new]  # of several in one place the last stays: the first told
            differs = kept[rows[says]] != told[says]
            self._conflicting[rows[says[differs]]] = True

    def joined(self, notes: tuple[str, ...] = ()) -> Profile:
        """All that was taken, which was at least one, with further `notes`."""
        operators, runs = len(self._row_of), len(self._files)
        device, host = (
            Timings(LaneTimes.concatenated(lanes), operators=operators, runs=runs)
            for lanes in (self._device, self._host)
        )
        return Profile(
            file=self._files[0] if self._profiles == 1 else counted(self._profiles, "file"),
            source=", ".join(self._sources),
            device=device,
            host=host,
            notes=(*notes, *self._notes_of_files()),
            notes_on_runs=tuple(self._notes_on_operators()),
            files=tuple(self._files),
            **self._all_facts(),
        )

    def _notes_of_files(self) -> Iterator[str]:
        """The notes of the profiles, each once, with the files that it is about."""
        for note, files in self._notes.items():
            if len(files) == self._profiles:
                yield note if len(files) == 1 else f"in each of {len(files)} files: {note}"
            else:
                more = f" and {len(files) - 1} more" if len(files) > 1 else ""
                yield f"{files[0]}{more}: {note}"

    def _notes_on_operators(self) -> Iterator[str]:
        operators, runs = len(self._runs_with), len(self._files)
        twice = runs - len(set(self._files))
        if twice:
            yield f"{counted(twice, 'file')} named again: the same run counts twice"
        hashes = [one for one in self._hashes if one is not None]
        copies = len(hashes) - len(set(hashes)) - twice
        if copies > 0:
            yield (
                f"{counted(copies, 'run')} with exactly the times of another: copies of one file "
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
                f"the runs tell different computation or memory of {counted(conflicts, 'operator')}"
                "; what the first says is used"
            )


def _first_of_each(rows: NDArray[np.int64], known: int) -> NDArray[np.int64]:
    """Where each new row stands for the first time, rows being counted on from `known`."""
    highest = np.maximum.accumulate(np.append(known - 1, rows))
    return np.flatnonzero(rows > highest[:-1])


def _with_their_runs(lanes: LaneTimes, profile: Profile) -> LaneTimes:
    run_of = profile.run_of
    return lanes if run_of is None else replace(lanes, run=run_of[lanes.operator])


def _hashes(sides: Sequence[LaneTimes], runs: int) -> Iterator[int | None]:
    """For each run a number that another has if all its times are the same; None without times."""
    for run in range(runs):
        times = tuple(
            times[lanes.run == run].tobytes()
            for lanes in sides
            for times in (lanes.start_s, lanes.end_s)
        )
        yield hash(times) if any(times) else None


def join_runs(profiles: Iterable[Profile]) -> Profile:
    """One profile with the runs of all `profiles`, of which there is at least one.

    Operators are the same that have the same name, type and shapes; where several do in one
    profile, they are told apart by the order of execution. What only some runs have is kept.
    """
    joiner = RunJoiner()
    for profile in profiles:
        joiner.add(profile)
    return joiner.joined()


def by_run(profile: Profile) -> Profile:
    """The same operators as if each run were another part of one: a row for each in each run.

    Only where a run has a time of it. `run_of` says which run a row is of.
    """
    is_there = np.zeros((profile.runs, len(profile)), np.bool_)
    sides = (profile.device.lanes, profile.host.lanes)
    for lanes in sides:
        is_there[lanes.run, lanes.operator] = True
    run_of, operators = np.nonzero(is_there)
    row_of = np.empty(is_there.shape, np.int64)  # read only where an operator is there
    row_of[is_there] = np.arange(len(operators))
    device, host = (
        Timings(
            replace(
                lanes,
                operator=row_of[lanes.run, lanes.operator],
                run=np.zeros(len(lanes.run), np.int64),
            ),
            operators=len(operators),
        )
        for lanes in sides
    )
    return Profile(
        file=profile.file,
        source=profile.source,
        device=device,
        host=host,
        notes=profile.notes,
        files=profile.run_files,
        run_of=run_of,
        **taken(facts_of(profile), operators),
    )

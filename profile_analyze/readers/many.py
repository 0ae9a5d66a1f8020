"""From many files to one profile with their runs, by several processes where that pays."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

from profile_analyze.collector import collector_paused
from profile_analyze.errors import InputError
from profile_analyze.model.operators import OPTIONAL_COLUMNS
from profile_analyze.model.runs import IDENTITY_COLUMNS, RunJoiner
from profile_analyze.readers.content import MAX_SIZE
from profile_analyze.readers.forked import Forked, ProcessDiedError
from profile_analyze.readers.loading import profile_in, together_in
from profile_analyze.readers.source import Source
from profile_analyze.units import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
    from os import PathLike
    from typing import TypeAlias

    from profile_analyze.model.profile import Profile
    from profile_analyze.model.runs import Partial

    Paths: TypeAlias = Sequence[str | PathLike[str]]
    # how many files a step is of, and what is wrong with those that could not be read
    _Step: TypeAlias = tuple[int, tuple[InputError, ...]]
    _Steps: TypeAlias = Callable[[RunJoiner, Paths], Iterator[_Step]]

_MANY: Final = 100
"""So many files are read by several processes: to start them takes a twentieth of a second."""
_FILES_OF_A_PART: Final = 25
_AT_ONCE: Final = 1 << 20
"""Bytes of files that are decoded together: so many that NumPy's calls cost little for each, and
so few that the processor's caches hold what they are decoded to."""


def load_runs(
    paths: Paths,
    *,
    wanted: Collection[str] = OPTIONAL_COLUMNS,
    skip_bad: bool = False,
    progress: Callable[[int], None] | None = None,
    processes: int = 1,
    max_size: int = MAX_SIZE,
) -> Profile:
    """One profile with the runs in all the files `paths`: those of one graph, see `join_runs`.

    They are read a few at a time, and only what is kept of each stays in memory. With more
    `processes`, each of them reads some of the files so, if they are many, or a part of a large
    file; they are forked. `progress` is called now and then with the number of files that were
    read. With `skip_bad`, files that cannot be read are left out and named in a note. `max_size`
    is that of each file, see `load`.

    Raises as `load`, and `InputError` also if all files were left out.
    """
    ahead = RunsAhead(paths, wanted, processes, max_size=max_size)
    return ahead.profile(skip_bad=skip_bad, progress=progress)


class RunsAhead:
    """The runs in several files; with more `processes` they are read while something else is done.

    See `load_runs`.
    """

    def __init__(
        self,
        paths: Paths,
        wanted: Collection[str],
        processes: int,
        *,
        max_size: int = MAX_SIZE,
    ) -> None:
        """Begin to read, if several processes are to; errors wait for `profile`."""
        self._paths = paths
        needed = frozenset({*wanted, *IDENTITY_COLUMNS})
        by_several = processes > 1 and len(paths) >= _MANY
        self._steps: _Steps = partial(
            _steps, wanted=needed, processes=1 if by_several else processes, max_size=max_size
        )
        self._parts = [
            paths[start : start + _FILES_OF_A_PART]
            for start in range(0, len(paths), _FILES_OF_A_PART)
        ]
        self._workers: list[Forked[_Part]] = []
        if by_several:
            read = partial(_read, steps=self._steps)
            self._workers = _started(read, self._parts, min(processes, len(self._parts)))

    def __len__(self) -> int:
        """How many files there are."""
        return len(self._paths)

    def profile(
        self, *, skip_bad: bool = False, progress: Callable[[int], None] | None = None
    ) -> Profile:
        """One profile with all of them; to be asked once. Raises as `load_runs`."""
        joiner = RunJoiner()
        bad: list[InputError] = []
        read = 0
        steps = self._by_processes if self._workers else self._steps
        for files, errors in steps(joiner, self._paths):
            bad += errors
            if errors and (not skip_bad or len(bad) == len(self._paths)):
                raise bad[0]
            read += files
            if progress is not None:
                progress(read)
        return joiner.joined(tuple(_on_bad_files(bad)))

    def _by_processes(self, joiner: RunJoiner, _: Paths) -> Iterator[_Step]:
        """Have `joiner` take what the processes found that read the files."""
        try:
            for place, paths in enumerate(self._parts):
                part = _received(self._workers[place % len(self._workers)], paths)
                if part.partial is not None:
                    joiner.take(part.partial)
                yield part.files, part.bad
        finally:
            _end(self._workers)


def _on_bad_files(bad: Sequence[InputError]) -> Iterator[str]:
    if bad:
        more = f"; and {len(bad) - 1} more" if len(bad) > 1 else ""
        yield f"left out {counted(len(bad), 'file')} that cannot be read: {bad[0]}{more}"


class _Part(NamedTuple):
    """What was read of some files, and which of them could not be."""

    partial: Partial | None
    bad: tuple[InputError, ...]
    files: int


def _started(
    read: Callable[[Paths], _Part], parts: Sequence[Paths], count: int
) -> list[Forked[_Part]]:
    """So many processes, each of which reads every so-manieth of `parts`.

    None where the system lets none more begin: then this one reads.
    """
    workers: list[Forked[_Part]] = []
    try:
        for first in range(count):
            workers.append(Forked(partial(map, read, parts[first::count]), workers))
    except OSError:
        _end(workers)
        return []
    return workers


def _end(workers: Iterable[Forked[_Part]]) -> None:
    for worker in workers:
        worker.end()


def _received(worker: Forked[_Part], part: Paths) -> _Part:
    try:
        return worker.receive()
    except (ProcessDiedError, MemoryError):
        reason = "the process that read this or one of the next files died: out of memory?"
        raise InputError(os.fspath(part[0]), reason) from None


def _read(paths: Paths, steps: _Steps) -> _Part:
    joiner = RunJoiner()
    bad = [error for _, errors in steps(joiner, paths) for error in errors]
    return _Part(joiner.partial(), tuple(bad), len(paths))


def _steps(
    joiner: RunJoiner, paths: Paths, *, wanted: Collection[str], processes: int, max_size: int
) -> Iterator[_Step]:
    """Have `joiner` take what is in the files, in their order."""
    for group in _groups(_source(path, max_size) for path in paths):
        files, errors = len(group), _taken(joiner, group, wanted, processes)
        del group  # before the next is read
        yield files, errors


def _taken(
    joiner: RunJoiner,
    group: Sequence[Source | InputError],
    wanted: Collection[str],
    processes: int,
) -> tuple[InputError, ...]:
    """Have `joiner` take what is in `group`; the errors of what cannot be read."""
    sound = [source for source in group if isinstance(source, Source)]
    with collector_paused():
        together = together_in(sound, wanted) if len(sound) > 1 else None
        if together is not None:
            joiner.add(together.profile, together.file_of, together.notes)
            return tuple(error for error in group if isinstance(error, InputError))
        added = [_added(joiner, source, wanted, processes) for source in group]
    return tuple(error for error in added if error is not None)


def _source(path: str | PathLike[str], max_size: int) -> Source | InputError:
    """Return the source of a file; a small one has been read, which may have failed."""
    source = Source(path, max_size=max_size)
    try:
        source.size_up_to(_AT_ONCE + 1)
    except InputError as error:
        return error
    return source


def _groups(sources: Iterable[Source | InputError]) -> Iterator[list[Source | InputError]]:
    """Yield a few small files together, and a large one alone."""
    group: list[Source | InputError] = []
    size = 0
    for source in sources:
        more = source.size_up_to(_AT_ONCE + 1) if isinstance(source, Source) else 0
        if group and size + more > _AT_ONCE:
            yield group
            group, size = [], 0
        group.append(source)
        size += more
        is_bad = isinstance(source, InputError)  # which is told before another is waited for
        del source  # before the next is read
        if is_bad or size >= _AT_ONCE:
            yield group
            group, size = [], 0
    if group:
        yield group


def _added(
    joiner: RunJoiner, source: Source | InputError, wanted: Collection[str], processes: int
) -> InputError | None:
    """Have `joiner` take what is in `source`; the error if that cannot be read."""
    if isinstance(source, InputError):
        return source
    try:
        joiner.add(profile_in(source, wanted, processes=processes))
    except InputError as error:
        return error
    return None

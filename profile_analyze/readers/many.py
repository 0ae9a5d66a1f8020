"""From many files to one profile with their runs, by several processes where that pays."""

from __future__ import annotations

import os
import signal
from contextlib import contextmanager, suppress
from functools import partial
from threading import Thread
from typing import TYPE_CHECKING, Final, NamedTuple

from profile_analyze.errors import InputError
from profile_analyze.gc_pause import gc_paused
from profile_analyze.model.operators import OPTIONAL_COLUMNS
from profile_analyze.model.runs import IDENTITY_COLUMNS, RunJoiner
from profile_analyze.readers.content import MAX_SIZE
from profile_analyze.readers.loading import profile_in, together_in
from profile_analyze.readers.source import Source
from profile_analyze.units import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
    from concurrent.futures import Future
    from os import PathLike
    from typing import TypeAlias

    from profile_analyze.model.profile import Profile
    from profile_analyze.model.runs import Partial

    Paths: TypeAlias = Sequence[str | PathLike[str]]
    # the number of files in a step, and the errors of those that could not be read
    _Step: TypeAlias = tuple[int, tuple[InputError, ...]]
    _Steps: TypeAlias = Callable[[RunJoiner, Paths], Iterator[_Step]]

_MANY: Final = 100
"""The number of files from which several processes read: starting them takes 0.05 s."""
_FILES_OF_A_PART: Final = 25
_SIZE_OF_A_PART: Final = 8 << 20  # bytes
_AT_ONCE: Final = 1 << 20
"""The size in bytes of the files that are decoded together: large enough that NumPy's calls cost
little for each file, and small enough that the decoded values fit into the processor's caches."""


def load_runs(
    paths: Paths,
    *,
    wanted: Collection[str] = OPTIONAL_COLUMNS,
    skip_bad: bool = False,
    progress: Callable[[int], None] | None = None,
    processes: int = 1,
    max_size: int = MAX_SIZE,
) -> Profile:
    """Return one profile with the runs in all files `paths`, which are of one graph: `join_runs`.

    The files are read a few at a time, and only the joined profile stays in memory. With more
    `processes`, a pool of them reads 100 files or more. `progress` is called now and then with the
    number of files that were read. With `skip_bad`, files that cannot be read are left out and
    named in a note. `max_size` applies to each file, see `load`.

    Raises the errors of `load`, and `InputError` also if all files were left out.
    """
    needed = frozenset({*wanted, *IDENTITY_COLUMNS})
    steps: _Steps = partial(_steps, wanted=needed, max_size=max_size)
    if processes == 1 or len(paths) < _MANY:
        return _joined(steps, paths, skip_bad=skip_bad, progress=progress)
    try:
        pool = _Pool(paths, steps, processes)
    except OSError:  # no more processes can start: this one reads
        return _joined(steps, paths, skip_bad=skip_bad, progress=progress)
    try:
        return _joined(pool.steps, paths, skip_bad=skip_bad, progress=progress)
    finally:
        pool.end()


def _joined(
    steps: _Steps, paths: Paths, *, skip_bad: bool, progress: Callable[[int], None] | None
) -> Profile:
    """Return one profile with the runs in all files that the steps read."""
    joiner = RunJoiner()
    bad: list[InputError] = []
    read = 0
    for files, errors in steps(joiner, paths):
        bad += errors
        if errors and (not skip_bad or len(bad) == len(paths)):
            raise bad[0]
        read += files
        if progress is not None:
            progress(read)
    return joiner.joined(tuple(_on_bad_files(bad)))


def _on_bad_files(bad: Sequence[InputError]) -> Iterator[str]:
    if bad:
        more = f"; and {len(bad) - 1} more" if len(bad) > 1 else ""
        yield f"left out {counted(len(bad), 'file')} that cannot be read: {bad[0]}{more}"


class _Part(NamedTuple):
    """The partial result of some files, and the errors of those that could not be read."""

    partial: Partial | None
    bad: tuple[InputError, ...]
    files: int


class _Pool:
    """Processes that read a few files at a time."""

    def __init__(self, paths: Paths, steps: _Steps, processes: int) -> None:
        """Start to read. Raises `OSError` if the system lets no process start."""
        # not at the top: most calls read few files, and these take 0.03 s to import
        from concurrent.futures import ProcessPoolExecutor
        from multiprocessing import active_children, get_all_start_methods, get_context

        # forked processes start at once; others import NumPy first
        method = "fork" if "fork" in get_all_start_methods() else None
        self._executor = ProcessPoolExecutor(
            processes, mp_context=get_context(method), initializer=_begin_worker
        )
        others = active_children()
        try:
            with _interrupts_delayed():
                self._parts: list[tuple[Paths, Future[_Part]]] = [
                    (part, self._executor.submit(_read, part, steps)) for part in _parts(paths)
                ]
        except OSError:
            for worker in set(active_children()) - set(others):
                worker.terminate()  # it waits for work that it was not given yet
            raise

    def steps(self, joiner: RunJoiner, _: Paths) -> Iterator[_Step]:
        """Merge the partial results into `joiner`, in the order of the files."""
        from concurrent.futures.process import BrokenProcessPool

        while self._parts:  # each is forgotten once it is merged
            paths, future = self._parts.pop(0)
            try:
                part = future.result()
            except (BrokenProcessPool, MemoryError):
                reason = "the process that read this or one of the next files died: out of memory?"
                raise InputError(os.fspath(paths[0]), reason) from None
            if part.partial is not None:
                joiner.merge(part.partial)
            yield part.files, part.bad

    def end(self) -> None:
        """End the processes once they have read the parts that they have begun.

        They are not killed: that could happen while one of them sends a result, for the rest of
        which this process would wait for ever.
        """
        with _interrupts_delayed():
            self._executor.shutdown(cancel_futures=True)


def _parts(paths: Paths) -> Iterator[Paths]:
    """Yield `paths` in parts: a few small files together, and large ones alone."""
    part: list[str | PathLike[str]] = []
    size = 0
    for path in paths:
        part.append(path)
        with suppress(OSError, ValueError):  # whoever reads the file says what is wrong with it
            size += os.stat(path).st_size  # noqa: PTH116  # `path` may be any text
        if len(part) >= _FILES_OF_A_PART or size >= _SIZE_OF_A_PART:
            yield part
            part, size = [], 0
    if part:
        yield part


@contextmanager
def _interrupts_delayed() -> Iterator[None]:
    """Have Ctrl-C wait until the block is over. Processes that start in it do not hear it."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin_worker() -> None:
    """Leave Ctrl-C to the parent process, and end as soon as that is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    from multiprocessing import parent_process

    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _read(paths: Paths, steps: _Steps) -> _Part:
    joiner = RunJoiner()
    bad = [error for _, errors in steps(joiner, paths) for error in errors]
    return _Part(joiner.partial(), tuple(bad), len(paths))


def _steps(
    joiner: RunJoiner, paths: Paths, *, wanted: Collection[str], max_size: int
) -> Iterator[_Step]:
    """Have `joiner` take what is in the files, in their order."""
    for group in _groups(_source(path, max_size) for path in paths):
        files, errors = len(group), _taken(joiner, group, wanted)
        del group  # before the next is read
        yield files, errors


def _taken(
    joiner: RunJoiner,
    group: Sequence[Source | InputError],
    wanted: Collection[str],
) -> tuple[InputError, ...]:
    """Have `joiner` take what is in `group`; the errors of what cannot be read."""
    sound = [source for source in group if isinstance(source, Source)]
    with gc_paused():
        together = together_in(sound, wanted) if len(sound) > 1 else None
        if together is not None:
            joiner.add(together.profile, together.file_of, together.notes)
            return tuple(error for error in group if isinstance(error, InputError))
        added = [_added(joiner, source, wanted) for source in group]
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
    joiner: RunJoiner, source: Source | InputError, wanted: Collection[str]
) -> InputError | None:
    """Have `joiner` take what is in `source`; the error if that cannot be read."""
    if isinstance(source, InputError):
        return source
    try:
        joiner.add(profile_in(source, wanted))
    except InputError as error:
        return error
    return None

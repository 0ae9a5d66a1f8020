"""From many files to one profile with their runs, by several processes where that pays."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

from profile_analyze.collector import collector_paused
from profile_analyze.errors import InputError
from profile_analyze.model.profile import DETAILS
from profile_analyze.model.runs import IDENTITY_DETAILS, RunJoiner
from profile_analyze.readers.loading import load
from profile_analyze.units import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence
    from multiprocessing.connection import Connection
    from os import PathLike
    from typing import TypeAlias

    from profile_analyze.model.profile import Profile

    Paths: TypeAlias = Sequence[str | PathLike[str]]

_FILES_OF_A_PART: Final = 25


def load_runs(
    paths: Paths,
    *,
    details: Collection[str] = DETAILS,
    skip_bad: bool = False,
    progress: Callable[[int], None] | None = None,
    processes: int = 1,
) -> Profile:
    """One profile with the runs in all the files `paths`: those of one graph, see `join_runs`.

    They are read one after another, and only what is kept of each is in memory. With more
    `processes`, each of them reads some of the files so; they are forked. `progress` is called now
    and then with the number of files that were read. With `skip_bad`, files that cannot be read
    are left out and named in a note.

    Raises as `load`, and `InputError` also if all files were left out.
    """
    joiner = RunJoiner()
    bad: list[InputError] = []
    read = 0
    for files, errors in _steps(joiner, paths, {*details, *IDENTITY_DETAILS}, processes):
        bad += errors
        if errors and (not skip_bad or len(bad) == len(paths)):
            raise bad[0]
        read += files
        if progress is not None:
            progress(read)
    if not paths:
        raise InputError("", "no file was named")
    return joiner.joined(tuple(_on_bad_files(bad)))


def _on_bad_files(bad: Sequence[InputError]) -> Iterator[str]:
    if bad:
        more = f"; and {len(bad) - 1} more" if len(bad) > 1 else ""
        yield f"left out {counted(len(bad), 'file')} that cannot be read: {bad[0]}{more}"


def _steps(
    joiner: RunJoiner, paths: Paths, details: Collection[str], processes: int
) -> Iterator[tuple[int, tuple[InputError, ...]]]:
    """Have `joiner` take what is in `paths`, in their order, some at a time.

    How many files each step is of, and what is wrong with those that could not be read.
    """
    if processes == 1 or len(paths) <= _FILES_OF_A_PART:
        for path in paths:
            error = _added(joiner, path, details)
            yield 1, () if error is None else (error,)
        return
    parts = [
        paths[start : start + _FILES_OF_A_PART] for start in range(0, len(paths), _FILES_OF_A_PART)
    ]
    read = partial(_read, details=details)
    for part in _by_processes(read, parts, min(processes, len(parts))):
        joiner.merge(part.joiner)
        yield part.files, part.bad


class _Part(NamedTuple):
    """What was read of some files, and which of them could not be."""

    joiner: RunJoiner
    bad: tuple[InputError, ...]
    files: int


def _by_processes(
    read: Callable[[Paths], _Part], parts: Sequence[Paths], count: int
) -> Iterator[_Part]:
    """What `read` makes of each of `parts`, in their order; each process takes every so-manieth."""
    from multiprocessing import get_context

    context = get_context("fork")
    workers = []
    try:
        for first in range(count):
            receiver, sender = context.Pipe(duplex=False)
            share = parts[first::count]
            worker = context.Process(target=_work, args=(read, share, sender), daemon=True)
            worker.start()
            workers.append((worker, receiver))
            sender.close()  # so that its end is seen when the worker ends
        for place, part in enumerate(parts):
            yield _received(workers[place % count][1], part)
    finally:
        for worker, receiver in workers:
            receiver.close()
            worker.kill()
            worker.join()


def _received(receiver: Connection, part: Paths) -> _Part:
    try:
        found: _Part = receiver.recv()
    except EOFError:
        reason = "the process that read this or one of the next files died: out of memory?"
        raise InputError(os.fspath(part[0]), reason) from None
    return found


def _work(read: Callable[[Paths], _Part], parts: Sequence[Paths], sender: Connection) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends this one
    with suppress(OSError, MemoryError):  # the parent is gone, or will see that this one is
        for part in parts:
            sender.send(read(part))


def _read(paths: Paths, details: Collection[str]) -> _Part:
    joiner = RunJoiner()
    bad = [error for path in paths if (error := _added(joiner, path, details)) is not None]
    return _Part(joiner, tuple(bad), len(paths))


def _added(
    joiner: RunJoiner, path: str | PathLike[str], details: Collection[str]
) -> InputError | None:
    """Have `joiner` take what is in the file `path`; the error if that cannot be read."""
    try:
        with collector_paused():
            joiner.add(load(path, details=details))
    except InputError as error:
        return error
    return None

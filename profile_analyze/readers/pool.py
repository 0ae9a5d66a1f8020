"""Reads many files in a pool of processes."""

from __future__ import annotations

import os
import pickle
import signal
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from multiprocessing import active_children, get_all_start_methods, get_context, parent_process
from shutil import rmtree
from tempfile import mkdtemp
from threading import Thread
from typing import TYPE_CHECKING, Final

from profile_analyze.errors import InputError
from profile_analyze.model.runs import RunJoiner

if TYPE_CHECKING:
    from collections.abc import Iterator
    from concurrent.futures import Future
    from os import PathLike
    from typing import TypeAlias

    from profile_analyze.model.runs import Partial
    from profile_analyze.readers.many import Paths, ReadFiles, Step

    _PartResult: TypeAlias = tuple[Partial | None, tuple[InputError, ...]]

# A part ends at the limit that it reaches first. Parts are large enough for sending their results
# to cost little, and small enough to keep all processes busy until the end.
_FILES_PER_PART: Final = 25
_BYTES_PER_PART: Final = 8 << 20


class ReaderPool:
    """A pool of processes that read parts of a few files each.

    Workers write results to temporary files, and send only the names through the executor's pipe.
    If a worker were killed while it sends a long result, the executor would wait for ever.
    """

    def __init__(self, paths: Paths, read_files: ReadFiles, processes: int) -> None:
        """Start reading. Raises `OSError` if the system cannot start enough processes."""
        # Forked processes start at once. Others would import NumPy first.
        method = "fork" if "fork" in get_all_start_methods() else None
        self._folder = mkdtemp(prefix="profile_analyze.")
        self._executor = ProcessPoolExecutor(
            processes,
            mp_context=get_context(method),
            initializer=_begin_worker,
            initargs=(self._folder,),
        )
        children_before = active_children()
        try:
            with _interrupts_delayed():
                self._parts: list[tuple[Paths, Future[str]]] = [
                    (part, self._executor.submit(_write_result, file, part, read_files))
                    for number, part in enumerate(_parts(paths))
                    for file in [os.path.join(self._folder, str(number))]  # noqa: PTH118
                ]
        except OSError:
            # Workers that have started would wait for ever for work that is never sent.
            for worker in set(active_children()) - set(children_before):
                worker.terminate()
            rmtree(self._folder, ignore_errors=True)
            raise

    def merge_into(self, joiner: RunJoiner) -> Iterator[Step]:
        """Merge the partial results into `joiner`, in the order of the files."""
        while self._parts:  # popping a part frees its result once it is merged
            paths, future = self._parts.pop(0)
            try:
                partial, errors = _read_result(future.result())
            except (BrokenProcessPool, MemoryError):
                reason = "the process that read this or one of the next files died: out of memory?"
                raise InputError(os.fspath(paths[0]), reason) from None
            if partial is not None:
                joiner.merge(partial)
            yield len(paths), errors

    def shut_down(self) -> None:
        """Cancel the parts that no process has begun, and wait for the others."""
        with _interrupts_delayed():  # Ctrl-C here would leave the folder behind
            self._executor.shutdown(cancel_futures=True)
            rmtree(self._folder, ignore_errors=True)


def _parts(paths: Paths) -> Iterator[Paths]:
    """Yield `paths` in parts: a few small files together, and large ones alone."""
    part: list[str | PathLike[str]] = []
    size = 0
    for path in paths:
        part.append(path)
        with suppress(OSError, ValueError):  # the process that reads the file reports the error
            size += os.stat(path).st_size  # noqa: PTH116  # `Path` changes some names
        if len(part) >= _FILES_PER_PART or size >= _BYTES_PER_PART:
            yield part
            part, size = [], 0
    if part:
        yield part


@contextmanager
def _interrupts_delayed() -> Iterator[None]:
    """Delay Ctrl-C until the block ends. Processes that start in the block never receive it."""
    if not hasattr(signal, "pthread_sigmask"):  # on Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin_worker(folder: str) -> None:
    """Leave Ctrl-C to the parent process, and end as soon as the parent does."""
    # Windows cannot block the signal while a process starts: see `_interrupts_delayed`.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_with_parent, args=(folder,), daemon=True).start()


def _end_with_parent(folder: str) -> None:
    """Wait until the parent process ends, then remove its folder and end this process."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        # Only a parent that was killed ends before its workers do. It did not clean up.
        rmtree(folder, ignore_errors=True)
        os._exit(1)


def _write_result(file: str, paths: Paths, read_files: ReadFiles) -> str:
    """Write the result of a part to `file`, and return its name."""
    with open(file, "wb") as stream:  # noqa: PTH123
        pickle.dump(_read_part(paths, read_files), stream, pickle.HIGHEST_PROTOCOL)
    return file


def _read_result(file: str) -> _PartResult:
    """Return the result of a part, and remove its file."""
    with open(file, "rb") as stream:  # noqa: PTH123
        result: _PartResult = pickle.load(stream)  # safe: one of our own processes wrote it
    os.unlink(file)  # noqa: PTH108
    return result


def _read_part(paths: Paths, read_files: ReadFiles) -> _PartResult:
    """Return the partial result of a part, and the errors of files that cannot be read."""
    joiner = RunJoiner()
    errors = [error for _, of_step in read_files(joiner, paths) for error in of_step]
    return joiner.partial(), tuple(errors)

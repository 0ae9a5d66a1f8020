"""Reads many files in several processes."""

from __future__ import annotations

import os
import signal
from contextlib import contextmanager, suppress
from itertools import cycle
from multiprocessing import current_process, get_all_start_methods, get_context
from threading import current_thread, main_thread
from typing import TYPE_CHECKING, Final, NamedTuple

from profile_analyze.errors import InputError
from profile_analyze.model.joining.runs import RunJoiner

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from multiprocessing.connection import Connection
    from multiprocessing.context import ForkProcess
    from os import PathLike
    from typing import TypeAlias

    from profile_analyze.model.joining.runs import Partial
    from profile_analyze.readers.base import Paths, ReadFiles, Step

    PartResult: TypeAlias = tuple[Partial | None, tuple[InputError, ...]]

# The work is divided into parts. A part ends when it reaches one of these limits. They are large
# enough that sending results costs little, and small enough that all processes are busy until the
# end.
FILES_PER_PART: Final = 25
_BYTES_PER_PART: Final = 8 << 20


class _Worker(NamedTuple):
    process: ForkProcess
    results: Connection
    """Receives the results of the worker's parts in order, or the error that ended the worker."""


class ReaderPool:
    """Processes that read a few files at a time: worker i of n reads parts i, i + n, ...

    Each worker has a pipe of its own, which closes when the worker ends. `ProcessPoolExecutor` is
    not used, because all its workers share one pipe: if a worker is killed while it sends a result,
    the executor waits forever.
    """

    def __init__(self, paths: Paths, read_files: ReadFiles, processes: int) -> None:
        """Start to read. Raises `OSError` if the system cannot start enough processes."""
        # Only forked processes start fast, as they need not import NumPy first. Daemons, such as
        # the workers of `multiprocessing.Pool`, must not start processes.
        if "fork" not in get_all_start_methods() or current_process().daemon:
            raise BlockingIOError("no process can be forked here")
        self._parts = list(parts_of(paths))
        self._workers: list[_Worker] = []
        count = min(processes, len(self._parts))
        try:
            with interrupts_delayed():
                for first in range(count):
                    self._start_worker(self._parts[first::count], read_files)
        except BaseException:  # for example a delayed Ctrl-C
            self.shut_down()
            raise

    def _start_worker(self, parts: Sequence[Paths], read_files: ReadFiles) -> None:
        context = get_context("fork")
        results, sender = context.Pipe(duplex=False)
        unused = [results, *(worker.results for worker in self._workers)]
        process = context.Process(
            target=_send_results,
            args=(parts, read_files, sender, unused),
            # As a daemon, the worker also ends if Ctrl-C comes before `shut_down` can be called.
            daemon=True,
        )
        try:
            process.start()
        except OSError:
            results.close()
            raise
        finally:
            sender.close()  # so that the pipe closes when the worker ends
        self._workers.append(_Worker(process, results))

    def merge_into(self, joiner: RunJoiner) -> Iterator[Step]:
        """Merge the partial results into `joiner`, in the order of the files."""
        for paths, worker in zip(self._parts, cycle(self._workers)):
            partial, errors = _receive(worker, paths)
            if partial is not None:
                joiner.merge(partial)
            yield len(paths), errors

    def shut_down(self) -> None:
        """End all workers, even if they are still reading."""
        with interrupts_delayed():
            for worker in self._workers:
                worker.process.kill()
            for worker in self._workers:
                worker.process.join()
                worker.process.close()
                worker.results.close()


def parts_of(paths: Paths, times: int = 1) -> Iterator[Paths]:
    """Yield `paths` in parts of `FILES_PER_PART` files or about `_BYTES_PER_PART` bytes.

    `times` multiplies both limits.
    """
    part: list[str | PathLike[str]] = []
    size = 0
    for path in paths:
        part.append(path)
        with suppress(OSError, ValueError):  # the process that reads the file reports the error
            size += os.stat(path).st_size  # noqa: PTH116  # `Path` changes some names
        if len(part) >= times * FILES_PER_PART or size >= times * _BYTES_PER_PART:
            yield part
            part, size = [], 0
    if part:
        yield part


def _receive(worker: _Worker, paths: Paths) -> PartResult:
    """Return the worker's next result, which is for the files in `paths`.

    Raises the error that the worker sent, or `InputError` if the worker died.
    """
    reason = "the process that read this or one of the next files died: out of memory?"
    died = InputError(os.fspath(paths[0]), reason)
    try:
        result: PartResult | Exception = worker.results.recv()
    except (EOFError, OSError, MemoryError):  # `OSError` if the worker died while sending
        raise died from None
    if isinstance(result, MemoryError):
        raise died
    if isinstance(result, Exception):
        raise result
    return result


@contextmanager
def interrupts_delayed() -> Iterator[None]:
    """Delay Ctrl-C until the end of the block. Processes started in the block never get Ctrl-C."""
    with _interrupt_raised_later():
        if not hasattr(signal, "pthread_sigmask"):  # Windows, where no process is forked
            yield
            return
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            yield
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _interrupt_raised_later() -> Iterator[None]:
    """Delay an interrupt that another thread gets, such as a thread of pyarrow or of fsspec.

    A thread can block signals only for itself, but Python calls handlers in the main thread.
    """
    handler = signal.getsignal(signal.SIGINT)
    if current_thread() is not main_thread() or handler is None:
        yield
        return
    interrupts: list[int] = []
    signal.signal(signal.SIGINT, lambda number, _: interrupts.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        if interrupts:
            signal.raise_signal(signal.SIGINT)


def _send_results(
    parts: Iterable[Paths],
    read_files: ReadFiles,
    sender: Connection,
    unused: Iterable[Connection],
) -> None:
    """Run a worker: read the parts and send their results."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent process ends the workers
    # If these receivers stayed open, sending would not fail after the parent has ended.
    for receiver in unused:
        receiver.close()
    # These errors need no report: either the parent has ended, or it notices the closed pipe.
    with suppress(OSError, MemoryError):
        try:
            for paths in parts:
                sender.send(read_part(paths, read_files))
        except Exception as error:  # the parent raises it
            sender.send(error)


def read_part(paths: Paths, read_files: ReadFiles, *, within: str = "") -> PartResult:
    """Return the partial result of a part, and the errors of files that cannot be read."""
    joiner = RunJoiner()
    steps = read_files(joiner, paths, within=within)
    errors = [error for _, of_step in steps for error in of_step]
    return joiner.partial(), tuple(errors)

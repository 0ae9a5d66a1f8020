"""Reads many files with the workers of a Dask cluster."""

from __future__ import annotations

import os
from collections import deque
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Final

from distributed import KilledWorker
from distributed import TimeoutError as DaskTimeoutError

from profile_analyze.errors import EngineError, InputError
from profile_analyze.readers.input.pool import FILES_PER_PART, parts_of, read_part
from profile_analyze.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Iterator

    from distributed import Client, Future

    from profile_analyze.model.joining.runs import RunJoiner
    from profile_analyze.readers.base import Paths, ReadFiles, Step
    from profile_analyze.readers.input.pool import PartResult

_PARTS_PER_THREAD: Final = 4
"""How many parts are submitted at a time for each thread of the workers. Results wait on the
workers until all earlier parts are merged, so this number also limits the memory of the results."""
_FEWEST_SUBMITTED: Final = 4
"""At least this many parts are submitted at a time, even if the workers have no threads yet."""
_LARGEST_FACTOR: Final = 4
"""Parts are up to this many times as large as in the local pool, if each thread still gets several
parts. Large parts save time: Dask takes some milliseconds for each part."""
_DIED: Final = "the workers that read this or one of the next files died: out of memory?"
_PATIENCE_S: Final = 10.0
"""After this time, the scheduler is asked whether any workers are left."""
_MOST_WAITS: Final = 3
"""After this many waits without any worker, the call fails. Dask may restart a dead worker."""


class DaskPool:
    """The workers of a Dask cluster, which read a few files at a time.

    If a worker dies, Dask reads its parts with another worker. Each part is merged once.
    """

    def __init__(self, client: Client, paths: Paths, read_files: ReadFiles, *, name: str) -> None:
        """Make a pool. `name` is the name of the cluster, for messages."""
        self._client = client
        self._name = name
        self._paths = [os.fspath(path) for path in paths]
        self._unread: Iterator[Paths] = iter(())
        self._submitted: deque[tuple[Paths, Future[PartResult]]] = deque()
        # A worker may have another current folder than this process.
        self._read = partial(_read, VERSION, read_files=read_files, within=os.getcwd())  # noqa: PTH109  # a text, not a `Path`

    def merge_into(self, joiner: RunJoiner) -> Iterator[Step]:
        """Merge the partial results into `joiner`, in the order of the files."""
        with self._dask_errors():
            threads = sum(self._client.nthreads().values())
        most = max(_FEWEST_SUBMITTED, _PARTS_PER_THREAD * threads)
        factor = len(self._paths) // (most * FILES_PER_PART)
        self._unread = parts_of(self._paths, min(max(factor, 1), _LARGEST_FACTOR))
        self._submit(most)
        while self._submitted:
            paths, future = self._submitted[0]
            partial_result, errors = self._result(paths, future)
            self._submitted.popleft()
            future.release()
            self._submit(most)
            if partial_result is not None:
                joiner.merge(partial_result)
            yield len(paths), errors

    def _submit(self, most: int) -> None:
        """Submit further parts, until `most` parts are submitted."""
        for paths in islice(self._unread, most - len(self._submitted)):
            with self._dask_errors():
                # With `pure`, Dask would reuse the result of an earlier part with the same names.
                future = self._client.submit(self._read, paths, pure=False)
            self._submitted.append((paths, future))

    def _result(self, paths: Paths, future: Future[PartResult]) -> PartResult:
        """Return the result of a part. Raises the error of the part, or `EngineError`."""
        try:
            with self._dask_errors():
                self._wait_for(future)
                result: PartResult = future.result()
        except (KilledWorker, MemoryError):
            raise InputError(os.fspath(paths[0]), _DIED) from None
        return result

    def _wait_for(self, future: Future[PartResult]) -> None:
        """Wait until a part is read. Raises `EngineError` if there are no workers any more."""
        waits = 0
        while waits < _MOST_WAITS:
            with suppress(DaskTimeoutError):
                future.exception(timeout=_PATIENCE_S)
            if future.done():
                return
            waits = 0 if self._client.nthreads() else waits + 1
        raise EngineError(f"{self._name}: all workers ended while files were read; start some")

    @contextmanager
    def _dask_errors(self) -> Iterator[None]:
        """Raise `EngineError` if Dask itself fails in the block."""
        try:
            yield
        except (CancelledError, OSError):
            raise EngineError(
                f"{self._name}: the connection was lost while files were read; look at the log of "
                "its scheduler"
            ) from None
        except (ImportError, RuntimeError) as error:  # Dask cannot unpickle a task or a result
            reason = str(error).partition("\n")[0]
            raise EngineError(
                f"{self._name}: {reason}; its scheduler, its workers and this machine need the "
                "same versions of profile_analyze, numpy and dask"
            ) from None

    def shut_down(self) -> None:
        """Cancel all parts that are not merged."""
        with suppress(CancelledError, OSError):  # without a connection, nothing is left to cancel
            self._client.cancel([future for _, future in self._submitted])
        self._submitted.clear()


def _read(version: str, paths: Paths, *, read_files: ReadFiles, within: str) -> PartResult:
    """Read a part on a worker: see `read_part`. `version` is the version of the caller."""
    if version != VERSION:  # workers that join later are not checked at the start
        raise EngineError(
            f"a worker has profile_analyze {VERSION}, and this is version {version}; install it "
            f"there: pip install 'profile_analyze[fleet]=={version}'"
        )
    return read_part(paths, read_files, within=within)

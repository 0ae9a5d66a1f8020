"""The Dask cluster that reads files: a local cluster, started here, or an existing cluster."""

from __future__ import annotations

import logging
import warnings
from contextlib import ExitStack, contextmanager, suppress
from multiprocessing import resource_tracker
from pkgutil import resolve_name
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

import dask
from dask.system import CPU_COUNT
from distributed import Client, LocalCluster
from distributed import TimeoutError as DaskTimeoutError

from profile_analyze.errors import EngineError
from profile_analyze.fleet.dask_pool import DaskPool
from profile_analyze.readers.input.pool import interrupts_delayed
from profile_analyze.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

    from profile_analyze.readers.base import Paths, ReadFiles

_VERSION: Final = "profile_analyze.version:VERSION"
_CONNECT_S: Final = 10
"""How long to wait for an existing cluster, and for its first worker."""
_START_S: Final = 120
"""How long the processes of a local cluster may take to start on a busy machine."""
_ENVIRONMENT: Final = {"PYTHONWARNINGS": "ignore", "OPENBLAS_NUM_THREADS": "1"}
"""The environment of the workers of a local cluster. Python's warnings would reach standard error.

This environment replaces Dask's own environment, which sets MALLOC_TRIM_THRESHOLD_. With that
variable, freed memory returns to the system at once, which makes reading far slower.
"""
_END_S: Final = 0.2
"""How long a worker may take to end by itself."""


class DaskEngine:
    """A Dask cluster that reads files for `load_runs`. It can serve several calls.

        with DaskEngine("tcp://host:8786") as engine:
            profile = load_runs(paths, engine=engine)

    `cluster` is the address of a scheduler, a `distributed.Client`, or None. With None, a local
    cluster of `workers` processes starts when it is first needed, and ends with the `with` block.
    Any other cluster keeps running. With `quiet`, nothing is logged and no warning is shown until
    the end of the block.
    """

    def __init__(
        self,
        cluster: str | Client | None = None,
        *,
        workers: int = CPU_COUNT,
        quiet: bool = False,
    ) -> None:
        self._cluster = cluster
        self._workers = workers
        self._client: Client | None = None
        self._quiet = quiet
        self._exit_stack = ExitStack()

    def __enter__(self) -> DaskEngine:
        if self._quiet:
            self._exit_stack.enter_context(_silence())
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._client = None
        self._exit_stack.close()

    def __call__(self, paths: Paths, read_files: ReadFiles) -> DaskPool:
        """Return a pool that reads the files. Raises `EngineError` if the cluster fails."""
        if self._client is None:
            self._client = self._started()
        return DaskPool(self._client, paths, read_files, name=self._name)

    @property
    def _name(self) -> str:
        """The name of the cluster, for messages."""
        if isinstance(self._cluster, Client):
            return f"Dask at {_address(self._cluster)}"
        return f"Dask at {self._cluster}" if self._cluster else "the local Dask cluster"

    def _started(self) -> Client:
        """Start a local cluster, or connect to the existing cluster and check it."""
        if self._cluster is None:
            return self._exit_stack.enter_context(_local_client(self._workers))
        try:
            client = self._cluster
            if not isinstance(client, Client):
                client = _ClosingClient(client)
                self._exit_stack.callback(_close, client)
            _check_workers(client, self._name)
        except (OSError, ValueError, TypeError, RuntimeError, DaskTimeoutError) as error:
            raise EngineError(
                f"{self._name}: cannot be reached: {_first_line(error)}; check the address, and "
                "that `dask scheduler` runs there"
            ) from None
        return client


class _ClosingClient(Client):
    """A client of an existing cluster that closes if it cannot start.

    Dask leaves such a client open after some errors, such as an address without a port. Garbage
    collection closes it later, perhaps in the thread that Dask starts for another client. Closing
    needs a lock that Dask holds until that thread has started. Dask gives up after 10 s.
    """

    def __init__(self, address: str) -> None:
        Client.__init__(self, address, timeout=_CONNECT_S, set_as_default=False)

    def start(self, **kwargs: Any) -> None:
        try:
            Client.start(self, **kwargs)
        except BaseException:  # also an interrupt
            Client.close(self)
            raise


@contextmanager
def _silence() -> Iterator[None]:
    """Log nothing and show no warning inside the block."""
    before = logging.root.manager.disable
    logging.disable()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(before)


@contextmanager
def _local_client(workers: int) -> Iterator[Client]:
    """Start a cluster on this machine. The end of the block ends its processes."""
    with ExitStack() as stack:
        try:
            # Scheduler and workers put their files here: Dask never removes its default folder.
            folder = stack.enter_context(TemporaryDirectory(prefix="profile_analyze-"))
            settings = {
                "temporary-directory": folder,
                "distributed.nanny.pre-spawn-environ": _ENVIRONMENT,
                # Profiling the workers takes time, and only a dashboard shows the result.
                "distributed.worker.profile.enabled": False,
            }
            stack.enter_context(dask.config.set(settings))
            # Inside `interrupts_delayed`, Dask starts a thread, which later starts all workers.
            # The thread and the workers block Ctrl-C, too. The resource tracker must run before,
            # because starting it unblocks Ctrl-C.
            resource_tracker.ensure_running()
            with interrupts_delayed():
                cluster = LocalCluster(
                    n_workers=0,
                    threads_per_worker=1,
                    processes=True,
                    memory_limit=None,  # the system decides, as it does without Dask
                    silence_logs=logging.CRITICAL,
                    # There is no dashboard. This is the address of an HTTP server that Dask starts
                    # anyway. The default port is fixed, and another program may use it.
                    scheduler_kwargs={"dashboard": False, "dashboard_address": "127.0.0.1:0"},
                )
                stack.callback(_end, cluster)
                client = Client(cluster, set_as_default=False)
                stack.callback(_close, client)
            cluster.scale(workers)
            client.wait_for_workers(workers, timeout=_START_S)
        except (OSError, RuntimeError, DaskTimeoutError) as error:
            raise EngineError(
                f"the local Dask cluster cannot start: {_first_line(error)}; read without Dask"
            ) from None
        yield client


def _end(cluster: LocalCluster) -> None:
    """End a local cluster, even if its workers are still reading."""
    with interrupts_delayed():  # so that no process is left running
        for nanny in cluster.workers.values():
            # `cluster.close` would wait for several seconds until a worker has read its part.
            with suppress(OSError, RuntimeError, DaskTimeoutError):
                cluster.sync(nanny.close, timeout=_END_S)
        cluster.close()


def _close(client: Client) -> None:
    """Close a client. Ctrl-C is delayed, so that the cluster learns that the client closed."""
    with interrupts_delayed():
        client.close()


def _check_workers(client: Client, name: str) -> None:
    """Raise `EngineError` if there are no workers, or if a process lacks this package version."""
    with suppress(DaskTimeoutError):
        client.wait_for_workers(1, timeout=_CONNECT_S)
    if not client.nthreads():
        raise EngineError(
            f"{name}: has no workers; start some with `dask worker {_address(client)}`"
        )
    try:
        # `resolve_name` is in the standard library, so it also runs where this package is missing.
        # The scheduler needs this package, too, because it unpickles all tasks.
        on_scheduler = client.run_on_scheduler(resolve_name, _VERSION)
    except ImportError as error:
        on_scheduler = error
    _check_version(on_scheduler, "scheduler", name)
    for worker, found in client.run(resolve_name, _VERSION, on_error="return").items():
        _check_version(found, f"worker {worker}", name)


def _check_version(found: Any, process: str, name: str) -> None:
    """Raise `EngineError` if `found` is an exception or another version than ours."""
    if found != VERSION:
        what = "no profile_analyze" if isinstance(found, Exception) else f"profile_analyze {found}"
        raise EngineError(
            f"{name}: its {process} has {what}, and this is version {VERSION}; install it there: "
            f"pip install 'profile_analyze[fleet]=={VERSION}'"
        )


def _address(client: Client) -> str:
    return str(client.scheduler_info()["address"])


def _first_line(error: BaseException) -> str:
    """Return the first line of the message. Dask puts details on further lines."""
    return str(error).partition("\n")[0] or type(error).__name__

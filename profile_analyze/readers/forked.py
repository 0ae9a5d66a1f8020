"""Work that another process does, forked from this one."""

from __future__ import annotations

import signal
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from multiprocessing.connection import Connection
    from types import TracebackType
    from typing import TypeAlias

T = TypeVar("T")

if TYPE_CHECKING:
    _Sent: TypeAlias = tuple[T | None, Exception | None]


class ProcessDiedError(Exception):
    """The other process ended before it sent what was waited for."""


class Forked(Generic[T]):
    """A process that works things out and sends them, one after another. It ends with the block.

    It begins with all that this process has in memory, of which nothing is copied.
    """

    def __init__(self, work: Callable[[], Iterable[T]], others: Iterable[Forked[Any]] = ()) -> None:
        """Begin with `work`, beside `others`. Raises `OSError` where none may begin."""
        from multiprocessing import current_process, get_all_start_methods, get_context

        if "fork" not in get_all_start_methods() or current_process().daemon:
            raise BlockingIOError("no process can be forked here")
        context = get_context("fork")
        self._receiver, sender = context.Pipe(duplex=False)
        unused = [self._receiver, *(other._receiver for other in others)]  # noqa: SLF001  # ours
        # a daemon is ended with this process, should an interrupt come before `end` can be called
        self._process = context.Process(target=_send_all, args=(work, sender, unused), daemon=True)
        try:
            with _interrupts_held():
                self._process.start()
        except OSError:
            self._receiver.close()
            raise
        finally:
            sender.close()  # so that its end is seen when the process ends

    def __enter__(self) -> Forked[T]:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.end()

    def receive(self) -> T:
        """The next that it worked out.

        Raises what was raised there instead, and `ProcessDiedError`.
        """
        try:
            sent: _Sent[T] = self._receiver.recv()
        except (EOFError, OSError):  # the latter where it died while it sent something
            raise ProcessDiedError from None
        found, error = sent
        if error is not None:
            try:
                raise error
            finally:  # or its traceback, which has this frame, would keep what the caller holds
                del error, sent
        return found  # type: ignore[return-value]  # None only beside an error

    def end(self) -> None:
        """End the process, whatever it does."""
        self._receiver.close()
        self._process.kill()
        self._process.join()
        self._process.close()


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Interrupts come afterwards: a process must know first what to do with them."""
    held = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, held)


def _send_all(
    work: Callable[[], Iterable[Any]], sender: Connection, unused: Iterable[Connection]
) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the other process ends this one
    for receiver in unused:  # or else nobody would tell this one that the other is gone
        receiver.close()
    with suppress(OSError, MemoryError):  # the other is gone, or will see that this one is
        try:
            for found in work():
                sender.send((found, None))
        except Exception as error:  # whatever it is, it is told where somebody waits
            sender.send((None, error))

"""Lets a process remove its temporary files before a signal such as SIGTERM ends it."""

from __future__ import annotations

import os
import signal
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

_SIGNALS = [
    getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)
]  # Windows has no SIGHUP


class TerminationError(BaseException):
    """A signal wants to end the process. Like `KeyboardInterrupt`, this is no `Exception`."""


class CleanEnd:
    """Raises `TerminationError` in a `with` block if a signal wants to end the process.

    At the end of the block, the signal then ends the process, so code after the block never runs.
    A signal that the program handles itself or ignores is left alone. Only the main thread can
    receive signals: in other threads, nothing happens.
    """

    def __init__(self) -> None:
        self._handled: list[signal.Signals] = []
        self._received: int | None = None
        self._is_raised = False
        self._is_delayed = False

    def __enter__(self) -> CleanEnd:
        """Begin to raise."""
        for number in _SIGNALS:
            if signal.getsignal(number) is signal.SIG_DFL:
                with suppress(ValueError):  # not the main thread
                    signal.signal(number, self._handle)
                    self._handled.append(number)
        return self

    def _handle(self, number: int, _: FrameType | None) -> None:
        self._received = number
        self._raise()

    def _raise(self) -> None:
        # A second signal must not interrupt the removal of files.
        if self._received is not None and not (self._is_raised or self._is_delayed):
            self._is_raised = True
            raise TerminationError

    def delay(self) -> None:
        """From now on, end the process only at the end of the block."""
        self._is_delayed = True

    @contextmanager
    def delayed(self) -> Iterator[None]:
        """Raise only at the end of this inner block."""
        self._is_delayed = True
        try:
            yield
        finally:
            self._is_delayed = False
        self._raise()

    def __exit__(self, *_: object) -> None:
        """End the process if a signal came."""
        self._is_delayed = True
        for number in self._handled:
            signal.signal(number, signal.SIG_DFL)
        if self._received is not None:
            os.kill(os.getpid(), self._received)

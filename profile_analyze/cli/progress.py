"""How far reading many files has come, for a person who waits."""

from __future__ import annotations

import sys
from contextlib import suppress
from time import monotonic
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

_PATIENCE_S: Final = 1.0
_INTERVAL_S: Final = 0.1


class Progress:
    """A line on standard error that counts files, on a terminal, when it takes over a second."""

    def __init__(self, files: int) -> None:
        self._files = files
        self._begun = 0
        self._next = monotonic() + _PATIENCE_S
        self._shown = False
        self._on_terminal = sys.stderr is not None and sys.stderr.isatty()

    def of_next(self, files: int) -> Callable[[int], None]:
        """What is to be told how many of the next `files` were read."""
        before = self._begun
        self._begun += files
        return lambda read: self._say(before + read)

    def _say(self, read: int) -> None:
        if self._on_terminal and monotonic() >= self._next:
            self._next = monotonic() + _INTERVAL_S
            self._shown = True
            self._write(f"\rread {read} of {self._files} files")

    def clear(self) -> None:
        """Take the line away."""
        if self._shown:
            self._write("\r\x1b[K")

    def _write(self, text: str) -> None:
        with suppress(OSError):
            sys.stderr.write(text)
            sys.stderr.flush()

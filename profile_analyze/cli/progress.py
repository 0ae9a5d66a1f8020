"""Progress of reading many files, for a person who waits."""

from __future__ import annotations

import sys
from contextlib import suppress
from time import monotonic
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

_DELAY_S: Final = 1.0
_INTERVAL_S: Final = 0.1


class Progress:
    """A line that counts files on standard error, if that is a terminal, after one second."""

    def __init__(self, files: int) -> None:
        self._files = files
        self._files_before = 0
        self._next = monotonic() + _DELAY_S
        self._shown = False
        self._on_terminal = sys.stderr is not None and sys.stderr.isatty()

    def counter_of_next(self, files: int) -> Callable[[int], None]:
        """Return a function to call with how many of the next `files` files have been read."""
        before = self._files_before
        self._files_before += files
        return lambda read: self._update(before + read)

    def _update(self, read: int) -> None:
        if self._on_terminal and monotonic() >= self._next:
            self._next = monotonic() + _INTERVAL_S
            self._shown = True
            # The line needs no clearing: the number only grows, so that each text covers the last.
            self._write(f"\rread {read} of {self._files} files")

    def clear(self) -> None:
        """Remove the line."""
        if self._shown:
            self._write("\r\x1b[K")  # to the start of the line, and erase it

    def _write(self, text: str) -> None:
        with suppress(OSError):
            sys.stderr.write(text)
            sys.stderr.flush()

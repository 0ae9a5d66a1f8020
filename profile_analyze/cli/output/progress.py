"""Shows the progress of slow steps in a line on the terminal, and erases the line afterwards."""

from __future__ import annotations

import sys
from contextlib import contextmanager, suppress
from time import monotonic
from typing import TYPE_CHECKING, Final

from profile_analyze.cli.output.messages import say
from profile_analyze.cli.output.terminal import terminal_width
from profile_analyze.units import scaled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_DELAY_S: Final = 1.0
_INTERVAL_S: Final = 0.1
_PLAIN_RATE: Final = 10
"""From this number of files per second on, the rate has no decimals."""
_MOST_SECONDS: Final = 100
_MOST_MINUTES: Final = 100
"""Longer durations are shown in the next larger unit."""
_LONG_DECODING: Final = 128 << 20
"""The size in bytes of a file that takes about a second to decode."""


class StatusLine:
    """A line on standard error. It is shown only if standard error is a terminal."""

    def __init__(self) -> None:
        self._width = terminal_width(sys.stderr)
        self.is_shown = False

    @property
    def is_possible(self) -> bool:
        """Whether standard error is a terminal."""
        return self._width is not None

    def show(self, text: str) -> None:
        """Replace the text of the line by `text`."""
        if self._width is None:
            return
        self.is_shown = True
        # Go to the start of the line, write the text, and erase the rest of the line. The text is
        # cut to the width of the terminal, because a wrapped text could not be replaced.
        self._write(f"\r{text[: self._width - 1]}\x1b[K")

    def clear(self) -> None:
        """Erase the line."""
        if self.is_shown:
            self._write("\r\x1b[K")
            self.is_shown = False

    def _write(self, text: str) -> None:
        with suppress(OSError):
            sys.stderr.write(text)
            sys.stderr.flush()


@contextmanager
def status_line(prefix: str, announcement: str) -> Iterator[Callable[[str], None]]:
    """Yield a function that shows `prefix` and a text. The end of the block erases both.

    If standard error is not a terminal, the first call of the function prints the note
    `announcement` instead. Otherwise, users might think that the command hangs.
    """
    line = StatusLine()
    is_announced = line.is_possible

    def show(text: str) -> None:
        nonlocal is_announced
        if not is_announced:
            say("note", [announcement])
            is_announced = True
        line.show(f"{prefix}{text}")

    try:
        yield show
    finally:
        line.clear()


class Progress:
    """A status line that shows how much has been read. It appears after one second."""

    def __init__(self, files: int) -> None:
        self._files = files
        self._files_before = 0
        self._start = monotonic()
        self._next = self._start + _DELAY_S
        self._line = StatusLine()

    def counter_of_next(self, files: int) -> Callable[[int], None]:
        """Return a function that shows the progress while the next `files` files are read.

        The function takes the number of these files that have been read so far.
        """
        before = self._files_before
        self._files_before += files
        return lambda read: self._update(lambda now: self._files_text(before + read, now))

    def add_data_set(self, files: int) -> None:
        """Count the files in a data set instead of the data set, which was counted as one file."""
        self._files += files - 1
        self._files_before += files - 1

    def _files_text(self, read: int, now: float) -> str:
        """Return how many files have been read, at which rate, and how long the rest may take."""
        text = f"read {read} of {self._files} files"
        rate = read / (now - self._start) if now > self._start else 0.0
        if not 0 < read < self._files or not rate:
            return text
        decimals = 0 if rate >= _PLAIN_RATE else 1
        left = _duration_text((self._files - read) / rate)
        return f"{text}, {rate:.{decimals}f} files/s, about {left} left"

    def count_bytes(self, read: int, size: int) -> None:
        """Show how many bytes of a file have been read. `size` is the file's size, 0 if unknown."""
        if size and read >= size:
            # Decoding cannot report its progress, so it is announced before it begins.
            at_once = size >= _LONG_DECODING or self._line.is_shown
            self._update(lambda _: "decoding the profile", at_once=at_once)
        else:
            of = f" of {_size_text(size)}" if size else ""
            self._update(lambda _: f"read {_size_text(read)}{of}")

    def _update(self, text: Callable[[float], str], *, at_once: bool = False) -> None:
        """Show `text`, a function of the time, if an update is due or `at_once` is true."""
        now = monotonic()
        if at_once or now >= self._next:
            self._next = max(self._next, now + _INTERVAL_S)
            self._line.show(text(now))

    def clear(self) -> None:
        """Erase the line."""
        self._line.clear()


def _duration_text(seconds: float) -> str:
    """Return a rough duration: `42 s`, `12 min` or `1.5 h`."""
    if seconds < _MOST_SECONDS:
        return f"{seconds:.0f} s"
    minutes = seconds / 60
    return f"{minutes:.0f} min" if minutes < _MOST_MINUTES else f"{minutes / 60:.1f} h"


def _size_text(size: int) -> str:
    return " ".join(scaled(size, "byte"))

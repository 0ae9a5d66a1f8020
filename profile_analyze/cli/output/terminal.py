"""Tells whether a stream is a terminal, and the terminal's size and use of colours."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import Any, Final

_USUAL_SIZE: Final = os.terminal_size((80, 24))
_MOST_DIGITS: Final = 9
"""Without a limit, `int` would fail for numbers of several thousand digits."""


def is_terminal(stream: Any) -> bool:
    """Return whether `stream` is a terminal. A stream that is closed at the start is None."""
    return stream is not None and bool(stream.isatty())


def terminal_size(stream: Any) -> os.terminal_size | None:
    """Return the size of a stream's terminal in characters; None if it is not a terminal.

    As in other programs, the environment variables COLUMNS and LINES take precedence.
    """
    if not is_terminal(stream):
        return None
    size = _USUAL_SIZE
    with suppress(OSError, ValueError):  # some streams claim to be a terminal, but have no size
        size = os.get_terminal_size(stream.fileno())
    # A serial line, for example, has a size of 0.
    columns = _from_environment("COLUMNS") or size.columns or _USUAL_SIZE.columns
    lines = _from_environment("LINES") or size.lines or _USUAL_SIZE.lines
    return os.terminal_size((columns, lines))


def wants_color(stream: Any, choice: str) -> bool:
    """Return whether to write colours to a stream; always False if it is not a terminal.

    `choice` is the value of `--color`. `always` takes precedence over NO_COLOR and TERM=dumb.

    See https://no-color.org for NO_COLOR.
    """
    if not is_terminal(stream) or choice == "never":
        return False
    allowed = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return allowed or choice == "always"


def _from_environment(name: str) -> int:
    """Return the whole number in an environment variable; 0 if it has no such number.

    A number of more digits than the size of any terminal is ignored.
    """
    text = os.environ.get(name, "")
    is_size = text.isascii() and text.isdecimal() and len(text) <= _MOST_DIGITS
    return int(text) if is_size else 0


def terminal_width(stream: Any) -> int | None:
    """Return the width of a stream's terminal in characters; None if it is not a terminal."""
    size = terminal_size(stream)
    return None if size is None else size.columns

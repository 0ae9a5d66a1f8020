"""Whether standard output and standard error are terminals, and their size and colours."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import Any, Final

_USUAL_SIZE: Final = os.terminal_size((80, 24))


def is_terminal(stream: Any) -> bool:
    """Return whether `stream` is connected to a terminal. A closed stream is None."""
    return stream is not None and bool(stream.isatty())


def terminal_size(stream: Any) -> os.terminal_size | None:
    """Return the columns and lines of a stream's terminal; None if it is not a terminal.

    The environment variables COLUMNS and LINES come first, as in other programs.
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
    """Return whether a stream's terminal gets colours, if `--color` is `choice`.

    See https://no-color.org for NO_COLOR.
    """
    if not is_terminal(stream) or choice == "never":
        return False
    allowed = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return allowed or choice == "always"


def _from_environment(name: str) -> int:
    """Return a whole number above 0 from the environment; 0 without one."""
    text = os.environ.get(name, "")
    return int(text) if text.isascii() and text.isdecimal() else 0


def terminal_width(stream: Any) -> int | None:
    """Return the columns of a stream's terminal; None if lines may have any length."""
    size = terminal_size(stream)
    return None if size is None else size.columns

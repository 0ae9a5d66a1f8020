"""Messages on standard error."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from profile_analyze.cli.output.terminal import terminal_width, wants_color
from profile_analyze.model.visible import visible
from profile_analyze.report.layout.colors import colored_word
from profile_analyze.report.layout.paragraphs import paragraph

if TYPE_CHECKING:
    from collections.abc import Iterable


_LONGEST_MESSAGE: Final = 8000  # characters


def say(kind: str, messages: Iterable[str], *, color: str = "auto") -> None:
    """Write a line for each message. On a terminal, long lines are wrapped.

    `kind` is the label of each line: `note`, or `error` after the program's name. `color` is the
    value of `--color`; colours appear only on a terminal.
    """
    # If standard error is closed, it is None, and `print` would use standard output instead.
    if sys.stderr is None:
        return
    width = terminal_width(sys.stderr)
    if wants_color(sys.stderr, color):
        program, separator, label = kind.rpartition(": ")
        kind = f"{program}{separator}{colored_word(label)}"
    with suppress(OSError):  # there is no other place to report this error
        for message in messages:
            line = f"{kind}: {_shortened(visible(message, 'utf-8'))}"
            print(paragraph(line, width), file=sys.stderr)


def _shortened(message: str) -> str:
    """Return `message`, without its middle if it is very long: names in it may have any length."""
    if len(message) <= _LONGEST_MESSAGE:
        return message
    half = _LONGEST_MESSAGE // 2
    left_out = len(message) - 2 * half
    return f"{message[:half]} [... {left_out} characters ...] {message[-half:]}"

"""Messages on standard error."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from profile_analyze.model.notes import most_important
from profile_analyze.model.visible import visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from profile_analyze.model.notes import Note

_LONGEST_MESSAGE: Final = 8000  # characters


def say(kind: str, messages: Iterable[str]) -> None:
    """Write a line for each message."""
    if sys.stderr is None:  # it is closed, and `print` would use standard output instead
        return
    with suppress(OSError):  # nothing is left to report this error to
        for message in messages:
            print(f"{kind}: {_shortened(visible(message, 'utf-8'))}", file=sys.stderr)


def printed_notes(notes: Sequence[Note], which: str) -> list[str]:
    """Return the notes to print: `all`, `none`, or a `few` and how many are left out."""
    if which == "all":
        return [*notes]
    if which == "none":
        return []
    few = most_important(notes)
    left_out = len(notes) - len(few)
    return [*few, *([f"{left_out} more, less important: --notes all"] if left_out else [])]


def say_measuring(text: str) -> None:
    """Announce a slow measurement, if standard error is a terminal."""
    if sys.stderr is not None and sys.stderr.isatty():
        say("measuring", [text])


def _shortened(message: str) -> str:
    """Return `message` without its middle if it is very long, as the names in it may be."""
    if len(message) <= _LONGEST_MESSAGE:
        return message
    half = _LONGEST_MESSAGE // 2
    left_out = len(message) - 2 * half
    return f"{message[:half]} [... {left_out} characters ...] {message[-half:]}"

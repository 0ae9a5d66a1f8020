"""Shows an answer in a pager, such as less, if it is longer than the terminal."""

from __future__ import annotations

import os
import shlex
import sys
from contextlib import suppress
from itertools import chain
from subprocess import PIPE, Popen
from typing import TYPE_CHECKING, Final, TypeAlias

from profile_analyze.cli.process import interrupts_raised
from profile_analyze.termination import TerminationError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    Writer: TypeAlias = Callable[[Iterable[bytes]], None]

# -R shows colours, -S does not wrap long lines, -F ends at once if everything fits, -X leaves the
# text on the terminal.
_LESS_OPTIONS: Final = "-R -S -F -X"
_LESS_PROMPT: Final = "-Psq quits, --no-pager prints everything at once$"
"""The prompt of less. In the variable LESS, a dollar sign ends a text."""
_DEFAULT: Final = f"less {_LESS_OPTIONS}"
_NO_PAGER: Final = ("cat", "")
"""Values of PAGER that switch the pager off."""


def show_in_pager_if_long(pieces: Iterable[bytes], lines: int, write: Writer) -> None:
    """Show a text in a pager if it has at least `lines` lines. Otherwise, `write` it.

    An interrupt before everything is written raises `KeyboardInterrupt`.
    """
    command = _command()
    if not command:
        write(pieces)
        return
    remaining = iter(pieces)
    first: list[bytes] = []
    written = 0
    for piece in remaining:
        first.append(piece)
        written += piece.count(b"\n")
        if written >= lines:  # the prompt of the shell takes a line, too
            _page(command, chain(first, remaining), write)
            return
    write(chain(first, remaining))


def _command() -> list[str]:
    """Return the words of the pager's command; empty if no pager is wanted.

    A job of a CI system may have a terminal, but nobody who could leave the pager.
    """
    text = os.environ.get("PAGER", _DEFAULT)
    is_dumb = os.environ.get("TERM", "") in ("", "dumb")
    if text.strip() in _NO_PAGER or is_dumb or os.environ.get("CI"):
        return []
    with suppress(ValueError):  # a quote is not closed
        return shlex.split(text)
    return []


def _page(command: list[str], pieces: Iterable[bytes], write: Writer) -> None:
    # less takes options from the variable LESS. A value that the user has set takes precedence.
    environment = {"LESS": f"{_LESS_OPTIONS} {_LESS_PROMPT}"} | os.environ
    sys.stdout.flush()
    interrupts_raised()
    try:
        pager = Popen(command, stdin=PIPE, env=environment)
    except (OSError, ValueError):  # there is no such program, or its name is wrong
        write(pieces)
        return
    assert pager.stdin is not None
    try:
        with suppress(BrokenPipeError):  # the user has seen enough
            pager.stdin.writelines(pieces)
    except TerminationError:
        pager.terminate()
        raise
    finally:
        _wait_for(pager)


def _wait_for(pager: Popen[bytes]) -> None:
    """Wait until the user leaves the pager. Ignore interrupts, which are meant for the pager."""
    assert pager.stdin is not None
    with suppress(BrokenPipeError):
        pager.stdin.close()
    while True:
        with suppress(KeyboardInterrupt):
            pager.wait()
            return

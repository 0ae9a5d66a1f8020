"""Shows an answer that is longer than the terminal in a pager, such as less."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from itertools import chain
from typing import TYPE_CHECKING, Final

from profile_analyze.cli.output import write_standard_output
from profile_analyze.cli.terminal import is_terminal, terminal_size

if TYPE_CHECKING:
    from collections.abc import Iterable
    from subprocess import Popen

# -R shows colours, -S leaves long lines whole, -F ends at once if everything fits, -X leaves the
# text on the terminal.
_LESS_OPTIONS: Final = "-R -S -F -X"
_DEFAULT: Final = f"less {_LESS_OPTIONS}"
_NO_PAGER: Final = ("cat", "")
"""Values of PAGER that ask for none."""


def show(pieces: Iterable[bytes], *, paged: bool) -> None:
    """Write to standard output, through a pager if the text is longer than the terminal.

    Raises `OutputError`, and `KeyboardInterrupt` if that comes before everything is written.
    """
    size = terminal_size(sys.stdout) if paged else None
    command = _command() if size is not None and is_terminal(sys.stdin) else []
    if size is None or not command:
        write_standard_output(pieces)
        return
    remaining = iter(pieces)
    first: list[bytes] = []
    lines = 0
    for piece in remaining:
        first.append(piece)
        lines += piece.count(b"\n")
        if lines >= size.lines:  # the prompt of the shell takes a line, too
            _page(command, chain(first, remaining))
            return
    write_standard_output(first)


def _command() -> list[str]:
    """Return the command of the pager in words; empty for none."""
    text = os.environ.get("PAGER", _DEFAULT)
    if text.strip() in _NO_PAGER or os.environ.get("TERM") == "dumb":
        return []
    # Imported here, because only output to a terminal needs it.
    import shlex

    with suppress(ValueError):  # a quotation without its end
        return shlex.split(text)
    return []


def _page(command: list[str], pieces: Iterable[bytes]) -> None:
    # Imported here, because only long answers on a terminal need it.
    from subprocess import PIPE, Popen

    # For `PAGER=less`. A LESS of the user comes first.
    environment = {"LESS": _LESS_OPTIONS} | os.environ
    sys.stdout.flush()
    try:
        pager = Popen(command, stdin=PIPE, env=environment)
    except (OSError, ValueError):  # there is no such program, or its name is wrong
        write_standard_output(pieces)
        return
    assert pager.stdin is not None
    try:
        with suppress(BrokenPipeError):  # the user has seen enough
            pager.stdin.writelines(pieces)
    finally:
        _wait_for(pager)


def _wait_for(pager: Popen[bytes]) -> None:
    """Wait until the user leaves the pager. An interrupt meanwhile is meant for the pager."""
    assert pager.stdin is not None
    with suppress(BrokenPipeError):
        pager.stdin.close()
    while True:
        with suppress(KeyboardInterrupt):
            pager.wait()
            return

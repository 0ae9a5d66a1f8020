"""Runs programs on a pseudo-terminal, and presses keys there."""

from __future__ import annotations

import fcntl
import math
import os
import pty
import select
import struct
import subprocess
import sys
import termios
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from unittest.mock import patch

from profile_analyze.cli.main import main
from profile_analyze.cli.output import progress

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

COMMAND: Final = (sys.executable, "-m", "profile_analyze")
_PATIENCE_S: Final = 120
_SETTINGS: Final = ("COLUMNS", "LINES", "NO_COLOR", "PAGER", "LESS", "CI")
"""Variables of the environment that the tests set themselves."""


class Screen(NamedTuple):
    """What a program wrote to its terminal, and how it ended."""

    text: str
    code: int


def run_on_terminal(
    command: Sequence[str],
    size: tuple[int, int],
    environment: Mapping[str, str],
    *,
    keys: Sequence[tuple[str, str]] = (),
    **streams: Any,
) -> Screen:
    """Run a program whose standard streams are a terminal. `size` has its columns and lines.

    `keys` has pairs of a text and a key, which is pressed once the text has appeared. `streams` are
    arguments of `Popen` that replace some of the standard streams.
    """
    ours, theirs = pty.openpty()
    set_size(theirs, size)
    with subprocess.Popen(
        command,
        env=_environment_with(environment),
        start_new_session=True,
        # Ctrl-C interrupts a program only if this is its controlling terminal.
        preexec_fn=lambda: fcntl.ioctl(theirs, termios.TIOCSCTTY, 0),  # noqa: PLW1509
        **({"stdin": theirs, "stdout": theirs, "stderr": theirs} | streams),
    ) as process:
        os.close(theirs)
        try:
            text = _converse(ours, keys)
        finally:
            os.close(ours)  # ends a program that still waits for keys
    return Screen(text.replace("\r\n", "\n"), process.returncode)


def run_command_on_terminal(
    arguments: Sequence[str],
    size: tuple[int, int],
    environment: Mapping[str, str],
    *,
    stdin: int | None = None,
) -> Screen:
    """Run the command in this process, on a terminal that does not control this process.

    This saves starting a process. Tests that press keys must use `run_on_terminal`, because
    Ctrl-C only interrupts a process that its terminal controls. `stdin` replaces the standard
    input. No progress is shown, because it would depend on how busy the machine is.
    """
    ours, theirs = pty.openpty()
    set_size(theirs, size)
    with ThreadPoolExecutor(1) as pool:
        reading = pool.submit(_converse, ours, ())
        try:
            with (
                patch.dict(os.environ, _environment_with(environment), clear=True),
                patch.object(progress, "_DELAY_S", math.inf),
                _standard_streams(theirs if stdin is None else stdin, theirs),
            ):
                code = _exit_status(arguments)
        finally:
            os.close(theirs)
        text = reading.result()
    os.close(ours)
    return Screen(text.replace("\r\n", "\n"), code)


def _exit_status(arguments: Sequence[str]) -> int:
    try:
        return main(list(arguments))
    except SystemExit as error:  # after --help and --version
        return int(error.code or 0)


@contextmanager
def _standard_streams(stdin: int, terminal: int) -> Iterator[None]:
    """Replace the standard streams of Python, and of the processes that are started meanwhile."""
    with ExitStack() as stack:
        for number, (name, handle) in enumerate(
            (("stdin", stdin), ("stdout", terminal), ("stderr", terminal))
        ):
            stack.callback(os.close, saved := os.dup(number))
            stack.callback(os.dup2, saved, number)
            os.dup2(handle, number)
            mode = "r" if name == "stdin" else "w"
            stream = stack.enter_context(open(number, mode, 1, "utf-8", closefd=False))
            stack.enter_context(patch.object(sys, name, stream))
        yield


def _environment_with(variables: Mapping[str, str]) -> dict[str, str]:
    """Return the environment without `_SETTINGS`, with a terminal type, UTF-8 and `variables`."""
    clean = {key: value for key, value in os.environ.items() if key not in _SETTINGS}
    return {**clean, "TERM": "xterm", "PYTHONIOENCODING": "utf-8", **variables}


def set_size(terminal: int, size: tuple[int, int]) -> None:
    """Set the columns and lines of a terminal."""
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))


def _converse(handle: int, keys: Sequence[tuple[str, str]]) -> str:
    """Return everything that is written to the terminal, and press `keys` meanwhile."""
    waiting = list(keys)
    data = b""
    seen = 0  # the search for the text of the next key begins here
    while chunk := _read(handle):
        data += chunk
        while waiting and (at := data.find(waiting[0][0].encode(), seen)) >= 0:
            expected, key = waiting.pop(0)
            seen = at + len(expected)
            os.write(handle, key.encode())
    assert not waiting, (waiting, data)
    return data.decode()


def _read(handle: int) -> bytes:
    ready, _, _ = select.select([handle], [], [], _PATIENCE_S)
    assert ready, "the program hangs"
    try:
        return os.read(handle, 65536)
    except OSError:  # the other side closed the terminal
        return b""

"""Progress is shown on a terminal if reading takes long."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from profile_analyze.cli.progress import Progress

if TYPE_CHECKING:
    import pytest


class Terminal:
    """A standard error that is a terminal."""

    def __init__(self) -> None:
        self.text = ""

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> None:
        self.text += text

    def flush(self) -> None:
        pass


def test_progress_is_shown_on_a_terminal_when_it_takes_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    terminal = Terminal()
    clock = iter([0.0, 0.5, 1.2, 1.2, 1.25, 1.5, 1.5])
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr("profile_analyze.cli.progress.monotonic", lambda: next(clock))
    progress = Progress(4)
    for files in (1, 3):
        step = progress.counter_of_next(files)
        for read in range(1, files + 1):
            step(read)
    progress.clear()
    assert terminal.text == "\rread 2 of 4 files\rread 4 of 4 files\r\x1b[K"


def test_progress_is_not_shown_in_a_pipe(capsys: pytest.CaptureFixture[str]) -> None:
    progress = Progress(1)
    progress.counter_of_next(1)(1)
    progress.clear()
    assert capsys.readouterr().err == ""

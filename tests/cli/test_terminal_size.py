"""The size of a terminal, from the environment or from the terminal itself."""

from __future__ import annotations

import io
import os
import pty
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from profile_analyze.cli.output.terminal import terminal_size, terminal_width, wants_color
from tests.pseudo_terminal import set_size

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import TextIO


class TerminalWithoutFile(io.StringIO):
    """A stream that claims to be a terminal, but has no file descriptor, as in some editors."""

    def isatty(self) -> bool:
        return True


@contextmanager
def terminal(columns: int, lines: int) -> Iterator[TextIO]:
    """Yield a stream to a terminal of this size."""
    ours, theirs = pty.openpty()
    set_size(theirs, (columns, lines))
    with os.fdopen(theirs, "w", encoding="utf-8") as stream:
        yield stream
    os.close(ours)


@pytest.mark.parametrize(
    ("environment", "size", "expected"),
    [
        ({}, (70, 30), (70, 30)),
        ({}, (0, 0), (80, 24)),
        ({"COLUMNS": "50", "LINES": "9"}, (70, 30), (50, 9)),
        ({"COLUMNS": "0", "LINES": ""}, (70, 30), (70, 30)),
        ({"COLUMNS": "-5", "LINES": "many"}, (70, 30), (70, 30)),
        ({"COLUMNS": "9" * 5000, "LINES": "9" * 5000}, (70, 30), (70, 30)),
    ],
)
def test_the_environment_overrides_the_size_of_a_terminal(
    environment: dict[str, str],
    size: tuple[int, int],
    expected: tuple[int, int],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("COLUMNS", "LINES"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    with terminal(*size) as stream:
        assert terminal_size(stream) == expected
        assert terminal_width(stream) == expected[0]


def test_a_terminal_without_a_file_descriptor_has_the_usual_size(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("COLUMNS", "LINES"):
        monkeypatch.delenv(name, raising=False)
    assert terminal_size(TerminalWithoutFile()) == (80, 24)


def test_other_streams_have_no_size_and_no_colours() -> None:
    for stream in (None, io.StringIO()):
        assert terminal_size(stream) is None
        assert terminal_width(stream) is None
        assert not wants_color(stream, "always")
